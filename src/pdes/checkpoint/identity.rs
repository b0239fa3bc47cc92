//! Which model a checkpoint is of, and how far apart its LPs may stand.

use crate::time::Ticks;

use crate::pdes::contract::model::Model;
use crate::pdes::device::schema::state_bytes;

/// How far apart LPs may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skew {
    /// All that is pending is later than all that was executed.
    Level = 0,
    /// Some LPs are ahead of what is pending, within a cell of the lookahead.
    Cell = 1,
    /// Some are further ahead: how far they may go followed from what others were going to send.
    Further = 2,
}

/// Which model it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) name: String,
    pub(super) params: Vec<u8>,
    pub(super) lps: u32,
    pub(super) state_bytes: usize,
    pub(super) payload_words: usize,
    pub(super) memory_rows: u32,
    pub(super) lookahead: Ticks,
    pub(super) source: [u64; 2],
    pub(super) data: [u64; 2],
}

impl Identity {
    pub(crate) fn of<M: Model>(model: &M) -> Self {
        let mut text = crc32fast::Hasher::new();
        let mut length = 0;
        for part in model.source().parts() {
            // Ends of lines are those of whoever checked the file out.
            for piece in part.text().split('\r') {
                text.update(piece.as_bytes());
                length += piece.len() as u64;
            }
        }
        let data = model.data();
        Self {
            name: model.name().to_owned(),
            params: model.params_bytes(),
            lps: model.lps(),
            state_bytes: state_bytes(model),
            payload_words: size_of::<M::Payload>() / 4,
            memory_rows: model.memory_rows(),
            lookahead: model.lookahead(),
            source: [length, text.finalize().into()],
            data: [data.len() as u64, crc32fast::hash(bytemuck::cast_slice(data)).into()],
        }
    }

    /// Of the WGSL, with the files of the model's own that it imports: its bytes without carriage
    /// returns, and their CRC-32.
    pub(crate) fn source(&self) -> [u64; 2] {
        self.source
    }
}
