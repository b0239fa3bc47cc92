//! The kernels of searches, and their memory.

use bytemuck::{Pod, Zeroable};

use super::mapping::{OpenList, Shape};
use super::{Graph, Grid, Heuristic, SearchError};
use crate::gpu::{Allowed, Buffer, Declaration, Gpu, GpuError, Kernel, Plan, Recipe, Source};
use crate::queue::QueueDesign;
use crate::shaders;

shared! {
    "search/slots.wgsl":
    #[derive(Default, PartialEq, Eq)]
    pub struct Work as SearchWork {
        pub(super) width: u32,
        pub(super) height: u32,
        pub(super) cells: u32,
        pub(super) straight: u32,
        pub(super) diagonal: u32,
        pub(super) far: u32,
        pub(super) near: u32,
        pub(super) directions: u32,
        pub(super) range: u32,
        pub(super) searches: u32,
        pub(super) slots: u32,
        pub(super) capacity: u32,
        pub(super) stride: u32,
        pub(super) steps: u32,
        pub(super) all_paths: u32,
        pub(super) count: u32,
        pub(super) delta: u32,
        pub(super) path_room: u32,
        pub(super) drain: u32,
    }

    #[derive(Default, PartialEq, Eq)]
    pub(super) struct Record {
        pub(super) status: u32,
        pub(super) cost: u32,
        pub(super) expanded: u32,
        pub(super) path_cells: u32,
        pub(super) path_first: u32,
        pub(super) drain: u32,
    }
}

shared! {
    "search/slots.wgsl":
    pub(super) const FOUND: u32 as RECORD_FOUND;
    pub(super) const NONE: u32 as RECORD_NONE;
    pub(super) const FULL: u32 as RECORD_FULL;
    pub(super) const BROKEN: u32 as RECORD_BROKEN;
    pub(super) const PLACE_NONE: u32;
}

shared! {
    "search/slots.wgsl":
    pub(super) struct Slot {
        status: u32,
        search: u32,
        start: u32,
        goal: u32,
        epoch: u32,
        best: u32,
        dropped: u32,
        cursor: u32,
        open: [u32; 4],
        more: [u32; 4],
    }
}

/// `CONTROL_NEXT` and the following constants.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct Control {
    pub(super) next: u32,
    pub(super) ended: u32,
    pub(super) cut: u32,
    pub(super) hold: u32,
    pub(super) paths: u32,
    pub(super) full: u32,
    pub(super) writing: u32,
}

/// A space on the device.
#[derive(Debug)]
pub struct Map {
    /// Buffers by their WGSL names.
    buffers: Vec<(&'static str, Buffer<u32>)>,
    files: Files,
}

#[cfg(not(target_arch = "wasm32"))]
impl Map {
    /// Compiles the kernels of searches, and of walks along paths if these are wanted.
    pub(super) fn compile(&self, gpu: &Gpu, shape: Shape, paths: bool) -> Result<(), GpuError> {
        search_kernel(gpu, shape, &self.files)?;
        if paths {
            // SAFETY: this kernel has no queue.
            unsafe { trusted(gpu, &walking(&self.files))? };
        }
        Ok(())
    }
}

/// The additional buffers for walks along paths, by their WGSL names.
pub(super) type WalkMap = Vec<(&'static str, Buffer<u32>)>;

/// The WGSL files of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Files {
    /// A map, and whether all its passable cells have the terrain 1.
    Grid { uniform: bool },
    /// A graph with the file of a heuristic, and whether that is the library's own.
    Graph { heuristic: Source, own: bool },
}

impl Map {
    pub(super) fn of_grid(gpu: &Gpu, grid: &Grid) -> Result<Self, GpuError> {
        let upload = |label, mut bytes: Vec<u8>| {
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            Buffer::storage_from(gpu, label, &bytemuck::pod_collect_to_vec::<u8, u32>(&bytes))
        };
        let mut buffers = vec![("allowed", upload("search: moves", grid.allowed())?)];
        if !grid.uniform() {
            buffers.push(("terrain", upload("search: terrain", grid.terrain().to_vec())?));
        }
        Ok(Self { buffers, files: Files::Grid { uniform: grid.uniform() } })
    }

