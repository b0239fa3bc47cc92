//! The design of a description: the points that the values of its parameters make.

use std::collections::HashSet;

use crate::gpu::{FieldKind, FieldUnit, FieldUse, StructLayout};
use crate::replication::pack;
use crate::statistics::{AnalysisError, Design, Value};
use crate::time::Resolution;

use super::error::{DescriptionError, invalid};
use super::parameter::{Kind, Parameter, ticks};
use super::written::Written;

/// Bounds of the number of combinations and of their bytes: a small file can list more than any
/// machine holds.
const MOST_POINTS: u128 = 100_000;
const MOST_BYTES: u128 = 256 << 20;

/// The points of a design.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the blocking run reads them"))]
pub(super) struct Points {
    /// With the numbers of the file.
    pub(super) shown: Design,
    /// With the numbers that the model gets.
    pub(super) design: Design,
    /// `struct Params` with the parameters that have a single value.
    pub(super) constants: Vec<u8>,
    /// `struct Params` of all points, one after the other.
    all: Vec<u8>,
}

#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the blocking run reads them"))]
impl Points {
    /// `struct Params` of a point.
    pub(super) fn bytes(&self, point: usize) -> Vec<u8> {
        let each = self.all.len() / self.design.len();
        self.all[point * each..][..each].to_vec()
    }
}

impl Written {
    /// Checks the parameters against the layout of `struct Params`, if there is one, and packs
    /// them.
    pub(super) fn points(
        &self,
        layout: Option<&StructLayout>,
        uses: &[FieldUse],
    ) -> Result<Points, DescriptionError> {
        let fields = layout.map_or(&[][..], |layout| &layout.fields);
        let lengths = self.parameters.iter().map(|parameter| parameter.levels.len() as u128);
        let all = lengths.fold(1, u128::saturating_mul);
        if all > MOST_POINTS {
            let path = self.path.display();
            return Err(invalid(format!(
                "{path}: the lists of values make {all} combinations, and at most {MOST_POINTS} are taken: give fewer values"
            )));
        }
        let bytes = all * layout.map_or(0, |layout| layout.bytes.into());
        if bytes > MOST_BYTES {
            let (path, file) = (self.path.display(), self.source.name());
            return Err(invalid(format!(
                "{path}: `struct Params` of {file} takes {bytes} bytes for {all} combinations of values, and at most {MOST_BYTES} are taken: give fewer \
                 values, or make it smaller"
            )));
        }
        let (mut shown, mut design, mut constants) =
            (Design::default(), Design::default(), Design::default());
        for Parameter { name, kind, levels, place } in &self.parameters {
            let wrong = |what: String| invalid(format!("{place}: {what}"));
            let Some(field) = fields.iter().find(|field| field.name == *name) else {
                let known: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
                let known = match known.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", known.join(", ")),
                };
                let file = self.source.name();
                return Err(wrong(format!("{name} is not a field of `struct Params` in {file}: {known}")));
            };
            if matches!(field.kind, FieldKind::U128 | FieldKind::Other) {
                return Err(wrong(format!(
                    "{name} is not a single number in `struct Params`: give a field of its own to each number (u32, i32, f32, vec2<u32> for a time), \
                     and a table as `data`"
                )));
            }
            let (what, takes) = match kind {
                Kind::Plain => ("a number", &[field.kind][..]),
                Kind::Time | Kind::Ticks => ("a time", &[FieldKind::U64, FieldKind::U32][..]),
                Kind::Probability => ("a probability", &[FieldKind::U32][..]),
            };
            if !takes.contains(&field.kind) {
                let (is, declare) = (in_wgsl(field.kind), in_wgsl(takes[0]));
                return Err(wrong(format!("{name} is {what}, and the field is {is}: declare it {declare}")));
            }
            let used = uses.iter().filter(|used| used.field == *name);
            if let Some(what) = used.filter_map(|used| mistaken(*kind, levels, used)).next() {
                return Err(wrong(format!("{name} {what}")));
            }
            let device = levels.iter().map(|&level| on_device(kind, level, self.units));
            let device =
                device.collect::<Result<Vec<_>, _>>().map_err(|what| wrong(format!("{name} {what}")))?;
            // Each alone, so that an error names its place.
            let alone = Design::default().cross(name, device.iter().copied())?;
            let layout = layout.expect("it has a field");
            pack(&alone, layout, Some(&vec![0; layout.bytes as usize]))
                .map_err(|error| wrong(described(&error)))?;
            match levels.len() {
                1 => constants = constants.cross(name, device)?,
                _ => {
                    shown = shown.cross(name, levels.iter().copied())?;
                    design = design.cross(name, device)?;
                }
            }
        }
        let given: HashSet<_> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let fills = |name: &str| name == "unused" || name.starts_with('_');
        if let Some(field) = fields.iter().find(|field| !given.contains(&*field.name) && !fills(&field.name))
        {
            let (path, file, name) = (self.path.display(), self.source.name(), &field.name);
            return Err(invalid(format!(
                "{path}: the parameter {name}, a field of `struct Params` in {file}, is missing: add it to [parameters]"
            )));
        }
        let Some(layout) = layout else {
            return Ok(Points { shown, design, constants: Vec::new(), all: Vec::new() });
        };
        let constants = pack(&constants, layout, Some(&vec![0; layout.bytes as usize]))?;
        let all = pack(&design, layout, Some(&constants))?;
        Ok(Points { shown, design, constants, all })
    }
}

