//! Chooses the CPU or a device for each part of a study, by measured times.
//!
//! Both give the same bits, so the choice changes only how long the study takes. The CPU begins:
//! it starts in milliseconds, and its first runs show what one costs. While it works, a thread
//! opens the device and compiles, if that is expected to pay.

use std::fmt;
use std::thread::available_parallelism;
use std::time::Duration;

use super::costs::{Cost, Kind, Observed};
use super::start::{Compile, Starting};
use super::{Backend, OnDemand};
use crate::gpu::{Gpu, compiled};

/// Seconds of work on the CPU that its speed is taken from.
const SAMPLE: f64 = 0.05;

/// Longest part on the CPU, in seconds: then progress is reported, and the next choice is made.
const PART: f64 = 0.2;

/// The same as [`PART`] while a device starts: half of it passes before a ready device is used.
const PART_OF_START: f64 = 0.1;

/// The CPU waits for a starting device if it could do less than this share of the work meanwhile,
/// and not longer than that share: its work would slow down the start.
const SHARE: f64 = 0.25;

/// It waits at most this many times as long as expected; a second at least is expected.
const PATIENCE: f64 = 10.0;

/// Where a part of a study runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'g> {
    Host,
    Device(&'g Gpu),
}

/// The device of a study that the CPU begins.
#[derive(Debug)]
enum Device {
    /// Nothing was started for this study.
    Unused,
    Starting(Starting),
    /// Its first runs take these seconds longer than others.
    Ready(f64),
    /// None that is faster than the CPU.
    Missing,
}

/// Chooses where the parts of a study run.
pub(crate) struct Chooser<'g> {
    backend: Backend<'g>,
    kind: Kind,
    cost: Cost,
    cores: f64,
    compile: Option<Compile>,
    /// Seconds of a run on the CPU, all cores at work, and the seconds they were taken from.
    host: Option<[f64; 2]>,
    /// Runs on the CPU.
    made: u64,
    device: Device,
    /// Seconds of a run on the device, once it made some.
    on_device: Option<f64>,
    /// How long runs had waited for compilations when the present part began.
    compiled: Duration,
    /// Whether the device has all further runs.
    has_left_host: bool,
    /// Whether devices cannot run it.
    is_refused: bool,
}

impl<'g> Chooser<'g> {
    pub(crate) fn new(backend: Backend<'g>, kind: Kind) -> Self {
        let cost = match backend {
            Backend::Auto(device) => device.cost(kind),
            _ => kind.cost(true),
        };
        let cores = available_parallelism().map_or(1, usize::from);
        #[expect(clippy::cast_precision_loss, reason = "a number of cores")]
        Self {
            backend,
            kind,
            cost,
            cores: cores as f64,
            compile: None,
            host: None,
            made: 0,
            device: Device::Unused,
            on_device: None,
            compiled: Duration::ZERO,
            has_left_host: false,
            is_refused: false,
        }
    }

    /// The same with what compiles the kernels, in a thread while the CPU works.
    pub(crate) fn compiling(mut self, compile: impl Fn(&Gpu) + Send + Sync + 'static) -> Self {
        self.compile_by(compile);
        self
    }

    /// Sets what compiles the kernels: if others were compiled before, these are not.
    pub(crate) fn compile_by(&mut self, compile: impl Fn(&Gpu) + Send + Sync + 'static) {
        self.compile = Some(std::sync::Arc::new(compile));
    }

