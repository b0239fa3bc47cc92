//! Shares of waits and sojourns up to a time, counted from histograms in each replication.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::statistics::Part;
use crate::statistics::quantiles::BINS;
use crate::text::quoted;

use super::measures::Measured;
use super::model::histogram_words;
use super::sums::real;
use super::{Facility, FacilityError, Measure};

/// The share of the times at a node that are at most a bound, as a measure of a study:
/// `share(wait(desk) <= 4)`, or `share(sojourn(desk, urgent) <= 240)` of a class.
///
/// Times are whole ticks, and those up to the bound are counted exactly.
///
/// ```
/// use eventhorizon::facility::Share;
///
/// let share: Share = "wait(desk) <= 4".parse()?;
/// assert_eq!(share.to_string(), "share(wait(desk) <= 4)");
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// [`Measure::WaitShare`] or [`Measure::SojournShare`].
    measure: Measure,
    node: String,
    class: Option<String>,
    /// In the network's unit of time.
    up_to: f64,
}

/// What a share is called in errors.
const WHAT: &str = "a share";

impl Share {
    /// Times up to `up_to` of a class (or of all) at a node: waits, or sojourns.
    pub fn new(is_wait: bool, node: &str, class: Option<&str>, up_to: f64) -> Self {
        let measure = if is_wait { Measure::WaitShare } else { Measure::SojournShare };
        Self { measure, node: node.to_owned(), class: class.map(str::to_owned), up_to }
    }

    fn wrong(&self, node: &str, remedy: impl Into<String>) -> FacilityError {
        let (node, value) = (node.to_owned(), self.to_string());
        FacilityError::Setting { node, what: WHAT, value, remedy: remedy.into() }
    }
}

/// The name of the times that a share counts.
fn times(measure: Measure) -> &'static str {
    if measure == Measure::WaitShare { "wait" } else { "sojourn" }
}

/// The name of a share as a column.
pub(super) fn column(measure: Measure, node: &str, class: Option<&str>, up_to: f64) -> String {
    let class = class.map_or_else(String::new, |class| format!(", {class}"));
    format!("share({}({node}{class}) <= {up_to})", times(measure))
}

/// The same without the node: for tables.
pub(super) fn short(measure: Measure, up_to: f64) -> String {
    format!("share({} <= {up_to})", times(measure))
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&column(self.measure, &self.node, self.class.as_deref(), self.up_to))
    }
}

impl FromStr for Share {
    type Err = FacilityError;

    /// Parses `wait(NODE) <= TIME`, `sojourn(NODE, CLASS) <= TIME`, or the same in `share(...)`.
    fn from_str(text: &str) -> Result<Self, FacilityError> {
        let wrong = || FacilityError::Setting {
            node: quoted(text),
            what: WHAT,
            value: "invalid".to_owned(),
            remedy: "write wait(NODE) <= TIME or sojourn(NODE, CLASS) <= TIME".to_owned(),
        };
        let inner = text.trim();
        let inner = inner.strip_prefix("share(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
        let (left, bound) = inner.rsplit_once("<=").ok_or_else(wrong)?;
        let (name, place) = left.trim().split_once('(').ok_or_else(wrong)?;
        let place = place.strip_suffix(')').ok_or_else(wrong)?;
        let (node, class) = match place.split_once(',') {
            Some((node, class)) => (node.trim(), Some(class.trim())),
            None => (place.trim(), None),
        };
        let up_to = bound.trim().parse::<f64>().ok().filter(|bound| bound.is_finite() && *bound >= 0.0);
        match (name.trim(), up_to) {
            ("wait", Some(up_to)) => Ok(Self::new(true, node, class, up_to)),
            ("sojourn", Some(up_to)) => Ok(Self::new(false, node, class, up_to)),
            _ => Err(wrong()),
        }
    }
}

impl Facility {
    /// The columns of shares. `self` has details.
    pub(super) fn shares(&self, shares: &[Share]) -> Result<Vec<Measured>, FacilityError> {
        let columns = self.columns();
        shares.iter().map(|share| self.share(share, &columns)).collect()
    }

    fn share(&self, share: &Share, columns: &[Measured]) -> Result<Measured, FacilityError> {
        let network = &self.network;
        let node = self.nodes.iter().position(|node| node.name == share.node);
        let node = node.ok_or_else(|| share.wrong(&network.name, "write the name of a node"))?;
        let class = share.class.as_ref().map(|class| {
            let known = network.classes.iter().position(|known| known == class);
            known.ok_or_else(|| {
                share.wrong(&share.node, format!("write one of {}", network.classes.join(", ")))
            })
        });
        let class = class.transpose()?;
        let of = if share.measure == Measure::WaitShare { Measure::Wait } else { Measure::Sojourn };
        let is_measured = |column: &Measured| {
            column.node == Some(node) && column.measure == of && (class.is_none() || column.class == class)
        };
        if !columns.iter().any(is_measured) {
            return Err(
                share.wrong(&share.node, "no such times are measured there: choose another node or class")
            );
        }
        self.bound(share.up_to)?;
        Ok(Measured { up_to: Some(share.up_to), ..self.measured(Some(node), class, share.measure) })
    }

    /// A bound in whole ticks, rounded down: times are whole ticks.
    fn bound(&self, up_to: f64) -> Result<crate::time::Ticks, FacilityError> {
        let ticks = (up_to * f64::from(self.resolution.ticks_per_unit()) * (1.0 + f64::EPSILON)).floor();
        let units = ticks / f64::from(self.resolution.ticks_per_unit());
        // An error names the bound as it was written.
        let found = self.resolution.ticks(units).or_else(|_| self.resolution.ticks(up_to));
        found.map_err(|source| FacilityError::Time { what: "bound of a share", source })
    }

    /// The same with details that count times up to the bounds of shares.
    pub(super) fn with_shares(self, shares: &[Share]) -> Result<Self, FacilityError> {
        let bounds = shares.iter().map(|share| self.bound(share.up_to));
        let bounds = bounds.collect::<Result<Vec<_>, _>>()?;
        Ok(self.with_limits(bounds))
    }

    /// The part that a replication adds to a share, by its rows of histograms.
    pub(super) fn share_part(&self, column: &Measured, rows: &[[u32; 4]]) -> Part {
        let (node, up_to) = (column.node.expect("it is of a node"), column.up_to.expect("it has a bound"));
        let waits = column.measure == Measure::WaitShare;
        let bound = self.bound(up_to).expect("checked with the column").to_words();
        let limits = self.limits();
        let number = limits.iter().position(|limit| limit[..2] == bound).expect("each bound is a limit");
        let bin = limits[number][2] as usize;
        let words = histogram_words(u32::try_from(limits.len()).expect("as the data has"));
        let all = self.network.classes.len();
        let classes = column.class.map_or(0..all, |class| class..class + 1);
        let sum = |counts: &[u32]| counts.iter().map(|&count| u128::from(count)).sum::<u128>();
        let (mut below, mut count) = (0, 0);
        for class in classes {
            let histogram = (node * all + class) * 2 + usize::from(waits);
            let (bins, exact) = rows.as_flattened()[histogram * words..][..words].split_at(BINS as usize);
            below += sum(&bins[..bin]) + sum(&exact[..=number]);
            count += sum(bins) + sum(exact);
        }
        Part::ratio(real(below), real(count))
    }
}
