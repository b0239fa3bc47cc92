//! What studies cost on a device: constants by kind of study, corrected by runs.
//!
//! A study that moved to a device records what it cost there. Where an application [keeps compiled
//! kernels](crate::gpu::keep_kernels_in), a file beside them holds the costs for later programs. A
//! damaged file is ignored and replaced.

use std::fmt::Write as _;

use crate::gpu::Gpu;

/// What runs on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Networks that are compiled to a kernel.
    Network,
    /// Networks that the device interprets.
    Interpreter,
    /// Process models.
    Process,
    /// Models of the general engine.
    Model,
    /// Replications of models without LPs.
    Replications,
    /// Lists of searches.
    Searches,
    /// One run of the general engine, window by window: what is called runs elsewhere are the
    /// events of a window.
    Run,
    /// The same by a team of one workgroup.
    Team,
    /// Matching of regions: one run.
    Matching,
}

impl Kind {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Network, "network"),
        (Self::Interpreter, "interpreter"),
        (Self::Process, "process"),
        (Self::Model, "model"),
        (Self::Replications, "replications"),
        (Self::Searches, "searches"),
        (Self::Run, "run"),
        (Self::Team, "team"),
        (Self::Matching, "matching"),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other)| *other == name).map(|(kind, _)| *kind)
    }

    /// What it costs on a device of which nothing is known: medians of an H200 with 16 cores. Other
    /// discrete devices are taken for as fast until a study shows what they are, and integrated
    /// ones are worth a tenth of the cores.
    pub(crate) fn cost(self, is_discrete: bool) -> Cost {
        let [compile, late, latency, cores] = match self {
            Self::Network => [0.8, 0.0, 30.0, 200.0],
            Self::Process => [1.1, 0.0, 25.0, 200.0],
            Self::Interpreter => [0.2, 3.0, 150.0, 100.0],
            Self::Model => [0.5, 0.1, 10.0, 140.0],
            Self::Replications => [0.4, 0.0, 10.0, 1000.0],
            Self::Searches => [0.3, 0.0, 50.0, 170.0],
            Self::Run => [1.0, 0.0, 22.0, 2000.0],
            Self::Team => [1.0, 0.0, 12.0, 15.0],
            Self::Matching => [0.8, 0.0, 0.4, 100.0],
        };
        Cost { open: 0.3, compile, late, latency, cores: if is_discrete { cores } else { 0.1 * cores } }
    }
}

/// What a study on a device is expected to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Seconds to open the device.
    pub(crate) open: f64,
    /// Seconds to compile the kernels in a thread.
    pub(crate) compile: f64,
    /// Seconds more that the first runs on the device take.
    pub(crate) late: f64,
    /// A run takes this many times as long as on a core.
    pub(crate) latency: f64,
    /// The device makes runs as fast as this number of cores, if there are enough.
    pub(crate) cores: f64,
}

impl Cost {
    /// Seconds until a device that is not open has its first runs.
    pub(crate) fn start(&self) -> f64 {
        self.open + self.compile + self.late
    }

    /// Seconds that a ready device needs for runs that take a core `one` second each.
    pub(crate) fn busy(&self, runs: f64, one: f64) -> f64 {
        one * self.latency.max(runs / self.cores)
    }

    /// The same after runs that took `ratio` times as long as one run takes a core: halfway (of
    /// logarithms) to what would have predicted that.
    fn after_runs(self, runs: f64, ratio: f64) -> Self {
        let is_throughput = runs / self.cores > self.latency;
        // The larger of both is the time: neither can exceed what was seen.
        let (mut latency, mut cores) = (self.latency.min(ratio), self.cores.max(runs / ratio));
        if latency.max(runs / cores) < ratio {
            match is_throughput {
                true => cores = runs / ratio,
                false => latency = ratio,
            }
        }
        Self { latency: halfway(self.latency, latency), cores: halfway(self.cores, cores), ..self }
    }

    fn numbers(&self) -> [f64; 5] {
        [self.open, self.compile, self.late, self.latency, self.cores]
    }

    fn of_numbers(numbers: [f64; 5]) -> Option<Self> {
        let [open, compile, late, latency, cores] = numbers;
        let is_valid = numbers.iter().all(|number| (0.0..=LARGEST).contains(number));
        (is_valid && latency.min(cores) >= 1.0 / LARGEST).then_some(Self {
            open,
            compile,
            late,
            latency,
            cores,
        })
    }
}

