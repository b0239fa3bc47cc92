//! Search for the best point of a box of integers, by simulation.

use std::ops::{Range, RangeInclusive};

use super::error::Result;
use super::{AnalysisError, Observations, compare};
use crate::random::Stream;

/// Minimises the mean of a column over all points of a box of integers, subject to constraints on
/// the means of other columns: COMPASS (Hong and Nelson, Discrete optimization via simulation using
/// COMPASS, Operations Research 54, 2006).
///
/// Each round samples points of the *most promising area*, those at least as close to the best
/// point so far as to any other visited point, and adds replications to all visited points. When
/// all neighbours of the best point are visited, only these and the best point get more.
///
/// Guarantee: as the budget grows, the result is with probability 1 a local optimum, which no
/// neighbour is better than. Neighbours differ by 1 in one parameter. Points are compared by the
/// sum of their violations of constraints first, then by the objective; a constraint that is met
/// with equality, exactly, may be decided either way. With a finite budget there is no guarantee,
/// but [`Found::is_clear`] says whether the estimates separate the result from its neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Compass {
    /// The column to minimise.
    pub objective: String,
    /// Columns whose means have to be at most 0.
    pub constraints: Vec<String>,
    /// Replications of all points together.
    pub budget: u64,
    /// Replications of a new point.
    pub first_stage: u32,
    /// Points that a round samples.
    pub sampled: usize,
    /// The level at which neighbours have to be worse for an early end.
    pub level: f64,
    /// Names the random numbers of the sampling.
    pub seed: u64,
}

/// A visited point.
#[derive(Debug, Clone)]
pub struct Visited {
    /// Its place in the box.
    pub at: Vec<i64>,
    /// Its replications.
    pub observations: Observations,
}

/// The result of [`Compass::run`].
#[derive(Debug, Clone)]
pub struct Found {
    /// The best of the visited points.
    pub best: usize,
    /// All visited points, in the order of their visits.
    pub visited: Vec<Visited>,
    /// Replications of all points together.
    pub spent: u64,
    /// Whether all neighbours of the best point are visited.
    pub is_local: bool,
    /// Whether the best point meets the constraints by its estimates.
    pub is_feasible: bool,
    /// Whether the intervals separate the best point from all its neighbours, and its constraints
    /// from their bounds, at the level for all of them and all times of asking together
    /// (Bonferroni).
    pub is_clear: bool,
}

/// Names the stream of the sampling: "comp".
const SAMPLING: u32 = 0x636f_6d70;

/// Steps of the walk that samples a point, for each parameter.
const STEPS: usize = 8;
/// Walks for each requested point.
const TRIES: usize = 8;

impl Compass {
    /// 16 replications of each new point, 5 new points a round, an early end at the level 0.95.
    pub fn new(objective: &str, budget: u64) -> Self {
        Self {
            objective: objective.to_owned(),
            constraints: Vec::new(),
            budget,
            first_stage: 16,
            sampled: 5,
            level: 0.95,
            seed: 1,
        }
    }

