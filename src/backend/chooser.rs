//! Chooses the CPU or a device for each part of a study, by measured times.
//!
//! Both give the same bits, so the choice changes only how long the study takes. The CPU begins:
//! it starts in milliseconds, and its first runs show what one costs. While it works, a thread
//! opens the device and compiles, if that is expected to pay.

use std::fmt;
use std::thread::available_parallelism;
use std::time::Duration;

use super::Backend;
use super::start::{Compile, Starting};
use crate::gpu::Gpu;

/// What a study on a device is expected to take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Seconds to open the device and to compile the kernels.
    pub(crate) start: f64,
    /// Seconds of these that pass when the device has its first runs, not before.
    pub(crate) late: f64,
    /// A run takes this many times as long as on a core.
    pub(crate) latency: f64,
}

impl Cost {
    /// Of a kernel of its own. Seen on an H200 without the driver's cache: a start of 1.2 to 1.5
    /// seconds for networks, 1.3 to 3 for process models; a latency of 50 to 100.
    pub(crate) const KERNEL: Self = Self { start: 1.2, late: 0.0, latency: 80.0 };

    /// Of a model of the general engine, whose teams and threads may have to be tried. (A guess.)
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) const MODEL: Self = Self { start: 1.5, late: 0.3, latency: 10.0 };

    /// Of a model of replications. (A guess.)
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) const REPLICATION: Self = Self { start: 1.0, late: 0.0, latency: 60.0 };

    /// Of a list of searches on a map or in a graph. (A guess.)
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) const SEARCH: Self = Self { start: 1.0, late: 0.1, latency: 50.0 };

    /// Of the interpreter of networks. Seen there: a start of 3 to 8 seconds; a latency of 8 to
    /// 160, compared with machine code.
    pub(crate) const INTERPRETER: Self = Self { start: 3.5, late: 3.0, latency: 150.0 };
}

/// Seconds of work on the CPU that its speed is taken from.
const SAMPLE: f64 = 0.05;

/// Longest part on the CPU, in seconds: then progress is reported, and the next choice is made.
const PART: f64 = 0.2;

/// Seconds of work on the CPU from which a thread starts a device, if nothing waits for the thread:
/// with fewer than [`CORES_FOR_THREAD`] cores more, as it takes a larger share of them.
const WORTH: f64 = 0.4;
const CORES_FOR_THREAD: f64 = 8.0;

/// The same as [`PART`] while a device starts: half of it passes before a ready device is used.
const PART_OF_START: f64 = 0.1;

/// Cores that a device with all its invocations busy is worth. Seen on an H200: 45 for process
/// models to 500 for small networks; integrated ones have a tenth of its units.
const CORES_OF_DISCRETE: f64 = 100.0;
const CORES_OF_OTHERS: f64 = 10.0;

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
    /// Whether the device has all further runs.
    has_left_host: bool,
}

