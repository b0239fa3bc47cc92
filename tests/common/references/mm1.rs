use eventhorizon::models::{Mm1, Mm1Params};
use eventhorizon::random::{Stream, exponential_tabled};
use eventhorizon::replication::{Fail, Model, ReferenceModel};

use super::Reference;

/// `MM1_TOO_LONG`: the clients wait for more than 2^62 ticks in all.
const TOO_LONG: Fail = Fail(1);

type Output = <Mm1 as Model>::Output;

/// The state of a replication, in ticks.
#[derive(Debug, Default)]
pub struct State {
    /// The work that the next client finds, before the time until its arrival is subtracted.
    work: u64,
    next: u32,
    idle: u64,
    queue: u64,
    service: u64,
}

impl ReferenceModel for Reference<Mm1> {
    type State = State;

    fn start(&self, _: &Mm1Params, _: &mut Stream) -> Result<State, Fail> {
        Ok(State::default())
    }

    fn step(&self, params: &Mm1Params, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        // Eight clients, or the last ones.
        for _ in 0..(params.clients - state.next).min(8) {
            let interarrival = u64::from(exponential_tabled(stream.draw(), params.mean_interarrival));
            let service = u64::from(exponential_tabled(stream.draw(), params.mean_service));
            let wait = state.work.saturating_sub(interarrival);
            state.idle += interarrival.saturating_sub(state.work);
            state.queue += wait;
            state.service += service;
            state.work = wait + service;
            state.next += 1;
        }
        match state.queue < 1 << 62 {
            true => Ok(state.next < params.clients),
            false => Err(TOO_LONG),
        }
    }

    fn finish(&self, _: &Mm1Params, state: &State) -> Result<Output, Fail> {
        let &State { idle, queue, service, .. } = state;
        Ok(Output { idle_ticks: idle, queue_ticks: queue, system_ticks: queue + service })
    }
}
