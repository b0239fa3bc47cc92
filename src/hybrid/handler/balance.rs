//! Chooses the backend for the calls of a handler by measurement.

use super::Placement;

/// A backend that lost is tried again when calls have taken this many times as long elsewhere as
/// they would there: so retrying costs at most a twentieth.
const AGAIN: f64 = 20.0;

/// The backend for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandlerBackend {
    Cpu,
    /// The first device.
    One,
    /// All devices.
    All,
}

/// The measurements of a handler, as moving means.
#[derive(Debug, Default)]
pub(super) struct Balance {
    /// Seconds per call on the CPU.
    cpu: Option<f64>,
    /// Seconds for 2^i to 2^(i+1) - 1 calls on one device, and on all.
    one: [Option<f64>; 32],
    all: [Option<f64>; 32],
    /// For each backend and size, the seconds that such calls took elsewhere since they last ran
    /// there.
    since: [[f64; 32]; 3],
    pub(super) devices: Vec<Device>,
    /// Whether calls have run on one device, and on all.
    ran: [bool; 2],
    /// Whether a GPU's driver ended its loops early: then it is not tried again.
    pub(super) cut: bool,
}

/// The measurements of a device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Device {
    pub(super) calls: u64,
    /// Calls per second, while the others work.
    rate: Option<f64>,
}

impl Balance {
    /// Tries a backend that was not tried, unless fewer calls took longer there than these take
    /// elsewhere. Retries one that lost now and then, because the reason may be gone.
    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    pub(super) fn place(&self, placement: Placement, calls: usize, devices: usize) -> HandlerBackend {
        if placement == Placement::Cpu || devices == 0 || self.cut && placement == Placement::Auto {
            return HandlerBackend::Cpu;
        }
        let mut best = (HandlerBackend::One, self.one[size(calls)]);
        let mut tried = Vec::new();
        if placement == Placement::Auto {
            // The CPU is tried first.
            let Some(cpu) = self.cpu else { return HandlerBackend::Cpu };
            best = (HandlerBackend::Cpu, Some(cpu * calls as f64));
            tried.push(best);
        }
        let others = [(HandlerBackend::One, &self.one), (HandlerBackend::All, &self.all)];
        for (place, measured) in others.into_iter().take(if devices > 1 && calls > 1 { 2 } else { 1 }) {
            tried.push((place, measured[size(calls)]));
            let Some(least) = best.1 else { break };
            let fewer = || measured[..size(calls)].iter().rev().flatten().next();
            match measured[size(calls)] {
                Some(seconds) if seconds < least => best = (place, Some(seconds)),
                None if fewer().is_none_or(|&fewer| fewer < least) => best = (place, None),
                _ => {}
            }
        }
        let again = |&&(place, measured): &&(HandlerBackend, Option<f64>)| {
            let since = self.since[place as usize][size(calls)];
            place != best.0 && measured.is_some_and(|seconds| since > AGAIN * seconds)
        };
        tried.iter().find(again).map_or(best.0, |&(place, _)| place)
    }

    /// Whether calls have run there before. The first ones include the set-up of a device, and do
    /// not predict the next.
    pub(super) fn is_warm(&mut self, place: HandlerBackend) -> bool {
        match place {
            HandlerBackend::Cpu => true,
            HandlerBackend::One => std::mem::replace(&mut self.ran[0], true),
            HandlerBackend::All => std::mem::replace(&mut self.ran[1], true),
        }
    }

    /// The number of calls for each device: by measured rates, or equal until these are known. At
    /// least one each, so that a device that becomes faster is noticed.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the calls"
    )]
    pub(super) fn shares(&self, calls: usize, devices: usize) -> Vec<usize> {
        let rate = |device: usize| self.devices.get(device).and_then(|device| device.rate);
        let rates: Option<Vec<f64>> = (0..devices).map(rate).collect();
        let rates = rates.unwrap_or_else(|| vec![1.0; devices]);
        let all: f64 = rates.iter().sum();
        let least = usize::from(calls >= devices);
        let calls = calls - least * devices;
        let (mut sum, mut given) = (0.0, 0);
        let mut share = |rate: f64| {
            sum += rate;
            let up_to = ((sum / all * calls as f64).round() as usize).clamp(given, calls);
            least + std::mem::replace(&mut given, up_to).abs_diff(up_to)
        };
        let mut shares: Vec<_> = rates.into_iter().map(&mut share).collect();
        // The rounding error.
        if let Some(last) = shares.last_mut() {
            *last += calls - given;
        }
        shares
    }

    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    pub(super) fn record(&mut self, place: HandlerBackend, calls: usize, seconds: f64) {
        let (kept, new) = match place {
            HandlerBackend::Cpu => (&mut self.cpu, seconds / calls.max(1) as f64),
            HandlerBackend::One => (&mut self.one[size(calls)], seconds),
            HandlerBackend::All => (&mut self.all[size(calls)], seconds),
        };
        *kept = Some(mean(*kept, new));
        self.since.iter_mut().for_each(|since| since[size(calls)] += seconds);
        self.since[place as usize][size(calls)] = 0.0;
    }

    /// Records that a device answered `calls` calls in `seconds`, while other devices answered
    /// some.
    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    pub(super) fn record_device(&mut self, device: usize, calls: usize, seconds: Option<f64>) {
        if self.devices.len() <= device {
            self.devices.resize(device + 1, Device::default());
        }
        let Device { calls: all, rate } = &mut self.devices[device];
        *all += calls as u64;
        if let Some(seconds) = seconds.filter(|&seconds| calls > 0 && seconds > 0.0) {
            *rate = Some(mean(*rate, calls as f64 / seconds));
        }
    }
}

