//! Substreams by purpose: the same bits in every mapping and slice, and common random numbers that
//! stay common.

use super::common::replications::{SCALAR, assert_same, gpus};
use bytemuck::{Pod, Zeroable};
use eventhorizon::gpu::Source;
use eventhorizon::random::{Stream, exponential_short};
use eventhorizon::replication::{
    CpuEngine, Design, Engine, Experiment, Fail, FailureCause, Mapping, Model, Options, ReferenceModel,
    Results,
};
use eventhorizon::statistics::{Observations, compare};

const MACHINES: usize = 6;

#[derive(Clone, Copy)]
struct Repair;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    crews: u32,
    by_purpose: u32,
    mean_until_failure: u32,
    mean_repair: u32,
    horizon: u32,
}

/// Sixteen times until a failure. One crew is too few, with 1.5 times its work; two suffice.
const PARAMS: Params =
    Params { crews: 1, by_purpose: 1, mean_until_failure: 1 << 18, mean_repair: 1 << 16, horizon: 1 << 22 };

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Output {
    down: u64,
    failures: u32,
    inspected: u32,
}

impl Model for Repair {
    type Params = Params;
    type Output = Output;

    fn source(&self) -> Source {
        eventhorizon::wgsl!("../../wgsl/repair.wgsl")
    }
}

const WAITING: u32 = u32::MAX;

#[derive(Default)]
struct State {
    next: [u32; MACHINES],
    failed: [u32; MACHINES],
    failures: [u32; MACHINES],
    repaired: [bool; MACHINES],
    inspected: u32,
    down: u64,
}

impl Params {
    fn draw(&self, stream: &mut Stream, purpose: usize, number: u32, mean: u32) -> u32 {
        if self.by_purpose != 0 {
            stream.purpose(u32::try_from(purpose).unwrap(), number);
        }
        exponential_short(stream.draw(), mean)
    }

    fn until_failure(&self, stream: &mut Stream, machine: usize, number: u32) -> u32 {
        self.draw(stream, 2 * machine, number, self.mean_until_failure)
    }

    fn repair(&self, stream: &mut Stream, machine: usize, number: u32) -> u32 {
        self.draw(stream, 2 * machine + 1, number, self.mean_repair)
    }
}

impl ReferenceModel for Repair {
    type State = State;

    fn start(&self, params: &Params, stream: &mut Stream) -> Result<State, Fail> {
        let mut state = State::default();
        for machine in 0..MACHINES {
            state.next[machine] = params.until_failure(stream, machine, 0);
        }
        Ok(state)
    }

    fn step(&self, params: &Params, state: &mut State, stream: &mut Stream) -> Result<bool, Fail> {
        state.inspected += u32::from(stream.below(3) == 0);
        let machine = (0..MACHINES).min_by_key(|&machine| state.next[machine]).unwrap();
        let now = state.next[machine];
        if now >= params.horizon {
            return Ok(false);
        }
        if std::mem::take(&mut state.repaired[machine]) {
            state.down += u64::from(now - state.failed[machine]);
            state.next[machine] = now + params.until_failure(stream, machine, state.failures[machine]);
        } else {
            state.next[machine] = WAITING;
            state.failed[machine] = now;
            state.failures[machine] += 1;
        }
        let waiting = (0..MACHINES).filter(|&machine| state.next[machine] == WAITING);
        let busy = state.repaired.iter().filter(|repaired| **repaired).count();
        if let Some(waiting) = waiting.min_by_key(|&machine| state.failed[machine])
            && busy < params.crews as usize
        {
            state.repaired[waiting] = true;
            state.next[waiting] = now + params.repair(stream, waiting, state.failures[waiting]);
        }
        Ok(true)
    }

    fn finish(&self, _: &Params, state: &State) -> Result<Output, Fail> {
        Ok(Output { down: state.down, failures: state.failures.iter().sum(), inspected: state.inspected })
    }
}

fn crews(replications: u32) -> Experiment {
    Experiment::new(Design::default().cross("crews", [1, 2]).unwrap(), replications, 17)
}

#[test]
fn substreams_are_their_twins_in_every_mapping_and_slice() {
    let cpu = CpuEngine::in_rust(Repair, Options::default()).unwrap();
    for by_purpose in [0, 1] {
        let params = Params { by_purpose, ..PARAMS };
        for experiment in [
            crews(33),
            crews(34).with_common_random_numbers().with_antithetic_pairs(),
            crews(33).with_common_random_numbers(),
        ] {
            let expected = cpu.run(&params, &experiment).unwrap();
            assert!(expected.outputs.iter().all(|output| output.failures > 20));
            for (gpu, adapter) in gpus() {
                for mapping in SCALAR {
                    let what = format!("{mapping}, {adapter}, by purpose {by_purpose}, {experiment:?}");
                    let mut engine = Engine::new(&gpu, Repair, Options::default().mapping(mapping)).unwrap();
                    assert_same(&engine.run(&params, &experiment).unwrap(), &expected, &what);
                    // One step at a time: each step resumes.
                    let mut batch = engine.batch(&params, &experiment).unwrap();
                    batch.set_steps(&gpu, 1).unwrap();
                    batch.reset().submit(&gpu).unwrap();
                    let mut slices = 0;
                    loop {
                        batch.slice().submit(&gpu).unwrap();
                        slices += 1;
                        if batch.running().read(&gpu).unwrap() == [0, 0] {
                            break;
                        }
                    }
                    assert!(slices > 20, "{what}: {slices} slices");
                    let seen = batch.results().read(&gpu).unwrap();
                    let bytes = |outputs: &[Output]| bytemuck::cast_slice::<_, u8>(outputs).to_vec();
                    assert!(bytes(&seen) == bytes(&expected.outputs), "{what}");
                }
            }
        }
    }
}

