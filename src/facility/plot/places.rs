//! Where the drawing of a network has its nodes and routes.

use serde::Serialize;

use super::layout::Layout;
use crate::facility::nodes::{Kind, Node};
use crate::facility::{Facility, FacilityError};

/// Most nodes of a network that is drawn.
pub const MOST_NODES: usize = 300;

/// Half the size of a station.
pub(super) const BOX: (i32, i32) = (58, 21);

/// Pixels from layer to layer and from node to node within a layer, and margins.
const ACROSS: f64 = 168.0;
const DOWN: f64 = 92.0;
const MARGIN: i32 = 100;
const TITLE: i32 = 50;
const LEGEND: i32 = 70;

pub(super) fn nothing(message: &str) -> FacilityError {
    FacilityError::Plot { message: message.to_owned() }
}

/// Where [`network`](super::network) draws nodes and routes, in pixels from the upper left corner.
/// A program can draw on top of that picture: customers that move, for instance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Places {
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// The nodes.
    pub nodes: Vec<NodePlace>,
    /// The routes.
    pub routes: Vec<RoutePlace>,
}

/// Where a node is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodePlace {
    /// Its name.
    pub name: String,
    /// The middle.
    pub middle: [f64; 2],
    /// Half its width and half its height.
    pub half: [f64; 2],
}

/// Where a route is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoutePlace {
    /// The node that it leaves, as an index of [`Places::nodes`].
    pub from: usize,
    /// The node that it leads to.
    pub to: usize,
    /// Whether it leads back to an earlier node.
    pub is_back: bool,
    /// A Bézier curve: its start, two control points and its end.
    pub curve: [[f64; 2]; 4],
}

/// Finds where [`network`](super::network) draws nodes and routes.
///
/// # Errors
/// [`FacilityError::Plot`] for more than [`MOST_NODES`] nodes.
pub fn places(facility: &Facility) -> Result<Places, FacilityError> {
    let nodes = &facility.nodes;
    if nodes.len() > MOST_NODES {
        let (has, most) = (nodes.len(), MOST_NODES);
        return Err(nothing(&format!("the network has {has} nodes, and at most {most} can be drawn")));
    }
    let layout = Layout::new(nodes);
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a picture")]
    let from_middle = |node: usize| {
        let (layer, place) = layout.places[node];
        (MARGIN + (layer as f64 * ACROSS) as i32, (place * DOWN) as i32)
    };
    // Room above the highest node for edges back, which pass there.
    let round = layout.edges.iter().filter(|edge| edge.2).map(|&(from, to, _)| {
        let (from, to) = (from_middle(from), from_middle(to));
        f64::from(from.1.min(to.1)) - 0.75 * rise(from.0, to.0)
    });
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let half_height = layout.most as f64 * DOWN / 2.0;
    #[expect(clippy::cast_possible_truncation, reason = "a picture")]
    let middle = TITLE + (-round.fold(-half_height, f64::min)) as i32;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture")]
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let size = [
        ((layout.layers.max(3) as f64 - 1.0) * ACROSS) as u32 + 2 * MARGIN.cast_unsigned(),
        (f64::from(middle + LEGEND) + half_height) as u32,
    ];
    let at = |node: usize| {
        let (x, y) = from_middle(node);
        (x, middle + y)
    };
    let placed = nodes.iter().enumerate().map(|(number, node)| {
        let (x, y) = at(number);
        NodePlace { name: node.name.clone(), middle: [x.into(), y.into()], half: half(node).into() }
    });
    let routes = layout.edges.iter().map(|&(from, to, is_back)| {
        let curve = bend((at(from), &nodes[from]), (at(to), &nodes[to]), is_back);
        RoutePlace { from, to, is_back, curve: curve.map(Into::into) }
    });
    Ok(Places { size, nodes: placed.collect(), routes: routes.collect() })
}

/// How far above the higher of its ends an edge back passes.
fn rise(from: i32, to: i32) -> f64 {
    f64::from(BOX.1) + 16.0 + f64::from((from - to).abs()) / 9.0
}

/// Half the size of a node.
fn half(node: &Node) -> (f64, f64) {
    match node.kind {
        Kind::Station { .. } => (f64::from(BOX.0), f64::from(BOX.1)),
        _ => (17.0, 17.0),
    }
}

/// The curve from one node to another, which leaves to the right and arrives from the left. Edges
/// back pass above.
fn bend(from: ((i32, i32), &Node), to: ((i32, i32), &Node), is_back: bool) -> [(f64, f64); 4] {
    let place = |(x, y): (i32, i32)| (f64::from(x), f64::from(y));
    let ((from, node), (to, other)) = (from, to);
    let ((ax, ay), (bx, by)) = (place(from), place(to));
    let ((wide, high), (other_wide, other_high)) = (half(node), half(other));
    if from == to {
        [(ax + 20.0, ay - high), (ax + 52.0, ay - 60.0), (ax - 52.0, ay - 60.0), (ax - 20.0, ay - high)]
    } else if from.0 == to.0 {
        [(ax + wide, ay), (ax + wide + 44.0, ay), (bx + other_wide + 44.0, by), (bx + other_wide, by)]
    } else if is_back {
        let top = ay.min(by) - rise(from.0, to.0);
        [(ax, ay - high), (ax, top), (bx, top), (bx, by - other_high)]
    } else {
        let pull = (bx - ax) * 0.25;
        [(ax + wide, ay), (ax + wide + pull, ay), (bx - other_wide - pull, by), (bx - other_wide, by)]
    }
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::facility::{Distribution, Link, Network, Source, Station};

    #[test]
    fn routes_begin_and_end_at_the_edges_of_their_nodes() {
        let law = Distribution::Exponential(1.0);
        let network = Network::new("n")
            .source("in", Source::new(Distribution::Exponential(9.0), "desk"))
            .station("desk", Station::new(law, [Link::to("desk").with(0.2), Link::to("out")]))
            .sink("out");
        let places = places(&network.compile().unwrap()).unwrap();
        let names: Vec<_> = places.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["in", "desk", "out"]);
        assert_eq!(places.routes.len(), 3);
        for route in &places.routes {
            for (node, point) in [(route.from, route.curve[0]), (route.to, route.curve[3])] {
                let node = &places.nodes[node];
                let apart = [0, 1].map(|axis| (point[axis] - node.middle[axis]).abs());
                assert!(apart[0] <= node.half[0] && apart[1] <= node.half[1], "{route:?}");
                assert!(apart[0] >= node.half[0] || apart[1] >= node.half[1], "{route:?}");
            }
            let inside = |point: &[f64; 2]| point[0] >= 0.0 && point[0] <= f64::from(places.size[0]);
            assert!(route.curve.iter().all(inside), "{route:?}");
        }
    }
}