    /// Calls `run` for replications of points until the result is clear or the budget is spent:
    /// `run(points, replications)` makes the same replications of each of these points, with common
    /// random numbers. The search begins at `start`, or in the middle of the box. It ends with what
    /// it has where `run` returns no observations. Observations of all replications from 0 on
    /// replace those of a point that were made before.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`] for an empty box and a budget of less than the first stage;
    /// [`AnalysisError::Failed`]; those of `run`.
    pub fn run<E: From<AnalysisError>>(
        &self,
        ranges: &[RangeInclusive<i64>],
        start: Option<&[i64]>,
        mut run: impl FnMut(&[Vec<i64>], Range<u32>) -> std::result::Result<Vec<Observations>, E>,
    ) -> std::result::Result<Found, E> {
        self.check(ranges)?;
        let middle =
            || ranges.iter().map(|range| range.start() + (range.end() - range.start()) / 2).collect();
        let inside =
            |at: &&[i64]| at.len() == ranges.len() && at.iter().zip(ranges).all(|(at, of)| of.contains(at));
        let mut search = Search {
            compass: self,
            ranges,
            visited: Vec::new(),
            spent: 0,
            asked: 0,
            stream: Stream::new(self.seed, SAMPLING, 0),
        };
        let first: Vec<i64> = start.filter(inside).map_or_else(middle, <[i64]>::to_vec);
        if !search.observe(&[first], 0..self.first_stage, &mut run)? {
            return Err(AnalysisError::Points { points: 1, given: 0 }.into());
        }
        let (mut round, mut each) = (1_u32, self.first_stage);
        loop {
            let best = search.best()?;
            let neighbours = search.neighbours(best);
            let is_local = neighbours.iter().all(|at| search.place(at).is_some());
            let clear = is_local && search.is_clear(best, &neighbours)?;
            if clear || search.spent >= self.budget {
                return search.end(best, is_local, clear).map_err(E::from);
            }
            round += 1;
            if is_local {
                // Only these decide now. Their number grows by half, for intervals that shrink.
                let mut all: Vec<Vec<i64>> = neighbours;
                all.push(search.visited[best].at.clone());
                each = search.replications(&all) + (search.replications(&all) / 2).max(1);
                if !search.extend(&all, each, &mut run)? {
                    return search.end(best, is_local, false).map_err(E::from);
                }
                continue;
            }
            each = each.max(grown(self.first_stage, round));
            let known: Vec<Vec<i64>> = search.visited.iter().map(|visited| visited.at.clone()).collect();
            let new = search.sample(best, &neighbours);
            if !search.extend(&known, each, &mut run)? || !search.extend(&new, each, &mut run)? {
                let best = search.best()?;
                let neighbours = search.neighbours(best);
                let is_local = neighbours.iter().all(|at| search.place(at).is_some());
                return search.end(best, is_local, false).map_err(E::from);
            }
        }
    }

    fn check(&self, ranges: &[RangeInclusive<i64>]) -> Result<()> {
        super::check_level(self.level)?;
        let setting = |what, value: String, remedy| Err(AnalysisError::Setting { what, value, remedy });
        let wide =
            |range: &RangeInclusive<i64>| range.end().abs_diff(*range.start()) > u64::from(u32::MAX >> 1);
        if ranges.is_empty() || ranges.iter().any(|range| range.is_empty() || wide(range)) {
            let remedy = "give at least one parameter, each with at least one and at most 2^31 integers";
            return setting("the box to search", format!("{ranges:?}"), remedy);
        }
        if self.first_stage < 2 || self.budget < self.first_stage.into() || self.sampled == 0 {
            let value = format!("{}, and a point takes {}", self.budget, self.first_stage);
            let remedy = "allow at least those of one point, 2 or more";
            return setting("the budget of replications", value, remedy);
        }
        Ok(())
    }
}

/// Replications of all visited points in a round: their number grows without bound, as the paper
/// requires.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small factor, rounded up")]
fn grown(first: u32, round: u32) -> u32 {
    (f64::from(first) * f64::from(round).ln().powf(1.01).max(1.0)).ceil() as u32
}

struct Search<'c> {
    compass: &'c Compass,
    ranges: &'c [RangeInclusive<i64>],
    visited: Vec<Visited>,
    spent: u64,
    /// How often it was asked whether the result is clear.
    asked: u32,
    stream: Stream,
}

