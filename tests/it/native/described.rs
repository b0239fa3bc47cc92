//! Models of TOML and WGSL files on the CPU.

use eventhorizon::description::{Description, Results};
use eventhorizon::statistics::{Budget, Precision, Selection, Stopping};
use eventhorizon::{Backend, OnDemand};

use super::common;

fn description(name: &str) -> Description {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/models");
    Description::read(format!("{folder}/{name}.toml")).unwrap()
}

fn assert_same(found: &Results, expected: &Results) {
    assert_eq!(found.fingerprint, expected.fingerprint);
    assert_eq!(found.mapping, "cores");
    for (found, expected) in found.observations.iter().zip(&expected.observations) {
        assert_eq!(found.columns(), expected.columns());
    }
    assert_eq!(found.design, expected.design);
}

#[test]
fn models_of_files_have_the_bits_of_a_device() {
    let gpu = common::gpu();
    let mut epidemic = description("epidemic");
    epidemic.set("infection=0.3,0.6").unwrap();
    epidemic.until(20.0).unwrap();
    let mut counter = description("counter");
    counter.set("service=0.5,0.25").unwrap();
    for description in [epidemic, counter] {
        let model = description.compile().unwrap();
        let on_device = model.on(&gpu).replications(6).run().unwrap();
        let native = model.on(Backend::Cpu).replications(6).run().unwrap();
        assert_same(&native, &on_device);
        if gpu.info().device_type == wgpu::DeviceType::Cpu {
            assert_eq!(
                model.on(Backend::Auto(&OnDemand::from(gpu.clone()))).replications(6).run().unwrap().mapping,
                "cores"
            );
        }
        if model.has_processes() {
            let each = |backend: Backend<'_>| model.on(backend).outputs().unwrap();
            assert!(each(Backend::Cpu) == each(Backend::Gpu(&gpu)));
        }
    }
}

#[test]
fn runs_to_a_precision_and_selections_have_the_same_bits() {
    let gpu = common::gpu();
    let mut counter = description("counter");
    counter.set("service=0.5,0.25,0.4").unwrap();
    let model = counter.compile().unwrap();
    let measure = model.measures()[0].to_owned();
    let budget = Budget { replications: Some(500), ..Budget::default() };
    let stopping = Stopping::new(Precision::relative(0.05), budget);
    let precise = |backend: Backend<'_>| model.on(backend).precision(stopping).run().unwrap();
    let (native, on_device) = (precise(Backend::Cpu), precise(Backend::Gpu(&gpu)));
    assert_same(&native, &on_device);
    assert_eq!(native.decisions, on_device.decisions);
    let selection = || Selection { smallest: true, replications: Some(200), ..Selection::new(0.1, 0.95) };
    let best = |backend: Backend<'_>| model.on(backend).best(selection(), &measure).run().unwrap();
    let (native, on_device) = (best(Backend::Cpu), best(Backend::Gpu(&gpu)));
    assert_same(&native, &on_device);
    assert_eq!(native.selected.unwrap().best, on_device.selected.unwrap().best);
}
