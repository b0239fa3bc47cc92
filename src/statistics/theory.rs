//! Results of queueing theory for the models, to compare with simulations.
//!
//! The steady-state formulas are those of Kleinrock, Queueing Systems I (1975), sections 3.2
//! (M/M/1) and 3.8, and of Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory,
//! 4th ed., section 2.5 (M/M/c/K); the others name their sources. A replication with a fixed number
//! of clients that starts empty is not in the steady state at its start, and its mean is a little
//! below. Many replications show that difference, so exact expectations of such finite replications
//! are here too.

mod networks;
#[cfg(test)]
mod tests;

use super::AnalysisError;
use super::error::Result;

pub use networks::ClosedNetwork;
pub(crate) use networks::GordonNewell;

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

    /// Offered load: arrival rate over service rate. Below 1 it is also the share of time in which
    /// the server works.
    pub fn load(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }

    /// Mean time that a client waits before its service, in the steady state; `None` for a load of
    /// 1 or more, which has no steady state.
    pub fn time_in_queue(&self) -> Option<f64> {
        self.steady(self.load() / (self.service_rate - self.arrival_rate))
    }

    /// Mean time from a client's arrival to the end of its service, in the steady state.
    pub fn time_in_system(&self) -> Option<f64> {
        self.steady(1.0 / (self.service_rate - self.arrival_rate))
    }

    fn steady(&self, value: f64) -> Option<f64> {
        (self.load() < 1.0).then_some(value)
    }

    /// Expected waiting time before service of client number `client`, counted from 0, in a system
    /// that starts empty. For any load.
    ///
    /// By Spitzer's identity (Trans. Amer. Math. Soc. 82, 1956), the expected wait of client n is
    /// the sum over k = 1..n of E\[max(S_k, 0)\] / k, where S_k is the sum of k service times less
    /// k interarrival times. Takes time in proportion to `client` up to the convergence of the
    /// terms, which is late for loads near 1.
    pub fn time_in_queue_of(&self, client: u32) -> f64 {
        let (mut sum, mut left) = (0.0, client);
        for excess in self.excess().take(client as usize) {
            (sum, left) = (sum + excess, left - 1);
        }
        sum + self.growth() * f64::from(left)
    }

    /// Expected mean waiting time of the first `clients` clients of a system that starts empty. For
    /// any load; 0 without clients.
    ///
    /// Takes time as [`time_in_queue_of`](Self::time_in_queue_of) does.
    pub fn time_in_queue_of_first(&self, clients: u32) -> f64 {
        let n = f64::from(clients);
        let (mut sum, mut left) = (0.0, n - 1.0);
        // Term k counts for the clients k, k + 1, ... n - 1.
        for (excess, k) in self.excess().zip(1..clients) {
            left = n - f64::from(k);
            sum += excess * (left / n);
            left -= 1.0;
        }
        sum + self.growth() * (left.max(0.0) * (left + 1.0) / (2.0 * n.max(1.0)))
    }

    /// Expected mean time in the system of the first `clients` clients (at least one) of a system
    /// that starts empty.
    pub fn time_in_system_of_first(&self, clients: u32) -> f64 {
        self.time_in_queue_of_first(clients) + 1.0 / self.service_rate
    }

    /// Expected total idle time of the server when client number `client`, counted from 0, begins
    /// its service, from the arrival of client 0 on. (From time 0, when the first interarrival time
    /// starts, it is 1 / arrival rate more.)
    ///
    /// Waiting and idling balance: between the arrivals of clients 0 and n, the server idles for
    /// the excess of the interarrival times over the service times, plus the wait of client n.
    pub fn idle_time_until(&self, client: u32) -> f64 {
        let spare = 1.0 / self.arrival_rate - 1.0 / self.service_rate;
        f64::from(client) * spare + self.time_in_queue_of(client)
    }

    /// The long-run growth of the wait from one client to the next: the limit of
    /// [`excess`](Self::excess).
    fn growth(&self) -> f64 {
        (1.0 / self.service_rate - 1.0 / self.arrival_rate).max(0.0)
    }

    /// E[max(S_k, 0)] / k for k = 1, 2, ... until the terms have converged, to the last place of
    /// their sum.
    ///
    /// Each event of the two Poisson processes is an end of service with probability p and an
    /// arrival with q. S_k is positive if fewer than k of them are ends of service by the k-th
    /// arrival, and each missing one then takes 1 / service rate. With the binomial distribution of
    /// k arrivals in 2k - 1 events,
    ///   E[max(S_k, 0)] = k / rate * (G (1 - p/q) + b p/q),  b = P(Bin = k),  G = P(Bin >= k),
    /// and two more events give the next b and G.
    fn excess(&self) -> impl Iterator<Item = f64> {
        let rates = self.arrival_rate + self.service_rate;
        let (p, q) = (self.service_rate / rates, self.arrival_rate / rates);
        let rate = self.service_rate;
        let (mut k, mut b, mut tail) = (1.0_f64, q, q);
        std::iter::from_fn(move || {
            // From here on b falls by a factor of at most 4 p q = 1 - (p - q)^2.
            if b < 1e-18 * (p - q) * (p - q) {
                return None;
            }
            let excess = (tail * (1.0 - p / q) + b * (p / q)) / rate;
            tail -= b * p * (p - q);
            b *= 2.0 * (2.0 * k + 1.0) / (k + 1.0) * p * q;
            k += 1.0;
            // The difference of two nearly equal numbers; the true value is never negative.
            Some(excess.max(0.0))
        })
    }
}

