//! From a checked network to the [`Ir`], or the reason why the compiled form does not cover it.

use super::ir::{Breakdown, Calendar, Details, Ir, Kind, Law, Lines, Node, Pair, Routes, Service, Slot};
use crate::facility::distribution::TABLE_WORD;
use crate::facility::distribution::whole;
use crate::facility::model::{odds, stream_name};
use crate::facility::nodes;
use crate::facility::nodes::Choice;
use crate::facility::scale::TimeScale;
use crate::facility::{Discipline, Distribution, Facility};
use crate::pdes::Model as _;
use crate::random::AliasTable;
use crate::time::Ticks;

/// The most servers of a station with a slot for each.
const MOST_SLOTS: u32 = 4;
/// Nodes have 15 bits in lists.
const MOST_NODES: usize = 1 << 15;
/// Forks have 6 bits in the class of their tasks.
const MOST_FORKS: u32 = (1 << 6) - 1;
/// The most customers present at the start, which arrive in one round.
const MOST_AT_START: u32 = 128;

/// The lowered network.
pub(super) fn lower(facility: &Facility) -> Result<Ir, String> {
    let network = &facility.network;
    let mut lowering = Lowering {
        scale: TimeScale::new(facility.resolution, network.until),
        names: &network.classes,
        nodes: &facility.nodes,
        known: Vec::new(),
        tables: Vec::new(),
        tabled: Vec::new(),
        ir: Ir {
            classes: word(network.classes.len()),
            is_open: facility.nodes.iter().any(|node| matches!(node.kind, nodes::Kind::Source { .. })),
            nodes: Vec::new(),
            slots: Vec::new(),
            rings: Vec::new(),
            heaps: 0,
            extra: 0,
            known: 0,
            is_impatient: false,
            preempts: false,
            forks: 0,
            blocks: facility.nodes.iter().any(|node| node.blocks),
            details: None,
            travel: None,
            data: Vec::new(),
        },
    };
    if facility.nodes.len() > MOST_NODES {
        return Err(format!("more than {MOST_NODES} nodes"));
    }
    let present = facility.nodes.iter().flat_map(|node| &node.pairs);
    if present.map(|pair| pair.population).fold(0, u32::saturating_add) > MOST_AT_START {
        return Err(format!("more than {MOST_AT_START} customers are present at the start"));
    }
    lowering.know();
    for node in &facility.nodes {
        let lowered = lowering.node(node).map_err(|what| format!("`{}`: {what}", node.name))?;
        lowering.ir.nodes.push(lowered);
    }
    let (mut ir, tabled) = (lowering.ir, lowering.tabled);
    if ir.nodes.iter().flat_map(|node| &node.pairs).any(|pair| !pair.travels.is_empty()) {
        // The last slot: trips that end now arrive after all events of nodes.
        ir.travel = Some([word(ir.slots.len()), ir.heaps]);
        ir.slots.push(Slot { heap: Some(ir.heaps), travels: true, ..Slot::default() });
        ir.heaps += 1;
    }
    // Rows of slots and rings come first.
    let first = word(ir.slots.len() + ir.rings.len());
    if facility.details() {
        let limits = facility.limits();
        ir.details = Some(Details {
            row: first + word(ir.data.len()),
            limits: word(limits.len()),
            zero: facility.place_of(Ticks::ZERO),
        });
        ir.data.push([facility.params().bin_shift, 0, 0, 0]);
        ir.data.extend(limits);
        // The last words, for each node.
        ir.extra += 2 * word(facility.nodes.len());
    }
    ir.nodes.iter_mut().for_each(|node| node.move_rows(first));
    tabled.iter().for_each(|&row| ir.data[row as usize][TABLE_WORD] += first);
    Ok(ir)
}

fn word(length: usize) -> u32 {
    u32::try_from(length).expect("a network has fewer than 2^32 nodes")
}

struct Lowering<'n> {
    scale: TimeScale,
    names: &'n [String],
    nodes: &'n [nodes::Node],
    /// By node that chooses the shortest line, the first number of customers that it knows.
    known: Vec<u32>,
    /// The first rows of tables of distributions, and the rows of distributions that name them.
    tables: Vec<(Distribution, u32)>,
    tabled: Vec<u32>,
    ir: Ir,
}

