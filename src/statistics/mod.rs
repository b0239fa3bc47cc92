//! Statistics of samples: designs, observations, intervals, comparisons, precision stops, selection
//! of the best, series, reports and plots. Also statistics that a model can collect while it runs:
//! tallies, time averages and histograms.
//!
//! The module does not depend on devices: [`replication`](crate::replication) fills its
//! [`Observations`], and any other module or program can. [`Observations::summary`] documents which
//! sums are exact integers, and which are `f64`.
//!
//! ```text
//!   Design: the parameter points
//!   Observations of a point: named columns, one value per replication, failures with their index
//!      |            |              |
//!   Summary:     compare:       Report: table, CSV, JSON;  plot (feature `plot`)
//!   mean,        differences    against theory
//!   interval     of points
//!      |
//!   Stopping: precise enough, or how many more?     Selection: which point is the best?
//!
//!   batch_means, mser5: one long series instead of many replications
//! ```
//!
//! ```
//! use eventhorizon::statistics::{Column, Observations, Pairing, Values};
//!
//! let waits = Column { name: "wait".into(), values: Values::U32(vec![3, 5, 4, 8, 6, 4]) };
//! let observations = Observations::new(6, vec![waits], [], Pairing::Independent)?;
//! let wait = observations.summary("wait", 0.95)?;
//! assert_eq!(wait.mean, Some(5.0));
//! assert!(wait.interval.is_some_and(|interval| interval.contains(4.5)));
//! # Ok::<(), eventhorizon::statistics::AnalysisError>(())
//! ```
//!
//! # While a model runs
//!
//! A model of [`pdes`](crate::pdes) or of [`replication`](crate::replication) may collect
//! statistics in its `State`. Each has a WGSL file that models can import, and a Rust type with the
//! same name and the same bytes. They use integers only, so they have the same bits on every
//! device. Times and spans are in ticks; 64-bit numbers are `vec2<u32>` of low and high word.
//!
//! | `// import:` | in WGSL | effect |
//! | --- | --- | --- |
//! | `statistics/tally.wgsl` | `struct Tally` | count, sum, squares, minimum and maximum of 64-bit values: [`Tally`] |
//! | | `tally_since(time) -> Tally` | empty; observations before `time` do not count |
//! | | `tally_add(tally, time, value) -> Tally` | adds an observation |
//! | `statistics/time_average.wgsl` | `struct TimeAverage` | the average of a `u32` over time: [`TimeAverage`] |
//! | | `time_average_since(time, level) -> TimeAverage` | of a level that counts from `time` on |
//! | | `time_average_set(average, time, level) -> TimeAverage` | sets the level from `time` on |
//! | | `time_average_add(average, time, change) -> TimeAverage` | changes the level by `change: i32` from `time` on |
//! | | `time_average_at(average, time) -> TimeAverage` | extends the average to `time` without a change |
//! | `statistics/histogram.wgsl` | `histogram_bin(value, low, width, bins) -> u32` | the bin to count 64-bit `value` in: [`histogram_bin`], [`Histogram`] |
//!
//! A zeroed `Tally` or `TimeAverage` is a valid start: from time 0 on, no observations, level 0.
//! Functions take and return values, because WGSL has no pointers to fields:
//!
//! ```wgsl
//! // import: statistics/tally.wgsl
//! // import: statistics/time_average.wgsl
//! // import: statistics/histogram.wgsl
//!
//! struct State {
//!     wait: Tally,                // 64 bytes, aligned to 16
//!     queue: TimeAverage,         // 48 bytes, aligned to 16
//!     waits: array<u32, 20>,      // the bins
//! }
//!
//! fn served(state: ptr<function, State>, now: vec2<u32>, wait: vec2<u32>) {
//!     (*state).wait = tally_add((*state).wait, now, wait);
//!     (*state).queue = time_average_add((*state).queue, now, -1);
//!     (*state).waits[histogram_bin(wait, TIME_ZERO, vec2<u32>(1000u, 0u), 20u)] += 1u;
//! }
//! ```
//!
//! On the host, `#[repr(C)] struct State { wait: Tally, queue: TimeAverage, waits: [u32; 20] }` has
//! the same layout. The size of a struct that contains either of them is a multiple of 16 bytes in
//! WGSL: declare the missing bytes as fields, since the engines refuse padding. [`Tally::merge`],
//! [`PooledAverage`] and [`Histogram::add_counts`] pool logical processes and replications.

