//! The activity study of Chapuis et al. (section 4): Figures 2 to 5, with the model of
//! `eventhorizon activity`. Figure 1, a diagram of handlers that overlap with events, is measured
//! by the size of groups.
//!
//! Runs of one town have one fingerprint, wherever handlers run, on any number of ranks, with
//! overlap or without.

use clap::Parser as _;
use eventhorizon::pdes::Fingerprint;

use super::study::Study;
use crate::commands::activity::{self, Args, Simulated};
use crate::shared::{Outcome, interrupted, same};

/// The parameters of a run.
#[derive(Clone, Copy)]
struct Town {
    agents: u32,
    vertices: u32,
    hours: u32,
    /// The calls of a group, if calls overlap with events.
    overlap: Option<u32>,
}

/// Runs a town; `ranks` share its entities.
fn simulate(town: Town, placement: &str, ranks: u32) -> Outcome<Simulated> {
    let Town { agents, vertices, hours, overlap } = town;
    let numbers = [("--agents", agents), ("--vertices", vertices), ("--hours", hours), ("--ranks", ranks)];
    let numbers = numbers.into_iter().chain(overlap.map(|calls| ("--overlap", calls)));
    let numbers = numbers.flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
    let placement = ["activity".to_owned(), "--placement".to_owned(), placement.to_owned()];
    activity::simulate(&Args::try_parse_from(placement.into_iter().chain(numbers))?, None)
}

/// Runs a town and checks its fingerprint against an earlier one.
fn checked(town: Town, placement: &str, ranks: u32, known: &mut Option<Fingerprint>) -> Outcome<Simulated> {
    let ran = simulate(town, placement, ranks)?;
    // Ctrl-C ends a run early.
    if !interrupted() {
        same(&ran.fingerprint, known.get_or_insert(ran.fingerprint), "fingerprints of a town")?;
    }
    Ok(ran)
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(ran: &Simulated) -> f64 {
    ran.events as f64 / ran.seconds
}

/// The line of a run on the GPU.
fn gpu_line(overlap: Option<u32>) -> String {
    overlap.map_or_else(|| "GPU".to_owned(), |calls| format!("GPU, overlap in groups of {calls}"))
}

/// Seconds without overlap, and with groups of different sizes that overlap with events.
pub(super) fn figure_1(study: &mut Study<'_>) -> Outcome<()> {
    let (agents, vertices, hours) = study.size((4000, 256, 48), (256, 64, 12));
    let sizes: &[u32] = study.size(&[16, 64, 256, 1024], &[4, 16, 64]);
    let mut known = None;
    study.note(&format!("{agents} agents, {vertices} vertices, {hours} hours; 2 streams"));
    for overlap in std::iter::once(None).chain(sizes.iter().copied().map(Some)) {
        if !study.goes_on() {
            return Ok(());
        }
        let ran = checked(Town { agents, vertices, hours, overlap }, "gpu", 1, &mut known)?;
        if !study.goes_on() {
            return Ok(());
        }
        match overlap {
            Some(calls) => study.point("", "overlap, by the size of groups", calls.into(), ran.seconds)?,
            // A line across the picture.
            None => {
                for &calls in sizes {
                    study.point("", "no overlap", calls.into(), ran.seconds)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn figure_2(study: &mut Study<'_>) -> Outcome<()> {
    let (agents, hours) = study.size((500, 48), (64, 6));
    let mut towns = study.size([256, 512, 1024], [32, 64, 128]).map(|vertices| (vertices, None));
    study.note(&format!("{agents} agents, {hours} hours"));
    let overlap = Some(study.size(64, 16));
    let lines = [("CPU, all cores", "cpu", None), ("GPU", "gpu", None), (&gpu_line(overlap), "gpu", overlap)];
    for (line, placement, overlap) in lines {
        for (vertices, known) in &mut towns {
            if !study.goes_on() {
                return Ok(());
            }
            let ran = checked(Town { agents, vertices: *vertices, hours, overlap }, placement, 1, known)?;
            if !study.goes_on() {
                return Ok(());
            }
            study.point("", line, (*vertices).into(), ran.seconds)?;
        }
    }
    Ok(())
}

pub(super) fn figure_3(study: &mut Study<'_>) -> Outcome<()> {
    let (vertices, hours) = study.size((1024, 48), (64, 6));
    let full = [500, 1000, 2000, 4000, 8000, 16000];
    let agents: &[u32] = study.size(&full, &[64, 128, 256]);
    study.note(&format!("{vertices} vertices, {hours} hours"));
    for &agents in agents {
        let mut known = None;
        for overlap in [None, Some(study.size(64, 16))] {
            if !study.goes_on() {
                return Ok(());
            }
            let ran = checked(Town { agents, vertices, hours, overlap }, "gpu", 1, &mut known)?;
            if !study.goes_on() {
                return Ok(());
            }
            study.point("seconds", &gpu_line(overlap), agents.into(), ran.seconds)?;
            study.point("events per second", &gpu_line(overlap), agents.into(), rate(&ran))?;
        }
    }
    Ok(())
}

pub(super) fn figure_4(study: &mut Study<'_>) -> Outcome<()> {
    let (town, most) = study.size(
        (Town { agents: 32000, vertices: 1024, hours: 48, overlap: None }, 16),
        (Town { agents: 256, vertices: 64, hours: 6, overlap: None }, 2),
    );
    let mut known = None;
    study.note(&format!("{} agents, {} vertices, {} hours", town.agents, town.vertices, town.hours));
    for ranks in (0..).map(|power| 1 << power).take_while(|&ranks| ranks <= most) {
        if !study.goes_on() {
            return Ok(());
        }
        let ran = checked(town, "gpu", ranks, &mut known)?;
        if !study.goes_on() {
            return Ok(());
        }
        study.point("seconds", "ranks of one process, one GPU", ranks.into(), ran.seconds)?;
        study.point("events per second", "ranks of one process, one GPU", ranks.into(), rate(&ran))?;
    }
    Ok(())
}

pub(super) fn figure_5(study: &mut Study<'_>) -> Outcome<()> {
    let (agents, vertices, hours) = study.size((4000, 256, 48), (256, 64, 24));
    let ran = simulate(Town { agents, vertices, hours, overlap: None }, "auto", 1)?;
    activity::draw(&study.file("png"), &ran.town, &ran.history)
}