/// A moving mean.
fn mean(old: Option<f64>, new: f64) -> f64 {
    old.map_or(new, |old| 0.75 * old + 0.25 * new)
}

/// The logarithm of a number of calls.
fn size(calls: usize) -> usize {
    (calls.max(1).ilog2() as usize).min(31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_places_are_tried_and_the_faster_one_stays() {
        let mut balance = Balance::default();
        let on = |balance: &Balance, calls| balance.place(Placement::Auto, calls, 1);
        assert_eq!(on(&balance, 100), HandlerBackend::Cpu, "the CPU is first");
        balance.record(HandlerBackend::Cpu, 100, 1.0);
        assert_eq!(on(&balance, 100), HandlerBackend::One, "then the GPU is tried");
        balance.record(HandlerBackend::One, 100, 0.5);
        assert_eq!(on(&balance, 100), HandlerBackend::One);
        // Ten calls take 0.1 s on the CPU. The GPU is unknown for them, so it is tried, and loses.
        assert_eq!(on(&balance, 10), HandlerBackend::One);
        balance.record(HandlerBackend::One, 10, 0.4);
        assert_eq!(
            [10, 20, 64].map(|calls| on(&balance, calls)),
            [HandlerBackend::Cpu, HandlerBackend::Cpu, HandlerBackend::One]
        );
        balance.cut = true;
        assert_eq!(on(&balance, 64), HandlerBackend::Cpu);
    }

    #[test]
    fn a_place_that_lost_is_tried_again() {
        let mut balance = Balance::default();
        let on = |balance: &Balance| balance.place(Placement::Auto, 100, 1);
        balance.record(HandlerBackend::Cpu, 100, 0.125);
        balance.record(HandlerBackend::One, 100, 1.0);
        // More than 20 times one second.
        for _ in 0..161 {
            assert_eq!(on(&balance), HandlerBackend::Cpu);
            balance.record(HandlerBackend::Cpu, 100, 0.125);
        }
        assert_eq!(on(&balance), HandlerBackend::One);
        // It is still slow.
        balance.record(HandlerBackend::One, 100, 1.0);
        assert_eq!(on(&balance), HandlerBackend::Cpu);
        // When it becomes faster, it wins after some tries.
        let mut windows = 0;
        while balance.place(Placement::Auto, 100, 1) == HandlerBackend::Cpu
            || balance.one[size(100)] > Some(0.125)
        {
            let place = on(&balance);
            balance.record(place, 100, if place == HandlerBackend::Cpu { 0.125 } else { 0.01 });
            windows += 1;
            assert!(windows < 1000, "it is never tried often enough");
        }
    }

    #[test]
    fn several_devices_are_tried_and_share_by_what_they_did() {
        let mut balance = Balance::default();
        let on = |balance: &Balance, calls| balance.place(Placement::Gpu, calls, 3);
        assert_eq!((on(&balance, 100), on(&balance, 1)), (HandlerBackend::One, HandlerBackend::One));
        balance.record(HandlerBackend::One, 100, 0.6);
        assert_eq!(on(&balance, 100), HandlerBackend::All);
        assert_eq!(balance.shares(100, 3), [33, 34, 33]);
        for (device, seconds) in [0.1, 0.2, 0.2].into_iter().enumerate() {
            balance.record_device(device, 100, Some(seconds));
        }
        balance.record(HandlerBackend::All, 100, 0.3);
        assert_eq!(on(&balance, 100), HandlerBackend::All);
        assert_eq!(balance.shares(100, 3), [50, 25, 25]);
        assert_eq!(balance.shares(2, 3).iter().sum::<usize>(), 2);
        // A slow device keeps a tiny share.
        (0..40).for_each(|_| balance.record_device(2, 1, Some(1.0)));
        assert_eq!(balance.shares(100, 3), [66, 33, 1]);
        // Fewer calls are not worth it.
        balance.record(HandlerBackend::One, 10, 0.1);
        assert_eq!(on(&balance, 10), HandlerBackend::All);
        balance.record(HandlerBackend::All, 10, 0.2);
        assert_eq!(on(&balance, 10), HandlerBackend::One);
    }
}
