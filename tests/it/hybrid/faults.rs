//! Each fault, on one rank and on two: a typed error everywhere, and nothing hangs.

use std::time::Duration;

use eventhorizon::hybrid::{
    Context, Digest, Entity, EntityPlacement, Fault, FaultKind, HybridError, LocalRank, Options, Simulation,
    Transport, in_process,
};
use eventhorizon::time::Ticks;

/// Entity 3 and entity 5 break a rule at time 20; entity 7 does at 12, in a later window than
/// neither of them.
struct Rogue(Misdeed);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Misdeed {
    None,
    Past,
    Lookahead,
    Destination,
    Never,
    Stuck,
    Panic,
    Failed,
    Foreign,
    Twice,
    Filter,
    WithinWith,
}

impl Entity for Rogue {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        if [3, 5].contains(&context.name()) {
            context.send(context.name(), Ticks::new(20), 0);
        }
        // Events that others send in the same window are pending afterwards, on any rank.
        if context.name() == 0 {
            context.send(0, Ticks::new(20), 2);
        }
    }

    fn receive(&mut self, message: u32, context: &mut Context<Self>) {
        let (name, now) = (context.name(), context.now().get());
        if message == 2 {
            return context.send(7 - name, Ticks::new(now + 10), 2);
        }
        match self.0 {
            Misdeed::None => {}
            Misdeed::Past => context.send(name, Ticks::new(now - 1), 1),
            Misdeed::Lookahead => context.send(name + 1, Ticks::new(now + 9), 1),
            Misdeed::Destination => context.send(8, Ticks::new(now + 10), 1),
            Misdeed::Never => context.send(name + 1, Ticks::NEVER, 1),
            Misdeed::Stuck => context.send(name, context.now(), 1),
            Misdeed::Panic => panic!("out of luck at {now}"),
            Misdeed::Failed => context.fail("no more paper"),
            Misdeed::Foreign => {
                context.spawn(|_| std::future::pending());
            }
            Misdeed::Twice => {
                context.spawn(async move |process| {
                    let mut first = std::pin::pin!(process.wait(Ticks::new(1)));
                    let mut second = std::pin::pin!(process.wait(Ticks::new(2)));
                    std::future::poll_fn(|context| {
                        let _ = first.as_mut().poll(context);
                        second.as_mut().poll(context)
                    })
                    .await;
                });
            }
            Misdeed::Filter => {
                context.send(name, context.now(), 1);
                context.spawn(async move |process| {
                    let process = std::sync::Arc::new(process);
                    let same = std::sync::Arc::clone(&process);
                    process.receive(move |_| same.now() == Ticks::ZERO).await;
                });
            }
            Misdeed::WithinWith => {
                context.spawn(async move |process| {
                    process.with(|_, _| process.with(|_, _| ()));
                });
            }
        }
    }

    fn state(&self, _: &mut Digest) {}
}

fn rogues(misdeed: Misdeed, transport: Option<Box<dyn Transport>>) -> Result<Simulation<Rogue>, HybridError> {
    let options = Options::default().threads(2);
    match transport {
        None => Simulation::new(8, Ticks::new(10), |_| Rogue(misdeed), options),
        Some(transport) => Simulation::on(transport, 8, Ticks::new(10), |_| Rogue(misdeed), options),
    }
}

#[test]
fn each_fault_is_that_of_the_smallest_entity_on_every_rank() {
    let (at, least) = (Ticks::new(29), Ticks::new(30));
    let cases = [
        (Misdeed::Past, FaultKind::Past { at: Ticks::new(19) }),
        (Misdeed::Lookahead, FaultKind::Lookahead { to: 4, at, least }),
        (Misdeed::Destination, FaultKind::Destination { to: 8, entities: 8 }),
        (Misdeed::Never, FaultKind::Never { to: 4 }),
        (Misdeed::Stuck, FaultKind::Stuck { events: (1 << 20) + 1 }),
        (Misdeed::Panic, FaultKind::Panic { message: "out of luck at 20".to_owned() }),
        (Misdeed::Failed, FaultKind::Failed { reason: "no more paper".to_owned() }),
        (Misdeed::Foreign, FaultKind::Foreign),
        (Misdeed::Twice, FaultKind::Foreign),
    ];
    for (misdeed, kind) in cases {
        let expected = Fault { entity: 3, time: Ticks::new(20), kind };
        let run = |transport| {
            let mut simulation = rogues(misdeed, transport).unwrap();
            let error = simulation.run(Ticks::new(100)).unwrap_err();
            let HybridError::Fault(fault) = &error else { panic!("{misdeed:?}: {error}") };
            assert_eq!(*fault, expected);
            assert!(error.to_string().starts_with("entity 3, at time 20: "), "{error}");
            assert!(matches!(simulation.run(Ticks::new(200)), Err(HybridError::Over)));
            simulation.fingerprint().unwrap()
        };
        let alone = run(None);
        assert_eq!(in_process(2, |rank| run(Some(Box::new(rank)))), [alone; 2], "{misdeed:?}");
    }
    for misdeed in [Misdeed::WithinWith, Misdeed::Filter] {
        let error = rogues(misdeed, None).unwrap().run(Ticks::new(100)).unwrap_err();
        assert!(matches!(&error, HybridError::Fault(Fault { kind: FaultKind::Panic { .. }, .. })), "{error}");
    }
}

