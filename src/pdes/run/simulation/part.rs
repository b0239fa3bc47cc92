//! A part of a run that is split over devices, from one exchange with the other parts to the next.
//! `src/hybrid/devices.rs` drives it and documents the method.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use web_time::{Duration, Instant};

use crate::gpu::{Buffer, Download, Gpu, Kernel, Plan, Upload, copy};
use crate::time::Ticks;

use super::super::candidates;
use super::Simulation;
use super::room::of_design;
use crate::pdes::checkpoint::Contents;
use crate::pdes::contract::bounds::epoch_end;
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::sync::Windows;
use crate::pdes::device::control::{FAILURE, calendar_first};
use crate::pdes::device::cut::{Outbox, PartIndex, group_size_at_most};
use crate::pdes::device::growth::Snapshot;
use crate::pdes::device::memory::{Run, needed};
use crate::pdes::device::strategy::usual;
use crate::pdes::{Checkpoint, Event, Mapping, Model, Options, Progress, Stop, Until};

/// One part of a run.
pub(crate) struct PartOf<M: Model> {
    simulation: Simulation<M>,
    outbox: Outbox,
    arrive: Kernel,
    /// The parameters of `arrive`.
    run: Buffer<Run>,
    arrivals: Buffer<u8>,
    /// Its dispatches, by the parity of the next window and by the number of workgroups.
    arrives: BTreeMap<(u32, u32), Plan>,
    /// Buffers for received messages, reused for sent messages.
    lists: Vec<Vec<u8>>,
    /// The staging buffer of readbacks.
    staging: Option<Download>,
    /// Where the host's time went since the last report.
    spent: HostTime,
    /// The ends of a copy of the memory to make with the next dispatch.
    saving: Option<Vec<Until>>,
    /// For each other part, the number of events read together with the report: as many as the last
    /// window of that parity sent, and a reserve. (By parity, because every second window often
    /// executes only events beyond budgets, and sends few.)
    ahead: [Vec<u32>; 2],
}

/// Host time of a part's windows.
#[derive(Debug, Default)]
struct HostTime {
    /// Filling uploads with received events.
    fill: Duration,
    /// Submitting, and waiting for the device.
    device: Duration,
    /// Copying sent events out of readbacks.
    take: Duration,
}

/// The report of a part after a dispatch of all its rows.
#[derive(Debug)]
pub(crate) struct PartReport {
    /// The earliest time that is pending or was sent. After the first dispatch of a window with
    /// two, the earliest time that will be sent.
    pub(crate) earliest: Ticks,
    /// Executed events.
    pub(crate) events: u64,
    /// The word for `Fault::decode`, with global LP numbers.
    pub(crate) failure: u32,
    pub(crate) needed: [u32; 3],
    /// The events for each other part, in order, after the requested number of spare bytes.
    pub(crate) mails: Vec<Vec<u8>>,
}

/// The LPs of a part: as `part_of` in `shaders/pdes/parts/outbox.wgsl`.
pub(crate) fn range(lps: u32, (own, parts): (u32, u32)) -> Range<u32> {
    let (least, longer) = (lps / parts, lps % parts);
    let first = |part: u32| part * least + part.min(longer);
    first(own)..first(own + 1)
}

impl<M: Model> PartOf<M> {
    /// Part `own` of `parts`, at the start or from a checkpoint.
    pub(crate) fn new(
        gpu: &Gpu,
        model: &M,
        options: Options,
        (own, parts): (u32, u32),
        saved: Option<&Checkpoint>,
    ) -> Result<Self, SimulationError> {
        let refused = |problem| Err(SimulationError::Parts { problem });
        let windows = match options.sync.windows() {
            Some(windows) if !windows.serves_parts => {
                return refused(
                    "does not support this synchronisation: choose `Sync::Yawns`, or keep the default `Sync::Auto`",
                );
            }
            Some(windows) => windows,
            None if model.lookahead() == Ticks::ZERO => Windows::WIDE,
            None => Windows::EPOCHS,
        };
        if model.lps() < parts {
            return refused("needs at least one LP for each device: use fewer devices");
        }
        // Parts run no trials: they take the design that a single run would begin with.
        let options = options.sync(windows.into()).mapping(Mapping::Grid);
        let lps = range(model.lps(), (own, parts));
        let place = PartIndex { own, parts, room: 0 };
        let begin = |queue| {
            let options = options.queue(queue);
            pollster::block_on(Simulation::begin(gpu, model, (lps.clone(), Some(place)), options, saved))
        };
        let queue = candidates::candidates(gpu, model, &options)?[0].queue;
        let usual = usual(windows);
        let simulation = match begin(queue) {
            // A calendar may need more memory, or its files clash with the model's names.
            Err(error) if options.queue.is_none() && queue != usual && of_design(&error) => {
                log::info!("{queue}: {error}");
                begin(usual)?
            }
            begun => begun?,
        };
        let memory = &simulation.memory;
        let recipes = simulation.recipes(simulation.strategy, &memory.cut);
        let arrive = recipes.arrive.expect("it is a part of a run").kernel(gpu)?;
        Ok(Self {
            run: Buffer::uniform(gpu, "run", &memory.run)?,
            arrive,
            outbox: memory.cut.outbox.expect("it is a part of a run"),
            arrivals: Buffer::storage(gpu, "arrivals", 1 << 12)?,
            arrives: BTreeMap::new(),
            lists: Vec::new(),
            staging: None,
            spent: HostTime::default(),
            saving: None,
            ahead: [(); 2].map(|()| vec![0; parts as usize - 1]),
            simulation,
        })
    }

