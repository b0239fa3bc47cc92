//! Priority queues in GPU memory: one WGSL file per design, all with the same functions.
//!
//! A design is a WGSL file that defines `queue_open`, `queue_close`, `queue_size`, `queue_first`,
//! `queue_glance` with `QUEUE_GLANCES`, `queue_second`, `queue_push`, `queue_pop`, `queue_peek`,
//! `queue_scan_open`, `queue_scan_more`, `queue_scan_next`, `queue_place`, `queue_spare` and
//! `queue_take` over events of some type `Item`, in any total order defined by a function
//! `event_before`.
//!
//! A design may store other data than events in slots: `item_words` and `words_item` convert an
//! `Item` to words and back. (Of the four words of a slot, searches use the first two only.)
//!
//! The kernel that links the design defines the buffer `queue_events` and the functions
//! `queue_capacity` (the maximum number of events of a queue) and `queue_stride`
//! (`QueueDesign::stride`, the slots of one queue). `QueueDesign::slots` is the length of the
//! buffer. Everything that the host knows about a design is a row of a table: `Design`.
//!
//! | function | what it does |
//! | --- | --- |
//! | `queue_open(owner: u32, kept: vec2<u32>)`, `queue_close() -> vec2<u32>` | opens a queue; closes it and returns the two words to store for it: the first is the number of events, and zeros are an empty queue |
//! | `queue_size() -> u32`, `queue_first() -> Item`, `queue_pop()` | the number of events; the first event; removes it |
//! | `QUEUE_GLANCES: bool`, `queue_glance(owner: u32) -> Item` | whether the first event of a queue that is not open can be read; that event, if there is one |
//! | `queue_second() -> Item` | after `queue_first` without a change since: if there are two events or more, the second, or an event that is not after it |
//! | `queue_push(Item) -> bool` | adds an event, or returns false and changes nothing if the queue is full |
//! | `queue_peek(index: u32) -> Item` | any of the events, in the design's own order |
//! | `queue_scan_open()`, `queue_scan_more() -> bool`, `queue_scan_next() -> Item` | reads the events in order, without a change; a scan may end early |
//! | `queue_place(owner: u32, index: u32) -> u32` | the slot for event `index` of a queue that was never used and is not open |
//! | `queue_spare(index: u32) -> u32` | the slot for event `index` beyond the present ones, if there is room; valid until the next change |
//! | `queue_take(count: u32)` | adds the events in the first `count` slots of `queue_place` or `queue_spare` |
//!
//! One invocation can serve a queue of CB-PAR with these functions. A team of invocations can serve
//! it with the functions at the head of its file ([`Lanes`] invocations).
//!
//! The designs and their names come from Baudis et al., section III.
//!
//! A design reads and writes only the slots of its queue and its two stored words. Every loop ends,
//! and every index stays within the queue's slots, for any contents of these slots and words:
//! searches link designs without run-time checks. A design that uses words of its slots as indices
//! sets `Design::follows_links` instead, and its kernels are checked.
//!
//! [`ParallelHeap`] is different: one queue for the whole device, which inserts and deletes many
//! items at a time. No kernel calls it; it has its own dispatches.

mod design;
mod parallel_heap;

pub(crate) use design::DefaultFor;
#[doc(hidden)]
pub use design::{Design, Stride};
pub use design::{Lanes, QueueDesign, Traverse, UnknownQueue};
#[doc(hidden)]
pub use parallel_heap::kernels;
pub use parallel_heap::{HeapBatch, HeapItem, ParallelHeap, ParallelHeapError};