/// A message that cannot be serialised (1), or deserialised (2), for another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sealed(u32);

impl serde::Serialize for Sealed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A sequence of unknown length works for a fingerprint, but not for `postcard`.
        match self.0 {
            1 => serializer.collect_seq([1_u32, 2].iter().filter(|&&number| number == 1)),
            other => serializer.serialize_u32(other),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Sealed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            2 => Err(serde::de::Error::custom("sealed")),
            other => Ok(Self(other)),
        }
    }
}

/// Entity 0 sends entity 1 such a message, at once or at time 5.
struct Clerk(Sealed, bool);

impl Entity for Clerk {
    type Message = Sealed;

    fn start(&mut self, context: &mut Context<Self>) {
        if context.name() == 0 {
            let to = u32::from(self.1);
            context.send(to, Ticks::new(5), self.0);
        }
    }

    fn receive(&mut self, message: Sealed, context: &mut Context<Self>) {
        if context.name() == 0 {
            context.send(1, Ticks::new(15), message);
        }
    }

    fn state(&self, _: &mut Digest) {}
}

#[test]
fn a_message_that_is_lost_between_ranks_ends_all() {
    for (message, at_once) in [(1, true), (1, false), (2, true), (2, false)] {
        let errors = in_process(2, |rank| {
            let number = rank.rank();
            let make = |_| Clerk(Sealed(message), at_once);
            let made = Simulation::on(Box::new(rank), 2, Ticks::new(10), make, Options::default());
            let error = match made {
                Err(error) => error,
                Ok(mut simulation) => {
                    assert!(!at_once, "a message of the start is lost");
                    // The message is for a later time.
                    let error = simulation.run(Ticks::new(10)).unwrap_err();
                    assert!(matches!(simulation.run(Ticks::new(20)), Err(HybridError::Over)));
                    error
                }
            };
            (number, error)
        });
        let at_fault = message - 1;
        for (rank, error) in errors {
            let expected = match &error {
                HybridError::Unwritten { .. } => rank == at_fault && message == 1,
                HybridError::Garbled { rank: from, .. } => rank == at_fault && message == 2 && *from == 0,
                HybridError::Rank { rank: other, .. } => rank != at_fault && *other == at_fault,
                _ => false,
            };
            assert!(expected, "{message}: rank {rank}: {error}");
        }
    }
}

/// A message whose order panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Unordered;

impl Ord for Unordered {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        panic!("no order")
    }
}

impl PartialOrd for Unordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct Muddle;

impl Entity for Muddle {
    type Message = Unordered;

    fn start(&mut self, context: &mut Context<Self>) {
        for _ in 0..2 {
            context.send(0, Ticks::new(5), Unordered);
        }
    }

    fn receive(&mut self, _: Unordered, _: &mut Context<Self>) {}

    fn state(&self, _: &mut Digest) {}
}

#[test]
fn after_a_panic_within_a_window_nothing_runs() {
    let options = Options::default().threads(1);
    let mut simulation = Simulation::new(1, Ticks::new(10), |_| Muddle, options).unwrap();
    let run = std::panic::AssertUnwindSafe(|| simulation.run(Ticks::new(100)));
    assert!(std::panic::catch_unwind(run).is_err());
    assert!(matches!(simulation.run(Ticks::new(100)), Err(HybridError::Over)));
}

/// Two entities that send each other messages for the current time, without end.
struct Echo;

impl Entity for Echo {
    type Message = ();

    fn start(&mut self, context: &mut Context<Self>) {
        context.send(1 - context.name(), Ticks::new(5), ());
    }

    fn receive(&mut self, (): (), context: &mut Context<Self>) {
        context.send(1 - context.name(), context.now(), ());
    }

    fn state(&self, _: &mut Digest) {}
}

#[test]
fn time_that_stands_still_is_an_error() {
    let options = Options::default().threads(1);
    let mut simulation = Simulation::new(2, Ticks::ZERO, |_| Echo, options).unwrap();
    let error = simulation.run(Ticks::new(10)).unwrap_err();
    assert!(matches!(error, HybridError::Cycle { time, .. } if time == Ticks::new(5)), "{error}");
}

