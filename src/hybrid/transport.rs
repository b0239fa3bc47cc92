//! Communication of ranks: the collective operations that a simulation needs, and ranks as threads
//! of one process.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::HybridError;
use crate::gpu::HOST_WAIT;

/// How long to wait for other ranks: longer than any of them waits for its device, so that it can
/// report that the device hangs.
pub(super) const PATIENCE: Duration = HOST_WAIT.saturating_add(Duration::from_secs(10));

/// How long to poll for another rank's message before a blocking wait.
const GLANCE: Duration = Duration::from_micros(100);

/// A rank of a simulation, with its connection to the others: messages between two ranks arrive
/// complete and in order.
///
/// All ranks call the same collective operations in the same order. The default ones, built from
/// `send` and `receive`, take a logarithmic number of steps ([`least`](Self::least)), or a message
/// for each rank ([`exchange`](Self::exchange)).
pub trait Transport {
    /// The rank's number.
    fn rank(&self) -> u32;

    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// Sends bytes to another rank, without waiting. After a rank was found gone or silent, nothing
    /// is sent any more: other ranks may not know of it yet, and would mistake the message for
    /// another.
    ///
    /// # Errors
    /// If that rank is gone, or another was found gone or silent.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError>;

    /// Waits for a message of another rank.
    ///
    /// # Errors
    /// [`HybridError::Gone`] if that rank has ended, or if another was found gone and there is no
    /// message yet; [`HybridError::Silent`] after the waiting time.
    fn receive(&mut self, from: u32) -> Result<Vec<u8>, HybridError>;

    /// The minima over all ranks, value by value: an all-reduce, by dissemination (Hensgen, Finkel
    /// and Manber, 1988).
    ///
    /// # Errors
    /// As [`Transport::receive`].
    fn least(&mut self, values: [u64; 3]) -> Result<[u64; 3], HybridError> {
        let (rank, ranks) = (self.rank(), self.ranks());
        let (mut least, mut step) = (values, 1);
        while step < ranks {
            self.send((rank + step) % ranks, bytemuck::bytes_of(&least).to_vec())?;
            let from = (rank + ranks - step) % ranks;
            let bytes = self.receive(from)?;
            let theirs: [u64; 3] = bytemuck::try_pod_read_unaligned(&bytes)
                .map_err(|error| HybridError::Garbled { rank: from, reason: error.to_string() })?;
            least = std::array::from_fn(|place| least[place].min(theirs[place]));
            step *= 2;
        }
        Ok(least)
    }

    /// Sends each rank its part, in the order of ranks, and returns the part received from each.
    /// The part for this rank is returned unchanged.
    ///
    /// # Errors
    /// As [`Transport::receive`].
    fn exchange(&mut self, mut parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError> {
        let rank = self.rank();
        let others = || (0..).zip(0..parts.len()).filter(move |&(other, _)| other != rank);
        let others: Vec<(u32, usize)> = others().collect();
        for &(to, place) in &others {
            self.send(to, std::mem::take(&mut parts[place]))?;
        }
        for &(from, place) in &others {
            parts[place] = self.receive(from)?;
        }
        Ok(parts)
    }

    /// The parts of all ranks, on each.
    ///
    /// # Errors
    /// As [`Transport::receive`].
    fn gather(&mut self, part: Vec<u8>) -> Result<Vec<Vec<u8>>, HybridError> {
        self.exchange(vec![part; self.ranks() as usize])
    }
}

/// A single rank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SingleRank;

impl Transport for SingleRank {
    fn rank(&self) -> u32 {
        0
    }

    fn ranks(&self) -> u32 {
        1
    }

    fn send(&mut self, to: u32, _: Vec<u8>) -> Result<(), HybridError> {
        Err(HybridError::Gone { rank: to })
    }

    fn receive(&mut self, from: u32) -> Result<Vec<u8>, HybridError> {
        Err(HybridError::Gone { rank: from })
    }
}

/// A message between ranks.
#[derive(Debug)]
enum Packet {
    Bytes(Vec<u8>),
    /// The sender has ended, because of the rank with this number.
    Gone(u32),
}

/// A rank in a process of several: [`in_process`].
#[derive(Debug)]
pub struct LocalRank {
    rank: u32,
    to: Vec<Sender<(u32, Packet)>>,
    from: Receiver<(u32, Packet)>,
    /// Messages that arrived before they were requested, by rank.
    early: Vec<VecDeque<Packet>>,
    patience: Duration,
    culprit: u32,
    /// Whether a rank is gone or silent: then this rank sends nothing and waits for nothing any
    /// more.
    alone: bool,
}

impl LocalRank {
    /// Creates this number of ranks, each for its own thread.
    pub fn new(ranks: u32) -> Vec<Self> {
        let (to, from): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let rank = |(rank, from)| Self {
            rank,
            to: to.clone(),
            from,
            early: (0..ranks).map(|_| VecDeque::new()).collect(),
            patience: PATIENCE,
            culprit: rank,
            alone: false,
        };
        (0..).zip(from).map(rank).collect()
    }

    /// The same with another waiting time for other ranks: by default somewhat longer than for a
    /// device.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The next packet of any rank. Waking from a wait takes longer than a short window, so this
    /// polls first.
    fn next(&self, patience: Duration) -> Result<(u32, Packet), RecvTimeoutError> {
        let begun = Instant::now();
        while begun.elapsed() < GLANCE.min(patience) {
            match self.from.try_recv() {
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Ok(packet) => return Ok(packet),
            }
        }
        self.from.recv_timeout(patience)
    }

    fn gone(&mut self, rank: u32) -> HybridError {
        (self.culprit, self.alone) = (rank, true);
        HybridError::Gone { rank }
    }
}

impl Transport for LocalRank {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        u32::try_from(self.to.len()).expect("its length comes from a u32")
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError> {
        if self.alone {
            return Err(HybridError::Gone { rank: self.culprit });
        }
        // A rank that no longer receives has sent the reason.
        if self.to[to as usize].send((self.rank, Packet::Bytes(bytes))).is_err() {
            loop {
                self.receive(to)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, rank: u32) -> Result<Vec<u8>, HybridError> {
        loop {
            if let Some(packet) = self.early[rank as usize].pop_front() {
                match packet {
                    Packet::Bytes(bytes) => return Ok(bytes),
                    Packet::Gone(culprit) => return Err(self.gone(culprit)),
                }
            }
            let patience = if self.alone { Duration::ZERO } else { self.patience };
            match self.next(patience) {
                Ok((from, packet)) => self.early[from as usize].push_back(packet),
                Err(RecvTimeoutError::Timeout) if self.alone => return Err(self.gone(self.culprit)),
                Err(RecvTimeoutError::Timeout) => {
                    (self.culprit, self.alone) = (rank, true);
                    return Err(HybridError::Silent { rank, seconds: self.patience.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(rank)),
            }
        }
    }
}

impl Drop for LocalRank {
    fn drop(&mut self) {
        for to in &self.to {
            let _ = to.send((self.rank, Packet::Gone(self.culprit)));
        }
    }
}

/// Runs a function on each of `ranks` ranks, each a thread of this process, and returns the
/// results, by rank. If one panics, the others get [`HybridError::Gone`], and the panic resumes
/// here when all have ended.
///
/// # Panics
/// If a rank panics, or if the system cannot create the threads.
pub fn in_process<R: Send>(ranks: u32, run: impl Fn(LocalRank) -> R + Sync) -> Vec<R> {
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            LocalRank::new(ranks).into_iter().map(|rank| scope.spawn(move || run(rank))).collect();
        let ended: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        ended.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
