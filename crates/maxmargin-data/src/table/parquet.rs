//! Parquet files as fields of a table: the names of the columns are the first row.

use super::cells::Cells;
use super::error::TableError;
use crate::asking::{Asking, Halted};
use bytes::Bytes;
use parquet::basic::Repetition;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fmt::Write;

/// The fields of a Parquet file, rows with the numbers 1, 2, 3, …; the names are number 0.
///
/// Numbers come out with the bits that they have, truths as `true` and `false`, nulls as nothing. Dates and times are numbers since 1970, in the unit of the file.
pub(super) fn cells(bytes: &[u8], asking: &Asking) -> Result<Cells, TableError> {
    let broken = |error: ParquetError| TableError::Parquet(error.to_string());
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes)).map_err(broken)?;
    let columns = reader.metadata().file_metadata().schema().get_fields().to_vec();
    let mut cells = Cells::default();
    for column in &columns {
        let info = column.get_basic_info();
        if !column.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED) {
            return Err(TableError::Nested { name: column.name().to_owned() });
        }
        cells.push(column.name());
    }
    cells.end_row(0);
    let mut text = String::new();
    for (row, found) in (1..).zip(reader.get_row_iter(None).map_err(broken)?) {
        asking.spend(columns.len() as u64 * 256).map_err(|Halted| TableError::Halted)?;
        let found = found.map_err(broken)?;
        for (name, field) in found.get_column_iter() {
            text.clear();
            write(field, &mut text).ok_or_else(|| TableError::Binary { line: row, name: name.clone() })?;
            cells.push(&text);
        }
        cells.end_row(row);
    }
    Ok(cells)
}

/// What a field says as text that reads back as the same number; none where it is neither number nor text.
fn write(field: &Field, to: &mut String) -> Option<()> {
    match field {
        Field::Null => return Some(()),
        Field::Bool(value) => write!(to, "{value}"),
        Field::Byte(value) => write!(to, "{value}"),
        Field::Short(value) => write!(to, "{value}"),
        Field::Int(value) | Field::Date(value) | Field::TimeMillis(value) => write!(to, "{value}"),
        Field::Long(value) | Field::TimeMicros(value) | Field::TimestampMillis(value) | Field::TimestampMicros(value) => {
            write!(to, "{value}")
        }
        Field::UByte(value) => write!(to, "{value}"),
        Field::UShort(value) => write!(to, "{value}"),
        Field::UInt(value) => write!(to, "{value}"),
        Field::ULong(value) => write!(to, "{value}"),
        Field::Float16(value) => write!(to, "{}", f64::from(*value)),
        Field::Float(value) => write!(to, "{}", f64::from(*value)),
        Field::Double(value) => write!(to, "{value}"),
        Field::Decimal(value) => {
            let bytes = value.data();
            // The bytes of a greater number: two's complement, the greatest first.
            let first = *bytes.first()?;
            let mut wide = [if first >= 0x80 { 0xff } else { 0 }; 16];
            wide.get_mut(16_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
            write!(to, "{}e{}", i128::from_be_bytes(wide), -i64::from(value.scale()))
        }
        Field::Str(value) => write!(to, "{value}"),
        // Texts that nobody marked as such.
        Field::Bytes(value) => write!(to, "{}", std::str::from_utf8(value.data()).ok()?),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => return None,
    }
    .ok()
}
