use eventhorizon::models::{Pi, PiParams};
use eventhorizon::random::Stream;
use eventhorizon::replication::{Fail, Model, ReferenceModel};

use super::Reference;

type Output = <Pi as Model>::Output;

/// The state of a replication.
#[derive(Debug, Default)]
pub struct State {
    next: u32,
    inside: u32,
}

impl ReferenceModel for Reference<Pi> {
    type State = State;

    fn start(&self, _: &PiParams, _: &mut Stream) -> Result<State, Fail> {
        Ok(State::default())
    }

    fn step(&self, params: &PiParams, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        let square = |word: u32| u128::from(word) * u128::from(word);
        // Two points, or the last one.
        for _ in 0..(params.points - state.next).min(2) {
            let distance = square(stream.draw()) + square(stream.draw());
            state.inside += u32::from(distance < 1 << 64);
            state.next += 1;
        }
        Ok(state.next < params.points)
    }

    fn finish(&self, _: &PiParams, state: &State) -> Result<Output, Fail> {
        Ok(Output { inside: state.inside })
    }
}
