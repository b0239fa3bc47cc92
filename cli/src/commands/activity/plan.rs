//! Planning a day: the reference implementation of `plan.wgsl`.

use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{HybridError, WgslHandler};

/// The WGSL `struct Call`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Call {
    /// Minutes since each activity was last performed.
    pub(crate) elapsed: [u32; 4],
    pub(crate) seed: u32,
    pub(crate) generations: u32,
}

/// The WGSL `struct Answer`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Answer {
    pub(crate) activity: u32,
    pub(crate) minutes: u32,
    pub(crate) score: i32,
}

/// Eat, sleep, work, leisure.
pub(crate) const SLEEP: usize = 1;
pub(crate) const WORK: usize = 2;

const POPULATION: u32 = 32;
const FULL: [u32; 4] = [45, 480, 480, 120];
const PERIOD: [u32; 4] = [300, 960, 960, 720];
const WORTH: [u32; 4] = [60, 40, 30, 20];
const MISSED: [u32; 4] = [6, 4, 3, 1];

pub(crate) type Planner = WgslHandler<Call, Answer>;

pub(crate) fn planner(devices: &[Gpu]) -> Result<Planner, HybridError> {
    let source = eventhorizon::wgsl!("plan.wgsl");
    WgslHandler::multithreaded(devices, "planning", source, POPULATION, |call| [plan(call)])
}

struct Draws(u32);

impl Draws {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((self.0 >> ((self.0 >> 28) + 4)) ^ self.0).wrapping_mul(277_803_737);
        (word >> 22) ^ word
    }

    fn slot(&mut self) -> usize {
        (self.word() % 4) as usize
    }

    fn activity(&mut self) -> u32 {
        let activity = self.word() % 4;
        activity * 1024 + 15 + self.word() % 586
    }
}

fn evaluate(call: &Call, schedule: [u32; 4]) -> i32 {
    let mut elapsed = call.elapsed;
    let mut score = 0_i32;
    for word in schedule {
        let (activity, minutes) = ((word / 1024) as usize, word % 1024);
        let wanted = elapsed[activity].min(PERIOD[activity]);
        score += (WORTH[activity] * minutes.min(FULL[activity]) * wanted / PERIOD[activity]).cast_signed();
        for other in 0..4 {
            if other == activity {
                elapsed[other] = 0;
            } else {
                elapsed[other] = (elapsed[other] + minutes).min(5760);
                score -= (MISSED[other] * minutes * elapsed[other] / PERIOD[other] / 8).cast_signed();
            }
        }
    }
    score
}

/// Keeps a changed schedule if it is better.
fn keep(call: &Call, changed: [u32; 4], schedule: &mut [u32; 4], score: &mut i32) {
    let changed_score = evaluate(call, changed);
    if changed_score > *score {
        (*schedule, *score) = (changed, changed_score);
    }
}

fn plan(call: &Call) -> Answer {
    let mut population: Vec<_> = (0..POPULATION)
        .map(|lane| {
            let mut draws = Draws(call.seed ^ lane.wrapping_mul(0x9e37_79b9));
            let schedule = std::array::from_fn(|_| draws.activity());
            (draws, schedule, evaluate(call, schedule))
        })
        .collect();
    for _ in 0..call.generations.min(200) {
        for (draws, schedule, score) in &mut population {
            let mut changed = *schedule;
            let (first, second) = (draws.slot(), draws.slot());
            changed.swap(first, second);
            keep(call, changed, schedule, score);
            changed = *schedule;
            let slot = draws.slot();
            changed[slot] = draws.activity();
            keep(call, changed, schedule, score);
        }
        let first = population.iter().map(|(_, schedule, score)| (*schedule, *score));
        let best =
            first.reduce(|best, next| if next.1 > best.1 { next } else { best }).expect("there are some");
        population.iter_mut().for_each(|(_, schedule, score)| (*schedule, *score) = best);
    }
    let (schedule, score) = (population[0].1, population[0].2);
    Answer { activity: schedule[0] / 1024, minutes: schedule[0] % 1024, score }
}
