//! Queue designs that the library does not use by default: those of the paper, and one defined
//! here.

use super::common::references::Reference;
use super::common::{few, gpu, is_long, paper_queues};
use super::own_events::Busy;
use super::{phold, same, until};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{Capacity, Options, Simulation, SimulationError, Sync, Until};
use eventhorizon::queue::{Design, Lanes, QueueDesign};
use eventhorizon::time::{Resolution, Ticks};

/// A file of WGSL and a row make a design.
const BAG: Design = Design {
    text: Some(include_str!("../../wgsl/queue_bag.wgsl")),
    ..Design::new("bag", "tests/wgsl/queue_bag.wgsl")
};

/// CB-PAR from the front, by small teams.
const TWO_FROM_FRONT: Design = Design {
    overrides: &[("CB_LANES", 2), ("CB_BACKWARD", 0)],
    lanes: 2,
    ..Design::new("cb-par-front-2", "queue/cb_par.wgsl")
};

/// PHOLD by YAWNS, then a model with own events and LP memory by the event horizon.
fn conforms(queue: QueueDesign, seed: u64) {
    conforms_to_yawns(queue, seed);
    conforms_to_the_horizon(queue, seed);
}

fn conforms_to_yawns(queue: QueueDesign, seed: u64) {
    let gpu = gpu();
    let options = Options::default().seed(seed).queue(queue).tiles(2);
    same(&gpu, &Reference(phold(90, 7, 0.1)), options, &[until(17.0), Until::events(900), until(60.0)]);
}

fn conforms_to_the_horizon(queue: QueueDesign, seed: u64) {
    let gpu = gpu();
    let horizon = Options::default().seed(seed).queue(queue).tiles(2).sync(Sync::Horizon);
    same(&gpu, &Busy::new(70), horizon, &[Until::time(Ticks::new(150)), Until::EMPTY]);
}

#[test]
fn a_design_is_a_file_and_a_row() {
    let bag = QueueDesign::of(&BAG);
    assert_eq!((bag.name(), bag.lanes(), bag.stride(9)), ("bag", 1, 10));
    conforms(bag, 3);
    // Queues that no file of the library links grow too.
    let tight = phold(40, 6, 0.1).with_capacity(Capacity { queue: 1, mailbox: 1 });
    same(&gpu(), &Reference(tight), Options::default().queue(bag), &[until(30.0)]);
    let mut simulation = Simulation::new(&gpu(), &phold(9, 2, 0.1), Options::default()).unwrap();
    simulation.set_queue(bag).unwrap();
    assert_eq!(simulation.queue(), bag);
}

#[test]
fn the_papers_designs_give_the_bits_of_the_cpu() {
    for (i, queue) in paper_queues().filter(|queue| queue.lanes() == 1).enumerate() {
        conforms_to_yawns(queue, 5);
        if i == 0 || is_long() {
            conforms_to_the_horizon(queue, 5);
        }
    }
}

#[test]
fn teams_of_every_size_give_the_bits_of_the_cpu() {
    // Fewer than a subgroup of llvmpipe, as many, and more.
    let lanes = [Lanes::Two, Lanes::ThirtyTwo, Lanes::Eight, Lanes::SixtyFour, Lanes::Four, Lanes::Sixteen];
    assert_eq!(lanes.len(), Lanes::ALL.len());
    for &lanes in few(2, &lanes) {
        conforms_to_yawns(QueueDesign::CbPar(lanes), lanes.count().into());
    }
    for &lanes in few(1, &lanes) {
        conforms_to_the_horizon(QueueDesign::CbPar(lanes), lanes.count().into());
    }
    if is_long() {
        for design in [&TWO_FROM_FRONT, QueueDesign::CB_PAR_FRONT.row()] {
            conforms(QueueDesign::of(design), 9);
        }
    }
}

/// The paper's iteration: one event of each LP in a window. Runs to a time end as all others do.
#[test]
fn windows_of_one_event_give_the_bits_of_the_cpu() {
    let gpu = gpu();
    let queues = QueueDesign::ALL.into_iter().filter(|queue| !queue.is_calendar());
    for (queue, lps) in queues.chain([QueueDesign::CbPar(Lanes::Four)]).zip([90, 40].into_iter().cycle()) {
        let options = Options::default().seed(8).queue(queue).tiles(2).sync(Sync::OneEvent);
        same(&gpu, &Reference(phold(lps, 7, 0.1)), options, &[until(17.0), until(60.0)]);
    }
    let options = Options::default().sync(Sync::OneEvent);
    let mut simulation = Simulation::new(&gpu, &phold(40, 7, 0.1), options).unwrap();
    let progress = simulation.run(until(60.0)).unwrap();
    assert_eq!(simulation.sync(), Sync::OneEvent);
    assert!(progress.events <= 40 * progress.windows, "{progress:?}");
    let refused = |model: Phold, options: Options| Simulation::new(&gpu, &model, options).unwrap_err();
    let calendar = refused(phold(40, 7, 0.1), options.queue(QueueDesign::Calendar));
    assert!(matches!(calendar, SimulationError::Calendar), "{calendar}");
    let none = refused(Phold::new(40, 7, 0.1, 0.0, Resolution::default()).unwrap(), options);
    assert!(none.to_string().contains("a lookahead of at least 1 tick"), "{none}");
}

/// CB-PAR inserts in chunks with one slot for each invocation of a team: until the last slot, and
/// around the end of the buffer.
#[test]
fn queues_around_whole_chunks_of_a_team() {
    let gpu = gpu();
    let eight = QueueDesign::CbPar(Lanes::Eight);
    let two = [QueueDesign::CbPar(Lanes::Two), QueueDesign::of(&TWO_FROM_FRONT)];
    for (design, population) in [(two[0], 3), (two[1], 3), (two[1], 4), (eight, 8), (eight, 17)] {
        let room = 5 * population;
        let model = phold(5, population, 0.1).with_capacity(Capacity { queue: room, mailbox: room });
        let options = Options::default().queue(design);
        same(&gpu, &Reference(model), options, &[Until::events(20 * u64::from(room))]);
    }
}
