// Executes an event of a process model: entities run until they stop, then those continue that they
// made continue, then conditions are tried. The order is that of `process::program::machine`; the
// generated part has the steps, the sources and the tables.
//
// Compilers copy each function to each call, so everything large is called once, in `execute`.
//
// import: process/lines.wgsl
// import: process/machine.wgsl
// import: process/sums.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl
// needs: BATCHES, CONDITIONS, FAULT_ROW, INTERRUPTS, JOINS, PREEMPTS, SOURCES, State (print::wgsl)
// needs: blank, children_of, condition_of, container_of, copy_words, drawn, holds, law_draws
// needs: law_time
// needs: params, resource_of, run_source, run_step, set_words, store_of
// needs: memory_full, memory_get, memory_set, now, row_get, row_set, schedule, stream_named
//
// bounds: loops over events count to MOST_STEPS, those over entities to 65,535.

// A time of a distribution, 8 words of `params`.
fn variate(row: u32, count: u32, m: ptr<function, Machine>) {
    var words = vec3<u32>(0u);
    // At most 3. The count is a lookup, so that no compiler unrolls the loop.
    for (var i = 0u; i < count; i += 1u) {
        words = vec3<u32>(draw(), words.xy);
    }
    if row == LAW_WORD {
        (*m).word = words.x;
    } else {
        let first = params.words[row];
        let second = params.words[row + 1u];
        (*m).time = law_time(first.x, words, first.y, first.zw, second.xy, second.zw);
    }
}

// Draws what a step or a source needs.
fn draw_law(m: ptr<function, Machine>) {
    let row = (*m).law;
    var count = 1u;
    if row != LAW_WORD { count = law_draws(params.words[row].x); }
    stream_named((*m).name, (*m).number);
    variate(row, count, m);
}

// The next entity that continues runs.
fn take_ready(m: ptr<function, Machine>) {
    let row = memory_get(row_of((*m).first));
    (*m).slot = (*m).first;
    (*m).step = row.x & 0xffffu;
    (*m).control = row;
    (*m).first = row.z & 0xffffu;
    if (*m).first == 0u { (*m).last = 0u; }
}

// Finds the next entity whose condition is to be tried.
fn find_candidate(state: ptr<function, State>, m: ptr<function, Machine>) -> bool {
    // Bound: conditions.
    while (*m).candidate == 0u && (*m).condition < CONDITIONS {
        let about = condition_of((*m).condition);
        let line = row_get(state, line_of(about.x).x);
        if (line.y != 0u) & ((about.y & (*m).touched) != 0u) {
            (*m).candidate = line.x & 0xffffu;
        } else {
            (*m).condition += 1u;
        }
    }
    if (*m).candidate == 0u { return false; }
    (*m).slot = (*m).candidate;
    (*m).control = memory_get(row_of((*m).slot));
    (*m).step = (*m).control.x & 0xffffu;
    return true;
}

// Tries the condition of the candidate.
fn try_condition(state: ptr<function, State>, m: ptr<function, Machine>) {
    let held = holds((*m).condition, state, m);
    if (*m).fault != 0u { return; }
    let about = condition_of((*m).condition);
    (*m).slot = 0u;
    if held {
        (*m).work = WORK_TRIED;
        (*m).line = about.x;
        (*m).who = (*m).candidate;
        (*m).condition = 0u;
        (*m).candidate = 0u;
        return;
    }
    (*m).candidate = select(0u, (*m).control.z & 0xffffu, about.z != 0u);
    if (*m).candidate == 0u { (*m).condition += 1u; }
}

// Writes row 0 of the running entity, which stops.
fn stop(m: ptr<function, Machine>, status: u32, number: u32) {
    let control = ((*m).control.x & 0xff000000u) | (status << 16u) | (*m).step;
    memory_set(row_of((*m).slot), vec4<u32>(control, number, 0u, (*m).control.w & 0xffff0000u));
}

