// import: pdes/line.wgsl
struct State { line: Line, seen: u32 }
fn init(lp: u32, state: ptr<function, State>) { schedule(lp, time_add(now(), vec2<u32>(draw_below(9u), 0u)), vec2<u32>(0u)); }
fn handle(lp: u32, event: Event, state: ptr<function, State>) { (*state).seen += 1u; }
