// A binary search over any ordered items.
//
// Functions: search.
//
// Sought is a struct or an alias. goes_before(item: u32, sought: Sought) -> bool is true for a
// prefix of the items in their order, and false for the rest.
//
// needs: Sought, goes_before
//
// bounds: no array; `goes_before` is called for items from `first` to before `end` only. Each round
// halves the range. The divisor is 2.

// The first item from `first` to before `end` for which `goes_before` is false; `end` if there is
// no such item. Calls `goes_before` for items in that range only. At most 32 rounds.
fn search(first: u32, end: u32, sought: Sought) -> u32 {
    var found = first;
    var limit = end;
    while found < limit {
        let middle = found + (limit - found) / 2u;
        if goes_before(middle, sought) {
            found = middle + 1u;
        } else {
            limit = middle;
        }
    }
    return found;
}
