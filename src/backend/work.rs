//! Chooses the CPU or a device for work that has one place: one run of the conservative engine, and
//! the matching of regions.

use std::time::Duration;

use super::costs::{Cost, Kind, Observed};
use super::{Backend, OnDemand};
use crate::gpu::Gpu;

/// One run of the conservative engine, as far as the choice of its place needs it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct OneRun {
    /// LPs.
    pub lps: f64,
    /// Events until its end.
    pub events: f64,
    /// Pending events, in the mean.
    pub pending: f64,
    /// Events within one lookahead, in the mean.
    pub lookahead: f64,
}

/// Seconds of an event on a core, in the sequential engine: 5 million a second with some thousand
/// pending events.
const ON_CORE: f64 = 0.2e-6;

/// In the time of a window to the lookahead, windows to the event horizon execute this many events
/// for each square root of the pending ones: they have 1.25, and take 3.5 times as long.
const OF_HORIZON: f64 = 0.36;

/// The same in a window of a team of one workgroup, for each square root of the number of LPs: of
/// each, a window executes one event at most.
const OF_TEAM: f64 = 1.17;

/// Up to this many LPs, a team may execute the run.
const TEAM_LPS: f64 = 1024.0;

/// As long as no device is open, workgroup memory is taken to have room for this many events.
const FITTING: f64 = 2048.0;

/// Of the events that do not fit workgroup memory, a team takes up to this number: the rate is that
/// of the grid there (H200).
const FAR_IN_TEAM: f64 = 8192.0;

/// The number of windows to the lookahead, up to the event horizon, from which wider windows are
/// expected to be faster. By models' estimates, which are up to twice too high, both beginnings
/// take equally long.
const FAR_ENOUGH: f64 = 1.5;

/// Events of a long run.
const LONG: f64 = 1e9;

impl OneRun {
    /// A long run of which only the number of LPs is known: an event of each is pending, and there
    /// is no lookahead.
    pub(super) fn of_lps(lps: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        Self { lps: lps as f64, events: LONG, pending: lps as f64, lookahead: 0.0 }
    }

    /// A run that only the grid makes: its events, and those pending, which is also their number in
    /// a window.
    pub fn of_grid(events: f64, pending: f64) -> Self {
        Self { lps: f64::INFINITY, events, pending, lookahead: pending }
    }

    /// Events that a device executes in the time of a window, in this way.
    fn in_window(&self, way: Kind) -> f64 {
        let wide =
            if way == Kind::Team { OF_TEAM * self.lps.sqrt() } else { OF_HORIZON * self.pending.sqrt() };
        self.lookahead.max(wide).max(1.0).min(self.events.max(1.0))
    }

    /// Whether windows to the event horizon are expected to be faster than those to the lookahead.
    pub(crate) fn is_sparse(&self) -> bool {
        (2.0 * self.pending).sqrt() > FAR_ENOUGH * self.lookahead
    }

    /// Whether a team is expected to be faster than the grid, by whether the events fit workgroup
    /// memory: dense windows of events in buffers are slower in a team.
    pub(crate) fn suits_team(&self, fits: bool) -> bool {
        fits || self.is_sparse() && self.pending <= FAR_IN_TEAM
    }

    /// The ways to use a device.
    fn ways(&self) -> &'static [Kind] {
        let is_small = self.lps <= TEAM_LPS && self.lookahead > 0.0;
        match is_small && self.suits_team(self.pending <= FITTING) {
            true => &[Kind::Run, Kind::Team],
            false => &[Kind::Run],
        }
    }

    fn on_host(&self) -> f64 {
        self.events * ON_CORE
    }

    /// Seconds on a device that is not ready, in the faster way.
    fn on_device(&self, cost: impl Fn(Kind) -> Cost) -> f64 {
        let seconds = |&way: &Kind| {
            let (cost, each) = (cost(way), self.in_window(way));
            cost.start() + self.events / each * cost.busy(each, ON_CORE)
        };
        self.ways().iter().map(seconds).fold(f64::INFINITY, f64::min)
    }
}

impl Backend<'_> {
    /// The same for one run of this many LPs, most of which are idle in a window.
    pub(crate) fn for_one_run(self, lps: usize) -> Self {
        match self {
            Self::Auto(device) => device.for_run(&OneRun::of_lps(lps)).map_or(Self::Cpu, Self::Gpu),
            _ => self,
        }
    }
}

impl OnDemand {
    /// The device for a run, opened if the run is expected to end sooner there; none for the CPU.
    #[doc(hidden)]
    pub fn for_run(&self, run: &OneRun) -> Option<&Gpu> {
        self.faster([run.on_host(), run.on_device(|way| self.cost(way))])
    }

