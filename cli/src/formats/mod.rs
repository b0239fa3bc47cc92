//! Files of other programs.
//!
//! Read: models of JMT ([`jmt`], [`jmva`]), positions of SUMO ([`fcd`]), graphs ([`graphs`]).
//! Written: networks as [`toml_text`], DOT and Mermaid ([`diagram`]), results for OMNeT++
//! ([`scalars`]).

pub mod diagram;
pub mod fcd;
pub mod graphs;
pub mod jmt;
pub mod jmva;
pub mod laws;
pub mod scalars;
pub mod toml_text;
pub mod xml;
