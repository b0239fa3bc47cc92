use eventhorizon::models::{Workshop, WorkshopParams};
use eventhorizon::random::{Stream, exponential_short};
use eventhorizon::replication::{Fail, Model, ReferenceModel};

use super::Reference;

type Output = <Workshop as Model>::Output;

/// The state of a replication.
#[derive(Debug, Default)]
pub struct State {
    busy: u64,
    longest: u32,
    over: u32,
    next: u32,
}

/// The time of the next job: draws its kind first.
fn job(unit: u32, stream: &mut Stream) -> u32 {
    let exponential = |stream: &mut Stream, mean| exponential_short(stream.draw(), mean);
    match stream.draw() >> 29 {
        // Constant.
        0 => unit,
        // Uniform.
        1 => stream.below(2 * unit),
        // Exponential.
        2 => exponential(stream, unit),
        // Erlang: twelve operations, one after the other.
        3 => (0..12).map(|_| exponential(stream, unit)).sum(),
        // Triangular.
        4 => stream.below(unit) + stream.below(unit),
        // Repeated with probability 7/8, at most 40 times.
        5 => {
            let mut time = 0;
            for _ in 0..40 {
                time += stream.below(unit);
                if stream.draw() < 1 << 29 {
                    break;
                }
            }
            time
        }
        // Hyperexponential: occasionally a long one.
        6 => match stream.draw() < 1 << 28 {
            true => exponential(stream, 8 * unit),
            false => exponential(stream, unit / 2),
        },
        // The longest of a random number of parallel operations.
        _ => {
            let operations = 1 + stream.below(16);
            (0..operations).map(|_| exponential(stream, unit)).max().unwrap_or(0)
        }
    }
}

impl ReferenceModel for Reference<Workshop> {
    type State = State;

    fn start(&self, _: &WorkshopParams, _: &mut Stream) -> Result<State, Fail> {
        Ok(State::default())
    }

    fn step(&self, params: &WorkshopParams, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        let time = job(params.operation, stream);
        state.busy += u64::from(time);
        state.longest = state.longest.max(time);
        state.over += u32::from(time > 4 * params.operation);
        state.next += 1;
        Ok(state.next < params.jobs)
    }

    fn finish(&self, _: &WorkshopParams, state: &State) -> Result<Output, Fail> {
        let &State { busy, longest, over, .. } = state;
        Ok(Output { busy_ticks: busy, longest_ticks: longest, long_jobs: over })
    }
}
