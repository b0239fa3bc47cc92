//! Closed product-form networks of several classes, by mean value analysis.

use super::visits::{KnownFormula, mean_travel, visits};
use crate::facility::nodes::{Choice, Kind, Node};
use crate::facility::{Discipline, Distribution, Measure};

/// Most work: populations times nodes.
const MOST_WORK: usize = 20_000_000;

/// A node with one server for all classes, or a delay: mean times by class, and visits of each
/// class.
struct MvaNode {
    waits: bool,
    service: Vec<f64>,
    visits: Vec<f64>,
}

/// Solves a closed network without class changes: Reiser and Lavenberg, "Mean-value analysis of
/// closed multichain queuing networks", Journal of the ACM 27(2), 1980. Exact if each station has
/// one server, which is shared, or exponential with the same mean for all classes.
pub(super) fn closed(nodes: &[Node], known: &mut KnownFormula) {
    let classes = nodes.first().map_or(0, |node| node.pairs.len());
    let Some(rounds) = (0..classes).map(|class| visits(nodes, class)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let mut places = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let Kind::Station { servers, capacity: None, discipline } = node.kind else { return };
        let coming: Vec<usize> = (0..classes).filter(|&class| node.pairs[class].comes).collect();
        let laws: Vec<_> = coming.iter().map(|&class| node.pairs[class].service).collect();
        let alike =
            matches!(laws[0], Some(Distribution::Exponential(_))) && laws.iter().all(|law| *law == laws[0]);
        let fair = match (servers, discipline) {
            (None, _) => true,
            (Some(1), Discipline::Sharing) => true,
            (Some(1), Discipline::Fifo | Discipline::Lifo | Discipline::Random) => alike,
            _ => false,
        };
        let stays = coming.iter().all(|&class| {
            let pair = &node.pairs[class];
            pair.patience.is_none() && pair.routes.iter().all(|route| route.class == class)
        });
        if !fair || !stays || !node.plain() || node.choice != Choice::Chance {
            return;
        }
        let mean = |class: usize| node.pairs[class].service.map_or(0.0, |law| law.mean());
        places.push(MvaNode {
            waits: servers.is_some(),
            service: (0..classes).map(mean).collect(),
            visits: rounds.iter().map(|visits| visits[number]).collect(),
        });
    }
    if nodes.iter().flat_map(|node| &node.pairs).any(|pair| mean_travel(pair) > 0.0) {
        // Routes are one more delay, visited once per cycle.
        let travel = |class: usize, rounds: &[f64]| -> f64 {
            nodes.iter().zip(rounds).map(|(node, visits)| visits * mean_travel(&node.pairs[class])).sum()
        };
        let service = rounds.iter().enumerate().map(|(class, rounds)| travel(class, rounds)).collect();
        places.push(MvaNode { waits: false, service, visits: vec![1.0; classes] });
    }
    let customers: Vec<usize> = (0..classes)
        .map(|class| nodes.iter().map(|node| node.pairs[class].population as usize).sum())
        .collect();
    let states = customers.iter().try_fold(1_usize, |all, &some| all.checked_mul(some + 1));
    if states.and_then(|states| states.checked_mul(places.len())).is_none_or(|work| work > MOST_WORK) {
        return;
    }
    let (throughput, numbers) = solve(&places, &customers);
    for (number, place) in places.iter().enumerate().take(nodes.len()) {
        let mut all = (0.0, 0.0, 0.0);
        for class in (0..classes).filter(|&class| nodes[number].pairs[class].comes) {
            let rate = throughput[class] * place.visits[class];
            let (here, busy) = (numbers[class][number], rate * place.service[class]);
            all = (all.0 + rate, all.1 + here, all.2 + busy);
            emit_station(known, nodes, number, Some(class), rate, here, busy);
        }
        emit_station(known, nodes, number, None, all.0, all.1, all.2);
    }
}

fn emit_station(
    known: &mut KnownFormula,
    nodes: &[Node],
    number: usize,
    class: Option<usize>,
    rate: f64,
    here: f64,
    busy: f64,
) {
    let mut emit = |measure, value| known.insert((number, class, measure), value);
    emit(Measure::Throughput, rate);
    emit(Measure::Number, here);
    emit(Measure::Sojourn, here / rate);
    let Kind::Station { servers: Some(_), discipline, .. } = nodes[number].kind else { return };
    // At shared servers no customer waits, and utilisation is reported for all classes together.
    if discipline == Discipline::Sharing && class.is_some() {
        return;
    }
    emit(Measure::Utilisation, busy);
    if discipline != Discipline::Sharing {
        emit(Measure::Queue, here - busy);
        emit(Measure::Wait, (here - busy) / rate);
    }
}

/// Cycles of each class per unit of time, and its customers at each place.
fn solve(places: &[MvaNode], customers: &[usize]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let classes = customers.len();
    let states: usize = customers.iter().map(|some| some + 1).product();
    // By population, with the first class varying fastest: customers at each place.
    let mut totals = vec![0.0; states * places.len()];
    let mut throughput = vec![0.0; classes];
    let mut numbers = vec![vec![0.0; places.len()]; classes];
    let mut population = vec![0; classes];
    for state in 1..states {
        for (here, most) in population.iter_mut().zip(customers) {
            *here += 1;
            if *here <= *most {
                break;
            }
            *here = 0;
        }
        let mut step = 1;
        let mut sums = vec![0.0; places.len()];
        for class in 0..classes {
            if population[class] > 0 {
                // An arriving customer sees the network as it is without itself.
                let before = &totals[(state - step) * places.len()..][..places.len()];
                let time = |(place, before): (&MvaNode, &f64)| {
                    let line = if place.waits { 1.0 + before } else { 1.0 };
                    place.visits[class] * place.service[class] * line
                };
                let times: Vec<f64> = places.iter().zip(before).map(time).collect();
                #[expect(clippy::cast_precision_loss, reason = "customers")]
                let rate = population[class] as f64 / times.iter().sum::<f64>();
                throughput[class] = rate;
                for ((sum, number), time) in sums.iter_mut().zip(&mut numbers[class]).zip(times) {
                    *number = rate * time;
                    *sum += *number;
                }
            }
            step *= customers[class] + 1;
        }
        totals[state * places.len()..][..places.len()].copy_from_slice(&sums);
    }
    (throughput, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_alike_are_one() {
        let place = |waits, service: f64, visits: f64| MvaNode {
            waits,
            service: vec![service; 2],
            visits: vec![visits; 2],
        };
        let places = [place(true, 1.0, 1.0), place(true, 0.5, 2.0), place(false, 4.0, 1.0)];
        let (throughput, numbers) = solve(&places, &[3, 2]);
        let one = crate::statistics::theory::ClosedNetwork::new(&[(1, 1.0), (1, 1.0)], 4.0, 5).unwrap();
        assert!((throughput.iter().sum::<f64>() - one.throughput()).abs() < 1e-12);
        assert!((numbers[0][1] + numbers[1][1] - one.number(1).unwrap()).abs() < 1e-12);
        assert!((throughput[0] / 3.0 - throughput[1] / 2.0).abs() < 1e-12);
    }
}
