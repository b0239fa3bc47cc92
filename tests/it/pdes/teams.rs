//! CB-PAR, where a team of invocations serves each LP, with every size of teams. (With its usual one it is among the designs of all other tests.)

use super::common::gpu;
use super::own_events::{Busy, Wide};
use super::{phold, same, until};
use eventhorizon::pdes::{Capacity, Options, Simulation, Until};
use eventhorizon::queue::{Lanes, QueueDesign};
use eventhorizon::time::Ticks;

fn options(lanes: Lanes, seed: u64) -> Options {
    Options { seed, queue: Some(QueueDesign::CbPar(lanes)), ..Options::default() }
}

#[test]
fn workgroups_of_one_team_and_of_many() {
    let gpu = gpu();
    for lanes in Lanes::ALL {
        // Workgroups that are smaller than a team; LPs around the number that one serves.
        for (group_size, tiles) in [(1, 1), (lanes.count(), 2), (64, 1), (256, 3)] {
            let served = (group_size / lanes.count()).max(1) * tiles;
            for lps in [served, 2 * served + 1] {
                let options = Options {
                    group_size: Some(group_size),
                    tiles: Some(tiles),
                    ..options(lanes, u64::from(lps))
                };
                same(&gpu, &phold(lps, 6, 0.1), options, &[until(17.0), until(40.0)]);
            }
        }
    }
}

#[test]
fn queues_around_whole_chunks_of_a_team() {
    let gpu = gpu();
    for lanes in Lanes::ALL {
        let chunk = lanes.count();
        for population in [1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 1] {
            // Full to the last slot, and around the end of the buffer; with one LP, all events are for itself.
            for lps in [1, 5] {
                let model = phold(lps, population, 0.1)
                    .with_capacity(Capacity { queue: lps * population, mailbox: lps * population });
                same(&gpu, &model, options(lanes, 1), &[Until::events(20 * u64::from(lps * population))]);
            }
        }
    }
}

#[test]
fn teams_take_in_what_events_schedule_for_their_own_lp() {
    let gpu = gpu();
    for lanes in Lanes::ALL {
        for (lps, group_size) in [(65, 64), (1, 1), (9, 256)] {
            let options = Options { group_size: Some(group_size), tiles: Some(1), ..options(lanes, 3) };
            let ends = [Until::time(Ticks::new(77)), Until::events(600), Until::EMPTY];
            same(&gpu, &Busy::new(lps), options, &ends);
        }
        same(&gpu, &Wide::new(33), options(lanes, 8), &[Until::time(Ticks::new(6)), Until::EMPTY]);
    }
}

#[test]
fn teams_leave_over_what_a_budget_does() {
    let gpu = gpu();
    let mut model = Busy::with_children(12, 4);
    model.lookahead = Ticks::new(100_000);
    model.capacity.queue = 3000;
    for lanes in [Lanes::Eight, Lanes::ThirtyTwo] {
        same(&gpu, &model, options(lanes, 5), &[Until::time(Ticks::new(40)), Until::EMPTY]);
    }
}

#[test]
fn queues_of_teams_grow_from_room_for_one_event() {
    let gpu = gpu();
    let tiny = Capacity { queue: 1, mailbox: 1 };
    for lanes in Lanes::ALL {
        let options = options(lanes, 6);
        same(&gpu, &phold(70, 9, 0.1).with_capacity(tiny), options, &[until(0.0), until(31.0), until(60.0)]);
        let busy = Busy { capacity: tiny, ..Busy::new(33) };
        same(&gpu, &busy, options, &[Until::events(100), Until::time(Ticks::new(300)), Until::EMPTY]);
        same(&gpu, &Wide { capacity: tiny, ..Wide::new(20) }, options, &[Until::EMPTY]);
    }
}

#[test]
fn teams_on_devices_without_features_and_with_all_checks() {
    let gpu = gpu();
    for gpu in [gpu.without(wgpu::Features::all()), gpu.checked()] {
        same(&gpu, &phold(100, 8, 0.1), options(Lanes::Eight, 7), &[until(50.0)]);
    }
    // Queues and memory of 24 LPs to a binding.
    let small = gpu.binding_at_most(1 << 16);
    let model = Busy { capacity: Capacity { queue: 160, mailbox: 13 }, ..Busy::new(100) };
    let options = Options { group_size: Some(64), ..options(Lanes::Eight, 2) };
    same(&small, &model, options, &[Until::time(Ticks::new(150)), Until::EMPTY]);
}

#[test]
fn a_run_goes_from_teams_to_other_teams() {
    let gpu = gpu();
    let model = phold(90, 7, 0.1);
    let mut simulation = Simulation::new(&gpu, &model, options(Lanes::Four, 1)).unwrap();
    let mut expected = eventhorizon::pdes::CpuSimulation::new(&model, 1).unwrap();
    let others = [Lanes::ThirtyTwo, Lanes::Two].map(QueueDesign::CbPar);
    for (step, queue) in (1u8..).zip([others[0], QueueDesign::Heap, others[1], QueueDesign::Calendar]) {
        let end = until(15.0 * f64::from(step));
        assert_eq!(simulation.run(end).unwrap(), expected.run(end).unwrap());
        assert_eq!(simulation.fingerprint().unwrap(), expected.fingerprint());
        simulation.set_queue(queue).unwrap();
    }
    assert_eq!(simulation.run(until(90.0)).unwrap(), expected.run(until(90.0)).unwrap());
    assert_eq!(simulation.fingerprint().unwrap(), expected.fingerprint());
}
