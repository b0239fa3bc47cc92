//! Reduce, scan, stable radix sort and stream compaction on the GPU: a small library of its own.
//!
//! A primitive is *prepared* once for a device and a greatest length: kernels are compiled and
//! scratch memory is allotted. It is *bound* to buffers and a [`Count`], which gives a
//! [`Plan`](crate::gpu::Plan) of dispatches alone. A plan is *recorded* into an encoder or a
//! compute pass of the caller's, as often as wanted, between dispatches of the caller's own;
//! nothing waits for the host. Plans of one primitive share its scratch memory. That is safe,
//! because dispatches run in the order in which they were recorded and submitted.
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
//! A [`Count`] is known on the host, or read from a buffer at the time the plan runs: a kernel, or
//! a [`Compact`] before it, may have written it. A plan with a count on the device is sized for the
//! maximum that the primitive was prepared for. A larger count is an error that is seen and never a
//! shortened result: the plan acts as on no elements, and its [`Status`] keeps the count for
//! [`Status::check`].
//!
//! Lengths go up to the device's binding limit. A dispatch has a limited number of workgroups, each
//! of which serves a contiguous run of tiles of the elements; so no length needs a second dimension
//! or a deeper recursion, and no workgroup ever waits for another (there is no decoupled
//! look-back).
//!
//! # What bounds each
//!
//! | primitive | dispatches | bytes moved per element, at the least |
//! | --- | --- | --- |
//! | [`Reduce`] | 2 | 4: the elements are read once |
//! | [`Scan`] | 3 | 12: read, then read again and written (16 with sums of 64 bits) |
//! | [`Compact`] | 3 | 8 for the flags, 4 to write an index that is kept, 8 to move a value |
//! | [`RadixSort`], pairs | 3 per digit of 8 bits, 4 beyond some two to five million elements (1,024 shares) | 20 per digit: a key is read twice, a value once, both are written; 80 for 32 bits |
//! | [`RadixSort`], keys alone | as many | 12 per digit; 48 for 32 bits |
//!
//! On an NVIDIA H200 (Vulkan, driver 580.159.04; a copy reaches about 4.1 TB/s), by
//! `cargo run --release -p eventhorizon-bench -- primitives`:
//!
//! | primitive | elements | 10^9 elements/s | TB/s | bound by |
//! | --- | --- | --- | --- | --- |
//! | minimum | 2^27 | 1,024 | 4.10 | memory bandwidth |
//! | exclusive scan | 2^27 | 311 | 3.73 | memory bandwidth |
//! | sort of pairs, random 32-bit keys | 2^27 | 25.1 | 2.01 | the writes of a tile to the places of its 256 digits: runs of 18 keys |
//! | the same | 2^24 | 21.6 | 1.73 | the same |
//! | sort of keys alone, random 32-bit keys | 2^27 | 36.2 | 1.74 | the same |
//! | sort of pairs, random 64-bit keys | 2^27 | 9.5 | 2.43 | the same, in runs of 13 |
//!
//! Of the 3.7 ms that 2^27 keys alone take, reading them for the histograms is 0.5 (at the
//! bandwidth of memory), sums of counts 0.2, and scattering 3.0; of the 5.3 with values scattering
//! is 4.6. (Measured by making each dispatch twice.) How many tiles are on a processor at once
//! decides that: NVIDIA's Vulkan driver gives workgroups 48 KiB of it, whatever a kernel asks for
//! (counted, by how many are there at once), and a tile takes 11.3 KiB; its compiler gives the
//! kernel of keys alone 64 registers, so that four are there, and that of pairs as many as it has
//! use for, up to 120, unless keys and values are moved in two turns of a loop.
//!
//! With few elements all are bound by their dispatches; [`RadixSort::arrays`] sorts several arrays
//! in those of one.
//!
//! # Ways to run
//!
//! Where a probe saw workgroups consist of whole subgroups
//! ([`Gpu::subgroups`](crate::gpu::Gpu::subgroups)), they scan by shuffles and sorts rank digits by
//! ballots; elsewhere, or after `gpu.without(wgpu::Features::SUBGROUP)`, baseline kernels do the
//! same through workgroup memory. Results are the same, and so they are for every [`Tuning`].
//!
//! Signed and floating keys sort as their images under the order-preserving maps of [`keys`], which
//! WGSL imports as `primitives/keys.wgsl`.

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
pub use tuning::Tuning;
