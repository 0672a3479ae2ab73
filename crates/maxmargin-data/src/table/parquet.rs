//! Parquet files as fields of a table. The names of the columns are the first row.

use super::cells::Cells;
use super::error::TableError;
use super::fields::{BATCH, Fields};
use super::format::Columnar;
use super::pandas::{PANDAS, column_name, index_levels};
use super::problem::{ColumnProblem, ValueProblem};
use crate::run::{Cancelled, RunControl};
use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use std::fmt::Write;

/// Reads the fields of a Parquet file. Rows have the numbers 1, 2, 3, …; the names are number 0.
/// `leaves_out` receives all names and the places of pandas' index, and marks columns without
/// fields, which may contain anything.
///
/// Numbers keep their bits, truth values become `true` and `false`, nulls become empty fields.
pub(super) fn cells(
    bytes: &[u8],
    leaves_out: impl FnOnce(&[String], &[usize]) -> Vec<bool>,
    control: &RunControl,
) -> Result<Cells, TableError> {
    let reader = guarded(|| SerializedFileReader::new(Bytes::copy_from_slice(bytes)))?;
    let file = reader.metadata().file_metadata();
    let schema = file.schema_descr();
    let columns = schema.root_schema().get_fields();
    let pandas = file.key_value_metadata().and_then(|entries| entries.iter().find(|entry| entry.key == PANDAS)?.value.as_deref());
    let names: Vec<String> = columns.iter().map(|column| column_name(column.name())).collect();
    let (left_out, mut selected) = (leaves_out(&names, &index_levels(&names, pandas)), Vec::with_capacity(names.len()));
    for (c, column) in columns.iter().enumerate() {
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == c);
        selected.push(match leaf {
            Some(leaf) if !left_out[c] => {
                let encoding = Encoding::of(column).map_err(|what| TableError::column(&names[c], ColumnProblem::Unfit(what)))?;
                Some((leaf, encoding))
            }
            _ => None,
        });
    }
    if selected.iter().all(Option::is_none) {
        return Err(TableError::NoFeatures);
    }
    let mut cells = Cells::below(&names);
    for g in 0..reader.num_row_groups() {
        let group = guarded(|| reader.get_row_group(g))?;
        let promised = group.metadata().num_rows();
        let mut readers: Vec<Option<FieldReader>> = Vec::with_capacity(names.len());
        for place in &selected {
            let field_reader = |&(leaf, encoding): &(usize, Encoding)| {
                guarded(|| {
                    let claimed = group.metadata().column(leaf).num_values();
                    if claimed == promised {
                        FieldReader::new(group.get_column_reader(leaf)?, encoding)
                    } else {
                        Err(other_length())
                    }
                })
            };
            readers.push(place.as_ref().map(field_reader).transpose()?);
        }
        let mut left = usize::try_from(promised).unwrap_or(0);
        while left > 0 {
            let rows = left.min(BATCH);
            for (c, field_reader) in readers.iter_mut().enumerate() {
                control.check(rows as u64 * 256).map_err(|Cancelled| TableError::Cancelled)?;
                let Some(field_reader) = field_reader else { continue };
                if let Some(row) = guarded(|| field_reader.read(rows))? {
                    return Err(TableError::value((cells.rows() + row) as u64, &names[c], ValueProblem::NoText));
                }
            }
            cells.push_rows(rows, |i, c| readers[c].as_ref().map_or("", |field_reader| field_reader.batch.fields.at(i)));
            left -= rows;
        }
    }
    let claimed = reader.metadata().file_metadata().num_rows();
    if claimed == (cells.rows() - 1) as i64 { Ok(cells) } else { Err(Columnar::Parquet.fault(other_length())) }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, TableError> {
    Columnar::Parquet.guarded(work)
}

fn other_length() -> ParquetError {
    ParquetError::General("it is damaged: its columns have other lengths than it says; write it again".to_owned())
}

/// The interpretation of the stored values of a column.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    /// The values themselves: truth values, numbers, text.
    Plain,
    /// Unsigned integers.
    Unsigned,
    /// Decimal numbers: integers with this number of decimal places.
    Decimal(i32),
    /// 16-bit floats.
    Half,
}

impl Encoding {
    /// The interpretation of a column; the error describes a type that is neither numbers nor
    /// words.
    fn of(column: &Type) -> Result<Self, &'static str> {
        const TIMES: &str = "dates or times";
        let info = column.get_basic_info();
        if !column.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED) {
            return Err("more than one value in a row");
        }
        match info.logical_type_ref() {
            Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)) => return Err(TIMES),
            Some(LogicalType::Float16) => return Ok(Self::Half),
            Some(
                LogicalType::Decimal(_)
                | LogicalType::Integer(_)
                | LogicalType::String
                | LogicalType::Enum
                | LogicalType::Json
                | LogicalType::Unknown,
            )
            | None => {}
            Some(_) => return Err("bytes"),
        }
        // The library derives the older notation from logical types where a file lacks it.
        match info.converted_type() {
            ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::INTERVAL => Err(TIMES),
            ConvertedType::BSON => Err("bytes"),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Ok(Self::Unsigned)
            }
            ConvertedType::DECIMAL if column.get_precision() > 38 => Err("decimals of more than 38 digits"),
            ConvertedType::DECIMAL => Ok(Self::Decimal(column.get_scale())),
            // This type is only used for times.
            _ if column.get_physical_type() == Physical::INT96 => Err(TIMES),
            _ => Ok(Self::Plain),
        }
    }
}

