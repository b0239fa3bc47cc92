//! Closed networks with a global future event list (Park and Fishwick): networks and results.
//! `simulation.rs` runs them on a device; `reference.rs` is the reference implementation.

mod reference;
mod simulation;

pub use reference::FelReference;
pub use simulation::{FelRun, FelSimulation, kernels};

use crate::ErrorKind;
use crate::gpu::GpuError;
use crate::random::{Stream, mix};
use crate::text::debug_is_display;
use crate::time::Ticks;

use super::nodes::{Kind, Node};
use super::{Discipline, Distribution, Facility};

/// Why a network was not built, or its run stopped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FelError {
    /// The device failed, or refused a buffer or a kernel. The run is lost.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// An invalid setting. Nothing was built.
    #[error("{what}: {remedy}")]
    Setting {
        /// The setting and its value.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Time does not advance: with this interval, services are rounded to zero again and again. The
    /// run cannot continue.
    #[error(
        "time does not advance at tick {time}: with intervals of {interval} ticks, services are rounded to zero again and again; choose a shorter interval"
    )]
    Stuck {
        /// The time, in ticks.
        time: u64,
        /// The interval, in ticks.
        interval: u32,
    },
}

debug_is_display!(FelError);

impl FelError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Setting { .. } => ErrorKind::Usage,
            Self::Stuck { .. } => ErrorKind::Fault,
        }
    }
}

fn refuse<T>(what: String, remedy: &'static str) -> Result<T, FelError> {
    Err(FelError::Setting { what, remedy })
}

/// A closed network of service facilities (Park and Fishwick, section 5.3). Each has one server and
/// a FIFO queue, serves tokens for exponential times, and sends each to one of its targets, all
/// with the same probability, in no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelNetwork {
    /// Mean service times in ticks, without the extra tick of each service.
    means: Vec<u32>,
    /// By facility, its targets.
    targets: Vec<Vec<u32>>,
    /// By facility, the facilities that send to it, each once.
    sources: Vec<Vec<u32>>,
    /// By facility, its initial tokens.
    tokens: Vec<u32>,
}

impl FelNetwork {
    /// Most facilities that send to one facility: one invocation reads all of them.
    const MOST_SOURCES: usize = 64;

    /// The longest mean service time, in ticks: a service must fit a word.
    const MOST_MEAN: Ticks = Ticks::new(1 << 27);

