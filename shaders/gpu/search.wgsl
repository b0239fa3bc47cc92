// The binary search, over whatever has an order.
//
// Functions: search.
//
// Sought is a struct or an alias. goes_before(item: u32, sought: Sought) -> bool: of the items in their
// order, those up to some one go before what is sought, and the rest do not.
//
// needs: Sought, goes_before
//
// bounds: no array; `goes_before` is called for items from `first` to before `end` only. Each round
// halves the range. The divisor is 2.

// The first of the items from `first` up to, not including, `end` that does not go before what is sought; `end` if all do.
// `goes_before` is asked of items in that range only. At most 32 rounds.
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
