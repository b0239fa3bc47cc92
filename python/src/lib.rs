//! The native part of the Python package `eventhorizon`: its module `_core`.
//!
//! It converts: descriptions in, numbers and arrays out. Names, documentation and tables for users
//! are in the Python files beside it, and everything that runs is in the library.

mod arrow;
mod device;
mod errors;
mod machine;
mod matching;
mod network;
mod optimise;
mod runs;
mod saves;
mod search;
mod studies;
mod watch;

/// The native part of `eventhorizon`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::arrow::arrow_stream;
    #[pymodule_export]
    use super::machine::{doctor, phold};
    #[pymodule_export]
    use super::matching::match_regions;
    #[pymodule_export]
    use super::network::{Network, NetworkRun};
    #[pymodule_export]
    use super::runs::Runs;
    #[pymodule_export]
    use super::search::{search_graph, search_grid};
    #[pymodule_export]
    use super::studies::{Model, Process};
}
