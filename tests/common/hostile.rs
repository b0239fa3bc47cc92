//! Readers of untrusted files. Each takes any bytes, and neither panics nor allocates memory
//! without bound. `fuzz/` generates bytes by coverage, `tests/hostile/main.rs` at random.

#![allow(dead_code, unreachable_pub, reason = "each target uses a part of this module")]

use std::time::Duration;

use eventhorizon::facility::{self, Distribution, Network, SavedStudy, Station, Study, StudyAutosave};
use eventhorizon::gpu::{Program, Source};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{Autosave, Checkpoint, CpuSimulation, Options, Until};
use eventhorizon::process::{self, ProcessModel};
use eventhorizon::search::{Terrain, dimacs_coordinates, dimacs_graph, moving_ai_map, moving_ai_scenario};
use eventhorizon::statistics::Design;
use eventhorizon::time::Resolution;

/// The linker: a model's WGSL.
pub fn linker(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Program::link("hostile", &[Source::new("hostile.wgsl", text.to_owned())]);
    }
}

/// The model of the checkpoints.
pub fn saved_model() -> Phold {
    Phold::new(20, 3, 0.1, 10.0, Resolution::default()).expect("sizes that there can be")
}

/// A checkpoint of that model.
pub fn saved() -> Vec<u8> {
    let model = saved_model();
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(3)).expect("a small model");
    simulation.run(Until::events(60)).expect("a sound one");
    simulation.checkpoint().expect("a sound run").as_bytes().to_vec()
}

/// The study of the network that is saved.
fn study() -> Study {
    Study::new(3, 40.0, 4.0)
}

fn small_network() -> Network {
    Network::new("M/M/1")
        .source("in", facility::Source::new(Distribution::Exponential(2.0), "server"))
        .station("server", Station::new(Distribution::Exponential(1.0), "out"))
        .sink("out")
}

/// A saved study.
pub fn saved_study() -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("eventhorizon-hostile-{}", std::process::id()));
    let keep = StudyAutosave::default().to(Autosave::new(&path, Duration::MAX));
    let facility = small_network().compile().expect("a sound network");
    facility.study(&study()).save(keep).run().expect("a sound study");
    let bytes = std::fs::read(&path).expect("it was written");
    let _ = std::fs::remove_file(path);
    bytes
}

/// Reads the bytes as a checkpoint, unchanged and with the length and checksum that fit them.
pub fn checkpoint(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), sealed(bytes.to_vec())] {
        if let Ok(saved) = SavedStudy::from_bytes(bytes.clone()) {
            let facility = small_network().compile().expect("a sound network");
            let keep = StudyAutosave::default().from(&saved);
            let _ = facility.study(&study()).save(keep).run();
        }
        if let Ok(checkpoint) = Checkpoint::from_bytes(bytes) {
            assert_eq!(
                Checkpoint::from_bytes(checkpoint.as_bytes().to_vec()).expect("it was one"),
                checkpoint
            );
            let _ = (checkpoint.pending::<[u32; 2]>(), checkpoint.pending::<[u32; 6]>());
            let model = saved_model();
            let _ = checkpoint.fork(&model, 4, checkpoint.replica());
            if let Ok(simulation) = CpuSimulation::resume(&model, &checkpoint) {
                assert_eq!(simulation.checkpoint().expect("it has no fault"), checkpoint, "it is canonical");
            }
        }
    }
}

/// Replaces length and checksum by those that fit the rest.
pub fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len().saturating_sub(4);
    if body >= 24 {
        let length = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(&sum.to_le_bytes());
    }
    bytes
}

/// Reads descriptions of networks in both languages, and compiles them.
pub fn network(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for network in [Network::from_toml(text), Network::from_json(text)].into_iter().flatten() {
            let _ = (network.compile(), network.compile_unstable());
        }
    }
}

/// Reads descriptions of processes in both languages, and compiles them.
pub fn process(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for model in [ProcessModel::from_toml(text), ProcessModel::from_json(text)].into_iter().flatten() {
            let _ = process::lower(&model);
        }
    }
}

/// Maps, scenarios, graphs and coordinates.
pub fn map(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ =
            (moving_ai_map("hostile.map", text, Terrain::Format), moving_ai_scenario("hostile.scen", text));
        let _ = (dimacs_graph("hostile.gr", text), dimacs_coordinates("hostile.co", text));
    }
}

/// Tables: designs as CSV.
pub fn table(bytes: &[u8]) {
    let _ = Design::from_csv(bytes);
}
