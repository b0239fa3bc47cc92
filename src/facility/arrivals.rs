//! ArrivalTimes that only process models run: at the times of a file, by a Markovian arrival
//! process, and with rates by time of day that are not those of a Poisson process.

use serde::{Deserialize, Serialize};

use super::distribution::{column_with_lines, read_text};

/// Times of arrivals.
///
/// In a file `"arrivals.csv"`, which has a column `time`, and maybe a column `class`: then a source
/// has the rows of its class. Or a list of times. It is written with its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct ArrivalTimes {
    /// The times in increasing order.
    pub(super) times: Vec<f64>,
    /// The class of each, if the file has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) classes: Vec<String>,
}

/// As files say it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a CSV file, or a list of times")]
enum Written {
    File(String),
    Times(Vec<f64>),
    Both(Both),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Both {
    times: Vec<f64>,
    #[serde(default)]
    classes: Vec<String>,
}

/// Most arrivals of a source: each takes 16 bytes.
const MOST: usize = 1 << 20;

impl TryFrom<Written> for ArrivalTimes {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let (times, classes) = match written {
            Written::File(name) => {
                let text = read_text(&name)?;
                let (times, classes) = read(&text).map_err(|reason| format!("{name}{reason}"))?;
                let (lines, times): (Vec<u64>, Vec<f64>) = times.into_iter().unzip();
                match disorder(&times) {
                    None => (times, classes),
                    Some((at, what)) => return Err(format!("{name}, line {}: {what}", lines[at])),
                }
            }
            Written::Times(times) => (times, Vec::new()),
            Written::Both(both) => (both.times, both.classes),
        };
        if times.is_empty() || times.len() > MOST {
            return Err(format!("it has {} times of arrivals; 1 to {MOST} are possible", times.len()));
        }
        if let Some((at, what)) = disorder(&times) {
            return Err(format!("time {} of the list: {what}", at + 1));
        }
        if times.last() == Some(&0.0) {
            return Err("all arrivals are at time 0; use `population` instead".to_owned());
        }
        match classes.is_empty() || classes.len() == times.len() {
            true => Ok(Self { times, classes }),
            false => Err("it has not as many classes as times".to_owned()),
        }
    }
}

/// The first time that is invalid, or is out of order: its place, and what is wrong.
fn disorder(times: &[f64]) -> Option<(usize, String)> {
    let before = |at: usize| at.checked_sub(1).map_or(0.0, |before| times[before]);
    times.iter().enumerate().find_map(|(at, &time)| match time {
        _ if !(time.is_finite() && time >= 0.0) => {
            Some((at, format!("{time} is not a time of an arrival; write numbers of at least 0")))
        }
        _ if time < before(at) => {
            let before = before(at);
            Some((at, format!("{time} comes after {before}; sort the times in increasing order")))
        }
        _ => None,
    })
}

/// Times with their lines.
type Lines = Vec<(u64, f64)>;

/// The times, and the classes if there is such a column.
fn read(text: &str) -> Result<(Lines, Vec<String>), String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = reader.records().filter_map(Result::ok);
    let head = rows.next().unwrap_or_default();
    if head.len() == 1 {
        return Ok((column_with_lines(text, None)?, Vec::new()));
    }
    let times = column_with_lines(text, Some("time"))?;
    let classes = head
        .iter()
        .position(|name| name == "class")
        .map(|place| rows.map(|row| row.get(place).unwrap_or_default().to_owned()).collect());
    Ok((times, classes.unwrap_or_default()))
}

impl ArrivalTimes {
    /// The average time between arrivals of a class, or of all.
    #[expect(clippy::cast_precision_loss, reason = "at most MOST")]
    pub(super) fn mean(&self, class: Option<&str>) -> f64 {
        let count = class.map_or(self.times.len(), |class| self.of(class).count());
        self.times.last().copied().unwrap_or(1.0) / count.max(1) as f64
    }

    /// The times of arrivals of a class.
    pub fn of<'a>(&'a self, class: &'a str) -> impl Iterator<Item = f64> + 'a {
        let has = move |place: usize| self.classes.get(place).is_none_or(|of| of == class);
        self.times.iter().enumerate().filter(move |(place, _)| has(*place)).map(|(_, time)| *time)
    }
}

