// Where rows of a replication lie among those of a batch: pairs of rows fill a sector of 32 bytes,
// and the same pairs of all replications lie side by side.
//
// provides: process_place
// needs: process_given, process_slot
//
// bounds: no array and no loop.

fn process_place(index: u32) -> u32 {
    return ((index >> 1u) * process_given.jobs + process_slot) * 2u + (index & 1u);
}
