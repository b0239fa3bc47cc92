//! Ticks in a unit of time: as described, or chosen to make times exact.

use super::check::Form;
use super::{Discipline, Distribution, Facility, FacilityError, Network, Route};
use crate::text::first_of;
use crate::time::Resolution;

/// The factor between 62 bits of ticks and the 2^47 of the clock of shared servers and of process
/// models.
const SHARED: f64 = (1 << 15) as f64;

const MOST: f64 = 4_611_686_018_427_387_904.0;

/// Least ticks of a mean time.
const FINE: f64 = 65_536.0;

/// The longest time, in units, that fits at any resolution: 2^62 / 2^32.
const FITS: f64 = (1 << 30) as f64;

/// A constant time of the description.
struct Constant {
    what: String,
    units: f64,
}

/// All times of a description.
#[derive(Default)]
struct Times {
    constants: Vec<Constant>,
    /// Means of drawn times, with their names.
    drawn: Vec<Constant>,
}

impl Times {
    fn law(&mut self, what: impl Fn() -> String, law: &Distribution) {
        let into =
            if matches!(law, Distribution::Constant(_)) { &mut self.constants } else { &mut self.drawn };
        for units in law.scales().into_iter().flatten() {
            into.push(Constant { what: what(), units });
        }
    }

    fn of(network: &Network) -> Self {
        let mut times = Self::default();
        let route = |times: &mut Self, node: &str, route: &Route| {
            let Route::Links(links) = route else { return };
            for link in links {
                let what = || format!("`{node}`: the travel to `{}`", link.node);
                link.travel.iter().for_each(|law| times.law(what, law));
            }
        };
        network.travel.iter().for_each(|law| times.law(|| "the travel of all routes".to_owned(), law));
        for (node, source) in &network.sources {
            times.law(|| format!("`{node}`: the time between arrivals"), &source.interarrival);
            for piece in &source.rates {
                let what = format!("`{node}`: a piece of its rates");
                times.constants.push(Constant { what, units: piece.lasts });
            }
            route(&mut times, node, &source.to);
        }
        for (node, station) in &network.stations {
            let all =
                [("service", &station.service), ("patience", &station.patience), ("setup", &station.setup)];
            for (what, law) in all.into_iter().filter_map(|(what, law)| Some((what, law.as_ref()?))) {
                times.law(|| format!("`{node}`: the {what}"), law);
            }
            let by_class = [
                ("service", &station.service_of),
                ("patience", &station.patience_of),
                ("setup", &station.setup_of),
            ];
            for (what, laws) in by_class {
                for (class, law) in laws {
                    times.law(|| format!("`{node}`: the {what} of `{class}`"), law);
                }
            }
            for piece in &station.schedule {
                let what = format!("`{node}`: a piece of its schedule");
                times.constants.push(Constant { what, units: piece.lasts });
            }
            if let Some(breakdown) = &station.breakdown {
                times.law(|| format!("`{node}`: the time between breakdowns"), &breakdown.up);
                times.law(|| format!("`{node}`: the time of repairs"), &breakdown.down);
            }
            route(&mut times, node, &station.to);
        }
        for (node, delay) in &network.delays {
            delay.time.iter().for_each(|law| times.law(|| format!("`{node}`: the time"), law));
            for (class, law) in &delay.time_of {
                times.law(|| format!("`{node}`: the time of `{class}`"), law);
            }
            route(&mut times, node, &delay.to);
        }
        network.routers.iter().for_each(|(node, router)| route(&mut times, node, &router.to));
        for (node, fork) in &network.forks {
            route(&mut times, node, &Route::Links(fork.tasks.clone()));
            route(&mut times, node, &fork.to);
        }
        let ends =
            [("the end of runs (`until`)", network.until), ("the warm-up (`warm_up`)", network.warm_up)];
        let ends = ends.into_iter().filter_map(|(what, units)| Some((what.to_owned(), units?)));
        times.constants.extend(ends.map(|(what, units)| Constant { what, units }));
        times
    }
}

