//! Queue designs that the library does not use by default: those of the paper, and one defined
//! here.

use super::common::references::Reference;
use super::common::{gpu, paper_queues};
use super::own_events::Busy;
use super::{phold, same, until};
use eventhorizon::pdes::{Capacity, Options, Simulation, Sync, Until};
use eventhorizon::queue::{Design, Lanes, QueueDesign};
use eventhorizon::time::Ticks;

/// A file of WGSL and a row make a design.
const BAG: Design = Design {
    text: Some(include_str!("../../wgsl/queue_bag.wgsl")),
    ..Design::new("bag", "tests/wgsl/queue_bag.wgsl")
};

/// PHOLD by YAWNS, and a model with own events and LP memory by the event horizon.
fn conforms(queue: QueueDesign, seed: u64) {
    let gpu = gpu();
    let options = Options::default().seed(seed).queue(queue).tiles(2);
    same(&gpu, &Reference(phold(90, 7, 0.1)), options, &[until(17.0), Until::events(900), until(60.0)]);
    let horizon = options.sync(Sync::Horizon);
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
    for queue in paper_queues().filter(|queue| queue.lanes() == 1) {
        conforms(queue, 5);
    }
}

#[test]
fn teams_of_every_size_give_the_bits_of_the_cpu() {
    for lanes in Lanes::ALL {
        conforms(QueueDesign::CbPar(lanes), lanes.count().into());
    }
}

/// CB-PAR inserts in chunks with one slot for each invocation of a team: until the last slot, and
/// around the end of the buffer.
#[test]
fn queues_around_whole_chunks_of_a_team() {
    let gpu = gpu();
    for (lanes, population) in [(Lanes::Two, 3), (Lanes::Eight, 8), (Lanes::Eight, 17)] {
        let room = 5 * population;
        let model = phold(5, population, 0.1).with_capacity(Capacity { queue: room, mailbox: room });
        let options = Options::default().queue(QueueDesign::CbPar(lanes));
        same(&gpu, &Reference(model), options, &[Until::events(20 * u64::from(room))]);
    }
}