    /// Where the next of `left` replications run, and how many of them. Each has `width` runs, one
    /// for each point.
    pub(crate) fn next(&mut self, left: u32, width: usize) -> (Place<'g>, u32) {
        self.compiled = compiled();
        let device = match self.backend {
            Backend::Cpu => return (Place::Host, left),
            Backend::Gpu(gpu) => return (Place::Device(gpu), left),
            Backend::Auto(_) if self.is_refused => return (Place::Host, left),
            Backend::Auto(device) => device,
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of points")]
        let width = width.max(1) as f64;
        let runs = f64::from(left) * width;
        // (Asking for the device opens it.)
        if self.has_left_host
            && let Some(gpu) = device.usable()
        {
            return (Place::Device(gpu), left);
        }
        if let Some(after) = device.hands_over_after() {
            return self.forced(after, left, width);
        }
        // All cores have the same number of runs.
        let cores = self.cores;
        let part = |runs: f64| whole((runs / cores).ceil() * cores / width, left);
        let Some([each, sampled]) = self.host else {
            if runs <= self.cores {
                self.explain(format_args!("its cores have all runs at once"));
            }
            return (Place::Host, part(1.0));
        };
        let on_host = runs * each;
        let stay = |seconds: f64| (Place::Host, part(seconds / each));
        let one = each * self.cores;
        match &mut self.device {
            Device::Missing => return (Place::Host, left),
            Device::Starting(thread) if !thread.is_ready() => return stay(PART_OF_START),
            Device::Starting(_) => self.end_start(device),
            Device::Unused => {
                let start = self.cost.start();
                let after = (runs - start / each).max(0.0);
                let waiting = start + self.cost.busy(after, one);
                // A device would not be ready before the CPU ends.
                if on_host <= start {
                    self.explain(format_args!("expected {on_host:.2} s, less than a device takes to start"));
                    return (Place::Host, left);
                }
                if sampled < SAMPLE {
                    return stay(SAMPLE);
                }
                if waiting >= on_host {
                    self.explain(format_args!("expected {on_host:.2} s, and {waiting:.2} s with a device"));
                    return stay(PART);
                }
                let Some(mut thread) = Starting::begin(device, self.compile.clone()) else {
                    self.device = Device::Ready(start);
                    return stay(PART_OF_START);
                };
                let meanwhile = SHARE * on_host;
                let is_ready =
                    start < meanwhile && thread.is_ready_within(meanwhile.min(PATIENCE * start.max(1.0)));
                self.device = Device::Starting(thread);
                self.explain(format_args!("it ended before the device was ready"));
                if !is_ready {
                    return stay(PART_OF_START);
                }
                self.end_start(device);
            }
            Device::Ready(_) => {}
        }
        let Some(gpu) = device.usable() else {
            self.device = Device::Missing;
            self.explain(format_args!("there is no adapter but software"));
            return (Place::Host, left);
        };
        let Device::Ready(late) = self.device else { return (Place::Host, left) };
        let on_device = match self.on_device {
            Some(each) => runs * each,
            None => late + self.cost.busy(runs, one),
        };
        log::debug!(
            "{left} replications: {on_host:.3} s on the CPU, {on_device:.3} s on the device expected"
        );
        if on_device >= on_host {
            self.explain(format_args!("expected {on_host:.2} s, and {on_device:.2} s on a device"));
            return stay(PART);
        }
        if self.on_device.is_none() {
            device.record_choice(format!(
                "{} after {} runs on the CPU: expected {on_device:.2} s, and {on_host:.2} s on the CPU",
                gpu.info().name,
                self.made
            ));
        }
        (Place::Device(gpu), left)
    }

    /// Whether the first runs, of a model that a device executes faster, should leave the CPU: they
    /// have taken this long, and the device is ready. Without one, a thread starts it.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn leaves_host(&mut self, time: Duration) -> bool {
        let (Backend::Auto(device), None) = (self.backend, self.host) else { return false };
        if time.as_secs_f64() < SAMPLE || device.hands_over_after().is_some() {
            return false;
        }
        match &mut self.device {
            Device::Unused => {
                if let Some(thread) = Starting::begin(device, self.compile.clone()) {
                    self.device = Device::Starting(thread);
                }
                return false;
            }
            Device::Starting(thread) if thread.is_ready() => self.end_start(device),
            _ => return false,
        }
        let Some(gpu) = device.usable().filter(|_| matches!(self.device, Device::Ready(_))) else {
            return false;
        };
        let name = &gpu.info().name;
        device.record_choice(format!("{name}: the first runs took {:.2} s on the CPU", time.as_secs_f64()));
        self.has_left_host = true;
        true
    }

    /// Leaves all further runs to the CPU, for this reason.
    pub(crate) fn stay_on_host(&mut self, why: &str) {
        self.is_refused = true;
        self.explain(format_args!("{why}"));
    }

    /// Records why the CPU has all runs so far.
    fn explain(&self, why: fmt::Arguments<'_>) {
        if let (Backend::Auto(device), None) = (self.backend, self.on_device) {
            device.record_choice(format!("the CPU: {why}"));
        }
    }

    /// The device after its thread, for which this waits.
    fn end_start(&mut self, device: &OnDemand) {
        let Device::Starting(thread) = &mut self.device else { return };
        let started = thread.wait();
        if let Ok(Some(observed)) = started {
            device.observe(self.kind, observed);
        }
        self.cost = device.cost(self.kind);
        self.device = match started.is_ok() && device.usable().is_some() {
            true => Device::Ready(self.cost.late),
            false => Device::Missing,
        };
    }

