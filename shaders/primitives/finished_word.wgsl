// The result of a reduction to a word.

fn finished(total: Acc) -> Acc {
    return lower(total);
}
