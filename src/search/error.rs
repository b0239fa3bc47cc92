//! Errors of path search.

use crate::ErrorKind;
use crate::gpu::{GpuError, LinkError};
use crate::queue::QueueDesign;

/// An error of the `search` module. Nothing changed; the next call may succeed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A side of a map is 0 or too long.
    #[error("expected map sides from 1 to {max}, found {width} times {height} cells", max = super::MAX_SIDE)]
    Sides {
        /// Cells in a row.
        width: u64,
        /// Rows.
        height: u64,
    },
    /// The terrain and the map have different sizes.
    #[error("expected the terrain of {width} times {height} cells, found {cells} cells")]
    Cells {
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Cells with a terrain.
        cells: u64,
    },
    /// The media and the map have different sizes.
    #[error("expected the media of {width} times {height} cells, found {cells} cells")]
    Media {
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Cells with a medium.
        cells: u64,
    },
    /// Move costs with which the heuristic would not be admissible.
    #[error(
        "moves cost {straight} straight and {diagonal} diagonally; a straight move must cost at least 1, and a diagonal one as much or up to \
         twice as much"
    )]
    Moves {
        /// Cost of a straight move.
        straight: u32,
        /// Cost of a diagonal move.
        diagonal: u32,
    },
    /// Costs could exceed 32 bits.
    #[error(
        "moves cost {straight} straight and {diagonal} diagonally: with the terrain and size of this map, the costs from end to end could \
         be {most}, beyond the limit of 2^31. Choose moves with smaller costs (Grid::new_with_moves), or terrain with smaller numbers"
    )]
    Costs {
        /// Cost of a straight move.
        straight: u32,
        /// Cost of a diagonal move.
        diagonal: u32,
        /// The maximum of the heuristic plus a move.
        most: u64,
    },
    /// The cost of a path may not fit 32 bits: the search skipped cells because of their costs and
    /// found no path without them. With smaller costs it may turn out that there is no path at all.
    #[error(
        "search {search}: a path to the goal, if there is one, costs {limit} or more, which does not fit 32 bits. Choose moves with smaller costs, \
         such as 70 straight and 99 diagonally, whose ratio is close to the square root of 2, or weights in larger units"
    )]
    Overflow {
        /// Its number in the list.
        search: u32,
        /// The exclusive limit of costs.
        limit: u32,
    },
    /// An invalid density of obstacles.
    #[error("expected a density of obstacles from 0 to 10, found {density}")]
    Density {
        /// The density.
        density: f64,
    },
    /// A start or a goal is not on the map.
    #[error("search {search}: the cell ({x}, {y}) is not on the map, which has {width} times {height} cells")]
    Outside {
        /// Its number in the list.
        search: usize,
        /// Column of the cell.
        x: u32,
        /// Row of the cell.
        y: u32,
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// More searches, sources or targets than 32-bit numbers.
    #[error("a list holds at most {limit} {what}, found {count}; split the list")]
    TooMany {
        /// The kind of items.
        what: &'static str,
        /// The number of items.
        count: usize,
        /// The maximum number.
        limit: u32,
    },
    /// More arcs than 32-bit numbers, with those that wavefronts add at vertices with more than 64
    /// arcs.
    #[error(
        "a graph has at most {limit} arcs with those that wavefronts add, found {arcs}; leave out vertices or arcs that no path needs"
    )]
    Arcs {
        /// The number of input arcs, or of the graph's arcs.
        arcs: usize,
        /// The maximum number of arcs, and of vertices.
        limit: u32,
    },
    /// An arc of a vertex that does not exist.
    #[error("arc {arc} names the vertex {vertex}, but the graph has {vertices}, numbered from 0")]
    Vertex {
        /// Its number in the list of arcs.
        arc: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A start, a goal or a target is not a vertex of the graph.
    #[error(
        "search {search}: the vertex {vertex} is not in the graph, which has {vertices}, numbered from 0"
    )]
    NoVertex {
        /// Its number in the list.
        search: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// An inconsistent heuristic.
    #[error(
        "search {search}: the heuristic is not consistent on the arc from the vertex {from} to {to}: an estimate may not exceed the weight of the arc plus \
         the estimate at its end, and must be 0 at the goal. Paths found with it might not be the cheapest"
    )]
    Heuristic {
        /// The number of the search in the list.
        search: u32,
        /// The start of the arc; the goal, if the estimate there is not 0; or a vertex with two
        /// different estimates.
        from: u32,
        /// The end of the arc.
        to: u32,
    },
    /// A heuristic's file lacks a declaration that the engine needs.
    #[error("{file}: the heuristic {problem}")]
    Contract {
        /// The file.
        file: String,
        /// The problem.
        problem: String,
    },
    /// The numbers of coordinates and vertices differ.
    #[error("expected coordinates of {vertices} vertices, found {given}; give one for each vertex")]
    Coordinates {
        /// Number of coordinates.
        given: usize,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// Paths were requested in a graph with arcs of weight 0.
    #[error(
        "the arc from the vertex {from} to {to} has the weight 0, so paths could be cyclic; only searches without paths accept it. For paths, give it the weight 1 \
         and the others larger weights"
    )]
    FreeArc {
        /// The start of the arc.
        from: u32,
        /// The end of the arc.
        to: u32,
    },
    /// A mapping for maps was used on a graph.
    #[error("the mapping {mapping} is for maps, but this is a graph; choose thread or auto")]
    Mapping {
        /// Its name.
        mapping: super::Mapping,
    },
    /// Distances were requested from a vertex that does not exist.
    #[error("there are no distances from the vertex {vertex}: the graph has {vertices}, numbered from 0")]
    Source {
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A row was requested that the table of distances does not have.
    #[error("there is no row {row}: the table of distances has {rows}, numbered from 0")]
    Row {
        /// The row.
        row: u32,
        /// Rows of the table.
        rows: u32,
    },
    /// Distances could exceed their range.
    #[error(
        "arcs weigh up to {heaviest} between {vertices} vertices, so a path could be as long as the limit of 2^31 - 1. Choose \
         smaller units"
    )]
    Weights {
        /// The largest weight.
        heaviest: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A queue design that searches cannot use.
    #[error(
        "the queue design {design} does not serve searches: one invocation manages the open list of a search. Choose one of {names}, or the \
         mapping team, which needs no queue",
        names = serving()
    )]
    Queue {
        /// Its name.
        design: &'static str,
    },
    /// An invalid setting.
    #[error("{value} {what}: expected a number {remedy}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The valid values.
        remedy: String,
    },
    /// The open list of a search does not fit the device.
    #[error(
        "search {search}: its open list exceeds {items} items, the maximum that this device binds in one buffer. Choose \
         an adapter with larger limits, or, on a map, another mapping"
    )]
    OpenList {
        /// Its number in the list.
        search: u32,
        /// The maximum number of items.
        items: u32,
    },
    /// A run was started while another one of the same engine was waiting.
    #[error("this engine is already running. Wait for the run to finish, or create an engine for each run")]
    Busy,
    /// The watcher of a run stopped it.
    #[error("it was stopped before all searches had ended: there are no results. Let it run longer")]
    Stopped,
    /// The driver ends loops so early that no search makes progress.
    #[error(
        "the driver ends the loops of a single search step, so searches make no progress. Choose the queue design heap, a heuristic with shorter loops, or another driver"
    )]
    Cut,
    /// An invalid file of a map, a scenario or a graph.
    #[error("{file}, line {line}: {message}")]
    Format {
        /// The caller's name for the text.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The problem.
        message: String,
    },
    /// A search of a scenario belongs to a map of another size.
    #[error(
        "{file}, line {line}: the search is for {map} with {} times {} cells, but this map has {width} times {height}; choose the scenario of this map",
        size.x, size.y
    )]
    OtherMap {
        /// The caller's name for the scenario.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The map of the search.
        map: String,
        /// Cells in a row of that map, and rows.
        size: glam::UVec2,
        /// Cells in a row of the caller's map.
        width: u32,
        /// Rows of the caller's map.
        height: u32,
    },
    /// The device failed or rejected a call.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