/// More seconds, or another factor, than any device has: the file was not written by this program.
const LARGEST: f64 = 1e9;

/// The geometric mean.
fn halfway(a: f64, b: f64) -> f64 {
    (a * b).sqrt()
}

/// What a study found out about the cost of its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Observed {
    /// Seconds to open the device, if it was not open, and to compile.
    Start { open: Option<f64>, compile: f64 },
    /// Seconds by which the first runs waited for compilations.
    Late(f64),
    /// This number of runs took `ratio` times as long as one takes a core.
    Runs { runs: f64, ratio: f64 },
}

impl Observed {
    fn correct(self, cost: Cost) -> Cost {
        // Shorter times matter to no choice, and have no logarithm at 0.
        let mean = |old: f64, new: f64| halfway(old.max(0.001), new.max(0.001));
        match self {
            Self::Start { open, compile } => Cost {
                open: open.map_or(cost.open, |open| mean(cost.open, open)),
                compile: mean(cost.compile, compile),
                ..cost
            },
            Self::Late(late) => Cost { late: f64::midpoint(cost.late, late), ..cost },
            Self::Runs { runs, ratio } => cost.after_runs(runs, ratio),
        }
    }
}

/// A kind of study on an adapter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    /// [`adapter`]'s number.
    adapter: u32,
    kind: Kind,
    cost: Cost,
    /// The observations in it.
    count: u32,
}

/// The costs of kinds of studies on adapters, the last used first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Costs(Vec<Entry>);

/// Entries of a file, at most.
const MOST: usize = 64;

/// The first line of a file.
const TITLE: &str = "eventhorizon costs 1";

impl Costs {
    /// What a kind costs on an adapter, or on the one that was used last.
    pub(crate) fn of(&self, kind: Kind, gpu: Option<&Gpu>) -> Cost {
        let adapter = gpu.map(adapter).or(self.0.first().map(|entry| entry.adapter));
        let is_discrete = gpu.is_none_or(|gpu| gpu.info().device_type == wgpu::DeviceType::DiscreteGpu);
        self.entry(adapter, kind).map_or_else(|| kind.cost(is_discrete), |entry| entry.cost)
    }

    fn entry(&self, adapter: Option<u32>, kind: Kind) -> Option<&Entry> {
        self.0.iter().find(|entry| Some(entry.adapter) == adapter && entry.kind == kind)
    }

    /// Corrects the cost of a kind on an adapter.
    pub(crate) fn observe(&mut self, kind: Kind, gpu: &Gpu, observed: Observed) {
        let adapter = adapter(gpu);
        let count = self.entry(Some(adapter), kind).map_or(0, |entry| entry.count);
        let cost = observed.correct(self.of(kind, Some(gpu)));
        self.0.retain(|entry| (entry.adapter, entry.kind) != (adapter, kind));
        self.0.insert(0, Entry { adapter, kind, cost, count: count.saturating_add(1) });
        self.0.truncate(MOST);
    }

    fn text(&self) -> String {
        let mut text = format!("{TITLE}\n");
        for Entry { adapter, kind, cost, count } in &self.0 {
            let _ = write!(text, "{adapter} {} {count}", kind.name());
            cost.numbers().iter().for_each(|number| {
                let _ = write!(text, " {number}");
            });
            text.push('\n');
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != TITLE {
            return None;
        }
        let entries = lines.take(MOST).map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            let [adapter, kind, count, numbers @ ..] = &words[..] else { return None };
            let numbers: Option<Vec<f64>> = numbers.iter().map(|number| number.parse().ok()).collect();
            Some(Entry {
                adapter: adapter.parse().ok()?,
                kind: Kind::of_name(kind)?,
                cost: Cost::of_numbers(numbers?.try_into().ok()?)?,
                count: count.parse().ok()?,
            })
        });
        entries.collect::<Option<Vec<_>>>().map(Self)
    }

    /// Those that earlier programs left, if an application keeps kernels.
    pub(crate) fn kept() -> Self {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(text) = crate::gpu::kept_text(FILE) {
            return Self::parse(&text).unwrap_or_default();
        }
        Self::default()
    }

    /// Writes the file, if an application keeps kernels.
    pub(crate) fn keep(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        crate::gpu::keep_text(FILE, &self.text());
    }
}

/// The file beside the kernels.
#[cfg(not(target_arch = "wasm32"))]
const FILE: &str = "costs";

