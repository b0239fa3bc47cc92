//! What is known of the points of a design whose run was stopped.

use super::error::Result;
use super::{Design, Observations};
use crate::text::first_of;

/// The replications of each point, as far as they were made.
#[derive(Debug)]
pub(crate) struct Partial(Vec<Option<Observations>>);

/// The points that have replications.
pub(crate) struct Stopped {
    /// Their numbers in the whole design.
    pub(crate) points: Vec<usize>,
    pub(crate) design: Design,
    pub(crate) observations: Vec<Observations>,
    /// What is missing, as a sentence.
    pub(crate) missing: String,
}

impl Partial {
    pub(crate) fn new(points: usize) -> Self {
        Self(vec![None; points])
    }

    /// Adds the next replications of a point.
    pub(crate) fn add(&mut self, point: usize, more: Observations) -> Result<()> {
        match &mut self.0[point] {
            Some(known) => known.append(more),
            none => {
                *none = Some(more);
                Ok(())
            }
        }
    }

    /// The points that have replications, if any has. `goal` is what the whole run would have, such
    /// as "the best point".
    pub(crate) fn stopped(self, design: &Design, goal: Option<&str>) -> Option<Stopped> {
        let (mut points, mut observations, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for (point, made) in self.0.into_iter().enumerate() {
            match made {
                Some(made) => {
                    points.push(point);
                    observations.push(made);
                }
                None => without.push(design.describe(point)),
            }
        }
        if points.is_empty() {
            return None;
        }
        let mut missing = Vec::from_iter(goal.map(str::to_owned));
        if !without.is_empty() {
            missing.push(format!("{} of {} points ({})", without.len(), design.len(), first_of(&without)));
        }
        if missing.is_empty() {
            missing.push("some replications".to_owned());
        }
        let missing = format!("the run was stopped: there is no result of {}", missing.join(", and of "));
        Some(Stopped { design: design.only(&points), points, observations, missing })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Pairing, Values};
    use super::*;

    #[test]
    fn points_without_replications_are_named() {
        let design = Design::default().cross("a", [1, 2, 3]).unwrap();
        let made = |values: &[f64]| {
            let column = Column { name: "x".to_owned(), values: Values::F64(values.to_vec()) };
            Observations::new(values.len(), vec![column], [], Pairing::Independent).unwrap()
        };
        assert!(Partial::new(3).stopped(&design, None).is_none());
        let mut partial = Partial::new(3);
        partial.add(1, made(&[1.0, 2.0])).unwrap();
        partial.add(1, made(&[3.0])).unwrap();
        partial.add(2, made(&[4.0])).unwrap();
        let stopped = partial.stopped(&design, Some("the best point")).unwrap();
        assert_eq!((stopped.points, stopped.design.len()), (vec![1, 2], 2));
        assert_eq!(stopped.design.describe(0), design.describe(1));
        assert_eq!(stopped.observations[0].replications(), 3);
        let first = design.describe(0);
        assert!(stopped.missing.ends_with(&format!("of the best point, and of 1 of 3 points ({first})")));
    }
}
