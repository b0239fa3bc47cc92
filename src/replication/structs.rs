//! Conversion between tables of points and named columns on the host and the structs of a model's
//! WGSL.

use crate::columns::values;
use crate::gpu::{Field, FieldKind, StructLayout};
use crate::statistics::{AnalysisError, Column, Design, Value};
use crate::text::quoted;

type Result<T> = std::result::Result<T, AnalysisError>;

/// The parameter structs of all points, in the layout of a WGSL `array<Params>`.
///
/// `layout` describes the struct. Each factor sets the field with its name. The other fields keep
/// their bytes of `defaults`, one struct (such as `bytemuck::bytes_of(&params)`); without defaults,
/// every field must be a factor. A u32, i32 or 64-bit field takes whole numbers in its range, an
/// f32 field any number in its range, rounded to nearest.
pub fn pack(design: &Design, layout: &StructLayout, defaults: Option<&[u8]>) -> Result<Vec<u8>> {
    let stride = layout.bytes as usize;
    if let Some(got) = defaults.map(<[u8]>::len).filter(|&got| got != stride) {
        return Err(AnalysisError::DefaultBytes { got, expected: layout.bytes });
    }
    if defaults.is_none()
        && let Some(field) = layout.fields.iter().find(|field| !design.factors().contains(&field.name))
    {
        let field = field.name.clone();
        return Err(AnalysisError::MissingFactor { field });
    }
    let fields = design.factors().iter().map(|factor| find(layout, factor)).collect::<Result<Vec<_>>>()?;
    let one = defaults.map_or_else(|| vec![0; stride], <[u8]>::to_vec);
    let mut bytes = one.repeat(design.len());
    for (point, bytes) in bytes.chunks_exact_mut(stride).enumerate() {
        for (field, &level) in fields.iter().zip(design.levels(point)) {
            let slot = &mut bytes[field.offset as usize..][..field.bytes as usize];
            write(level, field.kind, slot).map_err(|reason| AnalysisError::Value {
                place: design.place(point),
                factor: field.name.clone(),
                value: level.to_string(),
                reason,
            })?;
        }
    }
    Ok(bytes)
}

/// Writes a value in the type of a parameter, or returns why it does not fit.
fn write(level: Value, kind: FieldKind, bytes: &mut [u8]) -> std::result::Result<(), &'static str> {
    let whole = |reason| level.whole().ok_or(reason);
    match kind {
        FieldKind::U32 => {
            let reason = "and the parameter is a u32: a whole number from 0 to 4294967295";
            let value = u32::try_from(whole(reason)?).map_err(|_| reason)?;
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        FieldKind::I32 => {
            let reason = "and the parameter is an i32: a whole number from -2147483648 to 2147483647";
            let value = i32::try_from(whole(reason)?).map_err(|_| reason)?;
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        FieldKind::U64 => {
            let reason = "and the parameter is a 64-bit count: a whole number from 0 to 18446744073709551615";
            let value = u64::try_from(whole(reason)?).map_err(|_| reason)?;
            // Low word first, and little-endian words: the bytes of the u64.
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        FieldKind::F32 => {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "rounded to nearest"
            )]
            let (value, zero) = match level {
                Value::Integer(value) => (value as f32, value == 0),
                Value::Real(value) => (value as f32, value == 0.0),
                Value::Name(_) => return Err("which is a name, and the parameter is a number"),
            };
            if !value.is_finite() || (value == 0.0 && !zero) {
                return Err("and the parameter is an f32: 0, or a number of magnitude 1e-45 to 3.4e38");
            }
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        FieldKind::U128 | FieldKind::Other => unreachable!("refused before any value is packed"),
    }
    Ok(())
}

fn find<'a>(layout: &'a StructLayout, factor: &str) -> Result<&'a Field> {
    let field = layout.fields.iter().find(|field| field.name == factor);
    let field = field.ok_or_else(|| AnalysisError::UnknownFactor {
        factor: quoted(factor),
        known: layout.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
    })?;
    if matches!(field.kind, FieldKind::U128 | FieldKind::Other) {
        return Err(AnalysisError::FactorType { field: quoted(factor) });
    }
    Ok(field)
}

/// The columns of `replications` outputs in the layout of an `array<Output>`, by the reflected
/// layout of the WGSL `struct Output`: [`StructLayout::columns`], so a field that is a struct or an
/// array gives several.
///
/// # Errors
/// [`AnalysisError::OutputBytes`] if the number of bytes is wrong, [`AnalysisError::OutputField`]
/// if a field cannot be a column.
pub fn columns(layout: &StructLayout, bytes: &[u8], replications: usize) -> Result<Vec<Column>> {
    let stride = layout.bytes as usize;
    if replications.checked_mul(stride) != Some(bytes.len()) {
        return Err(AnalysisError::OutputBytes { got: bytes.len(), replications, stride: layout.bytes });
    }
    let columns = layout.columns().iter().map(|field| {
        let name = field.name.clone();
        match values(field, bytes, stride, replications) {
            Some(values) => Ok(Column { name, values }),
            None => Err(AnalysisError::OutputField { field: name }),
        }
    });
    columns.collect()
}