    /// The device for matching that takes the CPU `host` seconds, as [`OnDemand::for_run`].
    #[doc(hidden)]
    pub fn for_matching(&self, host: f64) -> Option<&Gpu> {
        let cost = self.cost(Kind::Matching);
        self.faster([host, cost.start() + cost.busy(1.0, host)])
    }

    /// The device, opened if it is expected to end sooner: from the seconds of both.
    fn faster(&self, [host, device]: [f64; 2]) -> Option<&Gpu> {
        if self.hands_over_after.is_some() {
            return self.opened();
        }
        if host.total_cmp(&device).is_le() {
            self.record_choice(format!("the CPU: expected {host:.2} s, and {device:.2} s with a device"));
            return None;
        }
        let gpu = self.hardware();
        self.record_choice(match gpu {
            Some(gpu) => format!("{}: expected {device:.2} s, and {host:.2} s on the CPU", gpu.info().name),
            None => "the CPU: there is no adapter but software".to_owned(),
        });
        gpu
    }

    /// Keeps how long a run on the device, at its end in a team or not, compiled, and how long it
    /// executed its events.
    #[doc(hidden)]
    pub fn observe_run(&self, run: &OneRun, in_team: bool, compile: Duration, running: Duration) {
        if run.events < 1.0 {
            return;
        }
        let way = if in_team { Kind::Team } else { Kind::Run };
        let runs = run.in_window(way);
        let ratio = running.as_secs_f64() / ON_CORE * runs / run.events;
        self.observe(way, Observed::Start { open: None, compile: compile.as_secs_f64() });
        // Of a short run, most of the time is for its start and its end.
        if running > Duration::from_millis(50) {
            self.observe(way, Observed::Runs { runs, ratio });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PHOLD with this number of LPs, and the mean delay after a lookahead of 10 units.
    fn phold(lps: f64, population: f64, delay: f64, events: f64) -> OneRun {
        let pending = lps * population;
        OneRun { lps, events, pending, lookahead: pending * 10.0 / (10.0 + delay) }
    }

    #[test]
    fn runs_with_few_events_at_a_time_suit_the_cpu() {
        let is_faster = |run: OneRun| run.on_device(|way| way.cost(true)) < run.on_host();
        for (lps, delay, is_on_device) in [
            (64.0, 10.0, true),
            (64.0, 1e3, false),
            (64.0, 1e5, false),
            (256.0, 10.0, true),
            (256.0, 1e3, true),
            (256.0, 1e5, true),
            (1024.0, 1e5, true),
            (16.0, 1e5, false),
        ] {
            assert_eq!(is_faster(phold(lps, 16.0, delay, 1e9)), is_on_device, "{lps} {delay}");
        }
        // Networks have an event or none for each node.
        assert!(!is_faster(OneRun::of_lps(200)) && is_faster(OneRun::of_lps(20_000)));
    }

    #[test]
    fn teams_take_small_and_sparse_runs() {
        let takes = |run: OneRun| run.ways().contains(&Kind::Team);
        for (lps, population, delay, expected) in [
            (64.0, 16.0, 10.0, true),
            (1024.0, 4.0, 10.0, false),
            (1024.0, 4.0, 1e3, true),
            (1024.0, 16.0, 1e5, false),
            (2048.0, 1.0, 1e5, false),
        ] {
            assert_eq!(takes(phold(lps, population, delay, 1e9)), expected, "{lps} {population} {delay}");
        }
        assert!(!takes(OneRun::of_lps(5)), "no team without lookahead");
    }

    #[test]
    fn short_runs_and_software_adapters_open_and_use_no_device() {
        let never = OnDemand::by(|| panic!("a short run opens no device"));
        assert!(never.for_run(&phold(32_768.0, 16.0, 10.0, 1e5)).is_none());
        assert!(never.for_run(&OneRun::of_lps(5)).is_none());
        assert!(never.for_matching(0.5).is_none());
        assert!(never.choice().unwrap().starts_with("the CPU"));
        let long = phold(32_768.0, 16.0, 10.0, 1e9);
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        assert!(hardware.for_run(&long).is_some() && hardware.for_matching(5.0).is_some());
        let software = OnDemand::from(Gpu::for_test());
        if software.hardware().is_none() {
            assert!(software.for_run(&long).is_none());
        }
    }

    #[test]
    fn a_slow_device_is_not_used_again() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        let run = phold(256.0, 4.0, 10.0, 1e8);
        assert!(hardware.for_run(&run).is_some());
        for _ in 0..8 {
            hardware.observe_run(&run, false, Duration::from_secs(1), Duration::from_secs(30));
        }
        assert!(hardware.for_run(&run).is_some(), "a team may be faster: {:?}", hardware.choice());
        for _ in 0..8 {
            hardware.observe_run(&run, true, Duration::from_secs(1), Duration::from_secs(30));
        }
        assert!(hardware.for_run(&run).is_none(), "{:?}", hardware.choice());
    }
}
