//! Ranks that are processes of MPI, through the crate `mpi`.

use std::time::Duration;

use ::mpi::datatype::{Partition, PartitionMut};
use ::mpi::environment::Universe;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use ::mpi::{Count, Rank, Tag, Threading};
use web_time::Instant;

use super::{HybridError, Transport};
use crate::gpu::HOST_WAIT;

/// Words between ranks, and the last one of a rank that goes.
const WORD: Tag = 0x4556;
const GONE: Tag = 0x4557;

/// What all ranks send each other in one call, for MPI counts in 31 bits.
const MOST: usize = 1 << 30;

/// This process as a rank of MPI: one for the program, which ends MPI when it is dropped.
///
/// Errors that a simulation finds are those of all ranks. A rank that returns early or panics says so to the others, who end with [`HybridError::Gone`]; one that is
/// killed is the business of `mpirun`, which ends the others, too.
pub struct MpiRank {
    world: SimpleCommunicator,
    patience: Duration,
    culprit: u32,
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
        Some(Self { world, patience: HOST_WAIT, culprit, _universe: universe })
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
                let mut bytes = vec![0_u8; length(status.count(<u8 as ::mpi::traits::Equivalence>::equivalent_datatype()))];
                message.matched_receive_into(&mut bytes[..]);
                return Ok(bytes);
            }
            if let Some((message, _)) = source.immediate_matched_probe_with_tag(GONE) {
                let mut culprit = [from];
                message.matched_receive_into(&mut culprit[..]);
                self.culprit = culprit[0];
                return Err(HybridError::Gone { rank: self.culprit });
            }
            if begun.elapsed() > self.patience {
                self.culprit = from;
                return Err(HybridError::Silent { rank: from, seconds: self.patience.as_secs() });
            }
            std::thread::yield_now();
        }
    }

    /// By MPI's own operations, in as many rounds as counts of 31 bits take.
    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError> {
        let (own, ranks) = (self.rank() as usize, parts.len());
        let mut came = vec![Vec::new(); ranks];
        let most = MOST / ranks;
        let longest = parts.iter().map(Vec::len).max().unwrap_or(0).div_ceil(most);
        let [rounds, ..] = self.least([u64::MAX - longest as u64, 0, 0])?;
        for round in 0..usize::try_from(u64::MAX - rounds).expect("what fits the memory") {
            let piece = |part: &Vec<u8>| {
                let from = (round * most).min(part.len());
                from..part.len().min(from + most)
            };
            let sent: Vec<u8> = parts.iter().flat_map(|part| part[piece(part)].iter().copied()).collect();
            let counts: Vec<Count> = parts.iter().map(|part| count(piece(part).len())).collect();
            let mut theirs = vec![0; ranks];
            self.world.all_to_all_into(&counts[..], &mut theirs[..]);
            let mut bytes = vec![0_u8; theirs.iter().map(|&count| length(count)).sum()];
            let (from, to) = (begins(&counts), begins(&theirs));
            {
                let sent = Partition::new(&sent[..], counts, from);
                let mut bytes = PartitionMut::new(&mut bytes[..], &theirs[..], &to[..]);
                self.world.all_to_all_varcount_into(&sent, &mut bytes);
            }
            for (came, (&begin, &count)) in came.iter_mut().zip(to.iter().zip(&theirs)) {
                came.extend_from_slice(&bytes[length(begin)..][..length(count)]);
            }
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
        f.debug_struct("MpiRank").field("rank", &self.rank()).field("ranks", &self.ranks()).finish_non_exhaustive()
    }
}

fn begins(counts: &[Count]) -> Vec<Count> {
    let begin = |sum: &mut Count, &count: &Count| Some(std::mem::replace(sum, *sum + count));
    counts.iter().scan(0, begin).collect()
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
