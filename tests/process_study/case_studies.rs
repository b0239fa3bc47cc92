//! Models of others, with the figures that they published: examples of the gallery.

use eventhorizon::process::{ProcessModel, Study};
use eventhorizon::statistics::Observations;

use crate::long::is_long;

/// The results of an example, by point.
fn example(name: &str, replications: u32) -> Vec<Observations> {
    let path = format!("{}/examples/processes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let model = ProcessModel::from_toml(&std::fs::read_to_string(path).unwrap()).unwrap();
    let study = Study::new(replications, model.until.unwrap(), model.warm_up.unwrap()).seed(5);
    model.compile().unwrap().study(&study).run().unwrap().observations
}

/// As many replications in long tests as the notes have.
fn replications(few: u32, many: u32) -> u32 {
    if is_long() { many } else { few }
}

/// Checks that a mean and a published one, with its half width, differ by no more than both
/// intervals, of 99.99 % and of twice the published width.
fn agrees(point: &Observations, name: &str, (published, half): (f64, f64)) {
    let summary = point.summary(name, 0.9999).unwrap();
    let (mean, own) = (summary.mean.unwrap(), summary.interval.unwrap().half_width);
    assert!((mean - published).abs() <= own + 2.0 * half, "{name}: {mean} ± {own}, {published} ± {half}");
    assert!(own < 0.3 * published, "{name}: {mean} ± {own}");
}

#[test]
fn five_levels_of_triage_have_the_figures_of_the_original_program() {
    let found = example("five_levels", replications(100, 4000));
    // Its time in the department by level, all patients of 4,000 days together: as it was
    // published, and with the shifts of the second point.
    let levels = [
        [(103.95, 0.8), (113.85, 0.8), (201.7, 1.6), (186.12, 2.9), (55.89, 0.7)],
        [(105.66, 0.9), (120.25, 0.9), (181.25, 1.5), (142.16, 2.4), (55.58, 0.7)],
    ];
    for (point, levels) in found.iter().zip(levels) {
        for (level, published) in (1..).zip(levels) {
            agrees(point, &format!("stay_{level}"), published);
        }
    }
    for (point, left) in found.iter().zip([(54.52, 0.15), (53.65, 0.15)]) {
        agrees(point, "left", left);
    }
}

#[test]
fn a_call_centre_with_skills_has_the_published_figures() {
    let found = &example("skills", replications(80, 1000))[0];
    agrees(found, "served", (4297.3, 27.2));
    agrees(found, "abandoned", (910.3, 34.2));
    let mean = |name: &str| found.summary(name, 0.95).unwrap().mean.unwrap();
    let level = mean("within_20_seconds") / (mean("served") + mean("abandoned_after_20_seconds"));
    assert!((level - 0.501).abs() < 0.05, "{level}");
}
