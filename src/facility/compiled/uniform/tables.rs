//! Rows of data that say what each node does: `shaders/facility/compiled/uniform/tables.wgsl` has
//! their meaning.

use super::super::ir::{Calendar, Ir, Kind, Law, Lines, Node, Pair, Routes, Service};
use super::layout::Layout;

shared! {
    "facility/compiled/uniform/tables.wgsl":
    const EVENT_EMITS: u32;
    const EVENT_ENDS: u32;
    const EVENT_HEAP: u32;
    const EVENT_PIECE: u32;
    const EVENT_SHIFT: u32;
    const EVENT_WAKE: u32;
    const EVENT_ADMIT: u32;
    const EVENT_RENEGE: u32;
    const EVENT_TRIPS: u32;
    const NODE_SOURCE: u32;
    const NODE_SLOTS: u32;
    const NODE_HEAP: u32;
    const NODE_ROUTER: u32;
    const NODE_SINK: u32;
    const LINE_NONE: u32;
    const LINE_FIRST: u32;
    const LINE_LAST: u32;
    const LINE_RANDOM: u32;
    const LINE_BY_CLASS: u32;
    const LINE_POLLED: u32;
    const NODE_HOLDS: u32;
    const NODE_WAKES: u32;
    const NODE_BREAKS: u32;
    const WAYS_IN_TURN: u32;
    const WAYS_COUNTED: u32;
    const PAIR_ARRIVES: u32;
}

const NONE: u32 = u32::MAX;
const NOT_COVERED: &str = "Uniform::new refuses it";

/// A row.
type Row = [u32; 4];

impl Node {
    /// Its calendar, of rates or of servers.
    pub(super) fn calendar(&self) -> Option<Calendar> {
        match &self.kind {
            Kind::Source { rates, .. } => *rates,
            Kind::Station { schedule, .. } => *schedule,
            Kind::Router | Kind::Fork { .. } | Kind::Sink => None,
        }
    }
}

/// All rows of data, and the constants of the text.
pub(super) fn tables(ir: &Ir, layout: &Layout) -> (Vec<Row>, Vec<(String, String)>) {
    let mut tables = Tables { ir, layout, data: ir.rows(), node_rows: 5 };
    let kinds = || ir.nodes.iter().map(|node| &node.kind);
    let breaks = kinds().any(|kind| matches!(kind, Kind::Station { breakdown: Some(_), .. }));
    if breaks {
        tables.node_rows += 4;
    }
    // Laws of patience and travel, and single routes, precede the rows of nodes and classes.
    let pairs: Vec<Vec<[Row; 4]>> = (0..ir.nodes.len()).map(|node| tables.pairs(node)).collect();
    let slots = tables.next();
    tables.slots();
    let nodes = tables.next();
    for node in 0..ir.nodes.len() {
        let rows = tables.node(node);
        tables.data.extend(rows);
    }
    let first = tables.next();
    tables.data.extend(pairs.into_iter().flatten().flatten());
    let servers = kinds().map(|kind| match kind {
        Kind::Station { service: Service::Slots { count, .. }, .. } => *count,
        _ => 0,
    });
    let [travel_slot, travel_heap] = ir.travel.unwrap_or_default();
    let number = |name: &str, value: u32| (name.to_owned(), format!("{value}u"));
    let mut constants = vec![
        number("NETWORK_CLASSES", ir.classes),
        number("NETWORK_NODES", word(ir.nodes.len())),
        number("NETWORK_SLOTS", word(ir.slots.len())),
        number("NETWORK_RINGS", word(ir.rings.len())),
        number("NETWORK_HEAPS", ir.heaps),
        number("NETWORK_RING_WORDS", word(ir.ring_words())),
        number("NETWORK_SERVERS", servers.max().unwrap_or(0)),
        // Features that the form lacks.
        number("NETWORK_CLASS", 0xff),
        number("NETWORK_EXTRA", 0),
        number("NETWORK_KNOWN", 0),
        number("NETWORK_SHIFT", 0),
        number("NETWORK_LIMITS", 0),
        number("NETWORK_TRAVEL_SLOT", travel_slot),
        number("NETWORK_TRAVEL_HEAP", travel_heap),
        number("NODE_ROWS", tables.node_rows),
        number("TABLE_SLOTS", slots),
        number("TABLE_NODES", nodes),
        number("TABLE_PAIRS", first),
    ];
    let stations = |is: fn(&Kind) -> bool| kinds().any(is);
    let routes =
        |is: fn(&Routes) -> bool| ir.nodes.iter().flat_map(|node| &node.pairs).any(|pair| is(&pair.routes));
    let features = [
        ("DETAILS", false),
        ("LONG", false),
        ("FORKS", false),
        ("PREEMPTS", false),
        ("OPEN", ir.is_open),
        ("BLOCKS", ir.blocks),
        ("PATIENCE", ir.is_impatient),
        ("TRAVELS", ir.travel.is_some()),
        ("BREAKS", breaks),
        ("CALENDARS", ir.nodes.iter().any(|node| node.calendar().is_some())),
        ("RATES", stations(|kind| matches!(kind, Kind::Source { rates: Some(_), .. }))),
        ("BATCHES", stations(|kind| matches!(kind, Kind::Source { batch: Some(_), .. }))),
        ("ROUTERS", stations(|kind| matches!(kind, Kind::Router))),
        ("WAKES", stations(|kind| matches!(kind, Kind::Station { wake: Some(_), .. }))),
        ("HOLDS", stations(|kind| matches!(kind, Kind::Station { holds: true, .. }))),
        ("BALKS", stations(|kind| matches!(kind, Kind::Station { balking: Some(_), .. }))),
        ("LOSES", ir.nodes.iter().any(Node::loses)),
        ("COUNTS", ir.nodes.iter().flat_map(|node| &node.pairs).any(|pair| pair.counts)),
        ("RANDOM", stations(|kind| matches!(kind, Kind::Station { lines: Lines::Random { .. }, .. }))),
        ("BY_CLASS", stations(|kind| matches!(kind, Kind::Station { lines: Lines::ByClass { .. }, .. }))),
        ("CHANCES", routes(|routes| matches!(routes, Routes::Chance { .. }))),
        ("IN_TURN", routes(|routes| matches!(routes, Routes::InTurn { .. }))),
    ];
    constants.extend(features.map(|(name, is)| (format!("NETWORK_{name}"), is.to_string())));
    (tables.data, constants)
}