// Schedules what a delay, a patience or a source needs.
fn act_later(state: ptr<function, State>, m: ptr<function, Machine>) {
    let arrival = (*m).act == ACT_ARRIVAL;
    let due = time_add(now(), (*m).time);
    let never = (*m).timed & all(due == TIME_NEVER);
    if arrival & never { return; }
    if (*m).act == ACT_WAIT {
        memory_set(row_of((*m).slot) + 1u, vec4<u32>((*m).priority, (*m).amount, now()));
    }
    let number = take_number(state, m);
    if never { failed(m, FAULT_NEVER, 0u); }
    if (*m).fault != 0u { return; }
    if (*m).timed {
        let who = select((*m).slot - 1u, SOURCE_EVENT | ((*m).index - 1u), arrival);
        schedule((*m).lp, due, vec2<u32>(number, who));
    }
    if (*m).act == ACT_WAIT {
        (*m).control.y = number;
        (*m).work = WORK_ENTER;
    }
    if (*m).act == ACT_DELAY {
        stop(m, STATUS_DELAY, number);
        (*m).slot = 0u;
    }
}

// The running entity ends.
fn act_end(state: ptr<function, State>, m: ptr<function, Machine>) {
    memory_set(row_of((*m).slot), vec4<u32>(0u, 0u, (*state).r0.x, 0u));
    (*state).r0.x = (*m).slot;
    (*state).r1.x -= 1u;
    (*m).slot = 0u;
    let parent = (*m).control.w >> 16u;
    if !JOINS || parent == 0u { return; }
    let row = memory_get(row_of(parent));
    let word = children_of(row.x >> 24u);
    let place = row_of(parent) + 2u + word / 4u;
    var words = memory_get(place);
    words[word & 3u] -= 1u;
    memory_set(place, words);
    if (words[word & 3u] == 0u) & (((row.x >> 16u) & 0xffu) == STATUS_JOIN) {
        (*m).work = WORK_GRANT;
        (*m).who = parent;
    }
}

// Finds the entity with the type `entry` and the number `number`, and interrupts it if it waits
// where it can be interrupted.
fn act_interrupt(state: ptr<function, State>, m: ptr<function, Machine>) {
    // Bound: MOST_ENTITIES.
    for (var link = 1u; link <= min((*state).r0.y, MOST_ENTITIES); link += 1u) {
        let control = memory_get(row_of(link)).x;
        let status = (control >> 16u) & 0xffu;
        if (status == STATUS_FREE) | ((control >> 24u) != (*m).entry) { continue; }
        if memory_get(row_of(link) + 2u).x != (*m).number { continue; }
        let waits = (status != STATUS_READY) & (status != STATUS_MEMBER);
        let can = waits & ((step_of(control & 0xffffu).w >> 16u) != 0u);
        if can & (link != (*m).slot) {
            (*m).work = WORK_INTERRUPT;
            (*m).who = link;
        }
        break;
    }
}

// Starts entities, which continue after the running one stops.
fn spawn(state: ptr<function, State>, m: ptr<function, Machine>) {
    // Bound: MOST_ENTITIES, which steps check.
    for (var i = 0u; i < min((*m).spawns, MOST_ENTITIES); i += 1u) {
        var link = (*state).r0.x;
        if link != 0u {
            (*state).r0.x = memory_get(row_of(link)).z & 0xffffu;
        } else if (*state).r0.y < params.words[0].z {
            (*state).r0.y += 1u;
            link = (*state).r0.y;
        } else {
            memory_full();
            (*m).stopped = true;
            break;
        }
        (*m).last_number += 1u;
        memory_set(row_of(link), vec4<u32>((*m).entry, 0u, 0u, (*m).parent << 16u));
        memory_set(row_of(link) + 1u, vec4<u32>(0u));
        blank(row_of(link) + 2u, (*m).last_number);
        set_words(row_of(link) + 2u, state, m);
        append(m, link);
    }
    (*m).spawns = 0u;
}

