//! A side of a matching.

use super::super::region::{Bound, Region};

/// A set, or its part with these ids.
#[derive(Clone, Copy)]
pub(super) struct Side<'a, T, const D: usize> {
    regions: &'a [Region<T, D>],
    ids: Option<&'a [u32]>,
}

impl<'a, T: Bound, const D: usize> Side<'a, T, D> {
    pub(super) fn all(regions: &'a [Region<T, D>]) -> Self {
        Self { regions, ids: None }
    }

    pub(super) fn some(regions: &'a [Region<T, D>], ids: &'a [u32]) -> Self {
        Self { regions, ids: Some(ids) }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.map_or(self.regions.len(), <[u32]>::len)
    }

    /// The id of a member, and its region.
    pub(super) fn region(&self, index: usize) -> (u32, &'a Region<T, D>) {
        // The lengths of sets were checked.
        let id = self.ids.map_or_else(|| u32::try_from(index).unwrap_or(u32::MAX), |ids| ids[index]);
        (id, &self.regions[id as usize])
    }
}
