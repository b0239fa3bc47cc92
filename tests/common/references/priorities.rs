use eventhorizon::models::Priorities;
use eventhorizon::pdes::{Context, CpuModel, Event, Model};
use eventhorizon::statistics::Tally;
use eventhorizon::time::Ticks;

use super::Reference;

/// `CLASSES`
const CLASSES: u32 = 3;
const COMPLETION: u32 = 0;
const ARRIVAL: u32 = 1;

type State = <Priorities as Model>::State;
type Output = <Priorities as Model>::Output;

impl Reference<Priorities> {
    fn expect(&self, lp: u32, class: u32, context: &mut Context<'_>) {
        let delay = context.stream().exponential(self.params().classes[class as usize].mean_interarrival);
        if delay != Ticks::NEVER {
            context.schedule(lp, context.now().saturating_add(delay), [ARRIVAL, class]);
        }
    }

    /// The server takes the head of the first nonempty line.
    fn serve(&self, lp: u32, state: &mut State, context: &mut Context<'_>) {
        state.serving = (0..CLASSES).find(|&class| state.lines[class as usize].length > 0).unwrap_or(CLASSES);
        if state.serving == CLASSES {
            return;
        }
        let line = state.lines[state.serving as usize];
        let [_, _, low, high] = line.front(context, state.serving * self.params().room);
        state.service = state.service.wrapping_add(1);
        state.completes = context.now().saturating_add(Ticks::from_words([low, high]));
        context.schedule(lp, state.completes, [COMPLETION, state.service]);
    }
}

impl CpuModel for Reference<Priorities> {
    fn init(&self, lp: u32, state: &mut State, context: &mut Context<'_>) {
        state.serving = CLASSES;
        for class in 0..CLASSES {
            state.system[class as usize] = Tally::since(self.params().warm_up);
            self.expect(lp, class, context);
        }
    }

    fn handle(&self, lp: u32, event: &Event, state: &mut State, context: &mut Context<'_>) {
        let (now, room) = (context.now(), self.params().room);
        let serving = state.serving;
        if event.payload[0] == ARRIVAL {
            let class = event.payload[1];
            self.expect(lp, class, context);
            let service = context.stream().exponential(self.params().classes[class as usize].mean_service);
            let ([a, b], [c, d]) = (now.to_words(), service.to_words());
            state.lines[class as usize].push(context, class * room, room, [a, b, c, d]);
            if class >= serving {
                return;
            }
            if serving < CLASSES {
                let front = serving * room + state.lines[serving as usize].first;
                let [a, b, ..] = context.memory_get(front);
                let [c, d] = Ticks::new(state.completes.get() - now.get()).to_words();
                context.memory_set(front, [a, b, c, d]);
            }
        } else {
            if event.payload[1] != state.service {
                return; // the service was preempted
            }
            let class = serving as usize;
            let [low, high, ..] = state.lines[class].front(context, serving * room);
            state.system[class].add(now, now.get() - Ticks::from_words([low, high]).get());
            state.lines[class].pop(room);
        }
        self.serve(lp, state, context);
    }

    fn output(&self, _: u32, state: &State, _: &mut Context<'_>) -> Output {
        let [class_0, class_1, class_2] = state.system;
        Output { class_0, class_1, class_2 }
    }
}
