//! One module for each command, with `Args` or `Options` for its command line, and `run`.

#[cfg(feature = "pictures")]
pub mod activity;
#[cfg(feature = "pictures")]
pub mod astar;
#[cfg(feature = "all")]
pub mod doctor;
#[cfg(feature = "pictures")]
pub mod experiment;
#[cfg(feature = "pictures")]
pub mod moving_crowd;
mod mrip;
pub mod mrip_mm1;
#[cfg(feature = "all")]
pub mod mrip_pi;
#[cfg(feature = "all")]
pub mod mrip_walk;
#[cfg(feature = "pictures")]
pub mod network;
#[cfg(feature = "pictures")]
pub mod papers;
pub mod phold;
#[cfg(feature = "all")]
pub mod phold_ranks;
#[cfg(feature = "pictures")]
pub mod process;
#[cfg(feature = "all")]
pub mod region_matching;
#[cfg(feature = "pictures")]
pub mod run;
#[cfg(feature = "all")]
pub mod soak;
