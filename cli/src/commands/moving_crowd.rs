//! A crowd in a square, where every agent learns of the others near it. Shows region matching with
//! moving regions.
//!
//! Each agent has an update region, its body, and a subscription region, as far as it sees. In each
//! step a third of the agents walk, and the matcher reports which agents came into sight of which
//! and which left it. After the last step the pairs are compared with a matching from scratch, and
//! drawn.
//!
//! ```text
//! eventhorizon moving-crowd --agents 2000 --steps 50 --output crowd.png
//! ```

use std::collections::HashSet;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::matching::{Changes, Matcher, MatchingError, MovingRegions, Region, host};
use plotters::prelude::*;

use crate::shared;

/// The side of the square, in metres.
const SIDE: f32 = 200.0;

/// Match the moving regions of a crowd and draw who sees whom
#[derive(Parser)]
pub struct Options {
    /// Set the number of agents
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    agents: u32,
    /// Set the number of steps
    #[arg(long, default_value_t = 50)]
    steps: u32,
    /// Set how far an agent sees, in metres
    #[arg(long, default_value_t = 4.0, value_parser = positive)]
    sight: f32,
    /// Set the seed of the positions and moves
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the picture of the last step to this PNG file
    #[arg(long, default_value = "moving_crowd.png", value_parser = png)]
    output: PathBuf,
    #[command(flatten)]
    place: shared::Where,
}

/// The matcher of bodies and views, on the device or the host.
enum CrowdMatcher {
    Device(Box<MovingRegions<f32, 2>>),
    Host(host::MovingRegions<f32, 2>),
}

/// The number of an agent and its new body or view.
type Move = (u32, Region<f32, 2>);

impl CrowdMatcher {
    fn new(
        gpu: Option<&Gpu>,
        views: &[Region<f32, 2>],
        bodies: &[Region<f32, 2>],
    ) -> Result<Self, MatchingError> {
        Ok(match gpu {
            Some(gpu) => Self::Device(Box::new(MovingRegions::new(&Matcher::new(gpu), views, bodies)?)),
            None => Self::Host(host::MovingRegions::new(views, bodies)?),
        })
    }

    fn update(&mut self, views: &[Move], bodies: &[Move]) -> Result<Changes, MatchingError> {
        match self {
            Self::Device(regions) => regions.update(views, bodies),
            Self::Host(regions) => regions.update(views, bodies),
        }
    }

    fn pairs(&self) -> Result<HashSet<[u32; 2]>, MatchingError> {
        Ok(match self {
            Self::Device(regions) => regions.matches()?.read()?,
            Self::Host(regions) => regions.matches(),
        }
        .into_iter()
        .collect())
    }
}

fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value > 0.0 && value <= SIDE => Ok(value),
        Ok(_) => Err(format!("expected a length above 0 and at most {SIDE} m")),
        Err(error) => Err(error.to_string()),
    }
}

fn png(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|extension| extension == "png") {
        true => Ok(path),
        false => Err("expected a name that ends in .png".to_owned()),
    }
}

struct Agent {
    at: [f32; 2],
    heading: f32,
}

impl Agent {
    /// The region of its body, half a metre wide.
    fn body(&self) -> Region<f32, 2> {
        Region::around(self.at, [0.25; 2])
    }

    /// The region that it sees.
    fn view(&self, sight: f32) -> Region<f32, 2> {
        Region::around(self.at, [sight; 2])
    }
}

/// Uniform numbers in [0, 1) from SplitMix64.
struct Random(u64);

impl Random {
    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
    }
}