    /// Takes for each facility its mean service time, its targets, and its initial tokens. A
    /// service lasts one tick more than an exponential time with that mean, rounded down. A target
    /// listed twice is twice as probable.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the facility and the value.
    pub fn new(facilities: impl IntoIterator<Item = (Ticks, Vec<u32>, u32)>) -> Result<Self, FelError> {
        let (mut means, mut targets, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        for (mean, to, held) in facilities {
            if mean > Self::MOST_MEAN {
                return refuse(
                    format!("facility {} serves for {} ticks on average", means.len(), mean.get()),
                    "choose at most 2^27, by a resolution with fewer ticks per unit",
                );
            }
            means.push(u32::try_from(mean.get()).expect("at most 2^27"));
            targets.push(to);
            tokens.push(held);
        }
        let count = means.len();
        if count == 0 || count > 1 << 28 {
            return refuse(format!("a network of {count} facilities"), "choose from 1 to 2^28");
        }
        let in_all: u64 = tokens.iter().map(|&held| u64::from(held)).sum();
        if in_all == 0 || in_all > 1 << 28 {
            return refuse(format!("a network with {in_all} tokens"), "choose from 1 to 2^28");
        }
        let mut sources = vec![Vec::new(); count];
        for (facility, to) in (0..).zip(&targets) {
            if to.is_empty() || to.len() > 1 << 16 {
                return refuse(
                    format!("facility {facility} sends to {} facilities", to.len()),
                    "tokens never leave a closed network; name from 1 to 65,536 targets",
                );
            }
            for &target in to {
                let Some(sources) = sources.get_mut(target as usize) else {
                    return refuse(
                        format!("facility {facility} sends to facility {target} of {count}"),
                        "facilities are numbered from 0",
                    );
                };
                if sources.last() != Some(&facility) {
                    sources.push(facility);
                }
            }
        }
        if let Some(facility) = sources.iter().position(|sources| sources.len() > Self::MOST_SOURCES) {
            return refuse(
                format!("{} facilities send to facility {facility}", sources[facility].len()),
                "the event list takes at most 64; run the network with the conservative engine",
            );
        }
        Ok(Self { means, targets, sources, tokens })
    }

    /// The paper's model (section 6): a torus of facilities, each of which sends to its four
    /// neighbours, all with the same mean service time. Tokens are spread evenly at first.
    ///
    /// # Errors
    /// [`FelError::Setting`], naming the value.
    pub fn torus(rows: u32, columns: u32, tokens: u32, mean: Ticks) -> Result<Self, FelError> {
        let count = u64::from(rows) * u64::from(columns);
        if count == 0 || count > 1 << 28 {
            return refuse(format!("a torus of {rows} x {columns} facilities"), "choose from 1 to 2^28");
        }
        let count = rows * columns;
        let facility = |facility: u32| {
            let (row, column) = (facility / columns, facility % columns);
            let at = |row: u32, column: u32| row % rows * columns + column % columns;
            let targets = vec![
                at(row, column + 1),
                at(row, column + columns - 1),
                at(row + 1, column),
                at(row + rows - 1, column),
            ];
            (mean, targets, tokens / count + u32::from(facility < tokens % count))
        };
        Self::new((0..count).map(facility))
    }

    /// Converts a closed network of single-server FIFO stations without capacities and patience,
    /// with one class of customers, exponential services, and routes whose probabilities are
    /// multiples of 1/n for an n up to 64.
    ///
    /// # Errors
    /// [`FelError::Setting`], with the node and what the event list does not support.
    pub fn of(facility: &Facility) -> Result<Self, FelError> {
        const REMEDY: &str = "the event list takes single-server FIFO stations with exponential services and one class of customers; run the network without an interval";
        let node = |node: &Node| {
            let lacks = |what: &str| refuse(format!("`{}` {what}", node.name), REMEDY);
            let fifo = Kind::Station { servers: Some(1), capacity: None, discipline: Discipline::Fifo };
            let [pair] = &node.pairs[..] else { return lacks("serves several classes") };
            if node.kind != fifo {
                return lacks("is not such a station");
            }
            if pair.routes.iter().any(|route| route.travel.is_some()) {
                return lacks("has routes with travel times");
            }
            if pair.patience.is_some() || !node.plain() || node.choice != super::nodes::Choice::Chance {
                return lacks("has customers that lose patience, or cyclic routes");
            }
            let Some(Distribution::Exponential(mean)) = pair.service else {
                return lacks("has services that are not exponential");
            };
            let times = |n: u32| pair.routes.iter().map(move |route| route.probability * f64::from(n));
            let whole = |n: &u32| {
                times(*n).all(|times| times > 0.5 && (times - times.round()).abs() < 1e-9 * f64::from(*n))
            };
            let Some(n) = (1..=64).find(whole) else {
                return lacks("has routes with probabilities that are not multiples of 1/n, n to 64");
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64")]
            let often = times(n).map(|times| times.round() as usize);
            let targets = pair.routes.iter().zip(often).flat_map(|(route, often)| {
                std::iter::repeat_n(u32::try_from(route.node).expect("an LP"), often)
            });
            let Ok(mean) = facility.resolution.ticks(mean) else { return lacks("has no valid service time") };
            Ok((Ticks::new(mean.get().saturating_sub(1)), targets.collect(), pair.population))
        };
        Self::new(facility.nodes.iter().map(node).collect::<Result<Vec<_>, _>>()?)
    }

    /// The number of facilities.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Always false: no network is empty.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// Draws the service with a number (from 1) at a facility: its length and the next facility of
    /// the token. The engine of `pdes` draws the same for an LP's event with that number.
    fn draw(&self, seed: u64, facility: u32, number: u64) -> (u64, u32) {
        let mut stream = Stream::new(seed, facility, number);
        let service = stream.exponential(Ticks::new(self.means[facility as usize].into())).get() + 1;
        let targets = &self.targets[facility as usize];
        let target = stream.below(u32::try_from(targets.len()).expect("checked"));
        (service, targets[target as usize])
    }
}

/// The whole interval nearest to `service` after `now`, the later of two; `now` is a whole
/// interval.
fn rounded(now: u64, service: u64, interval: u32) -> u64 {
    match u64::from(interval) {
        0 => now + service,
        interval => now + (2 * service + interval) / (2 * interval) * interval,
    }
}

/// The output of one facility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FelRow {
    /// Services begun.
    pub began: u64,
    /// Time of service, up to the end of the run.
    pub busy: Ticks,
    /// Total waiting time of tokens whose services have begun.
    pub waited: Ticks,
    /// When the token in service departs, in whole intervals; `None` if none is in service.
    pub departs: Option<Ticks>,
}

/// The output of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FelResults {
    /// The end of the run.
    pub time: Ticks,
    /// By facility.
    pub facilities: Vec<FelRow>,
}

impl FelResults {
    /// Services that have ended: the events executed.
    pub fn served(&self) -> u64 {
        self.facilities.iter().map(|row| row.began - u64::from(row.departs.is_some())).sum()
    }

    /// The share of time for which a facility serves, averaged over all facilities.
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn utilisation(&self) -> f64 {
        let busy: f64 = self.facilities.iter().map(|row| row.busy.get() as f64).sum();
        busy / (self.time.get() as f64 * self.facilities.len() as f64)
    }

    /// A commutative sum over the facilities' rows: equal on every device.
    pub fn fingerprint(&self) -> u64 {
        /// "felf"
        const KIND: u32 = 0x6665_6c66;
        let row = |(facility, row): (u32, &FelRow)| {
            let FelRow { began, busy, waited, departs } = *row;
            let words =
                [Ticks::new(began), busy, waited, departs.unwrap_or(Ticks::NEVER)].map(Ticks::to_words);
            mix(KIND, [facility].into_iter().chain(words.into_iter().flatten()))
        };
        (0..).zip(&self.facilities).map(row).fold(0, u64::wrapping_add)
    }
}

/// Busy time up to `now`, of services that are counted in full when they begin.
fn busy_until(busy: u64, departs: Option<Ticks>, now: Ticks) -> Ticks {
    let ahead = departs.map_or(0, |departs| departs.get().saturating_sub(now.get()));
    Ticks::new(busy.saturating_sub(ahead))
}
fn interval_word(interval: Ticks) -> Result<u32, FelError> {
    match u32::try_from(interval.get()) {
        Ok(interval) if interval <= 1 << 31 => Ok(interval),
        _ => refuse(format!("an interval of {} ticks", interval.get()), "choose at most 2^31"),
    }
}
