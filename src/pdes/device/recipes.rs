//! The engine's kernels: the files linked for a model, a queue design and a device.

use crate::gpu::{Gpu, Recipe, Source, Subgroups};
use crate::queue::QueueDesign;
use crate::shaders;

use super::cut::{CALENDAR_CHUNK, Cut, Outbox, Sort, at_once, group_size_at_most};
use super::declared::Declared;
use super::pool::Pool;
use super::strategy::Strategy;
use crate::pdes::contract::event::Payload;
use crate::pdes::contract::model::Model;
use crate::pdes::contract::sync::{Relax, Windows};

/// The files that define the pending event set: how far a window reaches, and what `schedule` does.
struct Files {
    run: &'static str,
    synchronise: &'static str,
    window: &'static [&'static str],
    start: &'static [&'static str],
    /// The entry point that orders the first events, and its file.
    settle: (&'static str, &'static str),
    held: &'static [&'static str],
    /// What inserts events from other parts, and the files it needs.
    arrive: (&'static str, &'static [&'static str]),
}

/// The parameters of a single run's kernels.
const RUN: &str = "pdes/run.wgsl";
const MAILBOXES: &str = "pdes/queues/mailboxes.wgsl";
/// Reductions in a workgroup: portable, and by subgroups of one size.
const REDUCE: &str = "gpu/reduce.wgsl";
const REDUCE_SUBGROUPS: &str = "gpu/reduce_subgroups.wgsl";
/// What `schedule` does with events for other parts in a run without parts.
pub(in crate::pdes) const NO_OUTBOX: &str = "pdes/parts/outbox_none.wgsl";

const SETTLE: (&str, &str) = ("settle_lps", "pdes/window/settle.wgsl");

const QUEUES: Files = Files {
    run: RUN,
    synchronise: "pdes/window/yawns.wgsl",
    window: &["pdes/queues/queues.wgsl", "pdes/window/deliver_mail.wgsl", MAILBOXES],
    start: &["pdes/window/yawns.wgsl", "pdes/queues/queues_start.wgsl", REDUCE],
    settle: SETTLE,
    held: &["pdes/queues/queues_held.wgsl", MAILBOXES],
    arrive: ("pdes/parts/arrive.wgsl", &[MAILBOXES]),
};

const CALENDAR: Files = Files {
    run: RUN,
    synchronise: "pdes/calendar/calendar_sync.wgsl",
    window: &["pdes/calendar/calendar_window.wgsl", "pdes/calendar/calendar_step.wgsl"],
    start: &["pdes/calendar/calendar_sync.wgsl", "pdes/calendar/calendar_start.wgsl", REDUCE],
    settle: SETTLE,
    held: &["pdes/calendar/calendar_held.wgsl"],
    arrive: ("pdes/calendar/calendar_arrive.wgsl", &[]),
};

const POOL_START: &str = "pdes/replicas/team_local_start.wgsl";
const POOL_HELD: &str = "pdes/replicas/team_local_held.wgsl";
const SLOTS: &str = "pdes/replicas/team_local_slots.wgsl";
const SLOTS_FAR: &str = "pdes/replicas/team_local_slots_far.wgsl";

/// The pool of a team. Its one workgroup needs no `gather`.
const POOL: Files = Files {
    run: "pdes/replicas/run_of_one.wgsl",
    window: &[SLOTS],
    start: &[POOL_START, SLOTS],
    settle: ("settle_local", POOL_START),
    held: &[POOL_HELD, SLOTS],
    ..QUEUES
};

/// The same with events in buffers.
const POOL_FAR: Files =
    Files { window: &[SLOTS_FAR], start: &[POOL_START, SLOTS_FAR], held: &[POOL_HELD, SLOTS_FAR], ..POOL };

/// Rows per invocation of a relaxation.
const RELAX_ROWS: u32 = 2;
/// The workgroup size of relaxations.
const RELAX_SIZE: u32 = 256;

#[derive(Debug)]
pub(in crate::pdes) struct Recipes {
    pub(in crate::pdes) start: Recipe,
    pub(in crate::pdes) settle: Recipe,
    /// The first dispatch of windows with two. In a team, a slice of event-horizon windows, after
    /// which `window` is a slice of a few others.
    pub(in crate::pdes) look: Option<Recipe>,
    /// The relaxation, dispatched several times after it.
    pub(in crate::pdes) relax: Option<Recipe>,
    /// Rows per workgroup of the relaxation.
    pub(in crate::pdes) relax_rows: u32,
    /// As in [`Choice`].
    pub(in crate::pdes) counted: bool,
    pub(in crate::pdes) window: Recipe,
    pub(in crate::pdes) gather: Recipe,
    pub(in crate::pdes) digest: Recipe,
    pub(in crate::pdes) digest_memory: Recipe,
    pub(in crate::pdes) count_held: Recipe,
    pub(in crate::pdes) export: Recipe,
    pub(in crate::pdes) import: Recipe,
    /// For a calendar: the time of the first event, by workgroup and overall.
    pub(in crate::pdes) first: Option<[Recipe; 2]>,
    /// Sorts the buckets of a calendar.
    pub(in crate::pdes) sort: Option<Recipe>,
    /// For a part of a run: inserts received events.
    pub(in crate::pdes) arrive: Option<Recipe>,
}

/// The properties of a device and of a run's sizes that select the linked files.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Choice {
    pub(in crate::pdes) strategy: Strategy,
    pub(in crate::pdes) int64: bool,
    pub(in crate::pdes) group_size: u32,
    pub(in crate::pdes) tiles: u32,
    /// The size of every subgroup in a window's workgroups, if it is known and their invocations
    /// are in order.
    pub(in crate::pdes) subgroup: Option<u32>,
    /// The size of workgroups that serve no LPs (the one that gathers partial reductions): as large
    /// as the device allows.
    pub(in crate::pdes) gather_size: u32,
    /// The workgroup size of relaxations, likewise.
    pub(in crate::pdes) relax_size: u32,
    /// Rows in each binding of the store, and the number of bindings, if there are several.
    pub(in crate::pdes) store: Option<(u32, u32)>,
    pub(in crate::pdes) pool: Option<Pool>,
    /// For a calendar.
    pub(in crate::pdes) buckets: u32,
    pub(in crate::pdes) sorted: Option<Sort>,
    /// The maximum number of events from which the executing thread picks.
    pub(in crate::pdes) picked: u32,
    /// Whether windows count iterations of loops in the library's files, too ([`Recipe::ending`]).
    pub(in crate::pdes) counted: bool,
    pub(in crate::pdes) outbox: Option<Outbox>,
    pub(in crate::pdes) declared: Declared,
}

