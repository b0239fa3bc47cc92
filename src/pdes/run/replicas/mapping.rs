//! The mappings of runs to invocations, and their kernels.

use crate::gpu::{Gpu, Recipe};
use crate::queue::QueueDesign;
use crate::shaders;

use crate::pdes::device::cut::group_size_at_most;
use crate::pdes::device::recipes::{NO_OUTBOX, product};
use crate::pdes::{Model, Payload};

/// The mappings that put many replicas into a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BatchMapping {
    /// Teams with the queues of LPs in buffers: the size of a workgroup, and the queue design.
    Team { group_size: u32, queue: QueueDesign },
    /// Teams with an invocation for each LP: room for `pool` events, `teams` teams per workgroup,
    /// whether windows may reach the event horizon, and whether pending events are in buffers,
    /// because they do not fit workgroup memory.
    LocalTeam { group_size: u32, pool: u32, teams: u32, horizon: bool, far: bool },
    /// Threads: the number of runs per workgroup, or `None` to find it; whether the first keys of a
    /// run are in workgroup memory if they fit; and whether some runs have no lookahead, so that
    /// their windows are rounds at one time.
    Thread { group_size: Option<u32>, local_keys: bool, rounds: bool },
}

impl BatchMapping {
    /// Values of the `override`s of a slice for this workgroup size. (Everything else is a
    /// parameter, which needs no new kernel.)
    fn constants(self, group_size: u32) -> impl Iterator<Item = (&'static str, f64)> {
        let constants = match self {
            Self::LocalTeam { pool, teams, .. } => {
                vec![("POOL", pool), ("LISTS", group_size / teams), ("TEAMS", teams)]
            }
            Self::Team { .. } | Self::Thread { .. } => vec![],
        };
        constants.into_iter().map(|(name, value)| (name, f64::from(value)))
    }

    /// The shapes of a slice, in the order of [`SliceTuner`](super::slice_tuner::SliceTuner)'s
    /// choices.
    pub(super) fn shapes(self) -> Vec<SliceShape> {
        let shape = |runs, group_size| SliceShape { runs, group_size, horizon: false };
        match self {
            Self::Team { group_size, .. } => vec![shape(1, group_size)],
            Self::LocalTeam { group_size, teams, horizon, .. } => {
                let shapes = [false, true].map(|horizon| SliceShape { horizon, ..shape(teams, group_size) });
                shapes[..1 + usize::from(horizon)].to_vec()
            }
            Self::Thread { group_size: Some(group_size), .. } => vec![shape(group_size, group_size)],
            Self::Thread { group_size: None, .. } => THREADS.map(|(runs, size)| shape(runs, size)).to_vec(),
        }
    }
}

/// The shape of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SliceShape {
    /// The number of runs per workgroup.
    pub(super) runs: u32,
    /// The number of its invocations.
    pub(super) group_size: u32,
    /// Whether windows reach the event horizon.
    pub(super) horizon: bool,
}

impl SliceShape {
    /// Whether it needs another kernel than another shape.
    pub(super) fn has_another_kernel(self, other: Self) -> bool {
        Self { runs: 0, ..self } != Self { runs: 0, ..other }
    }
}

impl std::fmt::Display for SliceShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let windows = if self.horizon { ", event-horizon windows" } else { "" };
        write!(f, "{} runs per workgroup of {}{windows}", self.runs, self.group_size)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Recipes {
    pub(super) start: Recipe,
    pub(super) settle: Recipe,
    /// By shape: [`BatchMapping::shapes`].
    pub(super) slices: Vec<Recipe>,
    pub(super) digest: Recipe,
    pub(super) output: Option<Recipe>,
}

/// The workgroup size of kernels that start LPs and compute results.
pub(super) fn plain_group(gpu: &Gpu) -> u32 {
    group_size_at_most(gpu, 256)
}

