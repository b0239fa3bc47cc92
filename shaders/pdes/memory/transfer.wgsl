// The rows whose events a dispatch of pdes/memory/export.wgsl or pdes/memory/import.wgsl moves.

struct EventTransfer {
    first: u32,
    rows: u32,
    unused: vec2<u32>,
}

@group(0) @binding(32) var<uniform> transfer: EventTransfer;
