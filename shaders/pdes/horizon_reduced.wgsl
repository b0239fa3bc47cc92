// What the two dispatches of a window with an event horizon leave for each other: pdes/horizon_look.wgsl, pdes/horizon.wgsl.
//
// Functions: merge.

// Of control: how far from the first event the reach is (2), for which see pdes/horizon_look.wgsl; unused.
const CONTROL_REACH = 2u;

// A time of which the earliest counts (2 words), a number of events of which the sum does, a word that merging drops.
alias Reduced = vec4<u32>;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, 0u);
}
