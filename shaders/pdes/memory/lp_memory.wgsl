// LP memory as a model uses it; writes persist. In speculative execution they do not:
// pdes/memory/lp_memory_speculative.wgsl.
//
// Functions: memory_get, memory_set, memory_full.
//
// import: pdes/model.wgsl
// provides: memory_full, memory_get, memory_set
// needs: run

// A row of the LP's memory. A row beyond the memory ends the run with a failure, and is zero.
fn memory_get(index: u32) -> vec4<u32> {
    let there = index < run.memory_rows;
    lp_wrong |= select(1u << MEMORY_FULL, 0u, there);
    return select(vec4<u32>(0u), memory[memory_place(select(0u, index, there))], there);
}

// Changes a row of the LP's memory. A row beyond the memory ends the run with a failure.
fn memory_set(index: u32, row: vec4<u32>) {
    if index >= run.memory_rows {
        memory_full();
        return;
    }
    memory[memory_place(index)] = row;
}

// Ends the run with the failure that the LP's memory is full: for models with lines and tables in
// it.
fn memory_full() {
    lp_wrong |= 1u << MEMORY_FULL;
}
