//! Options of profiles: measures by time, over all replications.

use std::path::{Path, PathBuf};

use clap::Args;
use eventhorizon::statistics::{Intervals, Profile, plot};

use super::files::Named;
use super::{FileUse, Outcome, positive, print_report};

/// Whether and where a profile is written.
#[derive(Args)]
pub struct Profiled {
    /// Average measures over intervals of this length, in units of time, and write them with bands
    /// over all replications to --profile-to, and into --plot and --report
    #[arg(long, value_name = "LENGTH", value_parser = positive)]
    pub profile: Option<f64>,
    /// Begin the profile again after each of these periods, for example a day
    #[arg(long, value_name = "PERIOD", requires = "profile", value_parser = positive)]
    period: Option<f64>,
    /// Write the profile as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE", requires = "profile", default_value = "profile.csv")]
    profile_to: PathBuf,
}

impl Profiled {
    /// The intervals, if there is a profile.
    pub fn intervals(&self) -> Option<Intervals> {
        let intervals = Intervals::new(self.profile?);
        Some(match self.period {
            Some(period) => intervals.every(period),
            None => intervals,
        })
    }

    /// Checks the intervals of runs until a time, before they are made, and prints a notice of a
    /// rest that is shorter than an interval.
    pub fn check(&self, until: f64) -> Outcome<()> {
        let Some(intervals) = self.intervals() else { return Ok(()) };
        if let Some(end) = whole(intervals.count(until)?, intervals.length, until) {
            print_report(&format!(
                "notice: the profile ends at {}. The rest of the runs, until {until}, is shorter than an \
                 interval; choose a length that divides them",
                // Products of steps are not exact.
                (end * 1e9).round() / 1e9
            ));
        }
        Ok(())
    }

    /// Where a picture marks the end of the warm-up: a profile with a period leaves it out.
    pub fn marked(&self, warm_up: f64) -> f64 {
        if self.period.is_some() { 0.0 } else { warm_up }
    }

    /// The entry for [`check_files`](super::check_files).
    pub fn file(&self) -> Named<'_> {
        (FileUse::Writes, "--profile-to", self.profile.and(Some(&*self.profile_to)))
    }

    /// Writes the profile, and draws it into a folder.
    pub fn write(&self, profile: &Profile, folder: Option<&Path>) -> Outcome<()> {
        let mut csv = Vec::new();
        profile.to_csv(&mut csv)?;
        super::write(&self.profile_to, &csv)?;
        let Some(folder) = folder else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut written = Vec::new();
        profile.measures().try_for_each(|measure| {
            let svg = plot::profile(profile, measure)?;
            let name = file_name(measure, &mut written);
            super::write(&folder.join(format!("profile_{name}.svg")), svg.as_bytes())
        })
    }
}

/// The name of a measure in the name of a file, with a number behind it if another measure has the
/// same. Some file systems do not distinguish capitals.
fn file_name(measure: &str, written: &mut Vec<String>) -> String {
    let plain = measure.replace(['(', ')', ' ', ',', '/', '\\', ':', '<', '>', '*', '?', '"', '|'], "_");
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    let is_free = |name: &String| !written.contains(&name.to_lowercase());
    let name = names.find(is_free).expect("there are more numbers than measures");
    written.push(name.to_lowercase());
    name
}

/// Where whole intervals of a length end, if that is before the end of the runs.
fn whole(count: usize, length: f64, until: f64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "at most 100,000 intervals")]
    let end = count as f64 * length;
    (until - end > 1e-6 * length).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_of_a_profile_is_found() {
        let end =
            |length: f64, until: f64| whole(Intervals::new(length).count(until).unwrap(), length, until);
        assert_eq!((end(3.0, 10.0), end(0.1, 1.0), end(2.5, 10.0)), (Some(9.0), None, None));
    }

    #[test]
    fn measures_whose_names_look_alike_have_files_of_their_own() {
        let mut written = Vec::new();
        let all = ["number(d k)", "number(d_k)", "number(D_K)", "wait(d_k)"];
        let names = all.map(|measure| file_name(measure, &mut written));
        assert_eq!(names, ["number_d_k_", "number_d_k_-2", "number_D_K_-3", "wait_d_k_"]);
    }
}
