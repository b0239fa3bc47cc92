//! A random walk over 30 chunks.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::replication::Model;

/// A walker on a 60 by 50 map with joined edges, divided into 30 chunks of 10 by 10 cells.
///
/// It starts on a random cell, so the chunk in which it ends is uniform: a test of random streams
/// (Vattulainen and Ala-Nissila, Computers in Physics 9(5), 1995). WGSL:
/// `shaders/models/walk.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walk;

/// Factors of [`Walk`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WalkParams {
    /// Steps per walk, at least 1.
    pub steps: u32,
}

/// Columns of [`Walk`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WalkOutput {
    /// The chunk in which the walk ended, 0 to 29, row by row.
    pub chunk: u32,
    /// The cell's column, 0 to 59.
    pub x: u32,
    /// The cell's row, 0 to 49.
    pub y: u32,
    /// Chunks visited, without the first cell.
    pub explored: u32,
    /// The most visits to one chunk.
    pub most_visits: u32,
}

impl Model for Walk {
    type Params = WalkParams;
    type Output = WalkOutput;

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/walk.wgsl")
    }

    fn check(&self, params: &WalkParams) -> Result<(), String> {
        match params.steps {
            0 => Err("steps is 0; choose at least 1".into()),
            _ => Ok(()),
        }
    }
}
