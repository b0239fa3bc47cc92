// A radix sort of keys alone.

fn move_values(
    at: Place, first: u32, left: u32, ranks: ptr<function, array<u32, ITEMS>>, to: ptr<function, array<u32, ITEMS>>
) {
}
