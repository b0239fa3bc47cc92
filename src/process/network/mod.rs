//! Networks as process models: for what the interpreter of networks does not run.
//!
//! A customer is an entity of the type `customer`, and its class an attribute. Each node has a
//! named block of statements, each station a resource. Sources, schedules and breakdowns are
//! entities of their own. `write` makes the statements of nodes, `routes` those of routes,
//! `station` those of stations, `blocking` finds stations that may be in deadlock, `results` makes
//! a network's report of the values of a study, `visits` those of followed customers, and `errors`
//! translates errors.

mod blocking;
mod errors;
mod form;
mod order;
mod over_time;
mod paced;
mod results;
mod routes;
mod source;
mod station;
mod visits;
mod write;

use std::cell::Cell;

use crate::facility::outline::Outline;
use crate::facility::{self, FacilityError, Network, Report, Share};

use super::compiled::CompiledProcess;
use super::error::ProcessError;
use super::ir::ProcessModel;
use super::study::{Study, StudyResults};
use errors::in_words;
pub use form::NetworkForm;
use results::Values;
use write::{Names, Writer};

/// A network as a process model. Results have the names and measures of the network.
///
/// It runs networks that [`Network::compile`] refuses
/// ([`FacilityError::needs_process`]): those with more classes than
/// [`MAX_CLASSES`](crate::facility::MAX_CLASSES), and combinations of features. The random numbers
/// differ from those of the network form, so both agree in distribution only.
///
/// ```
/// use eventhorizon::Backend;
/// use eventhorizon::facility::{Discipline, Distribution, Measure, Network, Sink, Source, Station, Study};
/// use eventhorizon::process::NetworkProcess;
///
/// // A preemptive station that breaks down, which the network form refuses.
/// let station = Station::new(Distribution::Exponential(1.0), "out")
///     .with_discipline(Discipline::Preemptive)
///     .with_breakdowns(Distribution::Exponential(20.0), Distribution::Exponential(2.0));
/// let network = Network::new("shop")
///     .source("in", Source::new(Distribution::Exponential(2.0), "machine"))
///     .station("machine", station)
///     .sink("out");
/// assert!(network.compile().is_err_and(|error| error.needs_process()));
/// let process = NetworkProcess::new(&network)?;
/// let study = Study::new(8, 500.0, 50.0);
/// let results = process.compiled().study(&process.study(&study)?).backend(Backend::Cpu).run()?;
/// let report = process.report(&study, &results)?;
/// assert!(report.row("machine", Some("customer"), Measure::Wait).is_some());
/// # Ok::<(), eventhorizon::process::ProcessError>(())
/// ```
#[derive(Debug)]
pub struct NetworkProcess {
    outline: Outline,
    names: Names,
    shares: Vec<Share>,
    text: String,
    compiled: CompiledProcess,
}

impl NetworkProcess {
    /// Checks a network and translates it.
    ///
    /// # Errors
    /// [`ProcessError::Network`] with the node, and errors of a process model that is too large.
    pub fn new(network: &Network) -> Result<Self, ProcessError> {
        Self::of(Outline::new(network, false)?, &[])
    }

    /// The same for networks that may be unstable.
    ///
    /// # Errors
    /// As [`NetworkProcess::new`], except [`FacilityError::Unstable`] and
    /// [`FacilityError::CrowdedRegion`].
    pub fn new_unstable(network: &Network) -> Result<Self, ProcessError> {
        Self::of(Outline::new(network, true)?, &[])
    }

    /// Reports quantiles of times and the distribution of the number of customers, too: what
    /// [`Study::details`](facility::Study::details) needs.
    ///
    /// # Errors
    /// [`ProcessError`], if the process model is too large.
    pub fn with_details(self) -> Result<Self, ProcessError> {
        if self.outline.details() { Ok(self) } else { Self::of(self.outline.with_details(), &self.shares) }
    }

