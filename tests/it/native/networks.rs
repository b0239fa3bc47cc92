//! Queueing networks: the interpreters of networks run on the CPU from their WGSL.

use eventhorizon::facility::Network;
use eventhorizon::time::Ticks;

use super::agrees;

fn network(text: &str, end: f64) {
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let end = |share: f64| facility.resolution().ticks(end * share).unwrap_or(Ticks::ZERO);
    agrees(&facility, &[end(0.05), end(1.0)]);
}

#[test]
fn networks_have_the_bits_of_their_reference_implementation() {
    for (text, end) in [
        (include_str!("../../../examples/networks/mm1.toml"), 400.0),
        (include_str!("../../../examples/networks/jackson.toml"), 100.0),
        (include_str!("../../../examples/networks/clinic.toml"), 600.0),
        (include_str!("../../../examples/networks/order.toml"), 200.0),
        (include_str!("../../../examples/networks/polling.toml"), 200.0),
        (include_str!("../../../examples/networks/processor.toml"), 200.0),
        (include_str!("../../../examples/networks/workshop.toml"), 200.0),
    ] {
        network(text, end);
    }
}
