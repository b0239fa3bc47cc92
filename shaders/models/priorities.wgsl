// One server and three classes of customers, M/M/1 with preemptive-resume priorities: class 0
// precedes class 1, and that class 2. An arrival preempts a service of a lower class, which resumes
// later. Every LP is a station of its own, served by one thread.
//
// Each class has a line in LP memory, of params.room rows (arrival (2), remaining service (2)). At
// its front is the customer in service, or a preempted one.
// import: pdes/line.wgsl
// import: statistics/tally.wgsl

const CLASSES = 3u;
struct Class {
    mean_interarrival: vec2<u32>, // in ticks, as all times; TIME_NEVER if a class has no customers
    mean_service: vec2<u32>,
}
struct Params {
    classes: array<Class, CLASSES>,
    warm_up: vec2<u32>, // statistics begin here
    room: u32,          // of each line
    unused: u32,
}
@group(1) @binding(0) var<uniform> params: Params;

struct State {
    system: array<Tally, CLASSES>, // time in the system of departed customers, when they left
    completes: vec2<u32>,          // end of the current service, unless it is preempted
    service: u32,                  // its number
    serving: u32,                  // the class in service; CLASSES if the server is free
    lines: array<Line, CLASSES>,   // including the customer in service
    unused: vec2<u32>,
}
struct Output { class_0: Tally, class_1: Tally, class_2: Tally }

// Of a service, by number; first at one time: a finished service is not preempted.
const COMPLETION = 0u;
const ARRIVAL = 1u;    // in a line

fn init(lp: u32, state: ptr<function, State>) {
    (*state).serving = CLASSES;
    for (var line = 0u; line < CLASSES; line += 1u) {
        (*state).system[line] = tally_since(params.warm_up);
        expect(lp, line);
    }
}

fn expect(lp: u32, line: u32) {
    let delay = draw_exponential(params.classes[line].mean_interarrival);
    if any(delay != TIME_NEVER) { schedule(lp, time_add(now(), delay), vec2<u32>(ARRIVAL, line)); }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let serving = (*state).serving;
    if event.payload.x == ARRIVAL {
        let line = event.payload.y;
        expect(lp, line);
        let row = vec4<u32>(now(), draw_exponential(params.classes[line].mean_service));
        (*state).lines[line] = line_push((*state).lines[line], line * params.room, params.room, row);
        if line >= serving { return; }
        if serving < CLASSES { // its pending completion will find another number
            let front = serving * params.room + (*state).lines[serving].first;
            memory_set(front, vec4<u32>(memory_get(front).xy, time_since((*state).completes, now())));
        }
    } else {
        if event.payload.y != (*state).service { return; } // it was preempted
        let came = line_front((*state).lines[serving], serving * params.room).xy;
        (*state).system[serving] = tally_add((*state).system[serving], now(), time_since(now(), came));
        (*state).lines[serving] = line_pop((*state).lines[serving], params.room);
    }
    var line = 0u; // the first that is not empty
    for (; line < CLASSES && (*state).lines[line].length == 0u; line += 1u) {}
    (*state).serving = line;
    if line == CLASSES { return; }
    (*state).service += 1u;
    (*state).completes = time_add(now(), line_front((*state).lines[line], line * params.room).zw);
    schedule(lp, (*state).completes, vec2<u32>(COMPLETION, (*state).service));
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    return Output((*state).system[0], (*state).system[1], (*state).system[2]);
}