    /// The number of LPs of the whole run.
    pub(crate) fn lps(&self) -> u32 {
        self.simulation.memory.run.total
    }

    /// The part's simulation, for reading.
    pub(crate) fn simulation(&self) -> &Simulation<M> {
        &self.simulation
    }

    /// Whether a window has two dispatches, between which the parts agree on the event horizon.
    pub(crate) fn is_speculative(&self) -> bool {
        self.simulation.strategy.windows.is_speculative()
    }

    /// Whether pending events are in a calendar.
    pub(crate) fn is_calendar(&self) -> bool {
        self.simulation.strategy.queue.is_calendar()
    }

    /// The end of the epoch of a time.
    pub(crate) fn epoch_end(&self, time: Ticks) -> Ticks {
        epoch_end(time, self.simulation.memory.run.epoch_length)
    }

    /// Bytes of an event in a message.
    pub(crate) fn entry() -> usize {
        Outbox::entry(size_of::<Event<M::Payload>>())
    }

    /// The report of all rows before the first window, without a dispatch.
    pub(crate) fn begun(&mut self, spare: usize) -> Result<PartReport, SimulationError> {
        // The start was a dispatch of parity 1.
        self.reported(1, None, spare)
    }

    /// Runs a dispatch of this parity over all rows. No pending or undelivered event of any part is
    /// before `earliest`. `came` are the messages from the other parts, each after `spare` bytes;
    /// their buffers are reused for messages of this part.
    pub(crate) fn step(
        &mut self,
        parity: u32,
        (until, earliest): (Ticks, Ticks),
        came: Vec<Vec<u8>>,
        spare: usize,
    ) -> Result<PartReport, SimulationError> {
        let run = &mut self.simulation.memory.run;
        (run.until, run.earliest) = (until, earliest);
        (run.event_limit, run.pause) = (u64::MAX, u64::MAX);
        let mut rest: Vec<&[u8]> = came.iter().filter_map(|came| came.get(spare..)).collect();
        let gpu = self.simulation.gpu.clone();
        let mut encoder = gpu.encoder("a window of a part");
        if let (Some(ends), Some(snapshot)) = (self.saving.take(), &mut self.simulation.snapshot) {
            snapshot.save(&mut encoder, ends.into_iter());
        }
        self.simulation.memory.clear_arrived(&mut encoder);
        while self.take(&mut encoder, parity, &mut rest)? {
            // Pieces that fill a binding are submitted first; the last one goes with the window.
            let full = std::mem::replace(&mut encoder, gpu.encoder("a window of a part"));
            gpu.submit(full)?;
        }
        self.lists.extend(came.into_iter().filter(|came| came.len() > spare));
        let Simulation { memory, plans, .. } = &self.simulation;
        memory.clear_outbox(&mut encoder, self.ahead[0].len());
        plans.halves[parity as usize].record(&mut encoder);
        if until == Ticks::ZERO && parity == 1 {
            // The last dispatch of a run. (Empty for queues: their windows know the first events.)
            plans.progress.record(&mut encoder);
        }
        self.reported(parity, Some(encoder), spare)
    }