/// Whether windows count iterations of loops in the library's files, too. Not counting is faster,
/// except in splay trees, and gives wrong results on llvmpipe (Mesa 22.3.6). The cause is unknown,
/// so all Mesa drivers count.
fn counted(gpu: &Gpu, queue: QueueDesign) -> bool {
    !queue.is_bounded() || gpu.is_software() || gpu.info().driver_info.contains("Mesa")
}

impl Choice {
    /// The choice for checking a model's file.
    pub(in crate::pdes) fn plain(declared: Declared) -> Self {
        let windows = Windows::EPOCHS;
        Self::usual(Strategy::usual(windows), declared)
    }

    /// A choice for any device.
    pub(in crate::pdes) fn usual(strategy: Strategy, declared: Declared) -> Self {
        Self {
            strategy,
            int64: false,
            group_size: 256,
            tiles: 1,
            subgroup: None,
            gather_size: 256,
            relax_size: RELAX_SIZE,
            store: None,
            pool: None,
            buckets: 0,
            sorted: None,
            picked: 32,
            counted: false,
            outbox: None,
            declared,
        }
    }

    pub(in crate::pdes) fn new(gpu: &Gpu, strategy: Strategy, declared: Declared, cut: &Cut) -> Self {
        Self {
            strategy,
            int64: gpu.has(wgpu::Features::SHADER_INT64),
            group_size: cut.group_size,
            tiles: cut.tiles,
            subgroup: Subgroups::in_order(gpu, cut.group_size).filter(|_| strategy.queue.lanes() == 1),
            gather_size: group_size_at_most(gpu, 256),
            relax_size: group_size_at_most(gpu, RELAX_SIZE),
            store: (cut.store_parts() > 1).then_some((cut.store_rows, cut.store_parts())),
            pool: cut.pool,
            buckets: cut.buckets,
            sorted: cut.sort,
            picked: cut.picked(),
            counted: counted(gpu, strategy.queue),
            outbox: cut.outbox,
            declared,
        }
    }
}

