//! The library in a real browser: fingerprints of every engine compared with those of the CPU and
//! of native runs, all kernels in the browser's own compiler, and errors that a browser reports
//! late.

#![cfg(target_arch = "wasm32")]

use std::collections::HashSet;

use eventhorizon::Backend;
use eventhorizon::facility::{Facility, Network, Study};
use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, LinkError, Plan, Program, Source};
use eventhorizon::matching;
use eventhorizon::matching::{Algorithm, Matcher, MovingRegions, Region, reference};
use eventhorizon::models::{Mm1, Phold};
use eventhorizon::pdes::{
    self, Capacity, CpuModel, CpuSimulation, EngineOptions, Model, Options, Simulation, SimulationError,
    Until,
};
use eventhorizon::process::{self, ProcessModel};
use eventhorizon::queue::QueueDesign;
use eventhorizon::random::Stream;
use eventhorizon::replication::{self, CpuEngine, Design, Engine, Experiment, Mapping};
use eventhorizon::search::{self, Grid, reference::AStar};
use eventhorizon::time::{Resolution, Ticks};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[path = "../../tests/common/kernels.rs"]
mod kernels;
#[path = "../../tests/common/like.rs"]
mod like;
#[path = "../../tests/common/references/mod.rs"]
mod references;

use like::Like;
use references::Reference;

async fn adapter() -> Gpu {
    Gpu::open().await.unwrap_or_else(|error| panic!("this test needs a browser with WebGPU: {error}"))
}

fn ticks(units: f64) -> Ticks {
    Resolution::default().ticks(units).unwrap()
}

/// Events and fingerprint of a run on the device.
async fn run<M: Model>(gpu: &Gpu, model: &M, options: Options, until: Until) -> (u64, String) {
    let mut simulation = Simulation::new_async(gpu, model, options).await.unwrap();
    let progress = simulation.until(until).run_async().await.unwrap();
    (progress.events, simulation.fingerprint_async().await.unwrap().to_string())
}

/// The same from the sequential engine, with the model's functions in Rust.
fn meant<M: CpuModel>(model: &M, seed: u64, until: Until) -> (u64, String) {
    let mut simulation = CpuSimulation::in_rust(model, Options::default().seed(seed)).unwrap();
    let events = simulation.run(until).unwrap().events;
    (events, simulation.fingerprint().to_string())
}

#[wasm_bindgen_test]
async fn phold_has_the_fingerprint_of_native_runs() {
    let gpu = adapter().await;
    let model = Phold::new(1024, 16, 0.1, 10.0, Resolution::default()).unwrap();
    let until = Until::time(ticks(200.0));
    let options = Options::default().seed(42);
    let found = run(&gpu, &model, options, until).await;
    // A second run, with compiled kernels, for the speed.
    let mut simulation = Simulation::new_async(&gpu, &model, options).await.unwrap();
    let begun = web_time::Instant::now();
    let again = simulation.until(until).run_async().await.unwrap();
    console_log!("{:.3e} events per second", again.events as f64 / begun.elapsed().as_secs_f64());
    assert_eq!(again.events, found.0);
    // `phold --lps 1024 --population 16 --until 200` natively.
    assert_eq!(found, (166_035, "a76f08100a92f1cc".to_owned()));
    assert_eq!(found, meant(&Reference(model), 42, until));
}

/// Growth goes back to a snapshot; the events that `init` schedules may exceed the capacity too.
#[wasm_bindgen_test]
async fn queues_grow() {
    let gpu = adapter().await;
    let model = Phold::new(200, 4, 0.1, 10.0, Resolution::default()).unwrap();
    let until = Until::time(ticks(60.0));
    let narrow = Like(model, model.source(), Capacity { queue: 2, mailbox: 1 });
    let found = run(&gpu, &narrow, Options::default().seed(3), until).await;
    assert_eq!(found, meant(&Reference(model), 3, until));
    // The WGSL on the CPU.
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(3)).unwrap();
    assert_eq!(simulation.run(until).unwrap().events, found.0);
    assert_eq!(simulation.fingerprint().to_string(), found.1);
}

