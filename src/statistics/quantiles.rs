//! Histograms of replications, and quantiles of all their observations together.
//!
//! Replication r is in group r mod 32, and a group has counts of its own. Counts are summed, so
//! results do not depend on the parts in which a study runs. A quantile is that of all groups
//! together. Its interval contains the values x that Student's t-test of the groups does not
//! reject: per group, the number of observations below x less the quantile's share of all, which
//! should be 0 on average. The test corrects for the skewness of these numbers, as the intervals of
//! deviations do.

use super::{student_t, unskewed_interval};
use crate::text::first_of;

shared! {
    "facility/network/bins.wgsl":
    /// Bins of a histogram.
    pub(crate) const BINS: u32;
    pub(crate) const BIN_ROWS: u32;
    /// Bins of numbers over time.
    pub(crate) const LENGTHS: usize;
}

/// Also counts all larger values.
pub(crate) const LAST_BIN: u32 = BINS - 1;

/// Groups of replications: enough for a t-test, and few enough for memory.
pub(crate) const GROUPS: usize = 32;

/// Groups that must have observations as large as a quantile: with fewer, intervals are too narrow.
pub(crate) const ENOUGH: usize = 10;

/// The bin of a value whose unit is 2^shift.
pub(crate) fn bin_of(value: u64, shift: u32) -> u32 {
    let units = u32::try_from(value >> shift).unwrap_or(u32::MAX);
    if units < 16 {
        return units;
    }
    let leading = units.ilog2();
    (leading - 3) * 16 + (units >> (leading - 4) & 15)
}

/// The range of a bin: lower edge (included) and upper edge (excluded).
pub(crate) fn bin_edges(bin: u32, shift: u32) -> [f64; 2] {
    let edge = |bin: u32| match bin {
        0..16 => f64::from(bin),
        _ => f64::from(16 + bin % 16) * f64::from(bin / 16 - 1).exp2(),
    };
    [bin, bin + 1].map(|bin| edge(bin) * f64::from(shift).exp2())
}

/// The bin of a number over time.
pub(crate) fn length_bin(number: u32) -> usize {
    if number < 32 {
        return number as usize;
    }
    let leading = number.ilog2();
    (((leading - 1) * 8 + (number >> (leading - 3) & 7)) as usize).min(LENGTHS - 1)
}

/// The numbers of a bin: the least, and the largest. The last one has no largest.
pub(crate) fn length_range(bin: usize) -> (u32, Option<u32>) {
    let least = |bin: u32| match bin {
        0..32 => bin,
        _ => (8 + bin % 8) << (bin / 8 - 2),
    };
    let bin = u32::try_from(bin).expect("below LENGTHS");
    (least(bin), (bin as usize + 1 < LENGTHS).then(|| least(bin + 1) - 1))
}

/// The width of the bin of a number over time, if it holds several.
pub(crate) fn length_resolution(number: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let (least, most) = length_range(length_bin(number as u32));
    most.filter(|most| *most > least).map(|most| f64::from(most - least + 1))
}

/// The warning of quantiles beyond which few groups have observations; `what` are these.
pub(crate) fn too_narrow(few: &[String], what: &str) -> Option<String> {
    (!few.is_empty()).then(|| {
        format!(
            "intervals may be too narrow, since {what} occurred in fewer than {ENOUGH} replications \
             or groups of them: {}; make the runs longer, or more of them",
            first_of(few)
        )
    })
}

/// Histograms of a study, summed by group of its replications.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Histograms {
    /// By histogram and group: counts up to the last nonempty bin.
    counts: Vec<Vec<u64>>,
    replications: u64,
}

impl Histograms {
    /// This number of histograms, without replications.
    pub(crate) fn new(histograms: usize) -> Self {
        Self { counts: vec![Vec::new(); histograms * GROUPS], replications: 0 }
    }

    /// Replications that were added.
    pub(crate) fn replications(&self) -> u64 {
        self.replications
    }

    /// Adds the next replication: for each histogram, bins with their counts.
    pub(crate) fn add<I: IntoIterator<Item = (usize, u32)>>(
        &mut self,
        histograms: impl IntoIterator<Item = I>,
    ) {
        #[expect(clippy::cast_possible_truncation, reason = "below 32")]
        let group = (self.replications % GROUPS as u64) as usize;
        self.replications += 1;
        let sums = self.counts.iter_mut().skip(group).step_by(GROUPS);
        for (sums, counts) in sums.zip(histograms) {
            for (bin, count) in counts.into_iter().filter(|&(_, count)| count > 0) {
                sums.resize(sums.len().max(bin + 1), 0);
                // Counts from a manipulated file may be at their maximum.
                sums[bin] = sums[bin].saturating_add(count.into());
            }
        }
    }