impl Recipes {
    /// The kernels of the model called `name`, with the file `source` and events with payload `P`.
    pub(in crate::pdes) fn new<P: Payload>(name: &str, source: &Source, choice: Choice) -> Self {
        let Choice {
            strategy,
            int64,
            group_size,
            tiles,
            subgroup,
            gather_size,
            relax_size,
            store: stores,
            pool,
            buckets,
            sorted,
            picked,
            counted,
            outbox,
            declared,
        } = choice;
        let queue = strategy.queue;
        let files = match pool {
            Some(Pool { is_far: true, .. }) => POOL_FAR,
            Some(_) => POOL,
            None if buckets > 0 => CALENDAR,
            None => QUEUES,
        };
        let product = product(int64);
        let store =
            if stores.is_some() { "pdes/memory/store_many.wgsl" } else { "pdes/memory/store_one.wgsl" };
        // Kernels with one invocation per LP have one for each LP that a window's workgroup serves
        // at once.
        let at_once = if pool.is_some() { group_size } else { at_once(group_size, queue.lanes()) };
        let sizes = [("GROUP_SIZE", f64::from(at_once)), ("TILES", f64::from(tiles))];
        let chunk = ("CALENDAR_CHUNK", f64::from(CALENDAR_CHUNK));
        let calendar = (buckets > 0).then_some([("CALENDAR_BUCKETS", f64::from(buckets)), chunk]);
        let cut = stores.map(|(rows, bindings)| {
            [("STORE_ROWS", f64::from(rows)), ("STORE_BINDINGS", f64::from(bindings))]
        });
        // Links `kernel`, `more`, the payload, and the files of a calendar's memory or of a queue.
        let with_pending = |entry, kernel: &'static str, more: &[&'static str], stored: bool, name: &str| {
            // (Epochs and draws use the product.)
            let mut paths = vec![kernel, files.run, product];
            paths.extend(more);
            paths.push(P::FILE);
            let stored = stored || calendar.is_some();
            paths.extend(stored.then_some(store));
            let mut sources: Vec<_> = paths.into_iter().map(shaders::file).collect();
            let queue = pool.is_none().then_some(queue);
            sources.extend(queue.and_then(QueueDesign::source));
            let constants = queue.into_iter().flat_map(QueueDesign::constants);
            let recipe = Recipe::new(name, entry, sources).with(constants).with(sizes);
            recipe.with(calendar.into_iter().flatten()).with(cut.into_iter().flatten().filter(|_| stored))
        };
        let with_model = |entry, kernel: &'static str, more: &[&'static str], stored| {
            with_pending(entry, kernel, more, stored, &format!("{name} {kernel}")).and(source.clone())
        };
        let begin = files.start;
        let reduce = if subgroup.is_some() { REDUCE_SUBGROUPS } else { REDUCE };
        let subgroup = subgroup.map(|size| ("SUBGROUP", f64::from(size)));
        let look = strategy.windows.look.as_ref();
        let relax = look.and_then(|look| look.relax.as_ref());
        let synchronise = look.map_or(std::slice::from_ref(&files.synchronise), |look| look.reach);
        let defaults = |&Relax { answer, next, .. }: &Relax| {
            [(!declared.answer).then_some(answer), (!declared.next).then_some(next)].into_iter().flatten()
        };
        let dry = if declared.earliest {
            "pdes/horizon/speculate_earliest.wgsl"
        } else {
            "pdes/horizon/speculate.wgsl"
        };
        let held = |entry, kernel| with_pending(entry, kernel, files.held, false, kernel);
        let gather = |entry, kernel| {
            with_pending(entry, kernel, &[REDUCE], false, kernel)
                .with([("GROUP_SIZE", f64::from(gather_size))])
        };
        let (window, window_file) = match (queue.lanes(), tiles) {
            (1, 1) => ("window", "pdes/window/window.wgsl"),
            (1, _) => ("window_tiles", "pdes/window/window.wgsl"),
            _ => ("window_team", "pdes/window/window_team.wgsl"),
        };
        let away = if outbox.is_some() { "pdes/parts/outbox.wgsl" } else { NO_OUTBOX };
        let parts = outbox.map(|Outbox { parts, own, room }| {
            let after = if buckets > 0 { buckets + 3 } else { 3 };
            [("OUTBOX_PARTS", parts), ("OUTBOX_OWN", own), ("OUTBOX_ROOM", room), ("OUTBOX_AFTER", after)]
                .map(|(name, value)| (name, f64::from(value)))
        });
        // The windows of a team: slices of one or the other kind may follow each other.
        let slices = pool.map(|Pool { slots, lists, .. }| {
            let constants = [("GROUP_SIZE", lists), ("POOL", slots), ("LISTS", lists), ("TEAMS", 1)];
            let constants = constants.map(|(name, value)| (name, f64::from(value)));
            let slice = |entry, kernel| with_model(entry, kernel, files.window, false).with(constants);
            let horizon = || slice("local_horizon", "pdes/replicas/team_local_horizon.wgsl");
            (look.map(|_| horizon()), slice("local_windows", "pdes/replicas/team_local.wgsl"))
        });
        let (slice_ahead, slice) = slices.unzip();
        let transfer = [("GROUP_SIZE", f64::from(group_size))];
        let first = "pdes/calendar/calendar_first.wgsl";
        Self {
            start: with_model("start_lps", "pdes/window/start.wgsl", begin, false),
            settle: with_pending(files.settle.0, files.settle.1, begin, false, files.settle.1),
            look: slice_ahead.unwrap_or_else(|| {
                look.map(|look| {
                    let mut files = vec![dry, MAILBOXES, reduce, look.answers];
                    files.extend(relax.into_iter().flat_map(defaults));
                    let overrides = look.overrides.iter().map(|&(name, value)| (name, f64::from(value)));
                    with_model("look_ahead", look.file, &files, false).with(subgroup).with(overrides)
                })
            }),
            relax: relax.map(|relax| {
                with_model("relax", relax.file, &[], false).with([("GROUP_SIZE", f64::from(relax_size))])
            }),
            relax_rows: RELAX_ROWS * relax_size,
            counted,
            window: slice.unwrap_or_else(|| {
                let files = [synchronise, files.window, &[away, reduce]].concat();
                with_model(window, window_file, &files, true)
                    .with(subgroup)
                    .with([("GROUP_SIZE", f64::from(at_once * queue.lanes()))])
                    .with((buckets > 0).then_some(("PICK_MOST", f64::from(picked))))
                    .with(parts.into_iter().flatten())
            }),
            gather: gather("gather", files.synchronise),
            digest: held("digest", "pdes/results/digest.wgsl"),
            digest_memory: Recipe::new(
                "pdes/results/digest_memory.wgsl",
                "digest_memory",
                ["pdes/results/digest_memory.wgsl", RUN, P::FILE].map(shaders::file),
            )
            .with([("GROUP_SIZE", f64::from(gather_size))]),
            count_held: held("count_held", "pdes/memory/export.wgsl").with(transfer),
            export: held("export_events", "pdes/memory/export.wgsl").with(transfer),
            import: with_pending(
                "import_events",
                "pdes/memory/import.wgsl",
                begin,
                false,
                "pdes/memory/import.wgsl",
            )
            .with(transfer),
            sort: sorted.map(|sort| {
                let file = "pdes/calendar/calendar_sort.wgsl";
                let ranks = match sort.bins {
                    0 => "pdes/calendar/calendar_sort_all.wgsl",
                    _ => "pdes/calendar/calendar_sort_bins.wgsl",
                };
                let reduce = if sort.subgroup.is_some() { REDUCE_SUBGROUPS } else { REDUCE };
                with_pending("sort_buckets", file, &[ranks, reduce], false, file)
                    .with([("GROUP_SIZE", f64::from(sort.group_size)), ("SORT_TEAM", f64::from(sort.team))])
                    .with((sort.bins > 0).then_some(("SORT_BINS", f64::from(sort.bins))))
                    .with(sort.subgroup.map(|size| ("SUBGROUP", f64::from(size))))
            }),
            arrive: parts.map(|_| {
                let (file, more) = files.arrive;
                with_pending("arrive", file, more, true, file).with([("GROUP_SIZE", f64::from(gather_size))])
            }),
            first: calendar.map(|_| {
                [with_pending("first_rows", first, &[REDUCE], false, first), gather("first_of_all", first)]
            }),
        }
    }
}

