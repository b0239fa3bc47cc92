use std::collections::VecDeque;

use eventhorizon::models::{Mmck, MmckParams};
use eventhorizon::random::{Stream, exponential_short};
use eventhorizon::replication::{Fail, Model, ReferenceModel};

use super::Reference;

/// `MMCK_TOO_LONG`: the clock or the total wait passed 2^63 ticks.
const TOO_LONG: Fail = Fail(1);

type Output = <Mmck as Model>::Output;

/// The state of a replication, in ticks.
#[derive(Debug)]
pub struct State {
    clock: u64,
    queue: u64,
    next: u32,
    turned_away: u32,
    /// When each server is free.
    free: Vec<u64>,
    /// When waiting clients start: servers take them in order, so the starts never decrease.
    starts: VecDeque<u64>,
}

impl ReferenceModel for Reference<Mmck> {
    type State = State;

    fn start(&self, params: &MmckParams, _: &mut Stream) -> Result<State, Fail> {
        let free = vec![0; params.servers as usize];
        Ok(State { clock: 0, queue: 0, next: 0, turned_away: 0, free, starts: VecDeque::new() })
    }

    fn step(&self, params: &MmckParams, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        state.clock += u64::from(exponential_short(stream.draw(), params.mean_interarrival));
        let service = u64::from(exponential_short(stream.draw(), params.mean_service));
        let clock = state.clock;
        while state.starts.front().is_some_and(|&start| start <= clock) {
            state.starts.pop_front();
        }
        // Any of the servers that are free at the same time will do.
        let free = state.free.iter_mut().min().expect("there is a server");
        if *free <= clock {
            *free = clock + service;
        } else if state.starts.len() < (params.room - params.servers) as usize {
            state.starts.push_back(*free);
            state.queue += *free - clock;
            *free += service;
        } else {
            state.turned_away += 1;
        }
        state.next += 1;
        match clock.max(state.queue) < 1 << 63 {
            true => Ok(state.next < params.arrivals),
            false => Err(TOO_LONG),
        }
    }

    fn finish(&self, params: &MmckParams, state: &State) -> Result<Output, Fail> {
        let turned_away = state.turned_away;
        Ok(Output { turned_away, let_in: params.arrivals - turned_away, queue_ticks: state.queue })
    }
}
