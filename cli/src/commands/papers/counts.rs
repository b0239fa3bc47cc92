//! Counts what a queue design does for each event that PHOLD executes: comparisons, accesses to
//! queue slots and 32-byte sectors touched. The kernels are `counts.wgsl` and `counts_team.wgsl`.
//!
//! The designs' own files are compiled, with each access to a slot replaced by a call that counts
//! it.

#[cfg(test)]
mod reference;

use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Program, Source};
use eventhorizon::pdes::Capacity;
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

/// The number of iterations before the counted ones, and of the counted ones, for each event of an
/// LP. An event and the one it sends are about one iteration for each event of an LP apart, so the
/// initial events are gone by then.
const ITERATIONS: u32 = 3;

/// Iterations in a submission.
const AT_ONCE: u32 = 16;

/// The number of counts of an LP, `COUNTS` in `counts.wgsl`.
const WORDS: usize = 8;

/// The WGSL `struct Shape`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Shape {
    mean: Ticks,
    lookahead: Ticks,
    queues: u32,
    population: u32,
    capacity: u32,
    stride: u32,
    room: u32,
    reserved: u32,
}

/// Averages for each executed event.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) comparisons: f64,
    /// Bytes of the slots read and written.
    pub(super) bytes: f64,
    /// Sectors of 32 bytes that an iteration reads, and that it writes, each counted once.
    pub(super) sectors: f64,
    /// The number of executed events, and a hash of them in their order: the same for every design.
    pub(super) executed: [u64; 2],
}

/// Counts in `queues` LPs of `population` events each. Returns `None` if the driver ended a loop
/// early.
#[allow(clippy::cast_precision_loss, reason = "averages")]
pub(super) fn count(
    gpu: &Gpu,
    design: QueueDesign,
    queues: u32,
    population: u32,
    [mean, lookahead]: [Ticks; 2],
) -> Result<Option<Counts>, GpuError> {
    let program = program(design)?;
    let kernel = |entry| Kernel::new(gpu, &program, entry, &design.constants());
    let (start, advance) = (kernel("start")?, kernel("advance")?);
    let window = kernel(if design.lanes() > 1 { "window_team" } else { "window" })?;
    let capacity = capacity(population);
    let too_large = |_| GpuError::TooLarge {
        what: "a queue".into(),
        needed: 16 * design.stride(capacity),
        limit: gpu.max_buffer_bytes(),
    };
    let stride = u32::try_from(design.stride(capacity)).map_err(too_large)?;
    let shape = Shape { mean, lookahead, queues, population, capacity, stride, room: capacity, reserved: 0 };
    let shape = Buffer::uniform(gpu, "shape", &shape)?;
    let all = u64::from(queues);
    let events = Buffer::<[u32; 4]>::storage(gpu, "queue_events", design.slots(queues, capacity))?;
    let touches = Buffer::<u32>::storage(gpu, "touches", design.slots(queues, capacity) + 1)?;
    let kept = Buffer::<[u32; 4]>::storage(gpu, "queues", all)?;
    let mail = Buffer::<[u32; 4]>::storage(gpu, "mail", 2 * all * u64::from(capacity))?;
    let sent = Buffer::<u32>::storage(gpu, "sent", 2 * all)?;
    let counts = Buffer::<[u32; WORDS]>::storage(gpu, "counts", all)?;
    let clock = Buffer::<[u32; 4]>::storage(gpu, "clock", 1)?;
    let buffers = [
        ("shape", shape.binding()),
        ("queue_events", events.binding()),
        ("queues", kept.binding()),
        ("mail", mail.binding()),
        ("sent", sent.binding()),
        ("counts", counts.binding()),
        ("clock", clock.binding()),
        ("touches", touches.binding()),
    ];
    let run = |kernels: &[(&Kernel, u32)], times: u32| -> Result<(), GpuError> {
        let bound = kernels
            .iter()
            .map(|(kernel, groups)| Ok((*kernel, kernel.bind(gpu, &buffers)?, *groups)))
            .collect::<Result<Vec<_>, GpuError>>()?;
        let mut encoder = gpu.encoder("counts");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for _ in 0..times {
            for (kernel, bindings, groups) in &bound {
                kernel.dispatch(&mut pass, bindings, *groups);
            }
        }
        drop(pass);
        gpu.wait(gpu.submit(encoder)?)
    };
    // Teams fill workgroups of 64.
    let groups = if design.lanes() > 1 { queues.div_ceil(64 / design.lanes()) } else { queues.div_ceil(32) };
    // Sums over all queues.
    let iterations = || -> Result<[u64; WORDS], GpuError> {
        for _ in 0..(ITERATIONS * population).div_ceil(AT_ONCE) {
            run(&[(&window, groups), (&advance, 1)], AT_ONCE)?;
        }
        let counts = counts.read(gpu)?;
        let add =
            |sums: [u64; WORDS], count: [u32; WORDS]| std::array::from_fn(|i| sums[i] + u64::from(count[i]));
        Ok(counts.into_iter().fold([0; WORDS], add))
    };
    run(&[(&start, queues.div_ceil(32))], 1)?;
    let before = iterations()?;
    let after = iterations()?;
    let [_, executed, hash, failed, ..] = after;
    if failed > 0 {
        return Ok(None);
    }
    let events = (executed - before[1]) as f64;
    let mean = |word: usize| (after[word] - before[word]) as f64 / events;
    Ok(Some(Counts {
        comparisons: mean(0),
        bytes: 16.0 * (mean(4) + mean(5)),
        sectors: mean(6) + mean(7),
        executed: [executed, hash],
    }))
}

