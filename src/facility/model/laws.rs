//! The twin of `shaders/facility/network/laws.wgsl`.

use crate::random::Stream;
use crate::time::Ticks;

/// A time by a law's words.
pub(in super::super) fn variate(stream: &mut Stream, law: &[u32]) -> Ticks {
    let number = law[1];
    let [a, b, c] = [2, 4, 6].map(|at| Ticks::from_words([law[at], law[at + 1]]));
    match law[0] {
        1 => stream.exponential(a),
        2 => stream.uniform(a, b),
        3 => stream.erlang(number, a),
        4 => stream.hyperexponential(number, a, b),
        5 => stream.triangular(a, b, c),
        6 => stream.normal(a, b),
        7 => stream.lognormal(a, number),
        8 => stream.weibull(a, number),
        _ => a,
    }
}