impl Recipes {
    /// All kernels except those of windows and of parts of a run.
    pub(in crate::pdes) fn others(self) -> impl Iterator<Item = Recipe> {
        let Self {
            start,
            settle,
            gather,
            digest,
            digest_memory,
            count_held,
            export,
            import,
            first,
            sort,
            ..
        } = self;
        let all = [start, settle, gather, digest, digest_memory, count_held, export, import];
        all.into_iter().chain(first.into_iter().flatten()).chain(sort)
    }
}

pub(in crate::pdes) fn product(int64: bool) -> &'static str {
    if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" }
}

/// The kernel that calls the model's `output`.
pub(in crate::pdes) fn output<M: Model>(model: &M, int64: bool, group_size: u32) -> Recipe {
    let files = ["pdes/results/output.wgsl", RUN, product(int64), M::Payload::FILE];
    Recipe::new(
        format!("{} pdes/results/output.wgsl", model.name()),
        "write_outputs",
        files.map(shaders::file),
    )
    .with([("GROUP_SIZE", f64::from(group_size))])
    .and(model.source())
}

/// The kernels for results of any model: entry point `totals` or `classify`.
pub(in crate::pdes) fn totals(entry: &'static str, group_size: u32) -> Recipe {
    Recipe::new("pdes/results/totals.wgsl", entry, [shaders::file("pdes/results/totals.wgsl")])
        .with([("GROUP_SIZE", f64::from(group_size))])
}
