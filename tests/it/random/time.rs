//! The module `time` on the host.

use eventhorizon::time::{Resolution, Ticks, TimeError};
use proptest::prelude::*;

#[test]
fn a_sum_that_is_no_finite_time_is_seen() {
    let last = Ticks::new(u64::MAX - 1);
    let one = Ticks::new(1);
    assert_eq!(last.checked_add(Ticks::ZERO), Some(last));
    for (time, span) in [(last, one), (last, last), (Ticks::NEVER, Ticks::ZERO), (one, Ticks::NEVER)] {
        assert_eq!(time.checked_add(span), None, "{time} + {span}");
        assert_eq!(time.saturating_add(span), Ticks::NEVER, "{time} + {span}");
    }
}

#[test]
fn times_print_as_numbers_and_never() {
    assert_eq!(format!("{:>5}|{:>6}", Ticks::new(12), Ticks::NEVER), "   12| never");
}

#[test]
fn what_is_no_time_is_refused_with_the_value_and_the_remedy() {
    let resolution = Resolution::new(1000).unwrap();
    let message = |units: f64| resolution.ticks(units).unwrap_err().to_string();
    assert!(message(f64::NAN).contains("NaN") && message(f64::INFINITY).contains("Ticks::NEVER"));
    assert!(message(-0.25).contains("-0.25"));
    assert!(message(1e300).contains("fewer ticks per unit"));
    assert_eq!(Resolution::new(0), Err(TimeError::NoTicks));
    assert_eq!(resolution.ticks(-0.0), Ok(Ticks::ZERO));
}

#[test]
fn the_horizon_is_the_first_time_that_is_too_late() {
    for ticks_per_unit in [1, 3, 1000, 1 << 20, u32::MAX] {
        let resolution = Resolution::new(ticks_per_unit).unwrap();
        let horizon = resolution.horizon();
        assert!(
            matches!(resolution.ticks(horizon), Err(TimeError::BeyondHorizon { .. })),
            "{ticks_per_unit}"
        );
        // Two steps, because the quotient and the product are each rounded.
        let before = resolution.ticks(horizon.next_down().next_down()).unwrap();
        assert!(before < Ticks::NEVER && before.get() > u64::MAX - (1 << 13), "{ticks_per_unit}: {before}");
    }
    assert_eq!(Resolution::default().horizon(), 2f64.powi(44));
    assert_eq!(Resolution::default().units(Ticks::NEVER), f64::INFINITY);
}

#[test]
fn rounding_is_to_the_nearest_tick() {
    let resolution = Resolution::new(2).unwrap();
    for (units, ticks) in [(0.2, 0), (0.25, 1), (0.7, 1), (0.75, 2), (1e3, 2000)] {
        assert_eq!(resolution.ticks(units), Ok(Ticks::new(ticks)), "{units}");
    }
}

proptest! {
    #[test]
    fn ticks_survive_the_way_through_units(ticks in 0u64..1 << 51, ticks_per_unit in 1u32..) {
        let resolution = Resolution::new(ticks_per_unit).unwrap();
        prop_assert_eq!(resolution.ticks(resolution.units(Ticks::new(ticks))), Ok(Ticks::new(ticks)));
    }

    #[test]
    fn with_a_power_of_two_they_do_up_to_53_bits(ticks in 0u64..=1 << 53, shift in 0u32..32) {
        let resolution = Resolution::new(1 << shift).unwrap();
        prop_assert_eq!(resolution.ticks(resolution.units(Ticks::new(ticks))), Ok(Ticks::new(ticks)));
    }

    #[test]
    fn words_make_the_same_time(ticks: u64) {
        let time = Ticks::new(ticks);
        prop_assert_eq!(Ticks::from_words(time.to_words()), time);
        #[cfg(target_endian = "little")]
        prop_assert_eq!(bytemuck::cast::<Ticks, [u32; 2]>(time), time.to_words());
    }
}
