//! A waiting line in LP memory: the Rust implementation of `shaders/pdes/line.wgsl`.

use super::event::Payload;
use super::model::Context;

shared! {
    "pdes/line.wgsl":
    /// A waiting line in LP memory, first come first served: a ring of `room` rows of
    /// [`Model::memory_rows`](crate::pdes::Model::memory_rows) from row `base` on. Each line of an
    /// LP needs its own rows.
    ///
    /// Keep it in the LP's state; zeros are an empty line. In a model's WGSL, with `// import:
    /// pdes/line.wgsl`:
    ///
    /// ```wgsl
    /// struct Line { first: u32, length: u32 }
    /// fn line_push(line: Line, base: u32, room: u32, row: vec4<u32>) -> Line     // a full one ends the run with a fault
    /// fn line_front(line: Line, base: u32) -> vec4<u32>
    /// fn line_pop(line: Line, room: u32) -> Line
    /// ```
    #[derive(Default, PartialEq, Eq)]
    pub struct Line {
        /// The row of the front, relative to `base`.
        pub first: u32,
        /// The number of waiting rows.
        pub length: u32,
    }
}

impl Line {
    /// Adds a row at the end. If `room` rows are waiting already, the run ends with
    /// [`FaultKind::MemoryFull`](crate::pdes::FaultKind::MemoryFull). WGSL: `line_push`.
    pub fn push(&mut self, context: &mut Context<'_, impl Payload>, base: u32, room: u32, row: [u32; 4]) {
        if self.length >= room {
            return context.memory_full();
        }
        let place = self.first.wrapping_add(self.length);
        let place = if place >= room { place.wrapping_sub(room) } else { place };
        context.memory_set(base.wrapping_add(place), row);
        self.length += 1;
    }

    /// The row at the front. The line must not be empty. WGSL: `line_front`.
    pub fn front(&self, context: &mut Context<'_, impl Payload>, base: u32) -> [u32; 4] {
        context.memory_get(base.wrapping_add(self.first))
    }

    /// Removes the front; an empty line is unchanged. WGSL: `line_pop`.
    pub fn pop(&mut self, room: u32) {
        if self.length > 0 {
            let next = self.first.wrapping_add(1);
            self.first = if next >= room { 0 } else { next };
            self.length -= 1;
        }
    }
}