/// A number for the adapter and its driver.
fn adapter(gpu: &Gpu) -> u32 {
    let info = gpu.info();
    let text = format!("{:?} {} {} {}", info.backend, info.name, info.driver, info.driver_info);
    // FNV-1a.
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The costs that programs found out on this device and kept, a line for each kind of study.
#[doc(hidden)]
pub fn kept_costs(gpu: &Gpu) -> Vec<String> {
    let costs = Costs::kept();
    let of_adapter = costs.0.iter().filter(|entry| entry.adapter == adapter(gpu));
    let line = |entry: &Entry| {
        let Cost { open, compile, late, latency, cores } = entry.cost;
        format!(
            "{}: opens in {open:.2} s, compiles in {compile:.2} s, then {late:.2} s; a run takes {latency:.1} times as long as on a core; \
             many as on {cores:.0} cores ({} observations)",
            entry.kind.name(),
            entry.count
        )
    };
    of_adapter.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A logarithmic-uniform number, by a linear congruential generator.
    fn random(state: &mut u32, low: f64, high: f64) -> f64 {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low * (high / low).powf(f64::from(*state) / f64::from(u32::MAX))
    }

    #[test]
    fn costs_approach_what_was_seen_and_never_pass_it() {
        let mut chance = 1;
        for _ in 0..1000 {
            let mut cost = Cost {
                latency: random(&mut chance, 0.1, 1000.0),
                cores: random(&mut chance, 1.0, 1000.0),
                ..Kind::Network.cost(true)
            };
            let (runs, ratio) = (random(&mut chance, 1.0, 1e6).ceil(), random(&mut chance, 0.1, 1e4));
            let mut distance = f64::INFINITY;
            for _ in 0..40 {
                let seen = (cost.busy(runs, 2.0) / 2.0 / ratio).ln();
                assert!(seen.abs() <= distance + 1e-9, "{cost:?} {runs} {ratio}");
                distance = seen.abs();
                cost = cost.after_runs(runs, ratio);
                assert!(Cost::of_numbers(cost.numbers()) == Some(cost), "{cost:?}");
            }
            assert!(distance < 1e-6, "{cost:?} predicts {} of {ratio}", cost.busy(runs, 1.0));
        }
    }

    #[test]
    fn more_runs_take_longer_and_slower_cores_make_devices_no_worse() {
        let mut chance = 2;
        for (kind, _) in Kind::ALL {
            let cost = kind.cost(true);
            for _ in 0..100 {
                let (runs, one) = (random(&mut chance, 1.0, 1e6), random(&mut chance, 1e-6, 1.0));
                assert!(cost.busy(runs, one) <= cost.busy(2.0 * runs, one));
                assert!(cost.busy(runs, one) <= cost.busy(runs, 2.0 * one));
                assert!(cost.busy(runs, one) <= kind.cost(false).busy(runs, one));
            }
        }
    }

    #[test]
    fn costs_are_kept_by_adapter_and_kind_and_damaged_texts_are_ignored() {
        let gpu = Gpu::for_test();
        let other = gpu.taken_for_hardware();
        let mut costs = Costs::default();
        assert_eq!(costs.of(Kind::Process, None), Kind::Process.cost(true));
        assert_eq!(costs.of(Kind::Process, Some(&other)), Kind::Process.cost(false));
        costs.observe(Kind::Process, &gpu, Observed::Start { open: Some(0.012), compile: 0.275 });
        costs.observe(Kind::Process, &gpu, Observed::Late(1.0));
        costs.observe(Kind::Network, &gpu, Observed::Runs { runs: 64.0, ratio: 7.5 });
        let cost = costs.of(Kind::Process, None);
        for (found, expected) in [
            (cost.open, 0.06),
            (cost.compile, 0.55),
            (cost.late, 0.5),
            (costs.of(Kind::Network, None).latency, 15.0),
        ] {
            assert!((found - expected).abs() < 1e-9, "{costs:?}");
        }
        assert_eq!(costs.of(Kind::Model, None), Kind::Model.cost(true));
        let text = costs.text();
        assert_eq!(Costs::parse(&text), Some(costs));
        for (from, to) in
            [(TITLE, "costs"), ("process", "unknown"), (" 0.0", " NaN"), (" 15", " 0"), (" 0.5", "")]
        {
            assert!(text.contains(from), "{from} in {text}");
            assert_eq!(Costs::parse(&text.replace(from, to)), None, "{from}");
        }
    }
}
