//! The memory of a batch of replicas, and its bindings: `shaders/pdes/replicas/run_of_replica.wgsl`
//! documents the layout.

use bytemuck::Pod;

use crate::gpu::{Buffer, Gpu, GpuError, STAGING_BYTES};
use crate::time::Ticks;

use super::mapping::BatchMapping;
use crate::pdes::contract::bounds::epoch_length;
use crate::pdes::contract::capacity::Capacity;
use crate::pdes::contract::error::{Fault, SimulationError};
use crate::pdes::device::control::{COUNTS, DIGEST_CUT};
use crate::pdes::device::dispatch::Part;
use crate::pdes::device::memory::Run;
use crate::pdes::device::pool::Pool;
use crate::pdes::{Event, Model, Payload, Progress, Replica, Stop, Until};

shared! {
    "pdes/replicas/run_of_replica.wgsl":
    const REPLICA_ROWS: u32;
    const REPLICA_WORDS: u32;
    const DONE: usize as REPLICA_DONE;
    const STATUS: usize as REPLICA_STATUS;
}
shared! {
    "pdes/replicas/stop.wgsl":
    const STOP_TIME: u32;
    const STOP_EVENTS: u32;
    const STOP_EMPTY: u32;
}

/// The memory needs of a batch's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchNeeds {
    /// The capacities of an LP's queue and mailbox.
    pub(super) capacity: Capacity,
    /// The capacity for all events of a run, for threads and for teams in workgroup memory.
    pub(super) events: u32,
    /// Bytes of a state.
    pub(super) state_bytes: u32,
}

/// A run to execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    /// The index of its model.
    pub(super) point: u32,
    pub(super) replica: Replica,
}

/// Bytes of the buffers of a replica, by buffer.
pub(super) fn bytes<M: Model>(model: &M, crowd: BatchMapping, room: BatchNeeds) -> [u64; 6] {
    let lps = u64::from(model.lps());
    let event = size_of::<Event<M::Payload>>() as u64;
    let (counts, pending, store) = match crowd {
        BatchMapping::Team { queue, .. } => (
            3 * lps,
            event * queue.slots(model.lps(), room.capacity.queue),
            2 * lps * event * u64::from(room.capacity.mailbox),
        ),
        BatchMapping::LocalTeam { group_size, pool, teams, .. } => {
            // While a run starts, there is a word for each LP.
            (lps, event * u64::from(pool), Pool::link_bytes(pool, group_size / teams, event))
        }
        BatchMapping::Thread { .. } => {
            (0, 16 * u64::from(stride(room.events)), event * u64::from(room.events))
        }
    };
    [
        4 * (counts + u64::from(REPLICA_WORDS)),
        16 * (2 * lps + u64::from(REPLICA_ROWS)),
        pending,
        store,
        u64::from(room.state_bytes) * lps,
        16 * u64::from(model.memory_rows()) * lps,
    ]
}

/// The slots of a run's queue with capacity for `events`
/// (`shaders/pdes/replicas/thread_queue.wgsl`).
fn stride(events: u32) -> u32 {
    events.saturating_add(9) / 4 * 4
}

/// The buffers of a batch.
#[derive(Debug)]
pub(super) struct Memory<S, P> {
    crowd: BatchMapping,
    pub(super) room: BatchNeeds,
    words: Buffer<u32>,
    lps: Buffer<[u32; 4]>,
    queue: Buffer<u32>,
    store: Buffer<Event<P>>,
    pub(super) states: Buffer<S>,
    memory: Buffer<[u32; 4]>,
    digests: Buffer<u64>,
    given: Buffer<Run>,
}

impl<S: Pod, P: Payload> Memory<S, P> {
    /// Allocates memory for up to `most` replicas.
    pub(super) fn new<M: Model<State = S, Payload = P>>(
        gpu: &Gpu,
        model: &M,
        crowd: BatchMapping,
        room: BatchNeeds,
        most: u32,
    ) -> Result<Self, GpuError> {
        let [words, lps, queue, store, states, memory] =
            bytes(model, crowd, room).map(|bytes| bytes * u64::from(most));
        let state = (size_of::<S>() as u64).max(1);
        Ok(Self {
            crowd,
            room,
            words: Buffer::storage(gpu, "replicas: counts", COUNTS as u64 + words / 4)?,
            lps: Buffer::storage(gpu, "replicas: LPs", lps / 16)?,
            queue: Buffer::storage(gpu, "replicas: queues", queue / 4)?,
            store: Buffer::storage(gpu, "replicas: mailboxes", store / size_of::<Event<P>>() as u64)?,
            states: Buffer::storage(gpu, "replicas: states", states / state)?,
            memory: Buffer::storage(gpu, "replicas: LP memory", memory / 16)?,
            digests: Buffer::storage(gpu, "replicas: digests", most.into())?,
            given: Buffer::uniform(gpu, "replicas: run", &bytemuck::Zeroable::zeroed())?,
        })
    }

