//! Moving regions and their overlaps.

use eventhorizon::gpu::Gpu;
use eventhorizon::matching::{Matcher, MovingRegions, Region};
use eventhorizon::random::Stream;
use wasm_bindgen::prelude::*;

use crate::reported;

/// The side of the square in which they move.
const SPACE: u32 = 1 << 16;

/// Moving squares that see (subscriptions) and that are seen (updates).
#[wasm_bindgen]
pub struct Moving {
    regions: MovingRegions<u32, 2>,
    boxes: [Vec<Box>; 2],
    /// For each subscription, the number of updates that it overlaps.
    seen: Vec<u32>,
    pairs: u64,
}

#[derive(Clone, Copy)]
struct Box {
    place: [u32; 2],
    velocity: [i32; 2],
    side: u32,
}

impl Box {
    fn random(stream: &mut Stream, side: u32) -> Self {
        let mut below = |most: u32| stream.draw() % most;
        let place = [below(SPACE - side), below(SPACE - side)];
        let velocity = [below(401), below(401)].map(|speed| speed.cast_signed() - 200);
        Self { place, velocity, side }
    }

    fn step(&mut self) {
        for (place, velocity) in self.place.iter_mut().zip(&mut self.velocity) {
            let next = place.cast_signed() + *velocity;
            if next < 0 || next.cast_unsigned() + self.side > SPACE {
                *velocity = -*velocity;
            } else {
                *place = next.cast_unsigned();
            }
        }
    }

    fn region(&self) -> Region<u32, 2> {
        Region::new(self.place, self.place.map(|place| place + self.side))
    }
}

#[wasm_bindgen]
impl Moving {
    /// Creates `count` squares of each kind.
    pub async fn open(count: u32, seed: u32) -> Result<Moving, JsError> {
        let gpu = Gpu::open().await.map_err(reported)?;
        let mut stream = Stream::new(seed.into(), 1, 0);
        let boxes = [2400, 900]
            .map(|side| -> Vec<Box> { (0..count).map(|_| Box::random(&mut stream, side)).collect() });
        let [subscriptions, updates] =
            boxes.each_ref().map(|boxes| boxes.iter().map(Box::region).collect::<Vec<_>>());
        let matcher = Matcher::new(&gpu);
        let regions = MovingRegions::new_async(&matcher, &subscriptions, &updates).await.map_err(reported)?;
        let pairs = regions.matches_async().await.map_err(reported)?.read_async().await.map_err(reported)?;
        let mut seen = vec![0; count as usize];
        pairs.iter().for_each(|pair| seen[pair[0] as usize] += 1);
        Ok(Self { regions, boxes, seen, pairs: pairs.len() as u64 })
    }

    /// Moves every square. Returns the number of pairs that overlap, that began to, and that ended.
    pub async fn step(&mut self) -> Result<Vec<f64>, JsError> {
        let moved = self.boxes.each_mut().map(|boxes| {
            let step = |(id, moving): (u32, &mut Box)| {
                moving.step();
                (id, moving.region())
            };
            (0..).zip(boxes).map(step).collect::<Vec<_>>()
        });
        let changes = self.regions.update_async(&moved[0], &moved[1]).await.map_err(reported)?;
        for pair in &changes.ended {
            self.seen[pair[0] as usize] -= 1;
        }
        for pair in &changes.began {
            self.seen[pair[0] as usize] += 1;
        }
        self.pairs = self.pairs + changes.began.len() as u64 - changes.ended.len() as u64;
        Ok(vec![self.pairs as f64, changes.began.len() as f64, changes.ended.len() as f64])
    }

    /// All squares: left, top and side as shares of the space, and the number of squares seen (-1
    /// for one that is seen).
    #[must_use]
    pub fn boxes(&self) -> Vec<f32> {
        let share = |length: u32| length as f32 / SPACE as f32;
        let row = |moving: &Box, seen: f32| {
            [share(moving.place[0]), share(moving.place[1]), share(moving.side), seen]
        };
        let seeing = self.boxes[0].iter().zip(&self.seen).map(|(moving, seen)| row(moving, *seen as f32));
        seeing.chain(self.boxes[1].iter().map(|moving| row(moving, -1.0))).flatten().collect()
    }
}