// Does the first part of the work on lines.
fn move_one(state: ptr<function, State>, m: ptr<function, Machine>) {
    var out = NO_LINE;
    var into = NO_LINE;
    var who = 0u;
    var grants = true;
    let work = (*m).work;
    let item = (*m).item;
    (*m).work = WORK_NONE;
    switch work {
        case WORK_RESOURCE: {
            let about = resource_of(item);
            let line = row_get(state, line_of(about.y).x);
            let units = row_get(state, about.x);
            who = line.x & 0xffffu;
            out = about.y;
            var wait = vec4<u32>(0u);
            if line.y != 0u { wait = memory_get(row_of(who) + 1u); }
            var amount = wait.y;
            let fits = (line.y != 0u) & (units.x + amount <= units.y);
            var takes = false;
            if PREEMPTS && about.w != 0u {
                let holders = (about.w & 0xffffu) - 1u;
                let held = row_get(state, line_of(holders).x);
                if held.y != 0u {
                    let victim = held.x & 0xffffu;
                    let largest = bitcast<i32>(memory_get(row_of(victim) + 1u).x);
                    let over = ((about.w >> 16u) != 0u) & (units.x > units.y);
                    let sooner = (line.y != 0u) & (bitcast<i32>(wait.x) < largest);
                    takes = over | (!fits & sooner & (units.x <= units.y));
                    if takes {
                        who = victim;
                        out = holders;
                        amount = 1u;
                    }
                }
            }
            if !fits & !takes { return; }
            let used = select(units.x + amount, units.x - amount, takes);
            row_set(state, about.x, vec4<u32>(used, units.y, level_64(units.zw, amount, takes, (*m).age)));
            (*m).touched |= about.z;
            let held = step_of(memory_get(row_of(who)).x & 0xffffu).w & 0xffffu;
            if held != 0u {
                let place = row_of(who) + 2u + (held - 1u) / 4u;
                var words = memory_get(place);
                let count = words[(held - 1u) & 3u];
                words[(held - 1u) & 3u] = select(count + amount, count - amount, takes);
                memory_set(place, words);
            }
            (*m).work = WORK_RESOURCE;
        }
        case WORK_CONTAINER: {
            let about = container_of(item);
            let getters = row_get(state, line_of(about.z).x);
            let putters = row_get(state, line_of(about.y).x);
            var content = row_get(state, about.x);
            var amount = 0u;
            if getters.y != 0u {
                who = getters.x & 0xffffu;
                amount = memory_get(row_of(who) + 1u).y;
                out = about.z;
            }
            let gets = (out != NO_LINE) & (amount <= content.x);
            if !gets {
                if putters.y == 0u { return; }
                who = putters.x & 0xffffu;
                amount = memory_get(row_of(who) + 1u).y;
                out = about.y;
                if amount > content.y - content.x { return; }
            }
            content.x = select(content.x + amount, content.x - amount, gets);
            row_set(state, about.x, content);
            row_set(state, about.x + 1u, level_128(row_get(state, about.x + 1u), amount, gets, (*m).age));
            (*m).touched |= about.w;
            (*m).work = WORK_CONTAINER;
        }
        case WORK_STORE: {
            let about = store_of(item);
            let givers = row_get(state, line_of(about.y).x);
            let items = row_get(state, line_of(about.x).x);
            if (givers.y == 0u) | (items.y >= params.words[about.w / 4u][about.w & 3u]) { return; }
            who = givers.x & 0xffffu;
            out = about.y;
            into = about.x;
            grants = false;
            (*m).work = WORK_STORE;
        }
        case WORK_GIVE: {
            let about = store_of(item);
            who = row_get(state, line_of(about.z).x).x & 0xffffu;
            out = about.z;
            copy_words(memory_get(row_of(who)).x & 0xffffu, row_of((*m).slot) + 2u, row_of(who) + 2u);
        }
        case WORK_TAKE: {
            let about = store_of(item);
            who = row_get(state, line_of(about.x).x).x & 0xffffu;
            out = about.x;
            copy_words((*m).copies, row_of(who) + 2u, row_of((*m).slot) + 2u);
            (*m).work = WORK_STORE;
        }
        case WORK_SEND: {
            let line = row_get(state, line_of(item).x);
            if line.y == 0u { return; }
            who = line.x & 0xffffu;
            out = item;
            (*m).work = WORK_SEND;
        }
        case WORK_ENTER: {
            who = (*m).slot;
            into = (*m).line;
            grants = false;
            (*m).slot = 0u;
            let about = line_of(into);
            if PREEMPTS && (about.y & SERVES) != 0u {
                (*m).work = about.w & 0xffu;
                (*m).item = about.w >> 8u;
            }
        }
        case WORK_LEAVE: {
            who = (*m).slot;
            out = (*m).line;
            grants = false;
            let owner = line_of(out).w;
            (*m).work = owner & 0xffu;
            (*m).item = owner >> 8u;
        }
        case WORK_GRANT: {
            who = (*m).who;
        }
        case WORK_BATCH: {
            let line = row_get(state, line_of(item).x);
            if !BATCHES || line.y == 0u { return; }
            who = line.x >> 16u;
            out = item;
            grants = false;
            (*m).work = WORK_BATCH;
        }
        case WORK_SEPARATE: {
            if !BATCHES { return; }
            let place = row_of((*m).slot) + 2u + (*m).copies / 4u;
            var words = memory_get(place);
            who = words[(*m).copies & 3u];
            let next = memory_get(row_of(who)).z & 0xffffu;
            words[(*m).copies & 3u] = next;
            memory_set(place, words);
            if next != 0u { (*m).work = WORK_SEPARATE; }
        }
        case WORK_INTERRUPT: {
            who = (*m).who;
            let control = memory_get(row_of(who)).x;
            let status = (control >> 16u) & 0xffu;
            if (status == STATUS_LINE) | (status == STATUS_ITEM) {
                let about = step_of(control & 0xffffu);
                out = select(about.y, about.z, status == STATUS_ITEM);
                let owner = line_of(out).w;
                (*m).work = owner & 0xffu;
                (*m).item = owner >> 8u;
            }
        }
        default: {
            who = (*m).who;
            out = (*m).line;
        }
    }
    var row = memory_get(row_of(who));
    if work == WORK_ENTER {
        let control = ((*m).control.x & 0xff000000u) | ((*m).status << 16u) | (*m).step;
        row = vec4<u32>(control, (*m).control.y, 0u, (*m).control.w & 0xffff0000u);
    }
    if work == WORK_STORE { row.x = (row.x & 0xff00ffffu) | (STATUS_ITEM << 16u); }
    relink(state, m, who, row, out, into);
    if BATCHES && work == WORK_BATCH {
        let place = row_of((*m).slot) + 2u + (*m).copies / 4u;
        var words = memory_get(place);
        let control = (row.x & 0xff00ffffu) | (STATUS_MEMBER << 16u);
        let links = vec2<u32>(words[(*m).copies & 3u], row.w & 0xffff0000u);
        memory_set(row_of(who), vec4<u32>(control, 0u, links));
        words[(*m).copies & 3u] = who;
        memory_set(place, words);
    }
    if grants { grant(m, who, INTERRUPTS && work == WORK_INTERRUPT); }
}

