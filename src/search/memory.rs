//! The kernels of searches, and the memory that they work in.

use bytemuck::{Pod, Zeroable};

use super::engine::{Open, Shape};
use super::{Grid, SearchError};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};
use crate::queue::QueueDesign;
use crate::shaders;

/// `SearchWork` of `shaders/search/grid.wgsl`, where the fields are explained.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct Work {
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

/// `Record`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct Record {
    pub(super) status: u32,
    pub(super) cost: u32,
    pub(super) expanded: u32,
    pub(super) path_cells: u32,
    pub(super) path_first: u32,
    pub(super) drain: u32,
}

/// `RECORD_FOUND` and so on.
pub(super) const FOUND: u32 = 1;
pub(super) const NONE: u32 = 2;
pub(super) const FULL: u32 = 3;

/// `Slot`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
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

/// `CONTROL_NEXT` and so on.
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

/// `PLACE_NONE`.
pub(super) const PLACE_NONE: u32 = u32::MAX;

/// A map on the device.
#[derive(Debug)]
pub(super) struct Map {
    allowed: Buffer<u32>,
    /// None where all passable cells have 1.
    terrain: Option<Buffer<u32>>,
}

impl Map {
    pub(super) fn new(gpu: &Gpu, grid: &Grid) -> Result<Self, GpuError> {
        let upload = |label, mut bytes: Vec<u8>| {
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            Buffer::storage_from(gpu, label, &bytemuck::pod_collect_to_vec::<u8, u32>(&bytes))
        };
        let allowed = upload("search: moves", grid.allowed())?;
        let terrain = match grid.uniform() {
            true => None,
            false => Some(upload("search: terrain", grid.terrain().to_vec())?),
        };
        Ok(Self { allowed, terrain })
    }
}

/// Slots, and what belongs to all of them.
#[derive(Debug)]
pub(super) struct Memory {
    /// What the lists were made for.
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

    /// The dispatch that searches, and the one that walks along paths, if there is room for paths.
    pub(super) fn plans(
        &self,
        gpu: &Gpu,
        shape: Shape,
        map: &Map,
        searches: &Buffer<[u32; 2]>,
        records: &Buffer<Record>,
    ) -> Result<(Plan, Option<Plan>), SearchError> {
        let mut buffers = vec![
            ("work", self.work.binding()),
            ("allowed", map.allowed.binding()),
            ("searches", searches.binding()),
            ("records", records.binding()),
            ("slots", self.slot.binding()),
            ("control", self.control.binding()),
            ("marks", self.marks.binding()),
            ("queue_events", self.open.binding()),
            ("open_cells", self.open.binding()),
        ];
        if let Some(terrain) = &map.terrain {
            buffers.push(("terrain", terrain.binding()));
        }
        let uniform = map.terrain.is_none();
        let mut search = Plan::new("searches");
        let workgroups = match shape.open {
            Open::Team => self.slots,
            _ => self.slots.div_ceil(shape.group_size),
        };
        search.dispatch(gpu, &search_kernel(gpu, shape, uniform)?, workgroups, &buffers)?;
        let walk = match &self.paths {
            None => None,
            Some(paths) => {
                buffers.push(("paths", paths.binding()));
                let mut walk = Plan::new("paths");
                let groups = self.slots.div_ceil(WALK_GROUP);
                // SAFETY: it has no queue.
                let kernel = unsafe { trusted(gpu, &walking(uniform))? };
                walk.dispatch(gpu, &kernel, groups, &buffers)?;
                Some(walk)
            }
        };
        Ok((search, walk))
    }
}

/// Invocations of a workgroup that walks.
const WALK_GROUP: u32 = 32;

fn terrain(uniform: bool) -> &'static str {
    if uniform { "search/terrain_one.wgsl" } else { "search/terrain_bytes.wgsl" }
}

