// Where matches go, first version: they are counted. sink_pairs.wgsl is the other.
//
// lengths  matches of each task

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;

// Whether anything of this task is to be done.
fn wanted(task: u32) -> bool {
    return true;
}

// Takes in how many matches the thread has. Whether it shall then `put` them, in the same order. By a whole
// workgroup.
fn begin(task: u32, lane: u32, hits: u32) -> bool {
    let before = sum_before(lane, hits);
    if lane == 0u {
        lengths[task] = sum_of_all();
    }
    return false;
}

fn put(subscription: u32, update: u32) {
}
