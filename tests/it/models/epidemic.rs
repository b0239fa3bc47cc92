use std::cmp::Reverse;
use std::collections::BinaryHeap;

use eventhorizon::models::Epidemic;
use eventhorizon::pdes::{
    Capacity, CpuSimulation, FaultKind, Model, Options, Simulation, SimulationError, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};

use super::{Reference, few, gpu, same, same_in_all_ways, until};

/// People with `degree` neighbours on average, and a hub.
fn epidemic(people: u32, degree: u32, hub: u32, index_cases: u32) -> Epidemic {
    let edges = Epidemic::random_edges(people, people * degree / 2, hub, 99);
    Epidemic::new(people, &edges, index_cases, 0.5, 0.6, 1.0, Resolution::default()).unwrap()
}

/// The infections and their times from shortest paths (Dijkstra) from the index cases, in the
/// directed graph of contacts that the seed determines.
fn percolation(model: &Reference<Epidemic>, seed: u64) -> Vec<Ticks> {
    let people = model.lps();
    let mut infected = vec![Ticks::NEVER; people as usize];
    let mut ahead: BinaryHeap<_> =
        (people - model.params().index_cases..people).map(|person| Reverse((Ticks::ZERO, person))).collect();
    while let Some(Reverse((time, person))) = ahead.pop() {
        if infected[person as usize] != Ticks::NEVER {
            continue;
        }
        infected[person as usize] = time;
        for (&neighbour, contact) in model.neighbours(person).iter().zip(model.contacts(seed, person)) {
            if contact != Ticks::NEVER {
                ahead.push(Reverse((time.saturating_add(contact), neighbour)));
            }
        }
    }
    infected
}

type State = <Epidemic as Model>::State;

/// When each person was infected, if ever.
fn infected(states: &[State]) -> Vec<Ticks> {
    let infected = |state: &State| match state.status {
        Epidemic::SUSCEPTIBLE => Ticks::NEVER,
        _ => state.infected,
    };
    states.iter().map(infected).collect()
}

/// (susceptible, infected, recovered)
fn counts(states: &[State]) -> [usize; 3] {
    [Epidemic::SUSCEPTIBLE, Epidemic::INFECTED, Epidemic::RECOVERED]
        .map(|status| states.iter().filter(|state| state.status == status).count())
}

#[test]
fn the_gpu_has_the_bits_of_the_cpu() {
    same_in_all_ways(&Reference(epidemic(150, 4, 30, 2)), 1.9, 6.0);
}

/// Checks that the infected people and times are those of the reachable people and their distances,
/// and that the sources of infections form chains.
fn check(model: &Reference<Epidemic>, seed: u64, states: &[State]) {
    assert_eq!(infected(states), percolation(model, seed));
    for (person, state) in (0..).zip(states) {
        if state.status == Epidemic::SUSCEPTIBLE {
            assert_eq!((state.contacts, state.infections), (0, 0));
            continue;
        }
        let infector = &states[state.infector as usize];
        if state.infector == person {
            assert!(person >= model.lps() - model.params().index_cases);
            assert_eq!((state.generation, state.index_case, state.infected), (0, person, Ticks::ZERO));
        } else {
            assert!(model.neighbours(person).contains(&state.infector));
            assert_eq!(state.generation, infector.generation + 1);
            assert_eq!(state.index_case, infector.index_case);
            assert_eq!(state.interval.get(), state.infected.get() - infector.infected.get());
            assert!(state.interval > model.lookahead() && state.infected < infector.recovered);
        }
    }
}

#[test]
fn the_final_size_is_what_can_be_reached() {
    for seed in 0..40 {
        let model = Reference(epidemic(300, 3, 40, 1 + (seed % 3) as u32));
        let mut simulation = CpuSimulation::new(&model, Options::default().seed(seed)).unwrap();
        simulation.run(Until::EMPTY).unwrap();
        check(&model, seed, simulation.states());
        let contacts: u32 = simulation.states().iter().map(|state| state.contacts).sum();
        let sent: u32 = simulation.states().iter().map(|state| state.infections).sum();
        assert_eq!(contacts, sent + model.params().index_cases);
        assert_eq!(counts(simulation.states())[1], 0, "all that were infected recovered");
    }
}

#[test]
fn a_hub_with_1600_neighbours() {
    let roomy = epidemic(2000, 4, 1600, 3);
    assert_eq!(Reference(roomy.clone()).neighbours(0).len(), 1600);
    assert_eq!(roomy.capacity(), Capacity { queue: 1601, mailbox: 1600 });
    // The hub infects 1,517 of its neighbours, and receives events from 161 of them. Capacities for
    // that number take a tenth of the memory.
    let model = Reference(roomy.clone().with_capacity(Capacity { queue: 170, mailbox: 160 }));
    for &queue in few(2, &QueueDesign::PRODUCTION) {
        let options = Options::default().seed(12).queue(queue);
        let states = same(&model, options, &[until(1.5), until(3.0), Until::EMPTY]);
        check(&model, 12, &states);
        assert_eq!((states[0].infections, states[0].contacts), (1517, 161));
    }
    // A lack of capacity is found at the hub.
    for (capacity, kind) in [
        (Capacity { queue: 170, mailbox: 20 }, FaultKind::MailboxFull),
        (Capacity { queue: 40, mailbox: 160 }, FaultKind::QueueFull),
    ] {
        let model = roomy.clone().with_capacity(capacity);
        let options = Options::default().seed(12).fixed(true);
        let refused = Simulation::new(&gpu(), &model, options).unwrap().run(Until::EMPTY);
        let Err(SimulationError::Fault(fault)) = refused else { panic!("{refused:?}") };
        assert_eq!((fault.kind, fault.lp), (kind, 0));
    }
}

/// With capacities for all possible events.
#[test]
fn a_hub_with_room_for_all_of_its_neighbours() {
    let model = Reference(epidemic(1700, 4, 1600, 3));
    let options = Options::default().seed(13).queue(QueueDesign::Heap);
    let states = same(&model, options, &[Until::EMPTY]);
    check(&model, 13, &states);
    assert!(states[0].contacts > 200, "{:?}", states[0]);
}

#[test]
fn people_only_go_from_susceptible_to_infected_to_recovered() {
    let model = epidemic(1000, 4, 100, 3);
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(8)).unwrap();
    let mut last = [1000, 0, 0];
    for day in 0..60 {
        simulation.run(until(f64::from(day) * 0.3)).unwrap();
        let [susceptible, infected, recovered] = counts(simulation.states());
        assert_eq!(susceptible + infected + recovered, 1000);
        assert!(susceptible <= last[0] && recovered >= last[2]);
        last = [susceptible, infected, recovered];
    }
    assert!(last[2] > 300, "{last:?}");
}