    /// Reports these shares of times, too.
    ///
    /// # Errors
    /// [`ProcessError::Network`] for a share of times that are not measured.
    pub fn with_shares(self, shares: &[Share]) -> Result<Self, ProcessError> {
        if shares == self.shares { Ok(self) } else { Self::of(self.outline, shares) }
    }

    fn of(outline: Outline, shares: &[Share]) -> Result<Self, ProcessError> {
        let names = Names::new(outline.network());
        let columns = outline.columns(shares)?;
        let text = Writer::new(&outline, &names, &columns, blocking::cyclic(outline.nodes())).write();
        let compiled = ProcessModel::from_json(&text).and_then(|model| model.compile());
        let compiled = compiled.map_err(|error| in_words(error, outline.network(), &names, &text))?;
        let compiled = compiled.with_stations(blocking::stations(outline.nodes(), &names));
        Ok(Self { outline, names, shares: shares.to_vec(), text, compiled })
    }

    /// The process model as JSON, which `eventhorizon process` reads.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The process model.
    pub fn compiled(&self) -> &CompiledProcess {
        &self.compiled
    }

    /// The description.
    pub fn network(&self) -> &Network {
        self.outline.network()
    }

    /// The names of the measures that studies report, without shares; quantiles only
    /// [with details](Self::with_details).
    pub fn measures(&self) -> Vec<String> {
        self.outline.measures()
    }

    /// An error of the process model with the nodes and fields of the network that it is about.
    #[must_use]
    pub fn explained(&self, error: ProcessError) -> ProcessError {
        in_words(error, self.network(), &self.names, &self.text)
    }

    /// The study of the process model for a study of the network. The precision of
    /// [`Study::stopping`](facility::Study::stopping) is required of the averages and means of the
    /// process model.
    ///
    /// # Errors
    /// [`ProcessError::Network`], if only one of both has details.
    pub fn study(&self, study: &facility::Study) -> Result<Study, ProcessError> {
        if study.details != self.outline.details() {
            let remedy = "give `details` to the study and `with_details` to the network, or none of both";
            let what = "`details` of a network that runs as a process model";
            return Err(self.setting(what, &study.details.to_string(), remedy));
        }
        let plan = Study::new(study.replications, study.until, study.warm_up).seed(study.seed);
        Ok(plan.stopping(study.stopping))
    }

    fn setting(&self, what: &'static str, value: &str, remedy: &str) -> ProcessError {
        let (node, value, remedy) = (self.network().name.clone(), value.to_owned(), remedy.to_owned());
        FacilityError::Setting { node, what, value, remedy }.into()
    }

    /// The report of the network, from the results of the study.
    ///
    /// # Errors
    /// [`ProcessError::Network`].
    pub fn report(&self, study: &facility::Study, results: &StudyResults) -> Result<Report, ProcessError> {
        let observations = &results.observations[0];
        let columns = observations.columns().iter().map(|column| {
            let values = (0..observations.replications()).map(|replication| column.values.get(replication));
            (&*column.name, values.collect::<Vec<_>>())
        });
        let columns: Vec<_> = columns.collect();
        let columns = columns.iter().map(|(name, values)| (*name, &**values)).collect();
        let values = Values::new(&self.outline, &self.names, study, columns)?;
        let (runs, shares) = (results::runs(results), &self.shares);
        let unknown = Cell::new(false);
        let below = |node: usize, class: Option<usize>, which: usize| {
            let names = self.names.tallies(self.outline.nodes(), node, class, ["sojourn", "wait"][which]);
            results.below(0, names.iter().map(String::as_str)).unwrap_or_else(|| {
                unknown.set(true);
                Vec::new()
            })
        };
        let part = |column: &_, replication| values.part(column, replication);
        let mut report = self.outline.report(study, shares, runs, part, below, &values.times())?;
        report.unsaved.clone_from(&results.unsaved);
        if unknown.get() {
            report.warnings.push(
                "quantiles are not reported: the resumed study has more replications than this one"
                    .to_owned(),
            );
        }
        Ok(report)
    }
}
