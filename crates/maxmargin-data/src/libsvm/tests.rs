//! LIBSVM text: accepted input, refused input with its position, and writing that reads back.

use super::*;
use crate::RunControl;
use crate::samples::{Samples, Storage};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn read(text: &str) -> Result<Dataset, ReadError> {
    parse(text.as_bytes(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited())
}

fn rows(data: &Dataset) -> Vec<Vec<(usize, f64)>> {
    (0..data.samples.len()).map(|i| data.samples.row(i).entries()).collect()
}

/// The position of an error, and its message.
fn refused(text: &str, options: ReadOptions) -> (u64, u64, String) {
    match parse(text.as_bytes(), &options, Par::Seq, &RunControl::unlimited()).expect_err(text) {
        error @ (ReadError::Line { line, column, .. } | ReadError::Binary { line, column }) => (line, column, error.to_string()),
        error @ (ReadError::Empty | ReadError::Cancelled) => (0, 0, error.to_string()),
    }
}

fn assert_refused(text: &str, line: u64, column: u64, says: &str) {
    let (found_line, found_column, message) = refused(text, ReadOptions::default());
    assert_eq!((found_line, found_column), (line, column), "{message}");
    assert!(message.contains(says), "{message}");
}

#[test]
fn a_plain_file() {
    let data = read("+1 1:0.5 3:-2\n-1 2:1e-3\n").expect("valid text");
    assert_eq!(data.labels, [1.0, -1.0]);
    assert_eq!(rows(&data), [vec![(0, 0.5), (2, -2.0)], vec![(1, 0.001)]]);
    assert_eq!((data.samples.features(), data.index_base, data.groups), (3, 1, None));
    // SHA-256 of the text, from sha256sum.
    let expected = [0xEB, 0xAF, 0xA2, 0xB1];
    assert_eq!(data.sha256[..4], expected);
}

#[test]
fn comments_are_stripped_wherever_they_stand() {
    let data = read("# made by hand: 1 1:1\n1 1:2 # note with 3:4\n  # indented\n2 1:3# tight\n3#\n").expect("valid text");
    assert_eq!(data.labels, [1.0, 2.0, 3.0]);
    assert_eq!(rows(&data), [vec![(0, 2.0)], vec![(0, 3.0)], vec![]]);
}

#[test]
fn groups_are_kept() {
    let data = read("1 qid:3 1:2\n2  qid:18446744073709551615\n").expect("valid text");
    assert_eq!(data.groups, Some(vec![3, u64::MAX]));
    assert_refused("1 qid:3 1:2\n1 1:2\n", 2, 1, "without `qid:`");
    assert_refused("1 1:2\n1 1:2\n 1 qid:3 1:x\n", 3, 2, "with `qid:`");
    assert_refused("1 1:2 qid:3\n", 1, 7, "directly after the label");
    assert_refused("1 qid:-3 1:2\n", 1, 3, "whole number");
    assert_refused("1 qid: 1:2\n", 1, 3, "whole number");
}

#[test]
fn line_ends_blanks_and_byte_order_marks_do_not_matter() {
    let plain = read("1 1:2 4:1\n-1\n1 2:3\n").expect("valid text");
    for text in [
        "1 1:2 4:1\r\n-1\r\n1 2:3\r\n",
        "1 1:2 4:1\n-1\n1 2:3",
        "\u{FEFF}1 1:2 4:1\n-1\n1 2:3\n",
        "1\t1:2 \t 4:1 \n -1 \n\t1  2:3  \n",
        "1 1:2 4:1\n-1\n1 2:3\n\n \n\r\n",
        "1 1:2 4:1\n-1\n1 2:3\n\n# the end\n",
    ] {
        let data = read(text).expect(text);
        assert_eq!((data.samples, data.labels), (plain.samples.clone(), plain.labels.clone()), "{text:?}");
    }
}

#[test]
fn blank_lines_before_a_row_are_refused() {
    assert_refused("1 1:2\n\n-1 1:3\n", 2, 1, "blank line; remove it");
    assert_refused("\n1 1:2\n", 1, 1, "blank line");
    assert_refused("1 1:2\n \t\r\n# comment\n\nx\n", 2, 1, "blank line");
}

#[test]
fn files_without_rows_are_refused() {
    for text in ["", "\n", "# only a comment\n", "  \n\n", "\u{FEFF}"] {
        assert_eq!(read(text), Err(ReadError::Empty), "{text:?}");
    }
}

#[test]
fn labels_are_numbers_in_any_spelling() {
    let data = read("+1\n1.0\n+01e0\n1e0\n1.\n-0.5\n-3e2\n").expect("valid text");
    assert_eq!(data.labels, [1.0, 1.0, 1.0, 1.0, 1.0, -0.5, -300.0]);
    assert_eq!(data.samples.features(), 0);
    assert_eq!(data.samples.len(), 7);
}

#[test]
fn what_is_not_a_label_is_named() {
    assert_refused("spam 1:2\n", 1, 1, "`spam` is not a label");
    assert_refused("1 1:2\n1:2 2:3\n", 2, 1, "`1:2` stands where the label should be");
    assert_refused("1,3 1:2\n", 1, 1, "`1,3` lists several labels");
    assert_refused("5.1,3.5,setosa\n", 1, 1, "comma-separated values");
    assert_refused("a;b;c\n1;2;3\n", 1, 1, "comma-separated values");
    assert_refused("nan 1:2\n", 1, 1, "`nan` is not finite");
    assert_refused("-inf\n", 1, 1, "not finite");
    assert_refused("0x1p3 1:1\n", 1, 1, "not a label");
}

#[test]
fn what_is_not_a_feature_is_named() {
    assert_refused("1 3\n", 1, 3, "`3` has no value");
    assert_refused("1 1:1 3: 4:1\n", 1, 7, "`3:` has no value");
    assert_refused("1 1:1 x:2\n", 1, 7, "`x:2` is not `index:value`");
    assert_refused("1 :2\n", 1, 3, "`:2` is not `index:value`");
    assert_refused("1 1.5:2\n", 1, 3, "`1.5:2` is not `index:value`");
    assert_refused("1 -1:2\n", 1, 3, "negative index");
    assert_refused("1 4294967295:2\n", 1, 3, "above 4294967294");
    assert_refused("1 99999999999999999999999:2\n", 1, 3, "above 4294967294");
    for value in ["x", "1:2", "0,5", "1_0", "0x10", "--1", "1e", "1.2.3"] {
        assert_refused(&format!("1 2:{value}\n"), 1, 3, &format!("`2:{value}` has a value that is not a decimal number"));
    }
    for value in ["nan", "NaN", "-nan", "inf", "-Infinity", "1e999"] {
        assert_refused(&format!("1 1:1\n1 2:{value}\n"), 2, 3, "not finite");
    }
}

#[test]
fn order_and_repetition_of_indices() {
    assert_refused("1 1:1 3:1 2:1\n", 1, 11, "`2:1` comes after index 3");
    assert_refused("1 1:1 3:1 3:2\n", 1, 11, "`3:2` repeats an index");
    assert_refused("1 1:1 3:1 1:2\n", 1, 11, "`1:2` repeats an index");
    assert_refused("1 1:0 1:0\n", 1, 7, "repeats an index");
    let sort = ReadOptions { sort: true, ..ReadOptions::default() };
    let data = parse(b"1 3:1 1:5 2:0\n2 7:0 2:4\n", &sort, Par::Seq, &RunControl::unlimited()).expect("sortable");
    assert_eq!(rows(&data), [vec![(0, 5.0), (2, 1.0)], vec![(1, 4.0)]]);
    assert_eq!(data.samples.features(), 7);
    let (line, column, message) = refused("1 2:1\n1 3:1 1:5 3:2 1:0\n", sort);
    assert_eq!((line, column), (2, 11), "{message}");
    // The repetition comes before the syntax error.
    assert_eq!(refused("1 3:1 1:5 3:2 x\n", sort).1, 11);
    assert_eq!(refused("1 3:1 1:5 x 3:2\n", sort).1, 11);
}

#[test]
fn index_zero_makes_a_file_zero_based_unless_told() {
    let data = read("1 1:1\n1 0:5 2:1\n").expect("zero-based");
    assert_eq!((data.index_base, data.samples.features()), (0, 3));
    assert_eq!(rows(&data), [vec![(1, 1.0)], vec![(0, 5.0), (2, 1.0)]]);
    // A stored zero counts.
    assert_eq!(read("1 0:0 1:1\n").expect("zero-based").index_base, 0);
    let forced = |index_base| ReadOptions { index_base, ..ReadOptions::default() };
    let (line, column, message) = refused("1 1:1\n1 0:5 2:1\n", forced(IndexBase::One));
    assert_eq!((line, column), (2, 3), "{message}");
    assert!(message.contains("has index 0, where features are numbered from 1"), "{message}");
    let sorted = ReadOptions { sort: true, ..forced(IndexBase::One) };
    assert_eq!(refused("1 2:1 0:5\n", sorted).1, 7);
    let data = parse(b"1 1:1 2:3\n", &forced(IndexBase::Zero), Par::Seq, &RunControl::unlimited()).expect("zero-based");
    assert_eq!((data.index_base, data.samples.features()), (0, 3));
    assert_eq!(rows(&data), [vec![(1, 1.0), (2, 3.0)]]);
}

#[test]
fn precomputed_kernels_have_their_row_number_in_column_zero() {
    let data = read("15 0:1 1:4 2:6 3:1\n15 0:2 1:6 2:18 3:0\n25 0:3 1:1 2:0 3:1\n").expect("precomputed kernel");
    assert_eq!(data.samples.dense_rows(0..2), [1.0, 4.0, 6.0, 1.0, 2.0, 6.0, 18.0, 0.0]);
}

#[test]
fn stored_zeros_count_as_features_only() {
    let data = read("1 1:1 9:0\n2 4:-0 5:0.0 6:0e5\n").expect("valid text");
    assert_eq!(rows(&data), [vec![(0, 1.0)], vec![]]);
    assert_eq!(data.samples.features(), 9);
}

#[test]
fn binary_files_are_recognised() {
    let message = "binary file or UTF-16";
    assert_refused("PK\u{3}\u{4}\0\0", 1, 1, message);
    assert_refused("1 1:1\n1 2:\0\n", 2, 3, message);
    let wide: Vec<u8> = "1 1:1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = parse(&[&[0xFF, 0xFE], &wide[..]].concat(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited());
    assert_eq!(error, Err(ReadError::Binary { line: 1, column: 1 }));
}

#[test]
fn long_offenders_are_shortened() {
    let (_, _, message) = refused(&format!("{}\n", "é".repeat(500)), ReadOptions::default());
    assert!(message.contains(&format!("`{}…`", "é".repeat(40))), "{message}");
}

#[test]
fn a_very_long_line_and_a_huge_index_are_cheap() {
    let long: Vec<String> = (1..200_000).map(|i| format!(" {i}:1")).collect();
    assert_eq!(read(&format!("1{}\n", long.concat())).expect("long line").samples.non_zeros(), 199_999);
    let data = read("1 1:1\n-1 4294967294:1\n").expect("huge index");
    assert!(matches!(data.samples.storage(), Storage::Sparse(_)));
    assert_eq!(data.samples.features(), 4_294_967_294);
    assert_eq!(data.clone().samples.compact(), data.samples);
}

#[test]
fn storage_is_the_one_that_compact_chooses() {
    let dense = (0..20).map(|i| format!("1 1:{i} 2:0.5 3:1\n")).collect::<Vec<_>>().concat();
    let data = read(&dense).expect("dense");
    assert!(matches!(data.samples.storage(), Storage::Dense32(_)));
    assert_eq!(data.samples.clone().compact(), data.samples);
    let data = read(&dense.replace("0.5", "0.1")).expect("dense");
    assert!(matches!(data.samples.storage(), Storage::Dense64(_)));
    assert_eq!(data.samples.clone().compact(), data.samples);
    let data = read("1 1:1 100:2\n1\n1 50:1\n").expect("sparse");
    assert!(matches!(data.samples.storage(), Storage::Sparse(_)));
    assert_eq!(data.samples.clone().compact(), data.samples);
}

#[test]
fn whole_lines_go_to_the_chunk_they_begin_in() {
    let text = b"ab\nc\n\ndefgh\ni";
    for size in 1..20 {
        let ranges = split_lines(text, size);
        assert_eq!(ranges.first().map(|r| r.start), Some(0));
        assert_eq!(ranges.last().map(|r| r.end), Some(text.len()));
        assert!(ranges.windows(2).all(|w| w[0].end == w[1].start && text[w[0].end - 1] == b'\n' && !w[0].is_empty()));
    }
    assert_eq!(split_lines(text, 3), [0..3, 3..6, 6..12, 12..13]);
    assert!(split_lines(text, 100).into_iter().eq(std::iter::once(0..13)));
}

/// Text that is mostly valid: a few words of every kind.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => Just("1".to_owned()),
        6 => (0_u32..9, -3_i32..9).prop_map(|(j, v)| format!("{j}:{v}")),
        6 => Just(" ".to_owned()),
        4 => Just("\n".to_owned()),
        1 => Just("\n1 1:0.5 2:4\n-1 3:1e-3\n".to_owned()),
        1 => Just("qid:7 ".to_owned()),
        1 => Just("#x\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\0".to_owned()),
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

/// A valid file, and an edit that may break it: position, bytes to remove, text to insert.
fn edited() -> impl Strategy<Value = Vec<u8>> {
    let row = (-2_i32..3, proptest::collection::vec((1_u32..4, -9_i32..9), 0..5)).prop_map(|(label, steps)| {
        let mut index = 0;
        let features = steps.iter().map(|(step, value)| {
            index += step;
            format!(" {index}:{}", f64::from(*value) / 4.0)
        });
        format!("{label}{}\n", features.collect::<String>())
    });
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..4, "[0-9:. \n#xe,-]{0,3}"), 0..3);
    (proptest::collection::vec(row, 1..12), edits).prop_map(|(rows, edits)| {
        let mut bytes = rows.concat().into_bytes();
        for (at, removed, inserted) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserted.into_bytes());
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn chunks_and_threads_do_not_change_the_result(
        text in prop_oneof![words().prop_map(String::into_bytes), edited()],
        chunk in 1_usize..50,
        sort in any::<bool>(),
        base in prop_oneof![Just(IndexBase::Auto), Just(IndexBase::Zero), Just(IndexBase::One)],
    ) {
        let options = ReadOptions { index_base: base, sort, skip_hash: false };
        let whole = parse(&text, &options, Par::Seq, &RunControl::unlimited());
        prop_assert_eq!(&parse_in_chunks(&text, options, Par::Seq, chunk, 3 * chunk, &RunControl::unlimited()), &whole);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
        prop_assert_eq!(&pool.install(|| parse_in_chunks(&text, options, Par::Pool, chunk, chunk, &RunControl::unlimited())), &whole);
        if let Ok(data) = whole {
            prop_assert_eq!(data.labels.len(), data.samples.len());
            prop_assert_eq!(&data.samples.clone().compact(), &data.samples);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), sort in any::<bool>()) {
        let _ = parse(&bytes, &ReadOptions { sort, ..ReadOptions::default() }, Par::Seq, &RunControl::unlimited());
    }
}