    pub(super) fn of_graph(
        gpu: &Gpu,
        graph: &Graph,
        heuristic: &dyn Heuristic,
        own: bool,
    ) -> Result<Self, SearchError> {
        let files = Files::Graph { heuristic: heuristic.source(), own };
        if !own {
            files.check()?;
        }
        let upload = |label, words: &[u32]| Buffer::storage_from(gpu, label, words);
        let buffers = vec![
            ("arcs", upload("search: arcs", &graph.words())?),
            ("data", upload("search: data of the heuristic", &heuristic.data())?),
        ];
        Ok(Self { buffers, files })
    }
}

impl Files {
    fn no_heuristic() -> Self {
        Self::Graph { heuristic: shaders::file("search/guess_none.wgsl"), own: true }
    }

    /// The files for searches by threads.
    fn threads(&self) -> Vec<Source> {
        match self {
            Self::Grid { .. } => [&[shaders::file("search/relax.wgsl")], &self.others()[..]].concat(),
            Self::Graph { heuristic, .. } => vec![heuristic.clone(), shaders::file("search/graph.wgsl")],
        }
    }

    /// The files for the mappings of maps.
    fn others(&self) -> Vec<Source> {
        let Self::Grid { uniform } = self else { return Vec::new() };
        vec![shaders::file(if *uniform { "search/terrain_one.wgsl" } else { "search/terrain_bytes.wgsl" })]
    }

    /// The files for walks.
    fn walks(&self) -> Vec<Source> {
        match self {
            Self::Grid { .. } => [&[shaders::file("search/walk_grid.wgsl")], &self.others()[..]].concat(),
            Self::Graph { .. } => vec![shaders::file("search/walk_graph.wgsl")],
        }
    }

    /// Checks the contract of a user heuristic.
    fn check(&self) -> Result<(), SearchError> {
        const CONTRACT: [Declaration; 1] = [Declaration {
            keyword: "fn",
            name: "estimate",
            text: "fn estimate(vertex: u32, goal: u32) -> u32",
        }];
        let Self::Graph { heuristic, .. } = self else { return Ok(()) };
        let shape = Shape { open: OpenList::Queue(QueueDesign::Heap), group_size: 32 };
        let program =
            searching(shape, self).link().map_err(|error| match heuristic.lacks(&CONTRACT, &error) {
                Some(problem) => SearchError::Contract { file: heuristic.name().to_owned(), problem },
                None => error.into(),
            })?;
        let functions = &["mul_wide", "wide_add", "wide_subtract", "wide_less"];
        program.check_user(&Allowed { functions, variables: &["data"], written: &[] })?;
        Ok(program.check_integers(
            "Each comparison repeats the estimates, and WGSL guarantees the same bits only for integers: compute with u32 and i32",
        )?)
    }
}

/// A space as `shaders/search/fronts.wgsl` expects it.
#[derive(Debug)]
pub struct FrontMap {
    map: Map,
    cells: u32,
}

impl FrontMap {
    pub(super) fn of_grid(gpu: &Gpu, grid: &Grid) -> Result<Self, GpuError> {
        Ok(Self { map: Map::of_grid(gpu, grid)?, cells: grid.cells() })
    }

    pub(super) fn of_graph(gpu: &Gpu, graph: &Graph) -> Result<Self, SearchError> {
        let limit = u32::MAX;
        let cut = graph.cut().ok_or(SearchError::Arcs { arcs: graph.arcs() as usize, limit })?;
        let buffers = vec![("arcs", Buffer::storage_from(gpu, "wavefronts: arcs", &cut.words())?)];
        Ok(Self { map: Map { buffers, files: Files::no_heuristic() }, cells: cut.vertices() })
    }

