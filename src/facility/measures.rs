//! The measures of a network's runs, and how they follow from the output of its nodes.

use std::fmt;

use serde::Serialize;

use crate::statistics::quantiles::{LENGTHS, length_range};
use crate::statistics::{Estimator, Part, Pooled};
use crate::time::Ticks;

use super::distribution::whole;
use super::nodes::{Kind, Node, Pair, entered};
use super::scale::TimeScale;
use super::sums::{Observed, Sum, real};
use super::theory;
use super::{Discipline, Facility};

/// The reported quantiles of a histogram, in percent.
pub(super) const QUANTILES: [u32; 4] = [50, 90, 95, 99];

/// A measure of a class of customers at a node. Times are in the network's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Measure {
    /// Customers served per unit of time; at a source, sent; at a sink, arrived.
    Throughput,
    /// The average share of servers that hold a customer of this class: in service, waiting for a
    /// repair, or waiting for room at another node. [`Measure::Busy`] is the share that serves.
    Utilisation,
    /// Average number of customers present; at a fork, those whose tasks have not all come back. In
    /// the whole network, a forked customer counts once.
    Number,
    /// Average number of customers on their way from one node to another: of the whole network, if
    /// routes take time. Each task of a forked customer counts, unlike in [`Measure::Number`].
    Travelling,
    /// Average number of customers that wait.
    Queue,
    /// Mean time from arrival to the beginning of service.
    Wait,
    /// Standard deviation of these times, over all replications together.
    WaitDeviation,
    /// Mean time from arrival to departure, of served customers; at a sink, from their entry into
    /// the network; at a fork, until the last task came back.
    Sojourn,
    /// Standard deviation of these times, over all replications together.
    SojournDeviation,
    /// The share of arriving customers that find no room.
    Loss,
    /// The share of arriving customers whose patience ends.
    Reneged,
    /// The share of arriving customers that balk.
    Balked,
    /// The average share of servers that wait until another node has room.
    Blocked,
    /// The average share of servers that are down, whether they hold a customer or not.
    /// [`Measure::Busy`], [`Measure::Blocked`], this and the idle share add up to 1.
    Down,
    /// The average share of servers that serve: [`Measure::Utilisation`] of all classes without
    /// customers that wait for a repair or for room at another node. Only for stations with
    /// breakdowns or blocked customers.
    Busy,
    /// Average number of forked tasks that wait at their fork for the others.
    Tasks,
    /// The share of time in which no customer is present.
    Empty,
    /// The quantile of waits for a percentage: 50, 90, 95 or 99. Its error is at most one bin: 1/16
    /// of the quantile, or one unit of the histogram if that is longer (at most 1/64 of the
    /// shortest mean service, or a tick).
    ///
    /// In the first bin, from 0 to one unit, it is 0, since most of these customers did not wait;
    /// in other bins, waits are taken as evenly spread. `None` if it lies in the last bin, which
    /// has no upper end and begins at 2^32 units less 1/32 of them.
    WaitQuantile(u8),
    /// The same for the times from arrival to departure, taken as evenly spread in the first bin
    /// too.
    SojournQuantile(u8),
    /// The number of customers that is not exceeded in 90, 95 or 99 % of the time: the mean over
    /// the replications. From 32 on, it is up to 1/8 too large, the resolution of the distribution;
    /// `None` if it was ever more than 7,679.
    NumberQuantile(u8),
    /// The largest number of customers, with the same resolution: the mean over the replications.
    NumberMax,
    /// The share of waits up to a bound: a [`Share`](super::Share).
    WaitShare,
    /// The same for the times from arrival to departure.
    SojournShare,
}

impl Measure {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// All measures. Which of them a node has depends on its kind.
    pub fn all() -> impl Iterator<Item = Self> {
        MEASURES.iter().map(|row| row.measure)
    }

    /// The unit of its values, where `time` is the network's; none for shares.
    pub fn unit(self, time: &str) -> Option<String> {
        match self {
            Self::Throughput => Some(format!("customers per {time}")),
            Self::Wait | Self::WaitDeviation | Self::WaitQuantile(_) => Some(time.to_owned()),
            Self::Sojourn | Self::SojournDeviation | Self::SojournQuantile(_) => Some(time.to_owned()),
            Self::Number | Self::Travelling | Self::Queue | Self::NumberQuantile(_) | Self::NumberMax => {
                Some("customers".to_owned())
            }
            Self::Tasks => Some("tasks".to_owned()),
            _ => None,
        }
    }

    /// The measure with this name in tables.
    pub fn named(name: &str) -> Option<Self> {
        MEASURES.iter().find(|row| row.name == name).map(|row| row.measure)
    }