pub fn run(options: &Options) -> shared::Outcome<()> {
    shared::check_files(&[(shared::FileUse::WritesFile, "--output", Some(&*options.output))])?;
    let mut random = Random(options.seed);
    // Two groups, and people in between.
    let mut crowd: Vec<Agent> = (0..options.agents)
        .map(|i| {
            let (x, y, spread) =
                [(60.0, 60.0, 60.0), (140.0, 130.0, 40.0), (100.0, 100.0, 190.0)][i as usize % 3];
            let around =
                |centre: f32, a: f32, b: f32| (centre + spread * (a + b - 1.0)).clamp(1.0, SIDE - 1.0);
            let at = [around(x, random.next(), random.next()), around(y, random.next(), random.next())];
            Agent { at, heading: random.next() * std::f32::consts::TAU }
        })
        .collect();
    // A step on the CPU: 2 us for an agent, and 0.1 ns for each two at a sight of 4 m.
    let (agents, share) = (f64::from(options.agents), f64::from(options.sight / 4.0).powi(2));
    let step = 2e-6 * agents + 1e-10 * share * agents * agents;
    let gpu = options.place.for_matching(f64::from(options.steps) * step)?;
    let views: Vec<_> = crowd.iter().map(|agent| agent.view(options.sight)).collect();
    let bodies: Vec<_> = crowd.iter().map(Agent::body).collect();
    let mut regions = CrowdMatcher::new(gpu.as_ref(), &views, &bodies)?;
    let mut seen = regions.pairs()?;
    let place = gpu.as_ref().map_or("the CPU", |gpu| gpu.info().name.as_str());
    writeln!(stdout(), "{} agents on {place}: {} pairs at first", options.agents, seen.len())?;
    let (mut began, mut ended, mut spent) = (0, 0, Duration::ZERO);
    let bar = shared::bar(options.steps.into(), "{wide_bar} step {pos} of {len}")?;
    let mut steps = 0;
    for step in 0..options.steps {
        bar.inc(1);
        if shared::interrupted() {
            break;
        }
        steps += 1;
        let (mut views, mut bodies) = (Vec::<Move>::new(), Vec::<Move>::new());
        for (id, agent) in (0..).zip(&mut crowd) {
            if (id + step) % 3 != 0 {
                continue;
            }
            agent.heading += random.next() - 0.5;
            let step = [agent.heading.cos(), agent.heading.sin()];
            for (x, step) in agent.at.iter_mut().zip(step) {
                let there = *x + step;
                if !(0.0..SIDE).contains(&there) {
                    agent.heading += std::f32::consts::PI;
                }
                *x = there.clamp(0.0, SIDE);
            }
            views.push((id, agent.view(options.sight)));
            bodies.push((id, agent.body()));
        }
        let start = Instant::now();
        let changes = regions.update(&views, &bodies)?;
        spent += start.elapsed();
        began += changes.began.len();
        ended += changes.ended.len();
        seen.extend(changes.began);
        for pair in changes.ended {
            seen.remove(&pair);
        }
    }
    bar.finish_and_clear();
    let scratch = regions.pairs()?;
    if scratch != seen {
        return Err("the pairs differ from a matching from scratch. Please report the adapter, the driver and this command line".into());
    }
    writeln!(
        stdout(),
        "{} steps: {began} pairs began, {ended} ended, {} now (as from scratch); {:.2} ms per step",
        steps,
        seen.len(),
        spent.as_secs_f64() * 1e3 / f64::from(steps.max(1))
    )?;
    draw(&options.output, &crowd, &seen)?;
    writeln!(stdout(), "drawn to {}", options.output.display())?;
    Ok(())
}

/// Draws agents as dots, brighter the more others they see, and a line between two that see each
/// other.
fn draw(path: &Path, crowd: &[Agent], seen: &HashSet<[u32; 2]>) -> shared::Outcome<()> {
    const PIXELS: u32 = 1000;
    let mut pixels = vec![0; 3 * (PIXELS * PIXELS) as usize];
    let root = BitMapBackend::with_buffer(&mut pixels, (PIXELS, PIXELS)).into_drawing_area();
    root.fill(&RGBColor(16, 18, 28))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "within the picture")]
    let pixel = |agent: &Agent| {
        let [x, y] = agent.at.map(|x| (x / SIDE * PIXELS as f32) as i32);
        (x, PIXELS as i32 - 1 - y)
    };
    let mut others = vec![0u32; crowd.len()];
    for [s, u] in seen.iter().filter(|[s, u]| s != u) {
        let (s, u) = (*s as usize, *u as usize);
        others[s] += 1;
        root.draw(&PathElement::new([pixel(&crowd[s]), pixel(&crowd[u])], RGBColor(52, 78, 110)))?;
    }
    let most = others.iter().copied().max().unwrap_or(0).max(1);
    for (agent, others) in crowd.iter().zip(&others) {
        let heat = f64::from(*others) / f64::from(most);
        let colour = HSLColor(0.58 - 0.5 * heat, 0.9, 0.45 + 0.25 * heat);
        root.draw(&Circle::new(pixel(agent), 3, colour.filled()))?;
    }
    root.present()?;
    drop(root);
    shared::write_png(path, (PIXELS, PIXELS), png::ColorType::Rgb, &pixels)
}
