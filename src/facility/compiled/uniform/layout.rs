//! Places of a replication's words in the uniform form: as few as its features need, because
//! workgroup memory is small.

use super::super::ir::{Ir, Kind, Lines, Node, Routes, Service};
use super::super::rows::PAIR_WORDS;

shared! {
    "facility/compiled/state.wgsl":
    const PAIR_SOJOURN: usize;
    const PAIR_WAIT: usize;
    const PAIR_LOST: usize;
    const PAIR_RENEGED: usize;
    const PAIR_BALKED: usize;
    const PAIR_BEGUN: usize;
    const PAIR_ENDED: usize;
    const PAIR_TRIPS: usize;
    const PAIR_OUT: usize;
    const PAIR_INTERRUPTED: usize;
}

/// Words that results are made of, and their places in the switch form.
const OF_RESULTS: [(&str, usize); 11] = [
    ("SERVED", 0),
    ("SOJOURN", PAIR_SOJOURN),
    ("WAIT", PAIR_WAIT),
    ("LOST", PAIR_LOST),
    ("RENEGED", PAIR_RENEGED),
    ("BALKED", PAIR_BALKED),
    ("BEGUN", PAIR_BEGUN),
    ("ENDED", PAIR_ENDED),
    ("TRIPS", PAIR_TRIPS),
    ("OUT", PAIR_OUT),
    ("INTERRUPTED", PAIR_INTERRUPTED),
];

/// Words of a class at a node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Word {
    /// Its name after `PAIR_`.
    name: &'static str,
    /// The number of words.
    count: usize,
    /// Its place from the first sum on: sums are behind it, the rest is before it.
    place: i32,
}

/// The layout of the state.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Layout {
    /// Of the state of a replication.
    pub(in super::super) words: usize,
    names: Vec<Word>,
    /// The words of a class at a node.
    pair: usize,
    /// By node: the place of the first sum of its first class, and the places before and behind it.
    pub(super) nodes: Vec<Place>,
    /// The first of the words with the numbers of places of rings in use, and their number.
    span: usize,
    rings: usize,
}

/// Where the words of a node are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) first: usize,
    before: usize,
    pub(super) sums: usize,
}

/// What a network needs words for.
struct Needs {
    travels: bool,
    turns: bool,
    rates: bool,
    loses: bool,
    balks: bool,
    counts: bool,
    picks: bool,
    wakes: bool,
    breaks: bool,
}

impl Needs {
    fn of(ir: &Ir) -> Self {
        let station = |is: fn(&Kind) -> bool| ir.nodes.iter().any(|node| is(&node.kind));
        let pairs = || ir.nodes.iter().flat_map(|node| &node.pairs);
        Self {
            travels: ir.travel.is_some(),
            turns: pairs().any(|pair| matches!(pair.routes, Routes::InTurn { .. })),
            rates: ir.nodes.iter().any(|node| node.calendar().is_some()),
            loses: ir.nodes.iter().any(Node::loses),
            balks: station(|kind| matches!(kind, Kind::Station { balking: Some(_), .. })),
            counts: pairs().any(|pair| pair.counts),
            picks: station(|kind| {
                matches!(
                    kind,
                    Kind::Station { lines: Lines::Random { .. } | Lines::ByClass { polled: true, .. }, .. }
                )
            }),
            wakes: station(|kind| matches!(kind, Kind::Station { wake: Some(_), .. })),
            breaks: station(|kind| matches!(kind, Kind::Station { breakdown: Some(_), .. })),
        }
    }
}

impl Node {
    /// Whether customers may be lost here.
    pub(super) fn loses(&self) -> bool {
        match &self.kind {
            Kind::Station { room: Some(_), .. } => true,
            Kind::Station { lines: Lines::None, service, .. } => {
                !matches!(service, Service::Heap { servers: None, .. })
            }
            _ => false,
        }
    }

    /// Whether customers wait here.
    fn waits(&self) -> bool {
        matches!(&self.kind, Kind::Station { lines, .. } if *lines != Lines::None)
    }
}

