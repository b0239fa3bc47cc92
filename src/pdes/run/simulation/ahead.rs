//! Starts a run with a queue whose kernels are soon compiled, while a thread compiles those of the
//! calendar, which a driver may take seconds for.

use web_time::{Duration, Instant};

use crate::gpu::{CompileAhead, Gpu};

use super::super::awaited::Awaited;
use super::room::tiles_for;
use crate::pdes::Options;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::contract::model::Model;
use crate::pdes::device::check;
use crate::pdes::device::cut::{Cut, Needs};
use crate::pdes::device::declared::Declared;
use crate::pdes::device::plans;
use crate::pdes::device::recipes::{Choice, Recipes};
use crate::pdes::device::strategy::Strategy;

/// How much longer than the other design a calendar may take to compile without that the run begins
/// with the other one: the kernels that a driver has on disk take some hundredths of a second.
const GRACE: Duration = Duration::from_millis(50);

/// Compiles the kernels of the first candidate, a calendar, and of the queue that can stand in for
/// it. If only those of the queue are there by then, moves it to the front; the rest of the
/// compilation is returned with the candidates as they were.
///
/// What is refused here is refused again where the run is built, and reported there.
pub(super) fn begin<M: Model>(
    gpu: &Gpu,
    model: &M,
    rows: u32,
    options: Options,
    group_size: u32,
    candidates: &mut [Strategy],
) -> Option<Awaited> {
    let calendar = candidates[0];
    let fits =
        |other: &Strategy| !other.is_team && !other.queue.is_calendar() && other.windows == calendar.windows;
    let place = candidates.iter().position(fits)?;
    if !calendar.queue.is_calendar() {
        return None;
    }
    let recipes = |strategy| recipes(gpu, model, rows, options, (strategy, group_size)).ok();
    let ((recipes_of_calendar, cut), (others, cut_of_others)) =
        (recipes(calendar)?, recipes(candidates[place])?);
    let memory_rows = model.memory_rows();
    // A recipe's hash has the names of files.
    let (window, text) = (recipes_of_calendar.window.clone(), model.source());
    let what = (window, text.text().to_owned(), env!("CARGO_PKG_VERSION"));
    let compile = move |gpu: &Gpu| {
        let Recipes { import, start, .. } = &recipes_of_calendar;
        plans::compile(gpu, &recipes_of_calendar, (&cut, memory_rows), [import, start]);
    };
    let mut thread = CompileAhead::begin(gpu, what, compile)?;
    let begun = Instant::now();
    plans::compile(gpu, &others, (&cut_of_others, memory_rows), [&others.start]);
    if thread.is_ready_within(GRACE + begun.elapsed() / 4) {
        return None;
    }
    let awaited = Awaited::new(thread, candidates);
    candidates[..=place].rotate_right(1);
    log::info!("{} until the kernels of {calendar} are compiled", candidates[0]);
    Some(awaited)
}

/// The kernels of a strategy for a run with the model's own capacities.
fn recipes<M: Model>(
    gpu: &Gpu,
    model: &M,
    rows: u32,
    options: Options,
    (strategy, group_size): (Strategy, u32),
) -> Result<(Recipes, Cut), SimulationError> {
    let needs = Needs::of(model);
    let tiles = tiles_for(gpu, rows, group_size, options.tiles, strategy, needs.capacity);
    let cut = Cut::of(gpu, rows, (group_size, tiles), strategy, needs)?;
    let (name, source) = (model.name(), model.source());
    let of = |declared| Recipes::new::<M::Payload>(name, &source, Choice::new(gpu, strategy, declared, &cut));
    let declared = check::declared(model, &of(Declared::default()).start)?;
    Ok((of(declared), cut))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::models::Phold;
    use crate::pdes::contract::sync::Windows;
    use crate::pdes::run::auto::Auto;
    use crate::pdes::{CpuSimulation, Mapping, Simulation, Until};
    use crate::queue::QueueDesign;
    use crate::time::Resolution;

    fn model() -> Phold {
        Phold::new(70, 16, 0.1, 10.0, Resolution::default()).unwrap()
    }

    fn end(units: f64) -> Until {
        Until::time(Resolution::default().ticks(units).unwrap())
    }

    /// The thread ends when the test says so. Runs before that use the heap, a later one the
    /// calendar, with the events of the CPU.
    #[test]
    fn a_run_changes_to_the_calendar_once_its_kernels_are_there() {
        let gpu = Gpu::for_test().taken_for_hardware();
        let model = model();
        let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
        let options = Options::default().queue(QueueDesign::Heap4);
        let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
        let (go, gone) = channel::<()>();
        let mut thread = CompileAhead::begin(&gpu, "test", move |_| assert!(gone.recv().is_err())).unwrap();
        assert!(!thread.is_ready_within(Duration::ZERO));
        let heap = simulation.strategy;
        let calendar = Strategy { queue: QueueDesign::Calendar, ..heap };
        let awaited = Awaited::new(thread, &[calendar, heap]).after(9.0);
        simulation.auto = Auto::waiting((heap, awaited), 70, None, Duration::ZERO);
        let mut run = |until| {
            simulation.run(until).unwrap();
            cpu.run(until).unwrap();
            assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
            simulation.queue()
        };
        assert_eq!(run(end(2990.0)), QueueDesign::Heap4);
        drop(go);
        // The thread ends soon after.
        assert!((300..3000).any(|run_of| run(end(10.0 * f64::from(run_of))) == QueueDesign::Calendar));
    }

    /// The kernels are for the first capacities.
    #[test]
    fn a_run_that_grew_does_not_change_to_what_was_compiled_for_less() {
        let gpu = Gpu::for_test().taken_for_hardware();
        let windows = Windows::EPOCHS;
        let [calendar, heap] = [QueueDesign::Calendar, QueueDesign::Heap4].map(|queue| Strategy {
            queue,
            windows,
            is_team: false,
        });
        for (has_grown, expected) in [(false, Some(calendar)), (true, None)] {
            let mut thread = CompileAhead::begin(&gpu, "test", |_| ()).unwrap();
            thread.wait();
            let awaited = Awaited::new(thread, &[calendar, heap]).after(9.0);
            let mut auto = Auto::waiting((heap, awaited), 70, None, Duration::ZERO);
            if has_grown {
                auto.grown();
            }
            auto.begin(Until::EMPTY);
            assert_eq!(auto.wanted(), expected);
        }
    }

    /// On a device whose kernels are compiled at once, nothing stands in.
    #[test]
    fn a_calendar_whose_kernels_are_there_is_first() {
        let gpu = Gpu::for_test().taken_for_hardware();
        let first = Simulation::new(&gpu, &model(), Options::default().queue(QueueDesign::Calendar)).unwrap();
        assert_eq!(first.queue(), QueueDesign::Calendar);
        let grid = Options::default().mapping(Mapping::Grid);
        let simulation = Simulation::new(&gpu, &model(), grid).unwrap();
        assert_eq!(simulation.queue(), QueueDesign::Calendar);
    }
}
