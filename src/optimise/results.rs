//! What a search found.

use serde_json::{Map, Value as Json, json};

use crate::statistics::{AnalysisError, Found, Value};

use super::range::NumberRange;

/// The name of the column that the search minimises.
pub(super) const OBJECTIVE: &str = "objective";

/// The result of a search: the visited points, and the best of them.
#[derive(Debug)]
pub struct Optimum {
    pub(super) ranges: Vec<NumberRange>,
    pub(super) columns: Vec<String>,
    /// Minus one where the objective was maximised.
    pub(super) sign: f64,
    pub(super) level: f64,
    pub(super) seed: u64,
    pub(super) found: Found,
    /// By point: the load of one that was not simulated, because its lines grow without end.
    pub(super) loads: Vec<Option<f64>>,
}

impl Optimum {
    /// The number of the best point among the visited ones.
    pub fn best(&self) -> usize {
        self.found.best
    }

    /// The number of visited points.
    pub fn visited(&self) -> usize {
        self.found.visited.len()
    }

    /// The numbers at a point, in the order of the ranges.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn values(&self, point: usize) -> Vec<f64> {
        self.levels(point).map(|(_, level)| level.as_f64()).collect()
    }

    fn levels(&self, point: usize) -> impl Iterator<Item = (&str, Value)> {
        let places = &self.found.visited[point].at;
        self.ranges.iter().zip(places).map(|(range, place)| (&*range.path, range.value(*place)))
    }

    /// The paths and numbers at a point, as text.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn describe(&self, point: usize) -> String {
        let levels = self.levels(point).map(|(path, level)| format!("{path}={level}"));
        levels.collect::<Vec<_>>().join(" ")
    }

    /// The columns: the objective, and `bound 1` and so on, which are at most 0 where they hold.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The mean of a column at a point, and the half width of its interval.
    ///
    /// # Errors
    /// [`AnalysisError::NoColumn`].
    ///
    /// # Panics
    /// If there is no such point.
    pub fn estimate(&self, point: usize, column: &str) -> Result<[Option<f64>; 2], AnalysisError> {
        if self.load(point).is_some() {
            return Ok([None; 2]);
        }
        let summary = self.found.visited[point].observations.summary(column, self.level)?;
        let sign = if column == OBJECTIVE { self.sign } else { 1.0 };
        Ok([summary.mean.map(|mean| sign * mean), summary.interval.map(|interval| interval.half_width)])
    }

    /// The load of a point without a steady state, which was not simulated.
    pub fn load(&self, point: usize) -> Option<f64> {
        self.loads[point]
    }

    /// The replications of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn replications(&self, point: usize) -> usize {
        self.found.visited[point].observations.replications()
    }

    /// The replications of all points.
    pub fn spent(&self) -> u64 {
        self.found.spent
    }

    /// Whether the best point keeps all bounds, by its estimates.
    pub fn is_feasible(&self) -> bool {
        self.found.is_feasible && self.load(self.best()).is_none()
    }

    /// Whether all neighbours of the best point are visited.
    pub fn is_local_optimum(&self) -> bool {
        self.found.is_local && self.load(self.best()).is_none()
    }

    /// Whether the neighbours are worse and the bounds are kept, at the level.
    pub fn is_clear(&self) -> bool {
        self.found.is_clear && self.load(self.best()).is_none()
    }

    /// A table: for each visited point its numbers, `replications`, and each column with its half
    /// width.
    ///
    /// # Errors
    /// [`AnalysisError`].
    pub fn rows(&self) -> Result<Vec<Map<String, Json>>, AnalysisError> {
        let row = |point: usize| {
            let mut row = Map::new();
            for (path, level) in self.levels(point) {
                let level = level
                    .whole()
                    .and_then(|level| i64::try_from(level).ok())
                    .map_or_else(|| json!(level.as_f64()), |whole| json!(whole));
                row.insert(path.to_owned(), level);
            }
            row.insert("replications".to_owned(), json!(self.replications(point)));
            for name in &self.columns {
                let [mean, half] = self.estimate(point, name)?;
                row.insert(name.clone(), json!(mean));
                row.insert(format!("{name} half_width"), json!(half));
            }
            Ok(row)
        };
        (0..self.visited()).map(row).collect()
    }

    /// The result as JSON.
    ///
    /// # Errors
    /// [`AnalysisError`].
    pub fn to_json(&self) -> Result<Json, AnalysisError> {
        let rows = self.rows()?;
        Ok(json!({
            "seed": self.seed,
            "level": self.level,
            "best": rows[self.best()],
            "is_feasible": self.is_feasible(),
            "is_local_optimum": self.is_local_optimum(),
            "is_clear": self.is_clear(),
            "replications": self.spent(),
            "visited": rows,
        }))
    }
}
