//! Draws Figures 5, 6 and 7 of Passerat-Palmbach et al., "Warp-Level Parallelism" (ESM 2011) for
//! the default adapter: the time of replications on one CPU core, with one subgroup per replication
//! (WLP), and with one invocation per replication (TLP).
//!
//! ```text
//! eventhorizon wlp-vs-tlp --out figures
//! ```
//!
//! Writes one SVG and one CSV file for each figure. Each time is the median of five whole runs,
//! readback and statistics included.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::{Mm1, Pi, PiParams, Walk, WalkParams};
use eventhorizon::replication::{self, CpuEngine, Design, Engine, Experiment, Mapping, Model};
use plotters::prelude::*;

use crate::shared::{self, Outcome};

#[derive(Parser)]
#[command(about = "Draw Figures 5 to 7 of \"Warp-Level Parallelism\" for this machine")]
pub struct Options {
    /// Write the figures into this folder
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Set the points per replication of Figure 5. Default: as in the paper, or a hundredth of it
    /// on a software adapter
    #[arg(long)]
    draws: Option<u32>,
    /// Set the clients per replication of Figure 6
    #[arg(long, default_value_t = 10_000)]
    clients: u32,
    /// Set the steps per walk of Figure 7
    #[arg(long, default_value_t = 1000)]
    steps: u32,
}

/// A curve: its name, and the seconds for each number of replications.
struct Curve(&'static str, Vec<f64>);

fn median(mut run: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        run()?;
        seconds.push(begun.elapsed().as_secs_f64());
        if seconds[0] > 0.5 {
            break;
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[seconds.len() / 2])
}

fn curves<M: Model + Copy + Sync>(
    gpu: &Gpu,
    model: M,
    params: &M::Params,
    sizes: &[u32],
) -> Outcome<Vec<Curve>> {
    let experiment = |replications| Experiment::new(Design::default(), replications, 2011);
    let cpu = CpuEngine::new(model, replication::Options::default())?;
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut seconds = Vec::new();
    for &size in sizes {
        let last = seconds.last().copied().unwrap_or(0.0);
        // One core runs one replication after the other, so times above a second are extrapolated.
        seconds.push(match last > 1.0 {
            true => last * f64::from(size) / f64::from(sizes[seconds.len() - 1]),
            false => one_core.install(|| -> Result<f64, String> {
                median(|| Ok(cpu.run(params, &experiment(size)).map(|_| ())?))
                    .map_err(|error| error.to_string())
            })?,
        });
    }
    let mut curves = vec![Curve("CPU, one core", seconds)];
    for (name, mapping) in
        [("GPU, one subgroup each (WLP)", Mapping::Warp), ("GPU, one thread each (TLP)", Mapping::Thread)]
    {
        let mut engine = Engine::new(gpu, model, replication::Options::default().mapping(mapping))?;
        // This run compiles the kernel and tunes the length of slices.
        engine.run(params, &experiment(*sizes.last().unwrap_or(&1)))?;
        let mut seconds = Vec::new();
        for &size in sizes {
            seconds.push(median(|| Ok(engine.run(params, &experiment(size)).map(|_| ())?))?);
        }
        curves.push(Curve(name, seconds));
    }
    Ok(curves)
}

fn figure(out: &std::path::Path, name: &str, title: &str, sizes: &[u32], curves: &[Curve]) -> Outcome<()> {
    let mut csv = String::from("replications");
    curves.iter().for_each(|Curve(name, _)| csv.push_str(&format!(",\"{name}\"")));
    csv.push('\n');
    for (row, size) in sizes.iter().enumerate() {
        write!(csv, "{size}")?;
        for Curve(_, seconds) in curves {
            write!(csv, ",{}", seconds[row])?;
        }
        csv.push('\n');
    }
    writeln!(stdout(), "{title} (seconds)\n{csv}")?;
    shared::write(&out.join(format!("{name}.csv")), csv.as_bytes())?;
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (900, 520)).into_drawing_area();
    area.fill(&WHITE)?;
    let (least, most) = curves
        .iter()
        .flat_map(|Curve(_, seconds)| seconds)
        .fold((f64::MAX, 0.0_f64), |(l, m), &s| (l.min(s), m.max(s)));
    let mut chart = ChartBuilder::on(&area)
        .margin(15)
        .caption(title, ("sans-serif", 20))
        .x_label_area_size(45)
        .y_label_area_size(75)
        .build_cartesian_2d(0..*sizes.last().unwrap_or(&1), (least / 1.5..most * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("replications")
        .y_desc("seconds")
        .y_label_formatter(&|seconds| format!("{seconds:.0e}"))
        .light_line_style(WHITE)
        .draw()?;
    let colours = [RGBColor(90, 90, 90), RGBColor(33, 100, 172), RGBColor(201, 79, 24)];
    for (Curve(name, seconds), colour) in curves.iter().zip(colours) {
        let points: Vec<_> = sizes.iter().copied().zip(seconds.iter().copied()).collect();
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(3)));
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    area.present()?;
    drop((chart, area));
    shared::write(&out.join(format!("{name}.svg")), svg.as_bytes())
}

pub fn run(options: &Options) -> Outcome<()> {
    let model = Mm1::default();
    let clients = model.params(0.8, 1.0, options.clients)?;
    // Invalid options are refused before the first figure takes its time.
    Pi.check(&PiParams { points: options.draws.unwrap_or(1) }).map_err(shared::usage)?;
    model.check(&clients).map_err(shared::usage)?;
    Walk.check(&WalkParams { steps: options.steps }).map_err(shared::usage)?;
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}\n")?;
    let adapter = gpu.info().name.clone();
    std::fs::create_dir_all(&options.out).map_err(|error| format!("{}: {error}", options.out.display()))?;
    let software = gpu.info().device_type == wgpu::DeviceType::Cpu;
    let points = options.draws.unwrap_or(if software { 100_000 } else { 10_000_000 });
    let few: Vec<u32> = (0..=20).map(|x| (10 * x).max(1)).collect();

    let pi = curves(&gpu, Pi, &PiParams { points }, &few)?;
    let title = format!("Figure 5: Monte Carlo pi, {points} draws ({adapter})");
    figure(&options.out, "figure5_pi", &title, &few, &pi)?;

    let mm1 = curves(&gpu, model, &clients, &few)?;
    let title = format!("Figure 6: M/M/1, {} clients ({adapter})", options.clients);
    figure(&options.out, "figure6_mm1", &title, &few, &mm1)?;

    for (part, step) in [("above", 5_u32), ("below", 50)] {
        let sizes: Vec<u32> = (0..=20).map(|x| (step * x).max(1)).collect();
        let walk = curves(&gpu, Walk, &WalkParams { steps: options.steps }, &sizes)?;
        let title = format!("Figure 7 ({part}): random walk, {} steps ({adapter})", options.steps);
        figure(&options.out, &format!("figure7_walk_{part}"), &title, &sizes, &walk)?;
    }
    Ok(())
}
