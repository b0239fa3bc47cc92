//! Models whose types are known from their WGSL alone.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::gpu::{Source, Word};
use crate::pdes::{self, Capacity, Payload, Totals};
use crate::replication;
use crate::statistics::{AnalysisError, Observations};
use crate::time::{Resolution, Ticks};

use super::formula::{Formula, Function, Pooled};

/// A measure of the file.
pub(super) struct Measure {
    pub(super) name: String,
    pub(super) formula: Formula,
    pub(super) place: String,
}

/// The measures of a description: formulas over result columns.
pub(super) struct Measures {
    pub(super) formulas: Vec<Measure>,
    pub(super) units: Resolution,
    /// How many processes there are.
    pub(super) processes: f64,
}

/// Names in formulas: the ticks in a unit of time, and the number of processes.
pub(super) const UNIT: &str = "unit";
pub(super) const COUNT: &str = "processes";

impl Measures {
    pub(super) fn names(&self) -> Vec<&str> {
        self.formulas.iter().map(|measure| measure.name.as_str()).collect()
    }

    /// A measure as a formula over means, if it has quotients.
    fn pooled(&self, measure: &Measure) -> Option<Pooled> {
        measure.formula.pooled(&measure.name, &|name| self.constant(name).is_some())
    }

    /// Adds a measure whose parts are already columns.
    fn pool(
        self: &Arc<Self>,
        name: &str,
        pooled: Pooled,
        observations: &mut Observations,
    ) -> Result<(), AnalysisError> {
        let Pooled { parts, whole } = pooled;
        let names: Vec<String> = parts.into_iter().map(|(name, _)| name).collect();
        let (measures, known) = (Arc::clone(self), names.clone());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        observations.pool(name, &names, move |means| {
            whole.value(&|_, name| {
                let place = known.iter().position(|known| known == name);
                place.map_or_else(|| measures.constant(name).unwrap_or(f64::NAN), |place| means[place])
            })
        })?;
        observations.hide(&names)
    }

    /// Constants that a formula may name.
    fn constant(&self, name: &str) -> Option<f64> {
        match name {
            UNIT => Some(self.units.ticks_per_unit().into()),
            COUNT => Some(self.processes),
            _ => None,
        }
    }
}

/// A model of logical processes.
#[derive(Clone)]
pub(super) struct WgslModel<P> {
    pub(super) name: String,
    pub(super) source: Arc<Source>,
    pub(super) lps: u32,
    pub(super) lookahead: Ticks,
    pub(super) params: Vec<u8>,
    pub(super) data: Arc<[u32]>,
    pub(super) memory_rows: u32,
    pub(super) capacity: Capacity,
    pub(super) measures: Arc<Measures>,
    pub(super) payload: PhantomData<P>,
}

impl<P: Payload> pdes::Model for WgslModel<P> {
    type State = Word;
    type Params = Word;
    type Payload = P;
    type Output = Word;

    fn name(&self) -> &str {
        &self.name
    }

    fn source(&self) -> Source {
        Source::clone(&self.source)
    }

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    fn params(&self) -> Word {
        Word::default()
    }

    fn params_bytes(&self) -> Vec<u8> {
        self.params.clone()
    }

    fn data(&self) -> &[u32] {
        &self.data
    }

    fn memory_rows(&self) -> u32 {
        self.memory_rows
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let halves = |name: &str| match totals.tally(name) {
            Some(tally) => Some([tally.sum() as f64, tally.count() as f64]),
            None => {
                totals.time_average(name).and_then(|mean| Some([mean.area()? as f64, mean.span() as f64]))
            }
        };
        let of = |function: Function, name: &str| {
            let total = || totals.column(name).ok();
            match function {
                Function::Sum => self.measures.constant(name).or_else(|| Some(total()?.sum().ok()?.to_f64())),
                Function::Min => total().map(|total| total.minimum().to_f64()),
                Function::Max => total().map(|total| total.maximum().to_f64()),
                Function::Over => halves(name).map(|[over, _]| over),
                Function::Under => halves(name).map(|[_, under]| under),
                Function::Mean => halves(name).map(|[over, under]| over / under),
            }
            .unwrap_or(f64::NAN)
        };
        let reported =
            self.measures.formulas.iter().flat_map(|measure| match self.measures.pooled(measure) {
                None => vec![(measure.name.clone(), measure.formula.clone())],
                Some(pooled) => pooled.parts,
            });
        reported.map(|(name, formula)| (Cow::Owned(name), formula.value(&of))).collect()
    }

    fn derive(&self, observations: &mut Observations) -> Result<(), AnalysisError> {
        for measure in &self.measures.formulas {
            if let Some(pooled) = self.measures.pooled(measure) {
                self.measures.pool(&measure.name, pooled, observations)?;
            }
        }
        Ok(())
    }
}

/// A model of replications.
#[derive(Clone)]
pub(super) struct WgslReplication {
    pub(super) source: Arc<Source>,
    pub(super) params: Vec<u8>,
    pub(super) measures: Arc<Measures>,
}

impl replication::Model for WgslReplication {
    type Params = Word;
    type Output = Word;

    fn source(&self) -> Source {
        Source::clone(&self.source)
    }

    fn params_bytes(&self, _: &Word) -> Vec<u8> {
        self.params.clone()
    }

    fn derive(&self, _: &Word, observations: &mut Observations) -> Result<(), AnalysisError> {
        let columns: Vec<String> = observations.columns().iter().map(|column| column.name.clone()).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        for measure in &self.measures.formulas {
            let mut derive = |name: &str, formula: &Formula| {
                observations.derive(name, &columns, |row| {
                    let value =
                        |name: &str| columns.iter().position(|known| *known == name).map(|place| row[place]);
                    formula.value(&|function, name| {
                        let part = |part: &str| value(&format!("{name}.{part}"));
                        let over = || part("area").or_else(|| part("sum"));
                        let under = || match part("area") {
                            Some(_) => Some(part("changed")? - part("since")?),
                            None => part("count"),
                        };
                        let found = match function {
                            Function::Over => over(),
                            Function::Under => under(),
                            _ => self.measures.constant(name).or_else(|| value(name)),
                        };
                        found.unwrap_or(f64::NAN)
                    })
                })
            };
            match self.measures.pooled(measure) {
                None => derive(&measure.name, &measure.formula)?,
                Some(pooled) => {
                    pooled.parts.iter().try_for_each(|(name, formula)| derive(name, formula))?;
                    self.measures.pool(&measure.name, pooled, observations)?;
                }
            }
        }
        match self.measures.formulas.is_empty() {
            true => Ok(()),
            // Measures replace the raw columns.
            false => observations.hide(&columns),
        }
    }
}
