use eventhorizon::models::Phold;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};

use super::Reference;

type State = <Phold as Model>::State;

impl Reference<Phold> {
    /// The target of an event. WGSL: `neighbour`, or `draw_below`.
    fn destination(&self, lp: u32, context: &mut Context<'_>) -> u32 {
        let (lps, neighbours) = (self.lps(), self.params().neighbours);
        if neighbours == 0 {
            return context.stream().below(lps);
        }
        let index = context.stream().below(neighbours);
        let steps = index / 2 + 1;
        if index.is_multiple_of(2) { (lp + steps) % lps } else { (lp + lps - steps) % lps }
    }
}

impl CpuModel for Reference<Phold> {
    fn init(&self, lp: u32, _: &mut State, context: &mut Context<'_>) {
        let params = self.params();
        for i in 0..params.population {
            let delay = context.stream().exponential(params.mean);
            let to = self.destination(lp, context);
            context.schedule(to, delay, [lp, i]);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut State, context: &mut Context<'_>) {
        state.received = state.received.wrapping_add(1);
        state.last = event.time.to_words()[0];
        let delay = self.lookahead().saturating_add(context.stream().exponential(self.params().mean));
        let to = self.destination(lp, context);
        context.schedule(to, event.time.saturating_add(delay), event.payload);
    }
}