    /// The parameters of dispatches for a batch of `replicas` replicas.
    pub(super) fn run<M: Model<State = S, Payload = P>>(
        &self,
        model: &M,
        replicas: u32,
        until: Until,
    ) -> Run {
        let (lps, rows) = (model.lps(), model.lps() * replicas);
        let queue = match self.crowd {
            BatchMapping::Team { .. } => self.room.capacity.queue,
            BatchMapping::LocalTeam { pool, .. } => pool,
            BatchMapping::Thread { .. } => self.room.events,
        };
        Run {
            until: until.time,
            event_limit: until.events,
            rows,
            total: lps,
            groups: replicas,
            queue_capacity: queue,
            queue_stride: match self.crowd {
                BatchMapping::Team { queue: design, .. } => {
                    u32::try_from(design.stride(queue)).unwrap_or(u32::MAX)
                }
                BatchMapping::LocalTeam { group_size, teams, .. } => group_size / teams,
                BatchMapping::Thread { .. } => stride(queue),
            },
            mail_capacity: self.room.capacity.mailbox,
            state_words: self.room.state_bytes / 4,
            memory_rows: model.memory_rows(),
            addresses: lps,
            failures: self.failures(rows),
            part: Part { queue_rows: rows, ..Part::default() },
            ..Run::of_none(lps)
        }
    }

    fn failures(&self, rows: u32) -> u32 {
        let counts = match self.crowd {
            BatchMapping::Team { .. } => 3 * rows,
            BatchMapping::LocalTeam { .. } | BatchMapping::Thread { .. } => 0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let first = COUNTS as u32;
        first + counts
    }

    /// Sets the parameters of later dispatches.
    pub(super) fn write_run(&self, gpu: &Gpu, run: &Run) -> Result<(), GpuError> {
        self.given.write(gpu, 0, std::slice::from_ref(run))
    }

    /// Prepares the start of runs, of models by point.
    pub(super) fn begin<M: Model>(
        &self,
        gpu: &Gpu,
        run: &Run,
        points: &[M],
        jobs: &[Job],
        seed: u64,
    ) -> Result<(), GpuError> {
        let mut clear = crate::gpu::Plan::new("replicas: start");
        clear.clear("counts", self.words.raw());
        clear.clear("LP memory", self.memory.raw());
        clear.submit(gpu)?;
        let words = jobs.iter().flat_map(|_| {
            let mut words = [0; REPLICA_WORDS as usize];
            words[..2].fill(u32::MAX); // NO_FAILURE
            words
        });
        self.words.write(gpu, run.failures.into(), &words.collect::<Vec<_>>())?;
        let rows = jobs.iter().flat_map(|job| {
            let lookahead = points[job.point as usize].lookahead();
            let epoch_length = epoch_length(lookahead);
            let pair = |a: Ticks, b: Ticks| {
                let ([a, b], [c, d]) = (a.to_words(), b.to_words());
                [a, b, c, d]
            };
            [
                pair(Ticks::new(job.replica.key(seed)), lookahead),
                pair(epoch_length, Ticks::new(u64::MAX / epoch_length.get())),
                [job.replica.number, job.point, 0, 0],
                [0; 4],
                [0; 4],
                [0; 4],
            ]
        });
        self.lps.write(gpu, 2 * u64::from(run.rows), &rows.collect::<Vec<_>>())
    }

    /// The bindings of a dispatch, by the names of WGSL variables.
    pub(super) fn bindings<'m>(
        &'m self,
        points: &'m Points,
    ) -> Vec<(&'static str, wgpu::BindingResource<'m>)> {
        vec![
            ("shared_run", self.given.binding()),
            ("words", self.words.binding()),
            ("lps", self.lps.binding()),
            ("queue_events", self.queue.binding()),
            ("keys", self.queue.binding()),
            ("store", self.store.binding()),
            ("links", self.store.binding()),
            ("states", self.states.binding()),
            ("state_rows", self.states.binding()),
            ("memory", self.memory.binding()),
            ("digests", self.digests.binding()),
            ("params_rows", points.params.as_entire_binding()),
            ("data", points.data()),
        ]
    }

    /// The buffer with the number of running replicas, and the number of events that a dispatch
    /// executed.
    pub(super) fn words(&self) -> &Buffer<u32> {
        &self.words
    }

    /// The rows of all replicas.
    async fn rows(&self, gpu: &Gpu, run: &Run) -> Result<Vec<[u32; 4]>, GpuError> {
        let rows = u64::from(REPLICA_ROWS) * u64::from(run.groups);
        self.lps.read_range(gpu, 2 * u64::from(run.rows), rows).await
    }

    /// The average simulated share of the time to the end: 0 to 1.
    pub(super) async fn share_done(&self, gpu: &Gpu, run: &Run) -> Result<f64, GpuError> {
        let rows = self.rows(gpu, run).await?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = |rows: &[[u32; 4]]| {
            let [low, high, ..] = rows[STATUS];
            (Ticks::from_words([low, high]).get() as f64 / run.until.get() as f64).min(1.0)
        };
        Ok(rows.chunks_exact(REPLICA_ROWS as usize).map(share).sum::<f64>() / f64::from(run.groups))
    }

