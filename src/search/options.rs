//! How searches are run.

use super::Mapping;

/// Cells of paths that are read back together, if the map has no more.
const PATH_ROOM: u32 = 1 << 24;

/// How an [`Engine`](super::Engine) runs searches. Costs and paths do not depend on it.
///
/// ```
/// use eventhorizon::search::{Mapping, Options};
///
/// let options = Options::default().mapping(Mapping::Team).paths(true);
/// assert_eq!((options.mapping, options.paths, options.count), (Mapping::Team, true, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which invocations serve a search. Default: [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Whether results have the paths. Default: no.
    pub paths: bool,
    /// Whether the cells expanded are counted, which costs teams and bands some time. Without it
    /// [`Outcome::expanded`](super::Outcome::expanded) is 0. Default: yes.
    pub count: bool,
    /// The most searches at once. Default: by device and map.
    pub slots: Option<u32>,
    /// Cells that an open list has room for at first; a search that needs more is run again with
    /// more. Default: by map.
    pub capacity: Option<u32>,
    /// Invocations in a workgroup. Default: by device and map.
    pub group_size: Option<u32>,
    /// The width of the bands in which [`Mapping::Team`] and [`Mapping::Bands`] take cells:
    /// estimates up to this above the least, in units of cost. It changes the speed only.
    pub band: Option<u32>,
    /// Cells of paths that are read back together, and of one path at least: for tests.
    #[doc(hidden)]
    pub path_room: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mapping: Mapping::Auto,
            paths: false,
            count: true,
            slots: None,
            capacity: None,
            group_size: None,
            band: None,
            path_room: PATH_ROOM,
        }
    }
}

builder! {
    Options:
    mapping: Mapping,
    paths: bool,
    count: bool,
    slots: impl Into<Option<u32>>,
    capacity: impl Into<Option<u32>>,
    group_size: impl Into<Option<u32>>,
    band: impl Into<Option<u32>>,
    #[doc(hidden)]
    path_room: u32,
}

/// How [`Wavefronts`](super::Wavefronts) finds distances, which do not depend on it.
///
/// ```
/// use eventhorizon::search::WavefrontOptions;
///
/// assert_eq!(WavefrontOptions::default().rows(16).rows, Some(16));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WavefrontOptions {
    /// The width of the bands, in units of cost. It changes the speed only. Default: by map.
    pub band: Option<u32>,
    /// The most sources at once: each takes 24 bytes for each cell. Default: by device and map.
    pub rows: Option<u32>,
}

builder! {
    WavefrontOptions:
    band: impl Into<Option<u32>>,
    rows: impl Into<Option<u32>>,
}
