//! Park and Fishwick's method on the CPU, with a binary heap of departures.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::{FelError, FelNetwork, FelResults, FelRow, busy_until, interval_word, rounded};
use crate::random::mix;
use crate::time::Ticks;

/// Reference implementation of [`FelSimulation`](crate::facility::FelSimulation): the same network
/// on the CPU, with a binary heap of departures.
#[derive(Debug)]
pub struct FelReference<'a> {
    network: &'a FelNetwork,
    seed: u64,
    interval: u32,
    until: Ticks,
    /// The time of the last iteration, and the number of consecutive iterations at that time.
    last: (u64, u32),
    rows: Vec<Row>,
    departures: BinaryHeap<Reverse<(u64, u32)>>,
}

/// A facility.
#[derive(Debug, Clone, Default)]
struct Row {
    /// Waiting tokens with the times of their arrivals.
    queue: VecDeque<(u32, u64)>,
    service: Option<Service>,
    began: u64,
    /// Of all services that have begun.
    busy: u64,
    waited: u64,
}

#[derive(Debug, Clone, Copy)]
struct Service {
    token: u32,
    target: u32,
    /// The end of the service, as drawn, and in whole intervals.
    original: u64,
    departs: u64,
}

impl<'a> FelReference<'a> {
    /// The network at time zero.
    ///
    /// # Errors
    /// [`FelError::Setting`] for an interval beyond 2^31 ticks.
    pub fn new(network: &'a FelNetwork, seed: u64, interval: Ticks) -> Result<Self, FelError> {
        let mut tokens = 0..;
        let rows = network.tokens.iter().map(|&held| {
            let queue = (&mut tokens).take(held as usize).map(|token| (token, 0)).collect();
            Row { queue, ..Row::default() }
        });
        let rows = rows.collect();
        let interval = interval_word(interval)?;
        let mut reference = Self {
            network,
            seed,
            interval,
            until: Ticks::ZERO,
            rows,
            departures: BinaryHeap::new(),
            last: (0, 0),
        };
        for facility in 0..u32::try_from(network.len()).expect("at most 2^28") {
            reference.serve_next(facility, 0);
        }
        Ok(reference)
    }

    /// Executes all events before `until`. Returns the time it reached.
    ///
    /// # Errors
    /// [`FelError::Stuck`].
    pub fn run(&mut self, until: Ticks) -> Result<Ticks, FelError> {
        self.until = until.min(Ticks::new(u64::MAX >> 2)).max(self.until);
        while let Some(&Reverse((now, _))) = self.departures.peek() {
            if now >= self.until.get() {
                break;
            }
            let again = if now == self.last.0 { self.last.1 + 1 } else { 0 };
            if again >= PATIENCE {
                self.until = Ticks::new(now);
                return Err(FelError::Stuck { time: now, interval: self.interval });
            }
            self.last = (now, again);
            self.iterate(now);
        }
        Ok(self.until)
    }

    /// Executes the events of one time.
    fn iterate(&mut self, now: u64) {
        let mut departed = Vec::new();
        while let Some(&Reverse((time, facility))) = self.departures.peek()
            && time == now
        {
            self.departures.pop();
            departed.push(facility);
        }
        // By facility, its arrivals in order of original time, hash, source.
        let mut arrivals: BTreeMap<u32, Vec<(u64, u64, u32, u32)>> = BTreeMap::new();
        for &source in &departed {
            let Service { token, target, original, .. } =
                self.rows[source as usize].service.take().expect("it departs");
            let [seed, time] = [self.seed, original].map(|wide| Ticks::new(wide).to_words());
            let tie = mix(KIND_TIE, [seed[0], seed[1], time[0], time[1], token]);
            arrivals.entry(target).or_default().push((original, tie, source, token));
        }
        for facility in departed {
            self.serve_next(facility, now);
        }
        for (facility, mut arriving) in arrivals {
            arriving.sort_unstable();
            for (_, _, _, token) in arriving {
                self.rows[facility as usize].queue.push_back((token, now));
                if self.rows[facility as usize].service.is_none() {
                    self.serve_next(facility, now);
                }
            }
        }
    }

    /// Serves the first waiting token, if there is one.
    fn serve_next(&mut self, facility: u32, now: u64) {
        let row = &mut self.rows[facility as usize];
        let Some((token, arrived)) = row.queue.pop_front() else { return };
        row.began += 1;
        let (service, target) = self.network.draw(self.seed, facility, row.began);
        let departs = rounded(now, service, self.interval);
        row.waited += now - arrived;
        row.busy += departs - now;
        row.service = Some(Service { token, target, original: now + service, departs });
        self.departures.push(Reverse((departs, facility)));
    }

    /// The results up to the end of the last run.
    pub fn results(&self) -> FelResults {
        let facility = |row: &Row| {
            let departs = row.service.map(|service| Ticks::new(service.departs));
            let busy = busy_until(row.busy, departs, self.until);
            FelRow { began: row.began, busy, waited: Ticks::new(row.waited), departs }
        };
        FelResults { time: self.until, facilities: self.rows.iter().map(facility).collect() }
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
