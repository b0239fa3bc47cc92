//! A search: what is searched, and how.

use std::ops::ControlFlow;

use crate::Backend;
use crate::facility::NetworkDescription;
use crate::process::ProcessModel;
use crate::statistics::{AnalysisError, Compass};

use super::error::OptimiseError;
use super::expression::Expression;
use super::range::NumberRange;
use super::results::{OBJECTIVE, Optimum};
use super::system::{System, Task};

/// What to search.
#[derive(Debug, Clone)]
pub struct Search {
    objective: Expression,
    is_maximised: bool,
    bounds: Vec<Expression>,
    ranges: Vec<NumberRange>,
    budget: u64,
    seed: u64,
    level: f64,
    /// The end of each replication, and that of its warm-up.
    times: [f64; 2],
}

/// Replications of all points together, by default.
const BUDGET: u64 = 2000;

impl Search {
    /// Minimises an expression of measures and paths in replications with an end and a warm-up.
    /// Default: a budget of 2,000 replications, the seed 1, the level 0.95.
    pub fn new(objective: Expression, times: [f64; 2]) -> Self {
        Self {
            objective,
            is_maximised: false,
            bounds: Vec::new(),
            ranges: Vec::new(),
            budget: BUDGET,
            seed: 1,
            level: 0.95,
            times,
        }
    }

    /// Maximises the objective instead.
    #[must_use]
    pub fn maximised(mut self) -> Self {
        self.is_maximised = true;
        self
    }

    /// Searches this range, with those given before.
    #[must_use]
    pub fn range(mut self, range: NumberRange) -> Self {
        self.ranges.push(range);
        self
    }

    /// Keeps an expression at most 0 (see [`bound`](super::bound)), with those given before.
    #[must_use]
    pub fn subject_to(mut self, bound: Expression) -> Self {
        self.bounds.push(bound);
        self
    }

    /// Spends at most this number of replications, of all points together.
    #[must_use]
    pub fn budget(mut self, budget: u64) -> Self {
        self.budget = budget;
        self
    }

    /// Names the random streams, of the replications and of the search.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The level of intervals, and that at which neighbours have to be worse for an early end.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// Searches a network. `watch` gets the replications made so far; where it breaks, the search
    /// ends with what it has.
    ///
    /// # Errors
    /// [`OptimiseError`].
    pub fn network(
        &self,
        description: NetworkDescription,
        backend: Backend<'_>,
        watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Optimum, OptimiseError> {
        self.check()?;
        self.run(System::network(self.task(), description)?, backend, watch)
    }

    /// The same for the parameters of a process model.
    ///
    /// # Errors
    /// [`OptimiseError`].
    pub fn process(
        &self,
        model: ProcessModel,
        backend: Backend<'_>,
        watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Optimum, OptimiseError> {
        self.check()?;
        self.run(System::process(self.task(), model)?, backend, watch)
    }

    fn task(&self) -> Task<'_> {
        Task { ranges: &self.ranges, times: self.times, seed: self.seed, level: self.level }
    }

    fn check(&self) -> Result<(), OptimiseError> {
        if self.ranges.is_empty() {
            return Err(OptimiseError::invalid(
                "no number is searched: give one a range, as in station.desk.servers=1..20",
            ));
        }
        for (number, range) in self.ranges.iter().enumerate() {
            if self.ranges[..number].iter().any(|other| other.path == range.path) {
                return Err(OptimiseError::invalid(format!("{} has two ranges: remove one", range.path)));
            }
        }
        Ok(())
    }

    fn run(
        &self,
        mut system: System,
        backend: Backend<'_>,
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Optimum, OptimiseError> {
        let objective = if self.is_maximised { self.objective.negative() } else { self.objective.clone() };
        let (objective, bounds) = system.expanded(&objective, &self.bounds)?;
        let names: Vec<String> = (1..=bounds.len()).map(|number| format!("bound {number}")).collect();
        let mut columns = vec![(OBJECTIVE, &objective)];
        columns.extend(names.iter().map(String::as_str).zip(&bounds));
        let compass = Compass {
            constraints: names.clone(),
            level: self.level,
            seed: self.seed,
            ..Compass::new(OBJECTIVE, self.budget)
        };
        let start: Option<Vec<i64>> =
            self.ranges.iter().map(|range| range.place_of(system.written(&range.path)?)).collect();
        let boxed: Vec<_> = self.ranges.iter().map(NumberRange::places).collect();
        let mut made = 0;
        let found = compass.run(&boxed, start.as_deref(), |points, range| {
            if watch(made).is_break() {
                return if made == 0 { Err(OptimiseError::Stopped) } else { Ok(Vec::new()) };
            }
            made += points.len() as u64 * u64::from(range.end - range.start);
            system.observe(&self.ranges, points, range, &columns, backend)
        })?;
        let loads = found.visited.iter().map(|visited| system.load(&visited.at)).collect();
        let optimum = Optimum {
            ranges: self.ranges.clone(),
            columns: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            sign: if self.is_maximised { -1.0 } else { 1.0 },
            level: self.level,
            seed: self.seed,
            found,
            loads,
        };
        let has_value = |point: usize| {
            let estimate = optimum.estimate(point, OBJECTIVE)?;
            Ok::<_, AnalysisError>(optimum.load(point).is_some() || estimate[0].is_some_and(f64::is_finite))
        };
        if !has_value(optimum.best())? {
            return Err(OptimiseError::invalid(
                "the objective has no value at the visited points: a measure has no observations, or a divisor is 0",
            ));
        }
        Ok(optimum)
    }
}
