//! Parquet files: the same tables as text, and refused contents.

mod columns;

use columns::{check_insects, check_named_index, check_odd, gaps, written};
use maxmargin_data::Impute;
use maxmargin_data::prepare::Preparing;
use maxmargin_data::table::{ColumnKind, Columnar, TableError, TableOptions, read, read_like};
use maxmargin_data::{Dataset, RunControl};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// A file with this schema; `write` writes its columns.
fn file(schema: &str, compression: Compression, write: impl FnOnce(&mut SerializedRowGroupWriter<'_, Vec<u8>>)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
    let mut group = file.next_row_group().expect("a row group");
    write(&mut group);
    group.close().expect("columns of one length");
    file.into_inner().expect("a file")
}

/// A column that may have nulls.
fn column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: &[Option<T::T>]) {
    let mut column = group.next_column().expect("a column").expect("one more");
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.iter().flatten().cloned().collect();
    column.typed::<T>().write_batch(&there, Some(&levels), None).expect("values");
    column.close().expect("a whole column");
}

const SCHEMA: &str = "message people { OPTIONAL DOUBLE age; OPTIONAL BYTE_ARRAY colour (UTF8); OPTIONAL BOOLEAN member; OPTIONAL INT64 visits; OPTIONAL BYTE_ARRAY kind (UTF8); }";
const TEXT: &str =
    "age,colour,member,visits,kind\n31.5,red,true,4,cat\n,blue,false,-2,dog\n1e-3,,true,9007199254740993,dog\n8,red,,7,cat\n";

fn people(compression: Compression) -> Vec<u8> {
    let word = |word: &str| Some(ByteArray::from(word));
    file(SCHEMA, compression, |group| {
        column::<DoubleType>(group, &[Some(31.5), None, Some(1e-3), Some(8.0)]);
        column::<ByteArrayType>(group, &[word("red"), word("blue"), None, word("red")]);
        column::<BoolType>(group, &[Some(true), Some(false), Some(true), None]);
        column::<Int64Type>(group, &[Some(4), Some(-2), Some(9_007_199_254_740_993), Some(7)]);
        column::<ByteArrayType>(group, &[word("cat"), word("dog"), word("dog"), word("cat")]);
    })
}

#[test]
fn a_file_is_the_table_that_it_would_be_as_text() {
    let expected = read(TEXT.as_bytes(), &gaps(), &RunControl::unlimited()).expect("a table");
    let ways = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for way in ways {
        let bytes = people(way);
        assert_eq!((Columnar::of(&bytes), Columnar::of(TEXT.as_bytes())), (Some(Columnar::Parquet), None));
        let found = read(&bytes, &gaps(), &RunControl::unlimited()).expect("a table");
        assert_eq!(found.data, expected.data, "{way:?}");
        assert_eq!((found.delimiter, found.has_header, found.target), (None, true, expected.target));
        assert_eq!(found.lines, [1, 2, 3, 4]);
        // Nulls are imputed like missing values of text.
        let preparing = Preparing { impute: Some(Impute::Median), scale: None };
        let filled = |data: &Dataset| {
            preparing.fit(data).and_then(|fitted| fitted.apply(&data.samples).map(std::borrow::Cow::into_owned)).expect("filled")
        };
        assert_eq!(filled(&found.data), filled(&expected.data));
    }
}

#[test]
fn a_model_of_a_text_reads_a_file_and_the_other_way_round() {
    let (of_text, of_file) = (
        read(TEXT.as_bytes(), &gaps(), &RunControl::unlimited()).expect("a table"),
        read(&people(Compression::SNAPPY), &gaps(), &RunControl::unlimited()).expect("a table"),
    );
    let (text, file) = (of_text.data.columns.expect("of a table"), of_file.data.columns.expect("of a table"));
    assert_eq!(text, file);
    let one = read_like(&people(Compression::SNAPPY), &text, &gaps(), &RunControl::unlimited()).expect("a table");
    let other = read_like(TEXT.as_bytes(), &file, &gaps(), &RunControl::unlimited()).expect("a table");
    assert_eq!((one.data, one.is_labelled), (other.data, other.is_labelled));
}