    /// The numbers that a file stores: per histogram and group its length, then its counts.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let each = |counts: &'_ Vec<u64>| std::iter::once(counts.len() as u64).chain(counts.clone());
        self.counts.iter().flat_map(each)
    }

    /// Restores `replications` replications from the numbers of a file, and takes no more of them
    /// than it needs; `None` if they do not fit.
    pub(crate) fn restore(
        &mut self,
        replications: u64,
        numbers: &mut impl ExactSizeIterator<Item = u64>,
    ) -> Option<()> {
        self.replications = replications;
        for counts in &mut self.counts {
            let length = numbers.next().filter(|&length| length <= BINS.into())?;
            counts.extend(numbers.by_ref().take(usize::try_from(length).ok()?));
            (counts.len() as u64 == length).then_some(())?;
        }
        Some(())
    }

    /// The number of observations of some histograms together below each bin, and at the end all,
    /// by group.
    pub(crate) fn below(&self, histograms: impl Iterator<Item = usize> + Clone) -> Vec<Vec<u128>> {
        let group = |group: usize| {
            let mut below = vec![0_u128; BINS as usize + 1];
            for histogram in histograms.clone() {
                let counts = &self.counts[histogram * GROUPS + group];
                below[1..].iter_mut().zip(counts).for_each(|(sum, &count)| *sum += u128::from(count));
            }
            let mut sum = 0;
            for count in &mut below {
                sum += *count;
                *count = sum;
            }
            below
        };
        let groups = usize::try_from(self.replications).unwrap_or(GROUPS).min(GROUPS);
        (0..groups).map(group).collect()
    }
}

/// A quantile. Positions are in bins: 3.5 is the middle of bin 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantile {
    pub(crate) place: f64,
    /// The interval, if there is one; its upper end may be in the last bin.
    pub(crate) ends: Option<[f64; 2]>,
    /// Whether few groups have observations as large as the quantile.
    pub(crate) few: bool,
}

/// The quantile of all groups; `None` if nothing was observed.
pub(crate) fn quantile(groups: &[Vec<u128>], percent: u32, level: f64) -> Option<Quantile> {
    let all = BINS as usize;
    let total = |edge: usize| groups.iter().map(|below| below[edge]).sum::<u128>();
    let rank = (total(all) * u128::from(percent)).div_ceil(100);
    if rank == 0 {
        return None;
    }
    let bin = (0..all).find(|&bin| rank <= total(bin + 1))?;
    let (below, count) = (total(bin), total(bin + 1) - total(bin));
    let place = number(bin) + (real(rank - below) - 0.5) / real(count);
    let observed = groups.iter().filter(|below| below[all] > 0).count();
    let long = groups.iter().filter(|group| group[all] > group[bin]).count();
    let few = long < observed.min(ENOUGH);
    let freedom = observed.saturating_sub(1) as u64;
    if freedom == 0 {
        return Some(Quantile { place, ends: None, few });
    }
    let student = student_t(freedom, level);
    // The interval of the tested number, in hundredths.
    let share = f64::from(percent);
    let test = |edge: usize| {
        let residual = |below: &Vec<u128>| 100.0 * real(below[edge]) - share * real(below[all]);
        unskewed_interval(&groups.iter().map(residual).collect::<Vec<_>>(), student)
    };
    // Interpolates the ends of these intervals linearly between two edges.
    let crossing = |first: f64, second: f64| (first / (first - second)).clamp(0.0, 1.0);
    let (mut lower, mut last) = (0.0, test(bin + 1)[1]);
    for edge in (0..=bin).rev() {
        let here = test(edge)[1];
        if here < 0.0 {
            lower = number(edge) + crossing(here, last);
            break;
        }
        last = here;
    }
    let (mut upper, mut last) = (number(all), test(bin)[0]);
    for edge in bin + 1..all {
        let here = test(edge)[0];
        if here > 0.0 {
            upper = number(edge - 1) + crossing(last, here);
            break;
        }
        last = here;
    }
    Some(Quantile { place, ends: Some([lower.min(place), upper.max(place)]), few })
}

fn number(bin: usize) -> f64 {
    real(bin as u128)
}

#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn real(number: u128) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_numbers_follow_each_other() {
        let mut next = 0;
        for bin in 0..LENGTHS {
            let (least, most) = length_range(bin);
            assert_eq!((least, length_bin(least)), (next, bin));
            let Some(most) = most else { continue };
            assert_eq!(length_bin(most), bin);
            assert!(most - least <= least / 8 && (most == least || least >= 32), "{bin}: {least} to {most}");
            next = most + 1;
        }
        assert_eq!((length_bin(u32::MAX), next), (LENGTHS - 1, 7680));
    }
}
