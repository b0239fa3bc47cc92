//! Processes: async functions that wait for times and messages.

use eventhorizon::hybrid::{Context, Digest, Entity, Options, ProcessId, Simulation};
use eventhorizon::time::Ticks;
use serde::{Deserialize, Serialize};

use super::on_ranks;

/// A customer's route: source, two tellers in turn, sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Customer(u32),
    Close,
}

#[derive(Default)]
struct Bank {
    served: u32,
    busy: u64,
    /// Events with their times.
    seen: Vec<(u64, &'static str)>,
    teller: Option<ProcessId>,
}

const SOURCE: u32 = 0;
const SINK: u32 = 3;

impl Entity for Bank {
    type Message = Message;

    fn start(&mut self, context: &mut Context<Self>) {
        match context.name() {
            SOURCE => {
                context.spawn(async |process| {
                    for customer in 0..40 {
                        let gap = process.with(|_, context| context.stream().below(50));
                        process.wait(Ticks::new(gap.into())).await;
                        process.with(|bank, context| {
                            bank.served += 1;
                            let to = 1 + customer % 2;
                            context.send(
                                to,
                                Ticks::new(context.now().get() + 10),
                                Message::Customer(customer),
                            );
                        });
                    }
                    let far = process.now().get() + 5000;
                    for to in 1..=2 {
                        process.with(|_, context| context.send(to, Ticks::new(far), Message::Close));
                    }
                });
            }
            SINK => {}
            _ => {
                let teller = context.spawn(async |process| {
                    let mut waiting = std::collections::VecDeque::new();
                    loop {
                        let is_customer = |message: &Message| matches!(message, Message::Customer(_));
                        if waiting.is_empty() {
                            waiting.push_back(process.receive(is_customer).await);
                        }
                        let Some(Message::Customer(customer)) = waiting.pop_front() else { unreachable!() };
                        let mut left = process.with(|_, context| u64::from(context.stream().below(60)));
                        let end = process.now().get() + left;
                        // Customers that arrive meanwhile wait.
                        while let Some(came) = process.receive_within(Ticks::new(left), is_customer).await {
                            waiting.push_back(came);
                            left = end - process.now().get();
                        }
                        process.with(|bank, context| {
                            bank.served += 1;
                            bank.busy += 1;
                            let time = Ticks::new(context.now().get() + 10);
                            context.send(SINK, time, Message::Customer(customer));
                        });
                    }
                });
                self.teller = Some(teller);
            }
        }
    }

    fn receive(&mut self, message: Message, context: &mut Context<Self>) {
        match message {
            Message::Customer(_) => self.served += 1,
            Message::Close => {
                context.stop(self.teller.unwrap());
                self.seen.push((context.now().get(), "closed"));
            }
        }
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&(self.served, self.busy, &self.seen));
    }
}

#[test]
fn a_bank_of_processes_has_one_fingerprint() {
    let make = |transport: Option<_>, threads| {
        let options = Options::default().seed(9).threads(threads);
        match transport {
            None => Simulation::new(4, Ticks::new(10), |_| Bank::default(), options),
            Some(transport) => Simulation::on(transport, 4, Ticks::new(10), |_| Bank::default(), options),
        }
    };
    let ends = [Ticks::new(500), Ticks::new(100_000)];
    let expected = on_ranks(1, |transport| make(transport, 1), &ends);
    for (ranks, threads) in [(1, 2), (2, 1), (3, 2), (4, 1)] {
        assert_eq!(on_ranks(ranks, |transport| make(transport, threads), &ends), expected);
    }
    let mut simulation = make(None, 1).unwrap();
    simulation.run(ends[1]).unwrap();
    let served: Vec<_> = (0..4).map(|name| simulation.entity(name).unwrap().served).collect();
    assert_eq!(served, [40, 20, 20, 40]);
    assert_eq!(simulation.entity(1).unwrap().seen.len(), 1);
}

/// Records the order of events at the same time.
#[derive(Default)]
struct Order(Vec<String>);

impl Entity for Order {
    type Message = u32;

    fn start(&mut self, context: &mut Context<Self>) {
        for number in 0..3 {
            context.spawn(async move |process| {
                process.wait(Ticks::new(10)).await;
                process.with(|order, _| order.0.push(format!("process {number}")));
                let got = process.receive(move |&message| message % 3 == number).await;
                process
                    .with(|order, context| order.0.push(format!("{number} got {got} at {}", context.now())));
                process.wait(Ticks::ZERO).await;
                let timely = process.receive_within(Ticks::new(5), |_| true).await;
                process.with(|order, context| {
                    order.0.push(format!("{number} got {timely:?} by {}", context.now()));
                });
            });
        }
        for message in [2, 1] {
            context.send(0, Ticks::new(10), message);
        }
        for message in [4, 5, 3] {
            context.send(0, Ticks::new(20), message);
        }
        context.send(0, Ticks::new(25), 9);
    }

    fn receive(&mut self, message: u32, context: &mut Context<Self>) {
        self.0.push(format!("entity got {message} at {}", context.now()));
    }

    fn state(&self, digest: &mut Digest) {
        digest.put(&self.0);
    }
}

#[test]
fn at_one_time_messages_come_before_processes_and_each_in_their_order() {
    let options = Options::default().threads(1);
    let mut simulation = Simulation::new(1, Ticks::NEVER, |_| Order::default(), options).unwrap();
    simulation.run(Ticks::new(1000)).unwrap();
    let seen = &simulation.entity(0).unwrap().0;
    let expected = [
        "entity got 1 at 10",
        "entity got 2 at 10",
        "process 0",
        "process 1",
        "process 2",
        "0 got 3 at 20",
        "1 got 4 at 20",
        "2 got 5 at 20",
        "0 got Some(9) by 25",
        "1 got None by 25",
        "2 got None by 25",
    ];
    assert_eq!(seen, &expected);
}
