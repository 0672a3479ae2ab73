//! Arrow files and streams as fields of a table. The names of the columns are the first row.

use super::cells::Cells;
use super::error::TableError;
use super::fields::{BATCH, Fields};
use super::format::Columnar;
use super::pandas::{PANDAS, column_name, index_levels};
use super::problem::ColumnProblem;
use crate::run::{Cancelled, RunControl};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{Message, root_as_message};
use arrow_schema::DataType;
use std::fmt::Write;
use std::ops::Range;

/// The first and the last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The alignment of messages.
const STEP: usize = 8;
/// The mark before every message; with a length of zero it marks the end.
const MARK: [u8; 4] = [0xff; 4];

/// Reads the fields of a file or stream. Rows have the numbers 1, 2, 3, …; the names are number 0.
/// `leaves_out` receives all names and the places of pandas' index, and marks columns without
/// fields, which may contain anything.
///
/// Numbers keep their bits, truth values become `true` and `false`, nulls become empty fields.
pub(super) fn cells(
    bytes: &[u8],
    leaves_out: impl FnOnce(&[String], &[usize]) -> Vec<bool>,
    control: &RunControl,
) -> Result<Cells, TableError> {
    let mut stream = Buffer::from(messages(bytes)?);
    let mut decoder = StreamDecoder::new();
    // The schema precedes the batches. It is known after the first batch or at the end.
    let mut next = decode(&mut decoder, &mut stream, control)?;
    let schema = decoder.schema().ok_or_else(damaged)?;
    let pandas = schema.metadata().get(PANDAS).map(String::as_str);
    let names: Vec<String> = schema.fields().iter().map(|field| column_name(field.name())).collect();
    let selected: Vec<bool> = leaves_out(&names, &index_levels(&names, pandas)).iter().map(|left_out| !left_out).collect();
    if !selected.contains(&true) {
        return Err(TableError::NoFeatures);
    }
    for ((field, name), _) in schema.fields().iter().zip(&names).zip(&selected).filter(|(_, selected)| **selected) {
        check(field.data_type()).map_err(|what| TableError::column(name, ColumnProblem::Unfit(what)))?;
    }
    let mut cells = Cells::below(&names);
    while let Some(batch) = next {
        add(&mut cells, &batch, &selected, control)?;
        next = decode(&mut decoder, &mut stream, control)?;
    }
    Ok(cells)
}

/// Decodes the next batch.
fn decode(decoder: &mut StreamDecoder, stream: &mut Buffer, control: &RunControl) -> Result<Option<RecordBatch>, TableError> {
    let before = stream.len();
    let batch = Columnar::Arrow.guarded(|| decoder.decode(stream))?;
    control.check((before - stream.len()) as u64).map_err(|Cancelled| TableError::Cancelled)?;
    Ok(batch)
}

fn cut() -> TableError {
    Columnar::Arrow.fault("it ends too early; write it again")
}

fn damaged() -> TableError {
    Columnar::Arrow.fault("it is damaged; write it again")
}

/// The messages of a stream, or of a file between its magic bytes, including the end mark. This
/// validates the structure that the library assumes.
fn messages(bytes: &[u8]) -> Result<&[u8], TableError> {
    if bytes.starts_with(b"FEA1") {
        let what = "this is Feather of its first version; write it again (pyarrow.feather.write_feather)";
        return Err(Columnar::Arrow.fault(what));
    }
    let mut first = 0;
    if bytes.starts_with(MAGIC) {
        if bytes.len() < 2 * STEP || !bytes.ends_with(MAGIC) {
            return Err(cut());
        }
        // Zeros follow up to the alignment of the writer.
        first = STEP * (1 + bytes[STEP..].chunks(STEP).take_while(|word| **word == [0; STEP]).count());
    }
    let mut at = first;
    loop {
        let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(cut);
        if *word(at)? != MARK {
            return Err(damaged());
        }
        let long = u32::from_le_bytes(*word(at + 4)?) as usize;
        at += STEP;
        if long == 0 {
            return Ok(&bytes[first..at]);
        }
        // Writers mark the end. A stream without the mark was truncated, and its rest would be a
        // valid table.
        let (head, rest) = bytes[at..].split_at_checked(long).ok_or_else(cut)?;
        let message = root_as_message(head).map_err(|error| Columnar::Arrow.fault(error))?;
        let body = usize::try_from(message.bodyLength()).map_err(|_| damaged())?;
        let body = rest.get(..body).ok_or_else(cut)?;
        check_sizes(&message, body).ok_or_else(damaged)?;
        at += long + body.len();
    }
}

/// Returns `None` if a compressed buffer of this message claims a size beyond the available memory:
/// the library allocates this size, and a failed allocation aborts the program.
fn check_sizes(message: &Message<'_>, body: &[u8]) -> Option<()> {
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch()?.data());
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Some(()) };
    for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() > 0) {
        let claimed = i64::from_le_bytes(*body.get(usize::try_from(buffer.offset()).ok()?..)?.first_chunk()?);
        // −1 if the buffer is not compressed.
        if claimed != -1 {
            Vec::<u8>::new().try_reserve_exact(usize::try_from(claimed).ok()?).ok()?;
        }
    }
    Some(())
}

