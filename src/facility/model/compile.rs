//! Compiles a network into a model.

use bytemuck::Zeroable as _;

use super::streams::collision;
use super::tables::{Tables, bin_shift, capacity, discipline, flags, population, rings, servers, tables};
use super::{
    BLOCK, FacilityParams, MOST_ROOM, OTHERS, PREEMPTIVE, RING, RING_SIZE, ROOM, SERVER_ROWS, SHARING, word,
};
use crate::facility::check::{Form, check};
use crate::facility::nodes::{Choice, Kind, Node};
use crate::facility::resolution::resolution;
use crate::facility::scale::TimeScale;
use crate::facility::{Discipline, Distribution, Facility, FacilityError, Network};
use crate::pdes::Capacity;
use crate::time::Ticks;

impl Network {
    /// Checks the network and compiles it into a model.
    ///
    /// # Errors
    /// [`FacilityError`], with the node.
    pub fn compile(&self) -> Result<Facility, FacilityError> {
        Facility::new(self, false)
    }

    /// The same for networks that may be unstable.
    ///
    /// # Errors
    /// As [`Network::compile`], except [`FacilityError::Unstable`] and
    /// [`FacilityError::Unchecked`].
    pub fn compile_unstable(&self) -> Result<Facility, FacilityError> {
        Facility::new(self, true)
    }
}

impl Facility {
    /// A network that runs as a process model: its nodes and names, without tables.
    pub(in crate::facility) fn without_tables(
        network: &Network,
        allow_unstable: bool,
    ) -> Result<Self, FacilityError> {
        let (resolution, rounding) = resolution(network, Form::Process)?;
        let scale = TimeScale::new(resolution, network.until);
        let nodes = check(network, scale, allow_unstable, Form::Process)?;
        let bin_shift = bin_shift(&nodes, resolution);
        Ok(Self {
            network: network.clone(),
            nodes,
            resolution,
            rounding,
            data: Vec::new(),
            params: FacilityParams { bin_shift, ..FacilityParams::zeroed() },
            capacity: Capacity { queue: 0, mailbox: 0 },
            lookahead: Ticks::ZERO,
        })
    }

    fn new(network: &Network, allow_unstable: bool) -> Result<Self, FacilityError> {
        let (resolution, rounding) = resolution(network, Form::Network)?;
        let scale = TimeScale::new(resolution, network.until);
        let nodes = check(network, scale, allow_unstable, Form::Network)?;
        if let Some([first, second]) = collision(&nodes, &network.classes) {
            return Err(FacilityError::SameStreams { first, second });
        }
        let Tables { data, lookahead } = tables(&nodes, &network.classes, scale);
        let third = |node: &Node| {
            node.blocks || node.kind == Kind::Fork || matches!(discipline(node), PREEMPTIVE | SHARING)
        };
        let params = FacilityParams {
            classes: word(network.classes.len()),
            slot_rows: if nodes.iter().any(third) {
                3
            } else if network.classes.len() == 1 && nodes.iter().all(rings) {
                1
            } else {
                2
            },
            bin_shift: bin_shift(&nodes, resolution),
            ..FacilityParams::zeroed()
        };
        let capacity = capacity(&nodes, scale, lookahead);
        let network = network.clone();
        let made = Self { network, nodes, resolution, rounding, data, params, capacity, lookahead };
        let made = made.laid_out(false);
        let room = made.most_waiting().min(ROOM);
        Ok(made.with_room(room))
    }

    /// Whether it needs the full interpreter; `shaders/facility/network_plain.wgsl` lists what it
    /// lacks.
    pub(super) fn special(&self) -> bool {
        let of = |node: &Node| {
            let interrupts = matches!(discipline(node), PREEMPTIVE | SHARING);
            interrupts
                || !node.calendar.is_empty()
                || node.kind == Kind::Fork
                || node.choice == Choice::Shortest
        };
        let has = |node: &Node| of(node) || flags(node, &self.nodes) != 0;
        self.params.details != 0 || self.params.trace != 0 || self.nodes.iter().any(has)
    }

    /// Whether `shaders/facility/network_simple.wgsl` suffices, if the full interpreter is not
    /// needed.
    pub(super) fn simple(&self) -> bool {
        let is_simple =
            |law: &Distribution| matches!(law, Distribution::Exponential(_) | Distribution::Constant(_));
        let of = |node: &Node| {
            let pairs = node.pairs.iter();
            let laws = pairs.flat_map(|pair| {
                pair.service.iter().chain(pair.all_routes().filter_map(|route| route.travel.as_ref()))
            });
            let arrivals = match &node.kind {
                Kind::Source { interarrival, .. } => Some(interarrival),
                _ => None,
            };
            node.balking.is_empty() && laws.chain(arrivals).all(is_simple)
        };
        self.params.slot_rows == 1 && self.nodes.iter().all(of)
    }

    /// Lays out rows, with or without details for distributions.
    pub(in crate::facility) fn laid_out(mut self, details: bool) -> Self {
        let most = |of: &dyn Fn(&Node) -> u32| self.nodes.iter().map(of).max().unwrap_or(0);
        let known = most(&|node| if node.choice == Choice::Shortest { word(node.most_ways()) } else { 0 });
        let servers =
            most(&|node| if flags(node, &self.nodes) & SERVER_ROWS == 0 { 0 } else { servers(node) });
        let classes = self.params.classes;
        let first = BLOCK * (1 + classes) + OTHERS * classes;
        self.params.details = if details { first } else { 0 };
        self.params.known = first + if details { self.detail_rows() } else { 0 };
        self.params.servers = self.params.known + known.div_ceil(4);
        self.params.trace = self.params.servers + 2 * servers;
        self.params.slots = self.params.trace + self.params.trace_rows;
        if self.params.trace_rows == 0 {
            self.params.trace = 0;
        }
        self
    }

    /// Slots for the current room.
    pub(super) fn slots(&self) -> u32 {
        let room = self.params.room;
        let has_ring = self.nodes.iter().any(|node| discipline(node) == RING);
        if has_ring && room > 0 { room.next_power_of_two().max(RING_SIZE) } else { room }
    }

    /// Upper bound of the customers that can wait at any station.
    pub(in crate::facility) fn most_waiting(&self) -> u32 {
        let open = self.nodes.iter().any(|node| matches!(node.kind, Kind::Source { .. }));
        let population = population(&self.nodes);
        let of = |node: &Node| match node.kind {
            Kind::Station { servers: Some(_), .. } if node.blocks && open => MOST_ROOM,
            Kind::Station { servers: Some(_), .. } if node.blocks => population,
            Kind::Station { discipline: Discipline::Sharing, capacity: Some(capacity), .. } => capacity,
            // A schedule may leave fewer servers.
            Kind::Station { servers: Some(_), capacity: Some(capacity), .. } if !node.plain() => capacity,
            Kind::Station { servers: Some(servers), capacity: Some(capacity), .. } => capacity - servers,
            Kind::Station { servers: Some(_), .. } if open => MOST_ROOM,
            Kind::Station { servers: Some(_), .. } | Kind::Fork if !open => population,
            Kind::Fork => MOST_ROOM,
            _ => 0,
        };
        self.nodes.iter().map(of).max().unwrap_or(0).min(MOST_ROOM)
    }
}