impl Recipes {
    pub(super) fn new<M: Model>(model: &M, crowd: BatchMapping, int64: bool, plain: u32) -> Self {
        const RUN: &str = "pdes/replicas/run_of_replica.wgsl";
        const NO_PARAMS: &str = "pdes/replicas/params_none.wgsl";
        const MAILBOXES: &str = "pdes/replicas/mailboxes_of_replica.wgsl";
        // A replica's parameters are declared in `shaders/pdes/replicas/params_of_replica.wgsl`.
        let source = model.source().without_uniform("params");
        let params =
            if model.params_bytes().is_empty() { NO_PARAMS } else { "pdes/replicas/params_of_replica.wgsl" };
        let queue = match crowd {
            BatchMapping::Team { queue, .. } => Some(queue),
            BatchMapping::LocalTeam { .. } | BatchMapping::Thread { .. } => None,
        };
        let with = |entry, files: &[&'static str], size: u32, name: &str| {
            let mut sources: Vec<_> =
                [RUN, M::Payload::FILE].iter().chain(files).map(|file| shaders::file(file)).collect();
            let constants = queue.into_iter().flat_map(QueueDesign::constants);
            sources.extend(queue.and_then(QueueDesign::source));
            let size = [("GROUP_SIZE", f64::from(size))];
            Recipe::new(name, entry, sources).with(constants).with(size)
        };
        let with_model = |entry, files: &[&'static str], size| {
            let files = [files, &[params, product(int64)]].concat();
            with(entry, &files, size, &format!("{} {}", model.name(), files[0])).and(source.clone())
        };
        let alone = |entry, files: &[&'static str], size| {
            with(entry, &[files, &[NO_PARAMS]].concat(), size, files[0])
        };
        let slots = match crowd {
            BatchMapping::LocalTeam { far: true, .. } => "pdes/replicas/team_local_slots_far.wgsl",
            _ => "pdes/replicas/team_local_slots.wgsl",
        };
        let local_slice = [slots];
        let local_begin = ["pdes/replicas/team_local_start.wgsl", slots];
        let local_held = [
            "pdes/replicas/replica_digest.wgsl",
            "pdes/replicas/team_local_held.wgsl",
            "pdes/replicas/held_apart_none.wgsl",
            slots,
        ];
        let (begin, settle, slice, held): (&[_], _, &[_], &[_]) = match crowd {
            BatchMapping::Team { .. } => (
                &["pdes/queues/queues_start.wgsl"],
                ("settle_team", &["pdes/replicas/team_settle.wgsl", "pdes/queues/queues_start.wgsl"][..]),
                &[
                    "pdes/replicas/team.wgsl",
                    "pdes/queues/queues.wgsl",
                    "pdes/window/deliver_mail.wgsl",
                    MAILBOXES,
                    NO_OUTBOX,
                ],
                &[
                    "pdes/replicas/replica_digest.wgsl",
                    "pdes/queues/queues_held.wgsl",
                    "pdes/replicas/held_apart_none.wgsl",
                    MAILBOXES,
                ],
            ),
            BatchMapping::LocalTeam { .. } => {
                (&local_begin, ("settle_local", &local_begin[..]), &local_slice, &local_held)
            }
            BatchMapping::Thread { rounds, .. } => (
                &["pdes/replicas/thread_start.wgsl"],
                ("settle_thread", &["pdes/replicas/thread_start.wgsl"][..]),
                match rounds {
                    true => &["pdes/replicas/thread.wgsl", "pdes/replicas/thread_rounds.wgsl"],
                    false => &["pdes/replicas/thread.wgsl", "pdes/replicas/thread_rounds_none.wgsl"],
                },
                &["pdes/replicas/replica_digest.wgsl", "pdes/replicas/thread_held.wgsl"],
            ),
        };
        let entry = |shape: SliceShape| match crowd {
            BatchMapping::Team { .. } => "team",
            BatchMapping::LocalTeam { .. } if shape.horizon => "local_horizon",
            BatchMapping::LocalTeam { .. } => "local_windows",
            BatchMapping::Thread { .. } => "thread",
        };
        let of_way = |shape: SliceShape| match crowd {
            BatchMapping::Thread { local_keys, .. } if local_keys && keys_fit(shape.group_size) => {
                &["pdes/replicas/thread_keys_local.wgsl"][..]
            }
            BatchMapping::Thread { .. } => &["pdes/replicas/thread_keys.wgsl"],
            BatchMapping::LocalTeam { .. } if shape.horizon => &["pdes/replicas/team_local_horizon.wgsl"],
            BatchMapping::LocalTeam { .. } => &["pdes/replicas/team_local.wgsl"],
            BatchMapping::Team { .. } => &[],
        };
        let output = (size_of::<M::Output>() > 0)
            .then(|| with_model("write_outputs", &["pdes/results/output.wgsl"], plain));
        Self {
            start: with_model("start_lps", &[&["pdes/window/start.wgsl"], begin].concat(), plain),
            settle: alone(settle.0, settle.1, settle_group(plain)),
            slices: crowd
                .shapes()
                .into_iter()
                .map(|shape| {
                    let size = shape.group_size;
                    with_model(entry(shape), &[slice, of_way(shape)].concat(), size)
                        .with(crowd.constants(size))
                })
                .collect(),
            digest: alone("digest_replica", held, settle_group(plain)),
            output,
        }
    }
}

