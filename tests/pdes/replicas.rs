//! Many runs of a model at once.

use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuEngine, Engine, EngineOptions, Mapping};
use eventhorizon::statistics::{Design, Experiment};
use eventhorizon::time::Resolution;

use super::{gpu, until};

#[test]
fn every_mapping_gives_the_bits_of_the_cpu() {
    let gpu = gpu();
    for lps in [1, 2, 31, 32, 33, 70] {
        let build = move |_: &eventhorizon::statistics::Point<'_>| {
            Phold::new(lps, 4, 0.1, 10.0, Resolution::default())
        };
        let experiment = Experiment::new(Design::default(), 9, 42);
        let cpu = CpuEngine::new(build).run(&experiment, until(100.0)).unwrap();
        for mapping in [Mapping::Team, Mapping::Thread, Mapping::Grid, Mapping::Auto] {
            let options = EngineOptions { mapping, ..EngineOptions::default() };
            let found = Engine::new(&gpu, build, options).run(&experiment, until(100.0)).unwrap();
            for (number, (found, cpu)) in found.runs[0].iter().zip(&cpu.runs[0]).enumerate() {
                let (found, cpu) = (found.as_ref().unwrap(), cpu.as_ref().unwrap());
                assert_eq!(found.progress.events, cpu.progress.events, "{mapping} {lps} {number}");
                assert_eq!(found.progress.now, cpu.progress.now, "{mapping} {lps} {number}");
                assert_eq!(found.progress.stop, cpu.progress.stop, "{mapping} {lps} {number}");
                assert_eq!(found.fingerprint, cpu.fingerprint, "{mapping} {lps} {number}");
            }
            assert_eq!(found.fingerprint, cpu.fingerprint, "{mapping} {lps}");
        }
    }
}