/// Data sets in any storage, with labels and values of any bits.
fn datasets() -> impl Strategy<Value = Dataset> {
    let value = prop_oneof![
        3 => Just(0.0),
        2 => (-8_i32..8).prop_map(f64::from),
        2 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
        1 => any::<f32>().prop_filter("finite", |v| v.is_finite()).prop_map(f64::from),
    ];
    (1_usize..8, 1_usize..9, 0_u32..2, any::<bool>()).prop_flat_map(move |(rows, features, index_base, grouped)| {
        let values = proptest::collection::vec(value.clone(), rows * features);
        let labels = proptest::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), rows);
        let groups = proptest::collection::vec(any::<u64>(), rows);
        (values, labels, groups).prop_map(move |(values, labels, groups)| {
            // Compressed rows store no zeros and hence no sign of zero.
            let values = values.into_iter().map(|v: f64| if v == 0.0 { 0.0 } else { v }).collect();
            let samples = Samples::from_dense(rows, features, values).expect("finite").compact();
            Dataset { samples, labels, groups: grouped.then_some(groups), index_base, sha256: [0; 32], columns: None }
        })
    })
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_bits(data in datasets()) {
        let mut text = Vec::new();
        write(&data, &mut text).expect("memory does not fail");
        let back = parse(&text, &ReadOptions { skip_hash: true, ..ReadOptions::default() }, Par::Seq, &RunControl::unlimited()).expect("own text");
        let bits = |labels: &[f64]| labels.iter().map(|l| l.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back.labels), bits(&data.labels));
        prop_assert_eq!(&back, &data);
        let mut again = Vec::new();
        write(&back, &mut again).expect("memory does not fail");
        prop_assert_eq!(again, text);
    }
}

