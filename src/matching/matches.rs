//! The found pairs: counted first, then written page by page.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::MatchingError;
use super::kernels::Kernels;
use super::source::Source;
use super::work::Window;
use crate::gpu::Buffer;

/// The overlapping pairs of two sets: their number, and the pairs themselves, in pages on the
/// device.
///
/// Each pair `[subscription, update]` occurs exactly once. The order is the same in every run and
/// on every device, and otherwise unspecified. A page holds as many pairs as one binding of the
/// device (8 bytes each), so usually all pairs fit the first page.
#[derive(Debug)]
pub struct Matches {
    kernels: Arc<Kernels>,
    total: u64,
    source: Source,
    page_len: u32,
    next: u64,
    pairs: Option<Buffer<[u32; 2]>>,
}

/// A page of the pairs, on the device.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    kernels: &'a Kernels,
    first: u64,
    len: u32,
    pairs: &'a Buffer<[u32; 2]>,
}

impl Matches {
    pub(super) fn new(kernels: &Arc<Kernels>, total: u64, source: Source) -> Self {
        let source = if total == 0 { Source::Nothing } else { source };
        let mut matches =
            Self { kernels: Arc::clone(kernels), total, source, page_len: 1, next: 0, pairs: None };
        matches.set_page_len(u32::MAX);
        matches
    }

    /// Writes the first `len` pairs to an internal buffer.
    pub(super) async fn write(&self, pairs: &Buffer<[u32; 2]>, len: u32) -> Result<(), MatchingError> {
        self.source.write(&self.kernels, Window { first: 0, len }, pairs).await
    }

    /// The number of pairs.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The maximum number of pairs in a page.
    pub fn page_len(&self) -> u32 {
        self.page_len
    }

    /// Makes pages smaller (at least one pair, at most the device's binding limit), and restarts
    /// from the first pair.
    pub fn set_page_len(&mut self, pairs: u32) {
        let limit = (self.kernels.gpu().max_buffer_bytes() / size_of::<[u32; 2]>() as u64).min(self.total);
        self.page_len = pairs.min(u32::try_from(limit).unwrap_or(u32::MAX)).max(1);
        self.next = 0;
        self.pairs = self.pairs.take().filter(|buffer| buffer.len() == u64::from(self.page_len));
    }

    /// Writes the next pairs to the page buffer; `None` after the last. All pages use the same
    /// buffer.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`], for example if the device has no memory for a page: make pages
    /// smaller.
    /// smaller.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn next_page(&mut self) -> Result<Option<Page<'_>>, MatchingError> {
        pollster::block_on(self.next_page_async())
    }

    /// [`Matches::next_page`] without blocking.
    ///
    /// # Errors
    /// As [`Matches::next_page`].
    pub async fn next_page_async(&mut self) -> Result<Option<Page<'_>>, MatchingError> {
        let left = self.total - self.next;
        if left == 0 {
            return Ok(None);
        }
        let len = u32::try_from(left).map_or(self.page_len, |left| left.min(self.page_len));
        let first = self.next;
        let window = Window { first, len };
        let mut pairs = self.pairs_of(window).await;
        if self.kernels.forget_if_failed(&pairs) {
            pairs = self.pairs_of(window).await;
        }
        let pairs = &*self.pairs.insert(pairs?);
        self.next += u64::from(len);
        Ok(Some(Page { kernels: &self.kernels, first, len, pairs }))
    }

    /// Writes a window of the pairs to the page buffer.
    async fn pairs_of(&mut self, window: Window) -> Result<Buffer<[u32; 2]>, MatchingError> {
        let pairs = match self.pairs.take() {
            Some(pairs) => pairs,
            None => Buffer::storage(self.kernels.gpu(), "pairs", self.page_len.into())?,
        };
        self.source.write(&self.kernels, window, &pairs).await?;
        Ok(pairs)
    }

    pub(super) async fn read_all(
        &mut self,
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Vec<[u32; 2]>, MatchingError> {
        self.next = 0;
        let mut all = Vec::new();
        while let Some(page) = self.next_page_async().await? {
            all.append(&mut page.read_async().await?);
            if watch(all.len() as u64).is_break() {
                break;
            }
        }
        Ok(all)
    }
}

impl Page<'_> {
    /// The number of its first pair among all pairs.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of its pairs: at least one.
    #[expect(clippy::len_without_is_empty, reason = "a page is never empty")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The pairs on the device: the first [`Page::len`] values. Valid until the next page.
    pub fn buffer(&self) -> &Buffer<[u32; 2]> {
        self.pairs
    }

    /// Reads the pairs back.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(&self) -> Result<Vec<[u32; 2]>, MatchingError> {
        pollster::block_on(self.read_async())
    }

    /// [`Page::read`] without blocking.
    ///
    /// # Errors
    /// As [`Page::read`].
    pub async fn read_async(&self) -> Result<Vec<[u32; 2]>, MatchingError> {
        let pairs = self.pairs.read_range(self.kernels.gpu(), 0, self.len.into()).await.map_err(Into::into);
        // The page is not read again: in browsers it may be unwritten because of an error of an
        // older call.
        self.kernels.forget_if_failed(&pairs);
        pairs
    }
}
