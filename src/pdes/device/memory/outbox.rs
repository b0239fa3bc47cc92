//! The report of a part of a run, and its messages to the others: for `run/simulation/part.rs`.

use bytemuck::Pod;

use crate::gpu::Download;

use super::super::control::{ARRIVED_MARKS, CONTROL_ROWS, REPORTED_ROWS};
use super::super::cut::{Outbox, ROW};
use super::{COUNTS, Memory};
use crate::pdes::{Event, Payload};

impl<S: Pod, P: Payload> Memory<S, P> {
    /// The sizes of a part's report in bytes, with `mails` bytes of messages for each other part:
    /// see [`Memory::record_reported`].
    pub(in crate::pdes) fn report_bytes(&self, mails: &[u64]) -> [u64; 5] {
        let counts = 4 * mails.len() as u64;
        let rows = if self.cut.buckets > 0 { ROW * REPORTED_ROWS as u64 } else { 0 };
        let partials = if self.cut.gathered() { ROW } else { ROW * u64::from(self.cut.groups()) };
        [4 * COUNTS as u64, counts, rows, partials, mails.iter().sum()]
    }

    /// Records the readback of a part's report after a dispatch of this parity over all its rows:
    /// failures and lacking room; the numbers of events for each other part; rows of control of a
    /// calendar; the partial reductions, merged if windows merge them; and `mails` bytes of
    /// messages for each.
    pub(in crate::pdes) fn record_reported(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        staging: &Download,
        parity: u32,
        mails: &[u64],
    ) {
        let [control, counts, rows, partials, _] = self.report_bytes(mails);
        let next = u64::from(1 - parity);
        let (lps, groups) = (u64::from(self.cut.rows), u64::from(self.cut.groups()));
        let half = 2 * lps + if self.cut.gathered() { 2 * groups } else { next * groups };
        staging.record_part(encoder, self.words.raw(), 0, (0, control));
        if counts > 0 {
            staging.record_part(encoder, self.words.raw(), 4 * self.outbox_first(), (control, counts));
        }
        if rows > 0 {
            let from = ROW * (self.control() + next * CONTROL_ROWS as u64);
            staging.record_part(encoder, self.lps.raw(), from, (control + counts, rows));
        }
        staging.record_part(encoder, self.lps.raw(), ROW * half, (control + counts + rows, partials));
        let firsts: Vec<_> = mails.iter().map(|&bytes| (0, bytes)).collect();
        self.record_mails_at(encoder, staging, control + counts + rows + partials, &firsts);
    }

    /// Records the readback of messages to other parts: for each part, the first byte and the
    /// number of bytes.
    pub(in crate::pdes) fn record_mails(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        staging: &Download,
        mails: &[(u64, u64)],
    ) {
        self.record_mails_at(encoder, staging, 0, mails);
    }

    fn record_mails_at(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        staging: &Download,
        mut place: u64,
        mails: &[(u64, u64)],
    ) {
        for (other, &(first, bytes)) in (0..).zip(mails).filter(|(_, (_, bytes))| *bytes > 0) {
            let from = self.outbox_byte(other) + first;
            staging.record_part(encoder, self.words.raw(), from, (place, bytes));
            place += bytes;
        }
    }

    /// Records that nothing came, before arrivals in a calendar.
    pub(in crate::pdes) fn clear_arrived(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.cut.buckets > 0 {
            encoder.clear_buffer(self.words.raw(), 4 * ARRIVED_MARKS as u64, Some(8));
        }
    }

    /// Records that the outboxes for `others` other parts are empty.
    pub(in crate::pdes) fn clear_outbox(&self, encoder: &mut wgpu::CommandEncoder, others: usize) {
        if others > 0 {
            encoder.clear_buffer(self.words.raw(), 4 * self.outbox_first(), Some(4 * others as u64));
        }
    }

    /// The first word of the outbox's counts in `words`.
    fn outbox_first(&self) -> u64 {
        COUNTS as u64 + u64::from(self.cut.counts()) * u64::from(self.cut.rows)
    }

    /// The first byte of the messages to another part.
    fn outbox_byte(&self, other: u64) -> u64 {
        let outbox = self.cut.outbox.expect("it is a part of a run");
        let entry = Outbox::entry(size_of::<Event<P>>()) as u64;
        4 * (self.outbox_first() + u64::from(outbox.parts - 1)) + other * u64::from(outbox.room) * entry
    }
}