fn searching(shape: Shape, uniform: bool) -> Recipe {
    let mut constants = vec![("GROUP_SIZE", shape.group_size.into())];
    let own = |file, entry, constants| {
        let path = format!("search/{file}.wgsl");
        let sources = [path.as_str(), terrain(uniform)].map(shaders::file);
        Recipe::new(format!("search/{file}"), entry, sources).with(constants)
    };
    match shape.open {
        Open::Queue(design) => {
            constants.extend(design.constants());
            let recipe = own("thread", "search_by_threads", constants);
            match design.source() {
                Some(source) => recipe.and(source),
                None => recipe,
            }
        }
        Open::Bands => own("bands", "search_by_bands", constants),
        Open::Team => own("team", "search_by_teams", constants),
    }
}

fn walking(uniform: bool) -> Recipe {
    let sources = ["search/walk.wgsl", terrain(uniform)].map(shaders::file);
    Recipe::new("search/walk", "walk", sources).with([("GROUP_SIZE", WALK_GROUP.into())])
}

/// The kernel that searches. A queue that is a tree of links is checked: where a driver cuts its loops, what it takes for a link may be an item.
fn search_kernel(gpu: &Gpu, shape: Shape, uniform: bool) -> Result<Kernel, GpuError> {
    let recipe = searching(shape, uniform);
    match shape.open {
        Open::Queue(QueueDesign::Splay) => recipe.kernel(gpu),
        // SAFETY: as that of `trusted`, and the queue's loops and slots are bounded by the items held, whatever these are. Where loops are cut, items
        // are lost or doubled, and each is still one that was put there.
        _ => unsafe { trusted(gpu, &recipe) },
    }
}

/// # Safety
/// The queue that the kernel is linked with must keep to its slots, and end.
unsafe fn trusted(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: no file of the module holds a user's WGSL, and a user reaches none of its buffers.
    //
    // * Places are starts and goals that the host compared with the map, or such a place and a move that is allowed from there, which the host
    //   lets lead to cells of the map only. So cells are below `cells`, the length of `allowed`, `terrain` and of a slot's part of `marks`.
    //   `count` and `clear` compare with `cells`. `place_before` compares with the sides.
    // * Numbers of slots are compared with `slots`, for which `slots`, `marks` and the open lists were made; numbers of searches with
    //   `searches`, the length of `searches` and `records`.
    // * The lists of bands: entries are put at places below `capacity`, and read where they were put.
    // * A team's lists: entries are written below `capacity`, and a list whose length went beyond it is never read (`next_list`; lengths are
    //   kept between dispatches). Every entry below a list's length was written by the pass before.
    // * `paths` is written from `path_first` on, `path_cells` words, which were compared with `path_room`, and counted down as they were counted up.
    // * Loops count to `steps`, 8, CELLS or `directions`. Shifts are by less than 32. Divisors are `width`, `directions` and constants, all above 0.
    unsafe { recipe.trusted(gpu) }
}

/// Every kernel that the module may build.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let queues = QueueDesign::ALL.into_iter().filter(|design| Shape::serves(*design));
    let lists = queues.map(Open::Queue).chain([Open::Bands, Open::Team]);
    let shapes = lists.map(|open| Shape { open, group_size: 64 });
    shapes
        .flat_map(|shape| [true, false].map(|uniform| searching(shape, uniform)))
        .chain([true, false].map(walking))
        .chain(super::all_pairs::kernels())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Record, Slot, Work as SearchWork};
    use crate::gpu::{Program, assert_same_layout};
    use crate::shaders;

    #[test]
    fn structs_lie_as_in_wgsl() {
        let program = Program::link("t", &[shaders::file("search/grid.wgsl")]).unwrap();
        assert_same_layout!(
            program,
            SearchWork {
                width,
                height,
                cells,
                straight,
                diagonal,
                far,
                near,
                directions,
                range,
                searches,
                slots,
                capacity,
                stride,
                steps,
                all_paths,
                count,
                delta,
                path_room,
                drain
            }
        );
        assert_same_layout!(program, Record { status, cost, expanded, path_cells, path_first, drain });
        assert_same_layout!(
            program,
            Slot { status, search, start, goal, epoch, best, dropped, cursor, open, more }
        );
    }
}