/// Several servers and limited room: an arrival that finds `room` clients in queue and service is
/// turned away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mmck {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    room: u32,
}

impl Mmck {
    /// Rates are per unit of time, the service rate for one server. There is at least one server,
    /// and room for all of them.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32, room: u32) -> Result<Self> {
        check_rate("the arrival rate", arrival_rate)?;
        check_rate("the service rate", service_rate)?;
        if servers == 0 {
            let remedy = "choose at least 1";
            return Err(AnalysisError::Setting { what: "the number of servers", value: "0".into(), remedy });
        }
        if room < servers {
            let remedy = "it includes clients in service: choose at least the number of servers";
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

    /// Mean time in the system of an accepted client, in the steady state (Little's law).
    pub fn time_in_system(&self) -> f64 {
        self.number_in_system() / (self.arrival_rate * (1.0 - self.blocking()))
    }

    /// Mean wait of an accepted client before its service, in the steady state.
    pub fn time_in_queue(&self) -> f64 {
        self.time_in_system() - 1.0 / self.service_rate
    }

    /// Expected share of the first `arrivals` arrivals that is turned away, from an empty system; 0
    /// without arrivals.
    ///
    /// Takes time in proportion to `arrivals` times the room.
    pub fn blocking_of_first(&self, arrivals: u32) -> f64 {
        self.mean_over_arrivals(arrivals, |found| f64::from(u8::from(found == self.room)))
    }

    /// Expected total waiting time of the first `arrivals` arrivals, from an empty system, divided
    /// by `arrivals`; rejected ones count with 0. (Divided by the number of accepted ones, it would
    /// be a ratio of two random numbers, without such a simple expectation.)
    ///
    /// Takes time in proportion to `arrivals` times the room.
    pub fn time_in_queue_per_arrival_of_first(&self, arrivals: u32) -> f64 {
        let all_busy = f64::from(self.servers) * self.service_rate;
        self.mean_over_arrivals(arrivals, |found| {
            let ahead = if found == self.room { 0 } else { (found + 1).saturating_sub(self.servers) };
            f64::from(ahead) / all_busy
        })
    }

    /// Mean over the arrivals of the expectation of `value` of the number of clients that the
    /// arrival finds.
    ///
    /// The distribution of that number is computed from arrival to arrival: with n clients, the
    /// next event is an arrival with probability arrival rate / (arrival rate + departure rate of
    /// n), and otherwise a departure to n-1 clients.
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

/// Erlang-A, M/M/c+M: several servers, and customers that leave the line when their patience ends,
/// after an exponential time. All results are for the steady state, which always exists.
///
/// Palm, "Research on telephone traffic carried by full availability groups" (1957); Garnett,
/// Mandelbaum and Reiman, "Designing a call center with impatient customers", Manufacturing &
/// Service Operations Management 4(3), 2002. The probabilities of this birth-death chain are summed
/// until the remaining ones are negligible, which takes time in proportion to the number of
/// customers present.
#[derive(Debug, Clone, PartialEq)]
pub struct ErlangA {
    arrival_rate: f64,
    service_rate: f64,
    abandonment_rate: f64,
    servers: u32,
    /// Of each number of customers in line and service, without negligible ones.
    probabilities: Vec<f64>,
}

impl ErlangA {
    /// Rates are per unit of time: the service rate for one server, the abandonment rate for one
    /// waiting customer.
    pub fn new(arrival_rate: f64, service_rate: f64, abandonment_rate: f64, servers: u32) -> Result<Self> {
        check_rate("the arrival rate", arrival_rate)?;
        check_rate("the service rate", service_rate)?;
        check_rate("the abandonment rate", abandonment_rate)?;
        if servers == 0 {
            let remedy = "choose at least 1";
            return Err(AnalysisError::Setting { what: "the number of servers", value: "0".into(), remedy });
        }
        // If arrivals exceed service, the line grows until abandonments balance them.
        let waiting = (arrival_rate - f64::from(servers) * service_rate) / abandonment_rate;
        if waiting.is_nan() || waiting > 1e7 {
            let (what, value) = ("the abandonment rate", abandonment_rate.to_string());
            let remedy = "choose a larger one; more than 10 million customers would wait";
            return Err(AnalysisError::Setting { what, value, remedy });
        }
        let mut chain =
            Self { arrival_rate, service_rate, abandonment_rate, servers, probabilities: vec![1.0] };
        let (mut weight, mut sum) = (1.0_f64, 1.0_f64);
        for n in 1.. {
            let ratio = arrival_rate / chain.death_rate(n);
            weight *= ratio;
            sum += weight;
            chain.probabilities.push(weight);
            if sum > 1e100 {
                chain.probabilities.iter_mut().for_each(|weight| *weight *= 1e-100);
                (weight, sum) = (weight * 1e-100, sum * 1e-100);
            }
            // From here on the ratios fall, so the remaining weights are below a geometric series.
            if n >= servers && ratio < 1.0 && weight * ratio < 1e-20 * sum * (1.0 - ratio) {
                break;
            }
        }
        chain.probabilities.iter_mut().for_each(|weight| *weight /= sum);
        Ok(chain)
    }

    /// The rate at which one of `number` customers leaves, served or not.
    fn death_rate(&self, number: u32) -> f64 {
        let waiting = number.saturating_sub(self.servers);
        f64::from(number.min(self.servers)) * self.service_rate + f64::from(waiting) * self.abandonment_rate
    }

    /// The expectation of a function of the number in line and service.
    fn mean(&self, value: impl Fn(u32) -> f64) -> f64 {
        (0..).zip(&self.probabilities).map(|(n, p)| p * value(n)).sum()
    }

    /// Probability that a customer finds all servers busy.
    pub fn delay(&self) -> f64 {
        self.mean(|n| f64::from(u8::from(n >= self.servers)))
    }

    /// Mean number of customers in the line.
    pub fn number_waiting(&self) -> f64 {
        self.mean(|n| f64::from(n.saturating_sub(self.servers)))
    }

    /// Mean number of customers in line and service.
    pub fn number_in_system(&self) -> f64 {
        self.mean(f64::from)
    }

    /// Share of time in which a server works.
    pub fn utilisation(&self) -> f64 {
        self.mean(|n| f64::from(n.min(self.servers))) / f64::from(self.servers)
    }

    /// Probability that a customer leaves the line: arrivals equal services plus abandonments.
    pub fn abandonment(&self) -> f64 {
        self.abandonment_rate * self.number_waiting() / self.arrival_rate
    }

    /// Mean time in the line of all customers, including those that leave it and those that find a
    /// free server (Little's law).
    pub fn time_in_queue(&self) -> f64 {
        self.number_waiting() / self.arrival_rate
    }

    /// Mean time in the line of served customers, including those that find a free server.
    ///
    /// Number j in the line becomes number j - 1 after an exponential time at the rate r(j) = c ×
    /// service rate + j × abandonment rate, unless it leaves, which has the probability abandonment
    /// rate / r(j), whatever that time. So it is served with the probability c × service rate /
    /// r(j), and then has waited for 1 / r(j) + ... + 1 / r(1) on average.
    pub fn time_in_queue_of_served(&self) -> f64 {
        let working = f64::from(self.servers) * self.service_rate;
        let (mut served, mut waited, mut wait) = (0.0, 0.0, 0.0);
        for (n, p) in (0..).zip(&self.probabilities) {
            let mut share = *p;
            if n >= self.servers {
                let rate = self.death_rate(n + 1);
                wait += 1.0 / rate;
                share *= working / rate;
                waited += share * wait;
            }
            served += share;
        }
        waited / served
    }
}

/// One server and classes of customers with preemptive-resume priorities, Poisson arrivals,
/// exponential service: an arriving customer preempts the service of a lower class, which continues
/// later where it stopped.
///
/// Cobham, "Priority assignment in waiting line problems", Operations Research 2(1), 1954, has the
/// formula without preemption, White and Christie, "Queuing with preemptive priorities or with
/// breakdown", Operations Research 6(1), 1958, with preemption; Gross, Shortle, Thompson and
/// Harris, Fundamentals of Queueing Theory, 4th ed., section 3.4.
#[derive(Debug, Clone, PartialEq)]
pub struct Priorities {
    classes: Vec<(f64, f64)>,
}

impl Priorities {
    /// The (arrival rate, service rate) of each class, highest priority first. Rates are per unit
    /// of time.
    pub fn new(classes: &[(f64, f64)]) -> Result<Self> {
        for &(arrival_rate, service_rate) in classes {
            check_rate("the arrival rate", arrival_rate)?;
            check_rate("the service rate", service_rate)?;
        }
        Ok(Self { classes: classes.to_vec() })
    }

    /// Offered load of the first `classes` classes.
    pub fn load(&self, classes: usize) -> f64 {
        self.classes
            .iter()
            .take(classes)
            .map(|(arrival_rate, service_rate)| arrival_rate / service_rate)
            .sum()
    }

    /// Mean time from the arrival of a customer of class `class`, counted from 0, to the end of the
    /// service, in the steady state; `None` if there is no such class, or if the load of it and
    /// those before it is 1 or more.
    ///
    /// With the load s(k) of the classes up to k, it is (1 / service rate + R / (1 - s(k))) / (1 -
    /// s(k - 1)), where R is the mean residual work of the service that a customer finds, of the
    /// classes up to k: the sum of arrival rate / service rate^2.
    pub fn time_in_system(&self, class: usize) -> Option<f64> {
        let (_, service_rate) = self.classes.get(class)?;
        let (before, load) = (self.load(class), self.load(class + 1));
        let left: f64 =
            self.classes[..=class].iter().map(|(arrival, service)| arrival / (service * service)).sum();
        (load < 1.0).then(|| (1.0 / service_rate + left / (1.0 - load)) / (1.0 - before))
    }
}

/// M/M/c: several servers, unlimited room, Poisson arrivals, exponential service. All results are
/// for the steady state, at a load below 1.
///
/// Erlang's delay formula: Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory,
/// 4th ed., section 2.3. Means do not depend on the order of service, if that is independent of
/// service times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mmc {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
}

impl Mmc {
    /// Rates are per unit of time, the service rate for one server; the load is below 1.
    pub(crate) fn new(arrival_rate: f64, service_rate: f64, servers: u32) -> Result<Self> {
        check_rate("the arrival rate", arrival_rate)?;
        check_rate("the service rate", service_rate)?;
        let queue = Self { arrival_rate, service_rate, servers };
        check_load(queue.utilisation())?;
        Ok(queue)
    }

