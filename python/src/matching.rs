//! Region matching.

use bytemuck::{Pod, cast_slice};
use eventhorizon::OwnedBackend;
use eventhorizon::gpu::Gpu;
use eventhorizon::matching::{self, Algorithm, Coordinate, Matcher, Narrowed, Region, host, narrow};
use numpy::{Element, PyArray1, PyArrayMethods as _, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, OrRaise as _};

/// What is found.
enum Found {
    Count(u64),
    Pairs(Vec<[u32; 2]>),
}

/// On the CPU: with 32-bit bounds that have the same overlaps, so that one function of each number
/// of dimensions serves all types.
fn on_host<T: matching::Bound, const D: usize>(
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
    pairs: bool,
) -> Result<Found, Failure> {
    let Narrowed { subscriptions, updates } = narrow(subscriptions, updates)?;
    Ok(match pairs {
        true => Found::Pairs(host::find(&subscriptions, &updates)?),
        false => Found::Count(host::count(&subscriptions, &updates)?),
    })
}

/// On a device, with bounds of 32 bits.
fn on_device<T: Coordinate, const D: usize>(
    gpu: &Gpu,
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
    pairs: bool,
) -> Result<Found, Failure> {
    let matcher = Matcher::new(gpu);
    let subscriptions = matcher.upload("subscriptions", subscriptions)?;
    let updates = matcher.upload("updates", updates)?;
    Ok(match pairs {
        true => Found::Pairs(matcher.find(&subscriptions, &updates, Algorithm::Auto)?.read()?),
        false => Found::Count(matcher.count(&subscriptions, &updates, Algorithm::Auto)?),
    })
}

/// A type of bounds of NumPy.
trait Side: matching::Bound + Pod + Element {
    fn find<const D: usize>(
        place: &OwnedBackend,
        subscriptions: &[Region<Self, D>],
        updates: &[Region<Self, D>],
        pairs: bool,
    ) -> Result<Found, Failure>;
}

macro_rules! narrow_sides {
    ($($bound:ty),*) => { $(
        impl Side for $bound {
            fn find<const D: usize>(
                place: &OwnedBackend,
                subscriptions: &[Region<Self, D>],
                updates: &[Region<Self, D>],
                pairs: bool,
            ) -> Result<Found, Failure> {
                match place.backend().gpu() {
                    Some(gpu) => on_device(gpu, subscriptions, updates, pairs),
                    None => on_host(subscriptions, updates, pairs),
                }
            }
        }
    )* };
}

macro_rules! wide_sides {
    ($($bound:ty),*) => { $(
        impl Side for $bound {
            fn find<const D: usize>(
                place: &OwnedBackend,
                subscriptions: &[Region<Self, D>],
                updates: &[Region<Self, D>],
                pairs: bool,
            ) -> Result<Found, Failure> {
                let Some(gpu) = place.backend().gpu() else {
                    return on_host(subscriptions, updates, pairs);
                };
                let near = narrow(subscriptions, updates)?;
                on_device(gpu, &near.subscriptions, &near.updates, pairs)
            }
        }
    )* };
}

narrow_sides!(f32, i32, u32);
wide_sides!(f64, i64);

/// The pairs of overlapping regions, or their number. Regions are rows: all lower bounds, then all
/// upper bounds.
#[pyfunction]
pub(crate) fn match_regions<'py>(
    subscriptions: &Bound<'py, PyAny>,
    updates: &Bound<'py, PyAny>,
    pairs: bool,
    backend: &str,
) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! of_types {
        ($($bound:ty),*) => {
            $(if let Ok(subscriptions) = subscriptions.extract::<PyReadonlyArray2<'py, $bound>>()
                && let Ok(updates) = updates.extract::<PyReadonlyArray2<'py, $bound>>()
            {
                return of_type(&subscriptions, &updates, pairs, backend);
            })*
        };
    }
    of_types!(f32, i32, u32, f64, i64);
    Err(Failure::usage("expected two arrays of one type: float32, float64, int32, int64 or uint32").into())
}

fn of_type<'py, T: Side>(
    subscriptions: &PyReadonlyArray2<'py, T>,
    updates: &PyReadonlyArray2<'py, T>,
    pairs: bool,
    backend: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = subscriptions.py();
    let not_in_rows = |_| Failure::usage("expected arrays in C order (`numpy.ascontiguousarray`)");
    let (rows, others) = (subscriptions.as_slice(), updates.as_slice());
    let (rows, others) = (rows.map_err(not_in_rows)?, others.map_err(not_in_rows)?);
    let bounds = [subscriptions, updates].map(|side| side.shape()[1]);
    let found = py.detach(|| -> Result<Found, Failure> {
        let place = device::place(backend)?;
        match bounds {
            [2, 2] => T::find::<1>(&place, cast_slice(rows), cast_slice(others), pairs),
            [4, 4] => T::find::<2>(&place, cast_slice(rows), cast_slice(others), pairs),
            [6, 6] => T::find::<3>(&place, cast_slice(rows), cast_slice(others), pairs),
            [8, 8] => T::find::<4>(&place, cast_slice(rows), cast_slice(others), pairs),
            [one, other] => Err(Failure::usage(format!(
                "the regions have {one} and {other} bounds; expected the same number, 2 for each of 1 to 4 dimensions"
            ))),
        }
    });
    match found.or_raise()? {
        Found::Count(count) => Ok(count.into_pyobject(py)?.into_any()),
        Found::Pairs(pairs) => {
            let count = pairs.len();
            Ok(PyArray1::from_vec(py, pairs.into_flattened()).reshape([count, 2])?.into_any())
        }
    }
}
