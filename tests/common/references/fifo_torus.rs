use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};
use eventhorizon::time::Ticks;

use super::Reference;
use super::torus::{customers_at, step_on_torus};

type State = <FifoTorus as Model>::State;
type Output = <FifoTorus as Model>::Output;

impl Reference<FifoTorus> {
    /// Stations are numbered block by block, and row by row within a block.
    fn neighbour(&self, lp: u32, direction: u32) -> u32 {
        let params = self.params();
        let (rows, columns, side) = (params.rows, params.columns, 1 << params.block_shift);
        let (blocks, block) = (columns / side, lp / (side * side));
        let row = block / blocks * side + lp / side % side;
        let column = block % blocks * side + lp % side;
        let (row, column) = step_on_torus((rows, columns), (row, column), direction);
        ((row / side * blocks + column / side) * side + row % side) * side + column % side
    }
}

impl CpuModel for Reference<FifoTorus> {
    fn init(&self, lp: u32, _: &mut State, context: &mut Context<'_>) {
        for _ in 0..customers_at(lp, self.lps(), self.params().customers) {
            context.schedule(lp, Ticks::ZERO, [0, 0]);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut State, context: &mut Context<'_>) {
        let service = context.stream().exponential(self.params().mean_service);
        let service = service.saturating_add(self.lookahead());
        let begin = state.free.max(event.time);
        state.waited = state.waited.saturating_add(Ticks::new(begin.get() - event.time.get()));
        state.busy = state.busy.saturating_add(service);
        state.served += 1;
        state.free = begin.saturating_add(service);
        let direction = context.stream().below(4);
        context.schedule(self.neighbour(lp, direction), state.free, [0, 0]);
    }

    fn output(&self, _: u32, state: &State, context: &mut Context<'_>) -> Output {
        let State { free, busy, waited, served } = *state;
        // The station serves without a break until all have left.
        let ahead = free.get().saturating_sub(context.now().get());
        let busy = Ticks::new(busy.get().saturating_sub(ahead));
        Output { busy, waited, served, unused: 0 }
    }
}
