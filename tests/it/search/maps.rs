//! Maps for property tests.

#![allow(unreachable_pub, reason = "a module of a test")]

use eventhorizon::search::{Grid, Moves};
use glam::UVec2;
use proptest::prelude::*;

/// A map and searches on it.
#[derive(Debug, Clone)]
pub struct Map {
    pub grid: Grid,
    pub searches: Vec<(UVec2, UVec2)>,
}

fn moves() -> impl Strategy<Value = Moves> {
    prop_oneof![
        Just(Moves::OCTILE),
        Just(Moves::MANHATTAN),
        Just(Moves::Eight { straight: 1, diagonal: 1 }),
        Just(Moves::Eight { straight: 5, diagonal: 10 }),
        Just(Moves::Eight { straight: 70, diagonal: 99 }),
    ]
}

/// Terrain of one kind: nearly open, half blocked, with costs, a maze of combs.
fn terrain(width: u32, height: u32) -> impl Strategy<Value = Vec<u8>> {
    let cells = (width * height) as usize;
    let comb = (0..height).flat_map(move |y| (0..width).map(move |x| (x, y))).map(move |(x, y)| {
        let gap = if x % 4 == 1 { 0 } else { height - 1 };
        u8::from(x % 2 == 0 || y == gap)
    });
    prop_oneof![
        proptest::collection::vec(prop_oneof![1 => Just(0_u8), 9 => Just(1)], cells),
        proptest::collection::vec(prop_oneof![4 => Just(0_u8), 6 => Just(1)], cells),
        proptest::collection::vec(0_u8..=255, cells),
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(3), Just(4)], cells),
        Just(comb.collect()),
    ]
}

/// One medium, or two with the second in rows of cells.
fn media(width: u32, height: u32) -> impl Strategy<Value = Vec<u8>> {
    let cells = (width * height) as usize;
    prop_oneof![
        2 => Just(vec![0; cells]),
        1 => proptest::collection::vec(any::<bool>(), cells.div_ceil(3))
            .prop_map(move |parts| (0..cells).map(|cell| u8::from(parts[cell / 3])).collect()),
    ]
}

/// Maps of all shapes up to `most` cells wide and high, with `count` searches between any cells:
/// blocked ones too, and from a cell to itself.
pub fn map(most: u32, count: usize) -> impl Strategy<Value = Map> {
    (1..=most, 1..=most).prop_flat_map(move |(width, height)| {
        let cell = move || (0..width, 0..height).prop_map(|(x, y)| UVec2::new(x, y));
        let searches = proptest::collection::vec((cell(), cell()), count);
        (terrain(width, height), media(width, height), moves(), searches).prop_map(
            move |(terrain, media, moves, mut searches)| {
                if let Some(first) = searches.first_mut() {
                    first.1 = first.0;
                }
                let grid = Grid::new(width, height, terrain).unwrap().with_media(media).unwrap();
                Map { grid: grid.with_moves(moves).unwrap(), searches }
            },
        )
    })
}
