use eventhorizon::models::{Walk, WalkParams};
use eventhorizon::random::Stream;
use eventhorizon::replication::{Fail, Model, ReferenceModel};

use super::Reference;

const COLUMNS: u32 = 60;
const ROWS: u32 = 50;

type Output = <Walk as Model>::Output;

/// The state of a replication.
#[derive(Debug)]
pub struct State {
    x: u32,
    y: u32,
    next: u32,
    visits: [u32; 30],
}

impl State {
    fn chunk(&self) -> u32 {
        self.y / 10 * (COLUMNS / 10) + self.x / 10
    }
}

impl ReferenceModel for Reference<Walk> {
    type State = State;

    fn start(&self, _: &WalkParams, stream: &mut Stream) -> Result<State, Fail> {
        Ok(State { x: stream.below(COLUMNS), y: stream.below(ROWS), next: 0, visits: [0; 30] })
    }

    fn step(&self, params: &WalkParams, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        match stream.draw() >> 30 {
            0 => state.x = (state.x + 1) % COLUMNS,
            1 => state.x = (state.x + COLUMNS - 1) % COLUMNS,
            2 => state.y = (state.y + 1) % ROWS,
            _ => state.y = (state.y + ROWS - 1) % ROWS,
        }
        state.visits[state.chunk() as usize] += 1;
        state.next += 1;
        Ok(state.next < params.steps)
    }

    fn finish(&self, _: &WalkParams, state: &State) -> Result<Output, Fail> {
        let explored = state.visits.iter().map(|&visits| u32::from(visits > 0)).sum();
        let most_visits = state.visits.into_iter().max().unwrap_or(0);
        Ok(Output { chunk: state.chunk(), x: state.x, y: state.y, explored, most_visits })
    }
}
