//! Monte Carlo pi.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::random::Stream;
use crate::replication::{AnalysisError, Fail, Model, Observations, ReferenceModel};

/// The share of random points of the unit square that lie in the quarter of the unit circle.
///
/// Column `inside` counts them; `pi` is derived from it. WGSL: `shaders/models/pi.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pi;

/// Factors of [`Pi`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PiParams {
    /// Points per replication, 1 to 2^30.
    pub points: u32,
}

/// Columns of [`Pi`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PiOutput {
    /// Points in the quarter circle.
    pub inside: u32,
}

impl Model for Pi {
    type Params = PiParams;
    type Output = PiOutput;

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/pi.wgsl")
    }

    fn check(&self, params: &PiParams) -> Result<(), String> {
        match params.points {
            1..=0x4000_0000 => Ok(()),
            points => Err(format!("points is {points}; choose 1 to 1073741824 (2^30)")),
        }
    }

    fn derive(&self, params: &PiParams, observations: &mut Observations) -> Result<(), AnalysisError> {
        observations.derive("pi", &["inside"], |inside| 4.0 * inside[0] / f64::from(params.points))
    }
}

/// The state of a replication.
#[derive(Debug, Default)]
pub struct PiState {
    next: u32,
    inside: u32,
}

impl ReferenceModel for Pi {
    type State = PiState;

    fn start(&self, _: &PiParams, _: &mut Stream) -> Result<PiState, Fail> {
        Ok(PiState::default())
    }

    fn step(&self, params: &PiParams, state: &mut PiState, stream: &mut Stream) -> Result<bool, Fail> {
        let square = |word: u32| u128::from(word) * u128::from(word);
        // Two points, or the last one.
        for _ in 0..(params.points - state.next).min(2) {
            let distance = square(stream.draw()) + square(stream.draw());
            state.inside += u32::from(distance < 1 << 64);
            state.next += 1;
        }
        Ok(state.next < params.points)
    }

    fn finish(&self, _: &PiParams, state: &PiState) -> Result<PiOutput, Fail> {
        Ok(PiOutput { inside: state.inside })
    }
}