    /// Records the parameters of a dispatch of this parity, and moves as many received events as
    /// fit a binding into mailboxes. Returns whether there are more.
    fn take(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        parity: u32,
        rest: &mut [&[u8]],
    ) -> Result<bool, SimulationError> {
        let Simulation { gpu, memory, plans, .. } = &self.simulation;
        // It has the parity of the window before, because it fills the same mailboxes.
        let arrive = memory.cut.part(0, memory.cut.rows, 1 - parity);
        let windows = plans.runs.iter().filter(|(part, _)| part.parity == parity);
        let all = windows.map(|(part, buffer)| (part, buffer)).chain([(&arrive, &self.run)]);
        let (blocks, buffers): (Vec<_>, Vec<_>) =
            all.map(|(part, buffer)| (memory.run_for(*part), buffer.raw().clone())).unzip();
        let blocks: &[u8] = bytemuck::cast_slice(&blocks);
        let entry = Self::entry();
        let most = usize::try_from(gpu.max_buffer_bytes()).unwrap_or(usize::MAX) - 16 - blocks.len();
        let most = most / entry * entry;
        let (mut pieces, mut bytes) = (vec![blocks, &[][..]], 0);
        for rest in &mut *rest {
            let (now, later) = rest.split_at(rest.len().min(most - bytes));
            pieces.push(now);
            bytes += now.len();
            *rest = later;
        }
        let count = u32::try_from(bytes / entry).expect("it fits a binding");
        let head = count.to_le_bytes();
        pieces[1] = &head;
        let (first, bytes) = (blocks.len() as u64, 4 + bytes as u64);
        if bytes > self.arrivals.len() {
            let room = (bytes + bytes / 4).next_multiple_of(16).min(gpu.max_buffer_bytes());
            self.arrivals = Buffer::storage(gpu, "arrivals", room)?;
            self.arrives.clear();
        }
        let upload = Upload::new(gpu, "arrivals", first + bytes)?;
        let begun = Instant::now();
        upload.fill(gpu, &pieces)?;
        self.spent.fill += begun.elapsed();
        let each = size_of::<Run>() as u64;
        let runs = (0..).zip(buffers).map(|(place, buffer)| (place * each, (buffer, 0), each));
        let came = (count > 0).then(|| (first, (self.arrivals.raw().clone(), 0), bytes));
        upload.record(gpu, encoder, runs.chain(came))?;
        if count > 0 {
            let groups = count.div_ceil(group_size_at_most(gpu, 256)).next_power_of_two();
            let groups = groups.min(gpu.limits().max_compute_workgroups_per_dimension);
            let plan = match self.arrives.entry((parity, groups)) {
                Entry::Occupied(made) => made.into_mut(),
                Entry::Vacant(none) => {
                    let mut bound = memory.bindings(&arrive, &self.run);
                    bound.push(("arrivals", self.arrivals.binding()));
                    let mut plan = Plan::new("arrivals");
                    plan.dispatch(gpu, &self.arrive, groups, &bound)?;
                    none.insert(plan)
                }
            };
            plan.record(encoder);
        }
        Ok(rest.iter().any(|rest| !rest.is_empty()))
    }

    /// Whether there is a copy of the memory to go back to.
    pub(crate) fn can_go_back(&self) -> bool {
        self.simulation.snapshot.is_some()
    }

    /// Lets the next dispatch, of parity 0, first copy the memory, on the way to these ends,
    /// without the received events, which may overflow. If there is no room for a copy, capacities
    /// cannot grow.
    pub(crate) fn save(&mut self, ends: &[Until]) {
        self.saving = Some(ends.to_vec());
    }

    /// Whether it is time for another copy: after `every`, or after many runs.
    pub(crate) fn is_due(&self, every: Duration) -> bool {
        self.simulation.snapshot.as_ref().is_some_and(|snapshot| snapshot.is_due_after(every))
    }

    /// Records the end of another run.
    pub(crate) fn begin(&mut self, until: Until) {
        if let Some(snapshot) = &mut self.simulation.snapshot {
            snapshot.begin(until);
        }
    }

    /// The ends of the runs since the copy, including the current one.
    pub(crate) fn ends(&self) -> Vec<Until> {
        self.simulation.snapshot.as_ref().map_or_else(Vec::new, Snapshot::ends)
    }

    /// Invalidates the copy.
    pub(crate) fn forget(&mut self) {
        if let Some(snapshot) = &mut self.simulation.snapshot {
            snapshot.forget();
        }
    }