#[wasm_bindgen_test]
async fn replications_have_the_fingerprint_of_the_cpu() {
    let gpu = adapter().await;
    let model = Mm1::default();
    let params = model.params(0.9, 1.0, 500).unwrap();
    let experiment = Experiment::new(Design::default(), 300, 42);
    let expected = CpuEngine::in_rust(Reference(model), replication::Options::default())
        .unwrap()
        .run(&params, &experiment)
        .unwrap();
    // `mrip-mm1 --replications 300 --clients 500 --arrival-rate 0.9 --seed 42` natively.
    assert_eq!(format!("{:016x}", expected.fingerprint), "e6ed59affc2f0afb");
    for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Team, Mapping::Auto] {
        let options = replication::Options::default().mapping(mapping);
        let mut engine = Engine::new(&gpu, model, options).unwrap();
        let found = engine.experiment(&params, &experiment).run_async().await.unwrap();
        assert_eq!(found.fingerprint, expected.fingerprint, "{mapping}");
    }
}

fn clinic() -> Facility {
    let text = include_str!("../../examples/networks/clinic.toml");
    Network::from_toml(text).unwrap().compile().unwrap()
}

#[wasm_bindgen_test]
async fn a_network_has_the_fingerprint_of_the_cpu() {
    let gpu = adapter().await;
    let study = Study::new(8, 500.0, 50.0);
    let options = EngineOptions::default().mapping(pdes::Mapping::Team);
    let found =
        clinic().study(&study).backend(Backend::Gpu(&gpu)).options(options).run_async().await.unwrap();
    let expected = clinic().study(&study).run_async().await.unwrap();
    // The native fingerprint of `network examples/networks/clinic.toml --replications 8 --until 500
    // --warm-up 50`.
    console_log!("network: {:016x}", found.fingerprint);
    assert_eq!((found.fingerprint, found.events), (expected.fingerprint, expected.events));
    assert_eq!(found.rows, expected.rows);
}

fn boxes(stream: &mut Stream, count: usize, side: u32) -> Vec<Region<u32, 2>> {
    let region = |_| {
        let low = [stream.draw() % 10_000, stream.draw() % 10_000];
        Region::new(low, low.map(|low| low + side))
    };
    (0..count).map(region).collect()
}

#[wasm_bindgen_test]
async fn matching_finds_the_same_pairs() {
    let gpu = adapter().await;
    let mut stream = Stream::new(7, 8, 9);
    let (subscriptions, updates) = (boxes(&mut stream, 3000, 100), boxes(&mut stream, 3000, 100));
    let mut expected = reference::find(&subscriptions, &updates);
    expected.sort_unstable();
    let matcher = Matcher::new(&gpu);
    let s = matcher.upload_async("subscriptions", &subscriptions).await.unwrap();
    let u = matcher.upload_async("updates", &updates).await.unwrap();
    for algorithm in [
        Algorithm::Brute,
        Algorithm::Sort,
        Algorithm::IntervalTree,
        Algorithm::Grid { cells: None },
        Algorithm::Auto,
    ] {
        assert_eq!(matcher.count_async(&s, &u, algorithm).await.unwrap(), expected.len() as u64);
        let mut found = matcher.find_async(&s, &u, algorithm).await.unwrap().read_async().await.unwrap();
        found.sort_unstable();
        assert_eq!(found, expected, "{algorithm:?}");
    }
    console_log!("matching: {} pairs", expected.len());
    let mut moving = MovingRegions::new_async(&matcher, &subscriptions, &updates).await.unwrap();
    let all = Region::new([0, 0], [20_000, 20_000]);
    let changes = moving.update_async(&[(5, all)], &[]).await.unwrap();
    let before = expected.iter().filter(|pair| pair[0] == 5).count();
    assert_eq!((changes.began.len(), changes.ended.len()), (updates.len() - before, 0));
    let lines = [Region::new([0_u32], [10]), Region::new([5], [7])];
    let lines = matcher.upload_async("lines", &lines).await.unwrap();
    assert_eq!(matcher.count_async(&lines, &lines, Algorithm::Sort).await.unwrap(), 4);
    let wrong = matcher.upload_async("wrong", &[Region::new([3_u32], [2])]).await.unwrap_err();
    assert!(matches!(wrong, matching::MatchingError::Inverted { region: 0, .. }), "{wrong}");
}

