//! Sources of a description.

use serde::{Deserialize, Serialize};

use super::arrivals::{ArrivalTimes, MarkovArrivals};
use super::route::filled;
use super::{Distribution, Route};

pub(super) fn one() -> u32 {
    1
}

/// A node where customers enter the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenSource", into = "WrittenSource")]
#[non_exhaustive]
pub struct Source {
    /// The time between two arrivals, and before the first. With `times` or `map`, a distribution
    /// with their average rate, which nothing draws and no file has.
    pub interarrival: Distribution,
    /// Arrivals at these times. Such networks run as
    /// [process models](crate::process::NetworkProcess).
    pub times: Option<ArrivalTimes>,
    /// Arrivals of a Markovian arrival process. Such networks run as process models.
    pub map: Option<MarkovArrivals>,
    /// The class of its customers. Default: the first class.
    pub class: Option<String>,
    /// Customers in each batch, at most 256.
    pub batch: u32,
    /// Shares of the arrival rate, one after the other, repeated for ever. `interarrival` belongs
    /// to the share 1: at a half, times between arrivals pass half as fast. If it is not
    /// exponential, the network runs as a process model. Default: always the full rate.
    pub rates: Vec<Rate>,
    /// The routes of its customers.
    pub to: Route,
}

/// A period in which a source has a share of its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The length of the period.
    pub lasts: f64,
    /// The share of the rate, 0 to 1.
    pub factor: f64,
}

/// A source in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    interarrival: Option<Distribution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<ArrivalTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<MarkovArrivals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(default = "one")]
    batch: u32,
    #[serde(default, deserialize_with = "filled", skip_serializing_if = "Vec::is_empty")]
    rates: Vec<Rate>,
    to: Route,
}

impl From<Source> for WrittenSource {
    fn from(source: Source) -> Self {
        let Source { interarrival, times, map, class, batch, rates, to } = source;
        let between = (times.is_none() && map.is_none()).then_some(interarrival);
        Self { interarrival: between, times, map, class, batch, rates, to }
    }
}

impl TryFrom<WrittenSource> for Source {
    type Error = String;

    fn try_from(written: WrittenSource) -> Result<Self, String> {
        let WrittenSource { interarrival: between, times, map, class, batch, rates, to } = written;
        let interarrival = between.unwrap_or(Distribution::Constant(1.0));
        let mut source = Self { interarrival, times, map, class, batch, rates, to };
        let mean = match (&source.times, &source.map) {
            (None, None) => {
                return between.map(|_| source).ok_or_else(|| "missing field `interarrival`".to_owned());
            }
            (Some(_), Some(_)) => {
                return Err("`times` and `map` both say when customers arrive; choose one".to_owned());
            }
            (Some(times), None) => times.mean(source.class.as_deref()),
            (_, Some(map)) => 1.0 / map.rate()?,
        };
        if !source.rates.is_empty() {
            return Err("`rates` change `interarrival`; leave it out with `times` or `map`".to_owned());
        }
        source.interarrival = of_mean(mean);
        // Files of earlier versions have it.
        match between {
            Some(Distribution::Erlang { stages: 2, mean: found }) if (found / mean - 1.0).abs() < 1e-9 => {
                Ok(source)
            }
            Some(_) => {
                Err("`interarrival` and `times` or `map` both say when customers arrive; choose one"
                    .to_owned())
            }
            None => Ok(source),
        }
    }
}

/// The time between arrivals by which rates and loads of other arrivals are computed: no Poisson
/// process, for which there is theory.
pub(super) fn of_mean(mean: f64) -> Distribution {
    Distribution::Erlang { stages: 2, mean }
}

impl Source {
    /// Single customers of the first class.
    pub fn new(interarrival: Distribution, to: impl Into<Route>) -> Self {
        let (times, map, class, rates) = (None, None, None, Vec::new());
        Self { interarrival, times, map, class, batch: 1, rates, to: to.into() }
    }

    /// Sets the class of customers.
    #[must_use]
    pub fn of(self, class: &str) -> Self {
        Self { class: Some(class.to_owned()), ..self }
    }

    /// Sets the number of customers in each batch.
    #[must_use]
    pub fn in_batches(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// Sets shares of the rate: the length of each period, and its share.
    #[must_use]
    pub fn with_rates(self, rates: &[(f64, f64)]) -> Self {
        Self { rates: rates.iter().map(|&(lasts, factor)| Rate { lasts, factor }).collect(), ..self }
    }
}

impl Source {
    /// Why only process models run its arrivals.
    pub(super) fn beyond(&self) -> Option<&'static str> {
        let poisson = matches!(self.interarrival, Distribution::Exponential(_));
        let has = [
            ("a list of arrivals", self.times.is_some()),
            ("a Markovian arrival process", self.map.is_some()),
            (
                "a rate that changes between arrivals that are not exponential",
                !self.rates.is_empty() && !poisson,
            ),
        ];
        has.into_iter().find(|(_, has)| *has).map(|(what, _)| what)
    }
}
