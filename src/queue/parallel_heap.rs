//! The parallel heap: one queue for the whole device, in bulk. `shaders/queue/parallel_heap.wgsl`
//! documents the algorithm.

use crate::ErrorKind;
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};
use crate::shaders;

/// An item of a [`ParallelHeap`]: timestamp (low word, high word), then a payload of two words.
///
/// The order is total: by the timestamp, then by the payload words, one after the other. Items that
/// are equal in all words are interchangeable.
pub type HeapItem = [u32; 4];

shared! {
    "queue/parallel_heap.wgsl":
    /// The numbers of items that a plan of [`ParallelHeap::bind`] inserts and deletes, read on the
    /// device when it runs.
    #[derive(PartialEq, Eq, Default)]
    pub struct HeapBatch {
        /// Items to insert: the first ones of the plan's `inserts`.
        pub to_insert: u32,
        /// Items to delete, if the heap has as many.
        pub to_delete: u32,
        /// The number of deleted items, written by the plan.
        pub deleted: u32,
    }
}

/// Why a parallel heap could not be created or used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ParallelHeapError {
    /// The device failed, or refused a buffer or a kernel. The heap has the contents after the last
    /// plan that ran.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// An unsupported number of items per node. No heap was created.
    #[error("nodes of {node} items: choose a power of two from {least} to {most}", least = NODES.0, most = NODES.1)]
    Node {
        /// The requested number of items per node.
        node: u32,
    },
    /// A batch would have exceeded the capacity of the heap. Neither this batch nor later ones
    /// inserted or deleted anything, and nothing was lost: the heap is unchanged and can be used
    /// again.
    #[error(
        "the heap would have to hold {needed} items and has a capacity of {capacity}; the batch was not executed. \
         Delete items first, or create a heap of at least that capacity"
    )]
    Full {
        /// The number of items it would have to hold.
        needed: u32,
        /// The capacity in items.
        capacity: u32,
    },
    /// A batch has more items to insert than its plan's buffer holds. Neither this batch nor later
    /// ones were executed: the heap is unchanged and can be used again.
    #[error(
        "a batch has {count} items to insert, and its plan is bound to a buffer of {limit} items: bind it to a longer one"
    )]
    Inserts {
        /// The number of items to insert.
        count: u32,
        /// The maximum number of items.
        limit: u32,
    },
    /// The same for items to delete.
    #[error(
        "a batch has {count} items to delete, and its plan is bound to a buffer of {limit} items: bind it to a longer one"
    )]
    Deletes {
        /// The number of items to delete.
        count: u32,
        /// The maximum number of items.
        limit: u32,
    },
}

crate::text::debug_is_display!(ParallelHeapError);

impl ParallelHeapError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Full { .. } => ErrorKind::Fault,
            Self::Node { .. } | Self::Inserts { .. } | Self::Deletes { .. } => ErrorKind::Usage,
        }
    }
}

/// One priority queue for the whole device, which inserts and deletes many items at a time (Baudis
/// et al., section III.C; He et al.): a heap with hundreds of sorted items in each node.
///
/// Its unit of work is the *cycle* (figure 1 of the paper): insert up to a node's number of items,
/// then delete up to as many of the smallest. A cycle is three dispatches for any size of the heap:
/// work descends the levels while later cycles begin at the root. Results are exact: each cycle
/// deletes the smallest of all items inserted before or with it.
///
/// ```
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::queue::ParallelHeap;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gpu = Gpu::new()?;
/// let heap = ParallelHeap::new(&gpu, 10_000)?;
/// let events: Vec<[u32; 4]> = (0..5000).rev().map(|time| [time, 0, 7, 7]).collect();
/// heap.exchange(&gpu, &events, 0)?;
/// assert_eq!(heap.len(&gpu)?, 5000);
///
/// // Takes in one more, then gives out the first three.
/// let first = heap.exchange(&gpu, &[[1, 0, 0, 0]], 3)?;
/// assert_eq!(first, [[0, 0, 7, 7], [1, 0, 0, 0], [1, 0, 7, 7]]);
/// # Ok(())
/// # }
/// ```
///
/// [`ParallelHeap::bind`] does the same for buffers, between the caller's own dispatches and
/// without the host.
///
/// Clones share the queue.
#[derive(Debug, Clone)]
pub struct ParallelHeap {
    capacity: u32,
    node: u32,
    levels: u32,
    kernels: [Kernel; 3],
    items: Buffer<HeapItem>,
    insertions: Buffer<Insertion>,
    sinks: Buffer<u32>,
    heap: Buffer<Heap>,
    failure: Buffer<Failure>,
}

/// The minimum and maximum number of items in a node: a workgroup sorts them, in 16 KiB.
const NODES: (u32, u32) = (64, 1024);

impl ParallelHeap {
    /// The default number of items per node: the maximum that a workgroup can sort.
    pub const NODE: u32 = NODES.1;

