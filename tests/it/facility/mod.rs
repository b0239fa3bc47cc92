//! Queueing networks: the GPU gives the bits of the sequential engine, both agree with theory, and
//! errors in descriptions are reported.

#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers in tests")]

mod coverage;
mod descriptions;
mod down;
mod fel;
mod fel_laws;
mod fel_open;
mod forks;
mod independent;
mod instants;
mod new_nodes;
mod runs;
mod saved;
mod streams;
mod theory;
mod ticks;
mod traces;
mod travel;

use std::path::PathBuf;

use crate::common;
use eventhorizon::facility::Network;

/// The networks in the repository, by file name.
pub(crate) fn shipped() -> Vec<(String, Network)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/networks");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let network = Network::from_toml(&std::fs::read_to_string(&path).unwrap());
            let network = network.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (name, network)
        })
        .collect();
    // Process models run the others.
    found.retain(|(_, network)| !network.compile().is_err_and(|error| error.needs_process()));
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() >= 20);
    found
}

fn shipped_one(name: &str) -> Network {
    shipped().into_iter().find(|(found, _)| found == name).unwrap().1
}