impl Lowering<'_> {
    fn node(&mut self, node: &nodes::Node) -> Result<Node, &'static str> {
        let place = word(self.ir.nodes.len()) * self.ir.classes;
        let kind = match node.kind {
            nodes::Kind::Source { interarrival, class, batch } => Kind::Source {
                // At one time, the rate changes first.
                rates: self.calendar(node)?,
                slot: self.slot(Slot::default()),
                class: word(class),
                arrivals: self.law(&interarrival)?,
                batch: (batch > 1).then(|| self.row([batch, 0, 0, 0])),
            },
            nodes::Kind::Station { servers, capacity, discipline } => {
                self.station(place, node, servers, capacity, discipline)?
            }
            nodes::Kind::Router => Kind::Router,
            nodes::Kind::Sink => Kind::Sink,
            nodes::Kind::Fork => {
                self.ir.forks += 1;
                // A place is empty after a join.
                self.ir.is_impatient = true;
                Kind::Fork { fork: self.ir.forks, ring: self.ring(place) }
            }
        };
        if self.ir.forks > MOST_FORKS {
            return Err("more than 63 forks");
        }
        let pairs = node.pairs.iter().enumerate().map(|(class, pair)| self.pair(node, class, pair));
        let pairs = pairs.collect::<Result<_, _>>()?;
        Ok(Node { kind, pairs, listeners: self.listeners()? })
    }

    /// Places for the numbers of customers that nodes know.
    fn know(&mut self) {
        for node in self.nodes.iter().filter(|node| node.choice == Choice::Shortest) {
            self.known.push(self.ir.known);
            self.ir.known += word(node.most_ways());
        }
        self.ir.extra = 2 * self.ir.known;
    }

    /// The nodes that choose the next one if its line is the shortest.
    fn listeners(&self) -> Result<Vec<[u32; 2]>, &'static str> {
        let number = self.ir.nodes.len();
        let choosers = self.nodes.iter().enumerate().filter(|(_, node)| node.choice == Choice::Shortest);
        let mut listeners = Vec::new();
        for ((chooser, node), known) in choosers.zip(&self.known) {
            let Some(pair) = node.pairs.iter().find(|pair| !pair.routes.is_empty()) else { continue };
            if let Some(place) = pair.routes.iter().position(|route| route.node == number) {
                if chooser == number {
                    return Err("the shortest line, from one of these lines");
                }
                listeners.push([word(chooser), known + word(place)]);
            }
        }
        Ok(listeners)
    }

    /// Further words of the state: the first one.
    fn words(&mut self, words: u32) -> u32 {
        self.ir.extra += words;
        self.ir.extra - words
    }

    fn station(
        &mut self,
        place: u32,
        node: &nodes::Node,
        servers: Option<u32>,
        capacity: Option<u32>,
        discipline: Discipline,
    ) -> Result<Kind, &'static str> {
        // Servers may be free while customers wait.
        let holds = node.holds(self.nodes);
        let wakes = servers.is_some() && (!node.calendar.is_empty() || node.breakdown.is_some() || holds);
        let shares = discipline == Discipline::Sharing;
        let preempts = discipline == Discipline::Preemptive;
        let room = match (servers, capacity) {
            (Some(_), capacity) if wakes || node.blocks || shares || preempts => capacity,
            (Some(servers), Some(capacity)) => {
                Some(capacity.checked_sub(servers).ok_or("a capacity below its servers")?)
            }
            _ => None,
        };
        // At one time, services end first; then servers change, servers wake, patience ends.
        let serves = Slot { serves: Some(place), ..Slot::default() };
        let service = match servers {
            Some(count) if shares => {
                let heap = self.heap();
                // The heap of departures.
                self.heap();
                let slot = self.slot(Slot { heap: Some(heap), ..serves });
                let (servers, clock) = (self.row([count, 0, 0, 0]), self.words(4));
                Service::Shared { slot, heap, servers, clock }
            }
            Some(count) if preempts => {
                if count > MOST_SLOTS {
                    return Err("preemption at more than 4 servers");
                }
                if node.blocks {
                    return Err("preemption where customers are blocked");
                }
                self.ir.preempts = true;
                let slots: Vec<_> = (0..count).map(|_| self.slot(serves)).collect();
                Service::Preemptive { first: slots[0], count, began: self.words(count) }
            }
            Some(count) if count <= MOST_SLOTS && !wakes && !node.blocks => {
                let slots: Vec<_> = (0..count).map(|_| self.slot(serves)).collect();
                Service::Slots { first: slots[0], count }
            }
            servers => {
                let heap = self.heap();
                let slot = self.slot(Slot { heap: Some(heap), ..serves });
                Service::Heap { slot, heap, servers: servers.map(|servers| self.row([servers, 0, 0, 0])) }
            }
        };
        let mut breakdown = None;
        if let Some((up, repair)) = &node.breakdown {
            let (up, repair, stream) = (self.law(up)?, self.law(repair)?, self.stream(node, None));
            breakdown = Some(Breakdown { slot: self.slot(Slot::default()), up, repair, stream });
        }
        let schedule = self.calendar(node)?;
        // At one time, servers that other nodes release are free before these slots' events.
        let late = Slot { late: Some(word(self.ir.nodes.len())), ..Slot::default() };
        let wake = wakes.then(|| self.slot(late));
        let lines = match discipline {
            Discipline::Sharing => Lines::None,
            // (An arriving customer may take a server, and the other one joins the line.)
            Discipline::Preemptive => self.by_class(place, false),
            _ if servers.is_none() || room == Some(0) => Lines::None,
            Discipline::Fifo => Lines::One { ring: self.ring(place), last: false },
            Discipline::Lifo => Lines::One { ring: self.ring(place), last: true },
            Discipline::Priority | Discipline::Polling => {
                self.by_class(place, discipline == Discipline::Polling)
            }
            Discipline::Random => Lines::Random { ring: self.ring(place), stream: self.stream(node, None) },
        };
        let mut blocked = None;
        if node.blocks {
            self.ir.rings.push((place, true));
            blocked = Some([word(self.ir.rings.len() - 1), self.slot(late)]);
        }
        let mut patience = None;
        if node.pairs.iter().any(|pair| self.leaves(pair)) && lines != Lines::None {
            if node.blocks {
                return Err("patience where customers are blocked");
            }
            let heap = self.heap();
            patience = Some([self.slot(Slot { heap: Some(heap), ..late }), heap]);
            self.ir.is_impatient = true;
        }
        let rows: Vec<_> =
            node.balking.iter().map(|&leaves| self.row([odds(1.0 - leaves), 0, 0, 0])).collect();
        let balking = rows.first().map(|&first| [first, word(rows.len())]);
        // (Without a line, a room of 0 needs no row: a customer that finds no server is lost.)
        let room = room.filter(|_| lines != Lines::None || shares).map(|room| self.row([room, 0, 0, 0]));
        Ok(Kind::Station {
            service,
            lines,
            room,
            balking,
            patience,
            schedule,
            breakdown,
            wake,
            blocked,
            holds,
        })
    }

    /// The slot and the rows of the node's calendar.
    fn calendar(&mut self, node: &nodes::Node) -> Result<Option<Calendar>, &'static str> {
        if node.calendar.is_empty() {
            return Ok(None);
        }
        let (slot, first) = (self.slot(Slot::default()), word(self.ir.data.len()));
        for &(lasts, value) in &node.calendar {
            let [low, high] = whole(lasts, self.scale).map_err(|_| "a schedule out of range")?.to_words();
            let value = match node.kind {
                nodes::Kind::Source { .. } => odds(value),
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "servers, which were whole numbers"
                )]
                _ => value as u32,
            };
            self.row([low, high, value, 0]);
        }
        Ok(Some(Calendar { slot, first, count: word(node.calendar.len()) }))
    }

    /// Whether patience of a class may end.
    fn leaves(&self, pair: &nodes::Pair) -> bool {
        pair.comes && pair.patience.is_some_and(|law| !law.is_never(self.scale))
    }

    fn pair(&mut self, node: &nodes::Node, class: usize, pair: &nodes::Pair) -> Result<Pair, &'static str> {
        if !pair.comes {
            return Ok(Pair::default());
        }
        let service = pair.service.as_ref().map(|law| self.law(law)).transpose()?;
        let patience = pair.patience.as_ref().filter(|_| self.leaves(pair));
        let patience = patience.map(|law| self.law(law)).transpose()?;
        let stream = self.stream(node, Some(&self.names[class]));
        let mut travels = Vec::new();
        let mut words = Vec::new();
        for route in pair.all_routes() {
            if let Some(law) = &route.travel {
                travels.push(self.law(law)?);
            }
            let travel = route.travel.map_or(0, |_| word(travels.len()));
            let blocks = u32::from(self.nodes[route.node].blocks);
            words.push(word(route.class) | travel << 8 | blocks << 31);
        }
        let weights: Vec<f64> = pair.routes.iter().map(|route| route.probability).collect();
        let tasks = pair.tasks.iter().zip(&words[pair.routes.len()..]);
        let tasks = tasks.map(|(route, &last)| [word(route.node), last]).collect();
        let routes = match &pair.routes[..] {
            [] => Routes::None,
            [route] if node.choice != Choice::Shortest => {
                Routes::One { node: word(route.node), word: words[0] }
            }
            routes => {
                let table = AliasTable::new(&weights).map_err(|_| "routes without weights")?;
                let slots = table.words().chunks_exact(2).zip(routes).zip(words);
                let first = word(self.ir.data.len());
                for ((slot, route), last) in slots {
                    self.row([slot[0], slot[1], word(route.node), last]);
                }
                let count = word(routes.len());
                match node.choice {
                    Choice::InTurn => Routes::InTurn { first, count },
                    Choice::Chance => Routes::Chance { first, count },
                    Choice::Shortest => {
                        let number = self.ir.nodes.len();
                        let choosers = self.nodes[..number].iter();
                        let before = choosers.filter(|node| node.choice == Choice::Shortest).count();
                        Routes::Shortest { first, count, known: self.known[before] }
                    }
                }
            }
        };
        let counts = pair.patience.is_some() || !node.balking.is_empty();
        let departs = matches!(routes, Routes::Chance { .. }) || !travels.is_empty();
        let population = pair.population;
        Ok(Pair {
            comes: true,
            service,
            patience,
            counts,
            stream,
            routes,
            travels,
            tasks,
            departs,
            population,
        })
    }

    /// A new row of data.
    fn row(&mut self, words: [u32; 4]) -> u32 {
        self.ir.data.push(words);
        word(self.ir.data.len() - 1)
    }

    /// The row of the name of random streams.
    fn stream(&mut self, node: &nodes::Node, class: Option<&str>) -> u32 {
        let [low, high] = Ticks::new(stream_name(node, class)).to_words();
        self.row([low, high, 0, 0])
    }

    fn heap(&mut self) -> u32 {
        self.ir.heaps += 1;
        self.ir.heaps - 1
    }

    fn slot(&mut self, slot: Slot) -> u32 {
        self.ir.slots.push(slot);
        word(self.ir.slots.len() - 1)
    }

    fn by_class(&mut self, place: u32, polled: bool) -> Lines {
        let rings: Vec<_> = (0..self.ir.classes).map(|_| self.ring(place)).collect();
        Lines::ByClass { first: rings[0], polled }
    }

    fn ring(&mut self, place: u32) -> u32 {
        self.ir.rings.push((place, false));
        word(self.ir.rings.len() - 1)
    }

    fn law(&mut self, law: &Distribution) -> Result<Law, &'static str> {
        let words = law.words(self.scale).map_err(|_| "a distribution out of range")?;
        let [kind, number, a, b, c, d, e, f] = words;
        let row = self.row([kind, number, a, b]);
        self.row([c, d, e, f]);
        if let Some(table) = law.table(self.scale) {
            let known = self.tables.iter().find(|(known, _)| known == law).map(|(_, row)| *row);
            // The first row of the table is a number of a row, too.
            let first = known.unwrap_or(row + 2);
            if known.is_none() {
                self.ir.data.extend(table.iter());
                self.tables.push((*law, first));
            }
            self.ir.data[row as usize][TABLE_WORD] = first;
            self.tabled.push(row);
        }
        Ok(Law { kind: kind as usize, row })
    }
}

