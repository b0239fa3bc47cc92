// A* as in Baudis et al. (section IV.A): an iteration takes the eight first cells of the open list,
// and 64 invocations look at their neighbours. A cell that was found once is not inserted again, so
// paths need not be optimal. Two dispatches make an iteration: `serve` inserts what was found and
// takes cells, with one invocation for each search (paths_team.wgsl: a team); `look` finds cells,
// with a workgroup for each search. A slot has room for one search; when that is over, it takes the
// next.
//
//   queue_events  the open lists of all slots
//   slots         a search in progress
//   rows          for each slot TAKEN items that were taken, then FOUND items to insert
//   visited       for each slot a bit for each cell: whether it was found
//   map           guesses for a number of diagonal moves; for each cell a bit for each direction,
//                 four cells in a word; starts and goals
//   records       for each search: the cost of the path or NONE, the number of insertions
//   control       the next search, finished ones, whether a list was full, whether a loop was cut
//
// import: gpu/loops.wgsl
//
// needs: a queue

struct Shape {
    width: u32,
    cells: u32,
    words: u32,         // of a slot in `visited`
    searches: u32,
    slots: u32,
    capacity: u32,
    stride: u32,
    straight: u32,
    diagonal: u32,
}

struct Slot {
    queue: vec2<u32>,   // the design's own words
    status: u32,
    search: u32,
    goal: u32,
    numbers: u32,       // items so far
    taken: u32,
    found: u32,
}

// An item: estimate of the whole path, cost so far, cell, number.
alias Item = vec4<u32>;

const NONE = 0xffffffffu;
const TAKEN = 8u;
const FOUND = 64u;

const FREE = 0u;
const CLEAR = 1u;       // `visited` has the cells of the search before
const RUN = 2u;

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> queue_events: array<Item>;
@group(0) @binding(2) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(3) var<storage, read_write> rows: array<Item>;
@group(0) @binding(4) var<storage, read_write> visited: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> map: array<u32>;
@group(0) @binding(6) var<storage, read_write> records: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> control: array<atomic<u32>, 4>;

// Equal estimates are taken in the order of their insertion.
fn event_before(a: Item, b: Item) -> bool {
    return (a.x < b.x) | ((a.x == b.x) & (a.w < b.w));
}

fn item_words(item: Item) -> vec4<u32> { return item; }
fn words_item(words: vec4<u32>) -> Item { return words; }
fn queue_capacity() -> u32 { return shape.capacity; }
fn queue_stride() -> u32 { return shape.stride; }

// The rows of a slot.
fn taken_row(at: u32, i: u32) -> u32 { return at * (TAKEN + FOUND) + i; }
fn found_row(at: u32, i: u32) -> u32 { return taken_row(at, TAKEN + i); }

// The start and the goal of a search.
fn ends_of(search: u32) -> vec2<u32> {
    let first = shape.width + (shape.cells + 3u) / 4u + 2u * search;
    return vec2<u32>(map[first], map[first + 1u]);
}

// A lower bound of the cost from a cell to another.
fn guess(cell: u32, goal: u32) -> u32 {
    let a = vec2<i32>(i32(cell % shape.width), i32(cell / shape.width));
    let b = vec2<i32>(i32(goal % shape.width), i32(goal / shape.width));
    let apart = vec2<u32>(abs(a - b));
    return shape.straight * max(apart.x, apart.y) + map[min(apart.x, apart.y)];
}

var<private> slot: Slot;

// Begins the next search of the list, if there is one.
fn begin() {
    let search = atomicAdd(&control[0], 1u);
    if search >= shape.searches { return; }
    slot = Slot(vec2<u32>(0u), CLEAR, search, ends_of(search).y, 0u, 0u, 0u);
}

// Takes the first cells of the open queue, or ends the search.
fn take(at: u32) {
    var cost = NONE;
    slot.taken = 0u;
    // Bound: TAKEN.
    while slot.taken < TAKEN && queue_size() > 0u {
        let item = queue_first();
        queue_pop();
        rows[taken_row(at, slot.taken)] = item;
        slot.taken += 1u;
        if item.z == slot.goal { cost = item.y; }
    }
    slot.queue = queue_close();
    if cost != NONE || slot.taken == 0u {
        // The start is not counted.
        records[slot.search] = vec2<u32>(cost, slot.numbers - 1u);
        atomicAdd(&control[1], 1u);
        slot.status = FREE;
    }
}

