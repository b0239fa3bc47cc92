//! Errors of designs, samples and analyses.

use crate::ErrorKind;
use crate::text::count;

/// An error of the statistics and of the designs of experiments.
///
/// Errors change nothing: the data of the run stay as they are, and the call can be repeated with
/// the named value corrected.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A confidence level that is not a probability.
    #[error("confidence level {level}: choose one above 0 and below 1, such as 0.95")]
    Level {
        /// The level.
        level: f64,
    },
    /// A probability outside 0..=1.
    #[error("quantile of probability {probability}: choose a probability from 0 to 1")]
    Probability {
        /// The probability.
        probability: f64,
    },
    /// More replications than can be numbered.
    #[error(
        "{points} points of {replications} replications are more than 4294967295 in one run; run them in parts"
    )]
    TooMany {
        /// Number of points.
        points: usize,
        /// Replications per point.
        replications: u32,
    },
    /// Results that exceed the host's memory.
    #[error(
        "the results of {points} points of {replications} replications take about {bytes} bytes, more than this machine has; run them in parts, \
         and store only the results you need of each"
    )]
    HostMemory {
        /// Number of points.
        points: usize,
        /// Replications per point.
        replications: u32,
        /// Approximate size of the results in bytes.
        bytes: u64,
    },
    /// No column has this name.
    #[error("there is no result column `{name}`; the columns are: {known}")]
    NoColumn {
        /// The requested name.
        name: String,
        /// The existing names, separated by commas.
        known: String,
    },
    /// Every replication failed, or none was run: there is nothing to draw.
    #[error(
        "column `{name}` has no observation to draw; {failed} of {} failed",
        count(*replications, "replication")
    )]
    NoObservations {
        /// The column.
        name: String,
        /// Replications that failed.
        failed: u64,
        /// Replications run.
        replications: u64,
    },
    /// A plot could not be drawn.
    #[error("the plot of `{name}` could not be drawn: {message}")]
    Plot {
        /// The column.
        name: String,
        /// The message of the plotting library.
        message: String,
    },
    /// A selection among points with failed replications.
    #[error(
        "{} of point {point} failed, and without them the best system cannot be determined; find the cause \
         (`Observations::failures`), or remove the point",
        count(*failed, "replication")
    )]
    Failed {
        /// The point.
        point: usize,
        /// The number of failures.
        failed: u64,
    },
    /// A selection by a measure that too few replications of a point observed.
    #[error(
        "`{name}` was observed in too few replications of point {point} for an interval; make the replications \
         longer, or the first stage larger"
    )]
    Rare {
        /// The measure.
        name: String,
        /// The point.
        point: usize,
    },
    /// A number of sets of observations that differs from the number of points.
    #[error(
        "there are observations of {given} points, and the design has {points}; pass those of all points, in their order"
    )]
    Points {
        /// Points of the design.
        points: usize,
        /// Sets of observations.
        given: usize,
    },
    /// No factor has this name.
    #[error("the design has no factor `{factor}`; its factors are: {known}")]
    NoFactor {
        /// The requested name.
        factor: String,
        /// The existing names, separated by commas.
        known: String,
    },
    /// Two columns with the same name.
    #[error("two result columns are called `{name}`; give one of them another name")]
    RepeatedColumn {
        /// The name.
        name: String,
    },
    /// Columns that do not all have one value per replication.
    #[error(
        "column `{name}` has {} for {}; each column needs one per replication",
        count(*got, "value"),
        count(*expected, "replication")
    )]
    ColumnLength {
        /// The column.
        name: String,
        /// The number of its values.
        got: usize,
        /// The number of replications.
        expected: usize,
    },
    /// Bytes that are not a whole number of output structs.
    #[error(
        "{got} bytes are not {replications} outputs of {stride} bytes; read back the whole output buffer"
    )]
    OutputBytes {
        /// The size in bytes.
        got: usize,
        /// Number of replications.
        replications: usize,
        /// Bytes of one output, padding included.
        stride: u32,
    },
    /// A field of the output struct whose type cannot be a column.
    #[error(
        "field `{field}` of the output struct cannot be a result column; use u32, i32, f32, vec2<u32> or vec4<u32> for \
         the words of a 64-bit or 128-bit count (low word first), and structs and arrays of these"
    )]
    OutputField {
        /// The field.
        field: String,
    },
    /// A failure names a replication that does not exist.
    #[error("a failure names replication {replication}, and there are {replications}, counted from 0")]
    FailureIndex {
        /// The index.
        replication: u64,
        /// Number of replications.
        replications: usize,
    },
    /// Antithetic pairs need an even number of replications.
    #[error(
        "antithetic pairs need an even number of replications, and {replications} is odd; \
         choose an even number"
    )]
    Odd {
        /// Number of replications.
        replications: u64,
    },
    /// Two points that cannot be compared replication by replication, or appended to each other.
    #[error("the two sets of observations differ in {what}: {left} and {right}. Run both in the same way")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// The value of the first.
        left: String,
        /// The value of the second.
        right: String,
    },
    /// A series is too short for the method.
    #[error("{method} needs at least {needed} observations, and the series has {got}; observe for longer")]
    ShortSeries {
        /// The method.
        method: &'static str,
        /// Observations needed.
        needed: usize,
        /// Observations in the series.
        got: usize,
    },
    /// The warm-up of the series does not end.
    #[error(
        "the warm-up does not end within the first half of {observations} observations (MSER-5 would cut at \
         {cut}); observe for longer"
    )]
    NotSettled {
        /// Length of the series.
        observations: usize,
        /// The cut of the rule, in observations.
        cut: usize,
    },
    /// A value that statistics cannot use.
    #[error("observation {index} of the series is {value}; remove it or find out how the model produced it")]
    SeriesValue {
        /// Its index, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A factor is named twice.
    #[error("factor `{factor}` is named twice; keep one of them")]
    RepeatedFactor {
        /// The factor.
        factor: String,
    },
    /// A factor without a level.
    #[error("factor `{factor}` has no level; give it at least one value")]
    NoLevels {
        /// The factor.
        factor: String,
    },
    /// A design with more points than can be numbered.
    #[error("the design has {points} points, and at most 4294967295 can be numbered; use fewer levels")]
    TooManyPoints {
        /// Number of points.
        points: u128,
    },
    /// A factor that the parameter struct does not have.
    #[error("the parameter struct has no field `{factor}`; its fields are: {known}")]
    UnknownFactor {
        /// The factor.
        factor: String,
        /// Fields of the struct, separated by commas.
        known: String,
    },
    /// A field of the parameter struct that no factor sets.
    #[error("no factor sets the parameter `{field}`; add a factor of that name, or pass default parameters")]
    MissingFactor {
        /// The field.
        field: String,
    },
    /// A field of the parameter struct with a type that no factor can set.
    #[error(
        "parameter `{field}` is not a u32, i32, f32 or 64-bit pair (vec2<u32>), so no factor can set it; pass \
         default parameters that hold it, or change its type"
    )]
    FactorType {
        /// The field.
        field: String,
    },
    /// Default parameters of the wrong size.
    #[error(
        "the default parameters have {got} bytes and the parameter struct has {expected}; use the model's own type"
    )]
    DefaultBytes {
        /// The actual size in bytes.
        got: usize,
        /// Bytes of the struct.
        expected: u32,
    },
    /// A value that does not fit its parameter.
    #[error("{place}: factor `{factor}` is {value}, {reason}")]
    Value {
        /// The point, and its line in the file.
        place: String,
        /// The factor.
        factor: String,
        /// The value.
        value: String,
        /// Why it does not fit, and what to do.
        reason: &'static str,
    },
    /// A table of points without a row.
    #[error("the table of points has a header and no row; add one row per point")]
    NoPoints,
    /// A table of points that is not CSV, or cannot be read.
    #[error(
        "the table of points cannot be read: {0}. It is CSV: a header of factor names, then one row per point"
    )]
    Csv(#[source] std::io::Error),
    /// A table that could not be written.
    #[error("the table cannot be written: {0}")]
    Write(#[source] std::io::Error),
    /// A precision, a budget or a number of replications that no run can reach.
    #[error("{what} is {value}; {remedy}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
}

crate::text::debug_is_display!(AnalysisError);

impl AnalysisError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Csv(error) if error.kind() != std::io::ErrorKind::InvalidData => ErrorKind::Io,
            Self::Plot { .. } | Self::Write(_) => ErrorKind::Io,
            Self::OutputField { .. } | Self::FactorType { .. } => ErrorKind::Model,
            _ => ErrorKind::Usage,
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, AnalysisError>;
