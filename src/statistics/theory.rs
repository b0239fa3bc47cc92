//! What queueing theory says about the models, for comparison with what a simulation says.
//!
//! The steady-state formulas are those of Kleinrock, Queueing Systems I (1975), sections 3.2 (M/M/1) and 3.8,
//! and of Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory, 4th ed., section 2.5
//! (M/M/c/K). A replication of a fixed number of clients that starts empty has not reached the steady state
//! at its start, and its mean is a little below. Many replications show that difference, so the expectations
//! of such finite replications are here too, exactly.

use super::AnalysisError;
use super::error::Result;

/// One server, unlimited room, Poisson arrivals, exponential service, first come first served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mm1 {
    arrival_rate: f64,
    service_rate: f64,
}

impl Mm1 {
    /// Rates are per unit of time, in any one unit; both must be positive.
    pub fn new(arrival_rate: f64, service_rate: f64) -> Result<Self> {
        check_rate("the arrival rate", arrival_rate)?;
        check_rate("the service rate", service_rate)?;
        Ok(Self { arrival_rate, service_rate })
    }

    /// Offered load: arrival rate over service rate. Below 1 it is also the share of time in which the server
    /// works.
    pub fn load(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }

    /// Share of time in which the server idles, in the steady state; none for a load of 1 or more, which has
    /// none.
    pub fn idle_share(&self) -> Option<f64> {
        self.steady(1.0 - self.load())
    }

    /// Mean time that a client waits before its service, in the steady state.
    pub fn time_in_queue(&self) -> Option<f64> {
        self.steady(self.load() / (self.service_rate - self.arrival_rate))
    }

    /// Mean time from a client's arrival to the end of its service, in the steady state.
    pub fn time_in_system(&self) -> Option<f64> {
        self.steady(1.0 / (self.service_rate - self.arrival_rate))
    }

    /// Mean number of clients in queue and service, in the steady state.
    pub fn number_in_system(&self) -> Option<f64> {
        self.steady(self.load() / (1.0 - self.load()))
    }

    fn steady(&self, value: f64) -> Option<f64> {
        (self.load() < 1.0).then_some(value)
    }

    /// Expected waiting time before service of client number `client`, counted from 0, which arrives at an
    /// empty system. For any load.
    ///
    /// By Spitzer's identity (Trans. Amer. Math. Soc. 82, 1956), client n expects to wait the sum over k =
    /// 1..n of E\[max(S_k, 0)\] / k, where S_k is the sum of k service times less k interarrival times. Takes
    /// time in proportion to `client`.
    pub fn time_in_queue_of(&self, client: u32) -> f64 {
        self.excess().take(client as usize).sum()
    }

    /// Expected mean waiting time of the first `clients` clients of a system that starts empty. For any load;
    /// 0 for no client.
    ///
    /// Takes time in proportion to `clients`.
    pub fn time_in_queue_of_first(&self, clients: u32) -> f64 {
        let n = f64::from(clients);
        // Term k counts for the clients k, k + 1, ... n - 1.
        let terms = self.excess().zip(1..clients);
        terms.map(|(excess, k)| excess * ((n - f64::from(k)) / n)).sum()
    }

    /// Expected mean time in the system of the first `clients` clients, at least one, of a system that starts
    /// empty.
    pub fn time_in_system_of_first(&self, clients: u32) -> f64 {
        self.time_in_queue_of_first(clients) + 1.0 / self.service_rate
    }

    /// Expected total time that the server has idled when client number `client`, counted from 0, begins its
    /// service, from the arrival of client 0 on. (From time 0, where the first interarrival time starts, it
    /// is 1 / arrival rate more.)
    ///
    /// Waiting and idling balance: between the arrivals of clients 0 and n, the server idles for as long as
    /// the interarrival times exceed the service times, plus what client n still waits.
    pub fn idle_time_until(&self, client: u32) -> f64 {
        let spare = 1.0 / self.arrival_rate - 1.0 / self.service_rate;
        f64::from(client) * spare + self.time_in_queue_of(client)
    }

    /// E[max(S_k, 0)] / k for k = 1, 2, ...
    ///
    /// Of the events of the two Poisson processes, each is an end of service with probability p and an
    /// arrival with q. S_k is positive if fewer than k of them are ends of service by the k-th arrival, and
    /// each missing one then takes 1 / service rate. With the binomial distribution of k arrivals in 2k - 1
    /// events,
    ///   E[max(S_k, 0)] = k / rate * (G (1 - p/q) + b p/q),  b = P(Bin = k),  G = P(Bin >= k),
    /// and two more events give the next b and G.
    fn excess(&self) -> impl Iterator<Item = f64> {
        let rates = self.arrival_rate + self.service_rate;
        let (p, q) = (self.service_rate / rates, self.arrival_rate / rates);
        let rate = self.service_rate;
        let (mut k, mut b, mut tail) = (1.0_f64, q, q);
        std::iter::from_fn(move || {
            let excess = (tail * (1.0 - p / q) + b * (p / q)) / rate;
            tail -= b * p * (p - q);
            b *= 2.0 * (2.0 * k + 1.0) / (k + 1.0) * p * q;
            k += 1.0;
            // The difference of two nearly equal numbers; the true value is never negative.
            Some(excess.max(0.0))
        })
    }
}

