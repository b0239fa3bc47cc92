//! SIR on a graph.

use super::{ModelError, mean_time, span, sum};
use crate::gpu::Source;
use crate::pdes::{Capacity, Model, Totals};
use crate::random::Stream;
use crate::time::{Resolution, Ticks};
use std::borrow::Cow;

/// The most neighbours of a person: an infection sends to all of them at once, and llvmpipe ends
/// loops after 65,535 iterations.
const MOST_NEIGHBOURS: u32 = 1 << 14;

/// An epidemic on a graph (SIR): people are susceptible, then infected, then recovered. Infected
/// people become infectious after a latent time, and recover an exponential time later. Until then
/// each neighbour is infected after an exponential time.
///
/// Every LP is a person, and the latent time is the lookahead. Events carry 6 words: the infector,
/// the number of infections since the index case, the index case, and the time at which the
/// infector was infected.
///
/// The consequences of an infection are drawn when it happens, at the first event of that LP,
/// whatever its sender. So a run is first-passage percolation: the infected people are those that
/// can be reached in a random directed graph defined by the seed, and the times are those of
/// shortest paths. WGSL: `shaders/models/epidemic.wgsl`, which shows a graph in `data`, and
/// payloads of 6 words.
#[derive(Debug, Clone, PartialEq)]
pub struct Epidemic {
    people: u32,
    latent: Ticks,
    params: EpidemicParams,
    data: Vec<u32>,
    capacity: Capacity,
    resolution: Resolution,
}

/// The WGSL `struct Params` of [`Epidemic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct EpidemicParams {
    /// Mean time from the beginning of infectiousness to the infection of a neighbour.
    pub mean_contact: Ticks,
    /// Mean infectious time.
    pub mean_infectious: Ticks,
    /// Number of people, the last ones, that are infected at time 0.
    pub index_cases: u32,
    /// Zero.
    pub unused: u32,
}

/// The WGSL `struct State` of [`Epidemic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct EpidemicState {
    /// [`Epidemic::SUSCEPTIBLE`], [`Epidemic::INFECTED`] or [`Epidemic::RECOVERED`].
    pub status: u32,
    /// Total contacts with infectious people.
    pub contacts: u32,
    /// Neighbours that were or will be contacted before the recovery.
    pub infections: u32,
    /// Infections between an index case and this person.
    pub generation: u32,
    /// The infector; index cases are their own.
    pub infector: u32,
    /// The first person of this chain of infections.
    pub index_case: u32,
    /// Time of infection.
    pub infected: Ticks,
    /// Time of recovery.
    pub recovered: Ticks,
    /// From the infection of the infector to this one: the generation interval.
    pub interval: Ticks,
}

/// The WGSL `struct Output` of [`Epidemic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct EpidemicOutput {
    /// 0 for susceptible, 1 for infected, 2 for recovered.
    pub status: u32,
    /// Infections between an index case and this person.
    pub generation: u32,
    /// Time of infection.
    pub infected: Ticks,
    /// From the infection of the infector to this one.
    pub interval: Ticks,
    /// 1 for infected people, otherwise 0: the sum over all people is the number of cases.
    pub cases: u32,
    /// Zero.
    pub unused: u32,
}

impl Epidemic {
    /// The status of people never infected.
    pub const SUSCEPTIBLE: u32 = 0;
    /// The status of infected people that have not recovered.
    pub const INFECTED: u32 = 1;
    /// The status of recovered people.
    pub const RECOVERED: u32 = 2;

    /// An epidemic among `people`, who meet along `edges` (pairs of people; a repeated pair counts
    /// twice). The last `index_cases` people are infected at time 0. The latent time is in units of
    /// time, and the rates are per unit: the rate at which an infectious person infects a
    /// neighbour, and the rate of recovery.
    ///
    /// Capacities cover the worst case: each person is contacted at most once by each neighbour. If
    /// a few people have many neighbours, this is far too much for the others; use
    /// [`Epidemic::with_capacity`] for less.
    ///
    /// # Errors
    /// [`ModelError`], naming the value.
    pub fn new(
        people: u32,
        edges: &[(u32, u32)],
        index_cases: u32,
        latent: f64,
        contact_rate: f64,
        recovery_rate: f64,
        resolution: Resolution,
    ) -> Result<Self, ModelError> {
        if !(1..=people).contains(&index_cases) {
            let remedy = "choose at least 1, and at most the number of people";
            return Err(ModelError::setting("number of index cases", index_cases, remedy));
        }
        let params = EpidemicParams {
            mean_contact: mean_time("contact rate", contact_rate, resolution)?,
            mean_infectious: mean_time("recovery rate", recovery_rate, resolution)?,
            index_cases,
            unused: 0,
        };
        let latent = span("latent time", latent, resolution)?;
        let (data, most) = graph(people, edges)?;
        let capacity = Capacity { queue: most + 1, mailbox: most.max(1) };
        Ok(Self { people, latent, params, data, capacity, resolution })
    }