    /// Share of time in which a server works.
    pub(crate) fn utilisation(&self) -> f64 {
        self.arrival_rate / (f64::from(self.servers) * self.service_rate)
    }

    /// Probability that a customer finds all servers busy (Erlang C), from the recursion of Erlang
    /// B, which has no large numbers.
    pub(crate) fn delay(&self) -> f64 {
        let offered = self.arrival_rate / self.service_rate;
        let blocked =
            (1..=self.servers).fold(1.0, |blocked, n| offered * blocked / (f64::from(n) + offered * blocked));
        let load = self.utilisation();
        blocked / (1.0 - load * (1.0 - blocked))
    }

    /// Mean time that a customer waits before its service.
    pub(crate) fn time_in_queue(&self) -> f64 {
        self.delay() / (f64::from(self.servers) * self.service_rate - self.arrival_rate)
    }

    /// Mean time from arrival to the end of service.
    pub(crate) fn time_in_system(&self) -> f64 {
        self.time_in_queue() + 1.0 / self.service_rate
    }

    /// Mean number of customers in line and service (Little's law).
    pub(crate) fn number_in_system(&self) -> f64 {
        self.arrival_rate * self.time_in_system()
    }
}

/// M/G/1 with classes of customers with their own service times: one server, unlimited room,
/// Poisson arrivals, any service. Results are for the steady state, if there is one.
///
/// Pollaczek and Khinchine for one line, Cobham (Operations Research 2(1), 1954) for priorities;
/// Gross, Shortle, Thompson and Harris, Fundamentals of Queueing Theory, 4th ed., sections 5.1 and
/// 3.4. Preempted services continue where they stopped (preemptive resume).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mg1 {
    classes: Vec<Mg1Class>,
}

