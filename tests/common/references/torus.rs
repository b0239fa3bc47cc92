use eventhorizon::models::Torus;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};
use eventhorizon::statistics::TimeAverage;
use eventhorizon::time::Ticks;

use super::Reference;

const COMPLETION: [u32; 2] = [0, 0];
const ARRIVAL: [u32; 2] = [1, 0];

type State = <Torus as Model>::State;
type Output = <Torus as Model>::Output;

/// Customers at one station, if they are spread evenly.
pub(super) fn customers_at(station: u32, stations: u32, customers: u32) -> u32 {
    customers / stations + u32::from(station < customers % stations)
}

/// The neighbour of a place (row, column) on a torus of this size, in a direction from 0 to 3.
pub(super) fn step_on_torus(
    (rows, columns): (u32, u32),
    (row, column): (u32, u32),
    direction: u32,
) -> (u32, u32) {
    match direction {
        0 => (row, (column + 1) % columns),
        1 => (row, (column + columns - 1) % columns),
        2 => ((row + 1) % rows, column),
        _ => ((row + rows - 1) % rows, column),
    }
}

fn hold(state: &mut State, now: Ticks, number: u32) {
    state.number.set(now, number);
    state.busy.set(now, number.min(1));
}

impl Reference<Torus> {
    fn serve(&self, lp: u32, context: &mut Context<'_>) {
        let delay = context.stream().exponential(self.params().mean_service);
        context.schedule(lp, context.now().saturating_add(delay), COMPLETION);
    }

    fn neighbour(&self, lp: u32, direction: u32) -> u32 {
        let columns = self.params().columns;
        let (row, column) = (lp / columns, lp % columns);
        let (row, column) = step_on_torus((self.lps() / columns, columns), (row, column), direction);
        row * columns + column
    }
}

impl CpuModel for Reference<Torus> {
    fn init(&self, lp: u32, state: &mut State, context: &mut Context<'_>) {
        let params = self.params();
        let number = customers_at(lp, self.lps(), params.customers);
        state.number = TimeAverage::since(params.warm_up, 0);
        state.busy = TimeAverage::since(params.warm_up, 0);
        hold(state, Ticks::ZERO, number);
        if number > 0 {
            self.serve(lp, context);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut State, context: &mut Context<'_>) {
        let (now, number) = (context.now(), state.number.level());
        if event.payload == ARRIVAL {
            hold(state, now, number + 1);
            if number == 0 {
                self.serve(lp, context);
            }
        } else {
            hold(state, now, number - 1);
            let direction = context.stream().below(4);
            context.schedule(self.neighbour(lp, direction), now.saturating_add(self.lookahead()), ARRIVAL);
            if number > 1 {
                self.serve(lp, context);
            }
            state.served += u64::from(now >= self.params().warm_up);
        }
    }

    fn output(&self, _: u32, state: &State, context: &mut Context<'_>) -> Output {
        let State { number, busy, served, unused } = *state;
        let now = context.now();
        Output { number: number.at(now), busy: busy.at(now), served, unused }
    }
}
