// M/M/1 on a team: Lindley's recursion as a max-plus prefix scan.
//
// Clients change the work R by R -> max(R + a, b), with a = S - A and b = S for one client, and the
// composition of such functions is one as well. Each lane composes its MM1_PAIRS pairs, the scan
// gives each the work that it finds, and each serves its clients as in the first file. The sums are
// integers, so their order does not matter. A part is (a, b), two signed 64-bit numbers.

// Pairs per lane and round: unrolled below.
const MM1_PAIRS = 2u;
// Rounds per step: amortise the final sums. 256 lanes serve at most 2^13 clients in a step, so the
// check for MM1_TOO_LONG comes before a sum overflows: the total wait T bounds the work to 2^16
// sqrt(T).
const MM1_ROUNDS = 8u;

const TEAM_NEUTRAL = vec4<u32>(0u, 0u, 0u, 0xc0000000u);

fn team_combine(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    let moved = wide_add(first.zw, second.xy);
    let less = (i32(moved.y) < i32(second.w)) | ((moved.y == second.w) & (moved.x < second.z));
    return vec4<u32>(wide_add(first.xy, second.xy), select(moved, second.zw, less));
}

// The function of two clients. All numbers are between -1.6e9 and 1.6e9.
fn mm1_part(times: vec4<u32>) -> vec4<u32> {
    let rest = i32(times.y + times.w - times.z);
    let a = rest - i32(times.x);
    let b = max(rest, i32(times.w));
    return vec4<u32>(u32(a), u32(a >> 31u), u32(b), u32(b >> 31u));
}

fn mm1_apply(work: vec2<u32>, part: vec4<u32>) -> vec2<u32> {
    return team_combine(vec4<u32>(0u, 0u, work), part).zw;
}

fn team_step(state: ptr<function, State>) -> bool {
    var mine = State();
    var work = add_word((*state).backlog, (*state).workload);
    var next = (*state).next;
    for (var round = 0u; round < MM1_ROUNDS; round++) {
        let client = next + 2u * MM1_PAIRS * team_lane;
        let first = mm1_times(stream_block(client >> 1u), client);
        let second = mm1_times(stream_block((client >> 1u) + 1u), client + 2u);
        let has_first = client < params.clients;
        let has_second = client + 2u < params.clients;
        let first_part = select(TEAM_NEUTRAL, mm1_part(first), vec4<bool>(has_first));
        let second_part = select(TEAM_NEUTRAL, mm1_part(second), vec4<bool>(has_second));
        let scan = team_scan(team_combine(first_part, second_part));
        let found = mm1_apply(work, scan.before);
        mine.workload = 0u;
        mine.backlog = found;
        mm1_balance(&mine);
        mine.next = client;
        if has_first {
            mm1_serve(&mine, first);
        }
        if has_second {
            mm1_serve(&mine, second);
        }
        work = mm1_apply(work, scan.total);
        next += 2u * MM1_PAIRS * team_size();
        if team_agree(u32(next < params.clients)) == 0u {
            break;
        }
    }
    (*state).arrival = wide_add((*state).arrival, team_sum(mine.arrival));
    (*state).queue = wide_add((*state).queue, team_sum(mine.queue));
    (*state).service = wide_add((*state).service, team_sum(mine.service));
    (*state).workload = 0u;
    (*state).backlog = work;
    (*state).next = min(next, params.clients);
    stream_seek(2u * (*state).next);
    if (*state).queue.y >= 0x40000000u {
        fail(MM1_TOO_LONG);
    }
    return next < params.clients;
}
