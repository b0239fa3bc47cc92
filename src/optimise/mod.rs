//! Searches for the numbers of a network or of a process model that minimise a measure or a cost,
//! subject to bounds on other measures.
//!
//! The method is [`Compass`](crate::statistics::Compass), which says what it guarantees. All points
//! have common random numbers, so a search has the same result on every machine.
//!
//! ```
//! use eventhorizon::facility::NetworkDescription;
//! use eventhorizon::optimise::Search;
//! use eventhorizon::Backend;
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let description = NetworkDescription::from_toml(r#"
//!     name = "M/M/c"
//!     source.arrivals = { interarrival = { exponential = 1.0 }, to = "desk" }
//!     station.desk = { service = { exponential = 1.5 }, to = "out" }
//!     sink.out = {}
//! "#)?;
//! let search = Search::new("10 * station.desk.servers + 4 * queue(desk)".parse()?, [200.0, 20.0])
//!     .range("station.desk.servers=1..6".parse()?)
//!     .budget(300);
//! let found = search.network(description, Backend::Cpu, |_| ControlFlow::Continue(()))?;
//! assert!(found.values(found.best())[0] < 6.0);
//! # Ok(()) }
//! ```

mod error;
mod expression;
mod range;
mod results;
mod search;
mod system;

pub use error::OptimiseError;
pub use expression::{Columns, Expression, bound, column};
pub use range::NumberRange;
pub use results::Optimum;
pub use search::Search;