/// A Markovian arrival process (MAP): phases that last exponential times, and whose ends may bring
/// an arrival. It begins in the first phase.
///
/// `d0 = [[-2.5, 0.5], [0.1, -0.3]]` has the rates of changes between phases without an arrival,
/// and `d1 = [[2.0, 0.0], [0.0, 0.2]]` those with one: here a Poisson process whose rate changes at
/// random (MMPP). On the diagonal, `d0` has minus the sum of all other rates of the row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkovArrivals {
    /// Rates without an arrival.
    pub d0: Vec<Vec<f64>>,
    /// Rates with an arrival.
    pub d1: Vec<Vec<f64>>,
}

/// Most phases.
const MOST_PHASES: usize = 16;

impl MarkovArrivals {
    /// The rate of all changes of a phase.
    pub(crate) fn rate_of(&self, phase: usize) -> f64 {
        -self.d0[phase][phase]
    }

    /// The changes of a phase: rate, next phase, and whether there is an arrival.
    pub(crate) fn changes(&self, phase: usize) -> impl Iterator<Item = (f64, usize, bool)> + '_ {
        let others = self.d0[phase].iter().enumerate().filter(move |(next, _)| *next != phase);
        let without = others.map(|(next, rate)| (*rate, next, false));
        let with = self.d1[phase].iter().enumerate().map(|(next, rate)| (*rate, next, true));
        without.chain(with).filter(|change| change.0 > 0.0)
    }

    /// The average rate of arrivals.
    pub(super) fn rate(&self) -> Result<f64, String> {
        let phases = self.d0.len();
        let square =
            |rates: &[Vec<f64>]| rates.len() == phases && rates.iter().all(|row| row.len() == phases);
        if !(1..=MOST_PHASES).contains(&phases) || !square(&self.d0) || !square(&self.d1) {
            return Err(format!("`d0` and `d1` are square, of equal size, with 1 to {MOST_PHASES} rows"));
        }
        for phase in 0..phases {
            let (leaves, sum) =
                (self.rate_of(phase), self.changes(phase).map(|change| change.0).sum::<f64>());
            let others = (0..phases).filter(|&other| other != phase).map(|other| self.d0[phase][other]);
            if !others.chain(self.d1[phase].iter().copied()).all(|rate| rate >= 0.0 && rate.is_finite()) {
                return Err(
                    "rates are finite, and only those on the diagonal of `d0` are negative".to_owned()
                );
            }
            if !(leaves > 0.0 && (leaves - sum).abs() <= 1e-6 * leaves) {
                return Err(format!(
                    "row {} of `d0` has {} on the diagonal; minus the sum of its other rates is {}",
                    phase + 1,
                    -leaves,
                    -sum
                ));
            }
        }
        let shares = self.shares();
        let arrivals = |phase: usize| self.d1[phase].iter().sum::<f64>();
        match (0..phases).map(|phase| shares[phase] * arrivals(phase)).sum::<f64>() {
            rate if rate > 0.0 => Ok(rate),
            _ => Err("no rate in `d1` is reached: there are no arrivals".to_owned()),
        }
    }

    /// The shares of time in the phases, after the start in the first one: by steps of the chain of
    /// a common clock, and by 2, 4, 8 and more of them.
    fn shares(&self) -> Vec<f64> {
        let phases = self.d0.len();
        let clock = (0..phases).map(|phase| self.rate_of(phase)).fold(0.0, f64::max) * 1.01;
        let mut steps = vec![vec![0.0; phases]; phases];
        for (phase, row) in steps.iter_mut().enumerate() {
            for (rate, to, _) in self.changes(phase) {
                row[to] += rate / clock;
            }
        }
        for _ in 0..DOUBLINGS {
            // The diagonal is the remainder, so that rare changes keep their digits.
            for (phase, row) in steps.iter_mut().enumerate() {
                row[phase] = 0.0;
                row[phase] = (1.0 - row.iter().sum::<f64>()).max(0.0);
            }
            let of =
                |row: &[f64], to: usize| row.iter().zip(&steps).map(|(share, next)| share * next[to]).sum();
            steps = steps.iter().map(|row| (0..phases).map(|to| of(row, to)).collect()).collect();
        }
        steps.swap_remove(0)
    }
}

