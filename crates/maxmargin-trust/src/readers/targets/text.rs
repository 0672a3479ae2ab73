//! Readers of text: data, labels, folds, ranges, numbers of samples.

use super::{Outcome, refused};
use crate::readers::memory::{BASE, in_proportion};
use maxmargin::cv::FoldPlan;
use maxmargin::cv::update::numbers_of;
use maxmargin::data::libsvm::{ReadError, parse, write};
use maxmargin::data::{BinaryLabels, ClassLabels, Dataset, IndexBase, Par, ReadOptions, RunControl, Scaler};

/// Returns the bits of numbers: −0 and 0 differ, NaN is equal to itself.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Returns columns and the bits of their values.
type Bits = Vec<(usize, u64)>;

/// Returns the bits of a whole data file.
fn said(data: &Dataset) -> (usize, Vec<Bits>, Vec<u64>) {
    let rows = (0..data.samples.len()).map(|i| data.samples.row(i).entries().iter().map(|&(j, v)| (j, v.to_bits())).collect());
    (data.samples.features(), rows.collect(), bits(&data.labels))
}

/// Reads LIBSVM text.
pub(super) fn data(input: &[u8]) -> Outcome {
    let options = ReadOptions { skip_hash: true, ..ReadOptions::default() };
    let read = in_proportion(input, BASE, || parse(input, &options, Par::Seq, &RunControl::unlimited()));
    let sorted =
        in_proportion(input, BASE, || parse(input, &ReadOptions { sort: true, ..options }, Par::Seq, &RunControl::unlimited()));
    let data = match read {
        Ok(data) => data,
        Err(error) => {
            if let Ok(sorted) = &sorted {
                written(sorted);
            }
            return refused(&error, error != ReadError::Empty);
        }
    };
    assert_eq!(Ok(&data), sorted.as_ref(), "what needs no sorting reads the same with it");
    written(&data);
    Outcome::Accepted
}

/// Writes `data` and reads it back.
fn written(data: &Dataset) {
    let mut text = Vec::new();
    write(data, &mut text).expect("memory takes all");
    let base = if data.index_base == 0 { IndexBase::Zero } else { IndexBase::One };
    for index_base in [base, IndexBase::Auto] {
        let again = parse(&text, &ReadOptions { index_base, skip_hash: true, sort: false }, Par::Seq, &RunControl::unlimited());
        let again = again.unwrap_or_else(|error| panic!("what was written is refused: {error}"));
        // Without any feature the numbering of features is unknown.
        assert!(again.index_base == data.index_base || data.samples.features() == 0, "numbered from {}", again.index_base);
        assert!(said(&again) == said(data) && again.groups == data.groups, "what was written reads back otherwise");
    }
}

/// Reads labels, one per line, as classes.
pub(super) fn labels(input: &[u8]) -> Outcome {
    let data = match parse(input, &ReadOptions { skip_hash: true, ..ReadOptions::default() }, Par::Seq, &RunControl::unlimited())
    {
        Ok(data) => data,
        Err(error) => return refused(&error, error != ReadError::Empty),
    };
    let classes = in_proportion(input, BASE, || ClassLabels::new(&data.labels));
    let binary = in_proportion(input, BASE, || BinaryLabels::new(&data.labels));
    let classes = match classes {
        Ok(classes) => classes,
        Err(error) => {
            assert!(binary.is_err(), "what is no list of classes is no pair of classes");
            return refused(&error, false);
        }
    };
    for (label, &class) in data.labels.iter().zip(classes.of()) {
        assert_eq!(classes.labels()[class as usize], *label, "a label is that of its class");
    }
    assert_eq!(classes.sizes().iter().sum::<usize>(), data.labels.len());
    assert!(classes.labels().is_sorted_by(|a, b| a < b), "classes ascend");
    assert_eq!(binary.is_ok(), classes.count() == 2, "two classes are a pair of classes");
    match binary {
        Ok(binary) => {
            for (label, sign) in data.labels.iter().zip(&binary.signs) {
                assert_eq!(binary.label(*sign), *label, "a sign stands for its label");
            }
        }
        Err(error) => drop(refused(&error, false)),
    }
    Outcome::Accepted
}

/// Reads a folds file, for as many samples as it has lines that are neither empty nor comments.
pub(super) fn folds(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let samples = text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).count();
    let other = in_proportion(input, BASE, || FoldPlan::from_text(&text, samples + 1));
    if let Err(error) = &other {
        refused(error, false);
    }
    assert!(other.is_err(), "one sample more than lines");
    match in_proportion(input, BASE, || FoldPlan::from_text(&text, samples)) {
        Err(error) => refused(&error, false),
        Ok(plan) => {
            assert_eq!(plan.len(), samples);
            assert_eq!(FoldPlan::from_text(&plan.to_text(), samples), Ok(plan), "what was written reads back");
            Outcome::Accepted
        }
    }
}

/// Reads a range file of `svm-scale`.
pub(super) fn range(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let mut outcome = Outcome::Refused;
    for base in [0, 1] {
        match in_proportion(input, BASE, || Scaler::from_range_text(&text, base)) {
            Err(error) => drop(refused(&error, !error.to_string().contains("truncated"))),
            Ok(scaler) => {
                outcome = Outcome::Accepted;
                let again = scaler.to_range_text(base).expect("limits have a place in the format");
                let read =
                    Scaler::from_range_text(&again, base).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
                // Constant features at the end have no line: their number is lost, the value they
                // scale to is not.
                assert!(read.features() <= scaler.features());
                assert_eq!((read.method(), read.target()), (scaler.method(), scaler.target()), "limits read back");
                assert_eq!(read.to_range_text(base).expect("as before"), again, "columns read back");
            }
        }
    }
    outcome
}

/// Reads numbers of samples, as `--remove` names them.
pub(super) fn numbers(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    match in_proportion(input, BASE, || numbers_of(&text)) {
        Err(error) => refused(&error, true),
        Ok(ranges) => {
            assert!(ranges.iter().all(|range| *range.start() > 0 && !range.is_empty()), "{ranges:?}");
            let again: Vec<String> = ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
            assert_eq!(numbers_of(&again.join(",")), Ok(ranges), "what was written reads back");
            Outcome::Accepted
        }
    }
}
