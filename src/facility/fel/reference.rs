//! Park and Fishwick's method on the CPU, with a binary heap of departures.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::network::FelFacility;
use super::{FelError, FelNetwork, FelResults, interval_word, rounded, row_of};
use crate::random::mix;
use crate::time::Ticks;

/// Reference implementation of [`FelSimulation`](crate::facility::FelSimulation): the same network
/// on the CPU, with a binary heap of departures. An iteration can be made step by step, in the
/// paper's terms (section 5.4).
///
/// ```
/// use eventhorizon::facility::{FelFacility, FelNetwork, FelReference};
/// use eventhorizon::time::Ticks;
///
/// let network = FelNetwork::from_facilities([
///     FelFacility::source(Ticks::new(100), vec![1]),
///     FelFacility::new(Ticks::new(80), vec![FelFacility::EXIT]).queue(5),
/// ])?;
/// let mut reference = FelReference::new(&network, 42, Ticks::ZERO)?; // step 1
/// while let Some(now) = reference.next_event_time().filter(|&now| now < Ticks::new(5000)) { // step 2
///     let released = reference.next_events(now); // step 3
///     reference.schedule_servers(now, &released); // steps 4 and 5
/// }
/// reference.run(Ticks::new(500_000))?; // all further iterations
/// let results = reference.results(); // step 6
/// assert!((results.utilisation() - 0.748).abs() < 0.03); // theory: M/M/1 with 6 places, load 0.8
/// # Ok::<(), eventhorizon::facility::FelError>(())
/// ```
#[derive(Debug)]
pub struct FelReference<'a> {
    network: &'a FelNetwork,
    seed: u64,
    interval: u32,
    until: Ticks,
    /// The time of the last iteration, and the number of consecutive iterations at that time.
    last: (u64, u32),
    rows: Vec<Row>,
    /// By server: its service. The first servers of all facilities come first, then the second.
    services: Vec<Option<Service>>,
    departures: BinaryHeap<Reverse<(u64, u32)>>,
    /// The servers whose tokens departed in this iteration.
    departed: Vec<u32>,
}

/// A facility.
#[derive(Debug, Clone, Default)]
struct Row {
    /// Waiting tokens with the times of their arrivals.
    queue: VecDeque<(u32, u64)>,
    began: u64,
    /// Of all services that have begun.
    busy: u64,
    waited: u64,
    dropped: u64,
}

#[derive(Debug, Clone, Copy)]
struct Service {
    token: u32,
    target: u32,
    /// The end of the service, as drawn, and in whole intervals.
    original: u64,
    departs: u64,
}

/// A token that a server has released, on its way to another facility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FelReleased {
    /// The token. Those of a source are numbered from 1.
    pub token: u32,
    /// The facility that released it.
    pub from: u32,
    /// The facility that it requests; `None` if it leaves the network.
    pub to: Option<u32>,
    /// Its time before it was rounded to a whole interval. Tokens that arrive together are taken in
    /// this order.
    pub original: Ticks,
    /// The server that released it, for ties.
    slot: u32,
}

