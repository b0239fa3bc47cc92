//! Traces of single customers.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::pdes::{FaultKind, Model as _, SimulationError};
use crate::time::Ticks;

use super::long::Run;
use super::model::{BALKED, BEGAN, LEFT, LOST, RENEGED};
use super::nodes::Kind;
use super::study::MORE;
use super::{Facility, FacilityError, Follow, Outcome, Study, TraceRun, Visit};
use crate::Backend;

/// Most followed customers: their tags have 16 bits.
const MOST: u32 = u16::MAX as u32;

/// Bits of the time of entry into the network; the others hold the tag.
const TIME_BITS: u32 = 47;

/// Initial and maximal room for notes in an LP.
const ROWS: u32 = 256;
const MOST_ROWS: u32 = 1 << 24;

impl Facility {
    /// Describes a run that follows some customers through the first replication of a study, from
    /// beginning to end. Its result has all their visits, by customer and in order of arrival; they
    /// are the same on every backend.
    ///
    /// Following customers does not change the results of the run, with one exception: among
    /// customers that entered the network at the same tick and differ only in their times of
    /// arrival at a node, those that are not followed are served first.
    pub fn trace<'r>(&'r self, study: &'r Study, follow: Follow) -> TraceRun<'r> {
        TraceRun { facility: self, study, follow, backend: Backend::default() }
    }

    /// Makes the run.
    pub(super) async fn followed(
        &self,
        TraceRun { study, follow, backend: place, .. }: TraceRun<'_>,
    ) -> Result<Vec<Visit>, FacilityError> {
        let (until, warm_up) = self.times(study)?;
        let setting = |what, value: String, remedy: &str| FacilityError::Setting {
            node: self.network.name.clone(),
            what,
            value,
            remedy: remedy.to_owned(),
        };
        if until.get() >> TIME_BITS != 0 {
            let remedy = "traced runs end before 2^47 ticks; choose fewer ticks per unit or an earlier end";
            return Err(setting("the end of the run", study.until.to_string(), remedy));
        }
        let begins = self.followed_from(follow)?;
        let mut tags = Vec::new();
        let mut next = 1;
        for &(node, class, count) in &begins {
            tags.push((node, class, next));
            next += count;
        }
        let (mut facility, mut rows) = (self.for_study(&Study { details: false, ..*study }, warm_up), ROWS);
        let most = study.room.min(self.most_waiting());
        let mut lines_fit = false;
        let memory = loop {
            let model = facility.clone().following([follow.every, follow.most, rows], &tags);
            match model.memory_at(study.seed, until, place.for_one_run(self.nodes.len())).await {
                Ok(memory) => break memory,
                Err(SimulationError::Fault(fault))
                    if fault.kind == FaultKind::MemoryFull && rows < MOST_ROWS =>
                {
                    // The fault is in room for waiting customers or for notes. With the largest
                    // room for customers, a run without notes shows which.
                    if facility.room() >= most && !lines_fit {
                        if let Err(error) = facility.memory_at(study.seed, until, place).await {
                            facility.clone().with_more_room(error, study.room, 0)?;
                        }
                        lines_fit = true;
                    }
                    rows *= MORE;
                    facility =
                        facility.clone().with_room((facility.room().max(1).saturating_mul(MORE)).min(most));
                }
                Err(error) => {
                    let notes =
                        setting("the number of notes of a node", rows.to_string(), "follow fewer customers");
                    return Err(match facility.with_more_room(error, study.room, 0) {
                        Ok(_) => notes,
                        Err(FacilityError::LineFull { .. }) if lines_fit => notes,
                        Err(error) => error,
                    });
                }
            }
        };
        let model = facility.following([follow.every, follow.most, rows], &tags);
        Ok(model.visits(&memory, &tags))
    }

