//! Reads the values of a field of a WGSL struct, by row. Connects the layouts of `gpu` with the
//! columns of `statistics`.

use crate::gpu::{Field, FieldKind};
use crate::statistics::{Values, each};

/// The values of `field` in `rows` structs of `stride` bytes, one after the other; `None` if the
/// field is not a number.
pub(crate) fn values(field: &Field, bytes: &[u8], stride: usize, rows: usize) -> Option<Values> {
    let at = field.offset as usize;
    let values = match field.kind {
        FieldKind::U32 => {
            Values::U32(each(rows, || (), |(), r| u32::from_le_bytes(read(bytes, r * stride + at))))
        }
        FieldKind::I32 => {
            Values::I32(each(rows, || (), |(), r| i32::from_le_bytes(read(bytes, r * stride + at))))
        }
        FieldKind::F32 => {
            Values::F32(each(rows, || (), |(), r| f32::from_le_bytes(read(bytes, r * stride + at))))
        }
        // The bytes of the number: the low word comes first, and words are little-endian.
        FieldKind::U64 => {
            Values::U64(each(rows, || (), |(), r| u64::from_le_bytes(read(bytes, r * stride + at))))
        }
        FieldKind::U128 => {
            Values::U128(each(rows, || (), |(), r| u128::from_le_bytes(read(bytes, r * stride + at))))
        }
        FieldKind::Other => return None,
    };
    Some(values)
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the slice has N bytes")
}
