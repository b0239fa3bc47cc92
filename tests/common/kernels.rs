//! Every kernel that the library can link for its models, on every target: for `tests/translate.rs`
//! and the tests in a browser.

use std::collections::HashSet;

use eventhorizon::facility::Distribution;
use eventhorizon::gpu::Recipe;
use eventhorizon::models::{
    CallCentre, Epidemic, FifoTorus, Mm1, Mmck, Phold, Pi, Priorities, Torus, Walk, Workshop,
};
use eventhorizon::time::Resolution;
use eventhorizon::{facility, gpu, matching, pdes, primitives, queue, replication, search, self_test};

/// Each kernel once. A new module adds its line here.
pub fn recipes() -> Vec<Recipe> {
    let units = Resolution::default();
    let phold = Phold::new(1024, 16, 0.1, 10.0, units).unwrap();
    let recipes = [
        facility::kernels(),
        gpu::kernels(),
        pdes::kernels(&phold),
        pdes::kernels(&phold.with_neighbours(4).unwrap()),
        pdes::kernels(&CallCentre::new(64, 3, 4.0, 1.0, 0.5, 64, units).unwrap()),
        pdes::kernels(&Priorities::new(64, &[(0.4, 1.0)], 64, units).unwrap()),
        pdes::kernels(&Epidemic::new(64, &[(0, 1)], 1, 0.5, 0.6, 1.0, units).unwrap()),
        pdes::kernels(&Torus::new(8, 8, 64, 1.0, 0.01, units).unwrap()),
        pdes::kernels(&FifoTorus::new(8, 8, 64, 1.0, units).unwrap()),
        pdes::kernels(&queues(Distribution::Exponential(1.0))),
        pdes::kernels(&queues(Distribution::Uniform([0.5, 1.5]))),
        pdes::kernels(&queues(Distribution::Exponential(1.0)).with_details()),
        compiled(&queues(Distribution::Exponential(1.0))),
        compiled(&forked()),
        primitives::kernels(),
        queue::kernels(),
        matching::kernels(),
        search::kernels(),
        replication::kernels(&Pi).unwrap(),
        replication::kernels(&Mm1::default()).unwrap(),
        replication::kernels(&Walk).unwrap(),
        replication::kernels(&Mmck::default()).unwrap(),
        replication::kernels(&Workshop).unwrap(),
        self_test::kernels(),
    ];
    let mut seen = HashSet::new();
    recipes.into_iter().flatten().filter(|recipe| seen.insert(recipe.clone())).collect()
}

/// The kernels of a network of its own.
fn compiled(network: &facility::Facility) -> Vec<Recipe> {
    facility::CompiledNetwork::new(network).unwrap().kernels()
}

/// A network with a fork and shared servers.
fn forked() -> facility::Facility {
    let law = Distribution::Exponential(1.0);
    let shared = facility::Station::new(law, "fork").with_discipline(facility::Discipline::Sharing);
    let network = facility::Network::new("forked")
        .source("in", facility::Source::new(Distribution::Exponential(2.0), "fork"))
        .fork("fork", facility::Fork::new(["server", "server"], "out"))
        .station("server", shared.with_servers(4))
        .sink("out");
    network.compile().unwrap()
}

/// A network with these services. Networks use one of three interpreters: for exponential or fixed
/// times, for any times, and for all features with details.
fn queues(service: Distribution) -> facility::Facility {
    let network = facility::Network::new("queues")
        .source("in", facility::Source::new(Distribution::Exponential(2.0), "server"))
        .station("server", facility::Station::new(service, "out"))
        .sink("out");
    network.compile().unwrap()
}