/// Doublings of the number of steps in which shares of phases are found: enough for changes through
/// all phases, each at a rate of 10^-20 of the fastest one.
const DOUBLINGS: usize = 1100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_times_and_classes() {
        let text = "time,class,note\n1,a,x\n2.5,b,y\n# a comment\n2.5,a,z\n";
        let (times, classes) = read(text).unwrap();
        assert_eq!(times.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 5]);
        assert_eq!(read(&text.replace('\n', "\r\n")).unwrap().0, times);
        let times = times.into_iter().map(|(_, time)| time).collect();
        let arrivals = ArrivalTimes::try_from(Written::Both(Both { times, classes })).unwrap();
        assert_eq!(arrivals.of("a").collect::<Vec<_>>(), [1.0, 2.5]);
        assert_eq!(arrivals.of("b").count(), 1);
        let one = read("0.5\n1\n").unwrap();
        assert_eq!(one, (vec![(1, 0.5), (2, 1.0)], Vec::new()));
        assert_eq!(disorder(&[0.0, 2.0, 2.0]), None);
        assert_eq!(disorder(&[-1.0]).unwrap().0, 0);
        let (place, what) = disorder(&[1.0, 3.0, 2.5]).unwrap();
        assert!(place == 2 && what.contains("2.5 comes after 3"), "{what}");
        for wrong in
            ["[]", "[2.0, 1.0]", "[-1.0]", "[0.0]", "\"none.csv\"", "{ times = [1.0], classes = [] , x = 1 }"]
        {
            assert!(
                toml::from_str::<toml::Table>(&format!("x = {wrong}")).unwrap()["x"]
                    .clone()
                    .try_into::<ArrivalTimes>()
                    .is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_rate_of_a_map_is_that_of_its_phases() {
        // Two Poisson processes, a quarter and three quarters of the time.
        let map = MarkovArrivals {
            d0: vec![vec![-5.0, 3.0], vec![1.0, -1.4]],
            d1: vec![vec![2.0, 0.0], vec![0.0, 0.4]],
        };
        assert!((map.rate().unwrap() - (0.25 * 2.0 + 0.75 * 0.4)).abs() < 1e-12);
        // Phases that last a million times as long as the time between arrivals, or 10^15 times.
        for rare in [1e-3, 1e-12] {
            let map = MarkovArrivals {
                d0: vec![vec![-1000.0 - rare, rare], vec![3.0 * rare, -3.0 * rare]],
                d1: vec![vec![1000.0, 0.0], vec![0.0, 0.0]],
            };
            assert!((map.rate().unwrap() - 750.0).abs() < 1e-6, "{rare}: {}", map.rate().unwrap());
        }
        // The first phase is left for one of two others, which are not left.
        let map = MarkovArrivals {
            d0: vec![vec![-4.0, 1.0, 3.0], vec![0.0, -8.0, 0.0], vec![0.0, 0.0, -2.0]],
            d1: vec![vec![0.0; 3], vec![0.0, 8.0, 0.0], vec![0.0, 0.0, 2.0]],
        };
        assert!((map.rate().unwrap() - (0.25 * 8.0 + 0.75 * 2.0)).abs() < 1e-12);
        let wrong = |d0: &[&[f64]], d1: &[&[f64]]| {
            let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
            MarkovArrivals { d0: rows(d0), d1: rows(d1) }.rate().unwrap_err()
        };
        assert!(wrong(&[&[-1.0]], &[&[2.0]]).contains("row 1"));
        assert!(wrong(&[&[-1.0, 1.0], &[1.0, -1.0]], &[&[0.0, 0.0], &[0.0, 0.0]]).contains("no arrivals"));
        assert!(wrong(&[&[-1.0]], &[&[1.0, 0.0]]).contains("square"));
        assert!(wrong(&[&[-1.0, -1.0], &[1.0, -1.0]], &[&[2.0, 0.0], &[0.0, 0.0]]).contains("negative"));
    }
}
