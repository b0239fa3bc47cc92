use super::*;
use crate::hybrid::in_process;
use crate::models::Phold;
use crate::pdes::{Capacity, CpuSimulation, Sync};
use crate::queue::QueueDesign;
use crate::time::Resolution;

fn until(units: f64) -> Until {
    Until::time(Resolution::default().ticks(units).unwrap())
}

#[test]
fn parts_that_grow_between_sparse_windows_keep_the_order() {
    let end = until(2000.0);
    let devices = [Gpu::for_test(), Gpu::for_test()];
    for (lps, rate) in [(3, 0.01), (6, 0.003)] {
        let model = Phold::new(lps, 2, rate, 0.5, Resolution::default()).unwrap();
        let narrow = model.with_capacity(Capacity { queue: 1, mailbox: 1 });
        for seed in 0..6 {
            let usual = Options::default().seed(seed);
            let mut expected = CpuSimulation::new(&model, usual).unwrap();
            expected.run(end).unwrap();
            for options in [
                usual.sync(Sync::Yawns),
                usual.sync(Sync::Horizon),
                usual.sync(Sync::Yawns).queue(QueueDesign::Calendar),
            ] {
                let ran = in_process(2, |rank| {
                    let gpu = &devices[rank.rank() as usize];
                    let mut part = GpuPart::on(Box::new(rank), gpu, &narrow, options)?;
                    part.run(end)?;
                    part.fingerprint()
                });
                for found in ran {
                    assert_eq!(found.unwrap(), expected.fingerprint(), "{lps} LPs, {options:?}");
                }
            }
        }
    }
}

/// Windows, events, the first pending time and the fingerprint, after ends at and within epochs,
/// after events, and after a checkpoint. Some LPs have room for fewer events than they get.
#[test]
fn calendars_of_parts_equal_the_sequential_engine() {
    let devices = [Gpu::for_test(), Gpu::for_test(), Gpu::for_test()];
    let options = Options::default().seed(7).queue(QueueDesign::Calendar);
    let ends = [until(20.0), until(34.5), Until::events(4000), until(34.5), until(400.0), until(403.25)];
    for (parts, lps, population, rate) in
        [(2, 65, 8, 0.1), (3, 130, 2, 0.01), (2, 3, 1, 0.002), (1, 64, 4, 0.1)]
    {
        let model = Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap();
        let narrow = model.with_capacity(Capacity { queue: 2, mailbox: 2 });
        let mut sequential = CpuSimulation::new(&model, options).unwrap();
        let mut expected = Vec::new();
        for end in ends {
            expected.push((sequential.run(end).unwrap(), sequential.fingerprint()));
        }
        let (middle, bytes) = (2, sequential_checkpoint(&model, options, &ends[..=2]));
        let ran = in_process(parts, |rank| {
            let gpu = &devices[rank.rank() as usize];
            let mut part = GpuPart::on(Box::new(rank), gpu, &narrow, options).unwrap();
            ends.map(|end| (part.run(end).unwrap(), part.fingerprint().unwrap())).to_vec()
        });
        for found in ran {
            assert_eq!(found, expected, "{parts} parts of {lps} LPs");
        }
        let resumed = in_process(parts, |rank| {
            let gpu = &devices[rank.rank() as usize];
            let mut part = GpuPart::resume(Box::new(rank), gpu, &model, options, &bytes).unwrap();
            let rest = ends[middle + 1..].iter();
            rest.map(|&end| (part.run(end).unwrap(), part.fingerprint().unwrap())).collect::<Vec<_>>()
        });
        for found in resumed {
            assert_eq!(found, expected[middle + 1..], "{parts} parts of {lps} LPs, resumed");
        }
    }
}

fn sequential_checkpoint(model: &Phold, options: Options, ends: &[Until]) -> Checkpoint {
    let mut sequential = CpuSimulation::new(model, options).unwrap();
    for &end in ends {
        sequential.run(end).unwrap();
    }
    sequential.checkpoint().unwrap()
}
