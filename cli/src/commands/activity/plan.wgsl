// Plans a day (Chapuis et al., section 3.1 and Algorithm 5): a genetic algorithm on schedules of
// four activities, each with a duration. The reference implementation is in plan.rs.
//
// A workgroup of 32 invocations serves one plan, each invocation one schedule of the population.

struct Call {
    elapsed: array<u32, 4>,     // minutes since each activity was last performed, at most 2,880
    seed: u32,
    generations: u32,
}

struct Answer {
    activity: u32,              // the first of the best schedule
    minutes: u32,
    score: i32,
}

const POPULATION = 32u;
// For each activity (eat, sleep, work, leisure): the longest useful duration in minutes, the
// minutes until it is fully wanted again, its value, and the penalty for omitting it.
const FULL = array<u32, 4>(45u, 480u, 480u, 120u);
const PERIOD = array<u32, 4>(300u, 960u, 960u, 720u);
const WORTH = array<u32, 4>(60u, 40u, 30u, 20u);
const MISSED = array<u32, 4>(6u, 4u, 3u, 1u);

// A schedule is four words: activity * 1024 + minutes.
var<workgroup> schedules: array<vec4<u32>, POPULATION>;
var<workgroup> scores: array<i32, POPULATION>;

var<private> random: u32;

// PCG-RXS-M-XS (O'Neill, 2014), 32 bits.
fn draw_word() -> u32 {
    random = random * 747796405u + 2891336453u;
    let word = ((random >> ((random >> 28u) + 4u)) ^ random) * 277803737u;
    return (word >> 22u) ^ word;
}

fn draw_slot() -> u32 {
    return draw_word() % 4u;
}

fn draw_activity() -> u32 {
    let activity = draw_word() % 4u;
    return activity * 1024u + 15u + draw_word() % 586u;
}

fn evaluate(call: Call, schedule: vec4<u32>) -> i32 {
    var elapsed = call.elapsed;
    var full = FULL;
    var period = PERIOD;
    var worth = WORTH;
    var missed = MISSED;
    var score = 0;
    for (var slot = 0u; slot < 4u; slot += 1u) {
        let activity = schedule[slot] / 1024u;
        let minutes = schedule[slot] % 1024u;
        let wanted = min(elapsed[activity], period[activity]);
        score += i32(worth[activity] * min(minutes, full[activity]) * wanted / period[activity]);
        for (var other = 0u; other < 4u; other += 1u) {
            if other == activity {
                elapsed[other] = 0u;
            } else {
                elapsed[other] = min(elapsed[other] + minutes, 5760u);
                score -= i32(missed[other] * minutes * elapsed[other] / period[other] / 8u);
            }
        }
    }
    return score;
}

fn handle(call: Call, group: u32, lane: u32) -> Answer {
    random = call.seed ^ (lane * 0x9e3779b9u);
    var schedule = vec4<u32>(draw_activity(), draw_activity(), draw_activity(), draw_activity());
    var score = evaluate(call, schedule);
    for (var generation = 0u; generation < min(call.generations, 200u); generation += 1u) {
        var changed = schedule;
        let first = draw_slot();
        let second = draw_slot();
        changed[first] = schedule[second];
        changed[second] = schedule[first];
        var changed_score = evaluate(call, changed);
        if changed_score > score {
            schedule = changed;
            score = changed_score;
        }
        changed = schedule;
        changed[draw_slot()] = draw_activity();
        changed_score = evaluate(call, changed);
        if changed_score > score {
            schedule = changed;
            score = changed_score;
        }
        schedules[lane] = schedule;
        scores[lane] = score;
        workgroupBarrier();
        // All schedules become copies of the best one; of equal ones, the first.
        var best = 0u;
        for (var other = 1u; other < POPULATION; other += 1u) {
            if scores[other] > scores[best] { best = other; }
        }
        schedule = schedules[best];
        score = scores[best];
        workgroupBarrier();
    }
    return Answer(schedule.x / 1024u, schedule.x % 1024u, score);
}