/// The half width of the difference in downtime for a second crew, relative to that without common
/// random numbers.
fn sharper(params: Params, experiment: &Experiment) -> f64 {
    let cpu = CpuEngine::in_rust(Repair, Options::default()).unwrap();
    let half_width = |experiment: &Experiment| {
        let Results { observations, .. } = cpu.run(&params, experiment).unwrap();
        let [one, two]: [Observations; 2] = observations.try_into().unwrap();
        compare(&one, &two, "down", 0.95).unwrap().interval.unwrap().half_width
    };
    half_width(&experiment.clone().with_common_random_numbers()) / half_width(experiment)
}

#[test]
fn a_second_crew_does_not_shift_the_numbers_of_the_first() {
    let by_purpose = sharper(PARAMS, &crews(10_000));
    let one_stream = sharper(Params { by_purpose: 0, ..PARAMS }, &crews(10_000));
    let pairs = sharper(PARAMS, &crews(10_000).with_antithetic_pairs());
    println!("half widths: {by_purpose:.4} by purpose, {one_stream:.4} of one stream, {pairs:.4} of pairs");
    assert!(by_purpose < 0.65, "{by_purpose}");
    assert!(pairs < 0.75, "{pairs}");
    // One stream hardly helps: its numbers serve other purposes as soon as the order of events
    // changes.
    assert!(one_stream > 0.85, "{one_stream}");
}

/// Switches to a purpose and draws from it in each step.
#[derive(Clone, Copy)]
struct Beyond;

impl Model for Beyond {
    type Params = [u32; 2];
    type Output = u32;

    fn source(&self) -> Source {
        Source::new(
            "tests/beyond.wgsl",
            "struct Params { purpose: u32, first: u32, }
            struct State { sum: u32, step: u32, }
            struct Output { sum: u32, }
            fn start(state: ptr<function, State>) { *state = State(); }
            fn step(state: ptr<function, State>) -> bool {
                stream_purpose(params.purpose, (*state).step);
                stream_seek(params.first);
                (*state).sum += draw();
                stream_main();
                (*state).sum += draw();
                (*state).step += 1u;
                return (*state).step < 40u;
            }
            fn finish(state: ptr<function, State>) -> Output { return Output((*state).sum); }",
        )
    }
}

impl ReferenceModel for Beyond {
    type State = [u32; 2];

    fn start(&self, _: &[u32; 2], _: &mut Stream) -> Result<[u32; 2], Fail> {
        Ok([0; 2])
    }

    fn step(
        &self,
        &[purpose, first]: &[u32; 2],
        [sum, step]: &mut [u32; 2],
        stream: &mut Stream,
    ) -> Result<bool, Fail> {
        stream.purpose(purpose, *step);
        stream.seek(first);
        *sum = sum.wrapping_add(stream.draw());
        stream.main();
        *sum = sum.wrapping_add(stream.draw());
        *step += 1;
        Ok(*step < 40)
    }

    fn finish(&self, _: &[u32; 2], &[sum, _]: &[u32; 2]) -> Result<u32, Fail> {
        Ok(sum)
    }
}

#[test]
fn a_replication_that_asks_for_more_than_a_substream_has_fails() {
    let cpu = CpuEngine::in_rust(Beyond, Options::default()).unwrap();
    for (purpose, first, fails) in [
        (0, 0, false),
        (0x7fff, 0x3_ffff, false),
        (0, 0x4_0000, true),
        (0x8000, 0, true),
        (u32::MAX, 0, true),
        (0, u32::MAX - 1, true),
    ] {
        let experiment = Experiment::new(Design::default(), 5, 1);
        let expected = cpu.run(&[purpose, first], &experiment).unwrap();
        let failures: Vec<_> = expected.observations[0].failures().map(|failure| failure.cause).collect();
        assert_eq!(failures, vec![FailureCause::Exhausted; if fails { 5 } else { 0 }], "{purpose}, {first}");
        for (gpu, adapter) in gpus() {
            let mut engine = Engine::new(&gpu, Beyond, Options::default().mapping(Mapping::Thread)).unwrap();
            let seen = engine.run(&[purpose, first], &experiment).unwrap();
            assert_same(&seen, &expected, &format!("{adapter}, purpose {purpose}, draw {first}"));
        }
    }
}