    /// Cells of a row.
    pub(super) fn cells(&self) -> u32 {
        self.cells
    }

    pub(super) fn bindings(&self) -> impl Iterator<Item = (&'static str, wgpu::BindingResource<'_>)> {
        self.map.buffers.iter().map(|(name, buffer)| (*name, buffer.binding()))
    }

    /// `front_begin`, `front_pass`, `front_decide` and `front_gather`.
    pub(super) fn recipes(&self) -> [Recipe; 4] {
        fronts(&self.map.files)
    }
}

fn fronts(files: &Files) -> [Recipe; 4] {
    let moves = match files {
        Files::Grid { .. } => "search/fronts_grid.wgsl",
        Files::Graph { .. } => "search/fronts_graph.wgsl",
    };
    let sources = [["search/fronts.wgsl", moves].map(shaders::file).to_vec(), files.others()].concat();
    ["front_begin", "front_pass", "front_decide", "front_gather"]
        .map(|entry| Recipe::new("search/fronts", entry, sources.clone()))
}

/// Slots, and their shared buffers.
#[derive(Debug)]
pub(super) struct Memory {
    /// The shape of the lists.
    pub(super) shape: Shape,
    pub(super) slots: u32,
    pub(super) capacity: u32,
    slot: Buffer<Slot>,
    marks: Buffer<u32>,
    open: Buffer<[u32; 2]>,
    pub(super) work: Buffer<Work>,
    pub(super) control: Buffer<Control>,
    pub(super) paths: Option<Buffer<u32>>,
}

impl Memory {
    /// `slots` slots with open lists of `capacity` items.
    pub(super) fn new(
        gpu: &Gpu,
        shape: Shape,
        cells: u32,
        (slots, capacity): (u32, u32),
        path_room: u32,
    ) -> Result<Self, GpuError> {
        let items = shape.open.items_of(slots, capacity);
        Ok(Self {
            shape,
            slots,
            capacity,
            slot: Buffer::storage(gpu, "search: slots", slots.into())?,
            marks: Buffer::storage(gpu, "search: marks", u64::from(slots) * u64::from(cells))?,
            open: Buffer::storage(gpu, "search: open lists", items)?,
            work: Buffer::uniform(gpu, "search: work", &Work::zeroed())?,
            control: Buffer::storage(gpu, "search: control", 1)?,
            paths: match path_room {
                0 => None,
                room => Some(Buffer::storage(gpu, "search: paths", room.into())?),
            },
        })
    }

