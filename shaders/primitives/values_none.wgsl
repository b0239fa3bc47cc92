// A radix sort of keys alone.

fn take_values(at: Place, first: u32, left: u32) -> u32 {
    return 0u;
}

fn move_values(
    at: Place, left: u32, moving: ptr<function, u32>, ranks: ptr<function, array<u32, ITEMS>>,
    to: ptr<function, array<u32, ITEMS>>
) {
}
