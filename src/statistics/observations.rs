//! Results of the replications of one parameter point: named columns, one value per replication.

use super::AnalysisError;
use super::error::Result;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Replications for which one core needs less time than waking the others takes: an estimate.
pub(crate) const PARALLEL: usize = 1 << 13;

/// Squares of larger magnitudes leave the range of f64, so such values are not observations.
const LARGEST: f64 = 1e150;

/// One result column: the value of one field of `struct Output`, by replication.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The field's name.
    pub name: String,
    /// One value per replication, the failed ones included.
    pub values: Values,
}

/// The values of a column in the type that the model uses.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// `u32`
    U32(Vec<u32>),
    /// `i32`
    I32(Vec<i32>),
    /// `vec2<u32>`, the low and the high word of a 64-bit count.
    U64(Vec<u64>),
    /// `vec4<u32>`, a 128-bit count, low word first.
    U128(Vec<u128>),
    /// `f32`
    F32(Vec<f32>),
    /// A quantity that the host derived from others ([`Observations::derive`]).
    F64(Vec<f64>),
}

impl Values {
    /// Number of replications.
    pub fn len(&self) -> usize {
        match self {
            Values::U32(v) => v.len(),
            Values::I32(v) => v.len(),
            Values::U64(v) => v.len(),
            Values::U128(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Whether there are no replications.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of one replication, rounded to f64 (counts beyond 2^53 lose their last bits).
    ///
    /// # Panics
    /// If there is no such replication.
    #[allow(clippy::cast_precision_loss, reason = "said above")]
    pub fn get(&self, replication: usize) -> f64 {
        match self {
            Values::U32(v) => v[replication].into(),
            Values::I32(v) => v[replication].into(),
            Values::U64(v) => v[replication] as f64,
            Values::U128(v) => v[replication] as f64,
            Values::F32(v) => v[replication].into(),
            Values::F64(v) => v[replication],
        }
    }

    /// The exact value of one replication, if the column has integers of at most 64 bits.
    pub(super) fn integer(&self, replication: usize) -> Option<i128> {
        match self {
            Values::U32(v) => Some(v[replication].into()),
            Values::I32(v) => Some(v[replication].into()),
            Values::U64(v) => Some(v[replication].into()),
            Values::U128(_) | Values::F32(_) | Values::F64(_) => None,
        }
    }

    /// Whether sums over the column are exact integer arithmetic: counts of 128 bits are summed in
    /// `f64`.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Values::U32(_) | Values::I32(_) | Values::U64(_))
    }

    /// Whether no value is NaN, infinite or beyond [`LARGEST`].
    fn all_usable(&self) -> bool {
        match self {
            Values::F32(v) => all(v, |&value| f64::from(value).abs() <= LARGEST),
            Values::F64(v) => all(v, |value| value.abs() <= LARGEST),
            Values::U32(_) | Values::I32(_) | Values::U64(_) | Values::U128(_) => true,
        }
    }

    fn append(&mut self, more: Values) -> bool {
        match (self, more) {
            (Values::U32(a), Values::U32(b)) => a.extend(b),
            (Values::I32(a), Values::I32(b)) => a.extend(b),
            (Values::U64(a), Values::U64(b)) => a.extend(b),
            (Values::U128(a), Values::U128(b)) => a.extend(b),
            (Values::F32(a), Values::F32(b)) => a.extend(b),
            (Values::F64(a), Values::F64(b)) => a.extend(b),
            // Sums of `pdes` are integers only if all of them are below 2^64.
            (Values::F64(a), more @ Values::U64(_)) => a.extend(more.reals()),
            (mine @ Values::U64(_), Values::F64(b)) => {
                *mine = Values::F64(mine.reals().chain(b).collect());
            }
            _ => return false,
        }
        true
    }

    /// Whether values of another column may be appended to these.
    fn takes(&self, more: &Values) -> bool {
        let numbers = |values: &Values| matches!(values, Values::U64(_) | Values::F64(_));
        self.type_name() == more.type_name() || numbers(self) && numbers(more)
    }

    fn reals(&self) -> impl Iterator<Item = f64> {
        (0..self.len()).map(|replication| self.get(replication))
    }

    /// Zeros of the same type.
    fn zeros(&self, replications: usize) -> Self {
        match self {
            Values::U32(_) => Values::U32(vec![0; replications]),
            Values::I32(_) => Values::I32(vec![0; replications]),
            Values::U64(_) => Values::U64(vec![0; replications]),
            Values::U128(_) => Values::U128(vec![0; replications]),
            Values::F32(_) => Values::F32(vec![0.0; replications]),
            Values::F64(_) => Values::F64(vec![0.0; replications]),
        }
    }
}

/// A replication without a result.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Failure {
    /// Index of the replication within its point, from 0.
    pub replication: u64,
    /// Why it failed.
    pub cause: FailureCause,
}

/// Why a replication has no result.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureCause {
    /// The model called `fail` with this code.
    Code(u32),
    /// It did not finish within the most steps of a replication.
    Endless,
    /// It made more draws than its stream or a substream has, or named a purpose beyond 32,767
    /// ([`Stream::purpose`](crate::random::Stream::purpose)).
    Exhausted,
    /// The run of a simulation model ended with a fault.
    Fault {
        /// The text of `pdes::FaultKind`.
        kind: String,
        /// The logical process of the fault.
        lp: u32,
    },
    /// The value of this column is NaN, infinite, or beyond 1e150 in magnitude.
    NotANumber(String),
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureCause::Code(code) => write!(f, "code {code}"),
            FailureCause::Fault { kind, lp } => write!(f, "LP {lp}: {kind}"),
            FailureCause::Endless => f.write_str("it did not finish within the most steps of a replication"),
            FailureCause::Exhausted => {
                f.write_str("it made more draws than its stream has, or named a purpose beyond 32767")
            }
            FailureCause::NotANumber(column) => write!(f, "`{column}` is not a usable number"),
        }
    }
}