/// The kernels that start replicas and handle their events, a thread for each.
pub(in super::super) fn handler_kernels<M: Model>(model: &M) -> [Recipe; 2] {
    let thread = BatchMapping::Thread { group_size: Some(8), local_keys: false, rounds: false };
    let Recipes { start, mut slices, .. } = Recipes::new(model, thread, false, 256);
    [start, slices.swap_remove(0)]
}

/// All kernels that the replicas of `model` may link, except for the queue designs, which single
/// runs also link.
pub(in super::super) fn kernels<M: Model>(model: &M) -> Vec<Recipe> {
    let crowds = [
        BatchMapping::Team { group_size: 64, queue: QueueDesign::Heap },
        BatchMapping::LocalTeam { group_size: 64, pool: 256, teams: 1, horizon: true, far: false },
        BatchMapping::LocalTeam { group_size: 32, pool: 64, teams: 4, horizon: true, far: false },
        BatchMapping::LocalTeam { group_size: 64, pool: 256, teams: 1, horizon: true, far: true },
    ];
    let threads = [(None, true), (Some(8), false)].into_iter().flat_map(|(group_size, local_keys)| {
        [false, true].map(|rounds| BatchMapping::Thread { group_size, local_keys, rounds })
    });
    let all = crowds.into_iter().chain(threads).flat_map(|crowd| [false, true].map(|int64| (crowd, int64)));
    all.flat_map(|(crowd, int64)| {
        let Recipes { start, settle, mut slices, digest, output } = Recipes::new(model, crowd, int64, 256);
        slices.dedup();
        [start, settle, digest].into_iter().chain(slices).chain(output)
    })
    .collect()
}

shared! {
    "pdes/replicas/thread_keys_local.wgsl":
    const KEYS_LOCAL: u32;
}

/// Whether the keys of this many runs fit the workgroup memory that WebGPU guarantees.
fn keys_fit(group_size: u32) -> bool {
    16 * KEYS_LOCAL * group_size <= 16 << 10
}

/// The workgroup size of kernels that serve a replica between slices.
fn settle_group(plain: u32) -> u32 {
    plain.min(64)
}

/// Runs per workgroup, and the size of that workgroup, which may have idle invocations. There are
/// two kernels: more would compile long, and a larger workgroup takes scarce workgroup memory.
///
/// 48 KiB, as on NVIDIA's multiprocessors, hold 9 workgroups of 16 invocations or 4 of 32.
pub(super) const THREADS: [(u32, u32); 6] = [(1, 16), (4, 16), (8, 16), (16, 16), (20, 32), (32, 32)];

#[cfg(test)]
mod tests {
    use super::kernels;
    use crate::models::{FifoTorus, Phold};
    use crate::pdes::Model;
    use crate::time::Resolution;

    // If the lines in pdes/model.wgsl that the linker looks for change, it leaves them unchanged.
    fn states_go_by<M: Model>(model: &M, row: &str) {
        let with_states: Vec<_> = kernels(model)
            .iter()
            .map(|recipe| recipe.link().unwrap())
            .filter(|program| program.text().contains("fn states_set("))
            .collect();
        assert!(!with_states.is_empty());
        for program in with_states {
            let declared = format!("> states: array<{row}>;");
            assert!(program.device_text().contains(&declared), "{}", program.device_text());
        }
    }

    #[test]
    fn states_of_models_go_by_rows() {
        let units = Resolution::default();
        states_go_by(&Phold::new(4, 4, 0.1, 10.0, units).unwrap(), "vec2<u32>");
        states_go_by(&FifoTorus::new(4, 4, 1, 1.0, units).unwrap(), "vec4<u32>");
    }
}