    /// The dispatch that searches, and the one that walks along paths if there is memory for paths.
    pub(super) fn plans(
        &self,
        gpu: &Gpu,
        shape: Shape,
        (map, walked): (&Map, &WalkMap),
        searches: &Buffer<[u32; 2]>,
        records: &Buffer<Record>,
    ) -> Result<(Plan, Option<Plan>), SearchError> {
        let mut buffers = vec![
            ("work", self.work.binding()),
            ("searches", searches.binding()),
            ("records", records.binding()),
            ("slots", self.slot.binding()),
            ("control", self.control.binding()),
            ("marks", self.marks.binding()),
            ("queue_events", self.open.binding()),
            ("open_cells", self.open.binding()),
        ];
        buffers.extend(map.buffers.iter().chain(walked).map(|(name, buffer)| (*name, buffer.binding())));
        let mut search = Plan::new("searches");
        let workgroups = match shape.open {
            OpenList::Team => self.slots,
            _ => self.slots.div_ceil(shape.group_size),
        };
        search.dispatch(gpu, &search_kernel(gpu, shape, &map.files)?, workgroups, &buffers)?;
        let walk = match &self.paths {
            None => None,
            Some(paths) => {
                buffers.push(("paths", paths.binding()));
                let mut walk = Plan::new("paths");
                let groups = self.slots.div_ceil(WALK_GROUP);
                // SAFETY: this kernel has no queue.
                let kernel = unsafe { trusted(gpu, &walking(&map.files))? };
                walk.dispatch(gpu, &kernel, groups, &buffers)?;
                Some(walk)
            }
        };
        Ok((search, walk))
    }
}

/// Invocations of a workgroup of the walk kernel.
const WALK_GROUP: u32 = 32;

fn searching(shape: Shape, files: &Files) -> Recipe {
    let mut constants = vec![("GROUP_SIZE", shape.group_size.into())];
    let own = |file: &str, entry, others: Vec<Source>, constants| {
        let sources = [vec![shaders::file(&format!("search/{file}.wgsl"))], others].concat();
        Recipe::new(format!("search/{file}"), entry, sources).with(constants)
    };
    match shape.open {
        OpenList::Queue(design) => {
            constants.extend(design.constants());
            let recipe = own("thread", "search_by_threads", files.threads(), constants);
            match design.source() {
                Some(source) => recipe.and(source),
                None => recipe,
            }
        }
        OpenList::Bands => own("bands", "search_by_bands", files.others(), constants),
        OpenList::Team => own("team", "search_by_teams", files.others(), constants),
    }
}

fn walking(files: &Files) -> Recipe {
    let sources = [vec![shaders::file("search/walk.wgsl")], files.walks()].concat();
    Recipe::new("search/walk", "walk", sources).with([("GROUP_SIZE", WALK_GROUP.into())])
}

/// The search kernel. It has run-time checks if the heuristic is the user's, or if the queue is not
/// bounded for arbitrary memory contents.
fn search_kernel(gpu: &Gpu, shape: Shape, files: &Files) -> Result<Kernel, GpuError> {
    let recipe = searching(shape, files);
    match (shape.open, files) {
        (_, Files::Graph { own: false, .. }) => recipe.kernel(gpu),
        (OpenList::Queue(queue), _) if !queue.is_bounded() => recipe.kernel(gpu),
        // SAFETY: the `// bounds:` paragraph of the queue's file in shaders/queue/; teams and bands
        // have no queue.
        _ => unsafe { trusted(gpu, &recipe) },
    }
}

/// # Safety
/// The linked queue must stay within its slots and terminate.
unsafe fn trusted(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: the `// bounds:` paragraphs of shaders/search/slots.wgsl and of each file argue that
    // accesses stay within bounds.
    unsafe { recipe.trusted(gpu) }
}

/// Every kernel that the module can build.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let (paper, others): (Vec<_>, Vec<_>) = QueueDesign::ALL
        .into_iter()
        .filter(|design| design.serves_one_invocation())
        .partition(|queue| queue.row().paper);
    let shape = |open| Shape { open, group_size: 64 };
    let grids = [true, false].map(|uniform| Files::Grid { uniform });
    let graphs = ["search/guess_none.wgsl", "search/guess_straight.wgsl"]
        .map(|path| Files::Graph { heuristic: shaders::file(path), own: true });
    let queues = others.into_iter().map(OpenList::Queue);
    let lists = queues.clone().chain([OpenList::Bands, OpenList::Team]);
    let on_grids = lists.flat_map(|open| grids.each_ref().map(|files| searching(shape(open), files)));
    let on_graphs = queues.flat_map(|open| graphs.each_ref().map(|files| searching(shape(open), files)));
    let walks = grids.iter().chain(&graphs[..1]).map(walking);
    let waves = grids.iter().chain(&graphs[..1]).flat_map(fronts);
    let on_request = paper.into_iter().map(|queue| searching(shape(OpenList::Queue(queue)), &grids[0]));
    on_grids
        .chain(on_request)
        .chain(on_graphs)
        .chain(walks)
        .chain(waves)
        .chain(super::all_pairs::kernels())
        .collect()
}
