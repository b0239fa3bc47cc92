//! How ranks talk: the few collective operations that a simulation needs, and ranks that are
//! threads of one process.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::HybridError;
use crate::gpu::HOST_WAIT;

/// How long other ranks are waited for: longer than any of them waits for its device, so that it
/// can say that this is what hangs.
pub(super) const PATIENCE: Duration = HOST_WAIT.saturating_add(Duration::from_secs(10));

/// So long another rank's message is looked for before it is waited for.
const GLANCE: Duration = Duration::from_micros(100);

/// A rank of a simulation, and its way to the others: what one rank sends another arrives whole and
/// in order.
///
/// All ranks call the same collective operations in the same order. Those that are made here of
/// `send` and `receive` take as many steps as the logarithm of the ranks ([`least`](Self::least)),
/// or a message for each of them ([`exchange`](Self::exchange)).
pub trait Transport {
    /// Its number.
    fn rank(&self) -> u32;

    /// How many there are.
    fn ranks(&self) -> u32;

    /// Sends another rank some bytes, and does not wait for it. After another was found gone or
    /// silent nothing is sent any more: the rest may not know of it yet, and would take it for
    /// something else.
    ///
    /// # Errors
    /// Where that rank is gone, or another was found gone or silent.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError>;

    /// Waits for what another rank sends.
    ///
    /// # Errors
    /// [`HybridError::Gone`] where that rank has ended, or where another was found gone and there
    /// is nothing yet; [`HybridError::Silent`] where it is silent for too long.
    fn receive(&mut self, from: u32) -> Result<Vec<u8>, HybridError>;

    /// The smallest of what all ranks give, value by value: an all-reduce, by dissemination
    /// (Hensgen, Finkel and Manber, 1988).
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

    /// Sends each rank what is for it, in the order of ranks, and returns what came from each. What
    /// a rank has for itself stays where it is.
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

    /// What all ranks give, on each.
    ///
    /// # Errors
    /// As [`Transport::receive`].
    fn gather(&mut self, part: Vec<u8>) -> Result<Vec<Vec<u8>>, HybridError> {
        self.exchange(vec![part; self.ranks() as usize])
    }
}

/// The only rank.
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

/// What goes from rank to rank.
#[derive(Debug)]
enum Packet {
    Bytes(Vec<u8>),
    /// The sender is gone, because this rank is.
    Gone(u32),
}

/// A rank among those of one process: [`in_process`].
#[derive(Debug)]
pub struct LocalRank {
    rank: u32,
    to: Vec<Sender<(u32, Packet)>>,
    from: Receiver<(u32, Packet)>,
    /// What came before it was waited for, by rank.
    early: Vec<VecDeque<Packet>>,
    patience: Duration,
    culprit: u32,
    /// Whether a rank was found gone or silent: then nothing is sent any more, or waited for.
    alone: bool,
}

impl LocalRank {
    /// So many ranks, each of which goes to a thread of its own.
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

    /// The same with another time to wait for the other ranks: by default as long as for a device.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The next packet of any rank. To wake from a wait takes longer than others need for a window
    /// with little to do: so it looks first.
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
        u32::try_from(self.to.len()).expect("it was made of a u32")
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError> {
        if self.alone {
            return Err(HybridError::Gone { rank: self.culprit });
        }
        // Who takes nothing any more has said why.
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

/// Runs a function on each of so many ranks, each a thread of this process, and returns what they
/// return, by rank. Where one panics, the others are told so by [`HybridError::Gone`], and its
/// panic goes on here when all have ended.
///
/// # Panics
/// Where a rank does, and where the system gives no more threads.
pub fn in_process<R: Send>(ranks: u32, run: impl Fn(LocalRank) -> R + Sync) -> Vec<R> {
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            LocalRank::new(ranks).into_iter().map(|rank| scope.spawn(move || run(rank))).collect();
        let ended: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        ended.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
