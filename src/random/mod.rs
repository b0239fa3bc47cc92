//! Random streams that every device reproduces bit for bit.
//!
//! The generator is Philox4x32-10, a pure function from a counter and a key to 128 bits. A
//! [`Stream`] is a name, not a state: any thread can compute draw number `d` of stream `(seed,
//! owner, index)` at any time. So the draws of an event do not depend on the thread that handles
//! it, or on when it does. Variates use integer arithmetic, because floating-point results differ
//! between GPUs. The WGSL counterparts are in `shaders/random/`.
//!
//! ```
//! use eventhorizon::random::Stream;
//! use eventhorizon::time::Resolution;
//!
//! let minutes = Resolution::default();
//! let mut stream = Stream::new(42, 7, 0); // seed 42, logical process 7, its first event
//! let service = stream.exponential(minutes.ticks(2.5)?);
//! let next_station = stream.below(12);
//! assert!(next_station < 12);
//!
//! let mut again = Stream::new(42, 7, 0);
//! assert_eq!(again.exponential(minutes.ticks(2.5)?), service);
//! # Ok::<(), eventhorizon::time::TimeError>(())
//! ```

use std::sync::LazyLock;

use crate::shaders;

mod alias;
mod distributions;
mod error;
mod mix;
mod philox;
mod stream;
mod table;
mod variates;

pub use alias::AliasTable;
#[doc(hidden)]
pub use distributions::exponential_chords;
pub use distributions::{exponential_of, exponential_short, exponential_tabled, exponential_unit};
pub use error::RandomError;
pub(crate) use mix::Mix;
#[doc(hidden)]
pub use mix::mix;
#[doc(hidden)]
pub use philox::philox4x32;
pub use stream::Stream;
pub(crate) use table::{Part, Row, table, table_wgsl, time_of_table};
#[doc(hidden)]
pub use variates::log2_unit;
pub use variates::{
    geometric_scale, lognormal_of, lognormal_spread, normal_of, normal_unit, poisson_mean, probability,
    weibull_of, weibull_power, words_between,
};

/// The version of all streams. It rises when the same model, parameters and seed draw different
/// numbers than before. Saved state of another version is refused, because it could not continue to
/// the same results.
///
/// 2: streams of networks are keyed by the names of nodes. 3: a customer that waits elsewhere for
/// space at a station has one number there.
pub const STREAMS_VERSION: u32 = 3;

/// The functions of `shaders/random/` that models of every engine may call: the functions that the
/// heads of the files list. Each engine defines its additional functions.
pub(crate) static MODEL_FUNCTIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| shaders::for_models("random"));

/// Arithmetic with numbers of 64 and 128 bits that models of every engine may call wherever calls
/// are allowed. Declared in `time/ticks.wgsl`, `random/mul_wide.wgsl`, `random/distributions.wgsl`
/// and `gpu/wide.wgsl`.
pub(crate) const ARITHMETIC: [&str; 11] = [
    "time_add",
    "time_since",
    "time_less",
    "time_min",
    "wide_add",
    "wide_subtract",
    "wide_less",
    "wide_add_128",
    "mul_wide",
    "add_word",
    "product_128",
];

/// The low and the high word.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word are cut on purpose")]
const fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// The low and the high word of the product.
fn mul_wide(a: u32, b: u32) -> [u32; 2] {
    words(u64::from(a) * u64::from(b))
}

#[cfg(test)]
mod tests {
    use super::{ARITHMETIC, MODEL_FUNCTIONS};
    use crate::gpu::Program;
    use crate::shaders;

    #[test]
    fn what_models_may_call_is_there() {
        let files = ["random/distributions.wgsl", "random/mul_wide.wgsl"].map(shaders::file);
        let program = Program::link("random", &files).unwrap();
        for name in MODEL_FUNCTIONS.iter().copied().chain(ARITHMETIC) {
            let mut functions = program.module().functions.iter();
            assert!(functions.any(|(_, function)| function.name.as_deref() == Some(name)), "{name}");
        }
    }

    /// The pages that list functions for models name each function.
    #[test]
    fn the_documentation_of_models_names_each_function() {
        let page = include_str!("../replication/model.rs");
        for name in MODEL_FUNCTIONS.iter() {
            let named = page.match_indices(name).any(|(at, _)| page[..at].ends_with('`'));
            assert!(named, "src/replication/model.rs: {name}");
        }
    }
}