    /// Creates an empty heap that can hold `capacity` items.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if it does not fit a binding (128 MiB in WebGPU's baseline, which is
    /// 8 million items), or if the device fails.
    pub fn new(gpu: &Gpu, capacity: u32) -> Result<Self, ParallelHeapError> {
        Self::with_node(gpu, capacity, Self::NODE)
    }

    /// The same with `node` items in a node: a power of two from 64 to 1024.
    ///
    /// A cycle handles up to `node` items in three dispatches. So larger nodes need fewer
    /// dispatches for the same items; smaller ones waste less if a cycle has few items.
    ///
    /// # Errors
    /// As [`ParallelHeap::new`], and [`ParallelHeapError::Node`].
    #[doc(hidden)]
    pub fn with_node(gpu: &Gpu, capacity: u32, node: u32) -> Result<Self, ParallelHeapError> {
        if !node.is_power_of_two() || !(NODES.0..=NODES.1).contains(&node) {
            return Err(ParallelHeapError::Node { node });
        }
        // A node has two children or none.
        let nodes = capacity.div_ceil(node).max(3) | 1;
        let levels = nodes.ilog2() + 1;
        let slots = 2 * levels - 1;
        let [gather, even, odd] = recipes(node);
        Ok(Self {
            capacity,
            node,
            levels,
            kernels: [kernel(gpu, &gather)?, kernel(gpu, &even)?, kernel(gpu, &odd)?],
            items: Buffer::storage(gpu, "heap items", u64::from(slots + nodes) * u64::from(node))?,
            insertions: Buffer::storage(gpu, "heap insertions", slots.into())?,
            sinks: Buffer::storage(gpu, "heap sinks", levels.into())?,
            heap: Buffer::storage(gpu, "heap", 1)?,
            failure: Buffer::storage(gpu, "heap failure", 1)?,
        })
    }

    /// The maximum number of items.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Items per node, and the maximum per cycle.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// The number of items, after all work submitted before.
    ///
    /// # Errors
    /// If the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn len(&self, gpu: &Gpu) -> Result<u32, ParallelHeapError> {
        pollster::block_on(self.len_async(gpu))
    }

    /// [`ParallelHeap::len`] without blocking.
    ///
    /// # Errors
    /// As [`ParallelHeap::len`].
    pub async fn len_async(&self, gpu: &Gpu) -> Result<u32, ParallelHeapError> {
        Ok(self.heap.read_async(gpu).await?[0].held)
    }

    /// Whether it holds no items.
    ///
    /// # Errors
    /// If the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn is_empty(&self, gpu: &Gpu) -> Result<bool, ParallelHeapError> {
        Ok(self.len(gpu)? == 0)
    }

    /// Binds a batch to buffers: returns a plan of dispatches only, which can be recorded any
    /// number of times.
    ///
    /// Each time it runs, it inserts the first `to_insert` items of `inserts`, in any order, and
    /// then deletes the `to_delete` smallest items of the heap, or all if it has fewer. It writes
    /// them to the beginning of `deletes`, in order, and their number to `deleted`; the rest of
    /// `deletes` is unchanged. All of `inserts` is read before anything of `deletes` is written, so
    /// the two may be one buffer. For no inserts or no deletes, use an empty buffer.
    ///
    /// The plan has a cycle for each [`ParallelHeap::node`] items of `inserts`, and one for each of
    /// `deletes`; the last cycle that inserts is the first that deletes, so buffers of one node
    /// need one cycle. At no time may the heap exceed its capacity. If a batch cannot be executed,
    /// it changes nothing, nor do later ones, until [`ParallelHeap::check`] has reported it.
    ///
    /// # Errors
    /// If the device fails.
    pub fn bind(
        &self,
        gpu: &Gpu,
        batch: &Buffer<HeapBatch>,
        inserts: &Buffer<HeapItem>,
        deletes: &Buffer<HeapItem>,
    ) -> Result<Plan, ParallelHeapError> {
        let mut plan = Plan::new("parallel heap");
        for params in self.cycles(length(inserts), length(deletes)) {
            let params = Buffer::uniform(gpu, "heap cycle", &params)?;
            let buffers = [
                ("params", params.binding()),
                ("batch", batch.binding()),
                ("inserts", inserts.binding()),
                ("deletes", deletes.binding()),
                ("items", self.items.binding()),
                ("insertions", self.insertions.binding()),
                ("sinks", self.sinks.binding()),
                ("heap", self.heap.binding()),
                ("failure", self.failure.binding()),
            ];
            for (kernel, workgroups) in self.kernels.iter().zip([1, self.levels.div_ceil(2), self.levels / 2])
            {
                plan.dispatch(gpu, kernel, workgroups, &buffers)?;
            }
        }
        Ok(plan)
    }

    /// The cycles of a batch with buffers for `insert_most` and `delete_most` items.
    fn cycles(&self, insert_most: u32, delete_most: u32) -> impl Iterator<Item = Params> {
        let Self { capacity, levels, node, .. } = *self;
        // The last cycle that inserts is the first that deletes.
        let early = insert_most.div_ceil(node).max(1) - 1;
        let cycles = early + delete_most.div_ceil(node).max(1);
        (0..cycles).map(move |cycle| Params {
            capacity,
            levels,
            first: (cycle == 0).into(),
            insert_most,
            delete_most,
            insert_early: early * node,
            insert_first: cycle * node,
            delete_first: cycle.saturating_sub(early) * node,
            delete_room: if cycle < early { 0 } else { node },
        })
    }

    /// Waits for the work submitted before, and reports the first batch in it that was not
    /// executed. This resets the failure: the heap, with the contents before that batch, can be
    /// used again.
    ///
    /// # Errors
    /// [`ParallelHeapError::Full`], [`ParallelHeapError::Inserts`] and
    /// [`ParallelHeapError::Deletes`] if there was such a batch, and errors of the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn check(&self, gpu: &Gpu) -> Result<(), ParallelHeapError> {
        pollster::block_on(self.check_async(gpu))
    }

    /// [`ParallelHeap::check`] without blocking.
    ///
    /// # Errors
    /// As [`ParallelHeap::check`].
    pub async fn check_async(&self, gpu: &Gpu) -> Result<(), ParallelHeapError> {
        let Failure { kind, found, limit } = self.failure.read_async(gpu).await?[0];
        let error = match kind {
            0 => return Ok(()),
            FAILURE_FULL => ParallelHeapError::Full { needed: found, capacity: limit },
            FAILURE_INSERTS => ParallelHeapError::Inserts { count: found, limit },
            _ => ParallelHeapError::Deletes { count: found, limit },
        };
        self.failure.write(gpu, 0, &[Failure::default()])?;
        Err(error)
    }

    /// Executes a batch from the host: inserts `items`, in any order, then deletes the `delete`
    /// smallest items of the heap, or all if it has fewer, and returns them in order.
    ///
    /// # Errors
    /// As [`ParallelHeap::check`]. If a batch bound by the caller failed before, that is reported
    /// instead, and this batch is not executed.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn exchange(
        &self,
        gpu: &Gpu,
        items: &[HeapItem],
        delete: u32,
    ) -> Result<Vec<HeapItem>, ParallelHeapError> {
        pollster::block_on(self.exchange_async(gpu, items, delete))
    }

    /// [`ParallelHeap::exchange`] without blocking.
    ///
    /// # Errors
    /// As [`ParallelHeap::exchange`].
    pub async fn exchange_async(
        &self,
        gpu: &Gpu,
        items: &[HeapItem],
        delete: u32,
    ) -> Result<Vec<HeapItem>, ParallelHeapError> {
        let inserts = Buffer::storage_from(gpu, "heap inserts", items)?;
        let deletes = Buffer::storage(gpu, "heap deletes", delete.into())?;
        let batch = HeapBatch { to_insert: length(&inserts), to_delete: delete, deleted: 0 };
        let batch = Buffer::storage_from(gpu, "heap batch", &[batch])?;
        self.bind(gpu, &batch, &inserts, &deletes)?.submit(gpu)?;
        self.check_async(gpu).await?;
        let deleted = batch.read_async(gpu).await?[0].deleted;
        Ok(deletes.read_range(gpu, 0, deleted.into()).await?)
    }
}

