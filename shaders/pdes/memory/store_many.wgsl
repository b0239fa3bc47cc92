// The memory that events are sent to, cut over several bindings, because it exceeds one.
//
//   store_0 ..   bindings that are not needed are bound to any buffer
//
// Functions: store_rows, store_split, store_put, store_get.
//
// import: pdes/engine.wgsl
// provides: store_get, store_put, store_rows, store_split
// needs: Item
//
// bounds: callers pass rows and places of their own bucket, for which the host made the store; a
// row is in binding row / STORE_ROWS, and STORE_ROWS is at least 1.

// The rows of a binding. A constant, so that a division by it compiles to a multiplication.
override STORE_ROWS: u32 = 1u;
// The number of bindings. A constant, so that the others cost nothing.
override STORE_BINDINGS: u32 = 2u;

@group(0) @binding(8) var<storage, read_write> store_0: array<Item>;
@group(0) @binding(9) var<storage, read_write> store_1: array<Item>;
@group(0) @binding(10) var<storage, read_write> store_2: array<Item>;
@group(0) @binding(11) var<storage, read_write> store_3: array<Item>;
@group(0) @binding(12) var<storage, read_write> store_4: array<Item>;
@group(0) @binding(13) var<storage, read_write> store_5: array<Item>;
@group(0) @binding(14) var<storage, read_write> store_6: array<Item>;
@group(0) @binding(15) var<storage, read_write> store_7: array<Item>;
@group(0) @binding(16) var<storage, read_write> store_8: array<Item>;
@group(0) @binding(17) var<storage, read_write> store_9: array<Item>;
@group(0) @binding(18) var<storage, read_write> store_10: array<Item>;
@group(0) @binding(19) var<storage, read_write> store_11: array<Item>;
@group(0) @binding(20) var<storage, read_write> store_12: array<Item>;
@group(0) @binding(21) var<storage, read_write> store_13: array<Item>;
@group(0) @binding(22) var<storage, read_write> store_14: array<Item>;
@group(0) @binding(23) var<storage, read_write> store_15: array<Item>;
@group(0) @binding(24) var<storage, read_write> store_16: array<Item>;
@group(0) @binding(25) var<storage, read_write> store_17: array<Item>;
@group(0) @binding(26) var<storage, read_write> store_18: array<Item>;
@group(0) @binding(27) var<storage, read_write> store_19: array<Item>;
@group(0) @binding(28) var<storage, read_write> store_20: array<Item>;
@group(0) @binding(29) var<storage, read_write> store_21: array<Item>;
@group(0) @binding(30) var<storage, read_write> store_22: array<Item>;
@group(0) @binding(31) var<storage, read_write> store_23: array<Item>;

// The rows of a binding.
fn store_rows() -> u32 {
    return STORE_ROWS;
}

// The binding of a row, and the row's number in that binding.
fn store_split(row: u32) -> vec2<u32> {
    return vec2<u32>(row / STORE_ROWS, row % STORE_ROWS);
}

fn store_put(binding: u32, place: u32, event: Item) {
    if binding == 0u { store_0[place] = event; }
    if binding == 1u { store_1[place] = event; }
    if STORE_BINDINGS > 2u && binding == 2u { store_2[place] = event; }
    if STORE_BINDINGS > 3u && binding == 3u { store_3[place] = event; }
    if STORE_BINDINGS > 4u && binding == 4u { store_4[place] = event; }
    if STORE_BINDINGS > 5u && binding == 5u { store_5[place] = event; }
    if STORE_BINDINGS > 6u && binding == 6u { store_6[place] = event; }
    if STORE_BINDINGS > 7u && binding == 7u { store_7[place] = event; }
    if STORE_BINDINGS > 8u && binding == 8u { store_8[place] = event; }
    if STORE_BINDINGS > 9u && binding == 9u { store_9[place] = event; }
    if STORE_BINDINGS > 10u && binding == 10u { store_10[place] = event; }
    if STORE_BINDINGS > 11u && binding == 11u { store_11[place] = event; }
    if STORE_BINDINGS > 12u && binding == 12u { store_12[place] = event; }
    if STORE_BINDINGS > 13u && binding == 13u { store_13[place] = event; }
    if STORE_BINDINGS > 14u && binding == 14u { store_14[place] = event; }
    if STORE_BINDINGS > 15u && binding == 15u { store_15[place] = event; }
    if STORE_BINDINGS > 16u && binding == 16u { store_16[place] = event; }
    if STORE_BINDINGS > 17u && binding == 17u { store_17[place] = event; }
    if STORE_BINDINGS > 18u && binding == 18u { store_18[place] = event; }
    if STORE_BINDINGS > 19u && binding == 19u { store_19[place] = event; }
    if STORE_BINDINGS > 20u && binding == 20u { store_20[place] = event; }
    if STORE_BINDINGS > 21u && binding == 21u { store_21[place] = event; }
    if STORE_BINDINGS > 22u && binding == 22u { store_22[place] = event; }
    if STORE_BINDINGS > 23u && binding == 23u { store_23[place] = event; }
}

fn store_get(binding: u32, place: u32) -> Item {
    if binding == 1u { return store_1[place]; }
    if STORE_BINDINGS > 2u && binding == 2u { return store_2[place]; }
    if STORE_BINDINGS > 3u && binding == 3u { return store_3[place]; }
    if STORE_BINDINGS > 4u && binding == 4u { return store_4[place]; }
    if STORE_BINDINGS > 5u && binding == 5u { return store_5[place]; }
    if STORE_BINDINGS > 6u && binding == 6u { return store_6[place]; }
    if STORE_BINDINGS > 7u && binding == 7u { return store_7[place]; }
    if STORE_BINDINGS > 8u && binding == 8u { return store_8[place]; }
    if STORE_BINDINGS > 9u && binding == 9u { return store_9[place]; }
    if STORE_BINDINGS > 10u && binding == 10u { return store_10[place]; }
    if STORE_BINDINGS > 11u && binding == 11u { return store_11[place]; }
    if STORE_BINDINGS > 12u && binding == 12u { return store_12[place]; }
    if STORE_BINDINGS > 13u && binding == 13u { return store_13[place]; }
    if STORE_BINDINGS > 14u && binding == 14u { return store_14[place]; }
    if STORE_BINDINGS > 15u && binding == 15u { return store_15[place]; }
    if STORE_BINDINGS > 16u && binding == 16u { return store_16[place]; }
    if STORE_BINDINGS > 17u && binding == 17u { return store_17[place]; }
    if STORE_BINDINGS > 18u && binding == 18u { return store_18[place]; }
    if STORE_BINDINGS > 19u && binding == 19u { return store_19[place]; }
    if STORE_BINDINGS > 20u && binding == 20u { return store_20[place]; }
    if STORE_BINDINGS > 21u && binding == 21u { return store_21[place]; }
    if STORE_BINDINGS > 22u && binding == 22u { return store_22[place]; }
    if STORE_BINDINGS > 23u && binding == 23u { return store_23[place]; }
    return store_0[place];
}
