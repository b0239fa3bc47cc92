//! Case studies of `examples/processes`, beside published figures and formulas.

use std::collections::HashMap;

use serde_json::Value;

use super::run;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/processes");

fn json(file: &str, args: &[&str]) -> Value {
    let file = format!("{FILES}/{file}");
    let output = run("process", &[&[&*file, "--backend", "cpu", "--json"], args].concat());
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Mean and half width of a measure at a point.
fn estimate(printed: &Value, point: u64, measure: &str) -> (f64, f64) {
    let rows = printed["results"].as_array().unwrap();
    let row = rows.iter().find(|row| row["point"] == point && row["measure"] == measure);
    let row = row.unwrap_or_else(|| panic!("{measure}: {printed}"));
    (row["mean"].as_f64().unwrap(), row["half_width"].as_f64().unwrap())
}

/// Whether a measure has this value: three half widths of 95 % are missed once in a million.
fn is_near(printed: &Value, point: u64, measure: &str, expected: f64, more: f64) {
    let (mean, half) = estimate(printed, point, measure);
    assert!((mean - expected).abs() <= 3.0 * half + more, "{measure}: {mean} ± {half}, expected {expected}");
}

/// Y. Koren (2010), example 1 of buffer design: 0.72 and 0.80 parts a minute, rounded.
#[test]
fn the_transfer_line_makes_the_published_parts() {
    let printed = json("transfer_line.toml", &["--replications", "24"]);
    is_near(&printed, 0, "rate(made)", 0.72, 0.005);
    is_near(&printed, 1, "rate(made)", 0.80, 0.005);
}

/// Results of stars-treat-sim 3.0 in its notebook `test_package.ipynb`: means of the means of 50 days.
/// Standard deviations of the means of days are from 200 days of that program.
#[test]
fn the_treatment_centre_has_the_published_waits() {
    let published: [(usize, &str, f64, f64); 22] = [
        (0, "triage_wait", 35.243_019, 17.8),
        (0, "registration_wait", 105.572_644, 22.6),
        (0, "exam_wait", 25.552_525, 8.9),
        (0, "treatment_wait", 136.660_635, 24.8),
        (0, "stay", 234.335_783, 23.6),
        (0, "trauma_wait", 151.680_557, 79.4),
        (0, "trauma_treatment_wait", 14.305_044, 13.3),
        (0, "trauma_stay", 292.280_487, 75.9),
        (0, "treated", 162.16, 8.24),
        (1, "triage_wait", 1.325_176, 0.752),
        (1, "registration_wait", 135.915_119, 28.3),
        (1, "exam_wait", 26.688_866, 9.0),
        (1, "treatment_wait", 138.575_405, 25.2),
        (1, "stay", 232.133_275, 23.7),
        (1, "trauma_wait", 175.135_269, 83.6),
        (1, "treated", 162.92, 8.25),
        (2, "exam_wait", 0.146_565, 0.077),
        (2, "treatment_wait", 151.808_204, 25.7),
        (2, "stay", 223.063_821, 24.1),
        (2, "treated", 165.88, 8.61),
        (3, "treatment_wait", 2.280_962, 0.872),
        (3, "treated", 195.3, 7.16),
    ];
    let each = std::env::temp_dir().join(format!("eventhorizon-centre-{}.csv", std::process::id()));
    json("treatment_centre.toml", &["--replications", "200", "--each", each.to_str().unwrap()]);
    let text = std::fs::read_to_string(&each).unwrap();
    std::fs::remove_file(each).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let table: Vec<_> = lines.collect();
    for (point, measure, mean, deviation) in published {
        let column = head.iter().position(|name| *name == measure).unwrap();
        let rows = table.iter().filter(|row| row[0] == point.to_string());
        // A day without traumas has no wait of them.
        let values: Vec<f64> = rows.filter_map(|row| row[column].parse().ok()).collect();
        assert!(values.len() > 190, "{measure}: {} days", values.len());
        let found = values.iter().sum::<f64>() / values.len() as f64;
        let error = deviation * (1.0_f64 / 50.0 + 1.0 / 200.0).sqrt();
        assert!(
            (found - mean).abs() <= 3.5 * error,
            "{measure} at {point}: {found}, published {mean} ± {error}"
        );
    }
}

/// Waits of Poisson customers with priorities and one exponential service at several servers (Kella
/// and Yechiali, 1985): Erlang's probability to wait, and loads of the classes before.
#[test]
fn triage_levels_wait_as_theory_says_without_shifts() {
    let printed = json(
        "triage.toml",
        &["--replications", "24", "--set", "night=4", "--set", "day=4", "--set", "evening=4"],
    );
    let (servers, service, rate) = (4_u32, 20.0, 1.0 / 6.0);
    let load: f64 = rate * service;
    let loss = (1..=servers).fold(1.0, |loss, number| load * loss / (f64::from(number) + load * loss));
    let waits = loss / (1.0 - load / f64::from(servers) * (1.0 - loss));
    let mut before = 0.0;
    for (level, share) in [0.02, 0.15, 0.45, 0.28, 0.10].into_iter().enumerate() {
        let with = before + share * load / f64::from(servers);
        let wait = waits * service / f64::from(servers) / ((1.0 - before) * (1.0 - with));
        is_near(&printed, 0, &format!("wait_{}", level + 1), wait, 0.0);
        before = with;
    }
}

/// The number of patients is a Markov chain whose rates change with the shifts: the forward
/// equations, solved until a day is as the one before.
#[test]
fn triage_with_shifts_has_the_line_of_the_forward_equations() {
    const LINE: usize = 120;
    const STEPS: usize = 4;
    let printed = json("triage.toml", &["--replications", "24"]);
    let (rate, service) = (1.0 / 6.0, 1.0 / 20.0);
    let shifts = [3_usize, 4, 5];
    // By busy doctors and patients in line.
    let mut chance = vec![[0.0_f64; LINE]; 6];
    chance[0][0] = 1.0;
    let change = |chance: &[[f64; LINE]], doctors: usize| {
        let mut change = vec![[0.0; LINE]; 6];
        for busy in 0..6 {
            for line in 0..LINE {
                let here = chance[busy][line];
                let (up, down) = (rate * here, busy as f64 * service * here);
                match busy < doctors {
                    true => change[busy + 1][line] += up,
                    false if line + 1 < LINE => change[busy][line + 1] += up,
                    false => change[busy][line] += up,
                }
                change[busy][line] -= up + down;
                if busy > 0 {
                    match busy <= doctors && line > 0 {
                        true => change[busy][line - 1] += down,
                        false => change[busy - 1][line] += down,
                    }
                }
            }
        }
        change
    };
    let (mut queue, mut held) = (0.0, 0.0);
    for _ in 0..6 {
        (queue, held) = (0.0, 0.0);
        for doctors in shifts {
            // Free doctors of a new shift take the first in line.
            for busy in 0..doctors {
                for line in 1..LINE {
                    let moved = std::mem::take(&mut chance[busy][line]);
                    let taken = line.min(doctors - busy);
                    chance[busy + taken][line - taken] += moved;
                }
            }
            for _ in 0..480 * STEPS {
                // The midpoint rule.
                let half = 0.5 / STEPS as f64;
                let first = change(&chance, doctors);
                let mut middle = chance.clone();
                for (row, first) in middle.iter_mut().zip(&first) {
                    row.iter_mut().zip(first).for_each(|(chance, change)| *chance += half * change);
                }
                for (row, change) in chance.iter_mut().zip(change(&middle, doctors)) {
                    row.iter_mut().zip(change).for_each(|(chance, change)| *chance += 2.0 * half * change);
                }
                for (busy, row) in chance.iter().enumerate() {
                    for (line, chance) in row.iter().enumerate() {
                        queue += chance * line as f64 / (1440 * STEPS) as f64;
                        held += chance * busy as f64 / (1440 * STEPS) as f64;
                    }
                }
            }
        }
    }
    // Without loss, doctors have the work that comes.
    assert!((held - rate / service).abs() < 1e-3, "{held}");
    is_near(&printed, 0, "queue(doctor)", queue, 0.0);
    is_near(&printed, 0, "in_use(doctor)", held, 0.0);
}

/// State of the call centre: callers with English agents, French agents and agents of both
/// languages, by the caller's language, and those in line in their order (a 1 before their bits).
type State = ([u8; 4], u32);

/// The call centre with four agents of both languages and room for 9 callers in line, which are full
/// a ten-thousandth of the time: rates of all changes from a state.
fn changes((busy, line): State) -> Vec<(State, f64)> {
    const AGENTS: [u8; 3] = [5, 2, 4];
    const ROOM: u32 = 9;
    let rates = [1.4, 0.6];
    let ends = [1.0 / 3.0, 0.25, 1.0 / 3.0, 0.25];
    let length = line.ilog2();
    // The language of the caller at a place from the front.
    let language = |at: u32| (line >> (length - 1 - at) & 1) as usize;
    let without = |at: u32| {
        let below = length - 1 - at;
        (line >> (below + 1)) << below | (line & ((1 << below) - 1))
    };
    let with = |index: usize, more: i8| {
        let mut busy = busy;
        busy[index] = busy[index].checked_add_signed(more).unwrap();
        busy
    };
    let mut all = Vec::new();
    for (kind, rate) in rates.into_iter().enumerate() {
        if busy[kind] < AGENTS[kind] {
            all.push(((with(kind, 1), line), rate));
        } else if busy[2] + busy[3] < AGENTS[2] {
            all.push(((with(2 + kind, 1), line), rate));
        } else if length < ROOM {
            all.push(((busy, line << 1 | kind as u32), rate));
        }
    }
    for agent in 0..4 {
        if busy[agent] == 0 {
            continue;
        }
        let rate = f64::from(busy[agent]) * ends[agent];
        let next = match agent {
            0 | 1 => (0..length).find(|&at| language(at) == agent),
            _ => (length > 0).then_some(0),
        };
        let after = match next {
            Some(at) if agent < 2 => (busy, without(at)),
            Some(at) => {
                let mut busy = with(agent, -1);
                busy[2 + language(at)] += 1;
                (busy, without(at))
            }
            None => (with(agent, -1), line),
        };
        all.push((after, rate));
    }
    all.extend((0..length).map(|at| ((busy, without(at)), 1.0 / 3.0)));
    all
}

#[test]
fn callers_with_languages_are_served_as_the_exact_chain_says() {
    let mut numbers: HashMap<State, usize> = HashMap::from([(([0; 4], 1), 0)]);
    let mut states = vec![([0; 4], 1)];
    let mut rows = Vec::new();
    while rows.len() < states.len() {
        let row: Vec<(usize, f64)> = changes(states[rows.len()])
            .into_iter()
            .map(|(state, rate)| {
                let number = *numbers.entry(state).or_insert_with(|| {
                    states.push(state);
                    states.len() - 1
                });
                (number, rate)
            })
            .collect();
        rows.push(row);
    }
    // Powers of the chain at the times of a Poisson process that is faster than all changes.
    let fastest = 10.0;
    let mut chance = vec![1.0 / states.len() as f64; states.len()];
    for _ in 0..3000 {
        let mut next = vec![0.0; states.len()];
        for (row, &here) in rows.iter().zip(&chance) {
            row.iter().for_each(|&(to, rate)| next[to] += here * rate / fastest);
        }
        for (row, (next, here)) in rows.iter().zip(next.iter_mut().zip(&chance)) {
            *next += here * (1.0 - row.iter().map(|(_, rate)| rate).sum::<f64>() / fastest);
        }
        chance = next;
    }
    let mean = |of: &dyn Fn(&State) -> f64| -> f64 {
        states.iter().zip(&chance).map(|(state, chance)| of(state) * chance).sum()
    };
    let printed = json("call_centre.toml", &["--replications", "48", "--set", "bilingual=3"]);
    let lost = mean(&|state| f64::from(state.1.ilog2()) / 3.0);
    is_near(&printed, 0, "rate(lost)", lost, 1e-4);
    is_near(&printed, 0, "rate(answered)", 2.0 - lost, 1e-4);
    is_near(&printed, 0, "in_use(english)", mean(&|state| f64::from(state.0[0])), 1e-3);
    is_near(&printed, 0, "in_use(french)", mean(&|state| f64::from(state.0[1])), 1e-3);
    is_near(&printed, 0, "in_use(both)", mean(&|state| f64::from(state.0[2] + state.0[3])), 1e-3);
}
