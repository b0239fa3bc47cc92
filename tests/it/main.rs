//! The library on an adapter and on the CPU, a module per subject. One program holds them all: it
//! is linked once, and the tests of a module share devices and the kernels that these have built.
//!
//! Programs of their own are `pdes_faults`, whose models can end a device for all that share it,
//! `translate`, which needs naga's back ends, and `programs`, which runs what it checks.

#[path = "../common/mod.rs"]
mod common;
mod facility;
mod gpu;
#[path = "../common/hostile.rs"]
mod hostile;
mod hybrid;
mod matching;
mod models;
mod native;
mod pdes;
mod primitives;
mod queue;
mod random;
mod replication;
mod search;