    /// Of tests: the device, started at the beginning, has all runs after this number.
    fn forced(&mut self, after: u32, left: u32, width: f64) -> (Place<'g>, u32) {
        let Backend::Auto(device) = self.backend else { return (Place::Host, left) };
        if matches!(self.device, Device::Unused)
            && let Some(thread) = Starting::begin(device, self.compile.clone())
        {
            self.device = Device::Starting(thread);
        }
        let before = u64::from(after).saturating_sub(self.made);
        if before > 0 {
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            return (Place::Host, whole((before as f64 / width).ceil(), left));
        }
        if let Device::Starting(thread) = &mut self.device {
            thread.wait().expect("the thread of the device ended");
        }
        match device.usable() {
            Some(gpu) => (Place::Device(gpu), left),
            None => (Place::Host, left),
        }
    }

    /// Records how long runs took.
    pub(crate) fn took(&mut self, place: Place<'_>, runs: usize, time: Duration) {
        if runs == 0 {
            return;
        }
        let waited = (compiled() - self.compiled).min(time);
        let seconds = (time - waited).as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let (number, each) = (runs as f64, seconds / runs as f64);
        log::debug!(
            "{}: {runs} runs on {}: {seconds:.4} s, and {:.4} s for compilations",
            self.kind.name(),
            if matches!(place, Place::Host) { "the CPU" } else { "the device" },
            waited.as_secs_f64()
        );
        match place {
            // The later, longer parts count: in the first one, memory and caches are cold.
            Place::Host => {
                self.host = Some([each, self.host.map_or(0.0, |[_, sampled]| sampled) + seconds]);
                self.made += runs as u64;
            }
            Place::Device(_) => {
                if let (Backend::Auto(device), Some([on_host, sampled])) = (self.backend, self.host)
                    && device.hands_over_after().is_none()
                    && sampled >= SAMPLE
                {
                    if self.on_device.is_none() {
                        device.observe(self.kind, Observed::Late(waited.as_secs_f64()));
                    }
                    let ratio = seconds / (on_host * self.cores);
                    device.observe(self.kind, Observed::Runs { runs: number, ratio });
                }
                self.on_device = Some(each);
            }
        }
    }
}

impl fmt::Debug for Chooser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chooser")
            .field("backend", &self.backend)
            .field("host", &self.host)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// A number from 1 to `left`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds")]