#[test]
fn what_cannot_be_is_refused() {
    let none = Simulation::new(0, Ticks::new(1), |_| Echo, Options::default()).unwrap_err();
    assert!(matches!(none, HybridError::NoEntities));
    let options = Options::default().threads(0);
    let threads = Simulation::new(2, Ticks::new(1), |_| Echo, options).unwrap_err();
    assert!(matches!(threads, HybridError::Threads { threads: 0, .. }));

    /// An entity so large that no machine holds many.
    struct Huge([u64; 1 << 16]);
    impl Entity for Huge {
        type Message = ();
        fn start(&mut self, _: &mut Context<Self>) {
            self.0[0] = 1;
        }
        fn receive(&mut self, (): (), _: &mut Context<Self>) {}
        fn state(&self, _: &mut Digest) {}
    }
    let huge = Simulation::new(u32::MAX, Ticks::new(1), |_| Huge([0; 1 << 16]), Options::default());
    assert!(matches!(huge.unwrap_err(), HybridError::HostMemory { .. }));

    let errors = in_process(2, |rank| {
        let spread = EntityPlacement::Map(std::sync::Arc::new(|name| name));
        let options = Options::default().placement(spread);
        Simulation::on(Box::new(rank), 4, Ticks::new(1), |_| Echo, options).unwrap_err()
    });
    for error in errors {
        assert!(matches!(error, HybridError::Map { entity: 2, rank: 2, ranks: 2 }), "{error}");
    }
    let errors = in_process(3, |rank| {
        let options = Options::default().seed(u64::from(rank.rank() == 2));
        Simulation::on(Box::new(rank), 4, Ticks::new(1), |_| Echo, options).unwrap_err()
    });
    for error in errors {
        assert!(matches!(error, HybridError::Differs { rank: 2, what: "the seed" }), "{error}");
    }
}

#[test]
fn a_rank_that_cannot_begin_ends_all() {
    let errors = in_process(3, |rank| {
        let threads = if rank.rank() == 1 { 0 } else { 1 };
        let options = Options::default().threads(threads);
        (rank.rank(), Simulation::on(Box::new(rank), 4, Ticks::new(1), |_| Echo, options).unwrap_err())
    });
    for (rank, error) in errors {
        match rank {
            1 => assert!(matches!(error, HybridError::Threads { .. }), "{error}"),
            _ => assert!(
                matches!(&error, HybridError::Rank { rank: 1, message } if message.contains("0 threads")),
                "{error}"
            ),
        }
    }
}

#[test]
fn a_rank_that_is_gone_ends_all() {
    let ended = in_process(4, |rank| {
        let killed = rank.rank() == 2;
        let mut simulation = rogues(Misdeed::None, Some(Box::new(rank))).unwrap();
        if killed {
            return None;
        }
        let error = simulation.run(Ticks::new(100)).unwrap_err();
        // The error is cached from then on.
        let later = simulation.fingerprint().unwrap_err();
        assert!(matches!(later, HybridError::Gone { rank: 2 }), "{later}");
        Some(error)
    });
    for error in ended.into_iter().flatten() {
        assert!(matches!(error, HybridError::Gone { rank: 2 }), "{error}");
    }
}

#[test]
fn who_found_a_rank_gone_sends_nothing_that_others_would_take_for_something_else() {
    let mut ranks = LocalRank::new(3).into_iter();
    let (mut first, mut second, third) =
        (ranks.next().unwrap(), ranks.next().unwrap(), ranks.next().unwrap());
    drop(third);
    let gone = |error| assert!(matches!(error, HybridError::Gone { rank: 2 }), "{error}");
    gone(second.receive(2).unwrap_err());
    gone(second.send(0, vec![1]).unwrap_err());
    gone(second.gather(vec![1; 8]).unwrap_err());
    drop(second);
    gone(first.receive(1).unwrap_err());
}

#[test]
fn a_rank_that_is_silent_ends_those_who_wait() {
    let mut ranks = LocalRank::new(2).into_iter();
    let (first, _silent) = (ranks.next().unwrap(), ranks.next().unwrap());
    let waiting = first.waiting(Duration::from_millis(20));
    let error = rogues(Misdeed::None, Some(Box::new(waiting))).unwrap_err();
    assert!(matches!(error, HybridError::Silent { rank: 1, .. }), "{error}");
}

#[test]
#[should_panic(expected = "of its own accord")]
fn a_rank_that_panics_lets_the_others_go() {
    in_process(3, |rank| {
        let panics = rank.rank() == 1;
        let mut simulation = rogues(Misdeed::None, Some(Box::new(rank))).unwrap();
        assert!(!panics, "of its own accord");
        let error = simulation.run(Ticks::new(100)).unwrap_err();
        assert!(matches!(error, HybridError::Gone { rank: 1 }), "{error}");
    });
}
