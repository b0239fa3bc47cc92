use eventhorizon::gpu::Source;
use eventhorizon::models::CallCentre;
use eventhorizon::pdes::{Capacity, Context, CpuModel, CpuSimulation, Event, Model, Options};
use eventhorizon::statistics::theory::ErlangA;
use eventhorizon::time::{Resolution, Ticks};

use super::{Estimate, Reference, same_in_all_ways, ticks, until};

fn centre(centres: u32, room: u32) -> CallCentre {
    CallCentre::new(centres, 3, 4.0, 1.0, 0.5, room, Resolution::default()).unwrap()
}

#[test]
fn the_gpu_has_the_bits_of_the_cpu() {
    same_in_all_ways(&Reference(centre(70, 32).with_warm_up(ticks(10.0))), 13.7, 60.0);
}

/// More than 2^32 tickets would take too long: the line starts at the last ones.
#[test]
fn tickets_go_round() {
    struct Late(CallCentre);

    impl Model for Late {
        type State = <CallCentre as Model>::State;
        type Params = <CallCentre as Model>::Params;
        type Payload = [u32; 2];
        type Output = <CallCentre as Model>::Output;

        fn name(&self) -> &str {
            "a late call centre"
        }
        fn source(&self) -> Source {
            let text = include_str!("../../../shaders/models/call_centre.wgsl");
            let begin = "(*state).served = tally_since(params.warm_up);";
            let late = format!("(*state).head = 0xfffffff0u;\n(*state).tail = 0xfffffff0u;\n{begin}");
            assert!(text.contains(begin));
            Source::new("late.wgsl", text.replace(begin, &late))
        }
        fn lps(&self) -> u32 {
            self.0.lps()
        }
        fn lookahead(&self) -> Ticks {
            self.0.lookahead()
        }
        fn params(&self) -> Self::Params {
            self.0.params()
        }
        fn memory_rows(&self) -> u32 {
            self.0.memory_rows()
        }
        fn capacity(&self) -> Capacity {
            self.0.capacity()
        }
    }

    impl CpuModel for Late {
        fn init(&self, lp: u32, state: &mut Self::State, context: &mut Context<'_>) {
            Reference(self.0).init(lp, state, context);
            (state.head, state.tail) = (0xffff_fff0, 0xffff_fff0);
        }
        fn handle(&self, lp: u32, event: &Event, state: &mut Self::State, context: &mut Context<'_>) {
            Reference(self.0).handle(lp, event, state, context);
        }
        fn output(&self, lp: u32, state: &Self::State, context: &mut Context<'_>) -> Self::Output {
            Reference(self.0).output(lp, state, context)
        }
    }

    let options = Options::default().seed(5);
    let states = super::same(&Late(centre(40, 32)), options, &[until(30.0)]);
    assert!(states.iter().all(|state| state.tail < 1000), "they did go round");
    // Tickets are only names: other results do not change.
    let model = centre(40, 32);
    let mut usual = CpuSimulation::new(&model, Options::default().seed(5)).unwrap();
    usual.run(until(30.0)).unwrap();
    for (late, state) in states.iter().zip(usual.states()) {
        assert_eq!(
            (late.served, late.abandoned, late.waiting),
            (state.served, state.abandoned, state.waiting)
        );
    }
}

#[test]
fn waits_and_abandonment_are_those_of_erlang_a() {
    let model = centre(200, 128).with_warm_up(ticks(30.0));
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(1)).unwrap();
    simulation.run(until(2000.0)).unwrap();
    let states = simulation.states();
    let theory = ErlangA::new(4.0, 1.0, 0.5, 3).unwrap();
    let unit = ticks(1.0).get() as f64;

    let left = states.iter().map(|state| {
        let (served, abandoned) = (state.served.count() as f64, state.abandoned.count() as f64);
        (abandoned, served + abandoned)
    });
    Estimate::of(left).assert_is("abandonment", theory.abandonment());

    let wait = states.iter().map(|state| (state.served.sum() as f64 / unit, state.served.count() as f64));
    Estimate::of(wait).assert_is("wait of the served", theory.time_in_queue_of_served());

    let all = states.iter().map(|state| {
        let (served, abandoned) = (&state.served, &state.abandoned);
        ((served.sum() + abandoned.sum()) as f64 / unit, (served.count() + abandoned.count()) as f64)
    });
    Estimate::of(all).assert_is("wait of all", theory.time_in_queue());

    let waiting = states.iter().map(|state| {
        let waiting = state.waiting.at(ticks(2000.0));
        (waiting.area().unwrap() as f64, waiting.span() as f64)
    });
    Estimate::of(waiting).assert_is("number waiting", theory.number_waiting());

    // The line holds the callers that arrived and have not been passed; the level is the number of
    // those that did not hang up.
    for state in states {
        assert!(state.waiting.level() <= state.tail - state.head && state.busy <= 3);
        assert!(state.busy == 3 || state.waiting.level() == 0);
    }
}