/// A class of customers of [`Mg1`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mg1Class {
    /// Arrivals per unit of time.
    pub(crate) arrival_rate: f64,
    /// Mean time of service.
    pub(crate) mean: f64,
    /// Variance of the time of service.
    pub(crate) variance: f64,
}

impl Mg1 {
    /// The classes, highest priority first if there are priorities.
    pub(crate) fn new(classes: &[Mg1Class]) -> Result<Self> {
        for class in classes {
            check_rate("the arrival rate", class.arrival_rate)?;
            check_rate("the mean time of service", class.mean)?;
        }
        Ok(Self { classes: classes.to_vec() })
    }

    /// Offered load of the first `classes` classes.
    pub(crate) fn load(&self, classes: usize) -> f64 {
        self.classes.iter().take(classes).map(|class| class.arrival_rate * class.mean).sum()
    }

    /// The mean residual work of the service that a customer finds, of the first `classes` classes.
    fn residual(&self, classes: usize) -> f64 {
        let of = |class: &Mg1Class| class.arrival_rate * (class.variance + class.mean * class.mean) / 2.0;
        self.classes.iter().take(classes).map(of).sum()
    }

    /// Mean wait of a customer of any class in one line, in any order that is independent of
    /// service times; `None` for a load of 1 or more.
    pub(crate) fn time_in_queue(&self) -> Option<f64> {
        let all = self.classes.len();
        (self.load(all) < 1.0).then(|| self.residual(all) / (1.0 - self.load(all)))
    }

