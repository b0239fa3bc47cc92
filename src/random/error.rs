use crate::ErrorKind;

/// Why the parameters of a distribution are invalid. The host checks them before the first draw.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomError {
    /// The number is not a probability.
    #[error("{p} is not a probability; expected a number between 0 and 1")]
    Probability {
        /// The number.
        p: f64,
    },
    /// The number of trials until a success would not fit a word.
    #[error(
        "failures before a success of probability {p} do not fit 32 bits; use a probability of at least 2^-31, or 0"
    )]
    TooRare {
        /// The probability.
        p: f64,
    },
    /// The mean of a Poisson variate is out of range.
    #[error(
        "a Poisson variate has a mean between 0 and 256, found {mean}; for a larger mean add several variates"
    )]
    PoissonMean {
        /// The mean.
        mean: f64,
    },
    /// The spread of a lognormal variate is out of range.
    #[error("the logarithm of a lognormal variate has a standard deviation between 0 and 11, found {sigma}")]
    Spread {
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// The shape of a Weibull variate is out of range.
    #[error("a Weibull variate has a shape between 0.3 and 1000, found {shape}")]
    Shape {
        /// The shape.
        shape: f64,
    },
    /// A part of a distribution has too few variates.
    #[error(
        "the part of a distribution between the probabilities {lower} and {upper} is too rare; use a part with a probability of at least 2^-16"
    )]
    Narrow {
        /// Its lower probability.
        lower: f64,
        /// Its upper probability.
        upper: f64,
    },
    /// No weights, or too many.
    #[error("expected 1 to 2^31 weights, found {count}")]
    Weights {
        /// How many there are.
        count: usize,
    },
    /// A weight is negative or not finite.
    #[error("weight {index} is {weight}; expected a finite number that is not negative")]
    Weight {
        /// Its index.
        index: usize,
        /// Its value.
        weight: f64,
    },
    /// All weights are zero.
    #[error("all weights are zero; at least one weight must be positive")]
    NoWeight,
}

crate::text::debug_is_display!(RandomError);

impl RandomError {
    /// [`ErrorKind::Usage`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