impl Layout {
    pub(super) fn new(ir: &Ir) -> Self {
        let needs = Needs::of(ir);
        // Sums: of all nodes; of stations.
        let sums = [
            ("SOJOURN", 5, true),
            ("BEGUN", 1, needs.travels),
            ("ENDED", 1, needs.travels),
            ("WAIT", 5, true),
            ("LOST", 1, needs.loses),
            ("RENEGED", 3, ir.is_impatient),
            ("BALKED", 1, needs.balks),
        ];
        // The rest: of sources and routers, too; of stations.
        let rest = [
            ("SERVICES", 1, true),
            ("DEPARTURES", 1, true),
            ("TURN", 1, needs.turns),
            ("OPEN", 1, needs.rates || needs.wakes),
            ("PIECE", 1, needs.rates),
            ("TRIPS", 4, needs.travels),
            ("ARRIVALS", 1, needs.counts),
            ("POLLED", 1, needs.picks),
            ("DOWN", 1, needs.wakes),
            ("SHIFTS", 1, needs.breaks),
            ("SERVERS", 1, needs.breaks),
            ("OUT", 4, needs.wakes || ir.blocks),
            ("INTERRUPTED", 4, needs.wakes),
            ("BLOCKED", 1, ir.blocks),
        ];
        // The number of customers served is the first sum.
        let mut names = vec![Word { name: "SERVED", count: 1, place: 0 }];
        let (mut behind, mut before) = (1, 0);
        let (mut of_sink, mut of_source) = (0, 0);
        for (name, count, _) in sums.into_iter().filter(|sum| sum.2) {
            if name == "WAIT" {
                of_sink = behind;
            }
            names.push(Word { name, count, place: place(behind) });
            behind += count;
        }
        for (name, count, _) in rest.into_iter().filter(|word| word.2) {
            before += count;
            names.push(Word { name, count, place: -place(before) });
            if ["SERVICES", "DEPARTURES", "TURN", "OPEN", "PIECE", "TRIPS"].contains(&name) {
                of_source = before;
            }
        }
        let rings = ir.rings.len();
        let line = (1 + served_words(ir)) * ir.slots.len() + ir.heaps as usize;
        // Without patience no place of a ring is empty.
        let span = if ir.is_impatient { line + 2 * rings } else { line };
        let words = line + (if ir.is_impatient { 3 } else { 2 }) * rings;
        let mut layout = Self { words, names, pair: before + behind, nodes: Vec::new(), span, rings };
        for node in &ir.nodes {
            let (before, sums) = match &node.kind {
                Kind::Source { .. } | Kind::Router if needs.travels => (of_source, of_sink),
                Kind::Source { .. } | Kind::Router => (of_source, 1),
                // (Trips end at sinks.)
                Kind::Sink if needs.travels => (of_source, of_sink),
                Kind::Sink => (0, of_sink),
                // (Forks are not covered.)
                Kind::Fork { .. } => (0, 0),
                Kind::Station { .. } if node.waits() || node.loses() || needs.balks => (before, behind),
                Kind::Station { .. } => (before, of_sink),
            };
            layout.nodes.push(Place { first: layout.words + before, before, sums });
            layout.words += before + sums + (ir.classes as usize - 1) * layout.pair;
        }
        layout
    }

    /// Whether a ring of `size` customers is full, in a replication's state.
    pub(in super::super) fn has_full_ring(&self, state: &[u32], size: u32) -> bool {
        state[self.span..][..self.rings].iter().any(|&used| used >= size)
    }

    /// The constants of the text.
    pub(super) fn constants(&self, ir: &Ir) -> Vec<(String, String)> {
        let mut constants = Vec::new();
        let mut add = |name: &str, value: u32| constants.push((name.to_owned(), format!("{value}u")));
        add("SERVED_WORDS", word(served_words(ir)));
        let slots = ir.slots.len();
        let served = slots;
        let held = served + served_words(ir) * slots;
        let line = held + ir.heaps as usize;
        let first = line + self.rings;
        add("NETWORK_SERVED", word(served));
        add("NETWORK_HELD", word(held));
        add("NETWORK_LINE", word(line));
        add("NETWORK_FIRST", word(first));
        add("NETWORK_SPAN", word(self.span));
        add("NETWORK_WORDS", word(self.words));
        add("PAIR_WORDS", word(self.pair));
        // (Places before the first sum are differences modulo 2^32.)
        for Word { name, place, .. } in self.names.iter().filter(|word| word.name != "SERVED") {
            add(&format!("PAIR_{name}"), place.cast_unsigned());
        }
        constants
    }

    /// The words of classes at nodes, as in the state of the switch form. `pairs` is their place
    /// there.
    pub(in super::super) fn expand(&self, ir: &Ir, state: &[u32], pairs: usize) -> Vec<u32> {
        let classes = ir.classes as usize;
        let mut full = vec![0; pairs + PAIR_WORDS * classes * self.nodes.len()];
        for (node, Place { first, before, sums }) in self.nodes.iter().enumerate() {
            for class in 0..classes {
                let from = first + class * self.pair;
                let to = pairs + PAIR_WORDS * (node * classes + class);
                for (name, behind) in OF_RESULTS {
                    let found = self.names.iter().find(|word| word.name == name);
                    let here = |word: &&Word| (-place(*before)..place(*sums)).contains(&word.place);
                    if let Some(word) = found.filter(here) {
                        let at = from.wrapping_add_signed(word.place as isize);
                        full[to + behind..][..word.count].copy_from_slice(&state[at..at + word.count]);
                    }
                }
            }
        }
        full
    }
}

/// Words of a customer in a slot.
fn served_words(ir: &Ir) -> usize {
    if ir.classes > 1 { 3 } else { 2 }
}

fn word(number: usize) -> u32 {
    u32::try_from(number).expect("the state has fewer than 2^32 words")
}

fn place(number: usize) -> i32 {
    i32::try_from(number).expect("a pair has few words")
}