    /// Goes back to the copy, with more room if this part had an overflow. No event of any part was
    /// before `earliest` then.
    pub(crate) fn go_back(&mut self, fault: Option<Fault>, earliest: Ticks) -> Result<(), SimulationError> {
        self.simulation.memory.run.earliest = earliest;
        let Some(snapshot) = &self.simulation.snapshot else {
            return fault.map_or(Ok(()), |fault| Err(fault.into()));
        };
        let Some(fault) = fault else { return Ok(snapshot.restore(&self.simulation.gpu)?) };
        if fault.kind == FaultKind::OutboxFull {
            snapshot.restore(&self.simulation.gpu)?;
            let before = self.outbox.room;
            if let Some(part) = &mut self.simulation.rebuild.needs.part {
                part.room = fault.needed.max(before.saturating_mul(2));
            }
            let (strategy, capacity) = (self.simulation.strategy, self.simulation.memory.capacity());
            let ends = self.ends();
            pollster::block_on(self.simulation.rebuild(strategy, capacity, &ends))?;
            if self.simulation.memory.cut.outbox.is_none_or(|outbox| outbox.room < fault.needed) {
                return Err(fault.into());
            }
        } else if let Some(refused) = pollster::block_on(self.simulation.grow(fault))? {
            return Err(refused);
        }
        let Simulation { gpu, memory, strategy, .. } = &self.simulation;
        let recipes = self.simulation.recipes(*strategy, &memory.cut);
        self.arrives.clear();
        self.arrive = recipes.arrive.expect("it is a part of a run").kernel(gpu)?;
        self.outbox = memory.cut.outbox.expect("it is a part of a run");
        Ok(())
    }

    /// Records the end of a run after its closing windows.
    pub(crate) fn closed(&mut self, stop: Stop, until: Until) {
        self.simulation.course.heads(until);
        self.simulation.ended(Some(stop), until);
        let HostTime { fill, device, take } = std::mem::take(&mut self.spent);
        log::debug!(
            "host time: {fill:?} filling uploads, {device:?} for the device, {take:?} taking messages"
        );
    }

    /// The contents of its LPs, between runs.
    pub(crate) fn contents(&self) -> Result<Contents, SimulationError> {
        pollster::block_on(self.simulation.contents())
    }

    /// The checkpoint of the whole run, from the contents of all parts.
    pub(crate) fn checkpoint(
        &self,
        &Progress { windows, events, .. }: &Progress,
        parts: &[Contents],
        order: &[(usize, usize)],
    ) -> Result<Checkpoint, SimulationError> {
        self.simulation.checkpoint_with((windows, events), parts, order)
    }

    /// Submits the dispatches of a parity, if any, and reads their report.
    fn reported(
        &mut self,
        parity: u32,
        window: Option<wgpu::CommandEncoder>,
        spare: usize,
    ) -> Result<PartReport, SimulationError> {
        let Simulation { gpu, memory, plans, .. } = &self.simulation;
        let (entry, ran) = (Self::entry() as u64, window.is_some());
        // The first dispatch of an event-horizon window sends nothing.
        let sends = !(self.is_speculative() && ran && parity == 0);
        let ahead: Vec<u64> = self.ahead[parity as usize]
            .iter()
            .map(|&events| if sends { u64::from(events) * entry } else { 0 })
            .collect();
        let lengths = memory.report_bytes(&ahead);
        let staging = staged(gpu, &mut self.staging, lengths.iter().sum())?;
        let mut encoder = window.unwrap_or_else(|| gpu.encoder("the start of a part"));
        plans.gathers[1 - parity as usize].record(&mut encoder);
        memory.record_reported(&mut encoder, staging, parity, &ahead);
        let begun = Instant::now();
        let submission = gpu.submit(encoder)?;
        let (outbox, lists, many) = (self.outbox, &mut self.lists, 2 * ahead.len());
        let mut taken = Duration::ZERO;
        let read = staging.read(gpu, submission, lengths.iter().sum(), |mut bytes| {
            let begun = Instant::now();
            let mut next = |length: u64| {
                let (these, rest) = bytes.split_at(usize::try_from(length).expect("it is in memory"));
                bytes = rest;
                these
            };
            let words = |bytes: &[u8]| -> Vec<u32> {
                bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
            };
            let (control, counts) = (words(next(lengths[0])), words(next(lengths[1])));
            let (rows, partials) = (words(next(lengths[2])), words(next(lengths[3])));
            let counts: Vec<u32> = counts.iter().map(|&count| count.min(outbox.room)).collect();
            let mails = counts.iter().zip(&ahead).map(|(&count, &ahead)| {
                let bytes = (u64::from(count) * entry).min(ahead);
                let held = usize::try_from(u64::from(count) * entry).expect("it is in memory");
                let mut mails = fitting(lists, spare + held, many);
                mails.resize(spare + held, 0);
                let these = &next(ahead)[..usize::try_from(bytes).expect("less than the rest")];
                copy(&mut mails[spare..][..these.len()], these);
                mails
            });
            let mails: Vec<_> = mails.collect();
            taken = begun.elapsed();
            (control, counts, rows, partials, mails)
        });
        let (control, counts, rows, partials, mut mails) = pollster::block_on(read)?;
        self.spent.take += taken;
        self.spent.device += begun.elapsed().saturating_sub(taken);
        // The events that were not read ahead.
        let rest: Vec<(u64, u64)> = counts
            .iter()
            .zip(&ahead)
            .map(|(&count, &ahead)| (ahead, (u64::from(count) * entry).saturating_sub(ahead)))
            .collect();
        let more = rest.iter().map(|(_, bytes)| bytes).sum();
        if more > 0 {
            let staging = staged(gpu, &mut self.staging, more)?;
            let mut encoder = gpu.encoder("messages of a part");
            memory.record_mails(&mut encoder, staging, &rest);
            let submission = gpu.submit(encoder)?;
            let read = staging.read(gpu, submission, more, |mut bytes| {
                for (mails, &(_, length)) in mails.iter_mut().zip(&rest) {
                    let (these, others) = bytes.split_at(usize::try_from(length).expect("it is in memory"));
                    let end = mails.len();
                    copy(&mut mails[end - these.len()..], these);
                    bytes = others;
                }
            });
            pollster::block_on(read)?;
        }
        if ran && sends {
            for (ahead, count) in self.ahead[parity as usize].iter_mut().zip(&counts) {
                *ahead = count.saturating_add(count / 4).min(outbox.room);
            }
        }
        let events = partials.chunks_exact(4).map(|partial| u64::from(partial[2])).sum();
        let firsts = partials.chunks_exact(4).map(|partial| Ticks::from_words([partial[0], partial[1]]));
        let earliest = match memory.cut.buckets {
            0 => firsts.min().unwrap_or(Ticks::NEVER),
            buckets => {
                let epoch_length = memory.run.epoch_length;
                let first = calendar_first(&rows, &partials, buckets, epoch_length);
                // Its partials do not have what it sent: the next epoch at the earliest.
                let sent = counts.iter().any(|&count| count > 0);
                let sent = sent.then(|| Ticks::from_words([rows[4], rows[5]]).saturating_add(epoch_length));
                sent.map_or(first, |sent| first.min(sent))
            }
        };
        let failure = control[FAILURE + 1 - parity as usize];
        Ok(PartReport { earliest, events, failure, needed: needed(&control), mails })
    }
}

