//! Ranks as processes of MPI, through the crate `mpi`.
//!
//! No call of MPI here blocks: sends and receives are requests, which are tested repeatedly up to a
//! deadline. So a rank that hangs leaves no other rank waiting. (Ranks that ended well are an
//! exception: they wait for the others to end, for any time.) A request that never ends is leaked
//! with its bytes.

use std::collections::BTreeMap;
use std::time::Duration;

use ::mpi::environment::Universe;
use ::mpi::request::{Request, StaticScope};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, Destination, Equivalence, Source};
use ::mpi::{Count, Rank, Tag, Threading};
use web_time::Instant;

use super::transport::PATIENCE;
use super::{HybridError, Transport};

/// The tags of messages between ranks, and of the last message of a rank that ends.
const DATA: Tag = 0x4556;
const GONE: Tag = 0x4557;

/// The maximum number of bytes of an MPI message, which counts in 31 bits. Another message follows
/// one of this length.
const MOST: usize = 1 << 30;

/// After an error, how long the other ranks have to learn of it before this process ends and
/// `mpirun` ends all.
const GRACE: Duration = Duration::from_secs(1);

/// This process as a rank of MPI: one per program. Dropping it ends MPI.
///
/// Errors of a simulation reach all ranks. A rank that returns early or panics notifies the others,
/// which end with [`HybridError::Gone`]. A rank that hangs is [`HybridError::Silent`] to the others
/// after their waiting time ([`MpiRank::waiting`]). If a rank is killed, `mpirun` ends all others.
///
/// Large messages arrive while both ranks are in calls of this library. A rank that sends much
/// data, and is then busy elsewhere for longer than the others wait, appears silent to them.
///
/// When all ranks have ended, dropping the last one ends MPI; each waits for this. After an error
/// none waits: a process that ends without ending MPI makes `mpirun` end those that hang. So a
/// program with a failed run should end soon, with an exit code other than 0.
pub struct MpiRank {
    world: SimpleCommunicator,
    patience: Duration,
    culprit: u32,
    /// Whether a rank is gone or silent: then this rank sends nothing and waits for nothing any
    /// more.
    alone: bool,
    /// The received last messages.
    last: BTreeMap<u32, RankStatus>,
    /// Sends that may not have arrived.
    flying: Vec<PendingRequest>,
    /// `None` once it is given up.
    universe: Option<Universe>,
}

impl MpiRank {
    /// Starts MPI. `None` if it was started before in this process.
    pub fn new() -> Option<Self> {
        // Only the thread that holds the rank calls MPI.
        let (universe, _) = ::mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let culprit = unsigned(world.rank());
        Some(Self {
            world,
            patience: PATIENCE,
            culprit,
            alone: false,
            last: BTreeMap::new(),
            flying: Vec::new(),
            universe: Some(universe),
        })
    }

    /// The same with another waiting time for other ranks: by default somewhat longer than for a
    /// device.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    fn post(&mut self, to: u32, tag: Tag, bytes: Vec<u8>) {
        let process = self.world.process_at_rank(signed(to));
        self.flying.push(PendingRequest::of(bytes, |bytes| {
            process.immediate_send_with_tag(StaticScope, bytes, tag)
        }));
    }

    /// Removes completed sends.
    fn reap(&mut self) {
        let flying = std::mem::take(&mut self.flying);
        self.flying.extend(flying.into_iter().filter_map(|flight| flight.test().err()));
    }

    /// Starts to receive a message with this tag, if one has begun to arrive.
    fn begun(&self, from: u32, tag: Tag) -> Option<PendingRequest> {
        let process = self.world.process_at_rank(signed(from));
        let (message, status) = process.immediate_matched_probe_with_tag(tag)?;
        let length = status.count(<u8 as Equivalence>::equivalent_datatype());
        let bytes = vec![0_u8; usize::try_from(length).expect("MPI counts from 0")];
        Some(PendingRequest::into(bytes, |bytes| message.immediate_matched_receive_into(StaticScope, bytes)))
    }

    /// The next message of another rank.
    fn piece(&mut self, from: u32) -> Result<Vec<u8>, HybridError> {
        let begun = Instant::now();
        let mut flight = None;
        loop {
            flight = match flight.or_else(|| self.begun(from, DATA)).map(PendingRequest::test) {
                Some(Ok(bytes)) => return Ok(bytes),
                Some(Err(flight)) => Some(flight),
                None => None,
            };
            self.reap();
            let mut patience = self.patience;
            if flight.is_none() {
                if self.alone {
                    return Err(HybridError::Gone { rank: self.culprit });
                }
                if let Some(last) = self.last.get(&from) {
                    (self.culprit, self.alone) = (last.culprit, true);
                    return Err(HybridError::Gone { rank: self.culprit });
                }
                if self.look_for_last(from) {
                    // A message sent before it may have arrived since the last check.
                    continue;
                }
            } else if self.alone {
                patience = patience.min(GRACE);
            }
            if begun.elapsed() > patience {
                (self.culprit, self.alone) = (from, true);
                flight.into_iter().for_each(PendingRequest::give_up);
                return Err(HybridError::Silent { rank: from, seconds: patience.as_secs() });
            }
            std::thread::yield_now();
        }
    }

    /// Whether the last message of a rank has arrived.
    fn look_for_last(&mut self, from: u32) -> bool {
        let Some(mut flight) = self.begun(from, GONE) else { return self.last.contains_key(&from) };
        // It is short, so it arrives at once; the wait is bounded all the same.
        let begun = Instant::now();
        let bytes = loop {
            match flight.test() {
                Ok(bytes) => break bytes,
                Err(same) if begun.elapsed() > GRACE => {
                    same.give_up();
                    break Vec::new();
                }
                Err(same) => flight = same,
            }
        };
        let culprit = bytes.get(1..5).and_then(|bytes| bytes.try_into().ok());
        let last =
            RankStatus { sick: bytes.first() != Some(&0), culprit: culprit.map_or(from, u32::from_le_bytes) };
        self.last.insert(from, last);
        true
    }
}