    /// How each replica ended.
    pub(super) async fn ended(
        &self,
        gpu: &Gpu,
        run: &Run,
    ) -> Result<Vec<Result<Progress, Fault>>, SimulationError> {
        let replicas = u64::from(run.groups);
        let rows = self.rows(gpu, run).await?;
        let words =
            self.words.read_range(gpu, run.failures.into(), u64::from(REPLICA_WORDS) * replicas).await?;
        let rows = rows.chunks_exact(REPLICA_ROWS as usize);
        let words = words.chunks_exact(REPLICA_WORDS as usize);
        rows.zip(words).map(|(rows, words)| ended(rows, words)).collect()
    }

    /// The requested rows of LP memory, by replica.
    pub(super) async fn lp_rows(
        &self,
        gpu: &Gpu,
        run: &Run,
        rows: [u32; 2],
    ) -> Result<Vec<Vec<[u32; 4]>>, GpuError> {
        let (replicas, each) = (run.groups as usize, run.total as usize * run.memory_rows as usize);
        if each == 0 || rows[1] == 0 {
            return Ok(vec![Vec::new(); replicas]);
        }
        // As many replicas at once as fit staging memory: most of the rows read may be slots of
        // lines.
        let staging = usize::try_from(STAGING_BYTES / 16).expect("a small number");
        let at_once = (staging / each).max(1);
        let mut reported = Vec::with_capacity(replicas);
        for first in (0..replicas).step_by(at_once) {
            let count = at_once.min(replicas - first);
            let memory = self.memory.read_range(gpu, (first * each) as u64, (count * each) as u64).await?;
            reported.extend(memory.chunks_exact(each).map(|memory| rows_of(memory, run.total, rows)));
        }
        Ok(reported)
    }

    /// The row of an LP at which a driver ended the loops of a fingerprint, if any.
    pub(super) async fn digest_cut(&self, gpu: &Gpu) -> Result<Option<u32>, GpuError> {
        let word = self.words.read_range(gpu, DIGEST_CUT as u64, 1).await?[0];
        Ok(word.checked_sub(1))
    }

    /// The fingerprints, by replica.
    pub(super) async fn digests(&self, gpu: &Gpu, run: &Run) -> Result<Vec<u64>, GpuError> {
        self.digests.read_range(gpu, 0, run.groups.into()).await
    }
}

/// How a replica ended, from its rows and words.
fn ended(rows: &[[u32; 4]], words: &[u32]) -> Result<Result<Progress, Fault>, SimulationError> {
    let [windows, _, events, ..] = [rows[DONE][0], 0, rows[DONE][2], 0];
    let wide = |low, high| Ticks::from_words([low, high]);
    let (windows, events) = (wide(windows, rows[DONE][1]).get(), wide(events, rows[DONE][3]).get());
    let now = wide(rows[STATUS][0], rows[STATUS][1]);
    match Fault::decode(words[0].min(words[1]), [words[2], words[3], 0], 0, windows) {
        Ok(()) => {}
        Err(SimulationError::Fault(fault)) => return Ok(Err(fault)),
        Err(other) => return Err(other),
    }
    let stop = match rows[STATUS][2] {
        STOP_TIME => Some(Stop::Time),
        STOP_EVENTS => Some(Stop::Events),
        STOP_EMPTY => Some(Stop::Empty),
        _ => None,
    };
    Ok(Ok(Progress { now, events, windows, stop }))
}

/// The data shared by all batches: the parameters of the points, and the model data.
#[derive(Debug)]
pub(super) struct Points {
    params: wgpu::Buffer,
    data: Buffer<u32>,
}

impl Points {
    pub(super) fn new<M: Model>(gpu: &Gpu, points: &[M]) -> Result<Self, GpuError> {
        let params: Vec<u8> = points.iter().flat_map(Model::params_bytes).collect();
        let params = Buffer::storage_from(gpu, "replicas: parameters", &params)?.raw().clone();
        Ok(Self { params, data: Buffer::storage_from(gpu, "model data", points[0].data())? })
    }

    /// With the exact size, which `arrayLength` returns.
    fn data(&self) -> wgpu::BindingResource<'_> {
        let size = std::num::NonZero::new(4 * self.data.len());
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.data.raw(), offset: 0, size })
    }
}

/// Of each LP's memory, `rows` rows from row `first` on, as far as they exist.
pub(super) fn rows_of(memory: &[[u32; 4]], lps: u32, [first, rows]: [u32; 2]) -> Vec<[u32; 4]> {
    let each = memory.len() / lps as usize;
    let reported = (first as usize).min(each)..(first as usize + rows as usize).min(each);
    if reported.is_empty() {
        return Vec::new();
    }
    memory.chunks_exact(each).flat_map(|memory| &memory[reported.clone()]).copied().collect()
}
