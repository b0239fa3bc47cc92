//! Names, kinds and children of processes; services attached during a run; calls that are awaited.

use eventhorizon::hybrid::{
    Context, Digest, Entity, FaultKind, Handle, Handler, Handlers, HybridError, Options, Overlap, Placement,
    Process, ProcessLabel, Simulation,
};
use eventhorizon::pdes::Fingerprint;
use eventhorizon::time::Ticks;

type Act = fn(&mut Tree, &mut Context<Tree>);

/// An entity whose start, and whose first message at time 5, are functions of the test.
struct Tree {
    begins: Act,
    acts: Act,
    log: Vec<(u64, String)>,
}

impl Tree {
    fn note(&mut self, context: &Context<Self>, text: impl Into<String>) {
        self.log.push((context.now().get(), text.into()));
    }
}

impl Entity for Tree {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        context.send(context.name(), Ticks::new(5), 0);
        (self.begins)(self, context);
    }

    fn receive(&mut self, message: u32, context: &mut Context<Self>) {
        match message {
            0 => (self.acts)(self, context),
            _ => self.note(context, format!("entity got {message}")),
        }
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.log);
    }
}

/// The log of a run, its events, and its fingerprints at time 6 and at the end.
type Ran = (Vec<(u64, String)>, u64, [Fingerprint; 2]);

fn simulate(begins: Act, acts: Act) -> Result<Ran, HybridError> {
    let make = |_| Tree { begins, acts, log: Vec::new() };
    let mut simulation = Simulation::new(1, Ticks::NEVER, make, Options::default().threads(1))?;
    simulation.run(Ticks::new(6))?;
    let early = simulation.fingerprint()?;
    let progress = simulation.run(Ticks::new(1000))?;
    let prints = [early, simulation.fingerprint()?];
    Ok((simulation.entity(0).expect("it is here").log.clone(), progress.events, prints))
}

/// Waits for ever, and notes every ten ticks that it lives.
async fn ticking(process: Process<Tree>, name: &'static str) {
    loop {
        process.wait(Ticks::new(10)).await;
        process.with(|tree, context| tree.note(context, name));
    }
}

/// A root with two children, one of which has a child; beside it, a process without a parent.
fn family(_: &mut Tree, context: &mut Context<Tree>) {
    context.spawn_as(ProcessLabel::named("root"), async |process| {
        process.spawn_as(ProcessLabel::named("left").kind("child"), |process| ticking(process, "left"));
        process.spawn_as(ProcessLabel::named("right").kind("child"), async |process| {
            process
                .spawn_as(ProcessLabel::named("leaf").kind("grandchild"), |process| ticking(process, "leaf"));
            ticking(process, "right").await;
        });
        ticking(process, "root").await;
    });
    context.spawn_as(ProcessLabel::of_kind("child"), |process| ticking(process, "other"));
}