/// The last message of a rank: whether it had an error, and the rank that caused it.
struct RankStatus {
    sick: bool,
    culprit: u32,
}

impl Transport for MpiRank {
    fn rank(&self) -> u32 {
        unsigned(self.world.rank())
    }

    fn ranks(&self) -> u32 {
        unsigned(self.world.size())
    }

    fn send(&mut self, to: u32, mut bytes: Vec<u8>) -> Result<(), HybridError> {
        if self.alone {
            return Err(HybridError::Gone { rank: self.culprit });
        }
        self.reap();
        while bytes.len() >= MOST {
            let rest = bytes.split_off(MOST);
            self.post(to, DATA, std::mem::replace(&mut bytes, rest));
        }
        self.post(to, DATA, bytes);
        Ok(())
    }

    fn receive(&mut self, from: u32) -> Result<Vec<u8>, HybridError> {
        let mut bytes = self.piece(from)?;
        let mut last = bytes.len();
        while last == MOST {
            let mut more = self.piece(from)?;
            last = more.len();
            bytes.append(&mut more);
        }
        Ok(bytes)
    }
}

impl Drop for MpiRank {
    fn drop(&mut self) {
        let own = self.rank();
        let others: Vec<u32> = (0..self.ranks()).filter(|&rank| rank != own).collect();
        let mut sick = self.alone || std::thread::panicking();
        // Ranks that wait for this one learn of its end. After a good end none waits.
        let mut last = vec![u8::from(sick)];
        last.extend(self.culprit.to_le_bytes());
        for &to in &others {
            self.post(to, GONE, last.clone());
        }
        let mut since = Instant::now();
        loop {
            self.reap();
            let missing = others.iter().filter(|&&other| !self.look_for_last(other)).count();
            if !sick && self.last.values().any(|last| last.sick) {
                (sick, since) = (true, Instant::now());
            }
            let all = missing == 0 && (sick || self.flying.is_empty());
            if all || sick && since.elapsed() > GRACE {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.flying.drain(..).for_each(PendingRequest::give_up);
        if sick {
            std::mem::forget(self.universe.take());
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

/// An MPI request with the bytes that it reads or writes, which live as long as MPI may use them.
struct PendingRequest {
    request: Request<'static, [u8], StaticScope>,
    bytes: *mut [u8],
}

impl PendingRequest {
    fn of(bytes: Vec<u8>, begin: impl FnOnce(&'static [u8]) -> Request<'static, [u8], StaticScope>) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: the bytes come from a box, which only `test` frees, after the request has ended.
        Self { request: begin(unsafe { &*bytes }), bytes }
    }

    fn into(
        bytes: Vec<u8>,
        begin: impl FnOnce(&'static mut [u8]) -> Request<'static, [u8], StaticScope>,
    ) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: as in `of`, and there is no other reference to the bytes.
        Self { request: begin(unsafe { &mut *bytes }), bytes }
    }

    /// The bytes, if the request has ended.
    fn test(self) -> Result<Vec<u8>, Self> {
        let bytes = self.bytes;
        match self.request.test() {
            // SAFETY: the pointer comes from a box in `of` or `into`. The request has ended and its
            // reference is gone, so neither MPI nor any other code uses the bytes.
            Ok(_) => Ok(unsafe { Box::from_raw(bytes) }.into_vec()),
            Err(request) => Err(Self { request, bytes }),
        }
    }

    /// Leaks the request: MPI may use its bytes for any time.
    fn give_up(self) {
        std::mem::forget(self.request);
    }
}

fn unsigned(rank: Rank) -> u32 {
    u32::try_from(rank).expect("MPI numbers ranks from 0")
}

fn signed(rank: u32) -> Rank {
    Rank::try_from(rank).expect("MPI numbers ranks in 31 bits")
}

const _: () = assert!(MOST < Count::MAX as usize, "a message of MPI counts in 31 bits");
