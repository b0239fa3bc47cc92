//! The values of each replication: as CSV, as JSON, or as Parquet, by the ending of the file's
//! name.

use std::path::Path;

use eventhorizon::statistics::{Design, Observations, Value, each_to_csv, measures};
use serde_json::{Map, json};

use super::{Outcome, usage};

/// The form of a file.
enum Form {
    Csv,
    Json,
    Parquet,
}

fn form(path: &Path) -> Form {
    let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    match (is("json"), is("parquet")) {
        (true, _) => Form::Json,
        (_, true) => Form::Parquet,
        _ => Form::Csv,
    }
}

/// Refuses a form that this build does not write.
pub fn check(path: Option<&Path>) -> Outcome<()> {
    match path.map(form) {
        Some(Form::Parquet) if !cfg!(feature = "parquet") => Err(usage(
            "--each: this build does not write Parquet. Build it with --features parquet, or name a file that ends in .csv or .json",
        )),
        _ => Ok(()),
    }
}

/// A column of the table: a point, factors, the replication and measures.
enum Cells {
    Whole(Vec<i64>),
    Names(Vec<String>),
    /// NaN where nothing was observed.
    Numbers(Vec<f64>),
}

/// The columns with their names.
fn columns(design: &Design, points: &[Observations]) -> Vec<(String, Cells)> {
    let count = |number: usize| i64::try_from(number).expect("fewer than 2^63 replications");
    let rows = || {
        points.iter().enumerate().flat_map(|(point, made)| (0..made.replications()).map(move |r| (point, r)))
    };
    let mut all = vec![("point".to_owned(), Cells::Whole(rows().map(|(point, _)| count(point)).collect()))];
    for (place, factor) in design.factors().iter().enumerate() {
        let level = |point: usize| design.levels(point)[place];
        let cells = match (0..design.len()).any(|point| matches!(level(point), Value::Name(_))) {
            true => Cells::Names(rows().map(|(point, _)| level(point).to_string()).collect()),
            false => Cells::Numbers(rows().map(|(point, _)| level(point).as_f64()).collect()),
        };
        all.push((format!("factor:{factor}"), cells));
    }
    all.push(("replication".to_owned(), Cells::Whole(rows().map(|(_, made)| count(made)).collect())));
    for name in measures(points) {
        let values = points.iter().flat_map(|of| {
            let values = of.column(name).ok().map(|column| &column.values);
            (0..of.replications()).map(move |made| values.map_or(f64::NAN, |values| values.get(made)))
        });
        all.push((name.to_owned(), Cells::Numbers(values.collect())));
    }
    all
}

/// Writes the values of each replication of all points.
pub fn write(path: &Path, design: &Design, points: &[Observations]) -> Outcome<()> {
    let bytes = match form(path) {
        Form::Csv => {
            let mut bytes = Vec::new();
            each_to_csv(design, points, &mut bytes)?;
            bytes
        }
        Form::Json => {
            let columns = columns(design, points).into_iter().map(|(name, cells)| {
                let cells = match cells {
                    Cells::Whole(cells) => json!(cells),
                    Cells::Names(cells) => json!(cells),
                    // What is not finite becomes null.
                    Cells::Numbers(cells) => json!(cells),
                };
                (name, cells)
            });
            format!("{:#}\n", serde_json::Value::Object(columns.collect::<Map<_, _>>())).into_bytes()
        }
        Form::Parquet => parquet_bytes(design, points)?,
    };
    super::write(path, &bytes)
}

#[cfg(not(feature = "parquet"))]
fn parquet_bytes(_: &Design, _: &[Observations]) -> Outcome<Vec<u8>> {
    check(Some(Path::new("each.parquet"))).map(|()| Vec::new())
}

/// A file with one group of rows. Measures are optional doubles.
#[cfg(feature = "parquet")]
fn parquet_bytes(design: &Design, points: &[Observations]) -> Outcome<Vec<u8>> {
    use std::sync::Arc;

    use parquet::basic::{ConvertedType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    let columns = columns(design, points);
    let fields = columns.iter().map(|(name, cells)| {
        let (physical, converted, repetition) = match cells {
            Cells::Whole(_) => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
            Cells::Names(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED),
            Cells::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL),
        };
        let field = Type::primitive_type_builder(name, physical).with_converted_type(converted);
        Ok(Arc::new(field.with_repetition(repetition).build()?))
    });
    let fields = fields.collect::<Outcome<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("replications").with_fields(fields).build()?);
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    for (_, cells) in columns {
        let mut column = group.next_column()?.expect("a column for each field");
        match cells {
            Cells::Whole(cells) => column.typed::<Int64Type>().write_batch(&cells, None, None)?,
            Cells::Names(cells) => {
                let cells: Vec<ByteArray> = cells.iter().map(|name| ByteArray::from(name.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&cells, None, None)?
            }
            Cells::Numbers(cells) => {
                let there: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_finite())).collect();
                let cells: Vec<f64> = cells.into_iter().filter(|cell| cell.is_finite()).collect();
                column.typed::<DoubleType>().write_batch(&cells, Some(&there), None)?
            }
        };
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    use eventhorizon::statistics::{Column, Pairing, Values};

    use super::*;

    #[test]
    fn parquet_has_the_values_of_each_replication() {
        let design = Design::default().cross("order", ["fifo", "lifo"]).unwrap();
        let made = |values: [f64; 2]| {
            let column = Column { name: "x".to_owned(), values: Values::F64(values.to_vec()) };
            Observations::new(2, vec![column], [], Pairing::Independent).unwrap()
        };
        let bytes = parquet_bytes(&design, &[made([1.5, f64::NAN]), made([3.0, 4.0])]).unwrap();
        let path = std::env::temp_dir().join(format!("eventhorizon-{}.parquet", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let cells =
            |row: usize| rows[row].get_column_iter().map(|(_, cell)| cell.clone()).collect::<Vec<_>>();
        let expected = |point, name: &str, made, value| {
            vec![Field::Long(point), Field::Str(name.to_owned()), Field::Long(made), value]
        };
        assert_eq!(rows.len(), 4);
        assert_eq!(cells(0), expected(0, "fifo", 0, Field::Double(1.5)));
        assert_eq!(cells(1), expected(0, "fifo", 1, Field::Null));
        assert_eq!(cells(3), expected(1, "lifo", 1, Field::Double(4.0)));
    }
}
