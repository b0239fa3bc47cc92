//! Options of profiles: measures by time, over all replications.

use std::path::{Path, PathBuf};

use clap::Args;
use eventhorizon::statistics::{Intervals, Profile, plot};

use super::files::Named;
use super::{FileUse, Outcome, positive};

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

    /// Checks the intervals of runs until a time, before they are made.
    pub fn check(&self, until: f64) -> Outcome<()> {
        self.intervals().map_or(Ok(()), |intervals| Ok(intervals.count(until).map(|_| ())?))
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
        profile.measures().try_for_each(|measure| {
            let svg = plot::profile(profile, measure)?;
            let name =
                measure.replace(['(', ')', ' ', ',', '/', '\\', ':', '<', '>', '*', '?', '"', '|'], "_");
            super::write(&folder.join(format!("profile_{name}.svg")), svg.as_bytes())
        })
    }
}