/// Several servers and a limited room: an arrival that finds `room` clients in queue and service together is
/// turned away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mmck {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    room: u32,
}

impl Mmck {
    /// Rates are per unit of time, the service rate that of one server; at least one server, and room for all
    /// of them.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32, room: u32) -> Result<Self> {
        check_rate("the arrival rate", arrival_rate)?;
        check_rate("the service rate", service_rate)?;
        if servers == 0 {
            let remedy = "choose at least 1";
            return Err(AnalysisError::Setting { what: "the number of servers", value: "0".into(), remedy });
        }
        if room < servers {
            let remedy = "count the clients in service too: at least the number of servers";
            return Err(AnalysisError::Setting { what: "the room", value: room.to_string(), remedy });
        }
        Ok(Self { arrival_rate, service_rate, servers, room })
    }

    /// Probability of each number of clients in the system, 0 to `room`, in the steady state.
    pub fn probabilities(&self) -> Vec<f64> {
        let mut weights = vec![1.0_f64];
        for n in 1..=self.room {
            let next = weights[n as usize - 1] * self.arrival_rate / self.departure_rate(n);
            weights.push(next);
            if next > 1e100 {
                weights.iter_mut().for_each(|weight| *weight *= 1e-100);
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// Probability that an arrival is turned away, in the steady state.
    pub fn blocking(&self) -> f64 {
        self.probabilities()[self.room as usize]
    }

    /// Mean number of clients in queue and service, in the steady state.
    pub fn number_in_system(&self) -> f64 {
        (0..=self.room).zip(self.probabilities()).map(|(n, p)| f64::from(n) * p).sum()
    }

    /// Mean time in the system of a client that is let in, in the steady state (Little's law).
    pub fn time_in_system(&self) -> f64 {
        self.number_in_system() / (self.arrival_rate * (1.0 - self.blocking()))
    }

    /// Mean time that a client that is let in waits before its service, in the steady state.
    pub fn time_in_queue(&self) -> f64 {
        self.time_in_system() - 1.0 / self.service_rate
    }

    /// Expected share of the first `arrivals` arrivals that is turned away, from an empty system; 0 for no
    /// arrival.
    ///
    /// Takes time in proportion to `arrivals` times the room.
    pub fn blocking_of_first(&self, arrivals: u32) -> f64 {
        self.mean_over_arrivals(arrivals, |found| f64::from(u8::from(found == self.room)))
    }

    /// Expected total waiting time of the first `arrivals` arrivals, from an empty system, divided by
    /// `arrivals`; those turned away count with 0. (Divided by the number let in, it would be a ratio of two
    /// random numbers, with no such simple expectation.)
    ///
    /// Takes time in proportion to `arrivals` times the room.
    pub fn time_in_queue_per_arrival_of_first(&self, arrivals: u32) -> f64 {
        let all_busy = f64::from(self.servers) * self.service_rate;
        self.mean_over_arrivals(arrivals, |found| {
            let ahead = if found == self.room { 0 } else { (found + 1).saturating_sub(self.servers) };
            f64::from(ahead) / all_busy
        })
    }

    /// Mean over the arrivals of the expectation of `value` of the number of clients that the arrival finds.
    ///
    /// The distribution of that number is carried from arrival to arrival: from n clients the next event is
    /// an arrival with probability arrival rate / (arrival rate + departure rate of n), and else there are n
    /// - 1.
    fn mean_over_arrivals(&self, arrivals: u32, value: impl Fn(u32) -> f64) -> f64 {
        let values: Vec<f64> = (0..=self.room).map(value).collect();
        let stays: Vec<f64> = (0..=self.room)
            .map(|n| self.arrival_rate / (self.arrival_rate + self.departure_rate(n)))
            .collect();
        let room = self.room as usize;
        let mut found = vec![0.0; room + 1];
        let mut sum = 0.0;
        if arrivals > 0 {
            found[0] = 1.0;
        }
        for _ in 0..arrivals {
            sum += found.iter().zip(&values).map(|(p, v)| p * v).sum::<f64>();
            // The arrival joins, or is turned away.
            let turned_away = found[room];
            found.rotate_right(1);
            found[0] = 0.0;
            found[room] += turned_away;
            // Departures until the next arrival, from the top down.
            for n in (1..=room).rev() {
                let leaves = found[n] * (1.0 - stays[n]);
                found[n] -= leaves;
                found[n - 1] += leaves;
            }
        }
        sum / f64::from(arrivals.max(1))
    }

    fn departure_rate(&self, clients: u32) -> f64 {
        f64::from(clients.min(self.servers)) * self.service_rate
    }
}

fn check_rate(what: &'static str, rate: f64) -> Result<()> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(());
    }
    Err(AnalysisError::Setting { what, value: rate.to_string(), remedy: "choose a positive rate" })
}
