//! Ranks that are processes of MPI, through the crate `mpi`.

use std::time::Duration;

use ::mpi::environment::Universe;
use ::mpi::request::WaitGuard;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use ::mpi::{Count, Rank, Tag, Threading};
use web_time::Instant;

use super::{HybridError, Transport};
use crate::gpu::HOST_WAIT;

/// Words between ranks, the last one of a rank that goes, and what is longer.
const WORD: Tag = 0x4556;
const GONE: Tag = 0x4557;
const DATA: Tag = 0x4558;

/// Bytes of one message, for MPI counts in 31 bits.
const MOST: usize = 1 << 30;

/// This process as a rank of MPI: one for the program, which ends MPI when it is dropped.
///
/// Errors that a simulation finds are those of all ranks. A rank that returns early or panics says so to the others, who end with [`HybridError::Gone`]; one that is
/// killed is the business of `mpirun`, which ends the others, too: one that hangs in the middle of an exchange is waited for without end.
///
/// What [`Transport::send`] is given should be short, some kilobytes: of what is longer than what MPI keeps in its own memory, the sender may wait until the other rank receives
/// it.
pub struct MpiRank {
    world: SimpleCommunicator,
    patience: Duration,
    culprit: u32,
    /// Whether a rank was found gone: then nothing is waited for any more.
    alone: bool,
    /// The last, so that it is dropped last.
    _universe: Universe,
}

impl MpiRank {
    /// Begins MPI. None where it has begun before in this process.
    pub fn new() -> Option<Self> {
        // Only the thread that holds the rank calls MPI.
        let (universe, _) = ::mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let culprit = unsigned(world.rank());
        Some(Self { world, patience: HOST_WAIT, culprit, alone: false, _universe: universe })
    }

    /// The same with another time to wait for the other ranks: by default as long as for a device.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Transport for MpiRank {
    fn rank(&self) -> u32 {
        unsigned(self.world.rank())
    }

    fn ranks(&self) -> u32 {
        unsigned(self.world.size())
    }

    /// For a few words, which MPI keeps until they are wanted.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError> {
        self.world.process_at_rank(signed(to)).send_with_tag(&bytes[..], WORD);
        Ok(())
    }

    fn receive(&mut self, from: u32) -> Result<Vec<u8>, HybridError> {
        let begun = Instant::now();
        let source = self.world.process_at_rank(signed(from));
        loop {
            if let Some((message, status)) = source.immediate_matched_probe_with_tag(WORD) {
                let mut bytes =
                    vec![
                        0_u8;
                        length(status.count(<u8 as ::mpi::traits::Equivalence>::equivalent_datatype()))
                    ];
                message.matched_receive_into(&mut bytes[..]);
                return Ok(bytes);
            }
            if self.alone {
                return Err(HybridError::Gone { rank: self.culprit });
            }
            if let Some((message, _)) = source.immediate_matched_probe_with_tag(GONE) {
                let mut culprit = [from];
                message.matched_receive_into(&mut culprit[..]);
                (self.culprit, self.alone) = (culprit[0], true);
                // A word that was sent before it may have come since it was looked for.
                continue;
            }
            if begun.elapsed() > self.patience {
                self.culprit = from;
                return Err(HybridError::Silent { rank: from, seconds: self.patience.as_secs() });
            }
            std::thread::yield_now();
        }
    }

    /// An all-to-all of lengths, and then a message where there is something to say, in as many rounds as counts of 31 bits take.
    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError> {
        let (own, ranks) = (self.rank() as usize, parts.len());
        let mut came = vec![Vec::new(); ranks];
        let longest = parts.iter().map(Vec::len).max().unwrap_or(0).div_ceil(MOST);
        // All ranks are there, so none waits without end.
        let [rounds, ..] = self.least([u64::MAX - longest as u64, 0, 0])?;
        for round in 0..usize::try_from(u64::MAX - rounds).expect("what fits the memory") {
            let piece = |to: usize| {
                let part = if to == own { &[][..] } else { &parts[to][..] };
                let from = (round * MOST).min(part.len());
                &part[from..part.len().min(from + MOST)]
            };
            let counts: Vec<Count> = (0..ranks).map(|to| count(piece(to).len())).collect();
            let mut theirs = vec![0; ranks];
            self.world.all_to_all_into(&counts[..], &mut theirs[..]);
            ::mpi::request::scope(|scope| {
                let mut sent = Vec::new();
                for (to, rank) in (0..ranks).zip(0..).filter(|&(to, _)| counts[to] > 0) {
                    let process = self.world.process_at_rank(rank);
                    sent.push(WaitGuard::from(process.immediate_send_with_tag(scope, piece(to), DATA)));
                }
                for (from, rank) in (0..ranks).zip(0..).filter(|&(from, _)| theirs[from] > 0) {
                    let mut bytes = vec![0_u8; length(theirs[from])];
                    self.world.process_at_rank(rank).receive_into_with_tag(&mut bytes[..], DATA);
                    came[from].append(&mut bytes);
                }
            });
        }
        came[own].clone_from(&parts[own]);
        Ok(came)
    }
}

impl Drop for MpiRank {
    fn drop(&mut self) {
        // Those who wait for this rank hear of it. After a good end nobody does.
        for to in 0..self.world.size() {
            if to != self.world.rank() {
                self.world.process_at_rank(to).send_with_tag(&[self.culprit][..], GONE);
            }
        }
    }
}

impl std::fmt::Debug for MpiRank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MpiRank")
            .field("rank", &self.rank())
            .field("ranks", &self.ranks())
            .finish_non_exhaustive()
    }
}

fn unsigned(rank: Rank) -> u32 {
    u32::try_from(rank).expect("MPI numbers ranks from 0")
}

fn signed(rank: u32) -> Rank {
    Rank::try_from(rank).expect("MPI numbers ranks in 31 bits")
}

fn length(count: Count) -> usize {
    usize::try_from(count).expect("MPI counts from 0")
}

fn count(length: usize) -> Count {
    Count::try_from(length).expect("not above MOST")
}
