// The results of an LP at a time, on the CPU: what the sequential engine calls for
// `pdes::CpuSimulation::outputs`.
//
// import: native/engine.wgsl
// needs: Output, State, output

fn native_output(lp: u32, low: u32, high: u32, state: ptr<function, State>) -> Output {
    native_open(lp, vec2<u32>(0u), vec2<u32>(low, high));
    return output(lp, state);
}
