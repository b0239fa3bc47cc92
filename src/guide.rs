//! Guides: from an empty file to results, and what stands behind them.
//!
//! | you want to | guide |
//! | --- | --- |
//! | write a model of logical processes that send each other events | [`pdes`] |
//! | describe a queueing network | [`networks`] |
//! | describe entities that hold resources, wait and decide | [`processes`] |
//! | vary a description, find its best point, search integers | [`experiments`] |
//! | write a stochastic model and replicate it | [`replication`] |
//! | find shortest paths in batches | [`search`] |
//! | use the program `eventhorizon` with files and no Rust | [`program`] |
//! | use the library from Python | [`python`] |
//! | run a model many times at once | [`replicas`] |
//! | know what intervals and quantiles are made of | [`statistics`] |
//! | choose how far windows go | [`synchronisation`] |
//! | choose a priority queue | [`queues`] |
//! | find a figure of a paper, run on your machine | [`papers`] |
//! | use several GPUs or machines | [`devices`] |
//! | save and resume a run | [`checkpoints`] |
//! | know what can go wrong, and how it is reported | [`reliability`] |
//! | run in a browser | [`web`] |
//! | look up a term | [`glossary`] |

/// A module for each page of `docs/`. The build script turns links between pages into links here.
macro_rules! guides {
    ($($name:ident $file:literal,)*) => { $(
        #[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/", $file))]
        pub mod $name {}
    )* };
}

guides! {
    pdes "guide-pdes.md",
    networks "guide-networks.md",
    processes "guide-processes.md",
    experiments "experiments.md",
    replication "guide-replication.md",
    search "guide-search.md",
    program "program.md",
    python "guide-python.md",
    replicas "replicas.md",
    statistics "statistics.md",
    synchronisation "synchronisation.md",
    queues "queues.md",
    papers "papers.md",
    devices "devices.md",
    checkpoints "checkpoints.md",
    reliability "reliability.md",
    web "web.md",
    glossary "glossary.md",
}
