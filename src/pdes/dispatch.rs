//! What a dispatch is told of the rows and bindings that it works on.

/// `struct Part` in `shaders/pdes/engine.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Part {
    pub(super) parity: u32,
    pub(super) first_group: u32,
    pub(super) queue_first: u32,
    pub(super) queue_rows: u32,
    pub(super) inbox_first: u32,
    pub(super) partials_first: u32,
    pub(super) partials_count: u32,
    pub(super) memory_first: u32,
    pub(super) turn: u32,
    pub(super) slice: u32,
    pub(super) others_first: u32,
    pub(super) others_rows: u32,
}