    /// Sets the capacities.
    #[must_use]
    pub fn with_capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }

    /// Edges of a random graph: of person 0 with `hub` others, and `edges` between the others
    /// (Erdős and Rényi's G(n, m), without duplicates).
    ///
    /// # Panics
    /// If there are fewer than three people, or fewer others than `hub`.
    pub fn random_edges(people: u32, edges: u32, hub: u32, seed: u64) -> Vec<(u32, u32)> {
        assert!(people > 2 && hub < people, "a hub with {hub} neighbours among {people} people");
        let mut stream = Stream::new(seed, u32::MAX, 0);
        let mut others: Vec<u32> = (1..people).collect();
        let mut found: Vec<_> = (0..hub)
            .map(|i| {
                let pick = i + stream.below(people - 1 - i);
                others.swap(i as usize, pick as usize);
                (0, others[i as usize])
            })
            .collect();
        for _ in 0..edges {
            let (a, b) = (1 + stream.below(people - 1), 1 + stream.below(people - 2));
            let b = if b < a { b } else { b + 1 };
            found.push((a.min(b), a.max(b)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// `data` of the graph, and the most neighbours of a person.
fn graph(people: u32, edges: &[(u32, u32)]) -> Result<(Vec<u32>, u32), ModelError> {
    let mut degrees = vec![0_u64; people as usize];
    for &(a, b) in edges {
        if a == b || a.max(b) >= people {
            let edge = format!("{a} to {b}");
            return Err(ModelError::setting("edge", edge, "connect two people, numbered from 0"));
        }
        degrees[a as usize] += 1;
        degrees[b as usize] += 1;
    }
    let most = degrees.iter().copied().max().unwrap_or(0);
    let remedy = "use at most 16384 (2^14) per person";
    let most = u32::try_from(most)
        .ok()
        .filter(|&most| most <= MOST_NEIGHBOURS)
        .ok_or_else(|| ModelError::setting("number of neighbours", most, remedy))?;
    let mut data = Vec::with_capacity(people as usize + 1 + 2 * edges.len());
    let mut end = u64::from(people) + 1;
    for degree in std::iter::once(&0).chain(&degrees) {
        end += degree;
        let place = u32::try_from(end);
        data.push(place.map_err(|_| {
            ModelError::setting("number of edges", edges.len(), "choose fewer: 2^31 places hold them")
        })?);
    }
    // Each edge is stored at both ends, in the order of the list.
    let mut next = data.clone();
    data.resize(data.len() + 2 * edges.len(), 0);
    for (from, to) in edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
        data[next[from as usize] as usize] = to;
        next[from as usize] += 1;
    }
    Ok((data, most))
}

impl Model for Epidemic {
    type State = EpidemicState;
    type Params = EpidemicParams;
    type Payload = [u32; 6];
    type Output = EpidemicOutput;

    fn name(&self) -> &str {
        "epidemic"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/epidemic.wgsl")
    }

    fn lps(&self) -> u32 {
        self.people
    }

    fn lookahead(&self) -> Ticks {
        self.latent
    }

    fn params(&self) -> EpidemicParams {
        self.params
    }

    fn data(&self) -> &[u32] {
        &self.data
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// `attack_rate`, the share of infected people; `mean_generation`, the average number of
    /// infections between an index case and a case; `last`, the time of the last infection, in
    /// units of time.
    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        let cases = sum(totals, "cases");
        let last = totals.column("infected").map_or(f64::NAN, |infected| infected.maximum().to_f64());
        vec![
            ("attack_rate".into(), cases / f64::from(self.people)),
            ("mean_generation".into(), sum(totals, "generation") / cases),
            ("last".into(), last / f64::from(self.resolution.ticks_per_unit())),
        ]
    }
}
