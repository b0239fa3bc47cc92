//! Closed networks of queues.

use super::super::AnalysisError;
use super::{Result, check_rate};

/// A closed network of queues: customers circulate between single servers with exponential service
/// (in the order of arrival) and delays with times of any distribution, such as travel between the
/// servers.
///
/// Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of
/// the ACM 27(2), 1980, which is exact for these (product-form) networks. Takes time in proportion
/// to the customers times the kinds of server.
///
/// ```
/// use eventhorizon::statistics::theory::ClosedNetwork;
///
/// // 16 alike servers and 32 customers, no way between them: K / (K + N - 1).
/// let network = ClosedNetwork::new(&[(16, 1.0)], 0.0, 32)?;
/// assert!((network.utilisation(0).unwrap() - 32.0 / 47.0).abs() < 1e-12);
/// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedNetwork {
    /// (number, demand) by kind.
    servers: Vec<(u32, f64)>,
    throughput: f64,
    /// Mean number at a server of each kind.
    numbers: Vec<f64>,
}

impl ClosedNetwork {
    /// Takes kinds of server, as (number, demand): the demand is the mean service that a customer
    /// needs from each of them in a cycle, which is the mean service time multiplied by the visits.
    /// In a cycle, it spends `delay` without waiting.
    ///
    /// Any cycle will do, if it is the same for all: if customers visit N servers equally often,
    /// and each route takes t, use one visit to each of them, and a `delay` of N × t.
    pub fn new(servers: &[(u32, f64)], delay: f64, customers: u32) -> Result<Self> {
        for &(_, demand) in servers {
            if !(demand > 0.0 && demand.is_finite()) {
                let remedy = "choose a positive time";
                return Err(AnalysisError::Setting { what: "the demand", value: demand.to_string(), remedy });
            }
        }
        if !(delay >= 0.0 && delay.is_finite()) {
            let remedy = "choose a time, or 0";
            return Err(AnalysisError::Setting { what: "the delay", value: delay.to_string(), remedy });
        }
        if servers.iter().all(|&(count, _)| count == 0) {
            let remedy = "choose at least 1";
            return Err(AnalysisError::Setting { what: "the number of servers", value: "0".into(), remedy });
        }
        let mut network =
            Self { servers: servers.to_vec(), throughput: 0.0, numbers: vec![0.0; servers.len()] };
        // An arriving customer finds the averages of the network with one customer less.
        for customer in 1..=customers {
            let times: Vec<_> = servers
                .iter()
                .zip(&network.numbers)
                .map(|(server, number)| server.1 * (1.0 + number))
                .collect();
            let round: f64 =
                servers.iter().zip(&times).map(|(server, time)| f64::from(server.0) * time).sum();
            network.throughput = f64::from(customer) / (round + delay);
            network.numbers = times.iter().map(|time| network.throughput * time).collect();
        }
        Ok(network)
    }

    /// Cycles per unit of time, of all customers together.
    pub fn throughput(&self) -> f64 {
        self.throughput
    }

    /// Share of time in which a server of a kind works; `None` if there is no such kind.
    pub fn utilisation(&self, kind: usize) -> Option<f64> {
        self.servers.get(kind).map(|server| server.1 * self.throughput)
    }

    /// Mean number of customers in queue and service at a server of a kind; `None` if there is no
    /// such kind.
    pub fn number(&self, kind: usize) -> Option<f64> {
        self.numbers.get(kind).copied()
    }
}

/// A closed product-form network with several servers at a node: exponential service with the same
/// distribution for all customers, or delays.
///
/// Gordon and Newell, "Closed queuing systems with exponential servers", Operations Research 15(2),
/// 1967, by Buzen's convolution ("Computational algorithms for closed queueing networks with
/// exponential servers", Communications of the ACM 16(9), 1973). It takes time in proportion to the
/// nodes times the square of the customers; if all have one server, [`ClosedNetwork`] is faster.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GordonNewell {
    throughput: f64,
    numbers: Vec<f64>,
}

impl GordonNewell {
    /// Takes nodes, as (servers, demand), with `None` for a delay: the demand is the mean service
    /// that a customer needs there in a cycle.
    pub(crate) fn new(nodes: &[(Option<u32>, f64)], customers: u32) -> Result<Self> {
        for &(_, demand) in nodes {
            check_rate("the demand", demand)?;
        }
        let size = customers as usize;
        let largest = nodes.iter().map(|node| node.1).fold(0.0, f64::max);
        // The weight of n customers at a node; demands are in units of the largest.
        let weights = |&(servers, demand): &(Option<u32>, f64)| {
            let mut weights = vec![1.0];
            for n in 1..=customers {
                let at_once = f64::from(servers.map_or(n, |servers| n.min(servers)));
                weights.push(weights[n as usize - 1] * demand / largest / at_once);
            }
            weights
        };
        let nodes: Vec<_> = nodes.iter().map(weights).collect();
        let mut none = vec![0.0; size + 1];
        none[0] = 1.0;
        // The weights of the nodes before each, and of those from each on.
        let mut before = vec![none.clone()];
        for weights in &nodes {
            before.push(convolve(&before[before.len() - 1], weights));
        }
        let all = &before[nodes.len()];
        if !all.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
            let remedy = "choose a smaller one; intermediate numbers would be too large or too small";
            return Err(AnalysisError::Setting {
                what: "the network",
                value: format!("{customers} customers at {} nodes", nodes.len()),
                remedy,
            });
        }
        let throughput = if size == 0 { 0.0 } else { all[size - 1] / all[size] / largest };
        let mut numbers = vec![0.0; nodes.len()];
        let mut after = none;
        for (number, weights) in nodes.iter().enumerate().rev() {
            let others = convolve(&before[number], &after);
            for n in 0..=size {
                let p = weights[n] * others[size - n] / all[size];
                let here = u32::try_from(n).map_or(f64::NAN, f64::from);
                numbers[number] += p * here;
            }
            after = convolve(&after, weights);
        }
        Ok(Self { throughput, numbers })
    }

    /// Cycles per unit of time, of all customers together.
    pub(crate) fn throughput(&self) -> f64 {
        self.throughput
    }

    /// Mean number of customers at a node; `None` if there is no such node.
    pub(crate) fn number(&self, node: usize) -> Option<f64> {
        self.numbers.get(node).copied()
    }
}

/// The first terms of the product of two series.
fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len()).map(|n| (0..=n).map(|k| a[k] * b[n - k]).sum()).collect()
}
