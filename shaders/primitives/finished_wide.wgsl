// The result of a reduction to two words.

fn finished(total: Acc) -> Acc {
    return total;
}