crate::text::debug_is_display!(SearchError);

impl SearchError {
    /// The same for a list that is a part of another one, after this number of its searches.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn after(mut self, before: u32) -> Self {
        match &mut self {
            Self::Overflow { search, .. }
            | Self::Heuristic { search, .. }
            | Self::OpenList { search, .. } => {
                *search += before;
            }
            Self::Outside { search, .. } | Self::NoVertex { search, .. } => *search += before as usize,
            _ => {}
        }
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::OpenList { .. } | Self::Cut => ErrorKind::Device,
            Self::Overflow { .. } => ErrorKind::Fault,
            Self::Moves { .. }
            | Self::Costs { .. }
            | Self::Arcs { .. }
            | Self::Vertex { .. }
            | Self::Weights { .. }
            | Self::Contract { .. }
            | Self::Heuristic { .. }
            | Self::FreeArc { .. }
            | Self::Format { .. } => ErrorKind::Model,
            _ => ErrorKind::Usage,
        }
    }
}

impl From<LinkError> for SearchError {
    fn from(error: LinkError) -> Self {
        Self::Gpu(error.into())
    }
}

/// The names of the queue designs that searches can use.
fn serving() -> String {
    let designs = QueueDesign::ALL.into_iter().filter(|design| design.serves_one_invocation());
    designs.map(QueueDesign::name).collect::<Vec<_>>().join(", ")
}