fn word(length: usize) -> u32 {
    u32::try_from(length).expect("a network has fewer than 2^32 rows")
}

struct Tables<'i> {
    ir: &'i Ir,
    layout: &'i Layout,
    data: Vec<Row>,
    node_rows: u32,
}

impl Tables<'_> {
    /// The number of the next row.
    fn next(&self) -> u32 {
        word(self.data.len())
    }

    fn law(&self, law: &Law) -> [Row; 2] {
        [self.data[law.row as usize], self.data[law.row as usize + 1]]
    }

    /// The place of a node's words.
    fn words(&self, node: usize) -> u32 {
        word(self.layout.nodes[node].first)
    }

    /// The rows of the classes at a node.
    fn pairs(&mut self, node: usize) -> Vec<[Row; 4]> {
        let node = &self.ir.nodes[node];
        node.pairs.iter().zip(0..).map(|(pair, class)| self.pair(node, pair, class)).collect()
    }

    fn pair(&mut self, node: &Node, pair: &Pair, class: u32) -> [Row; 4] {
        let law = match &node.kind {
            Kind::Source { arrivals, class: own, .. } if *own == class => Some(arrivals),
            _ => pair.service.as_ref(),
        };
        let [first, second] = law.map_or([[0; 4]; 2], |law| self.law(law));
        let patience = pair.patience.as_ref().map(|law| self.law(law));
        let patience = patience.map_or(NONE, |rows| self.add(&rows));
        let travels: Vec<Row> = pair.travels.iter().flat_map(|law| self.law(law)).collect();
        let travels = self.add(&travels);
        let batch = matches!(node.kind, Kind::Source { batch: Some(_), .. });
        let draws = matches!(pair.routes, Routes::Chance { .. }) || !pair.travels.is_empty() || batch;
        let (routes, mut bits) = match pair.routes {
            Routes::None => (self.add(&[[NONE, 0, NONE, 0]]), 1),
            Routes::One { node, word } => (self.add(&[[NONE, 0, node, word]]), 1),
            Routes::Chance { first, count } => (first, count),
            Routes::InTurn { first, count } => (first, count | WAYS_IN_TURN),
            Routes::Shortest { .. } => unreachable!("{NOT_COVERED}"),
        };
        if draws {
            bits |= WAYS_COUNTED;
        }
        let [low, high, ..] = if pair.comes { self.data[pair.stream as usize] } else { [0; 4] };
        let counts = if pair.counts { PAIR_ARRIVES } else { 0 };
        [first, second, [low, high, routes, bits], [counts, patience, travels, pair.population]]
    }

    /// Adds rows. Returns the number of the first.
    fn add(&mut self, rows: &[Row]) -> u32 {
        let first = self.next();
        self.data.extend(rows);
        first
    }

    /// A row for each slot of next times.
    fn slots(&mut self) {
        let mut rows = vec![[EVENT_EMITS, 0, 0, 0]; self.ir.slots.len()];
        let mut set = |slot: u32, row: Row| rows[slot as usize] = row;
        for (number, node) in self.ir.nodes.iter().enumerate() {
            let (at, words) = (word(number), self.words(number));
            let event = |what: u32, last: u32| [what, at, words, last];
            if let Some(Calendar { slot, .. }) = node.calendar() {
                set(slot, event(EVENT_PIECE, 0));
            }
            match &node.kind {
                Kind::Source { slot, class, .. } => set(*slot, event(EVENT_EMITS, *class)),
                Kind::Station { service, patience, breakdown, wake, blocked, .. } => {
                    match *service {
                        Service::Slots { first, count } => {
                            (first..first + count).for_each(|slot| set(slot, event(EVENT_ENDS, 0)));
                        }
                        Service::Heap { slot, heap, .. } => set(slot, event(EVENT_HEAP, heap)),
                        Service::Preemptive { .. } | Service::Shared { .. } => unreachable!("{NOT_COVERED}"),
                    }
                    if let Some([slot, heap]) = *patience {
                        set(slot, event(EVENT_RENEGE, heap));
                    }
                    if let Some(breakdown) = breakdown {
                        set(breakdown.slot, event(EVENT_SHIFT, 0));
                    }
                    if let Some(wake) = *wake {
                        set(wake, event(EVENT_WAKE, 0));
                    }
                    if let Some([_, admit]) = *blocked {
                        set(admit, event(EVENT_ADMIT, 0));
                    }
                }
                Kind::Router | Kind::Fork { .. } | Kind::Sink => {}
            }
        }
        if let Some([slot, heap]) = self.ir.travel {
            set(slot, [EVENT_TRIPS, 0, 0, heap]);
        }
        self.data.extend(rows);
    }

    /// The rows of a node.
    fn node(&self, number: usize) -> Vec<Row> {
        let node = &self.ir.nodes[number];
        let place = &self.layout.nodes[number];
        let value = |row: u32| self.data[row as usize][0];
        let mut main = [word(place.sums) << 16, 0, NONE, 0];
        let mut more = [self.words(number), 0, NONE, 0];
        let mut limits = [NONE, 0, 0, 0];
        let mut changes = [0; 4];
        let mut own = [0, NONE, NONE, 0];
        let mut laws = [[0; 4]; 4];
        if let Some(Calendar { slot, first, count }) = node.calendar() {
            (changes[2], changes[3], own[1]) = (first, count, slot);
        }
        match &node.kind {
            Kind::Source { slot, class, batch, .. } => {
                main[0] |= NODE_SOURCE;
                main[1] = *slot;
                own[2] = batch.map_or(1, value);
                own[3] = *class;
            }
            Kind::Fork { .. } => unreachable!("{NOT_COVERED}"),
            Kind::Router => main[0] |= NODE_ROUTER,
            Kind::Sink => main[0] |= NODE_SINK,
            Kind::Station {
                service,
                lines,
                room,
                balking,
                patience,
                schedule: _,
                breakdown,
                wake,
                blocked,
                holds,
            } => {
                match *service {
                    Service::Slots { first, count } => {
                        main[0] |= NODE_SLOTS;
                        (main[1], main[2]) = (first, count);
                    }
                    Service::Heap { slot, heap, servers } => {
                        main[0] |= NODE_HEAP;
                        (main[1], main[2], more[1]) = (slot, servers.map_or(NONE, value), heap);
                    }
                    Service::Preemptive { .. } | Service::Shared { .. } => unreachable!("{NOT_COVERED}"),
                }
                let (line, ring) = match *lines {
                    Lines::None => (LINE_NONE, 0),
                    Lines::One { ring, last: false } => (LINE_FIRST, ring),
                    Lines::One { ring, last: true } => (LINE_LAST, ring),
                    Lines::Random { ring, stream } => {
                        own[0] = stream;
                        (LINE_RANDOM, ring)
                    }
                    Lines::ByClass { first, polled: false } => (LINE_BY_CLASS, first),
                    Lines::ByClass { first, polled: true } => (LINE_POLLED, first),
                };
                main[0] |= line << 4;
                main[3] = ring;
                more[2] = room.map_or(NONE, value);
                if let Some([ring, admit]) = *blocked {
                    (limits[0], limits[1]) = (ring, admit);
                }
                if let Some([slot, heap]) = *patience {
                    (limits[2], limits[3]) = (slot, heap);
                }
                if let Some([first, count]) = *balking {
                    (changes[0], changes[1]) = (first, count);
                }
                if let Some(slot) = *wake {
                    main[0] |= NODE_WAKES;
                    more[3] = slot;
                }
                if *holds {
                    main[0] |= NODE_HOLDS;
                }
                if let Some(breakdown) = breakdown {
                    main[0] |= NODE_BREAKS;
                    (own[0], own[2]) = (breakdown.stream, breakdown.slot);
                    let (up, repair) = (self.law(&breakdown.up), self.law(&breakdown.repair));
                    laws = [up[0], up[1], repair[0], repair[1]];
                }
            }
        }
        let rows = [main, more, limits, changes, own].into_iter().chain(laws);
        rows.take(self.node_rows as usize).collect()
    }
}