    /// Whether it is a share of times, from a histogram.
    pub(super) fn is_share(self) -> bool {
        matches!(self, Self::WaitShare | Self::SojournShare)
    }

    /// Whether it is read from the time with each number of customers.
    pub(super) fn is_of_lengths(self) -> bool {
        matches!(self, Self::NumberQuantile(_) | Self::NumberMax)
    }

    /// Whether only studies with details have it.
    pub(super) fn is_detail(self) -> bool {
        self.is_of_lengths() || self == Self::Empty || self.quantile().is_some()
    }

    /// Whether it has to reach the requested precision.
    pub(super) fn decides(self) -> bool {
        matches!(self, Self::Utilisation | Self::Number | Self::Sojourn)
    }

    /// For a quantile: its percentage, and whether it is of sojourns (0) or waits (1).
    pub(crate) fn quantile(self) -> Option<(u32, usize)> {
        match self {
            Self::SojournQuantile(percent) => Some((percent.into(), 0)),
            Self::WaitQuantile(percent) => Some((percent.into(), 1)),
            _ => None,
        }
    }

    fn row(self) -> &'static Row {
        let is_reported = |percent: u8| QUANTILES.contains(&percent.into());
        match self {
            Self::WaitQuantile(percent) if !is_reported(percent) => return Self::WaitQuantile(99).row(),
            Self::SojournQuantile(percent) if !is_reported(percent) => {
                return Self::SojournQuantile(99).row();
            }
            Self::NumberQuantile(percent) if !is_reported(percent) || percent == 50 => {
                return Self::NumberQuantile(99).row();
            }
            _ => {}
        }
        MEASURES.iter().find(|row| row.measure == self).expect("MEASURES has a row for each measure")
    }
}

/// A measure: its name, how replications are combined, and what a run adds.
struct Row {
    measure: Measure,
    name: &'static str,
    estimator: Estimator,
    /// Whether its times are pooled in ticks.
    in_ticks: bool,
    part: fn(&At<'_>) -> Part,
}

const fn row(measure: Measure, name: &'static str, estimator: Estimator, part: fn(&At<'_>) -> Part) -> Row {
    let in_ticks = matches!(
        measure,
        Measure::Wait | Measure::Sojourn | Measure::WaitDeviation | Measure::SojournDeviation
    );
    Row { measure, name, estimator, in_ticks, part }
}

/// A quantile or a share has no part here: it follows from histograms (`quantiles.rs`,
/// `shares.rs`).
const fn of_histogram(measure: Measure, name: &'static str, estimator: Estimator) -> Row {
    row(measure, name, estimator, |_| unreachable!("it follows from histograms"))
}

const fn quantile(measure: Measure, name: &'static str) -> Row {
    of_histogram(measure, name, Estimator::Mean)
}

/// All measures. Measures divided by the time of observation have the same divisor in all
/// replications, so their estimator is a mean.
static MEASURES: [Row; 31] = {
    use Estimator::{Deviation, Mean, Ratio};
    use Measure::*;
    [
        row(Throughput, "throughput", Mean, |at| Part::value(real(at.sum().served.into()) / at.span())),
        row(Utilisation, "utilisation", Mean, |at| {
            let busy = if at.is_shared() { at.seen.servers(at.node()) } else { at.sum().busy.0 };
            Part::value(at.average(busy) / at.servers())
        }),
        row(Number, "number", Mean, |at| {
            let present =
                if at.column.node.is_some() { at.sum().present.0 } else { at.facility.customers(at.seen) };
            Part::value(at.average(present))
        }),
        row(Travelling, "travelling", Mean, |at| Part::value(at.average(at.seen.travelling()))),
        row(Queue, "queue", Mean, |at| {
            Part::value(at.average(at.sum().present.0.saturating_sub(at.sum().busy.0)))
        }),
        row(Wait, "wait", Ratio, |at| at.sum().wait.mean()),
        row(WaitDeviation, "wait_deviation", Deviation, |at| at.sum().wait.moments()),
        row(Sojourn, "sojourn", Ratio, |at| at.sum().sojourn.mean()),
        row(SojournDeviation, "sojourn_deviation", Deviation, |at| at.sum().sojourn.moments()),
        row(Loss, "loss", Ratio, |at| at.share(at.sum().lost)),
        row(Reneged, "reneged", Ratio, |at| at.share(at.sum().reneged)),
        row(Balked, "balked", Ratio, |at| at.share(at.sum().balked)),
        row(Blocked, "blocked", Mean, |at| {
            Part::value(at.average(at.seen.servers(at.node())) / at.servers())
        }),
        row(Down, "down", Mean, |at| Part::value(at.average(at.seen.servers(at.node())) / at.servers())),
        row(Busy, "busy", Mean, |at| {
            // No station has both.
            let breaks = at.facility.nodes[at.node()].breakdown.is_some();
            let others = if breaks { at.seen.interrupted(at.node()) } else { at.seen.servers(at.node()) };
            Part::value(at.average(at.sum().busy.0.saturating_sub(others)) / at.servers())
        }),
        row(Tasks, "tasks", Mean, |at| Part::value(at.average(at.seen.servers(at.node())))),
        row(Empty, "empty", Mean, |at| Part::value(real(at.seen.length(at.node(), 0).into()) / at.seen.span)),
        row(NumberQuantile(90), "number_90", Mean, |at| at.number_below(0.9)),
        row(NumberQuantile(95), "number_95", Mean, |at| at.number_below(0.95)),
        row(NumberQuantile(99), "number_99", Mean, |at| at.number_below(0.99)),
        row(NumberMax, "number_max", Mean, |at| at.number_below(1.0)),
        quantile(WaitQuantile(50), "wait_50"),
        quantile(WaitQuantile(90), "wait_90"),
        quantile(WaitQuantile(95), "wait_95"),
        quantile(WaitQuantile(99), "wait_99"),
        quantile(SojournQuantile(50), "sojourn_50"),
        quantile(SojournQuantile(90), "sojourn_90"),
        quantile(SojournQuantile(95), "sojourn_95"),
        quantile(SojournQuantile(99), "sojourn_99"),
        of_histogram(WaitShare, "wait_share", Ratio),
        of_histogram(SojournShare, "sojourn_share", Ratio),
    ]
};

