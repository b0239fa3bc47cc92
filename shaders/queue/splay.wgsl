// Priority queue: splay tree (Baudis et al., section III.B; Sleator and Tarjan's, top down). One
// thread serves one queue.
//
// queue_events   all queues, one after the other, queue_stride() slots each: two reserved slots,
// then nodes of two slots, event and links (32 aligned bytes with events of 16)
//
// A node's name is the slot of its links in the queue, which is odd; 0 is no node. Its links are
// (left, right): events not after its own, events not before it. The first event is the root, with
// an empty left and the tree at its right. So it needs no search, an event before all others
// becomes the root, and any other is put on top of the tree, which is split for it. A removed root
// is replaced by the least of the tree, splayed to its top.
// Free nodes (the paper searches them, next fit) are a list, the last freed first, with links
// (next, SPLAY_FREE); its head is the root's left link. While it is empty, no node beyond the
// events held was ever used. The meta words between two openings are (events held, root). While a
// queue is open, the root's links are not in memory.
//
// provides: QUEUE_GLANCES, queue_close, queue_first, queue_glance, queue_open, queue_peek
// provides: queue_place, queue_pop, queue_push, queue_reserved_slot, queue_scan_more
// provides: queue_scan_next, queue_scan_open, queue_second, queue_size, queue_spare, queue_take
// needs: Item, event_before, item_words, queue_capacity, queue_events, queue_stride, words_item
//
// bounds: none that hold without checks: it follows links in its slots, so every kernel with it is
// created with checks (`QueueDesign::follows_links`).

const SPLAY_FREE = 0xffffffffu;

var<private> queue_base: u32;
var<private> queue_length: u32;
var<private> splay_root: u32;
var<private> splay_tree: u32;       // the right link of the root
var<private> splay_free: u32;       // the first free node that was used before, or 0

// Progress of queue_peek and queue_spare, which are called for one event after the other.
var<private> splay_peeked: u32;     // events before splay_next
var<private> splay_next: u32;       // the next node to visit
var<private> splay_passed: u32;     // free nodes before splay_spare
var<private> splay_spare: u32;      // the next free node, or 0

// A scan's path: nodes that come after the next event, the nearest last.
const SPLAY_PATH = 32u;
var<private> splay_path: array<u32, SPLAY_PATH>;
var<private> splay_path_length: u32;

fn splay_event(node: u32) -> Item {
    return queue_events[queue_base + node - 1u];
}

fn splay_links(node: u32) -> vec2<u32> {
    return item_words(queue_events[queue_base + node]).xy;
}

fn splay_link(node: u32, left: u32, right: u32) {
    queue_events[queue_base + node] = words_item(vec4<u32>(left, right, 0u, 0u));
}

// Resets queue_peek and queue_spare after a change.
fn splay_changed() {
    splay_peeked = 0u;
    splay_next = 1u;
    splay_passed = 0u;
    splay_spare = splay_free;
}

// A slot of the open queue for data of its owner; the queue does not use it.
fn queue_reserved_slot() -> u32 {
    return queue_base - 1u;
}

// Opens queue `owner` with the meta words `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    queue_base = owner * queue_stride() + 2u;
    queue_length = kept.x;
    splay_root = kept.y;
    splay_tree = 0u;
    splay_free = 0u;
    if queue_length > 0u {
        let links = splay_links(splay_root);
        splay_free = links.x;
        splay_tree = links.y;
    }
    splay_changed();
}

// The meta words for the next queue_open.
fn queue_close() -> vec2<u32> {
    if queue_length > 0u {
        splay_link(splay_root, splay_free, splay_tree);
    }
    return vec2<u32>(queue_length, splay_root);
}

// The number of events in the queue.
fn queue_size() -> u32 {
    return queue_length;
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return splay_event(splay_root);
}

// Whether the first event of a closed queue can be read; here that needs its meta words.
const QUEUE_GLANCES = false;

fn queue_glance(owner: u32) -> Item {
    var nothing: Item;
    return nothing;
}

// An event that is not after the second one: the first, because the second one needs a search. The
// queue must hold two.
fn queue_second() -> Item {
    return queue_first();
}

// A node for one more event. There must be room.
fn splay_node() -> u32 {
    let node = splay_free;
    if node == 0u { return 2u * queue_length + 1u; }
    splay_free = splay_links(node).x;
    return node;
}

