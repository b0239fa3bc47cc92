//! The table of experiments: every figure and table of the papers.

use super::study::Study;
use super::{chapuis, heap, marzolla, park, passerat, phold, search};
use crate::shared::Outcome;
use crate::shared::figure::Scale::{self, Linear, Tens, Twos};

/// A figure or table of a paper, and how it is run.
pub(super) struct Experiment {
    pub(super) name: &'static str,
    pub(super) paper: Paper,
    /// Its number in the paper.
    pub(super) figure: &'static str,
    pub(super) title: &'static str,
    pub(super) axes: Axes,
    pub(super) run: Run,
    /// What agrees with the paper, what differs, and why.
    pub(super) verdict: &'static str,
}

/// How an experiment is run.
pub(super) enum Run {
    By(fn(&mut Study<'_>) -> Outcome<()>),
    /// The reason why it is not.
    Not(&'static str),
}

/// The axes of a figure, or the columns of a table.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    pub(super) x: &'static str,
    pub(super) y: &'static str,
    pub(super) scales: [Scale; 2],
    /// Panels side by side.
    pub(super) columns: usize,
    /// Whether there are curves to draw.
    pub(super) drawn: bool,
}

const fn axes(x: &'static str, y: &'static str, scales: [Scale; 2], columns: usize) -> Axes {
    Axes { x, y, scales, columns, drawn: true }
}

/// An axis after which each panel is named.
pub(super) const BY_PANEL: &str = "value";

/// Of what has no curves.
const NONE: Axes = Axes { x: "x", y: "y", scales: [Linear, Linear], columns: 1, drawn: false };

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paper {
    Baudis,
    Park,
    Marzolla,
    Passerat,
    Chapuis,
}

impl Paper {
    pub(super) const ALL: [Self; 5] =
        [Self::Baudis, Self::Park, Self::Marzolla, Self::Passerat, Self::Chapuis];

    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Baudis => "Baudis et al.",
            Self::Park => "Park and Fishwick",
            Self::Marzolla => "Marzolla and D'Angelo",
            Self::Passerat => "Passerat-Palmbach et al.",
            Self::Chapuis => "Chapuis et al.",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Baudis => {
                "Baudis, Jacob, Andelfinger: Performance Evaluation of Priority Queues for Fine-Grained \
                 Parallel Tasks on GPUs"
            }
            Self::Park => {
                "Park, Fishwick: A GPU-Based Application Framework Supporting Fast Discrete-Event Simulation"
            }
            Self::Marzolla => {
                "Marzolla, D'Angelo: Parallel Data Distribution Management on Shared-Memory Multiprocessors"
            }
            Self::Passerat => {
                "Passerat-Palmbach, Caux, Siregar, Mazel, Hill: Warp-Level Parallelism: Enabling Multiple \
                 Replications In Parallel on GPU"
            }
            Self::Chapuis => {
                "Chapuis, Eidenbenz, Santhi, Park: Simian Integrated Framework for Parallel Discrete Event \
                 Simulation on GPUs"
            }
        }
    }
}

const fn not(
    name: &'static str,
    paper: Paper,
    figure: &'static str,
    title: &'static str,
    reason: &'static str,
) -> Experiment {
    Experiment { name, paper, figure, title, axes: NONE, run: Run::Not(reason), verdict: "" }
}

const EVENTS: Axes = axes("events per LP", "events per second", [Twos, Tens], 3);
const REPLICATIONS: Axes = axes("replications", "seconds", [Linear, Tens], 2);
const THREADS: Axes = axes("threads", BY_PANEL, [Twos, Tens], 2);
const AGENTS: Axes = axes("agents", BY_PANEL, [Tens, Tens], 2);

