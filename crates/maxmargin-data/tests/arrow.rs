//! Arrow files and streams: the same tables as text, and refused contents.

mod columns;

use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Float16Type, Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, LargeStringArray, NullArray, PrimitiveArray,
    RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use columns::{check_insects, check_named_index, check_odd, gaps, written};
use maxmargin_data::RunControl;
use maxmargin_data::table::{ColumnKind, Columnar, TableError, TableOptions, read, read_like};
use proptest::prelude::*;
use std::sync::Arc;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// A file of batches with one schema.
fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).expect("a way to pack");
    let mut file = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).expect("a writer");
    batches.iter().for_each(|batch| file.write(batch).expect("a batch"));
    file.into_inner().expect("a file")
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut stream = StreamWriter::try_new(Vec::new(), &batches[0].schema()).expect("a writer");
    batches.iter().for_each(|batch| stream.write(batch).expect("a batch"));
    stream.into_inner().expect("a stream")
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, values)| (name, values, true))).expect("one length")
}

const TEXT: &str =
    "age,colour,member,visits,kind\n31.5,red,true,4,cat\n,blue,false,-2,dog\n1e-3,,true,9007199254740993,dog\n8,red,,7,cat\n";

fn people() -> RecordBatch {
    batch(vec![
        ("age", Arc::new(Float64Array::from(vec![Some(31.5), None, Some(1e-3), Some(8.0)])) as ArrayRef),
        ("colour", Arc::new(StringViewArray::from(vec![Some("red"), Some("blue"), None, Some("red")]))),
        ("member", Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None]))),
        ("visits", Arc::new(Int64Array::from(vec![4, -2, 9_007_199_254_740_993, 7]))),
        ("kind", Arc::new(["cat", "dog", "dog", "cat"].into_iter().collect::<DictionaryArray<Int8Type>>())),
    ])
}

#[test]
fn a_file_is_the_table_that_it_would_be_as_text() {
    let expected = read(TEXT.as_bytes(), &gaps(), &RunControl::unlimited()).expect("a table");
    let ways = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)].map(|way| file(&[people()], way));
    for bytes in ways.into_iter().chain([stream(&[people()])]) {
        assert_eq!((Columnar::of(&bytes), Columnar::of(TEXT.as_bytes())), (Some(Columnar::Arrow), None));
        let found = read(&bytes, &gaps(), &RunControl::unlimited()).expect("a table");
        assert_eq!((&found.data, &found.lines[..]), (&expected.data, &[1, 2, 3, 4][..]));
        assert_eq!((found.delimiter, found.has_header, found.target), (None, true, expected.target));
        let like =
            read_like(TEXT.as_bytes(), found.data.columns.as_ref().expect("of a table"), &gaps(), &RunControl::unlimited())
                .expect("a table");
        assert_eq!(like.data, expected.data);
    }
    let error = read(&stream(&[people()]), &TableOptions::default(), &RunControl::unlimited()).expect_err("a gap");
    assert!(error.to_string().contains("column `age`: 1 of 4 values are missing, the first on line 2"), "{error}");
}

#[test]
fn numbers_have_the_bits_that_they_have() {
    let halves: PrimitiveArray<Float16Type> =
        [0x3555, 0x0001, 0xfbff].into_iter().map(|bits| Some(Half::from_bits(bits))).collect();
    let price = PrimitiveArray::<Decimal128Type>::from(vec![-1999, 5, 120]).with_precision_and_scale(9, 2).expect("a scale");
    let crowd = PrimitiveArray::<Decimal128Type>::from(vec![3, 0, -7]).with_precision_and_scale(9, -3).expect("a scale");
    let keys = PrimitiveArray::<Int32Type>::from(vec![1, 0, 1]);
    let codes = DictionaryArray::new(keys, Arc::new(UInt64Array::from(vec![7, u64::MAX])));
    let bytes = stream(&[batch(vec![
        ("half", Arc::new(halves) as ArrayRef),
        ("single", Arc::new(Float32Array::from(vec![0.1, f32::MIN_POSITIVE, -3.5e30]))),
        ("price", Arc::new(price)),
        ("crowd", Arc::new(crowd)),
        ("code", Arc::new(codes)),
        ("y", Arc::new(LargeStringArray::from(vec!["a", "b", "a"]))),
    ])]);
    let table = read(&bytes, &TableOptions::default(), &RunControl::unlimited()).expect("a table");
    assert!(table.data.columns.expect("of a table").features().iter().all(|column| column.kind == ColumnKind::Number));
    let at = |i: usize, j: usize| table.data.samples.row(i).entries().iter().find(|e| e.0 == j).map_or(0.0, |e| e.1);
    let rows: Vec<Vec<f64>> = (0..3).map(|i| (0..5).map(|j| at(i, j)).collect()).collect();
    let most = u64::MAX as f64;
    assert_eq!(rows[0], [0.333_251_953_125, f64::from(0.1_f32), -19.99, 3000.0, most]);
    assert_eq!(rows[1], [5.960_464_477_539_063e-8, f64::from(f32::MIN_POSITIVE), 0.05, 0.0, 7.0]);
    assert_eq!(rows[2], [-65_504.0, f64::from(-3.5e30_f32), 1.2, -7000.0, most]);
}