impl<'g> Chooser<'g> {
    pub(crate) fn new(backend: Backend<'g>, cost: Cost) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        #[expect(clippy::cast_precision_loss, reason = "a number of cores")]
        Self {
            backend,
            cost,
            cores: cores as f64,
            compile: None,
            host: None,
            made: 0,
            device: Device::Unused,
            on_device: None,
            has_left_host: false,
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
        let device = match self.backend {
            Backend::Cpu => return (Place::Host, left),
            Backend::Gpu(gpu) => return (Place::Device(gpu), left),
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
        let part = |runs: f64| whole((runs / self.cores).ceil() * self.cores / width, left);
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
            Device::Starting(thread) => {
                self.device = match thread.wait() {
                    true => Device::Ready(self.cost.late),
                    false => Device::Missing,
                };
            }
            Device::Unused => {
                let start = self.cost.start;
                let after = (runs - start / each).max(0.0);
                let waiting = match device.is_abandoning() {
                    true => self.cost.late + self.busy(CORES_OF_DISCRETE, runs, one),
                    false => start + self.busy(CORES_OF_DISCRETE, after, one),
                };
                // A device would not be ready before the CPU ends.
                let worth = WORTH * (CORES_FOR_THREAD / self.cores).max(1.0);
                if on_host <= if device.is_abandoning() { worth } else { start } {
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
                let Some(thread) = Starting::begin(device, self.compile.clone()) else {
                    self.device = Device::Ready(start);
                    return stay(PART_OF_START);
                };
                self.device = Device::Starting(thread);
                self.explain(format_args!("it ended before the device was ready"));
                return stay(PART_OF_START);
            }
            Device::Ready(_) => {}
        }
        let Some(gpu) = device.usable() else {
            self.device = Device::Missing;
            self.explain(format_args!("there is no adapter but software"));
            return (Place::Host, left);
        };
        let Device::Ready(late) = self.device else { return (Place::Host, left) };
        let discrete = gpu.info().device_type == wgpu::DeviceType::DiscreteGpu;
        let cores = if discrete { CORES_OF_DISCRETE } else { CORES_OF_OTHERS };
        let on_device = match self.on_device {
            Some(each) => runs * each,
            None => late + self.busy(cores, runs, one),
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
            Device::Starting(thread) if thread.is_ready() => {
                let is_usable = thread.wait() && device.usable().is_some();
                self.device = if is_usable { Device::Ready(self.cost.late) } else { Device::Missing };
            }
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

    /// Records why the CPU has all runs so far.
    fn explain(&self, why: fmt::Arguments<'_>) {
        if let (Backend::Auto(device), None) = (self.backend, self.on_device) {
            device.record_choice(format!("the CPU: {why}"));
        }
    }

    /// Seconds that a device that is worth `cores` needs for runs that take a core `one` second
    /// each.
    fn busy(&self, cores: f64, runs: f64, one: f64) -> f64 {
        one * self.cost.latency.max(runs / cores)
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
            assert!(thread.wait(), "the thread of the device panicked");
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
        let seconds = time.as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let each = seconds / runs as f64;
        match place {
            // The later, longer parts count: in the first one, memory and caches are cold.
            Place::Host => {
                self.host = Some([each, self.host.map_or(0.0, |[_, sampled]| sampled) + seconds]);
                self.made += runs as u64;
            }
            Place::Device(_) => self.on_device = Some(each),
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
    use super::super::OnDemand;
    use super::*;

    /// The places and sizes of the parts of a study, if a replication takes all cores `each`
    /// seconds and a part on the device this time. A thread that starts the device ends within the
    /// next part.
    fn parts(device: &OnDemand, mut left: u32, each: f64, on_device: f64) -> Vec<(bool, u32)> {
        let mut chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(device), Cost::KERNEL) };
        let mut parts = Vec::new();
        while left > 0 {
            let (place, count) = chooser.next(left, 1);
            let seconds = match place {
                Place::Host => f64::from(count) * each,
                Place::Device(_) => on_device,
            };
            if let Device::Starting(thread) = &mut chooser.device {
                thread.wait();
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
        assert_eq!(parts(&hardware, 100_000, 0.1, 1.0), [(false, 8), (false, 8), (true, 99_984)]);
        let sampled = parts(&hardware, 1_000_000, 0.001, 1.0);
        assert_eq!(sampled, [(false, 8), (false, 56), (false, 104), (true, 999_832)]);
        assert!(hardware.choice().unwrap().contains("after 168 runs on the CPU"), "{:?}", hardware.choice());
    }

    #[test]
    fn short_studies_open_no_device() {
        let never = OnDemand::by(|| panic!("a short study opens no device"));
        assert_eq!(parts(&never, 64, 0.001, 0.1), [(false, 8), (false, 56)]);
        assert_eq!(parts(&never, 5, 10.0, 0.1), [(false, 5)]);
    }

    #[test]
    fn replications_of_many_points_have_many_runs() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        let mut chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(&hardware), Cost::KERNEL) };
        assert_eq!(chooser.next(1000, 20).1, 1);
        chooser.took(Place::Host, 20, Duration::from_millis(20));
        // 56 runs are a sample, and 3 replications.
        assert_eq!(chooser.next(1000, 20).1, 3);
    }

    #[test]
    fn long_first_runs_leave_the_cpu_once_the_device_is_ready() {
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware());
        let mut chooser = Chooser::new(Backend::Auto(&hardware), Cost::MODEL);
        assert!(matches!(chooser.next(1, 1), (Place::Host, 1)));
        assert!(!chooser.leaves_host(Duration::from_millis(1)), "too early");
        assert!(matches!(chooser.device, Device::Unused));
        assert!(!chooser.leaves_host(Duration::from_secs(1)), "the device starts");
        let Device::Starting(thread) = &mut chooser.device else { panic!("{chooser:?}") };
        thread.wait();
        assert!(chooser.leaves_host(Duration::from_secs(1)));
        assert!(matches!(chooser.next(1, 1), (Place::Device(_), 1)));
        // Without hardware the CPU has all.
        let software = OnDemand::from(Gpu::for_test());
        if software.hardware().is_none() {
            let mut chooser = Chooser::new(Backend::Auto(&software), Cost::MODEL);
            for _ in 0..2 {
                assert!(!chooser.leaves_host(Duration::from_secs(1)));
                if let Device::Starting(thread) = &mut chooser.device {
                    thread.wait();
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
        assert!(matches!(Chooser::new(Backend::Gpu(&gpu), Cost::KERNEL).next(9, 1), (Place::Device(_), 9)));
        assert!(matches!(Chooser::new(Backend::Cpu, Cost::KERNEL).next(9, 1), (Place::Host, 9)));
    }

    #[test]
    fn a_study_may_end_before_its_device_is_ready() {
        use std::sync::mpsc::channel;
        let hardware = OnDemand::from(Gpu::for_test().taken_for_hardware()).abandoning();
        let (end, ends) = channel::<()>();
        let ends = std::sync::Mutex::new(ends);
        let chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(&hardware), Cost::KERNEL) };
        let mut chooser = chooser.compiling(move |_| {
            // An error is the end, too.
            let _ = ends.lock().unwrap().recv();
        });
        assert_eq!(chooser.next(10_000, 1).1, 8);
        chooser.took(Place::Host, 8, Duration::from_secs_f64(0.08));
        assert!(matches!(chooser.next(9992, 1), (Place::Host, 16)));
        assert!(matches!(chooser.device, Device::Starting(_)));
        // Otherwise this would wait for ever.
        drop(chooser);
        assert!(super::super::has_abandoned_threads());
        drop(end);
    }

    #[test]
    fn the_device_is_compiled_for_once_and_waited_for() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        let device = OnDemand::from(Gpu::for_test()).handing_over_after(3);
        let compiled = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&compiled);
        let mut chooser = Chooser::new(Backend::Auto(&device), Cost::KERNEL).compiling(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(matches!(chooser.next(9, 1), (Place::Host, 3)));
        chooser.took(Place::Host, 3, Duration::from_secs(1));
        assert!(matches!(chooser.next(6, 1), (Place::Device(_), 6)));
        assert_eq!(compiled.load(Ordering::Relaxed), 1);
    }
}