impl Search<'_> {
    fn place(&self, at: &[i64]) -> Option<usize> {
        self.visited.iter().position(|visited| visited.at == at)
    }

    /// The least replications of some points.
    fn replications(&self, points: &[Vec<i64>]) -> u32 {
        let made =
            |at: &Vec<i64>| self.place(at).map_or(0, |place| self.visited[place].observations.replications());
        u32::try_from(points.iter().map(made).min().unwrap_or(0)).unwrap_or(u32::MAX)
    }

    /// Makes replications of points that have those before the range; `false` if `run` returns no
    /// observations.
    fn observe<E: From<AnalysisError>>(
        &mut self,
        points: &[Vec<i64>],
        range: Range<u32>,
        run: &mut impl FnMut(&[Vec<i64>], Range<u32>) -> std::result::Result<Vec<Observations>, E>,
    ) -> std::result::Result<bool, E> {
        let made = run(points, range.clone())?;
        if made.is_empty() {
            return Ok(false);
        }
        self.spent += u64::from(range.end - range.start) * points.len() as u64;
        for (at, made) in points.iter().zip(made) {
            match self.place(at) {
                Some(place) if made.replications() > range.len() => {
                    self.visited[place].observations = made;
                }
                Some(place) => self.visited[place].observations.append(made)?,
                None => self.visited.push(Visited { at: at.clone(), observations: made }),
            }
        }
        Ok(true)
    }

    /// Extends points to a number of replications, those with equally many at once. `false` if the
    /// budget ended before.
    fn extend<E: From<AnalysisError>>(
        &mut self,
        points: &[Vec<i64>],
        end: u32,
        run: &mut impl FnMut(&[Vec<i64>], Range<u32>) -> std::result::Result<Vec<Observations>, E>,
    ) -> std::result::Result<bool, E> {
        let mut left: Vec<Vec<i64>> = points.to_vec();
        while !left.is_empty() {
            let first = self.replications(&left);
            let (same, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|at| self.replications(std::slice::from_ref(at)) == first);
            left = others;
            if first >= end {
                continue;
            }
            let allowed = self.compass.budget.saturating_sub(self.spent);
            let fits = usize::try_from(allowed / u64::from(end - first)).unwrap_or(usize::MAX);
            let some = &same[..same.len().min(fits)];
            if !some.is_empty() && !self.observe(some, first..end, run)? {
                return Ok(false);
            }
            if some.len() < same.len() {
                self.spent = self.spent.max(self.compass.budget);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sum of violations, and the objective.
    fn rank(&self, visited: &Visited) -> Result<[f64; 2]> {
        let observations = &visited.observations;
        let failed = observations.failures().len() as u64;
        if failed > 0 {
            let point = self.place(&visited.at).unwrap_or(0);
            return Err(AnalysisError::Failed { point, failed });
        }
        let mean = |name: &str| -> Result<f64> {
            Ok(observations.summary(name, 0.95)?.mean.unwrap_or(f64::INFINITY))
        };
        let mut violated = 0.0;
        for name in &self.compass.constraints {
            violated += mean(name)?.max(0.0);
        }
        Ok([violated, mean(&self.compass.objective)?])
    }

    fn best(&self) -> Result<usize> {
        let ranks = self.visited.iter().map(|visited| self.rank(visited)).collect::<Result<Vec<_>>>()?;
        let better = |a: [f64; 2], b: [f64; 2]| a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
        Ok((1..ranks.len()).fold(0, |best, next| if better(ranks[next], ranks[best]) { next } else { best }))
    }

    fn neighbours(&self, best: usize) -> Vec<Vec<i64>> {
        let at = &self.visited[best].at;
        let moved = |(number, range): (usize, &RangeInclusive<i64>)| {
            [-1, 1]
                .into_iter()
                .filter_map(move |step| {
                    let mut other = at.clone();
                    other[number] += step;
                    range.contains(&other[number]).then_some(other)
                })
                .collect::<Vec<_>>()
        };
        self.ranges.iter().enumerate().flat_map(moved).collect()
    }

    /// New points of the most promising area; its corners are the neighbours.
    fn sample(&mut self, best: usize, neighbours: &[Vec<i64>]) -> Vec<Vec<i64>> {
        let mut new: Vec<Vec<i64>> = Vec::new();
        for _ in 0..TRIES * self.compass.sampled {
            let at = self.walk(best);
            if new.len() < self.compass.sampled && self.place(&at).is_none() && !new.contains(&at) {
                new.push(at);
            }
        }
        if new.len() < self.compass.sampled {
            let unknown = neighbours.iter().filter(|at| self.place(at).is_none());
            let unknown: Vec<_> = unknown.filter(|at| !new.contains(at)).cloned().collect();
            new.extend(unknown);
            new.truncate(self.compass.sampled.max(1));
        }
        new
    }

    /// A point of the area, nearly uniform: a walk along random coordinates from the best point.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "below 2^31")]
    fn walk(&mut self, best: usize) -> Vec<i64> {
        let centre = self.visited[best].at.clone();
        let mut at = centre.clone();
        for _ in 0..STEPS * self.ranges.len() {
            let number =
                self.stream.below(u32::try_from(self.ranges.len()).expect("few parameters")) as usize;
            let (mut low, mut high) = (*self.ranges[number].start(), *self.ranges[number].end());
            for other in self.visited.iter().map(|visited| &visited.at).filter(|other| **other != centre) {
                // Closer to the centre: 2 (y - x) z <= y^2 - x^2, for each coordinate of z but one
                // fixed.
                let mut rest = 0.0;
                for place in 0..at.len() {
                    let (x, y, z) = (centre[place] as f64, other[place] as f64, at[place] as f64);
                    rest += (y - x) * (y + x) - if place == number { 0.0 } else { 2.0 * (y - x) * z };
                }
                let slope = 2.0 * (other[number] - centre[number]) as f64;
                if slope > 0.0 {
                    high = high.min((rest / slope).floor() as i64);
                } else if slope < 0.0 {
                    low = low.max((rest / slope).ceil() as i64);
                }
            }
            let width = u32::try_from((high - low).max(0)).unwrap_or(u32::MAX - 1);
            at[number] = low + i64::from(self.stream.below(width + 1));
        }
        at
    }

    /// Whether the best point is feasible, and each neighbour infeasible or worse. The probability
    /// of an error is parted among the times of asking, 1/2, 1/6, 1/12 and so on of it, and among
    /// all that could be wrong then.
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    fn is_clear(&mut self, best: usize, neighbours: &[Vec<i64>]) -> Result<bool> {
        self.asked += 1;
        let (compass, asked) = (self.compass, f64::from(self.asked));
        let constraints = compass.constraints.len();
        let claims = (neighbours.len() * (constraints + 1) + constraints).max(1) as f64;
        let level = 1.0 - (1.0 - compass.level) / (asked * (asked + 1.0) * claims);
        let bounds = |observations: &Observations, name: &str| -> Result<Option<[f64; 2]>> {
            let summary = observations.summary(name, level)?;
            Ok(summary.interval.map(|interval| [interval.lower, interval.upper]))
        };
        let chosen = &self.visited[best].observations;
        for name in &compass.constraints {
            if bounds(chosen, name)?.is_none_or(|[_, upper]| upper > 0.0) {
                return Ok(false);
            }
        }
        for at in neighbours {
            let Some(place) = self.place(at) else { return Ok(false) };
            let other = &self.visited[place].observations;
            let mut worse = false;
            for name in &compass.constraints {
                worse |= bounds(other, name)?.is_some_and(|[lower, _]| lower > 0.0);
            }
            if !worse && chosen.replications() == other.replications() {
                let difference = compare(chosen, other, &compass.objective, level)?;
                worse = difference.interval.is_some_and(|interval| interval.lower > 0.0);
            }
            if !worse {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn end(self, best: usize, is_local: bool, is_clear: bool) -> Result<Found> {
        let is_feasible = self.rank(&self.visited[best])?[0] == 0.0;
        let spent = self.visited.iter().map(|visited| visited.observations.replications() as u64).sum();
        Ok(Found { best, visited: self.visited, spent, is_local, is_feasible, is_clear })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Pairing, Values};
    use super::*;

    /// A noisy bowl around (7, 3), and a constraint that the first parameter is at least `least`.
    fn bowl(
        least: f64,
    ) -> impl FnMut(&[Vec<i64>], Range<u32>) -> std::result::Result<Vec<Observations>, AnalysisError> {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        move |points, replications| {
            let of = |at: &Vec<i64>| {
                let [x, y] = [at[0] as f64, at[1] as f64];
                let noise = |replication: u32, which: u32| {
                    let mut stream = Stream::new(11, which, replication.into());
                    4.0 * (f64::from(stream.draw()) / 2_f64.powi(32) - 0.5)
                };
                let cost = |r| {
                    (x - 7.0).powi(2)
                        + 2.0 * (y - 3.0).powi(2)
                        + noise(r, 0)
                        + noise(r, u32::try_from(at[0]).unwrap())
                };
                let short = |r| least - 0.5 - x + noise(r, 1) / 2.0;
                let column = |name: &str, values: Vec<f64>| Column {
                    name: name.to_owned(),
                    values: Values::F64(values),
                };
                let columns = vec![
                    column("cost", replications.clone().map(cost).collect()),
                    column("short", replications.clone().map(short).collect()),
                ];
                Observations::new(replications.len(), columns, [], Pairing::Independent)
            };
            points.iter().map(of).collect()
        }
    }

    #[test]
    fn the_minimum_of_a_bowl_is_found_and_is_clear() {
        for seed in 1..6 {
            let compass = Compass { seed, ..Compass::new("cost", 200_000) };
            let found = compass.run(&[0..=40, -20..=20], Some(&[35, -15]), bowl(0.0)).unwrap();
            assert_eq!(found.visited[found.best].at, [7, 3], "seed {seed}");
            assert!(found.is_local && found.is_clear && found.is_feasible && found.spent <= 200_000);
            // Of 1,681 points.
            assert!(found.visited.len() < 200, "{}", found.visited.len());
        }
    }

    #[test]
    fn constraints_bound_the_minimum() {
        let compass = Compass { constraints: vec!["short".to_owned()], ..Compass::new("cost", 100_000) };
        let found = compass.run(&[0..=40, -20..=20], None, bowl(12.0)).unwrap();
        assert_eq!((found.visited[found.best].at.as_slice(), found.is_feasible), ([12, 3].as_slice(), true));
        let none = compass.run(&[0..=9, 0..=9], None, bowl(12.0)).unwrap();
        assert!(!none.is_feasible && !none.is_clear && none.visited[none.best].at[0] == 9);
    }

    #[test]
    fn an_objective_of_ratios_is_a_function_of_their_means() {
        let column = |name: &str, values: [u32; 4]| Column {
            name: name.to_owned(),
            values: Values::U32(values.to_vec()),
        };
        let columns =
            vec![column("sum", [1, 5, 2, 4]), column("count", [1, 2, 1, 2]), column("lost", [3, 1, 2, 2])];
        let mut made = Observations::new(4, columns, [], Pairing::Independent).unwrap();
        made.pool("mean", &["sum", "count"], |means| means[0] / means[1]).unwrap();
        made.combine("cost", &["lost", "mean"], |of| 10.0 * of[0] + of[1]).unwrap();
        made.combine("wages", &[], |_| 7.0).unwrap();
        let [cost, wages] = ["cost", "wages"].map(|name| made.summary(name, 0.95).unwrap());
        assert!((cost.mean.unwrap() - 22.0).abs() < 1e-12 && cost.interval.unwrap().half_width > 0.0);
        assert_eq!((wages.mean, wages.interval.unwrap().half_width), (Some(7.0), 0.0));
    }

    #[test]
    fn equal_points_are_clear_no_more_often_than_the_level_allows() {
        let run = |seed: u64| {
            move |points: &[Vec<i64>], replications: Range<u32>| {
                let of = |at: &Vec<i64>| {
                    let values = replications.clone().map(|replication| {
                        let which = u32::try_from(at[0]).unwrap();
                        let mut stream = Stream::new(seed, which, replication.into());
                        (0..6).map(|_| f64::from(stream.draw()) / 2_f64.powi(32)).sum()
                    });
                    let column = Column { name: "y".to_owned(), values: Values::F64(values.collect()) };
                    Observations::new(replications.len(), vec![column], [], Pairing::Independent)
                };
                points.iter().map(of).collect::<Result<Vec<_>>>()
            }
        };
        let clear = |seed: &u64| Compass::new("y", 2000).run(&[1..=3], None, run(*seed)).unwrap().is_clear;
        let clear = (0..300).filter(clear).count();
        assert!(clear <= 15, "{clear} of 300");
    }

    #[test]
    fn a_budget_is_kept() {
        for budget in [16, 100, 1000] {
            let found = Compass::new("cost", budget).run(&[0..=40, 0..=20], None, bowl(0.0)).unwrap();
            let made: usize = found.visited.iter().map(|visited| visited.observations.replications()).sum();
            assert!(found.spent == made as u64 && found.spent <= budget, "{} of {budget}", found.spent);
        }
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        let empty = Compass::new("cost", 100).run(&[2..=1], None, bowl(0.0));
        assert!(empty.is_err() && Compass::new("cost", 3).run(&[0..=1], None, bowl(0.0)).is_err());
    }
}