/// The names of those that lived until time 30.
fn living(acts: Act) -> Vec<String> {
    let (log, ..) = simulate(family, acts).unwrap();
    let mut names: Vec<_> = log.into_iter().filter(|(time, _)| *time == 30).map(|(_, name)| name).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_killed_process_ends_with_its_children_and_nothing_else() {
    assert_eq!(living(|_, _| ()), ["leaf", "left", "other", "right", "root"]);
    let kill = |_: &mut Tree, context: &mut Context<Tree>| {
        let right = context.process("right").unwrap();
        assert_eq!(context.children(right).len(), 1);
        assert_eq!((context.kill(right), context.kill(right)), (2, 0));
        assert!(!context.is_alive(right) && context.process("leaf").is_none());
    };
    assert_eq!(living(kill), ["left", "other", "root"]);
    let root = |_: &mut Tree, context: &mut Context<Tree>| {
        let root = context.process("root").unwrap();
        assert_eq!(context.kill(root), 4);
    };
    assert_eq!(living(root), ["other"]);
    // A stopped process leaves its children to its parent.
    let stop = |_: &mut Tree, context: &mut Context<Tree>| {
        let [right, leaf] = ["right", "leaf"].map(|name| context.process(name).unwrap());
        context.stop(right);
        assert_eq!(context.children(context.process("root").unwrap())[1], leaf);
    };
    assert_eq!(living(stop), ["leaf", "left", "other", "root"]);
}

#[test]
fn a_kind_is_found_and_killed() {
    let kill = |_: &mut Tree, context: &mut Context<Tree>| {
        let children = context.processes_of_kind("child");
        let names: Vec<_> = children.iter().map(|&id| context.label(id).unwrap().name()).collect();
        // The one without a parent is spawned by the start itself, before the root runs.
        assert_eq!(names, [None, Some("left"), Some("right")]);
        // With the grandchild.
        assert_eq!(context.kill_kind("child"), 4);
        assert_eq!((context.kill_kind("child"), context.kill_kind("unknown")), (0, 0));
    };
    assert_eq!(living(kill), ["root"]);
}

#[test]
fn a_killed_tree_leaves_no_event() {
    let kill = |_: &mut Tree, context: &mut Context<Tree>| {
        context.kill(context.process("root").unwrap());
        context.kill_kind("child");
    };
    let (log, events, prints) = simulate(family, kill).unwrap();
    // As if there had been no process: executed events, states and pending events.
    assert_eq!((log, events, prints), simulate(|_, _| (), |_, _| ()).unwrap());
    assert_eq!(events, 1);
}

#[test]
fn a_process_kills_itself_and_names_are_free_again() {
    let itself = |_: &mut Tree, context: &mut Context<Tree>| {
        context.spawn_as(ProcessLabel::named("brief"), async |process| {
            let id = process.id();
            process.spawn(|process| ticking(process, "child of brief"));
            process.wait(Ticks::new(3)).await;
            process.with(|tree, context| {
                assert_eq!(context.kill(id), 2);
                tree.note(context, "killed");
            });
            // Spawned by a process that has ended: it never runs.
            process.spawn(|process| ticking(process, "orphan"));
            process.wait(Ticks::new(1)).await;
            process.with(|tree, context| tree.note(context, "not reached"));
        });
        // Its function returns.
        context.spawn_as(ProcessLabel::named("short"), async |_| ());
    };
    let again = |_: &mut Tree, context: &mut Context<Tree>| {
        for name in ["brief", "short"] {
            assert_eq!(context.process(name), None);
            context.spawn_as(ProcessLabel::named(name), async move |process| {
                process.with(|tree, context| tree.note(context, name));
            });
        }
    };
    let (log, ..) = simulate(itself, again).unwrap();
    let expected = [(3, "killed"), (5, "brief"), (5, "short")];
    assert_eq!(log, expected.map(|(time, text)| (time, text.to_owned())));
}

#[test]
fn a_process_that_another_kills_before_its_first_wait_does_not_run() {
    let begins = |_: &mut Tree, context: &mut Context<Tree>| {
        context.spawn(async |process| {
            process.with(|_, context| context.kill_kind("victim"));
        });
        context.spawn_as(ProcessLabel::of_kind("victim"), async |process| {
            process.with(|tree, context| tree.note(context, "ran"));
        });
    };
    assert_eq!(simulate(begins, |_, _| ()).unwrap().0, []);
}

#[test]
fn names_that_are_taken_are_faults() {
    let twice = |_: &mut Tree, context: &mut Context<Tree>| {
        context.spawn_as(ProcessLabel::named("root"), |process| ticking(process, "second"));
    };
    let services = |_: &mut Tree, context: &mut Context<Tree>| {
        for _ in 0..2 {
            context.attach("odd", |message| message % 2 == 1, |_, _, _| ());
        }
    };
    let expected = [
        FaultKind::ProcessName { name: "root".to_owned() },
        FaultKind::ServiceName { name: "odd".to_owned() },
    ];
    for (acts, kind) in [twice as Act, services].into_iter().zip(expected) {
        match simulate(family, acts).unwrap_err() {
            HybridError::Fault(fault) => assert_eq!((fault.time, fault.kind), (Ticks::new(5), kind)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_service_attached_during_a_run_is_found_and_gets_its_messages() {
    let begins = |_: &mut Tree, context: &mut Context<Tree>| {
        for (time, message) in [(3, 1), (10, 1), (11, 2), (12, 3), (13, 4), (20, 1), (30, 1)] {
            context.send(0, Ticks::new(time), message);
        }
    };
    let acts = |_: &mut Tree, context: &mut Context<Tree>| {
        assert!(!context.has_service("odd"));
        context.attach(
            "odd",
            |message| message % 2 == 1,
            |tree: &mut Tree, message, context| {
                tree.note(context, format!("odd got {message}"));
                if context.now() == Ticks::new(20) {
                    assert!(context.detach("odd") && !context.detach("odd"));
                }
            },
        );
        context.attach(
            "small",
            |&message| message < 4,
            |tree: &mut Tree, message, context| {
                tree.note(context, format!("small got {message}"));
            },
        );
        assert!(context.has_service("odd"));
        assert_eq!(context.services().collect::<Vec<_>>(), ["odd", "small"]);
        // A process that waits for a message comes before services.
        context.spawn(async |process| {
            let got = process.receive(|&message| message == 3).await;
            process.with(|tree, context| tree.note(context, format!("process got {got}")));
        });
    };
    let expected = [
        (3, "entity got 1"),
        (10, "odd got 1"),
        (11, "small got 2"),
        (12, "process got 3"),
        (13, "entity got 4"),
        (20, "odd got 1"),
        (30, "small got 1"),
    ];
    assert_eq!(simulate(begins, acts).unwrap().0, expected.map(|(time, text)| (time, text.to_owned())));
}

/// A handler without a device: the square of a number.
struct Square;

impl Handler for Square {
    type Call = u64;
    type Answer = u64;

    fn name(&self) -> &str {
        "square"
    }

    fn has_gpu(&self) -> bool {
        false
    }

    fn on_cpu(&self, call: &u64) -> u64 {
        call * call
    }

    fn on_gpu(&self, _: &eventhorizon::gpu::Gpu, _: &[u64]) -> Result<Vec<u64>, HybridError> {
        unreachable!("it has no device")
    }
}

/// Processes that call; one waits for messages meanwhile.
struct Awaits {
    square: Handle<Square>,
    log: Vec<(u64, String)>,
}

impl Entity for Awaits {
    type Message = u64;

    fn start(&mut self, context: &mut Context<Self>) {
        let square = self.square;
        // Its answer comes first, and ends the victim, which waits for its own.
        context.spawn(async move |process| {
            process.call(square, 1).await;
            process.with(|_, context| assert_eq!(context.kill_kind("victim"), 1));
        });
        context.spawn_as(ProcessLabel::of_kind("victim"), async move |process| {
            process.call(square, 1).await;
            process.with(|awaits, _| awaits.log.push((0, "not reached".to_owned())));
        });
        for number in 0..2 {
            context.spawn_as(ProcessLabel::named(format!("caller {number}")), async move |process| {
                // Also before the first event.
                let mut value = process.call(square, 2 + number).await;
                for _ in 0..2 {
                    process.wait(Ticks::new(10)).await;
                    value = process.call(square, value).await;
                    value += process.call(square, 1).await;
                    process.with(|awaits, context| {
                        awaits.log.push((context.now().get(), format!("{number}: {value}")));
                        context.send(context.name(), context.now(), value);
                    });
                }
            });
        }
        context.spawn(async move |process| {
            loop {
                let got = process.receive(|_| true).await;
                let answer = process.call(square, got).await;
                process
                    .with(|awaits, context| awaits.log.push((context.now().get(), format!("got {answer}"))));
            }
        });
    }

    fn receive(&mut self, message: u64, context: &mut Context<Self>) {
        self.log.push((context.now().get(), format!("missed {message}")));
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.log);
    }
}

#[test]
fn a_process_awaits_the_answer_of_a_handler_in_its_event() {
    let mut prints = Vec::new();
    for overlap in [Overlap::Off, Overlap::Streams { streams: 2, calls: 1 }] {
        let mut handlers = Handlers::new(None, Placement::Auto);
        let square = handlers.add(Square);
        let options = Options::default().threads(2).handlers(handlers).overlap(overlap);
        let make = |_| Awaits { square, log: Vec::new() };
        let mut simulation = Simulation::new(3, Ticks::NEVER, make, options).unwrap();
        simulation.run(Ticks::new(100)).unwrap();
        prints.push(simulation.fingerprint().unwrap());
        // 4 and 9, then the square and one; events of one time in the order of their processes.
        let expected = [
            (10, "0: 17"),
            (10, "got 289"),
            (10, "1: 82"),
            (10, "got 6724"),
            (20, "0: 290"),
            (20, "got 84100"),
            (20, "1: 6725"),
            (20, "got 45225625"),
        ];
        for name in 0..3 {
            let log = &simulation.entity(name).unwrap().log;
            assert_eq!(*log, expected.map(|(time, text)| (time, text.to_owned())), "entity {name}");
        }
    }
    assert_eq!(prints[0], prints[1]);
}