@compute @workgroup_size(64)
fn serve(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let mine = (group.y * groups.x + group.x) * 64u + lane;
    if mine >= shape.slots { return; }
    slot = slots[mine];
    if slot.status == FREE {
        begin();
    } else {
        queue_open(mine, slot.queue);
        // Bound: FOUND.
        for (var i = 0u; i < slot.found; i += 1u) {
            if !queue_push(rows[found_row(mine, i)]) { atomicStore(&control[2], 1u); }
        }
        take(mine);
    }
    slots[mine] = slot;
    if loops_cut(shape.slots) { atomicStore(&control[3], 1u); }
}

var<workgroup> shared_slot: Slot;
var<workgroup> nexts: array<u32, FOUND>;
var<workgroup> firsts: array<u32, FOUND>;

// Directions: the eight cells around one, row by row.
fn offset_of(d: u32) -> vec2<i32> {
    let place = i32(d + u32(d >= 4u));
    return vec2<i32>(place % 3 - 1, place / 3 - 1);
}

fn is_visited(at: u32, cell: u32) -> bool {
    return ((atomicLoad(&visited[at * shape.words + cell / 32u]) >> (cell % 32u)) & 1u) == 1u;
}

fn visit(at: u32, cell: u32) {
    atomicOr(&visited[at * shape.words + cell / 32u], 1u << (cell % 32u));
}

@compute @workgroup_size(64)
fn look(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let mine = group.y * groups.x + group.x;
    if lane == 0u {
        shared_slot = Slot(vec2<u32>(0u), FREE, 0u, 0u, 0u, 0u, 0u);
        if mine < shape.slots { shared_slot = slots[mine]; }
    }
    let held = workgroupUniformLoad(&shared_slot);
    if held.status == CLEAR {
        for (var word = lane; word < shape.words; word += 64u) {
            atomicStore(&visited[mine * shape.words + word], 0u);
        }
        storageBarrier();
        if lane == 0u {
            let start = ends_of(held.search).x;
            visit(mine, start);
            rows[found_row(mine, 0u)] = Item(guess(start, held.goal), 0u, start, 0u);
            slots[mine].status = RUN;
            slots[mine].numbers = 1u;
            slots[mine].found = 1u;
        }
        return;
    }
    if held.status != RUN { return; }
    let d = lane % 8u;
    var next = NONE;
    var cost = 0u;
    if lane / 8u < held.taken {
        let item = rows[taken_row(mine, lane / 8u)];
        let moves = map[shape.width + item.z / 4u] >> (item.z % 4u * 8u);
        if ((moves >> d) & 1u) == 1u {
            let offset = offset_of(d);
            let cell = u32(i32(item.z) + offset.y * i32(shape.width) + offset.x);
            if !is_visited(mine, cell) {
                next = cell;
                cost = item.y + select(shape.diagonal, shape.straight, offset.x * offset.y == 0);
            }
        }
    }
    nexts[lane] = next;
    workgroupBarrier();
    // Of several ways to a cell, the first counts.
    var is_first = next != NONE;
    // Bound: FOUND.
    for (var other = 0u; other < lane; other += 1u) { is_first &= nexts[other] != next; }
    firsts[lane] = u32(is_first);
    workgroupBarrier();
    var place = 0u;
    // Bound: FOUND.
    for (var other = 0u; other < lane; other += 1u) { place += firsts[other]; }
    if is_first {
        visit(mine, next);
        rows[found_row(mine, place)] = Item(cost + guess(next, held.goal), cost, next, held.numbers + place);
    }
    if lane == FOUND - 1u {
        let count = place + u32(is_first);
        slots[mine].found = count;
        slots[mine].numbers = held.numbers + count;
    }
    if loops_cut(shape.slots) { atomicStore(&control[3], 1u); }
}
