// LP memory in speculative execution: the model reads its own writes, and none persists unless it
// is stored explicitly. pdes/memory/lp_memory.wgsl has the same functions.
//
// Writes are in a list of a few rows. If a model writes more, or does what would end a run,
// speculation ends before this event.
//
// Functions: memory_get, memory_set, memory_full; speculation_memory_open,
// speculation_memory_store.
//
// import: pdes/model.wgsl
// provides: memory_full, memory_get, memory_set
// needs: dry_ends, run

const DRY_ROWS = 16u;

var<private> dry_written: u32;
var<private> dry_indices: array<u32, DRY_ROWS>;
var<private> dry_rows: array<vec4<u32>, DRY_ROWS>;

// Call it before the first event of an LP.
fn speculation_memory_open() {
    dry_written = 0u;
}

// Stores the writes: the execution was not speculative after all.
fn speculation_memory_store() {
    for (var i = 0u; i < dry_written; i += 1u) {
        memory[memory_place(dry_indices[i])] = dry_rows[i];
    }
}

fn memory_get(index: u32) -> vec4<u32> {
    if index >= run.memory_rows {
        memory_full();
        return vec4<u32>(0u);
    }
    for (var i = 0u; i < dry_written; i += 1u) {
        if dry_indices[i] == index { return dry_rows[i]; }
    }
    return memory[memory_place(index)];
}

fn memory_set(index: u32, row: vec4<u32>) {
    if index >= run.memory_rows {
        memory_full();
        return;
    }
    var place = 0u;
    // Bound: DRY_ROWS.
    while place < dry_written && dry_indices[place] != index {
        place += 1u;
    }
    if place == DRY_ROWS {
        dry_ends = true;
        return;
    }
    dry_written = max(dry_written, place + 1u);
    dry_indices[place] = index;
    dry_rows[place] = row;
}

fn memory_full() {
    dry_ends = true;
}