#[wasm_bindgen_test]
async fn searches_find_the_same_costs() {
    let gpu = adapter().await;
    let grid = Grid::random(64, 0.25, 5).unwrap();
    let searches = grid.random_searches(300, 5);
    let mut searcher = AStar::new(&grid);
    let expected: Vec<_> = searches.iter().map(|&(start, goal)| searcher.find(start, goal)).collect();
    let engine = search::Engine::new(&gpu, grid.clone(), search::Options::default()).unwrap();
    let found = engine.searches(&searches).run_async().await.unwrap();
    // `search --random 64 --density 0.25 --searches 300 --seed 5` natively.
    assert_eq!(format!("{:016x}", found.fingerprint()), "fcaa6ac4c778bb6b");
    assert_eq!(found.outcomes(), expected);
}

#[wasm_bindgen_test]
async fn the_self_test_passes() {
    let report = eventhorizon::self_test_async(&adapter().await).await;
    console_log!("{report}");
    assert!(report.passed(), "{report}");
    // The notes of a native self-test.
    for (name, note) in [
        ("PHOLD, heap", "3711 events, fingerprint d5a5f39f84a46d85"),
        ("PHOLD, windows by neighbours", "3723 events, fingerprint fa84dce2454667ae"),
        ("M/M/1, mapping team", "fingerprint 6ff8e5cdfd21372f"),
        ("matching, sort", "3466 pairs"),
    ] {
        let check = report.checks.iter().find(|check| check.name == name).unwrap();
        assert_eq!(check.outcome.as_deref(), Ok(note), "{name}");
    }
}

/// Links every kernel of the library in a compiler that is stricter than naga.
#[wasm_bindgen_test]
async fn the_browser_takes_every_kernel() {
    let gpu = adapter().await;
    let recipes = kernels::recipes();
    let (mut taken, mut lacking, mut refused) = (0, 0, Vec::new());
    // All entry points share one text, which is accepted or refused as a whole.
    let (mut linked, mut seen) = (HashSet::new(), HashSet::new());
    for recipe in &recipes {
        if !linked.insert(recipe.sources()) {
            continue;
        }
        let program = recipe.link().unwrap();
        if !program.features().is_empty() {
            // wgpu requests neither subgroups nor 64-bit integers from browsers.
            lacking += 1;
            continue;
        }
        if !seen.insert(program.standard_text()) {
            continue;
        }
        let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(program.name()),
            source: wgpu::ShaderSource::Wgsl(program.standard_text().into()),
        });
        let said = module.get_compilation_info().await.messages;
        match said.iter().find(|said| said.message_type == wgpu::CompilationMessageType::Error) {
            None => taken += 1,
            Some(error) => refused.push(format!("{}: {error:?}", program.name())),
        }
    }
    console_log!(
        "{taken} texts of {} recipes; {lacking} sets of files need features that browsers lack",
        recipes.len()
    );
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(taken > 50, "{taken}");
}

