/// What is wrong with the parameters of a distribution. Found on the host, before anything is drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
}