    /// Where followed customers begin, and the most of each: sources and nodes with populations.
    pub(super) fn followed_from(&self, follow: Follow) -> Result<Vec<(usize, usize, u32)>, FacilityError> {
        let setting = |value: String, remedy: &str| FacilityError::Setting {
            node: self.network.name.clone(),
            what: "the number of followed customers",
            value,
            remedy: remedy.to_owned(),
        };
        if follow.every == 0 || follow.most == 0 {
            return Err(setting("0".to_owned(), "choose at least 1 for both numbers"));
        }
        let mut begins = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Kind::Source { class, .. } = node.kind {
                begins.push((number, class, follow.most));
            }
            for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0) {
                begins.push((number, class, pair.population.div_ceil(follow.every).min(follow.most)));
            }
        }
        let all: u64 = begins.iter().map(|begin| u64::from(begin.2)).sum();
        match all > u64::from(MOST) {
            true => {
                let remedy = "at most 65,535 can be followed; follow fewer of each source and population";
                Err(setting(all.to_string(), remedy))
            }
            false => Ok(begins),
        }
    }

    async fn memory_at(
        &self,
        seed: u64,
        until: Ticks,
        place: Backend<'_>,
    ) -> Result<Vec<[u32; 4]>, SimulationError> {
        let mut run = Run::begin(self, seed, place, None).await?;
        run.to(until, &mut |_| ControlFlow::Continue(())).await?;
        run.memory().await
    }

    /// Evaluates the notes of all nodes.
    fn visits(&self, memory: &[[u32; 4]], tags: &[(usize, usize, u32)]) -> Vec<Visit> {
        let params = self.params();
        let units = |ticks: Ticks| self.resolution.units(ticks);
        let mut found: Vec<(u32, Ticks, Option<Ticks>, usize, Visit)> = Vec::new();
        for (number, (node, memory)) in
            self.nodes.iter().zip(memory.chunks(self.memory_rows() as usize)).enumerate()
        {
            let first = params.trace as usize;
            // Open visits by tag, class and the low word of their arrival; tasks with all three
            // equal cannot be distinguished.
            let mut here: HashMap<(u32, u32, u32), Vec<usize>> = HashMap::new();
            for &[word, low, high, arrived] in &memory[first + 1..][..memory[first][0] as usize] {
                let (tag, what, class) = (word & 0xffff, word >> 16 & 0xff, word >> 24);
                let now = Ticks::from_words([low, high]);
                let stays = here.entry((tag, class, arrived)).or_default();
                let open = stays.iter().position(|&place| what != BEGAN || found[place].4.began.is_none());
                let outcome = match what {
                    LEFT => Outcome::Served,
                    LOST => Outcome::Lost,
                    BALKED => Outcome::Balked,
                    RENEGED => Outcome::Reneged,
                    _ => Outcome::Present,
                };
                let ends = outcome != Outcome::Present;
                // Without an open visit, the customer arrives, or leaves at once.
                let place = match open.filter(|_| what == BEGAN || what == LEFT || what == RENEGED) {
                    Some(open) if ends => stays.remove(open),
                    Some(open) => stays[open],
                    None => {
                        let begin = tags.partition_point(|begin| begin.2 <= tag) - 1;
                        let (from, ..) = tags[begin];
                        found.push((
                            tag,
                            now,
                            None,
                            number,
                            Visit {
                                customer: tag,
                                from: self.nodes[from].name.clone(),
                                class: self.network.classes[class as usize].clone(),
                                node: node.name.clone(),
                                arrived: units(now),
                                began: None,
                                left: None,
                                outcome: Outcome::Present,
                            },
                        ));
                        if !ends {
                            stays.push(found.len() - 1);
                        }
                        found.len() - 1
                    }
                };
                let (_, _, left, _, visit) = &mut found[place];
                visit.outcome = outcome;
                if what == BEGAN {
                    visit.began = Some(units(now));
                }
                if ends {
                    (*left, visit.left) = (Some(now), Some(units(now)));
                }
            }
        }
        // Of visits at one time, those that end at once come first.
        found.sort_by_key(|&(tag, arrived, left, node, _)| (tag, arrived, left.is_none(), left, node));
        found.into_iter().map(|(.., visit)| visit).collect()
    }
}
