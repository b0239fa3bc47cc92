//! The contract of replication models.

use bytemuck::Pod;

use super::{AnalysisError, Observations};
use crate::gpu::Source;
use crate::random::Stream;

/// A replication model: plain data and one WGSL file of scalar code.
///
/// ```wgsl
/// struct Params { ... }                               // the factors: one value of this struct per parameter point
/// struct State { ... }                                // what the replication keeps from step to step
/// struct Output { ... }                               // the result columns: u32, i32, f32, vec2<u32> and vec4<u32> for 64 and 128 bits; structs, arrays
/// fn start(state: ptr<function, State>)
/// fn step(state: ptr<function, State>) -> bool        // one unit of work; false when the replication is finished
/// fn finish(state: ptr<function, State>) -> Output
/// ```
///
/// The file may use these parts of the engine's WGSL:
///
/// * the read-only variable `params`, the parameters of the replication's point;
/// * draws from the replication's own stream: `draw`, `draw_block`, the variates `draw_below`,
///   `draw_exponential`, `draw_bernoulli`, `draw_uniform`, `draw_hyperexponential`, `draw_erlang`,
///   `draw_geometric`, `draw_triangular`, `draw_poisson`, `draw_normal`, `draw_lognormal`,
///   `draw_weibull`, truncated ones by `draw_word`, `exponential_of`, `uniform_of`,
///   `triangular_of`, `normal_of`, `lognormal_of`, `weibull_of`, and `normal_unit`, `alias_slot`,
///   `alias_pick` (each is documented at its Rust counterpart, a method of [`Stream`] or a function
///   next to it), and `stream_seek`, `stream_position` and `stream_block` for models that manage
///   the positions of their draws;
/// * `stream_purpose(purpose, number)`, after which all draws come from the substream of that name,
///   until `stream_main()` or the end of the step: see [`Stream::purpose`];
/// * `exponential_unit` and `exponential_short`, which turn a drawn word into a variate, and
///   arithmetic: `mul_wide`, `add_word`, `product_128`, `time_add`, `time_since`, `time_less`,
///   `time_min`, `wide_add`, `wide_subtract`, `wide_less`, `wide_add_128`;
/// * statistics in its state, by the functions of
///   [`statistics`](crate::statistics#while-a-model-runs);
/// * `fail(code)`, which ends the replication without a result.
///
/// The model chooses the work of a `step`; time slices and
/// [`Options::max_steps`](super::Options::max_steps) count steps, so the [`ReferenceModel`]
/// has to make the same choice. `State` must hold everything that a replication stores: module
/// variables do not last from one time slice to the next.
///
/// None of the three structs may have padding: use fields named `unused`, or with names that begin
/// with an underscore, which are not result columns. A 64-bit number is a `vec2<u32>` of low and
/// high word, aligned to 8 bytes.
pub trait Model {
    /// The struct `Params`: the same fields in the same order.
    type Params: Pod + Send + Sync;
    /// The struct `Output`: the same fields in the same order.
    type Output: Pod + Send + Sync;

    /// The WGSL file.
    fn source(&self) -> Source;

    /// A second WGSL file with the team mapping, if the model supports it: see
    /// `shaders/replication/team.wgsl`.
    fn team_source(&self) -> Option<Source> {
        None
    }

    /// The bytes of parameters: those of `params`. A model that is loaded at run time returns all
    /// parameters, and `check` and `derive` get the first word of a point.
    #[doc(hidden)]
    fn params_bytes(&self, params: &Self::Params) -> Vec<u8> {
        bytemuck::bytes_of(params).to_vec()
    }

    /// Checks a parameter point. Called for every point before anything runs.
    ///
    /// # Errors
    /// A message for the user.
    fn check(&self, params: &Self::Params) -> Result<(), String> {
        let _ = params;
        Ok(())
    }

    /// Adds columns to the replications of one point: ratios, and quantities in the units of the
    /// model. [`Observations::hide`] removes the columns in ticks from reports.
    ///
    /// # Errors
    /// As [`Observations::derive`].
    fn derive(&self, params: &Self::Params, observations: &mut Observations) -> Result<(), AnalysisError> {
        let _ = (params, observations);
        Ok(())
    }
}

/// The second implementation of a model, in Rust: the same replications, bit for bit. It is
/// optional, and [`CpuEngine::in_rust`](super::CpuEngine::in_rust) runs it to check the WGSL.
pub trait ReferenceModel: Model {
    /// The state of a replication between steps.
    type State;

    /// WGSL: `start`.
    ///
    /// # Errors
    /// [`Fail`] if the WGSL calls `fail`; the same for the other functions.
    fn start(&self, params: &Self::Params, stream: &mut Stream) -> Result<Self::State, Fail>;

    /// WGSL: `step`. It must do the same work: otherwise a bound on steps would fail other
    /// replications.
    ///
    /// # Errors
    /// [`Fail`]
    fn step(&self, params: &Self::Params, state: &mut Self::State, stream: &mut Stream)
    -> Result<bool, Fail>;

    /// WGSL: `finish`.
    ///
    /// # Errors
    /// [`Fail`]
    fn finish(&self, params: &Self::Params, state: &Self::State) -> Result<Self::Output, Fail>;
}

/// The code with which a replication fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fail(pub u32);