    /// The same for a class, counted from 0, with non-preemptive priorities.
    pub(crate) fn time_in_queue_by_priority(&self, class: usize) -> Option<f64> {
        let (before, load) = (self.load(class), self.load(class + 1));
        let steady = class < self.classes.len() && load < 1.0;
        // Later classes count only by the service in progress, if they have a steady state.
        let residual = self.residual(self.classes.len());
        (steady && self.load(self.classes.len()) < 1.0).then(|| residual / ((1.0 - before) * (1.0 - load)))
    }

    /// Mean time from the arrival of a customer of a class to the end of service, with preemptive
    /// priorities.
    pub(crate) fn time_in_system_preemptive(&self, class: usize) -> Option<f64> {
        let service = self.classes.get(class)?.mean;
        let (before, load) = (self.load(class), self.load(class + 1));
        (load < 1.0).then(|| (service + self.residual(class + 1) / (1.0 - load)) / (1.0 - before))
    }
}

fn check_load(load: f64) -> Result<()> {
    if load < 1.0 {
        return Ok(());
    }
    let remedy = "choose one below 1; otherwise there is no steady state";
    Err(AnalysisError::Setting { what: "the load", value: load.to_string(), remedy })
}

fn check_rate(what: &'static str, rate: f64) -> Result<()> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(());
    }
    Err(AnalysisError::Setting { what, value: rate.to_string(), remedy: "choose a positive rate" })
}