fn length(buffer: &Buffer<HeapItem>) -> u32 {
    u32::try_from(buffer.len()).expect("a buffer has less than 2^32 bytes")
}

/// Gather, even levels, odd levels.
fn recipes(node: u32) -> [Recipe; 3] {
    let recipe = |file: &str, entry| {
        let source = shaders::file(&format!("queue/{file}.wgsl"));
        let constants = [("NODE", node.into()), ("GROUP_SIZE", node.min(256).into())];
        Recipe::new(format!("queue/{file}"), entry, [source]).with(constants)
    };
    [
        recipe("parallel_heap_gather", "gather"),
        recipe("parallel_heap_levels", "even_levels"),
        recipe("parallel_heap_levels", "odd_levels"),
    ]
}

/// All kernels that the module may build, with the smallest and the largest nodes.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    [NODES.0, NODES.1].into_iter().flat_map(recipes).collect()
}

fn kernel(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: see `// bounds:` in shaders/queue/parallel_heap.wgsl and in the files next to it.
    unsafe { recipe.trusted(gpu) }
}

shared! {
    "queue/parallel_heap.wgsl":
    // The third kind is `FAILURE_DELETES`.
    const FAILURE_FULL: u32;
    const FAILURE_INSERTS: u32;
}

shared! {
    "queue/parallel_heap.wgsl":
    #[derive(PartialEq, Eq)]
    struct Params {
        capacity: u32,
        levels: u32,
        first: u32,
        insert_most: u32,
        delete_most: u32,
        insert_early: u32,
        insert_first: u32,
        delete_first: u32,
        delete_room: u32,
    }

    struct Insertion {
        node: u32,
        count: u32,
    }

    struct Heap {
        held: u32,
        ready: u32,
        leaving: u32,
    }

    #[derive(Default)]
    struct Failure {
        kind: u32,
        found: u32,
        limit: u32,
    }
}