fn whole(number: f64, left: u32) -> u32 {
    number.ceil().clamp(1.0, f64::from(left.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places and sizes of the parts of a study, if a replication takes all cores `each`
    /// seconds and a part on the device this time. A thread that starts the device ends within the
    /// next part.
    fn parts(device: &OnDemand, mut left: u32, each: f64, on_device: f64) -> Vec<(bool, u32)> {
        let mut chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(device), Kind::Network) };
        let mut parts = Vec::new();
        while left > 0 {
            let (place, count) = chooser.next(left, 1);
            let seconds = match place {
                Place::Host => f64::from(count) * each,
                Place::Device(_) => on_device,
            };
            if let Device::Starting(thread) = &mut chooser.device {
                let _ = thread.wait();
            }
            chooser.took(place, count as usize, Duration::from_secs_f64(seconds));
            parts.push((matches!(place, Place::Device(_)), count));
            left -= count;
        }
        parts
    }

    #[test]
    fn short_studies_stay_on_the_cpu_and_long_ones_take_the_device() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        assert_eq!(parts(&hardware, 64, 0.001, 0.1), [(false, 8), (false, 56)]);
        assert!(hardware.choice().unwrap().starts_with("the CPU: expected"), "{:?}", hardware.choice());
        assert_eq!(parts(&hardware, 5, 10.0, 0.1), [(false, 5)]);
        assert!(hardware.choice().unwrap().ends_with("all runs at once"), "{:?}", hardware.choice());
        // Of 0.1 s each, 64 take a device longer than the CPU; 100,000 do not.
        assert!(parts(&hardware, 64, 0.1, 1.0).iter().all(|&(on_device, _)| !on_device));
        // All cores work in each part.
        assert_eq!(parts(&hardware, 100_000, 0.1, 1.0), [(false, 8), (true, 99_992)]);
        let sampled = parts(&hardware, 1_000_000, 0.001, 1.0);
        assert_eq!(sampled, [(false, 8), (false, 56), (true, 999_936)]);
        assert!(hardware.choice().unwrap().contains("after 64 runs on the CPU"), "{:?}", hardware.choice());
    }

    #[test]
    fn short_studies_open_no_device() {
        let never = OnDemand::by(|| panic!("a short study opens no device"));
        assert_eq!(parts(&never, 64, 0.001, 0.1), [(false, 8), (false, 56)]);
        assert_eq!(parts(&never, 5, 10.0, 0.1), [(false, 5)]);
    }

    #[test]
    fn what_devices_refuse_stays_on_the_cpu() {
        let never = OnDemand::by(|| panic!("no device is opened")).handing_over_after(0);
        let mut chooser = Chooser::new(Backend::Auto(&never), Kind::Process);
        chooser.stay_on_host("the model is too large");
        assert!(matches!(chooser.next(1000, 20), (Place::Host, 1000)));
        assert_eq!(never.choice().unwrap(), "the CPU: the model is too large");
    }

    #[test]
    fn replications_of_many_points_have_many_runs() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        let mut chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(&hardware), Kind::Network) };
        assert_eq!(chooser.next(1000, 20).1, 1);
        chooser.took(Place::Host, 20, Duration::from_millis(20));
        // 56 runs are a sample, and 3 replications.
        assert_eq!(chooser.next(1000, 20).1, 3);
    }

    #[test]
    fn long_first_runs_leave_the_cpu_once_the_device_is_ready() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        let mut chooser = Chooser::new(Backend::Auto(&hardware), Kind::Model);
        assert!(matches!(chooser.next(1, 1), (Place::Host, 1)));
        assert!(!chooser.leaves_host(Duration::from_millis(1)), "too early");
        assert!(matches!(chooser.device, Device::Unused));
        assert!(!chooser.leaves_host(Duration::from_secs(1)), "the device starts");
        let Device::Starting(thread) = &mut chooser.device else { panic!("{chooser:?}") };
        let _ = thread.wait();
        assert!(chooser.leaves_host(Duration::from_secs(1)));
        assert!(matches!(chooser.next(1, 1), (Place::Device(_), 1)));
        // Without hardware the CPU has all.
        let software = OnDemand::from(Gpu::for_test());
        if software.hardware().is_none() {
            let mut chooser = Chooser::new(Backend::Auto(&software), Kind::Model);
            for _ in 0..2 {
                assert!(!chooser.leaves_host(Duration::from_secs(1)));
                if let Device::Starting(thread) = &mut chooser.device {
                    let _ = thread.wait();
                }
            }
            assert!(!chooser.leaves_host(Duration::from_secs(1)));
            assert!(matches!(chooser.device, Device::Missing));
        }
    }

    #[test]
    fn software_adapters_are_not_used() {
        let software = OnDemand::from(Gpu::for_test());
        if software.hardware().is_none() {
            assert!(parts(&software, 100_000, 0.1, 0.0).iter().all(|&(on_device, _)| !on_device));
        }
    }

    #[test]
    fn a_backend_that_was_asked_for_has_all_replications() {
        let gpu = Gpu::for_test();
        assert!(matches!(Chooser::new(Backend::Gpu(&gpu), Kind::Network).next(9, 1), (Place::Device(_), 9)));
        assert!(matches!(Chooser::new(Backend::Cpu, Kind::Network).next(9, 1), (Place::Host, 9)));
    }

    #[test]
    fn a_study_may_end_before_its_device_is_ready() {
        use std::sync::mpsc::channel;
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware()).abandoning();
        let (end, ends) = channel::<()>();
        let ends = std::sync::Mutex::new(ends);
        let chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(&hardware), Kind::Network) };
        let mut chooser = chooser.compiling(move |_| {
            // An error is the end, too.
            let _ = ends.lock().unwrap().recv();
        });
        chooser.cost.latency = 1.0;
        assert_eq!(chooser.next(208, 1).1, 8);
        chooser.took(Place::Host, 8, Duration::from_secs_f64(0.08));
        assert!(matches!(chooser.next(200, 1), (Place::Host, 16)));
        assert!(matches!(chooser.device, Device::Starting(_)));
        // Otherwise this would wait for ever.
        drop(chooser);
        assert!(crate::has_abandoned_threads());
        drop(end);
    }

    #[test]
    fn the_device_is_compiled_for_once_and_waited_for() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        let device = OnDemand::from(Gpu::for_test()).handing_over_after(3);
        let compiled = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&compiled);
        let mut chooser = Chooser::new(Backend::Auto(&device), Kind::Network).compiling(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(matches!(chooser.next(9, 1), (Place::Host, 3)));
        chooser.took(Place::Host, 3, Duration::from_secs(1));
        assert!(matches!(chooser.next(6, 1), (Place::Device(_), 6)));
        assert_eq!(compiled.load(Ordering::Relaxed), 1);
    }
}
