//! Quantiles of times, from the histograms of all replications together
//! ([`statistics::quantiles`](crate::statistics)): a histogram of each class at each node.

use crate::pdes::Model as _;
use crate::statistics::quantiles::{self, BINS, LAST_BIN, bin_edges, quantile, too_narrow};

use super::measures::{Measure, Measured};
use super::{Facility, Row};

/// The histograms of a study's replications: by node, class, sojourns (0) and waits (1).
#[derive(Debug, Clone)]
pub(super) struct Histograms {
    classes: usize,
    sums: quantiles::Histograms,
    /// The bin of each limit of shares.
    limits: Vec<usize>,
}

impl Histograms {
    /// Without replications; no histograms if the study has no details.
    pub(super) fn new(facility: &Facility, details: bool) -> Self {
        let classes = facility.network.classes.len();
        let histograms = if details { facility.nodes.len() * classes * 2 } else { 0 };
        let limits = facility.limits().iter().map(|limit| limit[2] as usize).collect();
        Self { classes, sums: quantiles::Histograms::new(histograms), limits }
    }

    /// Adds the next replication, by its LPs' rows of [`Facility::rows_of_histograms`].
    pub(super) fn add(&mut self, rows: &[[u32; 4]]) {
        let words = BINS as usize + self.limits.len().next_multiple_of(4);
        let limits = &self.limits;
        self.sums.add(rows.as_flattened().chunks_exact(words).map(|counts| {
            let (bins, exact) = counts.split_at(BINS as usize);
            let exact = limits.iter().copied().zip(exact.iter().copied());
            bins.iter().copied().enumerate().chain(exact)
        }));
    }

    /// The numbers that a file stores.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.sums.numbers()
    }

    /// Restores `replications` replications from the numbers of a file; `None` if they do not fit.
    pub(super) fn restore(
        &mut self,
        replications: u64,
        mut numbers: impl ExactSizeIterator<Item = u64>,
    ) -> Option<()> {
        self.sums.restore(replications, &mut numbers)?;
        (numbers.len() == 0).then_some(())
    }

    /// The number of times below each bin, and at the end all, by group: of a class at a node, or
    /// of all classes.
    pub(super) fn below(&self, node: usize, class: Option<usize>, which: usize) -> Vec<Vec<u128>> {
        let classes = class.map_or(0..self.classes, |class| class..class + 1);
        self.sums.below(classes.map(|class| (node * self.classes + class) * 2 + which))
    }
}

impl Facility {
    /// Fills the rows of quantiles, in the order of `columns`. `below` is [`Histograms::below`].
    /// Returns warnings.
    pub(super) fn fill_quantiles(
        &self,
        columns: &[Measured],
        below: impl Fn(usize, Option<usize>, usize) -> Vec<Vec<u128>>,
        level: f64,
        rows: &mut [Row],
    ) -> Vec<String> {
        let (mut warnings, mut few) = (Vec::new(), Vec::new());
        // Replications with sojourns, and with waits: their means precede their quantiles.
        let mut observed = [0; 2];
        // The histogram read last.
        let (mut of, mut groups) = (None, Vec::new());
        for (column, row) in columns.iter().zip(rows) {
            let Some((percent, which)) = column.measure.quantile() else {
                match column.measure {
                    Measure::Sojourn => observed[0] = row.observations,
                    Measure::Wait => observed[1] = row.observations,
                    _ => {}
                }
                continue;
            };
            let node = column.node.expect("quantiles are of a node");
            if of != Some((node, column.class, which)) {
                of = Some((node, column.class, which));
                groups = below(node, column.class, which);
            }
            row.observations = observed[which];
            let Some(found) = quantile(&groups, percent, level) else { continue };
            let time = |place| self.time_at(place, which == 1);
            let Some(mean) = time(found.place) else {
                warnings.push(format!(
                    "{} is not reported: it is beyond its histogram, 2^26 times the shortest mean service or more",
                    self.reported_of(column)
                ));
                continue;
            };
            if found.few {
                few.push(self.reported_of(column));
            }
            row.mean = Some(mean);
            row.resolution = self.bin_width(mean);
            if let Some((lower, upper)) = found.ends.and_then(|ends| time(ends[0]).zip(time(ends[1]))) {
                (row.lower, row.upper) = (Some(lower), Some(upper));
                row.half_width = Some((upper - lower) / 2.0);
            }
        }
        warnings.extend(too_narrow(&few, "times as long"));
        warnings
    }

