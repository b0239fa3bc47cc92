//! The host engine: the bits of the sequential engine on any threads and ranks; processes; faults;
//! handlers on the GPU.

#![allow(clippy::cast_possible_truncation, reason = "small numbers in tests")]

mod devices;
mod faults;
mod handlers;
#[cfg(feature = "mpi")]
mod mpi;
mod overlap;
mod processes;
mod saved;
mod trees;

use std::sync::Arc;

use crate::common;
use common::references::Reference;
use eventhorizon::facility::{Distribution, Facility, Link, Network, Source, Station};
use eventhorizon::gpu::Word;
use eventhorizon::hybrid::{
    Entity, EntityPlacement, HybridError, Lp, Message, Options, Simulation, Transport, in_process,
};
use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Phold, Torus};
use eventhorizon::pdes::{self, CpuModel, CpuSimulation, Fingerprint, Model, Replica, Stop, Until};
use eventhorizon::time::{Resolution, Ticks};

fn ticks(units: f64) -> Ticks {
    Resolution::default().ticks(units).unwrap()
}

fn spreads() -> [EntityPlacement; 3] {
    [
        EntityPlacement::Block,
        EntityPlacement::Hash,
        EntityPlacement::Map(Arc::new(|name| u32::from(name.is_multiple_of(3)))),
    ]
}

/// Runs a simulation on ranks of this process, to one end after the other. Returns events and
/// fingerprint, on which all ranks must agree.
pub(crate) fn on_ranks<E: Entity>(
    ranks: u32,
    make: impl Fn(Option<Box<dyn Transport>>) -> Result<Simulation<E>, HybridError> + Sync,
    ends: &[Ticks],
) -> Vec<(u64, Fingerprint)> {
    let run = |transport| {
        let mut simulation = make(transport).unwrap();
        let mut seen = Vec::new();
        for &end in ends {
            let progress = simulation.run(end).unwrap();
            seen.push((progress.events, simulation.fingerprint().unwrap()));
        }
        seen
    };
    let mut all = match ranks {
        1 => vec![run(None)],
        _ => in_process(ranks, |rank| run(Some(Box::new(rank)))),
    };
    let first = all.pop().unwrap();
    assert!(all.iter().all(|other| *other == first), "ranks know different ends");
    first
}

/// Runs the model on the sequential engine and on the host engine.
fn same<M>(model: &M, ends: &[f64])
where
    M: CpuModel<State: Send, Payload: Message> + Clone + Send + Sync + 'static,
{
    let ends: Vec<_> = ends.iter().copied().map(ticks).collect();
    let replica = Replica { point: 0, number: 3 };
    let mut sequential =
        CpuSimulation::in_rust(model, pdes::Options::default().seed(42).replica(replica)).unwrap();
    let expected: Vec<_> = ends
        .iter()
        .map(|&end| (sequential.run(Until::time(end)).unwrap().events, sequential.fingerprint()))
        .collect();
    for (ranks, threads, spread) in [(1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 2), (3, 1, 1), (4, 2, 1)]
        .map(|(r, t, s)| (r, t, spreads()[s].clone()))
    {
        let what = format!("{}: {ranks} ranks of {threads} threads, {spread:?}", model.name());
        let make = |transport| {
            let options =
                Options::default().seed(42).replica(replica).threads(threads).placement(spread.clone());
            Lp::simulation(model.clone(), transport, options)
        };
        assert_eq!(on_ranks(ranks, make, &ends), expected, "{what}");
    }
}

#[test]
fn models_have_the_bits_of_the_sequential_engine() {
    let units = Resolution::default();
    same(&Reference(Phold::new(500, 4, 0.1, 10.0, units).unwrap()), &[0.0, 33.3, 120.0]);
    same(&Reference(Phold::new(300, 4, 0.1, 0.01, units).unwrap().with_neighbours(4).unwrap()), &[12.0]);
    same(&Reference(CallCentre::new(64, 3, 4.0, 1.0, 0.5, 64, units).unwrap()), &[20.0, 40.0]);
    same(&Reference(Torus::new(6, 6, 64, 1.0, 0.01, units).unwrap()), &[20.0]);
    same(&Reference(FifoTorus::new(5, 5, 64, 1.0, units).unwrap()), &[20.0]);
    let ring: Vec<_> = (0..64).map(|i| (i, (i + 1) % 64)).collect();
    same(&Reference(Epidemic::new(64, &ring, 3, 0.5, 0.6, 1.0, units).unwrap()), &[30.0]);
}