/// How replications are drawn. This defines what one independent observation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairing {
    /// Each replication has its own random numbers and is one observation.
    #[default]
    Independent,
    /// Replications 2k and 2k + 1 share their random numbers, the odd one with every draw
    /// complemented. The two depend on each other, so the observation is the mean of the pair.
    Antithetic,
}

/// The replications of one parameter point: columns, failures, and how they were drawn.
#[derive(Debug, Clone)]
pub struct Observations {
    replications: usize,
    columns: Vec<Column>,
    /// By replication.
    failures: BTreeMap<u64, FailureCause>,
    pairing: Pairing,
    /// Columns that reports omit.
    hidden: BTreeSet<String>,
    /// By name, columns with an estimate that is a function of the means of others.
    pools: BTreeMap<String, Pool>,
}

type OfMeans = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A function of the means of columns.
#[derive(Clone)]
pub(super) struct Pool {
    pub(super) from: Vec<String>,
    pub(super) of_means: Arc<OfMeans>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Observations {
    /// Takes columns of equal length. `failures` lists the replications without valid values. A
    /// replication with a NaN or infinite value in any column is added to them, so that every
    /// column has the same observations.
    pub fn new(
        replications: usize,
        columns: Vec<Column>,
        failures: impl IntoIterator<Item = Failure>,
        pairing: Pairing,
    ) -> Result<Self> {
        if pairing == Pairing::Antithetic && replications % 2 == 1 {
            return Err(AnalysisError::Odd { replications: replications as u64 });
        }
        let mut observations = Self {
            replications,
            columns: Vec::new(),
            failures: BTreeMap::new(),
            pairing,
            hidden: BTreeSet::new(),
            pools: BTreeMap::new(),
        };
        for failure in failures {
            if failure.replication >= replications as u64 {
                return Err(AnalysisError::FailureIndex { replication: failure.replication, replications });
            }
            observations.failures.entry(failure.replication).or_insert(failure.cause);
        }
        for column in columns {
            observations.push(column)?;
        }
        Ok(observations)
    }

    pub(crate) fn push(&mut self, column: Column) -> Result<()> {
        self.check(&column)?;
        if !column.values.all_usable() {
            for replication in 0..self.replications {
                let value = column.values.get(replication);
                if value.is_nan() || value.abs() > LARGEST {
                    let cause = || FailureCause::NotANumber(column.name.clone());
                    self.failures.entry(replication as u64).or_insert_with(cause);
                }
            }
        }
        self.columns.push(column);
        Ok(())
    }

    /// Checks that a column may be added.
    fn check(&self, column: &Column) -> Result<()> {
        if self.columns.iter().any(|c| c.name == column.name) {
            return Err(AnalysisError::RepeatedColumn { name: column.name.clone() });
        }
        if column.values.len() != self.replications {
            let (name, got) = (column.name.clone(), column.values.len());
            return Err(AnalysisError::ColumnLength { name, got, expected: self.replications });
        }
        Ok(())
    }

    /// Adds a column computed from others, replication by replication: a ratio, or a change of
    /// unit. `value` gets the values of the columns `from`, in that order, and is not called for
    /// failed replications.
    ///
    /// Sums over it use f64 arithmetic in the order of the replications, so they are the same on
    /// every device if the source columns are.
    pub fn derive(
        &mut self,
        name: &str,
        from: &[&str],
        value: impl Fn(&[f64]) -> f64 + Send + Sync,
    ) -> Result<()> {
        let values = self.each(from, 0.0, value)?;
        self.push(Column { name: name.into(), values })
    }

    /// Adds a column with an estimate that is a function of the means of the columns `from`: for a
    /// ratio of two, the ratio of their sums over all replications. The average of each
    /// replication's own ratio is biased for short replications.
    ///
    /// Its interval comes from the jackknife, which leaves out each replication, or antithetic
    /// pair, once. The column itself has the function of each replication's own values, for
    /// quantiles and plots. If that is not a number (a mean of nothing), the replication counts
    /// only in the estimate.
    ///
    /// # Errors
    /// [`AnalysisError::NoColumn`] and [`AnalysisError::RepeatedColumn`].
    pub fn pool(
        &mut self,
        name: &str,
        from: &[&str],
        of_means: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<()> {
        let values = self.each(from, f64::NAN, &of_means)?;
        self.pool_values(name, from, values, of_means)
    }

    /// The same, with values of replications that have a function of their own.
    pub(crate) fn pool_with(
        &mut self,
        name: &str,
        from: &[&str],
        of_one: impl Fn(&[f64]) -> f64 + Send + Sync,
        of_means: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<()> {
        let values = self.each(from, f64::NAN, &of_one)?;
        self.pool_values(name, from, values, of_means)
    }

    fn pool_values(
        &mut self,
        name: &str,
        from: &[&str],
        values: Values,
        of_means: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<()> {
        let column = Column { name: name.into(), values };
        self.check(&column)?;
        self.columns.push(column);
        let from = from.iter().map(|&name| name.to_owned()).collect();
        self.pools.insert(name.to_owned(), Pool { from, of_means: Arc::new(of_means) });
        Ok(())
    }

    /// Adds a column with an estimate that is a function of the estimates of others, which may be
    /// functions of means themselves ([`pool`](Self::pool)): for an objective of several measures.
    ///
    /// # Errors
    /// As [`pool`](Self::pool).
    pub fn combine(
        &mut self,
        name: &str,
        from: &[&str],
        of_estimates: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<()> {
        if from.is_empty() {
            return self.derive(name, &[], of_estimates);
        }
        let mut below: Vec<String> = Vec::new();
        let mut parts: Vec<(Option<Arc<OfMeans>>, std::ops::Range<usize>)> = Vec::new();
        for &name in from {
            let first = below.len();
            match self.pools.get(name) {
                Some(pool) => below.extend(pool.from.iter().cloned()),
                None => below.push(name.to_owned()),
            }
            parts.push((self.pools.get(name).map(|pool| Arc::clone(&pool.of_means)), first..below.len()));
        }
        let below: Vec<&str> = below.iter().map(String::as_str).collect();
        self.pool(name, &below, move |means| {
            let estimates = parts.iter().map(|(of, range)| match of {
                Some(of) => of(&means[range.clone()]),
                None => means[range.start],
            });
            of_estimates(&estimates.collect::<Vec<_>>())
        })
    }

    /// Marks replications as failed.
    pub(super) fn fail(&mut self, failures: impl Iterator<Item = Failure>) {
        for Failure { replication, cause } in failures {
            self.failures.entry(replication).or_insert(cause);
        }
    }

    /// The function of means of a column, if it has one.
    pub(super) fn pooled(&self, name: &str) -> Option<&Pool> {
        self.pools.get(name)
    }

    /// A value of each replication, computed from those of columns; `failed` for failed
    /// replications.
    fn each(
        &self,
        from: &[&str],
        failed: f64,
        value: impl Fn(&[f64]) -> f64 + Send + Sync,
    ) -> Result<Values> {
        let sources = from.iter().map(|name| self.column(name)).collect::<Result<Vec<_>>>()?;
        let row = || vec![0.0; sources.len()];
        Ok(Values::F64(each(self.replications, row, |row, replication| {
            if self.failures.contains_key(&(replication as u64)) {
                return failed;
            }
            for (slot, source) in row.iter_mut().zip(&sources) {
                *slot = source.values.get(replication);
            }
            value(row)
        })))
    }

    /// Omits columns from reports, for example those in ticks if others have the same in the unit
    /// of the model. They stay available for everything else; [`select`](Self::select) shows them
    /// again.
    ///
    /// # Errors
    /// [`AnalysisError::NoColumn`].
    pub fn hide(&mut self, names: &[&str]) -> Result<()> {
        for name in names {
            self.column(name)?;
            self.hidden.insert((*name).to_owned());
        }
        Ok(())
    }

    /// The columns in reports: all except those that the model [hides](Self::hide).
    pub fn shown(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !self.hidden.contains(&column.name))
    }

    /// The observations with only these columns, in this order: for a shorter report.
    pub fn select(&self, names: &[&str]) -> Result<Self> {
        let pools = names.iter().filter_map(|&name| Some((name.to_owned(), self.pools.get(name)?.clone())));
        let pools: BTreeMap<_, _> = pools.collect();
        // Columns on which these estimates depend are included, but hidden.
        let all: BTreeSet<&str> =
            pools.values().flat_map(|pool| pool.from.iter().map(String::as_str)).collect();
        let hidden: Vec<&str> = all.into_iter().filter(|name| !names.contains(name)).collect();
        let (mut columns, mut pooled) = (Vec::new(), Vec::new());
        for name in names.iter().chain(&hidden) {
            let column = self.column(name)?.clone();
            if pools.contains_key(*name) { pooled.push(column) } else { columns.push(column) }
        }
        let mut selected = Self::new(self.replications, columns, self.failures(), self.pairing)?;
        for column in pooled {
            selected.check(&column)?;
            selected.columns.push(column);
        }
        let order = |column: &Column| names.iter().position(|name| *name == column.name);
        selected.columns.sort_by_key(|column| order(column).unwrap_or(usize::MAX));
        selected.hide(&hidden)?;
        selected.pools = pools;
        Ok(selected)
    }

    /// Appends the replications that follow these: replication 0 of `more` becomes number
    /// [`replications`](Self::replications) of this point.
    ///
    /// Both have the same columns, in the same order. Integers of 64 bits may be mixed with `f64`:
    /// then the whole column is `f64`. If all replications of one of the two failed, its columns
    /// are taken to be the other's.
    ///
    /// # Errors
    /// [`AnalysisError::Mismatch`].
    pub fn append(&mut self, mut more: Observations) -> Result<()> {
        let alike = |mine: &[Column], more: &[Column]| {
            let mut both = mine.iter().zip(more);
            mine.len() == more.len() && both.all(|(a, b)| a.name == b.name && a.values.takes(&b.values))
        };
        if !alike(&self.columns, &more.columns) {
            if more.all_failed() {
                more.shape_as(self);
            } else if self.all_failed() {
                self.shape_as(&more);
            }
        }
        if !alike(&self.columns, &more.columns) {
            let signature = |o: &Observations| {
                let types = o.columns.iter().map(|c| format!("{} {}", c.name, c.values.type_name()));
                types.collect::<Vec<_>>().join(", ")
            };
            let (left, right) = (signature(self), signature(&more));
            return Err(AnalysisError::Mismatch { what: "columns", left, right });
        }
        same_pairing(self, &more)?;
        for (column, more) in self.columns.iter_mut().zip(more.columns) {
            let same_type = column.values.append(more.values);
            debug_assert!(same_type, "types were checked above");
        }
        let first = self.replications as u64;
        self.failures.extend(more.failures.into_iter().map(|(index, cause)| (first + index, cause)));
        self.replications += more.replications;
        Ok(())
    }

    /// Whether no replication has a result.
    pub(crate) fn all_failed(&self) -> bool {
        self.failures.len() == self.replications
    }

    /// Takes the columns of `others`, all zeros, if all replications failed.
    pub(crate) fn shape_as(&mut self, others: &Self) {
        let column = |column: &Column| Column {
            name: column.name.clone(),
            values: column.values.zeros(self.replications),
        };
        self.columns = others.columns.iter().map(column).collect();
        self.hidden = others.hidden.clone();
        self.pools = others.pools.clone();
    }

    /// Number of replications, the failed ones included.
    pub fn replications(&self) -> usize {
        self.replications
    }

    /// How the replications were drawn.
    pub(crate) fn pairing(&self) -> Pairing {
        self.pairing
    }

    /// The columns, in the order of the struct's fields, derived ones last.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|c| c.name == name).ok_or_else(|| AnalysisError::NoColumn {
            name: name.into(),
            known: self.shown().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The failed replications, by index. They count in no mean and no quantile.
    pub fn failures(&self) -> impl ExactSizeIterator<Item = Failure> + '_ {
        self.failures.iter().map(|(&replication, cause)| Failure { replication, cause: cause.clone() })
    }

    /// The valid replications, in order: those that did not fail, and antithetic pairs without any
    /// failure (half a pair would have the weight of a whole one, with twice its variance).
    pub(super) fn used(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let failed = |replication: usize| self.failures.contains_key(&(replication as u64));
        (0..self.replications).filter(move |&replication| match self.pairing {
            _ if self.failures.is_empty() => true,
            Pairing::Independent => !failed(replication),
            Pairing::Antithetic => !failed(replication) && !failed(replication ^ 1),
        })
    }
}

impl Values {
    fn type_name(&self) -> &'static str {
        match self {
            Values::U32(_) => "u32",
            Values::I32(_) => "i32",
            Values::U64(_) => "u64",
            Values::U128(_) => "u128",
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
        }
    }
}

pub(super) fn same_pairing(left: &Observations, right: &Observations) -> Result<()> {
    if left.pairing == right.pairing {
        return Ok(());
    }
    Err(AnalysisError::Mismatch {
        what: "pairing",
        left: format!("{:?}", left.pairing),
        right: format!("{:?}", right.pairing),
    })
}

/// Whether all values are `good`, tested on all cores if there are many.
fn all<T: Sync>(values: &[T], good: impl Fn(&T) -> bool + Send + Sync) -> bool {
    match values.len() <= PARALLEL {
        true => values.iter().all(good),
        false => values.par_chunks(PARALLEL).all(|some| some.iter().all(&good)),
    }
}

/// `value` of each replication, on all cores if there are many; `scratch` creates the working
/// memory of a core.
pub(crate) fn each<S, T: Send>(
    replications: usize,
    scratch: impl Fn() -> S + Send + Sync,
    value: impl Fn(&mut S, usize) -> T + Send + Sync,
) -> Vec<T> {
    if replications <= PARALLEL {
        let mut scratch = scratch();
        return (0..replications).map(|replication| value(&mut scratch, replication)).collect();
    }
    (0..replications).into_par_iter().with_min_len(PARALLEL / 4).map_init(scratch, value).collect()
}
