// Elements as they are: u32.

fn lift(word: u32) -> u32 {
    return word;
}

fn lower(word: u32) -> u32 {
    return word;
}
