// The mailboxes that a window fills, cut over several bindings, because one does not hold them all.
//
//   outbox_0 ..   run.mail_capacity events for each of MAIL_ROWS rows; those that are not needed are bound to anything
//
// Functions: mail_put.
//
// import: pdes/engine.wgsl

// The rows of a binding. A constant, so that the division by it costs no more than a multiplication.
override MAIL_ROWS: u32 = 1u;

@group(0) @binding(8) var<storage, read_write> outbox_0: array<Item>;
@group(0) @binding(9) var<storage, read_write> outbox_1: array<Item>;
@group(0) @binding(10) var<storage, read_write> outbox_2: array<Item>;
@group(0) @binding(11) var<storage, read_write> outbox_3: array<Item>;
@group(0) @binding(12) var<storage, read_write> outbox_4: array<Item>;
@group(0) @binding(13) var<storage, read_write> outbox_5: array<Item>;
@group(0) @binding(14) var<storage, read_write> outbox_6: array<Item>;
@group(0) @binding(15) var<storage, read_write> outbox_7: array<Item>;
@group(0) @binding(16) var<storage, read_write> outbox_8: array<Item>;
@group(0) @binding(17) var<storage, read_write> outbox_9: array<Item>;
@group(0) @binding(18) var<storage, read_write> outbox_10: array<Item>;
@group(0) @binding(19) var<storage, read_write> outbox_11: array<Item>;
@group(0) @binding(20) var<storage, read_write> outbox_12: array<Item>;
@group(0) @binding(21) var<storage, read_write> outbox_13: array<Item>;
@group(0) @binding(22) var<storage, read_write> outbox_14: array<Item>;
@group(0) @binding(23) var<storage, read_write> outbox_15: array<Item>;
@group(0) @binding(24) var<storage, read_write> outbox_16: array<Item>;
@group(0) @binding(25) var<storage, read_write> outbox_17: array<Item>;
@group(0) @binding(26) var<storage, read_write> outbox_18: array<Item>;
@group(0) @binding(27) var<storage, read_write> outbox_19: array<Item>;
@group(0) @binding(28) var<storage, read_write> outbox_20: array<Item>;
@group(0) @binding(29) var<storage, read_write> outbox_21: array<Item>;
@group(0) @binding(30) var<storage, read_write> outbox_22: array<Item>;
@group(0) @binding(31) var<storage, read_write> outbox_23: array<Item>;

// Puts an event at a place below run.mail_capacity in the mailbox of a row.
fn mail_put(row: u32, index: u32, event: Item) {
    let place = (row % MAIL_ROWS) * run.mail_capacity + index;
    switch row / MAIL_ROWS {
        case 0u: { outbox_0[place] = event; }
        case 1u: { outbox_1[place] = event; }
        case 2u: { outbox_2[place] = event; }
        case 3u: { outbox_3[place] = event; }
        case 4u: { outbox_4[place] = event; }
        case 5u: { outbox_5[place] = event; }
        case 6u: { outbox_6[place] = event; }
        case 7u: { outbox_7[place] = event; }
        case 8u: { outbox_8[place] = event; }
        case 9u: { outbox_9[place] = event; }
        case 10u: { outbox_10[place] = event; }
        case 11u: { outbox_11[place] = event; }
        case 12u: { outbox_12[place] = event; }
        case 13u: { outbox_13[place] = event; }
        case 14u: { outbox_14[place] = event; }
        case 15u: { outbox_15[place] = event; }
        case 16u: { outbox_16[place] = event; }
        case 17u: { outbox_17[place] = event; }
        case 18u: { outbox_18[place] = event; }
        case 19u: { outbox_19[place] = event; }
        case 20u: { outbox_20[place] = event; }
        case 21u: { outbox_21[place] = event; }
        case 22u: { outbox_22[place] = event; }
        case 23u: { outbox_23[place] = event; }
        default: {}
    }
}