/// A torus whose types are known only from its WGSL.
struct Words(Torus, Vec<u8>);

impl Model for Words {
    type State = Word;
    type Params = Word;
    type Payload = [u32; 2];
    type Output = Word;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn source(&self) -> eventhorizon::gpu::Source {
        self.0.source()
    }

    fn lps(&self) -> u32 {
        self.0.lps()
    }

    fn lookahead(&self) -> Ticks {
        self.0.lookahead()
    }

    fn params(&self) -> Word {
        Word(0)
    }

    fn params_bytes(&self) -> Vec<u8> {
        self.1.clone()
    }
}

#[test]
fn models_of_words_have_the_bits_of_the_sequential_engine() {
    let torus = Torus::new(6, 6, 64, 1.0, 0.01, Resolution::default()).unwrap();
    let words = || Words(torus, bytemuck::bytes_of(&torus.params()).to_vec());
    let reference = Reference(torus);
    let mut expected = CpuSimulation::in_rust(&reference, pdes::Options::default().seed(42)).unwrap();
    let ends = [8.0, 20.0].map(ticks);
    let mut host = Lp::simulation(words(), None, Options::default().seed(42)).unwrap();
    expected.run(Until::time(ends[0])).unwrap();
    host.run(ends[0]).unwrap();
    let saved = host.checkpoint().unwrap().unwrap();
    let mut resumed = Lp::resume(words(), None, Options::default(), &saved).unwrap();
    expected.run(Until::time(ends[1])).unwrap();
    for simulation in [&mut host, &mut resumed] {
        simulation.run(ends[1]).unwrap();
        assert_eq!(simulation.fingerprint().unwrap(), expected.fingerprint());
    }
}

#[test]
fn without_a_lookahead_time_goes_in_rounds() {
    same(&Reference(Phold::new(200, 3, 0.5, 0.0, Resolution::new(2).unwrap()).unwrap()), &[0.0001, 0.0002]);
    same(&Reference(Phold::new(1, 3, 0.5, 1.0, Resolution::default()).unwrap()), &[50.0]);
}

/// Networks of queues: a tandem without travel times, and a ring of towns with travel times.
pub(crate) fn networks() -> [Facility; 2] {
    let exponential = Distribution::Exponential;
    let tandem = Network::new("tandem")
        .source("in", Source::new(exponential(2.0), "first"))
        .station("first", Station::new(exponential(1.0), "second"))
        .station("second", Station::new(Distribution::Uniform([0.5, 1.5]), "out"))
        .sink("out");
    let mut towns = Network::new("towns").with_travel(Distribution::Uniform([0.5, 2.0]));
    for town in 0..30 {
        let name = |town| format!("town {}", town % 30);
        let to = [
            Link::to(&name(town + 1)),
            Link::to(&name(town + 29)).with(0.4),
            Link::to(&name(town + 7)).with(0.1),
        ];
        towns =
            towns.station(&name(town), Station::new(exponential(1.0), to).with_servers(2).with_population(3));
    }
    [tandem, towns].map(|network| network.compile().unwrap())
}

#[test]
fn queueing_networks_have_the_bits_of_the_sequential_engine() {
    let [tandem, towns] = networks();
    same(&tandem, &[30.0, 80.0]);
    same(&towns, &[9.5, 20.0]);
}

#[test]
fn a_watcher_stops_all_ranks_and_the_run_goes_on() {
    let model = Phold::new(2000, 4, 0.1, 0.1, Resolution::default()).unwrap();
    let end = ticks(60.0);
    let expected = on_ranks(1, |transport| Lp::simulation(model, transport, Options::default()), &[end]);
    let ran = in_process(2, |rank| {
        let second = rank.rank() == 1;
        let mut simulation = Lp::simulation(model, Some(Box::new(rank)), Options::default()).unwrap();
        let mut reported = 0;
        let watch = |_: &_| {
            reported += 1;
            if second { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        };
        let first = simulation.until(end).watch(watch).run().unwrap();
        if first.stop == Some(Stop::Watcher) {
            assert!(first.now < end);
        } else {
            // The run ended before the watcher was called.
            assert_eq!(first.stop, Some(Stop::Time));
        }
        let progress = simulation.run(end).unwrap();
        assert_eq!(progress.stop, Some(Stop::Time));
        (progress.events, simulation.fingerprint().unwrap())
    });
    assert_eq!(ran, [expected[0]; 2]);
}
