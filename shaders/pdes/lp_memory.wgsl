// LP memory as a model uses it: what it writes stays. In dry runs it does not: pdes/lp_memory_dry.wgsl.
//
// Functions: memory_get, memory_set, memory_full; memory_close.
//
// import: pdes/model.wgsl

var<private> memory_lost: bool;

// A row of the LP's memory. One that it does not have ends the run with a failure, and is zero.
fn memory_get(index: u32) -> vec4<u32> {
    let there = index < run.memory_rows;
    memory_lost = memory_lost | !there;
    return select(vec4<u32>(0u), memory[memory_place(select(0u, index, there))], there);
}

// Changes a row of the LP's memory. One that it does not have ends the run with a failure.
fn memory_set(index: u32, row: vec4<u32>) {
    if index >= run.memory_rows {
        memory_full();
        return;
    }
    memory[memory_place(index)] = row;
}

// Ends the run with the failure that the LP's memory is full: for models that keep lines and tables in it.
fn memory_full() {
    memory_lost = true;
}

// To be called after each function of the model's. The failure is told here, because compilers put functions in the place of their calls: the kernel of a network had 74 of
// memory_get and memory_set. (When each of them told it, with a branch, 10,000 runs of `jackson.toml` by threads took 1.13 times as long on an H100; that a row that is not there is zero came after.)
fn memory_close() {
    if memory_lost {
        fail(lp_row, MEMORY_FULL);
        // This invocation serves other LPs, too.
        memory_lost = false;
    }
}