impl<'a> FelReference<'a> {
    /// The network at time zero: step 1.
    ///
    /// # Errors
    /// [`FelError::Setting`] for an interval beyond 2^31 ticks.
    pub fn new(network: &'a FelNetwork, seed: u64, interval: Ticks) -> Result<Self, FelError> {
        let mut tokens = 0..;
        let rows = network.tokens.iter().map(|&held| {
            let queue = (&mut tokens).take(held as usize).map(|token| (token, 0)).collect();
            Row { queue, ..Row::default() }
        });
        let rows: Vec<_> = rows.collect();
        let interval = interval_word(interval)?;
        let mut reference = Self {
            network,
            seed,
            interval,
            until: Ticks::ZERO,
            services: vec![None; rows.len() * network.most_servers() as usize],
            rows,
            departures: BinaryHeap::new(),
            departed: Vec::new(),
            last: (0, 0),
        };
        for facility in 0..reference.count() {
            for server in 0..network.servers[facility as usize] {
                reference.serve_next(server * reference.count() + facility, 0);
            }
        }
        Ok(reference)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.rows.len()).expect("at most 2^28")
    }

    /// Executes all events before `until`. Returns the time it reached.
    ///
    /// # Errors
    /// [`FelError::Stuck`].
    pub fn run(&mut self, until: Ticks) -> Result<Ticks, FelError> {
        self.until = until.min(Ticks::new(u64::MAX >> 2)).max(self.until);
        while let Some(now) = self.next_event_time().filter(|&now| now < self.until) {
            let again = if now.get() == self.last.0 { self.last.1 + 1 } else { 0 };
            if again >= PATIENCE {
                self.until = now;
                return Err(FelError::Stuck { time: now.get(), interval: self.interval });
            }
            self.last = (now.get(), again);
            let released = self.next_events(now);
            self.schedule_servers(now, &released);
        }
        Ok(self.until)
    }

    /// Step 2, `NextEventTime`: the earliest time in the event list; `None` if it is empty.
    pub fn next_event_time(&self) -> Option<Ticks> {
        self.departures.peek().map(|&Reverse((time, _))| Ticks::new(time))
    }

    /// Step 3, `NextEvent` and `Release`: extracts the events of the earliest time. Servers release
    /// their tokens; [`FelReference::schedule_servers`] gives them the next.
    pub fn next_events(&mut self, now: Ticks) -> Vec<FelReleased> {
        let mut released = Vec::new();
        while let Some(&Reverse((time, slot))) = self.departures.peek()
            && time == now.get()
        {
            self.departures.pop();
            self.departed.push(slot);
            let service = self.services[slot as usize].take().expect("it departs");
            released.push(FelReleased {
                token: service.token,
                from: slot % self.count(),
                to: (service.target != FelFacility::EXIT).then_some(service.target),
                original: Ticks::new(service.original),
                slot,
            });
        }
        released
    }

    /// Steps 4 and 5, `ScheduleServer` and `Schedule`: servers that released a token take the first
    /// that waits. Then each facility takes the released tokens that request it, by their original
    /// times: into an idle server, into its queue, or it drops them. Services enter the event list.
    pub fn schedule_servers(&mut self, now: Ticks, released: &[FelReleased]) {
        for slot in std::mem::take(&mut self.departed) {
            self.serve_next(slot, now.get());
        }
        // By facility, its arrivals in order of original time, hash, server.
        let mut arrivals: BTreeMap<u32, Vec<(Ticks, u64, u32, u32)>> = BTreeMap::new();
        for &FelReleased { token, to, original, slot, .. } in released {
            let [seed, time] = [Ticks::new(self.seed), original].map(Ticks::to_words);
            let tie = mix(KIND_TIE, [seed[0], seed[1], time[0], time[1], token]);
            if let Some(to) = to {
                arrivals.entry(to).or_default().push((original, tie, slot, token));
            }
        }
        for (facility, mut arriving) in arrivals {
            arriving.sort_unstable();
            for (.., token) in arriving {
                self.request(facility, token, now.get());
            }
        }
    }

    /// A token requests a facility.
    fn request(&mut self, facility: u32, token: u32, now: u64) {
        let slots =
            (facility..).step_by(self.rows.len()).take(self.network.servers[facility as usize] as usize);
        let idle = slots.into_iter().find(|&slot| self.services[slot as usize].is_none());
        let row = &mut self.rows[facility as usize];
        let places = self.network.places.as_ref().map(|places| places[facility as usize] as usize);
        match idle {
            Some(slot) => self.serve(slot, token, now, now),
            None if places.is_some_and(|places| row.queue.len() >= places) => row.dropped += 1,
            None => row.queue.push_back((token, now)),
        }
    }

    /// A free server serves the first waiting token, if there is one. A source mints the next.
    fn serve_next(&mut self, slot: u32, now: u64) {
        let facility = (slot % self.count()) as usize;
        if self.network.is_source(facility) {
            let [number, _] = Ticks::new(self.rows[facility].began + 1).to_words();
            self.serve(slot, number, now, now);
        } else if let Some((token, arrived)) = self.rows[facility].queue.pop_front() {
            self.serve(slot, token, arrived, now);
        }
    }

    fn serve(&mut self, slot: u32, token: u32, arrived: u64, now: u64) {
        let facility = slot % self.count();
        let row = &mut self.rows[facility as usize];
        row.began += 1;
        let (service, target) = self.network.draw(self.seed, facility, row.began);
        let departs = rounded(now, service, self.interval);
        row.waited += now - arrived;
        row.busy += departs - now;
        self.services[slot as usize] = Some(Service { token, target, original: now + service, departs });
        self.departures.push(Reverse((departs, slot)));
    }

    /// The results up to the end of the last run: step 6.
    pub fn results(&self) -> FelResults {
        let facility = |(facility, row): (usize, &Row)| {
            let services = self.services.iter().skip(facility).step_by(self.rows.len());
            let departures = services.flatten().map(|service| Ticks::new(service.departs));
            let sums = [row.began, row.busy, row.waited, row.dropped];
            row_of(sums, departures, self.network.servers_of(facility), self.until)
        };
        FelResults { time: self.until, facilities: self.rows.iter().enumerate().map(facility).collect() }
    }
}
shared! {
    "facility/fel_depart.wgsl":
    /// Iterations at one time after which a run counts as stuck.
    const PATIENCE: u32;
}
shared! {
    "facility/fel_arrive.wgsl":
    /// Separates the hash that orders simultaneous arrivals from other hashes: "felt".
    const KIND_TIE: u32;
}