/// The capacity of a queue. At the start an LP receives Poisson(population) messages in one
/// iteration, and later an LP that executes one event at a time may hold more.
fn capacity(population: u32) -> u32 {
    2 * Capacity::poisson(population.into(), 0.0).queue
}

/// The kernels for a design.
fn program(design: QueueDesign) -> Result<Program, GpuError> {
    let mut sources = vec![eventhorizon::wgsl!("counts.wgsl"), design.source().expect("a queue of its own")];
    if design.lanes() > 1 {
        sources.push(eventhorizon::wgsl!("counts_team.wgsl"));
    }
    let text = counting(Program::link("counts", &sources)?.text());
    let mut text = text.replace("last = touch_read(", "last = touch_last(");
    text += "fn touch_read(slot: u32) -> Item { touch(slot, false); return queue_events[slot]; }\n";
    text += "fn touch_last(slot: u32) -> Item { lasts += 1u; return touch_read(slot); }\n";
    text += "fn touch_write(slot: u32, item: Item) { touch(slot, true); queue_events[slot] = item; }\n";
    Ok(Program::link("counts", &[Source::new("counts", text)])?)
}

/// A linked text without comments, with each read `queue_events[slot]` as `touch_read(slot)` and
/// each write `queue_events[slot] = item` as `touch_write(slot, item)`.
fn counting(text: &str) -> String {
    const SLOTS: &str = "queue_events[";
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap_or_default();
        while let Some(at) = rest.find(SLOTS) {
            out += &rest[..at];
            rest = &rest[at + SLOTS.len()..];
            let end = closing(rest);
            let slot = counting(&rest[..end]);
            let slot = slot.trim_end();
            rest = &rest[end + 1..];
            match rest.strip_prefix(" = ") {
                None => out += &format!("touch_read({slot})"),
                Some(item) => {
                    let end = item.find(';').expect("a statement ends on its line");
                    out += &format!("touch_write({slot}, {})", counting(&item[..end]).trim_end());
                    rest = &item[end..];
                }
            }
        }
        out += rest;
        out.push('\n');
    }
    out
}