pub(super) const EXPERIMENTS: [Experiment; 33] = [
    not(
        "baudis-1-4",
        Paper::Baudis,
        "Fig. 1-4",
        "Queue designs",
        "diagrams; the designs are in shaders/queue",
    ),
    Experiment {
        name: "baudis-5",
        paper: Paper::Baudis,
        figure: "Fig. 5",
        title: "An A* search on a grid with obstacles",
        axes: NONE,
        run: Run::By(search::figure_5),
        verdict: "The picture has paths white, visited cells dark and obstacles black, as in the paper. A search \
                  takes one cell at a time here, and eight in the paper.",
    },
    Experiment {
        name: "baudis-6",
        paper: Paper::Baudis,
        figure: "Fig. 6",
        title: "CB-PAR by threads of a block, rate 0.001",
        axes: axes("events per LP", "events per second", [Twos, Tens], 1),
        run: Run::By(phold::figure_6),
        verdict: "The paper reports 32 threads as best up to 256 events per LP, 64 above, and a slight \
                  difference. The iteration is the paper's; where teams share a workgroup they wait for each \
                  other here.",
    },
    Experiment {
        name: "baudis-7",
        paper: Paper::Baudis,
        figure: "Fig. 7",
        title: "PHOLD by queue design, the paper's 1,024 LPs",
        axes: EVENTS,
        run: Run::By(phold::figure_7),
        verdict: "The paper reports CB-PAR as best up to about 256 events per LP, trees above, and CB-SEQ as \
                  best of the sequential buffers up to 16. The iteration is the paper's; the last line has \
                  windows that execute all events of an epoch.",
    },
    Experiment {
        name: "baudis-8",
        paper: Paper::Baudis,
        figure: "Fig. 8",
        title: "PHOLD by queue design, the paper's 32,768 LPs",
        axes: EVENTS,
        run: Run::By(phold::figure_8),
        verdict: "The paper reports CB-SEQ as best up to about 128 events per LP at rate 0.1, and heaps for the \
                  longest queues. Rates depend on the device (the paper: GeForce GTX 1060).",
    },
    Experiment {
        name: "baudis-9",
        paper: Paper::Baudis,
        figure: "Fig. 9",
        title: "Memory touched by queues for each event, rate 0.1",
        axes: axes("events per LP", BY_PANEL, [Twos, Tens], 2),
        run: Run::By(phold::figure_9),
        verdict: "Sectors of 32 bytes are counted once for each iteration that reads or writes them, as if a cache \
                  held those of one iteration. The paper's profiler counted DRAM transactions of the whole program, \
                  and reports that heaps need fewer than CB-SEQ above 256 events per LP.",
    },
    Experiment {
        name: "baudis-10",
        paper: Paper::Baudis,
        figure: "Fig. 10",
        title: "PHOLD with one parallel heap",
        axes: axes("events per LP", "events per second", [Twos, Tens], 1),
        run: Run::By(heap::figure_10),
        verdict: "The paper reports that one heap for all LPs is far slower than a queue for each (baudis-8). A node \
                  has at most 1,024 items here, which bounds the events of a cycle.",
    },
    Experiment {
        name: "baudis-11",
        paper: Paper::Baudis,
        figure: "Fig. 11",
        title: "The parallel heap in bulk",
        axes: axes("nodes of the heap", "items per second", [Twos, Tens], 1),
        run: Run::By(heap::figure_11),
        verdict: "The paper's rate falls with the number of nodes. It states a maximum of \
                  1.52e8 items per second on a GeForce GTX 1060, and no size of a node.",
    },
    Experiment {
        name: "baudis-12",
        paper: Paper::Baudis,
        figure: "Fig. 12",
        title: "A* searches finished per second",
        axes: axes("searches at once", "searches per second", [Twos, Tens], 2),
        run: Run::By(search::figure_12),
        verdict: "The paper reports that more searches at once are faster, up to its memory. Its searches take \
                  eight cells at a time and need not find the shortest path; the library's optimal searches take \
                  one.",
    },
    Experiment {
        name: "baudis-table-1",
        paper: Paper::Baudis,
        figure: "Table I",
        title: "Comparisons per event and event rates, 128 events per LP, rate 0.1",
        axes: Axes { x: "column", y: BY_PANEL, scales: [Linear, Tens], columns: 2, drawn: false },
        run: Run::By(phold::table_1),
        verdict: "Comparisons and sectors of 32 bytes are counted in the paper's iteration and do not depend on the \
                  device. The table's other rows come from NVIDIA's profiler.",
    },
    not(
        "baudis-table-2",
        Paper::Baudis,
        "Table II",
        "Definitions of CUDA metrics",
        "definitions, without numbers",
    ),
    Experiment {
        name: "baudis-table-3",
        paper: Paper::Baudis,
        figure: "Table III",
        title: "A* searches per second, length of the open list, place of insertion",
        axes: axes("side of the grid", BY_PANEL, [Twos, Tens], 3),
        run: Run::By(search::table_3),
        verdict: "Lengths and places are those of both kinds of searches: the paper's, which take eight cells at \
                  once, and optimal ones, which keep one entry for each cell. Rates depend on the device.",
    },
    not(
        "park-1-18",
        Paper::Park,
        "Fig. 1-18",
        "The method",
        "diagrams and pseudocode; the method is `facility::FelNetwork`",
    ),
    Experiment {
        name: "park-19",
        paper: Paper::Park,
        figure: "Fig. 19",
        title: "Speed-up over one core, closed torus",
        axes: axes("side of the torus", "events per second over one core's", [Twos, Tens], 1),
        run: Run::By(park::figure_19),
        verdict: "The paper reports an s-shaped curve: small models are faster on the CPU, and the speed-up grows \
                  until the device is full; about 10 in all. One core has a heap-based event list here, as in the \
                  paper (SimPack in C).",
    },
    Experiment {
        name: "park-20",
        paper: Paper::Park,
        figure: "Fig. 20",
        title: "Error of the utilisation by the time interval, closed torus",
        axes: axes("time interval (a service takes 10 on average)", "error in percent", [Linear, Linear], 1),
        run: Run::By(park::figure_20),
        verdict: "As in the paper, an interval of zero has no error and longer ones have more. The error is \
                  signed: released late, tokens wait longer and facilities are used less.",
    },
    not("marzolla-1-8", Paper::Marzolla, "Fig. 1-8", "The problem and the algorithms", "diagrams"),
    Experiment {
        name: "marzolla-9",
        paper: Paper::Marzolla,
        figure: "Fig. 9",
        title: "Time and speed-up by threads",
        axes: THREADS,
        run: Run::By(marzolla::figure_9),
        verdict: "The paper reports brute force as slowest and sorting as fastest. Ranks replace the paper's sets, \
                  so a count visits no pair and no set.",
    },
    Experiment {
        name: "marzolla-10",
        paper: Paper::Marzolla,
        figure: "Fig. 10",
        title: "Time and speed-up by threads, more regions",
        axes: THREADS,
        run: Run::By(marzolla::figure_10),
        verdict: "The paper leaves out brute force and grids here, as this does. It reports a better speed-up \
                  with more regions.",
    },
    Experiment {
        name: "marzolla-11",
        paper: Paper::Marzolla,
        figure: "Fig. 11",
        title: "Grid-based matching by the number of cells",
        axes: axes("cells", "seconds", [Twos, Tens], 1),
        run: Run::By(marzolla::figure_11),
        verdict: "The paper finds a best number of cells for each number of threads; \
                  a device has all of its own.",
    },
    Experiment {
        name: "marzolla-12",
        paper: Paper::Marzolla,
        figure: "Fig. 12",
        title: "Time by regions and by the overlapping degree",
        axes: axes(BY_PANEL, "seconds", [Tens, Tens], 2),
        run: Run::By(marzolla::figure_12),
        verdict: "The paper reports times that grow a little faster than the regions, and that sorting does not \
                  depend on alpha while the interval tree does.",
    },
    Experiment {
        name: "marzolla-13",
        paper: Paper::Marzolla,
        figure: "Fig. 13",
        title: "Peak memory by regions, and by threads",
        axes: axes(BY_PANEL, "MiB", [Tens, Tens], 2),
        run: Run::By(marzolla::figure_13),
        verdict: "The paper reports linear growth, most memory for SBM, and no change with threads. Ranks need two sorted lists, less than the \
                  endpoints and sets of the paper's algorithm.",
    },
    Experiment {
        name: "marzolla-14",
        paper: Paper::Marzolla,
        figure: "Fig. 14",
        title: "Time and speed-up by threads, positions of vehicles",
        axes: THREADS,
        run: Run::By(marzolla::figure_14),
        verdict: "The paper reports sorting as fastest by far. Positions are generated behind junctions unless \
                  --positions has others; the Cologne data set of the paper is not part of this program.",
    },
    not("marzolla-table-1", Paper::Marzolla, "Table 1", "The paper's machine", "a description of a machine"),
    not(
        "passerat-1-4",
        Paper::Passerat,
        "Fig. 1-4",
        "Scheduling and the macros",
        "diagrams and code; `replication::Mapping` has both mappings",
    ),
    Experiment {
        name: "passerat-5",
        paper: Paper::Passerat,
        figure: "Fig. 5",
        title: "Monte Carlo pi by replications",
        axes: axes("replications", "seconds", [Linear, Tens], 1),
        run: Run::By(passerat::figure_5),
        verdict: "The paper reports linear growth on the CPU, and steps on the device as it fills. \
                  The paper's device was faster than one core from 30 replications on (Tesla C2050).",
    },
    Experiment {
        name: "passerat-6",
        paper: Paper::Passerat,
        figure: "Fig. 6",
        title: "M/M/1 by replications",
        axes: axes("replications", "seconds", [Linear, Tens], 1),
        run: Run::By(passerat::figure_6),
        verdict: "The paper reports linear growth on the CPU, and steps on the device as it fills. \
                  The paper's device was faster than one core from 20 replications on (Tesla C2050).",
    },
    Experiment {
        name: "passerat-7",
        paper: Paper::Passerat,
        figure: "Fig. 7",
        title: "Random walks by replications",
        axes: REPLICATIONS,
        run: Run::By(passerat::figure_7),
        verdict: "The paper states that threads take about 6 times as long as warps for up to 64 replications, \
                  and that warps gain little beyond 700 (Tesla C2050).",
    },
    Experiment {
        name: "passerat-8",
        paper: Paper::Passerat,
        figure: "Fig. 8, Table 1",
        title: "Random walks: branches and accesses to memory",
        axes: axes("replications in a warp", BY_PANEL, [Twos, Linear], 3),
        run: Run::By(passerat::figure_8),
        verdict: "Counted for warps of 32 lanes, of which one (WLP) to 32 (TLP) have a replication. The paper's \
                  profiler reports 225 reads and 302 writes with TLP, 18 and 104 with WLP, for a number of \
                  replications that it does not state.",
    },
    Experiment {
        name: "chapuis-1",
        paper: Paper::Chapuis,
        figure: "Fig. 1",
        title: "Activity study: calls that overlap with events (Algorithm 2)",
        axes: axes("calls in a group", "seconds", [Twos, Tens], 1),
        run: Run::By(chapuis::figure_1),
        verdict: "The paper has a diagram and no measurement of overlap. Results are the same with overlap and \
                  without.",
    },
    Experiment {
        name: "chapuis-2",
        paper: Paper::Chapuis,
        figure: "Fig. 2",
        title: "Activity study: run time by the size of the town",
        axes: axes("vertices", "seconds", [Twos, Tens], 1),
        run: Run::By(chapuis::figure_2),
        verdict: "The paper reports that shortest paths dominate on the CPU in large towns. \
                  The CPU line uses all cores; the paper's used one for these paths.",
    },
    Experiment {
        name: "chapuis-3",
        paper: Paper::Chapuis,
        figure: "Fig. 3",
        title: "Activity study: run time and event rate by agents",
        axes: AGENTS,
        run: Run::By(chapuis::figure_3),
        verdict: "The paper's event rate reaches a plateau at 4,000 agents, about 1,300 for each Tesla K40c. \
                  Here one device serves all agents.",
    },
    Experiment {
        name: "chapuis-4",
        paper: Paper::Chapuis,
        figure: "Fig. 4",
        title: "Activity study: run time and event rate by ranks",
        axes: axes("ranks", BY_PANEL, [Twos, Tens], 2),
        run: Run::By(chapuis::figure_4),
        verdict: "The paper scales up to 12 nodes with two devices each. Here ranks are threads of one process \
                  that share a device.",
    },
    Experiment {
        name: "chapuis-5",
        paper: Paper::Chapuis,
        figure: "Fig. 5",
        title: "Activity study: the town in light, median and heavy traffic",
        axes: NONE,
        run: Run::By(chapuis::figure_5),
        verdict: "As in the paper, roads are coloured from green (light traffic) to red (heavy), at three \
                  times. The town is another one: a grid with missing and diagonal streets.",
    },
];
