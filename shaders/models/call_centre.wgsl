// A call centre, M/M/c+M or Erlang-A: calls arrive at exponential intervals and are answered in
// order by `servers` agents, for an exponential time each. A waiting caller hangs up after an
// exponential time of patience. Every LP is a call centre of its own, served by one thread.
//
// The line is a ring in LP memory: ticket t in row t modulo the room, (arrival, or TIME_NEVER after
// hanging up (2), 0, 0). A row is free once the line has moved past it. The room is a power of two,
// so tickets may wrap.
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl

struct Params {
    mean_interarrival: vec2<u32>, // in ticks, as all times
    mean_service: vec2<u32>,
    mean_patience: vec2<u32>,
    warm_up: vec2<u32>,           // statistics begin here
    servers: u32,
    unused: u32,
}
@group(1) @binding(0) var<uniform> params: Params;

struct State {
    served: Tally,          // waiting times of answered calls, when they were answered
    abandoned: Tally,       // and of callers who hung up, when they did
    waiting: TimeAverage,   // waiting calls; its level is their number now
    busy: u32,              // busy agents
    head: u32,              // the ticket at the head of the line
    tail: u32,              // the next ticket
    unused: u32,
}
struct Output { served: Tally, abandoned: Tally, waiting: TimeAverage }

// First at one time: a free agent answers a caller at the last moment of their patience.
const COMPLETION = 0u;
const ARRIVAL = 1u;
const HANG_UP = 2u; // of a ticket

fn init(lp: u32, state: ptr<function, State>) {
    (*state).served = tally_since(params.warm_up);
    (*state).abandoned = tally_since(params.warm_up);
    (*state).waiting = time_average_since(params.warm_up, 0u);
    schedule(lp, draw_exponential(params.mean_interarrival), vec2<u32>(ARRIVAL, 0u));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let ticket = event.payload.y;
    if event.payload.x == COMPLETION {
        (*state).busy -= 1u;
        for (var i = 0u; i < memory_rows() && (*state).head != (*state).tail; i += 1u) {
            let came = memory_get((*state).head % memory_rows()).xy;
            (*state).head += 1u;
            if all(came == TIME_NEVER) { continue; }
            (*state).waiting = time_average_add((*state).waiting, now(), -1);
            answer(lp, came, state);
            break;
        }
    } else if event.payload.x == ARRIVAL {
        schedule(lp, time_add(now(), draw_exponential(params.mean_interarrival)), vec2<u32>(ARRIVAL, 0u));
        if (*state).busy < params.servers { answer(lp, now(), state); } else { wait(lp, state); }
    // Else it was answered before.
    } else if ticket - (*state).head < (*state).tail - (*state).head {
        let came = memory_get(ticket % memory_rows()).xy;
        memory_set(ticket % memory_rows(), vec4<u32>(TIME_NEVER, 0u, 0u));
        (*state).waiting = time_average_add((*state).waiting, now(), -1);
        (*state).abandoned = tally_add((*state).abandoned, now(), time_since(now(), came));
    }
}

fn answer(lp: u32, came: vec2<u32>, state: ptr<function, State>) {
    (*state).busy += 1u;
    (*state).served = tally_add((*state).served, now(), time_since(now(), came));
    schedule(lp, time_add(now(), draw_exponential(params.mean_service)), vec2<u32>(COMPLETION, 0u));
}

fn wait(lp: u32, state: ptr<function, State>) {
    if (*state).tail - (*state).head == memory_rows() { memory_full(); return; }
    memory_set((*state).tail % memory_rows(), vec4<u32>(now(), 0u, 0u));
    schedule(lp, time_add(now(), draw_exponential(params.mean_patience)), vec2<u32>(HANG_UP, (*state).tail));
    (*state).tail += 1u;
    (*state).waiting = time_average_add((*state).waiting, now(), 1);
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    return Output((*state).served, (*state).abandoned, time_average_at((*state).waiting, now()));
}