#[wasm_bindgen_test]
async fn memory_that_is_not_there_is_an_error() {
    let gpu = adapter().await;
    let bytes = gpu.max_buffer_bytes();
    let (mut held, mut failed) = (Vec::new(), None);
    // Bound: no test machine has this much memory.
    for number in 0..256 {
        let buffer = Buffer::<u32>::storage(&gpu, "all memory", bytes / 4).unwrap();
        buffer.write(&gpu, 0, &[number]).unwrap();
        match buffer.read_range(&gpu, 0, 1).await {
            Ok(words) => assert_eq!(words, [number]),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
        held.push(buffer);
    }
    console_log!("after {} buffers of {bytes} bytes: {failed:?}", held.len());
    assert!(matches!(failed, Some(GpuError::OutOfMemory { .. })), "{failed:?}");
    for buffer in &held {
        buffer.raw().destroy();
    }
    // The error was reported once; the device still works.
    let word = Buffer::storage_from(&gpu, "a word", &[7_u32]).unwrap();
    assert_eq!(word.read_async(&gpu).await.unwrap(), [7]);
}

/// naga accepts two pointers to the same variable; WGSL forbids them.
const ALIASED: &str = "
fn both(a: ptr<function, u32>, b: ptr<function, u32>) {
    *a += 1u;
    *b += 1u;
}

fn twice() -> u32 {
    var x = 1u;
    both(&x, &x);
    return x;
}
";

#[wasm_bindgen_test]
async fn wgsl_that_only_the_browser_refuses_is_an_error_at_its_line() {
    let gpu = adapter().await;
    let kernel = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n\
         @compute @workgroup_size(1) fn go() { words[0] = twice(); }\n";
    let sources = [Source::new("mine.wgsl", ALIASED), Source::new("kernel.wgsl", kernel)];
    let program = Program::link("mine", &sources).unwrap();
    let words = Buffer::<u32>::storage(&gpu, "words", 1).unwrap();
    let kernel = Kernel::new(&gpu, &program, "go", &[]).unwrap();
    let mut plan = Plan::new("mine");
    plan.dispatch(&gpu, &kernel, 1, &[("words", words.binding())]).unwrap();
    let submission = plan.submit(&gpu).unwrap();
    match gpu.wait_async(submission).await {
        Err(GpuError::Link(LinkError::Wgsl { file, line, library, message, .. })) => {
            assert_eq!((&*file, line, library), ("mine.wgsl", 9, false), "{message}");
        }
        other => panic!("{other:?}"),
    }
    // The error was reported once; the device still works.
    assert_eq!(words.read_async(&gpu).await.unwrap(), [0]);
}

#[wasm_bindgen_test]
async fn a_model_that_only_the_browser_refuses_is_an_error_in_its_file() {
    let gpu = adapter().await;
    let phold = Phold::new(64, 2, 0.1, 10.0, Resolution::default()).unwrap();
    let text = phold.source();
    let lines = u32::try_from(text.text().lines().count()).unwrap();
    let source = Source::new("refused.wgsl", format!("{}{ALIASED}", text.text()));
    let model = Like(phold, source, phold.capacity());
    // The second time too: nothing of it was cached.
    for _ in 0..2 {
        match Simulation::new_async(&gpu, &model, Options::default()).await.map(|_| ()) {
            Err(SimulationError::Gpu(GpuError::Link(LinkError::Wgsl { file, line, .. }))) => {
                assert_eq!((&*file, line), ("refused.wgsl", lines + 9));
            }
            other => panic!("{other:?}"),
        }
    }
    let until = Until::time(ticks(30.0));
    assert_eq!(run(&gpu, &phold, Options::default(), until).await, meant(&Reference(phold), 0, until));
}

#[wasm_bindgen_test]
async fn a_lost_device_is_an_error() {
    let gpu = adapter().await;
    let word = Buffer::storage_from(&gpu, "a word", &[7_u32]).unwrap();
    assert_eq!(word.read_async(&gpu).await.unwrap(), [7]);
    gpu.device().destroy();
    // The browser reports the reason at the next wait.
    let error = word.read_async(&gpu).await.unwrap_err();
    console_log!("{error}");
    let again = word.read_async(&gpu).await.unwrap_err();
    assert!(matches!(again, GpuError::Lost { .. }), "{error}; {again}");
}

/// The panels of the page.
mod page {
    use super::*;
    use eventhorizon_web::{CpuTorus, Maze, Moving, Replications, Settings};

    #[wasm_bindgen_test]
    async fn panels_go_on() {
        let mut replications = Replications::open(0.8, 100, false).await.ok().unwrap();
        let first = replications.more(256).await.ok().unwrap();
        let second = replications.more(256).await.ok().unwrap();
        assert_eq!((first.done, second.done, second.values.len()), (256, 512, 256));
        let off = (second.mean - second.theory).abs();
        assert!(off < 4.0 * second.half_width, "{second:?}");

        let mut maze = Maze::open(127, 1).await.ok().unwrap();
        let found = maze.search(100).await.ok().unwrap();
        assert_eq!(found[0], 100.0, "all cells of a maze are connected");
        assert_eq!(maze.picture().len(), (maze.side() * maze.side() * 4) as usize);

        let mut moving = Moving::open(500, 1).await.ok().unwrap();
        let [mut last, mut changes] = [0.0; 2];
        for _ in 0..5 {
            let now = moving.step().await.ok().unwrap();
            (last, changes) = (now[0], changes + now[1] + now[2]);
        }
        let seen: f32 = moving.boxes().chunks(4).map(|moving| moving[3].max(0.0)).sum();
        assert_eq!(f64::from(seen), last);
        assert!(changes > 0.0);
    }

    /// The panels of models without WebGPU have the bits of a device and of models in Rust.
    #[wasm_bindgen_test]
    async fn models_run_without_webgpu() {
        let mut on_gpu = Replications::open(0.8, 100, false).await.ok().unwrap();
        let mut on_cpu = Replications::open(0.8, 100, true).await.ok().unwrap();
        let (expected, found) = (on_gpu.more(64).await.ok().unwrap(), on_cpu.more(64).await.ok().unwrap());
        assert_eq!((found.fingerprint, found.values), (expected.fingerprint, expected.values));
        let settings = Settings { model: "phold".to_owned(), side: 16, ..Settings::new() };
        let mut torus = CpuTorus::new(settings.clone()).ok().unwrap();
        let frames = [(); 3].map(|()| torus.frame().ok().unwrap().events);
        assert!(frames[0] > 0.0 && frames.is_sorted());
        assert_eq!(torus.picture().len(), 16 * 16 * 4);
        let checked = torus.checked();
        let model =
            Phold::new(16 * 16, settings.load, settings.rate, settings.lookahead, Resolution::default());
        let until = Until::time(Ticks::new(checked.until));
        let expected = meant(&Reference(model.unwrap()), settings.seed.into(), until);
        assert_eq!((frames[2] as u64, checked.fingerprint), expected);
    }
}

/// Models as WebAssembly made from their WGSL, against the interpreter.
#[wasm_bindgen_test]
fn code_does_what_the_interpreter_does() {
    fn both<M: Model>(name: &str, model: &M, until: Until) {
        let run = |mut simulation: CpuSimulation<'_, M>| {
            let begun = web_time::Instant::now();
            let events = simulation.run(until).unwrap().events;
            (simulation.fingerprint().to_string(), events, begun.elapsed().as_secs_f64())
        };
        let options = || Options::default().seed(5);
        let (found, events, seconds) = run(CpuSimulation::new(model, options()).unwrap());
        let (expected, all, slow) = run(CpuSimulation::interpreted(model, options()).unwrap());
        console_log!("{name}: {events} events; {:.1} times the interpreter", slow / seconds);
        assert_eq!((found, events), (expected, all), "{name}");
    }
    let phold = Phold::new(64, 16, 0.1, 10.0, Resolution::default()).unwrap();
    both("phold", &phold, Until::time(ticks(100.0)));
    for (name, text) in [
        ("clinic", include_str!("../../examples/networks/clinic.toml")),
        ("shop", include_str!("../../examples/networks/shop.toml")),
        ("call_centre", include_str!("../../examples/networks/call_centre.toml")),
    ] {
        let facility = Network::from_toml(text).unwrap().compile().unwrap();
        both(name, &facility, Until { events: 5_000, ..Until::time(ticks(500.0)) });
    }
}

