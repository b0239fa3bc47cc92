//! The identity of a checkpoint's model, and how far its LPs may be ahead of each other.

use crate::time::Ticks;

use crate::pdes::contract::model::Model;
use crate::pdes::device::schema::state_bytes;

/// How far LPs may be ahead of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skew {
    /// All pending events are later than all executed events.
    Level = 0,
    /// Some LPs are ahead of pending events, within an epoch.
    Epoch = 1,
    /// Some LPs are further ahead: their bounds depended on events that others were going to send.
    Further = 2,
}

/// The identity of a model.
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
            // Line ends depend on the checkout.
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

    /// The WGSL with the model's own imported files: its number of bytes without carriage returns,
    /// and their CRC-32.
    pub(crate) fn source(&self) -> [u64; 2] {
        self.source
    }
}