#[test]
fn numbers_have_the_bits_that_they_have() {
    let bytes = file(
        "message n { OPTIONAL FLOAT narrow; OPTIONAL INT32 wide (UINT_32); OPTIONAL INT32 price (DECIMAL(9, 2)); REQUIRED INT64 y; }",
        Compression::SNAPPY,
        |group| {
            column::<FloatType>(group, &[Some(0.1), Some(f32::MIN_POSITIVE), Some(-3.5e30)]);
            column::<Int32Type>(group, &[Some(19_000), Some(-1), Some(0)]);
            column::<Int32Type>(group, &[Some(-1999), Some(5), Some(120)]);
            let mut y = group.next_column().expect("a column").expect("one more");
            y.typed::<Int64Type>().write_batch(&[1, 2, 1], None, None).expect("values");
            y.close().expect("a whole column");
        },
    );
    let table = read(&bytes, &TableOptions::default(), &RunControl::unlimited()).expect("a table");
    assert!(table.data.columns.expect("of a table").features().iter().all(|column| column.kind == ColumnKind::Number));
    let rows: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..3).map(|j| table.data.samples.row(i).entries().iter().find(|e| e.0 == j).map_or(0.0, |e| e.1)).collect())
        .collect();
    assert_eq!(
        rows,
        [
            [f64::from(0.1_f32), 19_000.0, -19.99],
            [f64::from(f32::MIN_POSITIVE), 4_294_967_295.0, 0.05],
            [f64::from(-3.5e30_f32), 0.0, 1.2]
        ]
    );
    assert_eq!(table.data.labels, [1.0, 2.0, 1.0]);
}

/// Row groups, dictionaries, nulls, every width of numbers; pages of both versions, and without
/// dictionaries.
#[test]
fn files_that_pyarrow_wrote_are_the_table_that_it_wrote_as_text() {
    ["insects.parquet", "insects-zstd.parquet", "insects-gzip.parquet", "indexed.parquet", "named.parquet"]
        .into_iter()
        .for_each(check_insects);
}

#[test]
fn the_index_of_a_data_frame_is_no_column_of_the_table() {
    check_named_index("named.parquet");
}

/// Byte order marks are left out of names and words, as in text.
#[test]
fn byte_order_marks_are_no_part_of_names_and_words() {
    let word = |word: &str| Some(ByteArray::from(word));
    let schema = "message m { OPTIONAL BYTE_ARRAY \u{feff}colour (UTF8); OPTIONAL BYTE_ARRAY size (UTF8); OPTIONAL BYTE_ARRAY kind (UTF8); }";
    let bytes = file(schema, Compression::SNAPPY, |group| {
        column::<ByteArrayType>(group, &[word("\u{feff}red"), word("blue"), word("red"), word("blue")]);
        column::<ByteArrayType>(group, &[word("\u{feff}1.5"), word("2"), word("3"), word("\u{feff}")]);
        column::<ByteArrayType>(group, &[word("cat"), word("dog"), word("\u{feff}cat"), word("dog")]);
    });
    let text = "\u{feff}colour,size,kind\n\u{feff}red,\u{feff}1.5,cat\nblue,2,dog\nred,3,\u{feff}cat\nblue,\u{feff},dog\n";
    let expected = read(text.as_bytes(), &gaps(), &RunControl::unlimited()).expect("a table");
    assert_eq!(read(&bytes, &gaps(), &RunControl::unlimited()).expect("a table").data, expected.data);
}

#[test]
fn what_is_no_table_says_why() {
    check_odd("odd.parquet");
    let raw = TableOptions { drop: ["list", "struct", "when", "day"].map(str::to_owned).to_vec(), ..gaps() };
    let error = read(&written("odd.parquet"), &raw, &RunControl::unlimited()).expect_err("bytes");
    assert!(error.to_string().starts_with("line 1, column `raw`: bytes that are no text"), "{error}");
    // A null is a missing value: refused with its row unless it is imputed.
    let error = read(&people(Compression::SNAPPY), &TableOptions::default(), &RunControl::unlimited()).expect_err("a gap");
    assert!(error.to_string().contains("column `age`: 1 of 4 values are missing, the first on line 2"), "{error}");
}

/// The Parquet library panics on some of these files. The others give a whole table, because pages
/// have no checksum.
#[test]
fn a_damaged_file_is_an_error_or_a_whole_table() {
    for name in ["insects.parquet", "insects-zstd.parquet", "insects-gzip.parquet"] {
        let whole = written(name);
        for cut in (4..whole.len()).step_by(37) {
            assert!(
                matches!(
                    read(&whole[..cut], &gaps(), &RunControl::unlimited()),
                    Err(TableError::Columnar { file: Columnar::Parquet, .. })
                ),
                "{name} {cut}"
            );
        }
        let (mut refused, mut bytes) = (0, whole.clone());
        for place in (4..whole.len()).step_by(3) {
            for flipped in [0xff, 1 << (place % 8)] {
                bytes[place] ^= flipped;
                match read(&bytes, &gaps(), &RunControl::unlimited()) {
                    Ok(table) => assert_eq!((table.lines.len(), table.data.labels.len()), (60, 60), "{name} {place}"),
                    Err(_) => refused += 1,
                }
                bytes[place] = whole[place];
            }
        }
        assert!(refused > whole.len() / 12, "{name}: {refused}");
    }
}