/// A column in a run, or in a part of one.
struct At<'s> {
    facility: &'s Facility,
    column: &'s Measured,
    seen: &'s Observed<'s>,
}

impl At<'_> {
    fn node(&self) -> usize {
        self.column.node.expect("it is of a node")
    }

    fn sum(&self) -> Sum {
        self.seen.sum(self.node(), self.column.class)
    }

    fn ticks(&self) -> f64 {
        f64::from(self.facility.resolution.ticks_per_unit())
    }

    /// The time of observation, in units.
    fn span(&self) -> f64 {
        self.seen.span / self.ticks()
    }

    /// The average over time of a number, from the area below it in ticks.
    fn average(&self, area: u128) -> f64 {
        real(area) / self.ticks() / self.span()
    }

    /// The least number of customers that is not exceeded in a share of the time: the largest of
    /// its bin.
    fn number_below(&self, share: f64) -> Part {
        let mut below = 0.0;
        let bin = (0..LENGTHS).find(|&bin| {
            below += real(self.seen.length(self.node(), bin).into());
            // Sums of whole ticks below 2^53 are exact.
            below >= share * self.seen.span
        });
        let most = bin.and_then(|bin| length_range(bin).1);
        Part::value(most.map_or(f64::NAN, f64::from))
    }

    /// A share of the customers that arrive.
    fn share(&self, part: u64) -> Part {
        Part::ratio(real(part.into()), real(self.sum().arrivals.into()))
    }

    fn is_shared(&self) -> bool {
        let kind = self.facility.nodes[self.node()].kind;
        matches!(kind, Kind::Station { discipline: Discipline::Sharing, .. })
    }

    /// The number of servers of the station. Without servers it is NaN, since there are no shares.
    fn servers(&self) -> f64 {
        let node = &self.facility.nodes[self.node()];
        match node.kind {
            Kind::Station { servers: Some(_), .. } if !node.calendar.is_empty() => {
                let servers = self.facility.servers_between(node, self.seen.from, self.seen.to);
                if servers > 0.0 { servers } else { f64::NAN }
            }
            Kind::Station { servers: Some(servers), .. } => f64::from(servers),
            _ => f64::NAN,
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A column of results: a measure of a class (or of all) at a node (or in the whole network), with
/// the part that each replication adds. Quantiles have histograms instead (`quantiles.rs`).
pub(crate) struct Measured {
    pub(crate) node: Option<usize>,
    pub(crate) class: Option<usize>,
    pub(crate) measure: Measure,
    /// The bound of a share, in units.
    pub(crate) up_to: Option<f64>,
    pub(crate) parts: Pooled,
}

impl Measured {
    /// A column without replications.
    fn new(node: Option<usize>, class: Option<usize>, measure: Measure, ticks: f64) -> Self {
        let row = measure.row();
        let unit = if row.in_ticks { ticks } else { 1.0 };
        Self { node, class, measure, up_to: None, parts: Pooled::new(row.estimator).in_units(unit) }
    }
}

/// The measures of the reported quantiles.
fn parts(of: impl Fn(u8) -> Measure) -> impl Iterator<Item = Measure> {
    QUANTILES.into_iter().map(move |percent| of(u8::try_from(percent).expect("below 100")))
}

impl Facility {
    /// A column without replications.
    pub(super) fn measured(&self, node: Option<usize>, class: Option<usize>, measure: Measure) -> Measured {
        Measured::new(node, class, measure, f64::from(self.resolution.ticks_per_unit()))
    }

    /// The columns of results.
    pub(super) fn columns(&self) -> Vec<Measured> {
        self.columns_in(f64::from(self.resolution.ticks_per_unit()))
    }

    /// Whether a column counts services at one node, of all classes.
    pub(super) fn counts_services(&self, column: &Measured) -> bool {
        let node = column.node.map(|node| &self.nodes[node]);
        let coming = |node: &Node| node.pairs.iter().filter(|pair| pair.comes).count();
        column.measure == Measure::Throughput
            && node.is_some_and(|node| {
                let made = column.class.is_some() && column.class == node.made();
                matches!(node.kind, Kind::Station { .. })
                    && !made
                    && (column.class.is_none() || coming(node) == 1)
            })
    }

    /// The same with times pooled in units of this many ticks.
    pub(super) fn columns_in(&self, ticks: f64) -> Vec<Measured> {
        use Measure::*;
        let mut columns = Vec::new();
        let new = |node, class, measure| Measured::new(node, class, measure, ticks);
        let entered = entered(&self.nodes);
        for (number, node) in self.nodes.iter().enumerate() {
            let shared = matches!(node.kind, Kind::Station { discipline: Discipline::Sharing, .. });
            let mut measures = match node.kind {
                Kind::Source { .. } | Kind::Router => vec![Throughput],
                Kind::Sink => vec![Throughput, Sojourn, SojournDeviation],
                Kind::Fork => vec![Throughput, Number, Sojourn, SojournDeviation],
                Kind::Station { servers: None, .. } => vec![Throughput, Number, Sojourn],
                Kind::Station { .. } if shared => vec![Throughput, Number, Sojourn, SojournDeviation],
                Kind::Station { .. } => vec![
                    Throughput,
                    Utilisation,
                    Number,
                    Queue,
                    Wait,
                    WaitDeviation,
                    Sojourn,
                    SojournDeviation,
                ],
            };
            if self.details() && measures.contains(&Wait) {
                measures.extend(parts(WaitQuantile));
            }
            if self.details() && measures.contains(&Sojourn) {
                measures.extend(parts(SojournQuantile));
            }
            let bounded = |class: usize| node.pairs[class].comes && node.room(class).is_some();
            if (0..node.pairs.len()).any(bounded) && (!node.blocks || entered[number]) {
                measures.push(Loss);
            }
            if node.pairs.iter().any(|pair| pair.patience.is_some()) {
                measures.push(Reneged);
            }
            if !node.balking.is_empty() {
                measures.push(Balked);
            }
            let come: Vec<_> = (0..node.pairs.len()).filter(|&class| node.pairs[class].comes).collect();
            let all = (come.len() > 1).then_some(None);
            for class in all.into_iter().chain(come.into_iter().map(Some)) {
                columns.extend(measures.iter().map(|&measure| new(Some(number), class, measure)));
            }
            if let Some(made) = node.made() {
                columns.push(new(Some(number), Some(made), Throughput));
            }
            // Measures that do not depend on a class.
            if shared {
                columns.push(new(Some(number), None, Utilisation));
            }
            let serves = matches!(node.kind, Kind::Station { servers: Some(_), .. });
            let (holds, breaks) = (serves && node.holds(&self.nodes), node.breakdown.is_some());
            let states = [(holds, Blocked), (breaks, Down), (holds || breaks, Busy)];
            let states = states.into_iter().filter(|(has, _)| *has);
            columns.extend(states.map(|(_, measure)| new(Some(number), None, measure)));
            if node.kind == Kind::Fork {
                columns.push(new(Some(number), None, Tasks));
            }
            if self.details() && matches!(node.kind, Kind::Station { .. }) {
                let of_lengths = [90, 95, 99].map(NumberQuantile);
                let of_lengths = [Empty].into_iter().chain(of_lengths).chain([NumberMax]);
                columns.extend(of_lengths.map(|measure| new(Some(number), None, measure)));
            }
        }
        columns.push(new(None, None, Number));
        if self.takes_time() {
            columns.push(new(None, None, Travelling));
        }
        columns
    }

    /// Whether any route takes time.
    pub(super) fn takes_time(&self) -> bool {
        let mut routes = self.nodes.iter().flat_map(|node| &node.pairs).flat_map(Pair::all_routes);
        routes.any(|route| route.travel.is_some())
    }

    pub(super) fn details(&self) -> bool {
        use crate::pdes::Model as _;
        self.params().details != 0
    }

    /// The part that a run, or an interval of one, adds to a column.
    pub(super) fn part(&self, column: &Measured, seen: &Observed<'_>) -> Part {
        (column.measure.row().part)(&At { facility: self, column, seen })
    }

    /// The area under the number of customers in the network. A forked customer counts once, at its
    /// outermost fork: its tasks are counted at stations, at forks and on their way, except those
    /// that came back.
    fn customers(&self, seen: &Observed<'_>) -> u128 {
        let (mut all, mut tasks) = (seen.travelling(), 0_u128);
        for (number, node) in self.nodes.iter().enumerate() {
            all += seen.sum(number, None).present.0;
            if node.kind == Kind::Fork {
                all += seen.servers(number);
                for (class, pair) in node.pairs.iter().enumerate() {
                    tasks += pair.tasks.len() as u128 * seen.sum(number, Some(class)).present.0;
                }
            }
        }
        all.saturating_sub(tasks)
    }

    /// Whether a column is a share of servers, and the schedule gives the station no server between
    /// two times.
    pub(super) fn unserved(&self, column: &Measured, from: Ticks, to: Ticks) -> bool {
        use Measure::{Blocked, Busy, Down, Utilisation};
        let share = matches!(column.measure, Utilisation | Blocked | Down | Busy);
        let node = column.node.map(|node| &self.nodes[node]);
        share
            && node
                .is_some_and(|node| !node.calendar.is_empty() && self.servers_between(node, from, to) <= 0.0)
    }

    /// What a column measures, in words.
    pub(super) fn reported_of(&self, column: &Measured) -> String {
        let node = column.node.map_or("(network)", |node| &self.nodes[node].name);
        let class = column.class.filter(|_| self.network.classes.len() > 1);
        let class = class.map_or_else(String::new, |class| format!(" of `{}`", self.network.classes[class]));
        format!("{}{class} at `{node}`", column.measure)
    }

    /// The length of a piece of a calendar in ticks.
    fn piece(&self, lasts: f64) -> u128 {
        let scale = TimeScale::new(self.resolution, self.network.until);
        whole(lasts, scale).map_or(0, |ticks| ticks.get().into())
    }

    /// The average number of servers that a calendar gives a station between two times, in ticks.
    pub(super) fn servers_between(&self, node: &Node, from: Ticks, to: Ticks) -> f64 {
        let pieces: Vec<(u128, f64)> =
            node.calendar.iter().map(|&(lasts, servers)| (self.piece(lasts), servers)).collect();
        let round: u128 = pieces.iter().map(|piece| piece.0).sum();
        let whole: f64 = pieces.iter().map(|&(lasts, servers)| real(lasts) * servers).sum();
        // From time zero to `time`.
        let until = |time: Ticks| {
            let (rounds, mut rest) = (u128::from(time.get()) / round, u128::from(time.get()) % round);
            let mut area = real(rounds) * whole;
            for &(lasts, servers) in &pieces {
                area += real(lasts.min(rest)) * servers;
                rest -= lasts.min(rest);
            }
            area
        };
        (until(to) - until(from)) / real(u128::from(to.get() - from.get()))
    }

    pub(super) fn theory(&self, column: &Measured, known: &theory::KnownFormula) -> Option<f64> {
        let Some(node) = column.node else {
            // Forked tasks are parts of customers.
            if self.nodes.iter().any(|node| node.kind == Kind::Fork) {
                return None;
            }
            let stations = self.nodes.iter().enumerate();
            let stations = stations.filter(|(_, node)| matches!(node.kind, Kind::Station { .. }));
            let travelling = theory::travelling(&self.nodes, known)?;
            if column.measure == Measure::Travelling {
                return Some(travelling);
            }
            let numbers = stations.map(|(node, _)| known.get(&(node, None, Measure::Number)).copied());
            return numbers.sum::<Option<f64>>().map(|numbers| numbers + travelling);
        };
        let alone = self.nodes[node].pairs.iter().filter(|pair| pair.comes).count() == 1;
        let of = |class| known.get(&(node, class, column.measure)).copied();
        of(column.class).or_else(|| of(None).filter(|_| alone))
    }

    pub(super) fn params_warm_up(&self) -> Ticks {
        use crate::pdes::Model as _;
        self.params().warm_up
    }
}