use std::sync::LazyLock;

use crate::shaders;

mod allocation;
mod compass;
mod design;
mod error;
mod experiment;
mod histogram;
mod observations;
mod partial;
#[cfg(feature = "plot")]
pub mod plot;
mod pooled;
mod profile;
pub(crate) mod quantiles;
mod report;
mod selection;
mod sequential;
mod series;
mod stopping;
mod student;
mod summary;
mod tally;
pub mod theory;
mod time_average;
mod wide;

pub use allocation::{Allocated, Allocation};
pub use compass::{Compass, Found, Visited};
pub use design::{Design, Name, Point, Value};
pub use error::AnalysisError;
pub use experiment::{Experiment, StreamKey};
pub(crate) use experiment::{check_room, fits_host};
pub use histogram::{Histogram, histogram_bin};
pub use observations::{Column, Failure, FailureCause, Observations, Pairing, Values};
pub(crate) use observations::{PARALLEL, each};
pub(crate) use partial::Partial;
pub(crate) use pooled::{Estimator, Part, Pooled, unskewed_interval};
pub use profile::{Intervals, Profile, ProfileRow};
pub use report::{PointFailure, Report, Row, each_to_csv, measures, with_error};
pub use selection::{Screening, Selected, Selection};
pub(crate) use sequential::Round;
pub use sequential::Sequential;
pub use series::{BatchMeans, batch_means, mser5};
pub use stopping::{Budget, Decision, Precision, Spent, Stopping};
pub(crate) use student::student_t;
pub use summary::{Interval, Summary, check_level, compare};
pub use tally::Tally;
pub use time_average::{PooledAverage, TimeAverage};

/// The functions that models of every engine may call: those that the heads of the files in
/// `shaders/statistics/` list.
pub(crate) static MODEL_FUNCTIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| shaders::for_models("statistics"));

#[cfg(test)]
mod tests {
    use super::MODEL_FUNCTIONS;
    use crate::gpu::Program;
    use crate::shaders;

    /// The files of the module.
    fn files() -> Vec<&'static str> {
        let names = shaders::texts().filter_map(|(name, _)| name.strip_prefix("shaders/"));
        names.filter(|name| name.starts_with("statistics/")).collect()
    }

    #[test]
    fn heads_list_all_functions() {
        let sources: Vec<_> =
            files().into_iter().chain(["random/mul_wide.wgsl"]).map(shaders::file).collect();
        let program = Program::link("statistics", &sources).unwrap();
        let functions = program.module().functions.iter().filter_map(|(handle, function)| {
            let span = program.module().functions.get_span(handle);
            let (file, _) = program.origin(span.location(program.text()).line_number)?;
            file.starts_with("shaders/statistics/").then_some(function.name.as_deref()?)
        });
        let mut found: Vec<_> = functions.collect();
        let mut listed = MODEL_FUNCTIONS.clone();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    #[test]
    fn each_file_links_alone() {
        assert!(files().len() >= 3);
        for file in files() {
            Program::link(file, &[file, "random/mul_wide.wgsl"].map(shaders::file)).unwrap();
        }
    }

    #[test]
    fn the_documentation_and_the_probe_name_each_function_and_file() {
        let documented = include_str!("mod.rs").split("\nmod ").next().unwrap();
        let probe = include_str!("../../tests/wgsl/statistics_probe.wgsl");
        for name in MODEL_FUNCTIONS.iter() {
            assert!(documented.contains(&format!("`{name}(")), "src/statistics/mod.rs: {name}");
            assert!(probe.contains(&format!("{name}(")), "tests/wgsl/statistics_probe.wgsl: {name}");
        }
        for file in files() {
            assert!(documented.contains(&format!("//! | `{file}` |")), "src/statistics/mod.rs: {file}");
            let import = format!("// import: {file}\n");
            assert!(probe.contains(&import), "tests/wgsl/statistics_probe.wgsl: {file}");
        }
    }
}
