//! Whether a model fits a device.

use crate::gpu::Gpu;
use crate::queue::QueueDesign;

use super::cut::{Cut, Needs, usual_group_size};
use crate::pdes::contract::capacity::Capacity;

impl Capacity {
    /// Whether the bindings of a device hold this capacity for each of `lps` LPs with events of 16
    /// bytes, in a queue design (the size of the device's memory is not checked).
    pub fn fits(self, gpu: &Gpu, lps: u32, queue: QueueDesign) -> bool {
        let needs = Needs { capacity: self, events: 0, event_bytes: 16, memory_rows: 0, part: None };
        Cut::new(gpu, lps, (usual_group_size(gpu, lps, queue), 1), queue, needs).is_ok()
    }
}
