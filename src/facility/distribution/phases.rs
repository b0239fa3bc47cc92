//! Coxian distributions.

use serde::{Deserialize, Serialize};

use super::tails::{positive, within};

/// Phases of a [`Distribution::Coxian`](super::Distribution::Coxian): each is exponential.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// The mean of each phase, 1 to 16.
    pub means: Vec<f64>,
    /// The probability that the next phase follows, for all but the last.
    pub continues: Vec<f64>,
}

/// Most phases.
const MOST: usize = 16;
/// Steps of time are 2^-40 of the longest time that is looked at, or less: at most 2^-32 of the
/// shortest phase, so that the second order of a step suffices.
const HALVINGS: i32 = 40;
const HALVINGS_OF_SHORTEST: i32 = 32;
/// Most of the longest mean divided by the shortest.
const MOST_RATIO: f64 = 1e18;

impl Phases {
    pub(super) fn check(&self) -> Result<(), String> {
        let (phases, others) = (self.means.len(), self.continues.len());
        if !(1..=MOST).contains(&phases) || others + 1 != phases {
            return Err(format!(
                "it has {phases} `means` and {others} of `continues`; write 1 to {MOST} means, and one less of the others"
            ));
        }
        self.means.iter().try_for_each(|&mean| positive("mean", mean))?;
        let longest = self.means.iter().copied().fold(0.0, f64::max);
        if longest / self.shortest() > MOST_RATIO {
            return Err(format!(
                "its longest phase, {longest}, is more than {MOST_RATIO:e} times as long as the shortest, {}; leave out the short one",
                self.shortest()
            ));
        }
        self.continues.iter().try_for_each(|&share| within("probability to continue", share, [0.0, 1.0]))
    }

    fn shortest(&self) -> f64 {
        self.means.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn continues(&self, phase: usize) -> f64 {
        self.continues.get(phase).copied().unwrap_or(0.0)
    }

    /// E(X) and E(X²).
    pub(super) fn moments(&self) -> [f64; 2] {
        (0..self.means.len()).rev().fold([0.0; 2], |[first, second], phase| {
            let (mean, on) = (self.means[phase], self.continues(phase));
            [mean + on * first, 2.0 * mean * mean + 2.0 * mean * on * first + on * second]
        })
    }

    /// The tails, by the change of the phases' probabilities in a small step, and in 2, 4, 8
    /// and more steps.
    #[expect(clippy::cast_possible_truncation, reason = "the ratio of means is bounded")]
    pub(super) fn tails(&self) -> impl Fn(f64) -> [f64; 2] + use<> {
        let count = self.means.len();
        // Beyond it, a tail is below e^-40.
        let longest = 48.0 * self.means.iter().sum::<f64>();
        let phases = (longest / self.shortest()).log2().ceil() as i32;
        let halvings = HALVINGS.max(phases + HALVINGS_OF_SHORTEST);
        let step = longest / 2_f64.powi(halvings);
        let rate = |i: usize, j: usize| match j {
            j if j == i => -1.0 / self.means[i],
            j if j == i + 1 => self.continues(i) / self.means[i],
            _ => 0.0,
        };
        let matrix = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..count).map(|i| (0..count).map(|j| of(i, j)).collect()).collect()
        };
        // Changes keep the digits that probabilities near 1 would lose.
        let rates = matrix(&|i, j| step * rate(i, j));
        let square = product(&rates, &rates);
        let mut changes = vec![matrix(&|i, j| rates[i][j] + 0.5 * square[i][j])];
        for _ in 1..halvings {
            let last = changes.last().expect("not empty");
            let square = product(last, last);
            changes.push(matrix(&|i, j| 2.0 * last[i][j] + square[i][j]));
        }
        move |x| {
            let mut rest = x.clamp(0.0, longest) / step;
            let mut phases = vec![0.0; count];
            phases[0] = 1.0;
            let mut lower = 0.0;
            let mut steps = 2_f64.powi(halvings);
            for change in changes.iter().rev() {
                steps /= 2.0;
                if rest >= steps {
                    rest -= steps;
                    let of = |j: usize| (0..=j).map(|i| phases[i] * change[i][j]).sum::<f64>();
                    let changed: Vec<f64> = (0..count).map(of).collect();
                    lower -= changed.iter().sum::<f64>();
                    phases.iter_mut().zip(changed).for_each(|(phase, change)| *phase += change);
                }
            }
            [lower, phases.iter().sum()]
        }
    }
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, row)| x * row[j]).sum();
    a.iter().map(|row| (0..b.len()).map(|j| of(row, j)).collect()).collect()
}
