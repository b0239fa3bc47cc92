//! What can go wrong in path search.

use crate::ErrorKind;
use crate::gpu::{GpuError, LinkError};
use crate::queue::QueueDesign;

/// An error of the `search` module. Nothing was changed; the next call may succeed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A side of a map is 0 or too long.
    #[error("a map of {width} times {height} cells: sides are from 1 to {max}", max = super::MAX_SIDE)]
    Sides {
        /// Cells in a row.
        width: u64,
        /// Rows.
        height: u64,
    },
    /// The terrain of a map is not as long as the map.
    #[error("a map of {width} times {height} cells was given the terrain of {cells} cells")]
    Cells {
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Cells that have a terrain.
        cells: u64,
    },
    /// The media of a map are not as long as the map.
    #[error("a map of {width} times {height} cells was given the media of {cells} cells")]
    Media {
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Cells that have a medium.
        cells: u64,
    },
    /// Moves with which the heuristic would not be one.
    #[error(
        "moves that cost {straight} and, diagonally, {diagonal}: a straight one costs at least 1, and a diagonal one as much or up to \
         twice as much"
    )]
    Moves {
        /// Cost of a straight move.
        straight: u32,
        /// Cost of a diagonal move.
        diagonal: u32,
    },
    /// Costs could leave 32 bits.
    #[error(
        "moves that cost {straight} and, diagonally, {diagonal}: with the terrain and size of this map, the costs from end to end could \
         be {most}, and half of 2^32 is the limit. Choose moves with smaller costs (Grid::new_with_moves), or terrain with smaller numbers"
    )]
    Costs {
        /// Cost of a straight move.
        straight: u32,
        /// Cost of a diagonal move.
        diagonal: u32,
        /// What the heuristic and a move could come to.
        most: u64,
    },
    /// A path may be so long that its cost does not fit 32 bits: some cells were passed over
    /// because of their costs, and no path was found without them. With smaller costs it may turn
    /// out that there is no path at all.
    #[error(
        "search {search}: a path to the goal would cost {limit} or more, which is beyond 32 bits, if there is one. Choose moves with smaller costs \
         (70 straight on and 99 diagonally are sqrt 2 to four digits), or weights in larger units"
    )]
    Overflow {
        /// Its number in the list.
        search: u32,
        /// What costs stay below.
        limit: u32,
    },
    /// A number of obstacles that no map has.
    #[error("a density of obstacles of {density}: it is a number from 0 to 10")]
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
    /// More searches, sources or targets than can be numbered.
    #[error("{count} {what} in one list, and at most {limit} can be numbered: split the list")]
    TooMany {
        /// What they are.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: u32,
    },
    /// More arcs than can be numbered, with those that wavefronts add at vertices with more
    /// than 64.
    #[error(
        "a graph of {arcs} arcs, with which they cannot be numbered up to {limit}: leave out vertices or arcs that no path needs"
    )]
    Arcs {
        /// How many were given, or the graph has.
        arcs: usize,
        /// How many there may be, of vertices too.
        limit: u32,
    },
    /// An arc of a vertex that does not exist.
    #[error("arc {arc} names the vertex {vertex}, and the graph has {vertices}, numbered from 0")]
    Vertex {
        /// Its number in the list of arcs.
        arc: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A start, a goal or a target is no vertex of the graph.
    #[error(
        "search {search}: the vertex {vertex} is none of the graph, which has {vertices}, numbered from 0"
    )]
    NoVertex {
        /// Its number in the list.
        search: usize,
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A heuristic that is not consistent.
    #[error(
        "search {search}: the heuristic is not consistent on the arc from the vertex {from} to {to}: an estimate may not be more than the weight of the arc and \
         the estimate from there, and is 0 at the goal. Paths found with it might not be the cheapest ones"
    )]
    Heuristic {
        /// The number of the search in the list.
        search: u32,
        /// Where the arc begins; the goal, if the estimate there is not 0; or a vertex for which
        /// two estimates were not the same.
        from: u32,
        /// Where it ends.
        to: u32,
    },
    /// A file with a heuristic that lacks what the engine needs.
    #[error("{file}: the heuristic {problem}")]
    Contract {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Not as many coordinates as vertices.
    #[error("{given} coordinates were given for a graph of {vertices} vertices")]
    Coordinates {
        /// Coordinates.
        given: usize,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// Paths in a graph with arcs that cost nothing.
    #[error(
        "the arc from the vertex {from} to {to} has the weight 0, with which paths could go in circles: searches without paths take it. For paths, give it the weight 1, \
         and the others larger ones"
    )]
    FreeArc {
        /// Where it begins.
        from: u32,
        /// Where it ends.
        to: u32,
    },
    /// A mapping that is for maps only.
    #[error("the mapping {mapping} is for maps, and this is a graph. Choose thread or auto")]
    Mapping {
        /// Its name.
        mapping: super::Mapping,
    },
    /// Distances were asked for from a vertex that does not exist.
    #[error("distances from the vertex {vertex} of a graph that has {vertices}, numbered from 0")]
    Source {
        /// The vertex.
        vertex: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// Distances were asked for of a row that a table does not have.
    #[error("row {row} of a table of distances that has {rows}, numbered from 0")]
    Row {
        /// The row.
        row: u32,
        /// Rows of the table.
        rows: u32,
    },
    /// Distances could leave their range.
    #[error(
        "arcs that weigh up to {heaviest} between {vertices} vertices: a path could be as long as 2^31 - 1, which is the limit. Choose \
         smaller units"
    )]
    Weights {
        /// The greatest weight.
        heaviest: u32,
        /// Vertices of the graph.
        vertices: u32,
    },
    /// A queue design that no search can use.
    #[error(
        "the queue design {design} does not serve searches: one invocation keeps the open list of a search. Choose one of {names}, or the \
         mapping team, which needs none",
        names = serving()
    )]
    Queue {
        /// Its name.
        design: &'static str,
    },
    /// A setting that is not possible.
    #[error("{what} of {value}: {remedy}")]
    Setting {
        /// What was set.
        what: &'static str,
        /// To what.
        value: u32,
        /// What is possible.
        remedy: String,
    },
    /// The open list of a search does not fit the device.
    #[error(
        "search {search}: its open list outgrew {items} items, which is the longest that this device binds in one buffer. Choose \
         an adapter with larger limits, or, on a map, another mapping"
    )]
    OpenList {
        /// Its number in the list.
        search: u32,
        /// Items that there was room for.
        items: u32,
    },
    /// A run was begun while another one of the same engine was waiting.
    #[error(
        "the engine is in the middle of a run, and the next may begin when that is over. Wait for it, or make an engine for each"
    )]
    Busy,
    /// The watcher of a run stopped it.
    #[error("stopped before all searches had ended: there are no results")]
    Stopped,
    /// The driver ends loops so early that no search gets on.
    #[error(
        "the driver ends the loops of a single step of a search: no search gets on. Choose the queue design heap, a heuristic with shorter loops, or another driver"
    )]
    Cut,
    /// A file of a map, a scenario or a graph.
    #[error("{file}, line {line}: {message}")]
    Format {
        /// What was read, as the caller called it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A search of a scenario is for a map of another size.
    #[error(
        "{file}, line {line}: a search on {map}, which has {} times {} cells, and the map here has {width} times {height}. Choose the scenario of this map",
        size.x, size.y
    )]
    OtherMap {
        /// The scenario, as the caller called it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The map that the search is for.
        map: String,
        /// Cells in a row of that map, and rows.
        size: glam::UVec2,
        /// Cells in a row of the map that was given.
        width: u32,
        /// Rows of that.
        height: u32,
    },
    /// The device failed or refused.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

crate::text::debug_is_display!(SearchError);

impl SearchError {
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

/// The names of the queue designs that serve searches.
fn serving() -> String {
    let designs = QueueDesign::ALL.into_iter().filter(|design| design.serves_one_invocation());
    designs.map(QueueDesign::name).collect::<Vec<_>>().join(", ")
}