/// The place of the bracket that closes one before the text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    let place = text.find(|letter| {
        depth += match letter {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        depth < 0
    });
    place.expect("brackets are balanced")
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use eventhorizon::queue::{Lanes, Traverse};
    use eventhorizon::random::Stream;

    use super::reference::{Heap, Queue, Ring, SinglePass, Splay, counted};
    use super::*;

    /// With one LP, messages are inserted in one order on every device, so that counts are equal.
    #[test]
    fn sequential_designs_do_what_a_plain_count_of_their_definitions_does() {
        let gpu = Gpu::new().unwrap_or_else(|error| panic!("{error}"));
        let times = [1000, 900].map(Ticks::new);
        for population in [1, 2, 13, 70] {
            let capacity = capacity(population);
            let designs: [(QueueDesign, Box<dyn Queue>); 5] = [
                (QueueDesign::CbSeq(Traverse::BackToFront), Box::new(Ring::new(capacity, true))),
                (QueueDesign::CbSeq(Traverse::FrontToBack), Box::new(Ring::new(capacity, false))),
                (QueueDesign::CbSeqSp, Box::new(SinglePass::new(capacity))),
                (QueueDesign::Heap, Box::new(Heap::default())),
                (QueueDesign::Splay, Box::new(Splay::default())),
            ];
            for (design, mut queue) in designs {
                let counts = count(&gpu, design, 1, population, times).unwrap().expect("no loop is cut");
                let [comparisons, bytes, sectors] = counted(&mut *queue, population, times);
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
                let found = [counts.comparisons, counts.bytes, counts.sectors];
                let what = format!("{design}, {population} events: {found:?}");
                assert!(near(found[0], comparisons), "{what}, comparisons {comparisons}");
                // Of splay trees only comparisons are counted.
                if design != QueueDesign::Splay {
                    assert!(near(found[1], bytes) && near(found[2], sectors), "{what}, {bytes}, {sectors}");
                }
            }
        }
    }

    #[test]
    fn accesses_become_calls() {
        let text = "fn f() { // queue_events[0]\n  queue_events[a[1]] = g(queue_events[b]).x; if queue_events[c] == d {}\n";
        let expected = "fn f() { \n  touch_write(a[1], g(touch_read(b)).x); if touch_read(c) == d {}\n";
        assert_eq!(counting(text), expected);
    }

    /// The number of executed events, and the sum of the LPs' hashes.
    fn executed(lps: u32, population: u32, [mean, lookahead]: [Ticks; 2]) -> [u64; 2] {
        type Event = Reverse<(Ticks, u32, u32)>;
        let mut queues = vec![BinaryHeap::<Event>::new(); lps as usize];
        let mut rows = vec![(0_u32, 0_u32); lps as usize];
        for lp in 0..lps {
            let mut stream = Stream::new(1, lp, 0);
            for number in 0..population {
                let time = stream.exponential(mean);
                queues[stream.below(lps) as usize].push(Reverse((time, lp, number)));
            }
        }
        // As `clock` begins.
        let mut now = Ticks::ZERO;
        for _ in 0..2 * (ITERATIONS * population).next_multiple_of(AT_ONCE) {
            let horizon = now.saturating_add(lookahead);
            let mut sent = Vec::new();
            for (lp, (queue, (executed, hash))) in (0..).zip(queues.iter_mut().zip(&mut rows)) {
                let Some(&Reverse((time, sender, number))) = queue.peek() else { continue };
                if time >= horizon {
                    continue;
                }
                queue.pop();
                let mut stream = Stream::new(2, lp, (*executed).into());
                let next = time.saturating_add(lookahead.saturating_add(stream.exponential(mean)));
                sent.push((stream.below(lps), Reverse((next, lp, population + *executed))));
                let [low, _] = time.to_words();
                *hash = (*hash ^ low ^ sender.wrapping_mul(31) ^ number).wrapping_mul(16_777_619);
                *executed += 1;
            }
            for (lp, event) in sent {
                queues[lp as usize].push(event);
            }
            let first = |queue: &BinaryHeap<Event>| queue.peek().map(|&Reverse((time, ..))| time);
            now = queues.iter().filter_map(first).min().expect("events never leave");
        }
        rows.iter().fold([0; 2], |[executed, sum], row| [executed + u64::from(row.0), sum + u64::from(row.1)])
    }

    #[test]
    fn all_designs_execute_the_events_of_the_reference() {
        let gpu = Gpu::new().unwrap_or_else(|error| panic!("{error}"));
        let times = [1000, 900].map(Ticks::new);
        let designs = QueueDesign::ALL.into_iter().filter(|design| !design.is_calendar());
        let teams = [
            QueueDesign::CbPar(Lanes::Four),
            QueueDesign::CbPar(Lanes::SixtyFour),
            QueueDesign::CB_PAR_FRONT,
        ];
        // Around the invocations of a workgroup, and the teams.
        for (design, lps) in designs.chain(teams).zip([31, 33, 65].into_iter().cycle()) {
            let counts = count(&gpu, design, lps, 6, times).unwrap().expect("no loop is cut");
            assert_eq!(counts.executed, executed(lps, 6, times), "{design}");
            assert!(counts.comparisons > 1.0 && counts.sectors > 1.0, "{design}");
            // An access touches a sector once at most.
            assert!(counts.bytes >= 16.0 * counts.sectors, "{design}");
        }
    }
}
