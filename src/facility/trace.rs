//! What single customers did: traces.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::pdes::{FaultKind, Model as _, SimulationError};
use crate::time::Ticks;

use super::long::Run;
use super::model::{BALKED, BEGAN, LEFT, LOST, RENEGED};
use super::nodes::Kind;
use super::study::MORE;
use super::{Backend, Facility, FacilityError, Study};

/// Customers that are followed, at the most: they are told apart by 16 bits.
const MOST: u32 = u16::MAX as u32;

/// Times of entering the network have so many bits, where some more tell who is followed.
const TIME_BITS: u32 = 47;

/// Notes that an LP has room for at first, and at the most.
const ROWS: u32 = 256;
const MOST_ROWS: u32 = 1 << 24;

/// Which customers are followed: of each source, and of each class that is at a node at the
/// beginning, one in so many, and so many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// One in so many, beginning with the first: 1 for all.
    pub every: u32,
    /// How many of them, at the most.
    pub most: u32,
}

impl Follow {
    /// The first of each source, and of each class at each node at the beginning.
    pub fn first(most: u32) -> Self {
        Self { every: 1, most }
    }
}

/// How a visit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// He was served, and went on; at a fork, his siblings were joined; at a sink, he left the
    /// network.
    Served,
    /// There was no room.
    Lost,
    /// He left at once.
    Balked,
    /// His patience ended.
    Reneged,
    /// He was still there at the end of the run.
    Present,
}

/// A visit of a customer to a station, a delay, a fork or a sink, in the network's unit of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visit {
    /// The customer: numbers from 1 on, by source. His siblings have his.
    pub customer: u32,
    /// The source that he came from, or the node that he was at at the beginning.
    pub from: String,
    /// His class at this visit.
    pub class: String,
    /// Where he came.
    pub node: String,
    /// When he arrived.
    pub arrived: f64,
    /// When his service began, if it did. (Not at forks and sinks.)
    pub began: Option<f64>,
    /// When he left, if he did.
    pub left: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Writes visits as CSV: `customer`, `from`, `class`, `node`, `arrived`, `began`, `left` (empty for
/// what did not happen), `outcome`.
///
/// # Errors
/// [`FacilityError::Write`].
pub fn write_visits(visits: &[Visit], file: impl io::Write) -> Result<(), FacilityError> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(file);
    writer.write_record(["customer", "from", "class", "node", "arrived", "began", "left", "outcome"])?;
    for visit in visits {
        writer.serialize(visit)?;
    }
    writer.flush().map_err(csv::Error::from)?;
    Ok(())
}

impl Facility {
    /// Follows some customers through the first replication of a study, from its beginning to its
    /// end: all their visits, by customer and in order of arrival. They are the same wherever the
    /// run is made, and so is all that a study tells of it: who is followed is served as if he were
    /// not. (But of customers who entered the network at the same tick and would be told apart by
    /// nothing but when they arrived at a node, those are taken first that are not followed.)
    ///
    /// # Errors
    /// As [`Facility::study`]; [`FacilityError::Setting`] for nobody, or more than 65,535
    /// customers, and for runs of 2^47 ticks or more.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn trace(
        &self,
        study: &Study,
        follow: Follow,
        place: Backend<'_>,
    ) -> Result<Vec<Visit>, FacilityError> {
        pollster::block_on(self.trace_async(study, follow, place))
    }

    /// [`Facility::trace`] without blocking, but for [`Backend::Cpu`].
    ///
    /// # Errors
    /// As [`Facility::trace`].
    pub async fn trace_async(
        &self,
        study: &Study,
        follow: Follow,
        place: Backend<'_>,
    ) -> Result<Vec<Visit>, FacilityError> {
        let (until, warm_up) = self.times(study)?;
        let setting = |what, value: String, remedy: &str| FacilityError::Setting {
            node: self.network.name.clone(),
            what,
            value,
            remedy: remedy.to_owned(),
        };
        if until.get() >> TIME_BITS != 0 {
            let remedy =
                "where customers are followed, times are below 2^47 ticks; choose fewer ticks per unit";
            return Err(setting("the end of the run", study.until.to_string(), remedy));
        }
        if follow.every == 0 || follow.most == 0 {
            let remedy = "one in so many, and so many of them: both are at least 1";
            return Err(setting("the number of customers that are followed", "0".to_owned(), remedy));
        }
        let begins = self.begins(follow);
        let all: u64 = begins.iter().map(|begin| u64::from(begin.2)).sum();
        if all > u64::from(MOST) {
            let remedy = "up to 65,535 are told apart; follow fewer of each source and population";
            return Err(setting("the number of customers that are followed", all.to_string(), remedy));
        }
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
            match model.memory_at(study.seed, until, place).await {
                Ok(memory) => break memory,
                Err(SimulationError::Fault(fault))
                    if fault.kind == FaultKind::MemoryFull && rows < MOST_ROWS =>
                {
                    // Either room for who waits, or for notes. If there is no more for who waits,
                    // it is seen without notes whether that is it.
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

    /// Where customers begin who may be followed, and how many there can be.
    fn begins(&self, follow: Follow) -> Vec<(usize, usize, u32)> {
        let mut begins = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Kind::Source { class, .. } = node.kind {
                begins.push((number, class, follow.most));
            }
            for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0) {
                begins.push((number, class, pair.population.div_ceil(follow.every).min(follow.most)));
            }
        }
        begins
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

    /// What the notes of all nodes say.
    fn visits(&self, memory: &[[u32; 4]], tags: &[(usize, usize, u32)]) -> Vec<Visit> {
        let params = self.params();
        let units = |ticks: Ticks| self.resolution.units(ticks);
        let mut found: Vec<(u32, Ticks, Option<Ticks>, usize, Visit)> = Vec::new();
        for (number, (node, memory)) in
            self.nodes.iter().zip(memory.chunks(self.memory_rows() as usize)).enumerate()
        {
            let first = params.trace as usize;
            // Those that are here, by tag, class and the low word of when they arrived: siblings
            // that have all of them in common are told apart by nothing.
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
                // Whoever comes: and whoever leaves at once was never here.
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
        // Of those at one time, those that end at once come first.
        found.sort_by_key(|&(tag, arrived, left, node, _)| (tag, arrived, left.is_none(), left, node));
        found.into_iter().map(|(.., visit)| visit).collect()
    }
}
