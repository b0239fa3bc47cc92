use eventhorizon::models::CallCentre;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};
use eventhorizon::statistics::{Tally, TimeAverage};
use eventhorizon::time::Ticks;

use super::Reference;

const COMPLETION: u32 = 0;
const ARRIVAL: u32 = 1;
const HANG_UP: u32 = 2;

type State = <CallCentre as Model>::State;
type Output = <CallCentre as Model>::Output;

impl Reference<CallCentre> {
    fn expect(&self, lp: u32, context: &mut Context<'_>) {
        let delay = context.stream().exponential(self.params().mean_interarrival);
        context.schedule(lp, context.now().saturating_add(delay), [ARRIVAL, 0]);
    }

    fn answer(&self, lp: u32, came: Ticks, state: &mut State, context: &mut Context<'_>) {
        let now = context.now();
        state.busy += 1;
        state.served.add(now, now.get() - came.get());
        let delay = context.stream().exponential(self.params().mean_service);
        context.schedule(lp, now.saturating_add(delay), [COMPLETION, 0]);
    }

    fn wait(&self, lp: u32, state: &mut State, context: &mut Context<'_>) {
        let room = context.memory_rows();
        if state.tail.wrapping_sub(state.head) == room {
            return context.memory_full();
        }
        let now = context.now();
        context.memory_set(state.tail % room, row(now));
        let delay = context.stream().exponential(self.params().mean_patience);
        context.schedule(lp, now.saturating_add(delay), [HANG_UP, state.tail]);
        state.tail = state.tail.wrapping_add(1);
        state.waiting.add(now, 1);
    }
}

/// A row of the line.
fn row(came: Ticks) -> [u32; 4] {
    let [low, high] = came.to_words();
    [low, high, 0, 0]
}

fn came([low, high, ..]: [u32; 4]) -> Ticks {
    Ticks::from_words([low, high])
}

impl CpuModel for Reference<CallCentre> {
    fn init(&self, lp: u32, state: &mut State, context: &mut Context<'_>) {
        let warm_up = self.params().warm_up;
        state.served = Tally::since(warm_up);
        state.abandoned = Tally::since(warm_up);
        state.waiting = TimeAverage::since(warm_up, 0);
        self.expect(lp, context);
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut State, context: &mut Context<'_>) {
        let (now, room) = (context.now(), context.memory_rows());
        let [kind, ticket] = event.payload;
        if kind == COMPLETION {
            state.busy -= 1;
            while state.head != state.tail {
                let came = came(context.memory_get(state.head % room));
                state.head = state.head.wrapping_add(1);
                if came != Ticks::NEVER {
                    state.waiting.add(now, -1);
                    self.answer(lp, came, state, context);
                    break;
                }
            }
        } else if kind == ARRIVAL {
            self.expect(lp, context);
            if state.busy < self.params().servers {
                self.answer(lp, now, state, context);
            } else {
                self.wait(lp, state, context);
            }
        } else if ticket.wrapping_sub(state.head) < state.tail.wrapping_sub(state.head) {
            let came = came(context.memory_get(ticket % room));
            context.memory_set(ticket % room, row(Ticks::NEVER));
            state.waiting.add(now, -1);
            state.abandoned.add(now, now.get() - came.get());
        }
    }

    fn output(&self, _: u32, state: &State, context: &mut Context<'_>) -> Output {
        let State { served, abandoned, waiting, .. } = *state;
        Output { served, abandoned, waiting: waiting.at(context.now()) }
    }
}