impl Node {
    /// Adds to the numbers of all rows.
    fn move_rows(&mut self, by: u32) {
        match &mut self.kind {
            Kind::Source { arrivals, batch, rates, .. } => {
                arrivals.row += by;
                batch.iter_mut().for_each(|row| *row += by);
                rates.iter_mut().for_each(|calendar| calendar.first += by);
            }
            Kind::Station { service, room, lines, balking, schedule, breakdown, .. } => {
                room.iter_mut().for_each(|row| *row += by);
                balking.iter_mut().for_each(|[first, _]| *first += by);
                schedule.iter_mut().for_each(|calendar| calendar.first += by);
                if let Some(Breakdown { up, repair, stream, .. }) = breakdown {
                    [&mut up.row, &mut repair.row, stream].into_iter().for_each(|row| *row += by);
                }
                if let Lines::Random { stream, .. } = lines {
                    *stream += by;
                }
                if let Service::Heap { servers: Some(row), .. } | Service::Shared { servers: row, .. } =
                    service
                {
                    *row += by;
                }
            }
            Kind::Router | Kind::Fork { .. } | Kind::Sink => {}
        }
        for pair in &mut self.pairs {
            pair.stream += by;
            let laws = pair.service.iter_mut().chain(&mut pair.patience).chain(&mut pair.travels);
            laws.for_each(|law| law.row += by);
            if let Routes::Chance { first, .. }
            | Routes::InTurn { first, .. }
            | Routes::Shortest { first, .. } = &mut pair.routes
            {
                *first += by;
            }
        }
    }
}

impl Ir {
    /// All rows that the text reads.
    pub(super) fn rows(&self) -> Vec<[u32; 4]> {
        const NONE: u32 = u32::MAX;
        let slots = self.slots.iter().map(|&Slot { serves, heap, travels, late }| {
            [serves.unwrap_or(NONE), heap.unwrap_or(NONE), travels.into(), late.unwrap_or(NONE)]
        });
        let rings = self.rings.iter().map(|&(place, blocked)| [place, blocked.into(), 0, 0]);
        slots.chain(rings).chain(self.data.iter().copied()).collect()
    }
}
