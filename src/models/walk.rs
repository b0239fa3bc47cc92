//! A random walk over 30 chunks.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::random::Stream;
use crate::replication::{Fail, Model, ReferenceModel};

const COLUMNS: u32 = 60;
const ROWS: u32 = 50;

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

/// The state of a replication.
#[derive(Debug)]
pub struct WalkState {
    x: u32,
    y: u32,
    next: u32,
    visits: [u32; 30],
}

impl WalkState {
    fn chunk(&self) -> u32 {
        self.y / 10 * (COLUMNS / 10) + self.x / 10
    }
}

impl ReferenceModel for Walk {
    type State = WalkState;

    fn start(&self, _: &WalkParams, stream: &mut Stream) -> Result<WalkState, Fail> {
        Ok(WalkState { x: stream.below(COLUMNS), y: stream.below(ROWS), next: 0, visits: [0; 30] })
    }

    fn step(&self, params: &WalkParams, state: &mut WalkState, stream: &mut Stream) -> Result<bool, Fail> {
        match stream.draw() >> 30 {
            0 => state.x = (state.x + 1) % COLUMNS,
            1 => state.x = (state.x + COLUMNS - 1) % COLUMNS,
            2 => state.y = (state.y + 1) % ROWS,
            _ => state.y = (state.y + ROWS - 1) % ROWS,
        }
        state.visits[state.chunk() as usize] += 1;
        state.next += 1;
        Ok(state.next < params.steps)
    }

    fn finish(&self, _: &WalkParams, state: &WalkState) -> Result<WalkOutput, Fail> {
        let explored = state.visits.iter().map(|&visits| u32::from(visits > 0)).sum();
        let most_visits = state.visits.into_iter().max().unwrap_or(0);
        Ok(WalkOutput { chunk: state.chunk(), x: state.x, y: state.y, explored, most_visits })
    }
}