#[test]
fn written_text_is_what_one_expects() {
    let text = "1 qid:2 1:0.5 3:-2\n-1 qid:9\n0.25 qid:1 2:1e-300 3:0.001\n";
    let mut out = Vec::new();
    write(&read(text).expect("valid text"), &mut out).expect("memory does not fail");
    assert_eq!(String::from_utf8(out).expect("text"), text);
    let mut out = Vec::new();
    write(&read("1 0:0 1:2 5:0\n2 3:1\n").expect("valid text"), &mut out).expect("memory does not fail");
    assert_eq!(String::from_utf8(out).expect("text"), "1 0:0 1:2 5:0\n2 3:1\n");
}

/// Written text can be read: the writer refuses a feature beyond the last index, too.
#[test]
fn features_that_no_reader_takes_are_not_written() {
    let data = |features, index_base| Dataset {
        samples: Samples::from_sparse(features, vec![0, 1], vec![3], vec![1.0]).expect("valid"),
        labels: vec![1.0],
        groups: None,
        index_base,
        sha256: [0; 32],
        columns: None,
    };
    // The largest number of columns of a matrix; numbered from 1, the last index is one too large.
    let widest = u32::MAX as usize;
    for (features, base, option) in [(widest, 0, IndexBase::Zero), (widest - 1, 1, IndexBase::One)] {
        let mut text = Vec::new();
        write(&data(features, base), &mut text).expect("the last index");
        let back =
            parse(&text, &ReadOptions { index_base: option, ..ReadOptions::default() }, Par::Seq, &RunControl::unlimited())
                .expect("readable");
        assert_eq!(back.samples.features(), features);
    }
    let error = write(&data(widest, 1), &mut Vec::new()).expect_err("one too many");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn rows_know_their_lines() {
    let text = b"# head\n1 1:1\n  # more\n\t2 1:1 # tail\r\n3\n\n";
    assert_eq!((0..4).map(|row| line_of_row(text, row)).collect::<Vec<_>>(), [Some(2), Some(4), Some(5), None]);
}

/// A time limit used to have no effect while a file was parsed.
#[test]
fn parsing_asks_between_stretches_and_ends_when_it_is_told() {
    let text = "1 1:0.5 2:0.25\n".repeat(1000);
    let whole = parse(text.as_bytes(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("valid text");
    let sizes = (100, 1000);
    // Checks: fifteen parts of a thousand bytes, their end, and groups of chunks that are copied.
    let questions = 16 + split_lines(text.as_bytes(), sizes.0).len().div_ceil(merge::TOGETHER);
    for patience in 0..questions + 3 {
        let mut asked = 0;
        let control = RunControl::new(|_| {
            asked += 1;
            if asked <= patience { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let found = parse_in_chunks(text.as_bytes(), ReadOptions::default(), Par::Seq, sizes.0, sizes.1, &control);
        drop(control);
        let expected = if patience < questions { Err(ReadError::Cancelled) } else { Ok(whole.clone()) };
        assert!(found == expected && asked == questions.min(patience + 1), "{patience}: {asked} of {questions}");
    }
}

/// LIBSVM reads the columns of a precomputed kernel by position: an omitted zero would shift all
/// later columns.
#[test]
fn precomputed_kernels_are_written_with_their_zeros() {
    let text = "1 0:1 1:4 2:0 3:1\n-1 0:2 1:0 2:18 3:0\n1 0:3 1:1 2:0 3:0\n";
    let data = read(text).expect("a precomputed kernel");
    let mut out = Vec::new();
    write(&data, &mut out).expect("memory does not fail");
    assert_eq!(String::from_utf8_lossy(&out), text);
    // Mostly zeros, so the storage is sparse.
    let sparse = (1..=50).map(|i| format!("1 0:{i} {i}:1\n")).collect::<Vec<_>>().concat();
    let data = read(&sparse).expect("the identity");
    let mut out = Vec::new();
    write(&data, &mut out).expect("memory does not fail");
    assert!(String::from_utf8_lossy(&out).lines().all(|line| line.split(' ').count() == 52), "label, serial, 50 values");
    assert_eq!(rows(&read(std::str::from_utf8(&out).expect("text")).expect("the identity")), rows(&data));
    // Zero-based data that are not a kernel are as sparse as before.
    let plain = "1 0:1 9:1\n-1 0:5 2:1\n";
    let mut out = Vec::new();
    write(&read(plain).expect("data"), &mut out).expect("memory does not fail");
    assert_eq!(String::from_utf8_lossy(&out), plain);
}
