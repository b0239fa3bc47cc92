//! Broken lower bounds for neighbours that show late, or not at all.

use super::common::{gpu, is_long, queues};
use super::neighbours::by_neighbours;
use super::same;
use eventhorizon::gpu::{Gpu, Source};
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, Event, FaultKind, Model, Options, Simulation, SimulationError, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

/// `tests/wgsl/messenger.wgsl`
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Messenger {
    own: u32,
    feeds: u32,
    arrival: u32,
    said: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Seen {
    order: u32,
    count: u32,
}

impl Model for Messenger {
    type State = Seen;
    type Params = Self;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "messenger"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/messenger.wgsl", include_str!("../../wgsl/messenger.wgsl"))
    }
    fn lps(&self) -> u32 {
        3
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(1)
    }
    fn params(&self) -> Self {
        *self
    }
    fn capacity(&self) -> Capacity {
        Capacity { queue: self.own.max(self.feeds) + 3, mailbox: 2 }
    }
}

impl CpuModel for Messenger {
    fn init(&self, lp: u32, _: &mut Seen, context: &mut Context<'_>) {
        match lp {
            1 => {
                context.schedule(lp, Ticks::new((AT - 10).into()), [0, 0]);
                (0..self.own).for_each(|i| context.schedule(lp, Ticks::new(AT.into()), [2 * i, 1]));
            }
            2 => (0..self.feeds).for_each(|i| context.schedule(lp, Ticks::new((10 + i).into()), [0, 0])),
            _ => {}
        }
    }
    fn handle(&self, lp: u32, event: &Event, state: &mut Seen, context: &mut Context<'_>) {
        let word = event.payload[0];
        state.order = (state.order ^ word).wrapping_mul(0x9e37_79b1).wrapping_add(event.time.to_words()[0]);
        state.count += 1;
        match lp {
            0 => context.schedule(1, Ticks::new(self.arrival.into()), [self.own | 1, 0]),
            2 if state.count == 1 => context.schedule(0, Ticks::new(50), [0, 0]),
            _ => {}
        }
    }
}

/// The time of the receiver's events.
const AT: u32 = 100;

/// A messenger with true bounds for its arrival, and for its own event.
fn honest(own: u32, arrival: u32) -> Messenger {
    Messenger { own, feeds: 1, arrival, said: arrival - 50 }
}

fn lying(own: u32, arrival: u32) -> Messenger {
    Messenger { said: 1000, ..honest(own, arrival) }
}

fn designs() -> impl Iterator<Item = Options> {
    queues().take(if is_long() { 2 } else { 1 }).map(|queue| {
        let group_size = Some(if queue == QueueDesign::Heap { 1 } else { 64 });
        by_neighbours().queue(queue).group_size(group_size)
    })
}

fn fault(gpu: &Gpu, model: &Messenger, options: Options) -> (FaultKind, u32) {
    match Simulation::new(gpu, model, options).unwrap().run(Until::EMPTY) {
        Err(SimulationError::Fault(fault)) => (fault.kind, fault.lp),
        other => panic!("{model:?} with {options:?}: {other:?}"),
    }
}

#[test]
fn what_comes_before_the_last_event_or_with_it_is_found() {
    let gpu = gpu();
    for options in designs() {
        for arrival in [AT - 1, AT] {
            assert_eq!(fault(&gpu, &lying(1, arrival), options), (FaultKind::Promise, 1), "at {arrival}");
        }
        // The event arrives after all executed ones: the order is right.
        same(&gpu, &lying(1, AT + 1), options, &[Until::EMPTY]);
        // With 7 events at one time, more remain than a window takes from an LP that receives from
        // others.
        for own in [1, 7] {
            for arrival in [AT - 1, AT, AT + 1] {
                same(&gpu, &honest(own, arrival), options, &[Until::EMPTY]);
            }
        }
    }
}

#[test]
fn what_comes_while_budgets_cut_a_time_is_found() {
    let gpu = gpu();
    // Budgets are 128 events: the receiver holds more at one time, and the late event arrives when
    // some of them are executed.
    for options in designs() {
        for own in [300, 129] {
            for arrival in [AT - 1, AT] {
                assert_eq!(fault(&gpu, &lying(own, arrival), options), (FaultKind::Promise, 1), "{own}");
            }
            for model in [honest(own, AT), honest(own, AT + 1), lying(own, AT + 1)] {
                same(&gpu, &model, options, &[Until::EMPTY]);
            }
        }
    }
}

#[test]
fn who_hears_from_nobody_goes_on_as_far_as_its_budget() {
    let gpu = gpu();
    let model = Messenger { feeds: 100, ..honest(1, AT) };
    for options in designs() {
        same(&gpu, &model, options, &[Until::EMPTY]);
        let windows = Simulation::new(&gpu, &model, options).unwrap().run(Until::EMPTY).unwrap().windows;
        // The feeder, the messenger, the receiver. With a smaller budget of the feeder there would
        // be some 25 windows.
        assert!(windows <= 5, "{windows} windows with {options:?}");
    }
}
