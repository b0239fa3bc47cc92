use crate::ErrorKind;

/// What is wrong with the parameters of a distribution. Found on the host, before anything is
/// drawn.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomError {
    /// The number is no probability.
    #[error("{p} is not a probability; it must lie between 0 and 1")]
    Probability {
        /// The number.
        p: f64,
    },
    /// The number of trials until a success could not be counted.
    #[error(
        "a success of probability {p} is too rare to count the failures before it in 32 bits; use at least 2^-31, or 0"
    )]
    TooRare {
        /// The probability.
        p: f64,
    },
    /// The mean of a Poisson variate is out of range.
    #[error(
        "a Poisson variate of mean {mean} cannot be drawn; between 0 and 256 it can, and sums of variates have larger means"
    )]
    PoissonMean {
        /// The mean.
        mean: f64,
    },
    /// The spread of a lognormal variate is out of range.
    #[error(
        "a lognormal variate whose logarithm deviates by {sigma} cannot be drawn; between 0 and 11 it can"
    )]
    Spread {
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// The shape of a Weibull variate is out of range.
    #[error("a Weibull variate of shape {shape} cannot be drawn; between 0.3 and 1000 it can")]
    Shape {
        /// The shape.
        shape: f64,
    },
    /// A part of a distribution has too few variates.
    #[error(
        "the part of a distribution between the probabilities {lower} and {upper} is too rare to draw from; use one of at least 2^-16"
    )]
    Narrow {
        /// Where it begins.
        lower: f64,
        /// Where it ends.
        upper: f64,
    },
    /// No weights, or too many.
    #[error("a table of {count} weights; it needs at least 1 and at most 2^31")]
    Weights {
        /// How many there are.
        count: usize,
    },
    /// A weight is negative or not finite.
    #[error("weight {index} is {weight}; weights are finite and not negative")]
    Weight {
        /// Its place.
        index: usize,
        /// Its value.
        weight: f64,
    },
    /// All weights are zero.
    #[error("all weights are zero, so that none of the numbers can be drawn; give one of them a weight")]
    NoWeight,
}

crate::text::debug_is_display!(RandomError);

impl RandomError {
    /// [`ErrorKind::Usage`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