/// A dictionary of a stream may be replaced later, and may have nulls and unused words.
#[test]
fn words_are_those_of_their_own_batch() {
    let part = |words: &[Option<&str>], keys: &[Option<i32>]| {
        let keys: PrimitiveArray<Int32Type> = keys.iter().copied().collect();
        let words = DictionaryArray::new(keys, Arc::new(words.iter().copied().collect::<StringArray>()));
        batch(vec![
            ("x", Arc::new(Float64Array::from(vec![0.5; words.len()])) as ArrayRef),
            ("word", Arc::new(words)),
            ("y", Arc::new(Int64Array::from_iter_values((0..3).map(|k| k % 2)))),
        ])
    };
    let parts = [
        part(&[Some("red"), None, Some("never")], &[Some(0), Some(1), None]),
        part(&[Some("blue"), Some("red")], &[Some(0), Some(1), Some(0)]),
        part(&[], &[None, None, None]),
    ];
    let expected = "x,word,y\n.5,red,0\n.5,,1\n.5,,0\n.5,blue,0\n.5,red,1\n.5,blue,0\n.5,,0\n.5,,1\n.5,,0\n";
    let found = read(&stream(&parts), &gaps(), &RunControl::unlimited()).expect("a table");
    assert_eq!(found.data, read(expected.as_bytes(), &gaps(), &RunControl::unlimited()).expect("a table").data);
    assert_eq!(found.lines, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

const WRITTEN: [&str; 3] = ["insects.arrow", "insects-zstd.arrow", "insects.arrows"];

#[test]
fn files_that_pyarrow_wrote_are_the_table_that_it_wrote_as_text() {
    WRITTEN.into_iter().chain(["indexed.arrow", "named.arrow"]).for_each(check_insects);
}

#[test]
fn the_index_of_a_data_frame_is_no_column_of_the_table() {
    check_named_index("named.arrow");
}

#[test]
fn what_is_no_table_says_why() {
    check_odd("odd.arrow");
    let empty = batch(vec![("x", Arc::new(NullArray::new(0)) as ArrayRef), ("y", Arc::new(NullArray::new(0)))]);
    assert_eq!(read(&file(&[empty], None), &gaps(), &RunControl::unlimited()).expect_err("no rows"), TableError::Empty);
    let old = read(b"FEA1\0\0", &gaps(), &RunControl::unlimited()).expect_err("of another format");
    assert!(old.to_string().contains("first version"), "{old}");
}

/// Truncated files are errors. A changed file is an error or a whole table, because batches have no
/// checksum. No size in a file aborts the program.
#[test]
fn a_damaged_file_is_an_error_or_a_whole_table() {
    for name in WRITTEN {
        let whole = written(name);
        for cut in 8..whole.len() {
            assert!(
                matches!(
                    read(&whole[..cut], &gaps(), &RunControl::unlimited()),
                    Err(TableError::Columnar { file: Columnar::Arrow, .. })
                ),
                "{name} {cut}"
            );
        }
        let (mut refused, mut bytes) = (0, whole.clone());
        for place in 6..whole.len() {
            for flipped in [0xff, 1 << (place % 8)] {
                bytes[place] ^= flipped;
                match read(&bytes, &gaps(), &RunControl::unlimited()) {
                    Ok(table) => assert!(table.lines.len() == table.data.labels.len(), "{name} {place}"),
                    Err(_) => refused += 1,
                }
                bytes[place] = whole[place];
            }
        }
        assert!(refused > whole.len() / 4, "{name}: {refused}");
    }
}

proptest! {
    /// Numbers keep their bits, in any number of batches, compressed or not.
    #[test]
    fn any_numbers_come_back(
        values in proptest::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO, 4..3000),
        rows in 1_usize..3000,
        way in 0..3,
    ) {
        let part = |values: &[f64]| {
            let y = Int64Array::from_iter_values((0..values.len() as i64).map(|k| k % 2));
            batch(vec![("x", Arc::new(Float64Array::from(values.to_vec())) as ArrayRef), ("y", Arc::new(y))])
        };
        let parts: Vec<RecordBatch> = values.chunks(rows).map(part).collect();
        let bytes = match way {
            0 => stream(&parts),
            1 => file(&parts, None),
            _ => file(&parts, Some(CompressionType::LZ4_FRAME)),
        };
        let table = read(&bytes, &TableOptions::default(), &RunControl::unlimited()).expect("a table");
        let found: Vec<f64> = (0..values.len()).map(|i| table.data.samples.row(i).entries().iter().map(|e| e.1).sum()).collect();
        prop_assert_eq!(found, values);
    }
}
