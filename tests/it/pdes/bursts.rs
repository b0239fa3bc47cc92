//! A model that is nearly idle and then has all its events at once, when a submission may contain
//! thousands of windows.

use eventhorizon::gpu::Source;
use eventhorizon::pdes::{
    Capacity, Context, CpuModel, CpuSimulation, Event, Model, Options, Simulation, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

use super::{gpu, same};

const LPS: u32 = 128;
const STEP: u64 = 10;
/// At this time, submissions have as many windows as fit their time.
const DAWN: u64 = 2000 * STEP;
const DUSK: u64 = DAWN + 4000;

/// `tests/wgsl/dawn.wgsl`
struct Dawn;

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct DawnParams {
    dawn: u64,
    step: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Seen {
    seen: u32,
}

impl Model for Dawn {
    type State = Seen;
    type Params = DawnParams;
    type Payload = [u32; 2];
    type Output = ();

    fn name(&self) -> &str {
        "dawn"
    }
    fn source(&self) -> Source {
        Source::new("tests/wgsl/dawn.wgsl", include_str!("../../wgsl/dawn.wgsl"))
    }
    fn lps(&self) -> u32 {
        LPS
    }
    fn lookahead(&self) -> Ticks {
        Ticks::new(STEP)
    }
    fn params(&self) -> DawnParams {
        DawnParams { dawn: DAWN, step: STEP }
    }
    fn capacity(&self) -> Capacity {
        Capacity { queue: 4, mailbox: 4 }
    }
}

impl CpuModel for Dawn {
    fn init(&self, lp: u32, _: &mut Seen, context: &mut Context<'_>) {
        context.schedule(lp, Ticks::new(DAWN), [1, 0]);
        if lp == 0 {
            context.schedule(lp, Ticks::ZERO, [0, 0]);
        }
    }
    fn handle(&self, lp: u32, event: &Event, state: &mut Seen, context: &mut Context<'_>) {
        state.seen += 1;
        let (to, after) = if event.payload[0] == 0 { ((lp + 1) % LPS, STEP) } else { (lp, 1) };
        context.schedule(to, event.time.saturating_add(Ticks::new(after)), event.payload);
    }
}

/// The work of earlier submissions bounds the time of the next one, for any number of windows.
#[test]
fn a_sudden_load_makes_no_submission_long() {
    let end = Until::time(Ticks::new(DUSK));
    let mut cpu = CpuSimulation::in_rust(&Dawn, Options::default().seed(3)).unwrap();
    let expected = cpu.run(end).unwrap();
    let ways = [
        (QueueDesign::Heap, Sync::Yawns),
        (QueueDesign::Calendar, Sync::Yawns),
        (QueueDesign::Heap, Sync::Horizon),
    ];
    for (queue, sync) in ways {
        let options = Options::default().seed(3).queue(queue).sync(sync).fixed(true);
        let mut simulation = Simulation::new(&gpu(), &Dawn, options).unwrap();
        // Twice: a run ends, and the next one has not measured yet.
        for end in [Until::time(Ticks::new(STEP * 100)), end] {
            let (mut before, mut most) = (simulation.progress().unwrap().events, 0);
            let progress = simulation
                .until(end)
                .watch(|progress| {
                    let did = progress.events - before;
                    // A pair of windows checks once; horizons may span two epochs.
                    let pair = u64::from(LPS) * STEP * 4;
                    assert!(did <= 64 * most + pair, "{did} events after at most {most}: {options:?}");
                    (before, most) = (progress.events, most.max(did));
                })
                .run()
                .unwrap();
            if end.time == Ticks::new(DUSK) {
                assert_eq!((progress.events, progress.stop), (expected.events, expected.stop));
            }
        }
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    }
    // Windows are those of the sequential engine.
    same(&gpu(), &Dawn, Options::default().seed(3), &[end]);
}
