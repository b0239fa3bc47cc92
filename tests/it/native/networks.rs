//! Queueing networks: the interpreters of networks run on the CPU from their WGSL.

use eventhorizon::facility::Facility;
use eventhorizon::pdes::{CpuSimulation, Options, Until};
use eventhorizon::time::Ticks;

use super::agrees;
use crate::facility::shipped;

/// When the first event is pending after a run of this number of events.
fn time_after(facility: &Facility, events: u64) -> Ticks {
    let mut run = CpuSimulation::new(facility, Options::default().seed(17)).unwrap();
    run.run(Until::events(events)).unwrap().now
}

#[test]
fn shipped_networks_have_the_bits_of_their_reference_implementation() {
    for (_, network) in shipped() {
        let facility = network.compile().unwrap();
        agrees(&facility, &[time_after(&facility, 100), time_after(&facility, 4000)]);
    }
}