/// The next fields of a column, as text that reads back as the same number.
struct FieldReader {
    reader: ColumnReader,
    encoding: Encoding,
    batch: FieldBatch,
}

/// The values that were read last.
#[derive(Default)]
struct FieldBatch {
    fields: Fields,
    levels: Vec<i16>,
}

impl FieldReader {
    #[expect(clippy::unnecessary_wraps, reason = "one of two answers where it is called")]
    fn new(reader: ColumnReader, encoding: Encoding) -> Result<Self, ParquetError> {
        Ok(Self { reader, encoding, batch: FieldBatch::default() })
    }

    /// Reads the fields of the next rows. Returns the first one that is neither number nor text, if
    /// there is one.
    fn read(&mut self, rows: usize) -> Result<Option<usize>, ParquetError> {
        let (encoding, to) = (self.encoding, &mut self.batch);
        match &mut self.reader {
            ColumnReader::BoolColumnReader(from) => to.fill(from, rows, |value, text| write!(text, "{value}").ok()),
            ColumnReader::Int32ColumnReader(from) => to.fill(from, rows, |value, text| match encoding {
                Encoding::Unsigned => write!(text, "{}", *value as u32).ok(),
                _ => integer(i128::from(*value), encoding, text),
            }),
            ColumnReader::Int64ColumnReader(from) => to.fill(from, rows, |value, text| match encoding {
                Encoding::Unsigned => write!(text, "{}", *value as u64).ok(),
                _ => integer(i128::from(*value), encoding, text),
            }),
            ColumnReader::FloatColumnReader(from) => {
                to.fill(from, rows, |value, text| write!(text, "{}", f64::from(*value)).ok())
            }
            ColumnReader::DoubleColumnReader(from) => to.fill(from, rows, |value, text| write!(text, "{value}").ok()),
            ColumnReader::ByteArrayColumnReader(from) => {
                to.fill(from, rows, |value, text| of_bytes(value.data(), encoding, text))
            }
            ColumnReader::FixedLenByteArrayColumnReader(from) => {
                to.fill(from, rows, |value, text| of_bytes(value.data(), encoding, text))
            }
            ColumnReader::Int96ColumnReader(_) => Err(ParquetError::NYI("INT96".to_owned())),
        }
    }
}

impl FieldBatch {
    fn fill<T: DataType>(
        &mut self,
        from: &mut ColumnReaderImpl<T>,
        rows: usize,
        write_field: impl Fn(&T::T, &mut String) -> Option<()>,
    ) -> Result<Option<usize>, ParquetError> {
        self.fields.clear();
        self.levels.clear();
        let mut values = Vec::with_capacity(rows);
        let (found, ..) = from.read_records(rows, Some(&mut self.levels), None, &mut values)?;
        if found != rows {
            return Err(other_length());
        }
        let mut values = values.iter();
        for i in 0..rows {
            // A column without nulls has no levels.
            let is_there = self.levels.get(i).is_none_or(|level| *level > 0);
            let value = if is_there { Some(values.next().ok_or_else(other_length)?) } else { None };
            if self.fields.push(|text| value.map_or(Some(()), |value| write_field(value, text))).is_none() {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }
}

fn integer(value: i128, encoding: Encoding, to: &mut String) -> Option<()> {
    match encoding {
        Encoding::Decimal(scale) => write!(to, "{value}e{}", -i64::from(scale)),
        _ => write!(to, "{value}"),
    }
    .ok()
}

/// Converts bytes: text, or a number of a length that Parquet's types do not have.
fn of_bytes(bytes: &[u8], encoding: Encoding, to: &mut String) -> Option<()> {
    match encoding {
        Encoding::Half => write!(to, "{}", half(u16::from_le_bytes(bytes.try_into().ok()?))).ok(),
        Encoding::Decimal(_) => {
            // Two's complement, most significant byte first.
            let mut wide = [if *bytes.first()? >= 0x80 { 0xff } else { 0 }; 16];
            wide.get_mut(16_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
            integer(i128::from_be_bytes(wide), encoding, to)
        }
        Encoding::Plain | Encoding::Unsigned => {
            to.push_str(std::str::from_utf8(bytes).ok()?);
            Some(())
        }
    }
}

/// The value of a 16-bit float (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, digits) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => digits * 2_f64.powi(-24),
        31 if digits == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (digits + 1024.0) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_what_ieee_754_says() {
        let known: [(u16, f64); 8] = [
            (0x0000, 0.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x03ff, 6.097_555_160_522_461e-5),
            (0x0400, 6.103_515_625e-5),
            (0x3555, 0.333_251_953_125),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
        ];
        assert!(known.iter().all(|(bits, value)| half(*bits) == *value));
        assert!(half(0xfc00) == f64::NEG_INFINITY && half(0x7e00).is_nan());
    }
}
