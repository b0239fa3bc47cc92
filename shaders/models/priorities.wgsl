// One server and three classes of customers, M/M/1 with preemptive-resume priorities: class 0 goes before class 1, and that before
// class 2. Who arrives interrupts a service of a lower class, which goes on later where it stopped. Every LP is a station of its own.
//
// Each class has a line in LP memory, of params.room rows (when it arrived (2), service that is left (2)). At its front is who is in
// service, or was interrupted. One thread serves one LP.
// import: pdes/line.wgsl
// import: statistics/tally.wgsl

const CLASSES = 3u;
struct Class {
    mean_interarrival: vec2<u32>, // in ticks, as all times; TIME_NEVER for a class without customers
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
    system: array<Tally, CLASSES>, // time in the system of those who left, when they left
    completes: vec2<u32>,          // when the present service ends, if nobody interrupts it
    service: u32,                  // its number
    serving: u32,                  // the class in service; CLASSES where the server is free
    lines: array<Line, CLASSES>,   // those in service among them
    unused: vec2<u32>,
}
struct Output { class_0: Tally, class_1: Tally, class_2: Tally }

const COMPLETION = 0u; // of a service, by number. It comes first at one time: who is done is not interrupted
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
        if serving < CLASSES { // the completion that is pending will find another number
            let front = serving * params.room + (*state).lines[serving].first;
            memory_set(front, vec4<u32>(memory_get(front).xy, time_since((*state).completes, now())));
        }
    } else {
        if event.payload.y != (*state).service { return; } // it was interrupted
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