/// The resolution of a network, and warnings that name rounded times.
pub(super) fn resolution(network: &Network, form: Form) -> Result<(Resolution, Vec<String>), FacilityError> {
    let times = Times::of(network);
    // A time that runs do not reach need not be exact, unless it fits at any resolution.
    let until = network.until.unwrap_or(f64::INFINITY);
    let matters = |units: f64| units.is_nan() || units <= until || units <= FITS;
    let resolution = match network.ticks_per_unit {
        Some(ticks) => Resolution::new(ticks)
            .map_err(|source| FacilityError::Time { what: "resolution (`ticks_per_unit`)", source })?,
        None => {
            // The times of runs may be far shorter or longer than the times of events in them.
            let ends = [network.until, network.warm_up].iter().flatten().count();
            let lasting = times.constants[..times.constants.len() - ends].iter().chain(&times.drawn);
            let shortest =
                lasting.map(|time| time.units).filter(|&units| units > 0.0).fold(f64::INFINITY, f64::min);
            let constants = times.constants.iter().map(|constant| constant.units);
            // The longest time that fits if the shortest mean has enough ticks.
            let may_fit = |&units: &f64| units * FINE <= MOST * shortest;
            let longest = constants.clone().filter(may_fit).fold(0.0, f64::max);
            let constants: Vec<f64> = constants.filter(|&units| matters(units)).collect();
            let shares = network.stations.values().any(|station| station.discipline == Discipline::Sharing);
            let room = if shares || form == Form::Process { SHARED } else { 1.0 };
            let run = network.until.map_or(longest, |until| until * room);
            Resolution::for_times(&constants, shortest, run)
        }
    };
    let per_unit = resolution.ticks_per_unit();
    let rounded = times
        .constants
        .iter()
        .filter(|constant| matters(constant.units) && !resolution.is_exact(constant.units));
    let reported = named(rounded, |constant| {
        let ticks = resolution.ticks(constant.units).ok()?;
        Some(format!("{}, {} -> {}", constant.what, constant.units, resolution.units(ticks)))
    });
    let remedy = match network.ticks_per_unit {
        Some(_) => "remove `ticks_per_unit`, or choose one that makes them whole",
        None => "no resolution makes all times exact; give them fewer digits",
    };
    let mut warnings = Vec::new();
    if let Some(reported) = reported {
        warnings.push(format!("times are rounded to ticks of 1/{per_unit}: {reported}; {remedy}"));
    }
    let short = times.drawn.iter().filter(|drawn| drawn.units > 0.0 && !resolution.is_fine(drawn.units));
    let reported = named(short, |drawn| Some(format!("{}, {}", drawn.what, drawn.units)));
    if let Some(reported) = reported {
        warnings.push(format!(
            "drawn times have means of few ticks of 1/{per_unit}, and are half a tick too short: {reported}; \
             choose a smaller unit of time, \
             or remove `ticks_per_unit`"
        ));
    }
    Ok((resolution, warnings))
}

impl Facility {
    /// The warnings of a study that ends at `until`.
    pub(super) fn rounding_until(&self, until: f64) -> Vec<String> {
        let mut warnings = self.rounding().to_vec();
        if self.network.until != Some(until) && !self.resolution.is_exact(until) {
            let per_unit = self.resolution.ticks_per_unit();
            warnings.push(format!(
                "the end of runs, {until}, is rounded to ticks of 1/{per_unit}; set `until` in the network"
            ));
        }
        warnings
    }
}

/// Names the first of these times, and counts the others; `None` if there are no such times.
fn named<'t>(
    times: impl Iterator<Item = &'t Constant>,
    words: impl Fn(&Constant) -> Option<String>,
) -> Option<String> {
    let reported: Vec<String> = times.filter_map(words).collect();
    (!reported.is_empty()).then(|| first_of(&reported))
}
