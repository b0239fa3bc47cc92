//! Chooses the CPU or a device for each part of a study, by measured times.
//!
//! Both give the same bits, so the choice changes only how long the study takes. The CPU begins:
//! it starts in milliseconds, and its first replications show what one costs.

use std::fmt::Debug;
use std::thread::available_parallelism;
use std::time::Duration;

use super::Backend;
use crate::gpu::Gpu;

/// What a study on a device is expected to take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Seconds to open the device and to compile the kernel.
    pub(crate) start: f64,
    /// A replication takes this many times as long as on a core.
    pub(crate) latency: f64,
}

impl Cost {
    /// Of a kernel of its own. Seen on an H200 without the driver's cache: a start of 1.2 to 1.5
    /// seconds for networks, 1.3 to 3 for process models; a latency of 50 to 100.
    pub(crate) const KERNEL: Self = Self { start: 1.2, latency: 80.0 };

    /// Of the interpreter of networks. Seen there: a start of 3 to 8 seconds; a latency of 8 to
    /// 160, compared with machine code.
    pub(crate) const INTERPRETER: Self = Self { start: 3.5, latency: 150.0 };
}

/// Seconds of work on the CPU that its speed is taken from.
const SAMPLE: f64 = 0.05;

/// Longest part on the CPU, in seconds: then progress is reported, and the next choice is made.
const PART: f64 = 0.2;

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

/// Chooses where the parts of a study run.
#[derive(Debug)]
pub(crate) struct Chooser<'g> {
    backend: Backend<'g>,
    cost: Cost,
    cores: f64,
    /// Seconds of a replication on the CPU, all cores at work, and the seconds they were taken
    /// from.
    host: Option<[f64; 2]>,
    /// Seconds of a replication on the device, when it was started.
    device: Option<f64>,
}

impl<'g> Chooser<'g> {
    pub(crate) fn new(backend: Backend<'g>, cost: Cost) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        #[expect(clippy::cast_precision_loss, reason = "a number of cores")]
        Self { backend, cost, cores: cores as f64, host: None, device: None }
    }

    /// Where the next of `left` replications run, and how many of them.
    pub(crate) fn next(&self, left: u32) -> (Place<'g>, u32) {
        let device = match self.backend {
            Backend::Cpu => return (Place::Host, left),
            Backend::Gpu(gpu) => return (Place::Device(gpu), left),
            Backend::Auto(device) => device,
        };
        let Some([each, sampled]) = self.host else { return (Place::Host, whole(self.cores, left)) };
        let on_host = f64::from(left) * each;
        let stay = |seconds: f64| (Place::Host, whole(seconds / each, left));
        // A device would not be ready before the CPU ends.
        if self.device.is_none() && on_host <= self.cost.start {
            return (Place::Host, left);
        }
        if sampled < SAMPLE {
            return stay(SAMPLE);
        }
        let Some(gpu) = device.hardware() else { return (Place::Host, left) };
        let on_device = self.device_seconds(gpu, left, each * self.cores);
        log::debug!(
            "{left} replications: {on_host:.3} s on the CPU, {on_device:.3} s on the device expected"
        );
        match on_device < on_host {
            true => (Place::Device(gpu), left),
            false => stay(PART),
        }
    }

    /// Seconds that the device is expected to need for `left` replications that take a core `one`
    /// second each.
    fn device_seconds(&self, gpu: &Gpu, left: u32, one: f64) -> f64 {
        let discrete = gpu.info().device_type == wgpu::DeviceType::DiscreteGpu;
        let cores = if discrete { CORES_OF_DISCRETE } else { CORES_OF_OTHERS };
        match self.device {
            Some(each) => f64::from(left) * each,
            None => self.cost.start + one * self.cost.latency.max(f64::from(left) / cores),
        }
    }

    /// Records how long replications took.
    pub(crate) fn took(&mut self, place: Place<'_>, replications: usize, time: Duration) {
        if replications == 0 {
            return;
        }
        let seconds = time.as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let each = seconds / replications as f64;
        match place {
            // The later, longer parts count: in the first one, memory and caches are cold.
            Place::Host => self.host = Some([each, self.host.map_or(0.0, |[_, sampled]| sampled) + seconds]),
            Place::Device(_) => self.device = Some(each),
        }
    }
}

/// A number of replications from 1 to `left`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds")]
fn whole(number: f64, left: u32) -> u32 {
    number.clamp(1.0, f64::from(left.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::super::OnDemand;
    use super::*;

    /// The places and sizes of the parts of a study, if a replication takes all cores `each`
    /// seconds and a part on the device this time.
    fn parts(device: &OnDemand, mut left: u32, each: f64, on_device: f64) -> Vec<(bool, u32)> {
        let mut chooser = Chooser { cores: 8.0, ..Chooser::new(Backend::Auto(device), Cost::KERNEL) };
        let mut parts = Vec::new();
        while left > 0 {
            let (place, count) = chooser.next(left);
            let seconds = match place {
                Place::Host => f64::from(count) * each,
                Place::Device(_) => on_device,
            };
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
        assert_eq!(parts(&hardware, 5, 10.0, 0.1), [(false, 5)]);
        // Of 0.1 s each, 64 take a device longer than the CPU; 100,000 do not.
        assert!(parts(&hardware, 64, 0.1, 1.0).iter().all(|&(on_device, _)| !on_device));
        let many = parts(&hardware, 100_000, 0.1, 1.0);
        assert_eq!((many[0], many[1]), ((false, 8), (true, 99_992)));
        let sampled = parts(&hardware, 1_000_000, 0.001, 1.0);
        assert_eq!(sampled, [(false, 8), (false, 50), (true, 999_942)]);
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
        assert!(matches!(Chooser::new(Backend::Gpu(&gpu), Cost::KERNEL).next(9), (Place::Device(_), 9)));
        assert!(matches!(Chooser::new(Backend::Cpu, Cost::KERNEL).next(9), (Place::Host, 9)));
    }
}