// Splits the tree into events not after `event` and events after it. From the top on, each node
// goes to its side: as the right child of the last one on the left side, or the left child of the
// last one on the right. Two in a row of one side are rotated first, which halves long paths.
fn splay_split(event: Item) -> vec2<u32> {
    var tops = vec2<u32>(0u);
    // The last node of each side, and its known link.
    var low = 0u;
    var low_left = 0u;
    var high = 0u;
    var high_right = 0u;
    var node = splay_tree;
    // Bound: the events held; amortised, their logarithm.
    while node != 0u {
        var links = splay_links(node);
        if event_before(event, splay_event(node)) {
            let child = links.x;
            if child != 0u && event_before(event, splay_event(child)) {
                let below = splay_links(child);
                splay_link(node, below.y, links.y);
                links = vec2<u32>(below.x, node);
                node = child;
            }
            if high == 0u {
                tops.y = node;
            } else {
                splay_link(high, node, high_right);
            }
            high = node;
            high_right = links.y;
            node = links.x;
        } else {
            let child = links.y;
            if child != 0u && !event_before(event, splay_event(child)) {
                let below = splay_links(child);
                splay_link(node, links.x, below.x);
                links = vec2<u32>(node, below.y);
                node = child;
            }
            if low == 0u {
                tops.x = node;
            } else {
                splay_link(low, low_left, node);
            }
            low = node;
            low_left = links.x;
            node = links.y;
        }
    }
    if low != 0u { splay_link(low, low_left, 0u); }
    if high != 0u { splay_link(high, 0u, high_right); }
    return tops;
}

// Adds a node whose event is in place.
fn splay_insert(node: u32, event: Item) {
    if queue_length == 0u {
        splay_root = node;
        splay_tree = 0u;
    } else if event_before(event, queue_first()) {
        splay_link(splay_root, 0u, splay_tree);
        splay_tree = splay_root;
        splay_root = node;
    } else {
        let sides = splay_split(event);
        splay_link(node, sides.x, sides.y);
        splay_tree = node;
    }
    queue_length += 1u;
}

// Adds an event. Returns false and changes nothing if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    let node = splay_node();
    queue_events[queue_base + node - 1u] = event;
    splay_insert(node, event);
    splay_changed();
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    queue_length -= 1u;
    if queue_length == 0u {
        splay_root = 0u;
        splay_free = 0u;
        splay_changed();
        return;
    }
    splay_link(splay_root, splay_free, SPLAY_FREE);
    splay_free = splay_root;
    // The least of the tree becomes the root; the other nodes on the path go to its right, as in
    // splay_split.
    var node = splay_tree;
    var links = splay_links(node);
    var top = 0u;
    var high = 0u;
    var high_right = 0u;
    // Bound: the events held; amortised, their logarithm.
    while links.x != 0u {
        let child = links.x;
        let below = splay_links(child);
        splay_link(node, below.y, links.y);
        links = vec2<u32>(below.x, node);
        node = child;
        if links.x == 0u { break; }
        if high == 0u {
            top = node;
        } else {
            splay_link(high, node, high_right);
        }
        high = node;
        high_right = links.y;
        node = links.x;
        links = splay_links(node);
    }
    splay_root = node;
    if high == 0u {
        splay_tree = links.y;
    } else {
        splay_link(high, links.y, high_right);
        splay_tree = top;
    }
    splay_changed();
}

// One of the events held, by an index below their number, in the queue's own order. Fast for
// consecutive indices.
fn queue_peek(index: u32) -> Item {
    if index < splay_peeked {
        splay_peeked = 0u;
        splay_next = 1u;
    }
    var node = splay_root;
    // Bound: the nodes of a queue.
    while splay_next < 2u * queue_capacity() && splay_peeked <= index {
        node = splay_next;
        splay_next += 2u;
        if node == splay_root || splay_links(node).y != SPLAY_FREE { splay_peeked += 1u; }
    }
    return splay_event(node);
}

// Begins a scan of the events in order, until the path to the next one is too long; valid until the
// next change.
fn queue_scan_open() {
    splay_path[0] = splay_root;
    splay_path_length = min(queue_length, 1u);
}

fn queue_scan_more() -> bool {
    return splay_path_length > 0u;
}

fn queue_scan_next() -> Item {
    splay_path_length -= 1u;
    let next = splay_path[splay_path_length];
    var node = splay_tree;
    if next != splay_root { node = splay_links(next).y; }
    // Bound: SPLAY_PATH.
    while node != 0u {
        if splay_path_length == SPLAY_PATH {
            splay_path_length = 0u;
            break;
        }
        splay_path[splay_path_length] = node;
        splay_path_length += 1u;
        node = splay_links(node).x;
    }
    return splay_event(next);
}

// The slot in `queue_events` of event `index` for a `queue_take` that fills an unused queue.
fn queue_place(owner: u32, index: u32) -> u32 {
    return owner * queue_stride() + 2u + 2u * index;
}

// The slot in `queue_events` of event `index` for a `queue_take` that adds to the open queue. There
// must be room. Fast for consecutive indices.
fn queue_spare(index: u32) -> u32 {
    if index < splay_passed {
        splay_passed = 0u;
        splay_spare = splay_free;
    }
    // Bound: the free nodes.
    while splay_passed < index && splay_spare != 0u {
        splay_spare = splay_links(splay_spare).x;
        splay_passed += 1u;
    }
    return queue_base + select(splay_spare - 1u, 2u * (queue_length + index), splay_spare == 0u);
}

// Adds the first `count` unordered events at `queue_spare`, or, if the queue is empty and was never
// used, at `queue_place`. They stay in place.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        let node = splay_node();
        splay_insert(node, splay_event(node));
    }
    splay_changed();
}
