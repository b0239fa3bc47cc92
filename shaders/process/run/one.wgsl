// Where rows of the only replication lie: on a core.
//
// provides: process_place
//
// bounds: no array and no loop.

fn process_place(index: u32) -> u32 {
    return index;
}
