//! Ranks that are processes of MPI, through the crate `mpi`.
//!
//! No call of MPI here waits: what is sent and received are requests, which are asked again and
//! again whether they are done, up to a deadline. So a rank that hangs, wherever it does, leaves
//! nobody waiting (but for those that have come to a good end: they wait for the others to come to
//! theirs, however long that takes). What a request that never ends holds (its bytes) is given up
//! with it.

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

/// What ranks send each other, and the last word of a rank that goes.
const DATA: Tag = 0x4556;
const GONE: Tag = 0x4557;

/// Bytes of one message of MPI, which counts in 31 bits. What is as long is followed by more.
const MOST: usize = 1 << 30;

/// Once something is wrong, so long is waited for the others to learn of it, before this process
/// ends and `mpirun` ends all.
const GRACE: Duration = Duration::from_secs(1);

/// This process as a rank of MPI: one for the program, which ends MPI when it is dropped.
///
/// Errors that a simulation finds are those of all ranks. A rank that returns early or panics says
/// so to the others, who end with [`HybridError::Gone`]. One that hangs is [`HybridError::Silent`]
/// to the others when they have waited for it long enough ([`MpiRank::waiting`]). One that is
/// killed is the business of `mpirun`, which ends all others.
///
/// Large messages arrive while both ranks are in calls of this library: one that sends much, and
/// then is busy with something else for longer than others wait, is silent to them.
///
/// When all ranks have come to their ends, the last that is dropped ends MPI, for which each waits.
/// After an error none does: a process that ends without is what tells `mpirun` to end those that
/// hang. So a program whose run failed should end soon, with another exit code than 0.
pub struct MpiRank {
    world: SimpleCommunicator,
    patience: Duration,
    culprit: u32,
    /// Whether a rank was found gone or silent: then nothing is sent any more, or waited for.
    alone: bool,
    /// The last words that came.
    last: BTreeMap<u32, RankStatus>,
    /// What was sent and may not have arrived.
    flying: Vec<PendingRequest>,
    /// None once it is given up.
    universe: Option<Universe>,
}

impl MpiRank {
    /// Begins MPI. None where it has begun before in this process.
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

    /// The same with another time to wait for the other ranks: by default somewhat longer than for
    /// a device.
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

    /// Forgets what has arrived.
    fn reap(&mut self) {
        let flying = std::mem::take(&mut self.flying);
        self.flying.extend(flying.into_iter().filter_map(|flight| flight.test().err()));
    }

    /// What a rank has sent with a tag, if it has begun to arrive.
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
                    // A message that was sent before it may have come since it was looked for.
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

    /// Whether the last word of a rank has come.
    fn look_for_last(&mut self, from: u32) -> bool {
        let Some(mut flight) = self.begun(from, GONE) else { return self.last.contains_key(&from) };
        // It is short, so it comes at once. But not without end.
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

/// The last word of a rank: whether something was wrong, and with whom.
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
        // Those who wait for this rank hear of it. After a good end nobody does.
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

/// A request of MPI with the bytes that it reads or writes, which live as long as MPI may use them.
struct PendingRequest {
    request: Request<'static, [u8], StaticScope>,
    bytes: *mut [u8],
}

impl PendingRequest {
    fn of(bytes: Vec<u8>, begin: impl FnOnce(&'static [u8]) -> Request<'static, [u8], StaticScope>) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: it comes from a box, which is freed in `test` alone, when the request has ended.
        Self { request: begin(unsafe { &*bytes }), bytes }
    }

    fn into(
        bytes: Vec<u8>,
        begin: impl FnOnce(&'static mut [u8]) -> Request<'static, [u8], StaticScope>,
    ) -> Self {
        let bytes = Box::into_raw(bytes.into_boxed_slice());
        // SAFETY: as in `of`, and nobody else has a reference to it.
        Self { request: begin(unsafe { &mut *bytes }), bytes }
    }

    /// The bytes, if the request has ended.
    fn test(self) -> Result<Vec<u8>, Self> {
        let bytes = self.bytes;
        match self.request.test() {
            // SAFETY: it was made of a box by `of` or `into`. The request has ended and is gone
            // with its reference, so neither MPI nor anybody else uses it.
            Ok(_) => Ok(unsafe { Box::from_raw(bytes) }.into_vec()),
            Err(request) => Err(Self { request, bytes }),
        }
    }

    /// Leaves the request to itself: MPI may use the bytes as long as it likes.
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
