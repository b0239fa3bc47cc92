//! Reduce, scan, stable radix sort and stream compaction on the GPU: a small library of its own.
//!
//! A primitive is *prepared* once for a device and a maximum length: it compiles kernels and
//! allocates scratch memory. It is *bound* to buffers and a [`Count`], which gives a
//! [`Plan`](crate::gpu::Plan) that consists only of dispatches. A plan is *recorded* into the
//! caller's encoder or compute pass, any number of times, between other dispatches; it never waits
//! for the host. Plans of one primitive share its scratch memory. That is safe, because dispatches
//! run in the order in which they were recorded and submitted.
//!
//! ```
//! use eventhorizon::gpu::{Buffer, Gpu};
//! use eventhorizon::primitives::{Count, RadixSort, Scan, ScanKind};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gpu = Gpu::new()?;
//! let count = Count::host(&gpu, 5)?;
//!
//! // Sorts keys, and their indices with them.
//! let keys = Buffer::storage_from(&gpu, "keys", &[30u32, 10, 20, 10, 0])?;
//! let indices = Buffer::storage_from(&gpu, "indices", &[0u32, 1, 2, 3, 4])?;
//! let sort = RadixSort::<u32>::new(&gpu, 1000)?.bind(&gpu, &count, &keys, &indices, 0..32)?;
//!
//! // Sums the sorted keys, with a total of 64 bits.
//! let sums = Buffer::<u32>::storage(&gpu, "sums", 5)?;
//! let total = Buffer::<u64>::storage(&gpu, "total", 1)?;
//! let scan = Scan::new(&gpu, 1000)?;
//! let scan = scan.bind(&gpu, ScanKind::Exclusive, &count, &keys, &sums, Some((&total, 0)))?;
//!
//! let mut encoder = gpu.encoder("sort and scan");
//! {
//!     let mut pass = encoder.begin_compute_pass(&Default::default());
//!     sort.record_in(&mut pass);
//!     scan.record_in(&mut pass);
//! }
//! gpu.submit(encoder)?;
//!
//! assert_eq!(keys.read(&gpu)?, [0, 10, 10, 20, 30]);
//! assert_eq!(indices.read(&gpu)?, [4, 1, 3, 2, 0]); // equal keys keep their order
//! assert_eq!(sums.read(&gpu)?, [0, 0, 10, 20, 40]);
//! assert_eq!(total.read(&gpu)?, [70]);
//! # Ok(())
//! # }
//! ```
//!
//! # How many elements
//!
//! A [`Count`] is known on the host, or read from a buffer when the plan runs: an earlier kernel or
//! [`Compact`] may have written it. A plan with a count on the device is sized for the maximum that
//! the primitive was prepared for. A larger count is a detected error and never a shortened result:
//! the plan acts as on no elements, and its [`Status`] stores the count for [`Status::check`].
//!
//! Lengths reach the device's binding limit. A dispatch has a limited number of workgroups, and
//! each serves a contiguous run of tiles. So no length needs a second dimension or a deeper
//! recursion, and no workgroup ever waits for another (there is no decoupled look-back).
//!
//! # Cost
//!
//! | primitive | dispatches | bytes moved per element, at least |
//! | --- | --- | --- |
//! | [`Reduce`] | 2 | 4: the elements are read once |
//! | [`Scan`] | 3 | 12: read, then read again and written (16 with sums of 64 bits) |
//! | [`Compact`] | 3 | 8 for the flags, 4 to write a kept index, 8 to move a value |
//! | [`RadixSort`], pairs | 3 per digit of 8 bits, 4 beyond some two to five million elements (1,024 shares) | 20 per digit: a key is read twice, a value once, both are written; 80 for 32 bits |
//! | [`RadixSort`], keys alone | the same | 12 per digit; 48 for 32 bits |
//!
//! Reductions and scans of many elements are bound by memory bandwidth. Sorts are bound by
//! scattered writes: a tile writes a short run of keys for each of its 256 digits. `cargo run
//! --release -p eventhorizon-bench -- primitives` measures each primitive on a device.
//!
//! With few elements all are bound by the cost of dispatches; [`RadixSort::arrays`] sorts several
//! arrays with the dispatches of one.
//!
//! # Kernels with and without subgroups
//!
//! If a probe finds that workgroups consist of whole subgroups, workgroups scan by shuffles and
//! sorts rank digits by ballots. Otherwise, or after `gpu.without(wgpu::Features::SUBGROUP)`,
//! baseline kernels do the same through workgroup memory. Results are the same.
//!
//! Signed and floating-point keys sort as their images under the order-preserving maps of [`keys`],
//! which WGSL imports as `primitives/keys.wgsl`.

mod compact;
mod count;
mod error;
pub mod keys;
mod programs;
mod ranking;
mod reduce;
mod scan;
mod sort;
mod sort_key;
mod tuning;
mod work;

pub use compact::Compact;
pub use count::{Count, Status};
pub use error::PrimitiveError;
#[doc(hidden)]
pub use programs::kernels;
pub use reduce::{Element, Reduce};
pub use scan::{Scan, ScanKind};
pub use sort::RadixSort;
pub use sort_key::SortKey;
#[doc(hidden)]
pub use tuning::Tuning;
