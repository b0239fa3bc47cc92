// The number of elements that a compaction keeps: one word, because it counts elements of one buffer.

fn store_total(sum: Acc) {
    total[task.destination] = sum.x;
}