    /// The time at a position among bins, in units: times are evenly spread within a bin, except
    /// that waits in the first bin are 0. The last bin has no upper end, and no times.
    fn time_at(&self, place: f64, waits: bool) -> Option<f64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin's number")]
        let bin = place as u32;
        if bin >= LAST_BIN {
            return None;
        }
        if bin == 0 && waits {
            return Some(0.0);
        }
        let [from, to] = bin_edges(bin, self.params().bin_shift);
        let ticks = from + (to - from) * (place - f64::from(bin));
        Some(ticks / f64::from(self.resolution.ticks_per_unit()))
    }

    /// The width of the bin of a time, in units; `None` for the last bin, which has no upper end.
    fn bin_width(&self, time: f64) -> Option<f64> {
        let bin = self.bin_of(self.resolution.ticks(time).ok()?);
        let [from, to] = bin_edges(bin, self.params().bin_shift);
        (bin != LAST_BIN).then(|| (to - from) / f64::from(self.resolution.ticks_per_unit()))
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of bins")]
mod tests {
    use super::*;
    use crate::facility::QUANTILES;
    use crate::facility::{Distribution, Network, Source, Station};
    use crate::statistics::quantiles::GROUPS;
    use crate::statistics::{student_t, unskewed_interval};
    use crate::time::Ticks;
    use proptest::prelude::*;

    fn facility() -> Facility {
        let network = Network::new("n")
            .with_classes(&["a", "b"])
            .source("in", Source::new(Distribution::Exponential(2.0), "s"))
            .source("other", Source::new(Distribution::Exponential(9.0), "s").of("b"))
            .station("s", Station::new(Distribution::Exponential(1.0), "out"))
            .sink("out");
        network.compile().unwrap().with_details()
    }

    /// The station's LP.
    const STATION: usize = 2;

    /// The LPs' memory after a replication with these waits at the station, by class.
    fn rows(facility: &Facility, waits: &[Vec<u64>; 2]) -> Vec<[u32; 4]> {
        let mut counts = vec![0_u32; facility.nodes.len() * 4 * BINS as usize];
        for (class, waits) in waits.iter().enumerate() {
            for &wait in waits {
                let histogram = (STATION * 2 + class) * 2 + 1;
                counts[histogram * BINS as usize + facility.bin_of(Ticks::new(wait)) as usize] += 1;
            }
        }
        counts.chunks_exact(4).map(|row| row.try_into().unwrap()).collect()
    }

    fn waits() -> impl Strategy<Value = [Vec<u64>; 2]> {
        let wait = prop_oneof![
            0..2_000_000_u64,
            any::<u64>().prop_flat_map(|bits| (8..64_u32).prop_map(move |shift| bits >> shift)),
        ];
        [proptest::collection::vec(wait.clone(), 0..40), proptest::collection::vec(wait, 0..9)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn quantiles_are_those_of_all_waits(
            runs in proptest::collection::vec(waits(), 1..80),
            class in proptest::option::of(0..2_usize),
            number in 0..4_usize,
        ) {
            let (facility, percent) = (facility(), QUANTILES[number]);
            let mut histograms = Histograms::new(&facility, true);
            runs.iter().for_each(|run| histograms.add(&rows(&facility, run)));
            let found = quantile(&histograms.below(STATION, class, 1), percent, 0.95);
            // By group, the bins of its times.
            let of = |run: &[Vec<u64>; 2]| match class {
                Some(class) => run[class].clone(),
                None => run.concat(),
            };
            let mut groups = vec![Vec::new(); runs.len().min(GROUPS)];
            for (number, run) in runs.iter().enumerate() {
                let bins = of(run).into_iter().map(|wait| facility.bin_of(Ticks::new(wait)) as usize);
                groups[number % GROUPS].extend(bins);
            }
            let mut all = groups.concat();
            all.sort_unstable();
            let Some(found) = found else {
                prop_assert!(all.is_empty());
                return Ok(());
            };
            let rank = (all.len() * percent as usize).div_ceil(100) - 1;
            let alike = |bin| all.iter().filter(|&&other| other == bin).count() as f64;
            let first = all.iter().position(|&bin| bin == all[rank]).unwrap();
            let place = all[rank] as f64 + ((rank - first) as f64 + 0.5) / alike(all[rank]);
            prop_assert!((found.place - place).abs() < 1e-9, "{found:?} {place}");
            let observed = groups.iter().filter(|group| !group.is_empty()).count();
            let Some([lower, upper]) = found.ends else {
                prop_assert_eq!(observed, 1);
                return Ok(());
            };
            prop_assert!(lower <= place && place <= upper);
            // Edges next to the ends, inside and outside.
            let student = student_t(observed as u64 - 1, 0.95);
            let interval = |edge: usize| {
                let residual = |group: &Vec<usize>| {
                    let below = group.iter().filter(|&&bin| bin < edge).count();
                    100.0 * below as f64 - f64::from(percent) * group.len() as f64
                };
                unskewed_interval(&groups.iter().map(residual).collect::<Vec<_>>(), student)
            };
            if lower > 0.0 && lower < place {
                // An end that is an edge may be where the interval ends at 0.
                prop_assert!(interval(lower as usize)[1] <= 0.0, "{found:?}");
                let inner = lower.floor() + 1.0;
                prop_assert!(inner > place || interval(inner as usize)[1] >= 0.0, "{found:?}");
            }
            if upper < f64::from(LAST_BIN) && upper > place {
                prop_assert!(interval(upper.ceil() as usize)[0] >= 0.0, "{found:?}");
                let inner = upper.ceil() - 1.0;
                prop_assert!(inner < place || interval(inner as usize)[0] <= 0.0, "{found:?}");
            }
        }

        #[test]
        fn a_file_holds_all_of_them(runs in proptest::collection::vec(waits(), 0..70), cut in 0..70_usize) {
            let facility = facility();
            let mut whole = Histograms::new(&facility, true);
            runs.iter().for_each(|run| whole.add(&rows(&facility, run)));
            let cut = cut.min(runs.len());
            let mut first = Histograms::new(&facility, true);
            runs[..cut].iter().for_each(|run| first.add(&rows(&facility, run)));
            let numbers: Vec<u64> = first.numbers().collect();
            let mut rest = Histograms::new(&facility, true);
            prop_assert_eq!(rest.restore(cut as u64, numbers.iter().copied()), Some(()));
            runs[cut..].iter().for_each(|run| rest.add(&rows(&facility, run)));
            prop_assert_eq!(&rest.sums, &whole.sums);
            let restored = |numbers: &[u64]| {
                Histograms::new(&facility, true).restore(cut as u64, numbers.iter().copied())
            };
            prop_assert_eq!(restored(&numbers[1..]), None);
            prop_assert_eq!(restored(&[&numbers[..], &[0]].concat()), None);
            prop_assert_eq!(restored(&[u64::MAX]), None);
        }
    }

    #[test]
    fn quantiles_of_which_there_are_few_are_named() {
        let facility = facility();
        // 5 of 40 replications have waits beyond all others.
        let mut histograms = Histograms::new(&facility, true);
        for number in 0..40_u64 {
            let long = if number < 5 { vec![1 << 30; 30] } else { Vec::new() };
            histograms.add(&rows(&facility, &[[vec![1000 + 50 * number; 100], long].concat(), Vec::new()]));
        }
        let groups = histograms.below(STATION, Some(0), 1);
        let few = |percent| quantile(&groups, percent, 0.95).unwrap().few;
        assert_eq!([50, 99].map(few), [false, true]);
        let warning = too_narrow(&vec!["wait_99 at `s`".to_owned(); 6], "times as long").unwrap();
        assert!(warning.contains("wait_99 at `s`; wait_99 at `s`; and 2 more; make"), "{warning}");
        assert_eq!(too_narrow(&[], "times as long"), None);
        assert!(quantile(&histograms.below(STATION, Some(1), 1), 50, 0.95).is_none(), "no observations");
    }
}
