// The total of a scan: two words, low word first.

fn store_total(sum: Acc) {
    total[2u * task.destination] = sum.x;
    total[2u * task.destination + 1u] = sum.y;
}
