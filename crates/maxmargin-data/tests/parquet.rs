//! Parquet files: the same tables as those of text, and what cannot be one.

use maxmargin_data::Dataset;
use maxmargin_data::Impute;
use maxmargin_data::prepare::Preparing;
use maxmargin_data::table::{Kind, TableError, TableOptions, is_parquet, read, read_like};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// A file of this schema; `write` writes its columns.
fn file(schema: &str, compression: Compression, write: impl FnOnce(&mut SerializedRowGroupWriter<'_, Vec<u8>>)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
    let mut group = file.next_row_group().expect("a row group");
    write(&mut group);
    group.close().expect("columns of one length");
    file.into_inner().expect("a file")
}

/// A column that may have gaps.
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

fn gaps() -> TableOptions {
    TableOptions { missing: true, ..TableOptions::default() }
}

#[test]
fn a_file_is_the_table_that_it_would_be_as_text() {
    let expected = read(TEXT.as_bytes(), &gaps()).expect("a table");
    let ways = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for way in ways {
        let bytes = people(way);
        assert!(is_parquet(&bytes) && !is_parquet(TEXT.as_bytes()));
        let found = read(&bytes, &gaps()).expect("a table");
        assert_eq!(found.data, expected.data, "{way:?}");
        assert_eq!((found.delimiter, found.has_header, found.target), (None, true, expected.target));
        assert_eq!(found.lines, [1, 2, 3, 4]);
        // Gaps are filled as those of text.
        let preparing = Preparing { impute: Some(Impute::Median), scale: None };
        let filled = |data: &Dataset| {
            preparing
                .fit(data)
                .and_then(|fitted| fitted.apply(&data.samples).map(|samples| samples.into_owned()))
                .expect("filled")
        };
        assert_eq!(filled(&found.data), filled(&expected.data));
    }
}

#[test]
fn a_model_of_a_text_reads_a_file_and_the_other_way_round() {
    let (of_text, of_file) =
        (read(TEXT.as_bytes(), &gaps()).expect("a table"), read(&people(Compression::SNAPPY), &gaps()).expect("a table"));
    let (text, file) = (of_text.data.columns.expect("of a table"), of_file.data.columns.expect("of a table"));
    assert_eq!(text, file);
    let one = read_like(&people(Compression::SNAPPY), &text, &gaps()).expect("a table");
    let other = read_like(TEXT.as_bytes(), &file, &gaps()).expect("a table");
    assert_eq!((one.data, one.is_labelled), (other.data, other.is_labelled));
}

#[test]
fn numbers_have_the_bits_that_they_have() {
    let bytes = file(
        "message n { OPTIONAL FLOAT narrow; OPTIONAL INT32 day (DATE); OPTIONAL INT32 price (DECIMAL(9, 2)); OPTIONAL INT64 y; }",
        Compression::SNAPPY,
        |group| {
            column::<FloatType>(group, &[Some(0.1), Some(f32::MIN_POSITIVE), Some(-3.5e30)]);
            column::<Int32Type>(group, &[Some(19_000), Some(-1), Some(0)]);
            column::<Int32Type>(group, &[Some(-1999), Some(5), Some(120)]);
            column::<Int64Type>(group, &[Some(1), Some(2), Some(1)]);
        },
    );
    let table = read(&bytes, &TableOptions::default()).expect("a table");
    assert!(table.data.columns.expect("of a table").features().iter().all(|column| column.kind == Kind::Number));
    let rows: Vec<Vec<f64>> = (0..3)
        .map(|i| (0..3).map(|j| table.data.samples.row(i).entries().iter().find(|e| e.0 == j).map_or(0.0, |e| e.1)).collect())
        .collect();
    assert_eq!(
        rows,
        [[f64::from(0.1_f32), 19_000.0, -19.99], [f64::from(f32::MIN_POSITIVE), -1.0, 0.05], [f64::from(-3.5e30_f32), 0.0, 1.2]]
    );
    assert_eq!(table.data.labels, [1.0, 2.0, 1.0]);
}

#[test]
fn what_is_no_table_says_why() {
    let nested = file(
        "message n { REQUIRED group place { OPTIONAL DOUBLE x; } OPTIONAL DOUBLE y; }",
        Compression::UNCOMPRESSED,
        |group| {
            let mut place = group.next_column().expect("a column").expect("one more");
            place.typed::<DoubleType>().write_batch(&[1.0], Some(&[1]), None).expect("values");
            place.close().expect("a whole column");
            column::<DoubleType>(group, &[Some(1.0)]);
        },
    );
    let error = read(&nested, &TableOptions::default()).expect_err("nested");
    assert!(matches!(&error, TableError::Nested { name } if name == "place"), "{error}");
    assert!(error.to_string().contains("`place`"), "{error}");
    let raw = file("message n { OPTIONAL BYTE_ARRAY x; OPTIONAL DOUBLE y; }", Compression::UNCOMPRESSED, |group| {
        column::<ByteArrayType>(group, &[Some(ByteArray::from(vec![0xff, 0xfe]))]);
        column::<DoubleType>(group, &[Some(1.0)]);
    });
    let error = read(&raw, &TableOptions::default()).expect_err("no text");
    assert!(matches!(&error, TableError::Binary { line: 1, name } if name == "x"), "{error}");
    // A gap is one of a table: refused with its row until somebody fills it.
    let error = read(&people(Compression::SNAPPY), &TableOptions::default()).expect_err("a gap");
    assert!(error.to_string().starts_with("line 2, column `age`"), "{error}");
    let whole = people(Compression::SNAPPY);
    for cut in [4, 8, whole.len() / 2, whole.len() - 1] {
        assert!(matches!(read(&whole[..cut], &gaps()), Err(TableError::Parquet(_))), "{cut}");
    }
}

/// The pair of files that tests of the program read as well; `MAXMARGIN_RECORD=1` writes the one from the other.
#[test]
fn pets_are_the_same_in_both_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let text = std::fs::read_to_string(format!("{folder}/pets.csv")).expect("the file");
    if std::env::var_os("MAXMARGIN_RECORD").is_some() {
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let words = |c: usize| -> Vec<Option<ByteArray>> {
            rows.iter().map(|row| Some(row[c]).filter(|word| !word.is_empty()).map(ByteArray::from)).collect()
        };
        let schema = "message pets { OPTIONAL DOUBLE weight; OPTIONAL BYTE_ARRAY food (UTF8); OPTIONAL BOOLEAN tame; OPTIONAL BYTE_ARRAY kind (UTF8); }";
        let bytes = file(schema, Compression::ZSTD(ZstdLevel::default()), |group| {
            column::<DoubleType>(group, &rows.iter().map(|row| row[0].parse().ok()).collect::<Vec<_>>());
            column::<ByteArrayType>(group, &words(1));
            column::<BoolType>(group, &rows.iter().map(|row| row[2].parse().ok()).collect::<Vec<_>>());
            column::<ByteArrayType>(group, &words(3));
        });
        std::fs::write(format!("{folder}/pets.parquet"), bytes).expect("written");
    }
    let bytes = std::fs::read(format!("{folder}/pets.parquet")).expect("the file");
    let [of_text, of_file] = [text.as_bytes(), &bytes].map(|bytes| read(bytes, &gaps()).expect("a table"));
    assert_eq!(of_file.data, of_text.data);
    assert_eq!(of_file.data.columns.map(|columns| columns.labels().to_vec()), Some(vec!["big dog".to_owned(), "cat".to_owned()]));
}
