//! Where the calls of a handler run: by what was measured.

use super::Placement;

/// A place that lost is tried again when calls have taken so many times as long elsewhere as these
/// would take there: so that to look again costs a twentieth at the most.
const AGAIN: f64 = 20.0;

/// Where calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandlerBackend {
    Cpu,
    /// On the first device.
    One,
    /// On all of them.
    All,
}

/// What was measured of a handler, all of it moving means.
#[derive(Debug, Default)]
pub(super) struct Balance {
    /// Seconds of a call on the CPU.
    cpu: Option<f64>,
    /// Seconds of 2^i to 2^(i+1) - 1 calls on one device, and on all.
    one: [Option<f64>; 32],
    all: [Option<f64>; 32],
    /// Seconds that so many calls have taken elsewhere since they ran in a place.
    since: [[f64; 32]; 3],
    pub(super) devices: Vec<Device>,
    /// Whether calls have run on one device, and on all.
    ran: [bool; 2],
    /// Whether a GPU's driver cut it: it is not tried again.
    pub(super) cut: bool,
}

/// What was measured of a device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Device {
    pub(super) calls: u64,
    /// Calls per second, beside the others.
    rate: Option<f64>,
}

impl Balance {
    /// A place that was not tried is tried, unless fewer calls took longer there than these take
    /// elsewhere. One that lost is tried again now and then: what made it slow may be over.
    #[expect(clippy::cast_precision_loss, reason = "calls are counted, and f64 counts far")]
    pub(super) fn place(&self, placement: Placement, calls: usize, devices: usize) -> HandlerBackend {
        if placement == Placement::Cpu || devices == 0 || self.cut && placement == Placement::Auto {
            return HandlerBackend::Cpu;
        }
        let mut best = (HandlerBackend::One, self.one[size(calls)]);
        let mut tried = Vec::new();
        if placement == Placement::Auto {
            // The CPU is the first that is tried.
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

    /// Whether calls have run there before. The first ones wait for the set-up of a device, and say
    /// nothing of those that follow.
    pub(super) fn is_warm(&mut self, place: HandlerBackend) -> bool {
        match place {
            HandlerBackend::Cpu => true,
            HandlerBackend::One => std::mem::replace(&mut self.ran[0], true),
            HandlerBackend::All => std::mem::replace(&mut self.ran[1], true),
        }
    }

    /// How many calls each device takes of so many: by what it did before, and the same of each
    /// until that is known. One at least, so that a device that was slow once is seen to be faster
    /// now.
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
        // What rounding leaves.
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

    /// A device has answered so many calls, in so many seconds where others answered some at the
    /// same time.
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
        // Ten calls: 0.1 s on the CPU. Unknown on the GPU, so it is tried, and lost.
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
        // More than 20 times a second.
        for _ in 0..161 {
            assert_eq!(on(&balance), HandlerBackend::Cpu);
            balance.record(HandlerBackend::Cpu, 100, 0.125);
        }
        assert_eq!(on(&balance), HandlerBackend::One);
        // Slow as ever.
        balance.record(HandlerBackend::One, 100, 1.0);
        assert_eq!(on(&balance), HandlerBackend::Cpu);
        // And faster since: it wins after some tries.
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
        // One that was found slow keeps a share that is next to nothing.
        (0..40).for_each(|_| balance.record_device(2, 1, Some(1.0)));
        assert_eq!(balance.shares(100, 3), [66, 33, 1]);
        // Fewer calls than that are not worth it.
        balance.record(HandlerBackend::One, 10, 0.1);
        assert_eq!(on(&balance, 10), HandlerBackend::All);
        balance.record(HandlerBackend::All, 10, 0.2);
        assert_eq!(on(&balance, 10), HandlerBackend::One);
    }
}
