//! Priority queues that live in GPU memory: one file of WGSL per design, all with the same
//! functions.
//!
//! A design is a WGSL file that defines `queue_open`, `queue_close`, `queue_size`, `queue_first`,
//! `queue_glance` with `QUEUE_GLANCES`, `queue_second`, `queue_push`, `queue_pop`, `queue_peek`,
//! `queue_scan_open`, `queue_scan_more`, `queue_scan_next`, `queue_place`, `queue_spare` and
//! `queue_take` over events of some type `Item`, in any total order that a function `event_before`
//! gives. (A design may keep something else in slots than events: `item_words` and `words_item`
//! tell words from an `Item` and the other way round; of four of them those that searches keep have
//! the first two alone.) The kernel that is linked with it brings the buffer `queue_events` and the
//! functions `queue_capacity` (events that a queue may hold) and `queue_stride`
//! ([`QueueDesign::stride`], slots of one queue). [`QueueDesign::slots`] says how long the buffer
//! is. All that the host knows of a design is a row of a table: [`Design`].
//!
//! | function | what it does |
//! | --- | --- |
//! | `queue_open(owner: u32, kept: vec2<u32>)`, `queue_close() -> vec2<u32>` | opens a queue; closes it and gives the two words to keep of it: the first is the number of events, and zeros are an empty queue |
//! | `queue_size() -> u32`, `queue_first() -> Item`, `queue_pop()` | the events held; the first one; drops it |
//! | `QUEUE_GLANCES: bool`, `queue_glance(owner: u32) -> Item` | whether the first event of a queue that is not open can be seen; that event, if there is one |
//! | `queue_second() -> Item` | where `queue_first` was called since the last change: of two events or more the second, or one that is not after it |
//! | `queue_push(Item) -> bool` | adds an event, or refuses it and changes nothing where the queue is full |
//! | `queue_peek(index: u32) -> Item` | any of the events, in the design's own order |
//! | `queue_scan_open()`, `queue_scan_more() -> bool`, `queue_scan_next() -> Item` | the events from the first on, in order, with no change; a scan may end early |
//! | `queue_place(owner: u32, index: u32) -> u32` | the slot for event `index` of a queue that was never used and is not open |
//! | `queue_spare(index: u32) -> u32` | the slot for event `index` beyond those held, as far as there is room; until the next change |
//! | `queue_take(count: u32)` | adds what lies in the first `count` slots of either |
//!
//! A queue of CB-PAR is one that one invocation can serve with these functions, and that a team of
//! invocations can serve together with those at the head of its file ([`Lanes`] of them).
//!
//! The designs and their names are those of Baudis et al., section III.
//!
//! A design reads and writes the slots of its queue and the two words kept of it, and nothing else
//! of an engine. Every loop ends, and every index stays within the queue's slots, whatever lies in
//! these slots and words: searches link designs without run-time checks. A design that uses words
//! of its slots as indices sets [`Design::follows_links`] instead, and its kernels are checked.
//!
//! [`ParallelHeap`] is another thing: one queue for the whole device, which takes and gives many
//! items at a time. No kernel calls it; it is dispatches of its own.

mod design;
mod parallel_heap;

pub use design::{DefaultFor, Design, Lanes, QueueDesign, Stride, Traverse, UnknownQueue};
#[doc(hidden)]
pub use parallel_heap::kernels;
pub use parallel_heap::{HeapBatch, HeapItem, ParallelHeap, ParallelHeapError};
