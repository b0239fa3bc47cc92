//! How ranks talk: the few collective operations that a simulation needs, and ranks that are threads of one process.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::HybridError;
use crate::gpu::HOST_WAIT;

/// A rank of a simulation, and its way to the others. All ranks call the same functions in the same order; a rank that is dropped while others
/// wait for it must end their waiting with an error.
pub trait Transport: Send {
    /// Its number.
    fn rank(&self) -> u32;

    /// How many there are.
    fn ranks(&self) -> u32;

    /// The smallest of what all ranks give, value by value.
    ///
    /// # Errors
    /// Where another rank is gone or silent.
    fn least(&mut self, values: [u64; 3]) -> Result<[u64; 3], HybridError>;

    /// Sends each rank what is for it, in the order of ranks, and returns what came from each. Nothing is sent where nothing is to be said, if that is
    /// cheaper. The rank's own place is left alone.
    ///
    /// # Errors
    /// As [`Transport::least`].
    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError>;

    /// What all ranks give, on each.
    ///
    /// # Errors
    /// As [`Transport::least`].
    fn gather(&mut self, part: Vec<u8>) -> Result<Vec<Vec<u8>>, HybridError> {
        let ranks = self.ranks() as usize;
        let mut parts = vec![part; ranks];
        let own = std::mem::take(&mut parts[self.rank() as usize]);
        let mut gathered = self.exchange(parts)?;
        gathered[self.rank() as usize] = own;
        Ok(gathered)
    }
}

/// The only rank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Alone;

impl Transport for Alone {
    fn rank(&self) -> u32 {
        0
    }

    fn ranks(&self) -> u32 {
        1
    }

    fn least(&mut self, values: [u64; 3]) -> Result<[u64; 3], HybridError> {
        Ok(values)
    }

    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError> {
        Ok(parts)
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
            patience: HOST_WAIT,
            culprit: rank,
        };
        (0..).zip(from).map(rank).collect()
    }

    /// The same with another time to wait for the other ranks: by default as long as for a device.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), HybridError> {
        // Who takes nothing any more has said why.
        if self.to[to as usize].send((self.rank, Packet::Bytes(bytes))).is_err() {
            self.receive(to)?;
            return Err(self.gone(to));
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
            match self.from.recv_timeout(self.patience) {
                Ok((from, packet)) => self.early[from as usize].push_back(packet),
                Err(RecvTimeoutError::Timeout) => {
                    self.culprit = rank;
                    return Err(HybridError::Silent { rank, seconds: self.patience.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(rank)),
            }
        }
    }

    fn gone(&mut self, rank: u32) -> HybridError {
        self.culprit = rank;
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

    fn least(&mut self, values: [u64; 3]) -> Result<[u64; 3], HybridError> {
        let bytes = bytemuck::bytes_of(&values).to_vec();
        let all = self.gather(bytes)?;
        let all = all.iter().map(|bytes| bytemuck::pod_read_unaligned::<[u64; 3]>(bytes));
        Ok(all.fold([u64::MAX; 3], |least, values| std::array::from_fn(|i| least[i].min(values[i]))))
    }

    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, HybridError> {
        let others: Vec<_> = (0..self.ranks()).filter(|&rank| rank != self.rank).collect();
        let mut parts = parts;
        for &rank in &others {
            self.send(rank, std::mem::take(&mut parts[rank as usize]))?;
        }
        for &rank in &others {
            parts[rank as usize] = self.receive(rank)?;
        }
        Ok(parts)
    }
}

impl Drop for LocalRank {
    fn drop(&mut self) {
        for to in &self.to {
            let _ = to.send((self.rank, Packet::Gone(self.culprit)));
        }
    }
}

/// Runs a function on each of so many ranks, each a thread of this process, and returns what they return, by rank. Where one panics, the
/// others are told so by [`HybridError::Gone`], and its panic goes on here when all have ended.
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