/// Takes a list for `bytes` bytes: the one with the nearest length, because growing a list first
/// fills it with zeros. If none is near and there are fewer than `many`, creates a new one: windows
/// that alternate between many and few events then have lists for both.
fn fitting(lists: &mut Vec<Vec<u8>>, bytes: usize, many: usize) -> Vec<u8> {
    let skew = |list: &Vec<u8>| list.len().abs_diff(bytes);
    let nearest = (0..lists.len()).min_by_key(|&place| skew(&lists[place]));
    let near = nearest.filter(|&place| lists.len() >= many || skew(&lists[place]) <= bytes / 2);
    near.map(|place| lists.swap_remove(place)).unwrap_or_default()
}

/// Staging memory of at least `bytes` bytes: the existing one, or a new one with a reserve.
/// Messages may exceed the device's shared readback memory, and their size varies between windows.
fn staged<'s>(
    gpu: &Gpu,
    staging: &'s mut Option<Download>,
    bytes: u64,
) -> Result<&'s Download, SimulationError> {
    if staging.as_ref().is_none_or(|staging| staging.bytes() < bytes) {
        *staging = None;
        let room = (bytes + bytes / 4).next_multiple_of(16).max(4096);
        let room = room.min(gpu.limits().max_buffer_size / 16 * 16).max(bytes);
        *staging = Some(Download::new(gpu, "a part of a run", room)?);
    }
    Ok(staging.as_ref().expect("it was just created"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_those_of_the_nearest_length() {
        let mut lists = Vec::new();
        for (bytes, was) in [(1000, 0), (10, 0), (1100, 1000), (12, 10), (3, 12), (900, 1100)] {
            let mut list = fitting(&mut lists, bytes, 2);
            assert_eq!(list.len(), was, "{bytes}");
            list.resize(bytes, 1);
            lists.push(list);
        }
        assert_eq!(lists.len(), 2);
    }

    #[test]
    fn parts_are_all_lps_and_as_even_as_can_be() {
        for lps in 1..40 {
            for parts in 1..=lps {
                let ranges: Vec<_> = (0..parts).map(|own| range(lps, (own, parts))).collect();
                assert_eq!((ranges[0].start, ranges.last().unwrap().end), (0, lps));
                assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(ranges.iter().all(|range| range.len().abs_diff((lps / parts) as usize) <= 1));
            }
        }
    }
}
