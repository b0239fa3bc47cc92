//! The pictures of `--plot`.

use std::collections::HashSet;
use std::path::Path;

use eventhorizon::statistics::{AnalysisError, Design, Observations, measures, plot};

use crate::shared::results::Looks;
use crate::shared::{self, Outcome};

/// Pictures of networks that may be in the same folder.
const BESIDE: [&str; 3] = ["network", "numbers", "sojourns"];

/// The names of pictures in one folder. Each is given once, also where upper and lower case are
/// one.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    /// The name itself, or one with a number where another picture has it.
    fn name(&mut self, wanted: &str) -> String {
        // Names of columns may have brackets, comparisons and paths in them.
        let wanted = wanted.replace(['[', ']', '<', '>', '/', '\\', ':', '*', '?', '"', '|'], "_");
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let free = names.find(|name| self.0.insert(name.to_lowercase())).expect("there is no end of numbers");
        free + ".svg"
    }
}

/// Draws the measures, or the result columns if there are no measures. A figure that cannot be
/// drawn is named.
pub(in crate::commands) fn draw(
    level: f64,
    folder: &Path,
    design: &Design,
    points: &[Observations],
    looks: &Looks,
) -> Outcome<()> {
    if points.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names = Names(BESIDE.map(str::to_owned).into());
    let mut write = |name: &str, svg: Result<String, AnalysisError>| -> Outcome<()> {
        match svg {
            Ok(svg) => shared::write(&folder.join(names.name(name)), svg.as_bytes()),
            Err(AnalysisError::Plot { message, .. }) => {
                shared::print_report(&format!("notice: {name} is not drawn: {message}"));
                Ok(())
            }
            Err(error @ AnalysisError::NoObservations { .. }) => {
                shared::print_report(&format!("notice: {name} is not drawn: {error}"));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    };
    for name in measures(points) {
        for (point, observations) in points.iter().enumerate() {
            let valid = observations.replications() - observations.failures().len();
            if valid < 2 || observations.column(name).is_err() {
                continue;
            }
            let number = if design.len() > 1 { format!("_{point}") } else { String::new() };
            let svg = plot::distribution(observations, name, level, None, looks.of(name));
            write(&format!("{name}{number}"), svg)?;
            let svg = plot::convergence(observations, name, level, None, looks.of(name));
            write(&format!("{name}{number}_convergence"), svg)?;
        }
        for factor in design.factors() {
            let svg = plot::response(design, points, factor, name, level, looks.of(name));
            write(&format!("{name}_by_{factor}"), svg)?;
            let svg = plot::boxes(design, points, factor, name, looks.of(name));
            write(&format!("{name}_by_{factor}_boxes"), svg)?;
        }
    }
    Ok(())
}

/// Draws measures against each factor into a folder, means and box plots, or the means of the only
/// measure into an SVG file.
pub(in crate::commands) fn responses(
    level: f64,
    path: &Path,
    design: &Design,
    points: &[Observations],
    looks: &Looks,
    is_drawn: impl Fn(&str) -> bool,
) -> Outcome<()> {
    if points.is_empty() {
        return Ok(());
    }
    let measures = measures(points);
    let shown = measures.iter().copied().filter(|name| is_drawn(name));
    let all: Vec<(&str, &str)> =
        shown.flat_map(|name| design.factors().iter().map(move |factor| (name, factor.as_str()))).collect();
    let means =
        |(name, factor): (&str, &str)| plot::response(design, points, factor, name, level, looks.of(name));
    let boxes = |(name, factor): (&str, &str)| plot::boxes(design, points, factor, name, looks.of(name));
    if is_picture(path) {
        let [one] = all.as_slice() else {
            return Err(shared::usage(format!(
                "--plot {}: a file has one picture, and there are {}: name a folder, or one measure by --only. The measures are {}",
                path.display(),
                all.len(),
                measures.join(", ")
            )));
        };
        return shared::write(path, means(*one)?.as_bytes());
    }
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut names = Names::default();
    let drawn = all.iter().flat_map(|of| [("", means(*of)), ("_boxes", boxes(*of))].map(|drawn| (of, drawn)));
    shared::all(drawn.map(|(of, (suffix, svg))| {
        let name = names.name(&format!("{}_by_{}{suffix}", of.0, of.1));
        match svg {
            Ok(svg) => shared::write(&path.join(&name), svg.as_bytes()),
            Err(error @ (AnalysisError::Plot { .. } | AnalysisError::NoObservations { .. })) => {
                shared::print_report(&format!("notice: {name} is not drawn: {error}"));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }))
}

/// Whether a path of --plot names a picture instead of a folder.
pub(in crate::commands) fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_picture_has_the_name_of_another() {
        let mut names = Names::default();
        let wanted = ["wait", "wait_convergence", "wait_convergence", "Wait", "bins[2]", "bins_2_", "wait-2"];
        let expected =
            ["wait", "wait_convergence", "wait_convergence-2", "Wait-2", "bins_2_", "bins_2_-2", "wait-2-2"];
        let given: Vec<_> = wanted.map(|name| names.name(name)).to_vec();
        assert_eq!(given, expected.map(|name| format!("{name}.svg")));
    }
}
