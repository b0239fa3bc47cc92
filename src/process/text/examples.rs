//! The gallery and the guide: what they show can be compiled, and runs without a fault.

use std::path::Path;
use std::sync::Arc;

use super::super::ir::ProcessModel;
use super::super::program::{HEADER, Program, Size};
use super::super::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small, lower};
use crate::pdes::{CpuSimulation, Options, Until};
use crate::time::Ticks;

/// The models of the gallery, by file.
fn gallery() -> Vec<(String, ProcessModel)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/processes");
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# "), "{} begins with a comment", path.display());
        let model = ProcessModel::read(path).unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), model)
    };
    paths.iter().map(|path| read(path)).collect()
}

/// The header and the events of a run.
fn run<S: Sized3>(model: &ProcessModel, program: Program) -> ([u32; 4], u64) {
    let until = Until::time(program.resolution.ticks(model.until.unwrap() / 4.0).unwrap());
    let point: Vec<f64> = model.parameters.values().map(|parameter| parameter.values[0]).collect();
    let run = ProcessRun::<S>::new(Arc::new(Printed::new(program)), &point, Ticks::ZERO, 1024).unwrap();
    let mut simulation = CpuSimulation::new(&run, Options::default().seed(1)).unwrap();
    let events = simulation.run(until).unwrap().events;
    (simulation.states()[0].rows()[0], events)
}

#[test]
fn the_gallery_runs_without_a_fault() {
    let models = gallery();
    assert!(models.len() >= 13);
    for (file, model) in models {
        let program = lower(&model).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (header, events) = match program.size {
            Size::Small => run::<Small>(&model, program),
            Size::Medium => run::<Medium>(&model, program),
            Size::Large => run::<Large>(&model, program),
        };
        assert_eq!(header[HEADER.fault as usize], 0, "{file}");
        assert!(events > 20, "{file}: {events}");
    }
}

#[test]
fn the_guide_shows_models_that_compile() {
    let guide = include_str!("../../../docs/guide-processes.md");
    let blocks: Vec<_> =
        guide.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 8);
    for block in blocks {
        let model = ProcessModel::from_toml(block).unwrap_or_else(|error| panic!("{block}\n{error}"));
        lower(&model).unwrap_or_else(|error| panic!("{block}\n{error}"));
    }
}
