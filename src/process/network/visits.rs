//! Visits of single customers, from the notes of the process model.

use std::collections::HashMap;

use crate::facility::{Follow, Outcome, Study, Visit};
use crate::time::Ticks;

use super::super::error::ProcessError;
use super::super::ir::ProcessModel;
use super::super::study::Note;
use super::NetworkProcess;
use super::blocking::cyclic;
use super::errors::in_words;
use super::write::Writer;

/// A visit, and what it is sorted by: tag, arrival, departure, node.
struct Found {
    tag: u32,
    arrived: Ticks,
    left: Option<Ticks>,
    node: usize,
    visit: Visit,
}

impl NetworkProcess {
    /// Follows some customers through the first replication of a study, from beginning to end, on
    /// the CPU: all their visits, by customer and in order of arrival. Following customers does not
    /// change the replication.
    ///
    /// # Errors
    /// [`ProcessError::Network`] for invalid numbers, and the errors of runs.
    pub fn trace(&self, study: &Study, follow: Follow) -> Result<Vec<Visit>, ProcessError> {
        let (outline, names) = (&self.outline, &self.names);
        let mut tags = Vec::new();
        let mut next = 1;
        for (node, class, count) in outline.begins(follow)? {
            tags.push((node, class, next));
            next += count;
        }
        let writer = Writer::new(outline, names, &[], cyclic(outline.nodes()));
        let text = writer.following(follow, tags.clone()).write();
        let explained = |error| in_words(error, outline.network(), names, &text);
        let compiled = ProcessModel::from_json(&text).and_then(|model| model.compile()).map_err(explained)?;
        let plan = self.study(&study.stopping(None).details(outline.details()))?;
        let of = |notes: Vec<Note<'_>>| self.visits(&notes, &tags);
        compiled.notes(&plan, 0, of).map_err(explained)
    }

    fn visits(&self, notes: &[Note<'_>], tags: &[(usize, usize, u32)]) -> Vec<Visit> {
        let resolution = self.outline.resolution();
        let nodes = self.outline.nodes();
        let mut all: Vec<Found> = Vec::new();
        // Open visits by entity and node.
        let mut open: HashMap<(u32, usize), usize> = HashMap::new();
        for note in notes {
            let Some((what, node, class)) = self.names.find_pair(&note.noted.name) else { continue };
            let tag = note.value.cast_unsigned();
            let (key, now) = ((note.number, node), resolution.units(note.time));
            let outcome = match what {
                "left" => Outcome::Served,
                "lost" => Outcome::Lost,
                "balked" => Outcome::Balked,
                "reneged" => Outcome::Reneged,
                _ => Outcome::Present,
            };
            let ends = outcome != Outcome::Present;
            let known = if ends { open.remove(&key) } else { open.get(&key).copied() };
            // Without an open visit, the customer comes, or leaves at once.
            let place = known.unwrap_or_else(|| {
                let begin = tags.partition_point(|begin| begin.2 <= tag) - 1;
                let visit = Visit {
                    customer: tag,
                    from: nodes[tags[begin].0].name.clone(),
                    class: self.network().classes[class].clone(),
                    node: nodes[node].name.clone(),
                    arrived: now,
                    began: None,
                    left: None,
                    outcome: Outcome::Present,
                };
                all.push(Found { tag, arrived: note.time, left: None, node, visit });
                if !ends {
                    open.insert(key, all.len() - 1);
                }
                all.len() - 1
            });
            let found = &mut all[place];
            found.visit.outcome = outcome;
            if what == "began" {
                found.visit.began = Some(now);
            }
            if ends {
                (found.left, found.visit.left) = (Some(note.time), Some(now));
            }
        }
        // Of visits at one time, those that end at once come first.
        all.sort_by_key(|of| (of.tag, of.arrived, of.left.is_none(), of.left, of.node));
        all.into_iter().map(|of| of.visit).collect()
    }
}