/// Process models without WebGPU: fingerprints of `process FILE --replications 2 --seed 1 --until
/// 600 --warm-up 50` natively.
#[wasm_bindgen_test]
async fn process_models_have_the_fingerprints_of_native_runs() {
    for (text, fingerprint) in [
        (include_str!("../../examples/processes/bank.toml"), "52804088b9041c12"),
        (include_str!("../../examples/processes/emergency.toml"), "26f9563fbf830732"),
    ] {
        let model = ProcessModel::from_toml(text).unwrap().compile().unwrap();
        let study = process::Study::new(2, 600.0, 50.0).seed(1);
        let begun = web_time::Instant::now();
        let results = model.study(&study).run_async().await.unwrap();
        console_log!("{}: {:.3} s", model.model().name, begun.elapsed().as_secs_f64());
        assert_eq!(format!("{:016x}", results.fingerprint), fingerprint, "{}", model.model().name);
    }
}

#[wasm_bindgen_test]
fn the_page_offers_designs_that_there_are() {
    let page = include_str!("../www/index.html");
    let (_, rest) = page.split_once("<select name=\"queue\">").unwrap();
    let (options, _) = rest.split_once("</select>").unwrap();
    let names: Vec<_> =
        options.split("<option>").skip(1).map(|option| option.replace("</option>", "")).collect();
    for name in &names {
        assert!(name.parse::<QueueDesign>().is_ok(), "{name}");
    }
    let mut queues = QueueDesign::PRODUCTION.into_iter().filter(|design| !design.is_calendar());
    assert!(queues.all(|design| names.iter().any(|name| name == design.name())));
}
