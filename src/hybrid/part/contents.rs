//! The contents of a partition: its fingerprint, and what checkpoints hold.

use super::{Mail, PENDING, Part, STATE};
use crate::hybrid::Digest;
use crate::hybrid::entity::{Body, Entity, Event};
use crate::hybrid::error::Full;
use crate::time::Ticks;

impl<E: Entity> Part<E> {
    /// This partition's part of the fingerprint.
    pub(in crate::hybrid) fn fingerprint(&self) -> u64 {
        let mut sum = self.fingerprint;
        let mut digest = Digest::default();
        for (&name, entity) in self.names.iter().zip(&self.entities) {
            if let Some(entity) = entity {
                digest.words([name]);
                entity.state(&mut digest);
                sum = sum.wrapping_add(digest.finish(STATE)).wrapping_add(entity.rows(name));
            }
        }
        let moving = self.inbox.iter().flatten();
        for event in self.pending.iter().chain(moving) {
            let [low, high] = event.time.to_words();
            digest.words([self.names[event.slot as usize], low, high]);
            match &event.body {
                Body::Message(message) => digest.put(message),
                // A wake-up that no process waits for any more does not count.
                &Body::Wake(number, wait) => {
                    let processes = self.processes[event.slot as usize].as_ref();
                    let waits = processes.is_some_and(|processes| {
                        processes
                            .running
                            .iter()
                            .any(|process| process.id().0 == number && process.waits(wait))
                    });
                    if !waits {
                        digest = Digest::default();
                        continue;
                    }
                    digest.words([number, u32::MAX]);
                }
            }
            sum = sum.wrapping_add(digest.finish(PENDING));
        }
        // After an error these were not sent.
        for mail in self.far.iter().flatten() {
            let [low, high] = Ticks::new(mail.time).to_words();
            digest.words([mail.to, low, high]);
            digest.put(&mail.message);
            sum = sum.wrapping_add(digest.finish(PENDING));
        }
        sum
    }

    /// Its entities with their names, and their numbers of executed events.
    pub(in crate::hybrid) fn rows(&self) -> impl Iterator<Item = (u32, &E, u64)> {
        let entities = self.names.iter().zip(&self.entities).zip(&self.executed);
        entities.filter_map(|((&name, entity), &executed)| Some((name, entity.as_ref()?, executed)))
    }

    /// The pending messages, with the names of their destinations, unordered.
    pub(in crate::hybrid) fn messages(&self) -> impl Iterator<Item = (u32, Ticks, &E::Message)> {
        self.pending.iter().chain(self.inbox.iter().flatten()).filter_map(|event| match &event.body {
            Body::Message(message) => Some((self.names[event.slot as usize], event.time, message)),
            Body::Wake(..) => None,
        })
    }

    /// The executed events' part of the fingerprint.
    pub(in crate::hybrid) fn digest(&self) -> u64 {
        self.fingerprint
    }

    /// Sets the number of executed events of an entity, and its pending messages.
    pub(in crate::hybrid) fn put(
        &mut self,
        slot: u32,
        executed: u64,
        messages: impl Iterator<Item = (Ticks, E::Message)>,
    ) -> Result<(), Full> {
        self.executed[slot as usize] = executed;
        let mut events = messages.map(|(time, message)| Event { slot, time, body: Body::Message(message) });
        events.try_for_each(|event| self.pending.push(event))
    }

    /// Sets the number of events executed before, and their part of the fingerprint.
    pub(in crate::hybrid) fn put_sums(&mut self, events: u64, fingerprint: u64) {
        (self.events, self.fingerprint) = (events, fingerprint);
    }

    /// Inserts a message from another rank.
    pub(in crate::hybrid) fn deliver(&mut self, slot: u32, mail: Mail<E::Message>) -> Result<(), Full> {
        let event = Event { slot, time: Ticks::new(mail.time), body: Body::Message(mail.message) };
        self.pending.push(event)
    }
}
