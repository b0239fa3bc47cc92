//! Monte Carlo pi.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::replication::{AnalysisError, Model, Observations};

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