// Executes until nothing continues.
fn execute(state: ptr<function, State>, m: ptr<function, Machine>) {
    var steps = 0u;
    // Bound: MOST_STEPS, and three parts for each source.
    for (var i = 0u; i < MOST_STEPS + 3u * SOURCES + 3u; i += 1u) {
        if (*m).work == WORK_NONE {
            (*m).act = ACT_CONTINUE;
            (*m).law = LAW_NONE;
            (*m).timed = false;
            if (*m).source != 0u {
                run_source(state, m);
            } else {
                if (*m).slot == 0u {
                    if (*m).first != 0u {
                        take_ready(m);
                    } else if CONDITIONS == 0u || !find_candidate(state, m) {
                        break;
                    }
                }
                if steps == MOST_STEPS {
                    failed(m, FAULT_ENDLESS, 0u);
                    break;
                }
                steps += 1u;
                if CONDITIONS != 0u && (*m).candidate != 0u {
                    try_condition(state, m);
                } else {
                    run_step(state, m);
                }
            }
            if (*m).fault != 0u { break; }
            if (*m).law != LAW_NONE { draw_law(m); }
            let act = (*m).act;
            if act == ACT_DRAWN {
                drawn(state, m);
            } else if (act == ACT_DELAY) | (act == ACT_WAIT) | (act == ACT_ARRIVAL) {
                act_later(state, m);
            } else if act == ACT_JOIN {
                stop(m, STATUS_JOIN, 0u);
                (*m).slot = 0u;
            } else if act == ACT_END {
                act_end(state, m);
            } else if INTERRUPTS && act == ACT_INTERRUPT {
                act_interrupt(state, m);
            }
            if (*m).spawns != 0u { spawn(state, m); }
        }
        // Bound: an entity leaves a line or enters one each time.
        for (var n = 0u; n < 0x10000u && (*m).work != WORK_NONE; n += 1u) {
            if (*m).fault != 0u { break; }
            move_one(state, m);
        }
        if ((*m).fault != 0u) | (*m).stopped { break; }
    }
    if (*m).fault != 0u {
        (*state).r0.w = (*m).fault;
        row_set(state, FAULT_ROW, vec4<u32>((*m).slot, (*m).detail, now()));
    }
}