/// Validates the type of a column; the error describes a type that is neither numbers nor words.
fn check(kind: &DataType) -> Result<(), &'static str> {
    match kind {
        kind if kind.is_integer() || kind.is_floating() || kind.is_string() => Ok(()),
        DataType::Null | DataType::Boolean | DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => {
            Ok(())
        }
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => check(values),
        DataType::Decimal256(..) => Err("decimals of more than 38 digits"),
        kind if kind.is_temporal() => Err("dates or times"),
        kind if kind.is_binary() => Err("bytes"),
        kind if kind.is_nested() => Err("more than one value in a row"),
        _ => Err("values of a kind that no table has"),
    }
}

/// Adds the rows of a batch.
fn add(cells: &mut Cells, batch: &RecordBatch, selected: &[bool], control: &RunControl) -> Result<(), TableError> {
    let mut columns: Vec<Option<Column>> =
        batch.columns().iter().zip(selected).map(|(array, selected)| selected.then(|| Column::of(array.as_ref()))).collect();
    for begin in (0..batch.num_rows()).step_by(BATCH) {
        let rows = begin..batch.num_rows().min(begin + BATCH);
        for column in &mut columns {
            control.check(rows.len() as u64 * 256).map_err(|Cancelled| TableError::Cancelled)?;
            column.iter_mut().for_each(|column| column.fill(rows.clone()));
        }
        cells.push_rows(rows.len(), |i, c| columns[c].as_ref().map_or("", |column| column.fields.at(i)));
    }
    Ok(())
}

/// A column of a batch, with the fields of some of its rows.
struct Column<'a> {
    array: &'a dyn Array,
    /// The values of a dictionary, and the key of each row.
    dictionary: Option<(Fields, Vec<usize>)>,
    fields: Fields,
}

impl<'a> Column<'a> {
    fn of(array: &'a dyn Array) -> Self {
        let dictionary = array.as_any_dictionary_opt().map(|dictionary| {
            let (values, mut fields) = (dictionary.values(), Fields::default());
            write_field(values.as_ref(), 0..values.len(), &mut fields);
            // An empty dictionary has no keys.
            let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            (fields, keys)
        });
        Self { array, dictionary, fields: Fields::default() }
    }

    fn fill(&mut self, rows: Range<usize>) {
        self.fields.clear();
        let Some((values, keys)) = &self.dictionary else { return write_field(self.array, rows, &mut self.fields) };
        for i in rows {
            let value = if self.array.is_null(i) { "" } else { keys.get(i).map_or("", |key| values.at(*key)) };
            self.fields.push(|text| text.push_str(value));
        }
    }
}

/// Adds values of an array with a validated type.
fn write_field(array: &dyn Array, rows: Range<usize>, to: &mut Fields) {
    match array.data_type() {
        DataType::Boolean => each(array, rows, to, |i, text| write!(text, "{}", array.as_boolean().value(i))),
        DataType::Int8 => numbers::<Int8Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::Int16 => numbers::<Int16Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::Int32 => numbers::<Int32Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::Int64 => numbers::<Int64Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::UInt8 => numbers::<UInt8Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::UInt16 => numbers::<UInt16Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::UInt32 => numbers::<UInt32Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::UInt64 => numbers::<UInt64Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::Float16 => numbers::<Float16Type>(array, rows, to, |value, text| write!(text, "{}", value.to_f64())),
        DataType::Float32 => numbers::<Float32Type>(array, rows, to, |value, text| write!(text, "{}", f64::from(value))),
        DataType::Float64 => numbers::<Float64Type>(array, rows, to, |value, text| write!(text, "{value}")),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale, rows, to),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale, rows, to),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale, rows, to),
        DataType::Utf8 => each(array, rows, to, |i, text| text.write_str(array.as_string::<i32>().value(i))),
        DataType::LargeUtf8 => each(array, rows, to, |i, text| text.write_str(array.as_string::<i64>().value(i))),
        DataType::Utf8View => each(array, rows, to, |i, text| text.write_str(array.as_string_view().value(i))),
        // The array contains only nulls.
        _ => rows.for_each(|_| to.push(|_| ())),
    }
}

fn each(array: &dyn Array, rows: Range<usize>, to: &mut Fields, write_field: impl Fn(usize, &mut String) -> std::fmt::Result) {
    // Writing to memory cannot fail.
    rows.for_each(|i| to.push(|text| if array.is_null(i) { Ok(()) } else { write_field(i, text) }).unwrap_or_default());
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    rows: Range<usize>,
    to: &mut Fields,
    write_field: impl Fn(T::Native, &mut String) -> std::fmt::Result,
) {
    let values = array.as_primitive::<T>().values();
    each(array, rows, to, |i, text| write_field(values[i], text));
}

fn decimals<T: ArrowPrimitiveType<Native: std::fmt::Display>>(array: &dyn Array, scale: i8, rows: Range<usize>, to: &mut Fields) {
    numbers::<T>(array, rows, to, |value, text| write!(text, "{value}e{}", -i32::from(scale)));
}
