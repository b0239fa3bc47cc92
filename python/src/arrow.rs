//! Tables by Arrow's C data interface.

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::ArrowError;
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::Failure;

/// The memory of a NumPy array.
struct Owner(#[expect(dead_code, reason = "kept for its memory")] AssertUnwindSafe<Py<PyAny>>);

/// A column of numbers, in the memory of the array.
fn numbers<T: ArrowPrimitiveType<Native: Element>>(
    array: &PyReadonlyArray1<'_, T::Native>,
) -> PyResult<PrimitiveArray<T>> {
    let values = array.as_slice().map_err(|_| Failure::usage("expected a column without gaps"))?;
    let (bytes, count) = (size_of_val(values), values.len());
    let begin = NonNull::from(values).cast::<u8>();
    let owner: Bound<'_, PyArray1<T::Native>> = (**array).clone();
    let owner = Arc::new(Owner(AssertUnwindSafe(owner.into_any().unbind())));
    // SAFETY: the memory is that of the array, which the buffer keeps. Tables of the package do not
    // change their columns.
    let buffer = unsafe { Buffer::from_custom_allocation(begin, bytes, owner) };
    Ok(PrimitiveArray::new(ScalarBuffer::new(buffer, 0, count), None))
}

fn failed(error: &ArrowError) -> Failure {
    Failure::usage(error.to_string())
}

/// A column: an array of `float64` or `int64`, a list of texts, or numbers of texts (`int32`) with
/// those.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Reals(PyReadonlyArray1<'py, f64>),
    Integers(PyReadonlyArray1<'py, i64>),
    Categories(PyReadonlyArray1<'py, i32>, Vec<String>),
    Texts(Vec<Option<String>>),
}

/// The capsule of `__arrow_c_stream__` for a table.
#[pyfunction]
pub(crate) fn arrow_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, Column<'py>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let array = |column: &Column<'py>| -> PyResult<ArrayRef> {
        Ok(match column {
            Column::Reals(values) => Arc::new(numbers::<Float64Type>(values)?),
            Column::Integers(values) => Arc::new(numbers::<Int64Type>(values)?),
            Column::Categories(codes, names) => {
                let names = Arc::new(StringArray::from_iter_values(names));
                let column = DictionaryArray::try_new(numbers::<Int32Type>(codes)?, names);
                Arc::new(column.map_err(|error| failed(&error))?)
            }
            Column::Texts(texts) => Arc::new(StringArray::from_iter(texts)),
        })
    };
    let arrays = columns.iter().map(|(name, column)| Ok((name, array(column)?)));
    let batch = RecordBatch::try_from_iter_with_nullable(
        arrays.collect::<PyResult<Vec<_>>>()?.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.map_err(|error| failed(&error))?;
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}