// A machine at the beginning of an event.
fn machine(lp: u32) -> Machine {
    var m = Machine();
    let warm_up = params.words[0].xy;
    m.lp = lp;
    m.age = time_since(now(), warm_up);
    m.counts = !time_less(now(), warm_up);
    return m;
}

// Begins a run, which `execute` continues.
fn open_run(state: ptr<function, State>, m: ptr<function, Machine>) {
    begin(state);
    (*m).begins = true;
    (*m).source = u32(SOURCES != 0u);
}

// Begins an event. Returns whether there is something to execute.
fn open_event(event: Event, state: ptr<function, State>, m: ptr<function, Machine>) -> bool {
    if (*state).r0.w != 0u { return false; }
    let same = all((*state).r1.zw == now());
    let events = select(1u, (*state).r1.y + 1u, same);
    (*state).r1 = vec4<u32>((*state).r1.x, events, now());
    if events > MOST_EVENTS_AT_ONCE {
        failed(m, FAULT_ENDLESS, 0u);
    } else if ((*m).age.y >> 15u) != 0u {
        failed(m, FAULT_LATE, 0u);
    } else if (event.payload.y & SOURCE_EVENT) != 0u {
        (*m).source = (event.payload.y & ~SOURCE_EVENT) + 1u;
    } else {
        (*m).slot = event.payload.y + 1u;
        (*m).control = memory_get(row_of((*m).slot));
        let status = ((*m).control.x >> 16u) & 0xffu;
        // Others were cancelled.
        if (status == STATUS_FREE) | ((*m).control.y != event.payload.x) { return false; }
        let about = step_of((*m).control.x & 0xffffu);
        (*m).step = about.x & 0xffffu;
        if status != STATUS_DELAY {
            (*m).step = about.x >> 16u;
            (*m).line = select(about.y, about.z, status == STATUS_ITEM);
            (*m).work = WORK_LEAVE;
        }
    }
    return true;
}

fn init(lp: u32, state: ptr<function, State>) {
    var m = machine(lp);
    open_run(state, &m);
    execute(state, &m);
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    var m = machine(lp);
    if open_event(event, state, &m) { execute(state, &m); }
}