/// What is wrong if the WGSL uses the field as another kind of number. Zero is the same in all
/// kinds.
fn mistaken(kind: Kind, levels: &[Value], used: &FieldUse) -> Option<String> {
    let FieldUse { call, place, .. } = used;
    let first = levels.iter().find(|level| level.as_f64() != 0.0)?;
    let (is, remedy) = match (used.unit, kind) {
        (FieldUnit::Time, Kind::Plain | Kind::Probability) => (
            format!("is not a time, and `{call}` takes it as one ({place})"),
            format!("{{ time = {first} }} in units of time, or {{ ticks = {first} }}"),
        ),
        (FieldUnit::Probability, Kind::Plain | Kind::Time | Kind::Ticks) => (
            format!("is not a probability, and `{call}` takes it as one ({place})"),
            "{ probability = … } from 0 to 1".to_owned(),
        ),
        (FieldUnit::Number, Kind::Time) => (
            "is a time, and the WGSL uses it only as a plain number".to_owned(),
            format!("the number {first}, or {{ ticks = … }} if it counts ticks"),
        ),
        _ => return None,
    };
    Some(format!("{is}: write {remedy}"))
}

/// A kind of number, as WGSL calls it.
fn in_wgsl(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::U32 => "u32",
        FieldKind::I32 => "i32",
        FieldKind::F32 => "f32",
        FieldKind::U64 => "vec2<u32>",
        FieldKind::U128 => "vec4<u32>",
        FieldKind::Other => "not a number",
    }
}

/// The number that the model gets.
fn on_device(kind: &Kind, level: Value, units: Resolution) -> Result<Value, String> {
    let number = level.as_f64();
    match kind {
        Kind::Plain => Ok(level),
        Kind::Time => Ok(Value::from(ticks(units, number)?.get())),
        Kind::Ticks if number < 0.0 || number.fract() != 0.0 => {
            Err(format!("is {number}, and ticks are whole numbers from 0 on"))
        }
        Kind::Ticks => Ok(level),
        Kind::Probability if !(0.0..=1.0).contains(&number) => {
            Err(format!("is {number}, and a probability is from 0 to 1"))
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 2^32, and saturating"
        )]
        Kind::Probability => Ok(Value::from((number * 2f64.powi(32)).round() as u32)),
    }
}

/// The error of `pack` without the number of the point.
fn described(error: &AnalysisError) -> String {
    match error {
        AnalysisError::Value { factor, value, reason, .. } => format!("{factor} is {value}, {reason}"),
        other => other.to_string(),
    }
}
