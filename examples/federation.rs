//! A federation in the terms of the HLA standard: ships report their positions, coast stations
//! watch parts of the sea, and data distribution management finds the recipients of each report.
//!
//! Shows `matching::hla::Service`, in which the cost of a step depends on what moved. Prints a line
//! for each hour: the stations that receive reports of each ship.
//!
//! ```text
//! cargo run --release --example federation
//! ```

use eventhorizon::gpu::Gpu;
use eventhorizon::matching::Matcher;
use eventhorizon::matching::hla::{Federate, Interest, Service};

/// The sea in metres, and the object class of ships.
const SEA: [u32; 2] = [100_000, 50_000];
const SHIP: u32 = 0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut service = Service::new(&Matcher::new(&Gpu::new()?), SEA);

    // Five stations along the coast, each a federate, see 30 km of the coast and 25 km out.
    for station in 0..5 {
        let west = 17_500 * station;
        let watched = service.create_region([(west, west + 30_000), (0, 25_000)])?;
        service.subscribe(Federate(station), Interest::Objects(SHIP), watched)?;
    }

    // Reports of a ship reach 500 m around it. Ships sail east, each at its own speed.
    let fleet = Federate(100);
    let around = |east: u32, north: u32| {
        [
            (east.saturating_sub(500), (east + 500).min(SEA[0])),
            (north.saturating_sub(500), (north + 500).min(SEA[1])),
        ]
    };
    let mut ships = Vec::new();
    for number in 0..4 {
        let (east, north) = (1_000 + 6_000 * number, 4_000 + 7_000 * number);
        let ship = service.register_object_instance(fleet, SHIP);
        let region = service.create_region(around(east, north))?;
        service.associate(ship, region)?;
        ships.push((ship, region, east, north));
    }

    for hour in 0..6 {
        print!("hour {hour}:");
        for (number, (ship, ..)) in ships.iter().enumerate() {
            let stations: Vec<_> = service.recipients(*ship)?.iter().map(|federate| federate.0).collect();
            print!("   ship {number} -> stations {stations:?}");
        }
        println!();
        for (number, (_, region, east, north)) in (0..).zip(&mut ships) {
            *east += 7_000 + 2_000 * number;
            service.modify(*region, around(*east, *north))?;
        }
        service.commit()?;
    }
    Ok(())
}
