//! Imputed values, and their dependence on training rows.

use super::*;
use crate::RunControl;
use crate::table::{TableOptions, read};

fn data(text: &str) -> Dataset {
    let options = TableOptions { missing: true, ..TableOptions::default() };
    read(text.as_bytes(), &options, &RunControl::unlimited()).expect("a table").data
}

fn rows(samples: &Samples) -> Vec<Vec<f64>> {
    (0..samples.len()).map(|row| samples.dense_rows(row..row + 1)).collect()
}

fn filled(data: &Dataset, way: Impute, training: &[usize]) -> Vec<Vec<f64>> {
    let preparing = Preparing { impute: Some(way), scale: None };
    let found = preparing.fit_rows(data, training.iter().copied()).expect("imputed");
    rows(&found.apply(&data.samples).expect("imputed"))
}

const TEXT: &str = "n,t,w,y\n1,yes,a,0\n,no,,1\n0,,b,0\n4,yes,b,1\n4,no,a,0\n-9,no,b,1\n";

#[test]
fn gaps_are_filled_by_what_training_rows_show() {
    let data = data(TEXT);
    // Columns: n, t, w = a, w = b. The training rows are those without the last two.
    let training = [0, 1, 2, 3];
    let of = |way| filled(&data, way, &training);
    assert_eq!(of(Impute::Median)[1], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(Impute::Mean)[1], [5.0 / 3.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(Impute::MostFrequent)[1], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(Impute::Median)[2], [0.0, 1.0, 0.0, 1.0]);
    // All rows give other values: 4 occurs twice, and most truth values are no.
    let all: Vec<usize> = (0..6).collect();
    assert_eq!(filled(&data, Impute::MostFrequent, &all)[1][0], 4.0);
    assert_eq!(filled(&data, Impute::Mean, &all)[1][0], 0.0);
    assert_eq!(filled(&data, Impute::Median, &all)[2], [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn what_a_test_row_says_changes_nothing() {
    let one = data(TEXT);
    let other = data(&TEXT.replace("-9,no,b", "70,yes,a"));
    let training = [0, 1, 2, 3, 4];
    for way in Impute::ALL {
        let preparing = Preparing { impute: Some(way), scale: Some(ScaleMethod::Standard) };
        let fit = |data: &Dataset| preparing.fit_rows(data, training.into_iter()).expect("imputed");
        assert_eq!(fit(&one), fit(&other), "{way}");
        assert_ne!(preparing.fit(&one), preparing.fit(&other), "{way}");
    }
}

#[test]
fn a_word_that_no_training_row_has_is_none() {
    let data = data("w,x,y\na,1,0\nb,2,1\nc,3,0\na,4,1\n");
    let preparing = Preparing::default();
    let found = preparing.fit_rows(&data, [0, 1, 3].into_iter()).expect("no gaps");
    assert_eq!(rows(&found.apply(&data.samples).expect("no gaps"))[2], [0.0, 0.0, 0.0, 3.0]);
    let whole = preparing.fit(&data).expect("no gaps");
    assert!(!found.is_same_for(&whole, &data.samples));
    assert!(matches!(whole.apply(&data.samples).expect("no gaps"), Cow::Borrowed(_)));
}

#[test]
fn missing_values_without_imputation_are_errors() {
    let data = data(TEXT);
    let found = Preparing::default().fit(&data).expect("nothing is scaled");
    let error = found.apply(&data.samples).expect_err("a gap").to_string();
    assert!(error.contains("row 1 (from 0) has no value in column `"), "{error}");
    let scaled = Preparing { impute: None, scale: Some(ScaleMethod::Standard) };
    assert_eq!(scaled.fit_rows(&data, [0, 2].into_iter()), Err(ScaleError::Missing { row: 2, column: "t".to_owned() }));
}

#[test]
fn words_and_truths_are_not_scaled() {
    let data = data("n,t,w,y\n10,yes,a,0\n20,no,b,1\n15,no,a,0\n");
    for (method, expected) in [
        (ScaleMethod::MinMax { lower: -1.0, upper: 1.0 }, [[-1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]),
        (ScaleMethod::MinMax { lower: 0.0, upper: 1.0 }, [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.5, 0.0, 1.0, 0.0]]),
    ] {
        let found = Preparing { impute: None, scale: Some(method) }.fit(&data).expect("numbers");
        assert_eq!(rows(&found.apply(&data.samples).expect("numbers")), expected);
    }
    let found = Preparing { impute: None, scale: Some(ScaleMethod::Standard) }.fit(&data).expect("numbers");
    let standard = rows(&found.apply(&data.samples).expect("numbers"));
    assert_eq!(standard[0][1..], [1.0, 1.0, 0.0]);
    assert!((standard[1][0] - 1.5_f64.sqrt()).abs() < 1e-12 && standard[1][1..] == [0.0, 0.0, 1.0]);
}

#[test]
fn fillings_that_fill_nothing_are_no_difference() {
    let full = data("n,y\n1,0\n2,1\n9,0\n");
    let preparing = Preparing { impute: Some(Impute::Mean), scale: None };
    let (part, whole) = (preparing.fit_rows(&full, [0, 1].into_iter()).expect("numbers"), preparing.fit(&full).expect("numbers"));
    assert_ne!(part, whole);
    assert!(part.is_same_for(&whole, &full.samples));
    let gaps = data("n,y\n1,0\n,1\n9,0\n");
    let part = preparing.fit_rows(&gaps, [0, 1].into_iter()).expect("imputed");
    assert!(!part.is_same_for(&preparing.fit(&gaps).expect("imputed"), &gaps.samples));
}

#[test]
fn damaged_encoders_are_refused() {
    let data = data(TEXT);
    let encoder = Preparing { impute: Some(Impute::Median), scale: None }.fit(&data).expect("imputed").encoder.expect("a table");
    let bytes = crate::binary::codec::encode(&encoder).expect("bytes");
    assert_eq!(crate::binary::codec::decode::<Encoder>(&bytes, 4096), Ok(encoder));
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x40;
        // Every accepted encoder can be used.
        if let Ok(encoder) = crate::binary::codec::decode::<Encoder>(&wrong, 4096) {
            let _ = encoder.apply(&data.samples);
            (0..4).for_each(|c| drop(encoder.fill(c)));
        }
    }
}

#[test]
fn huge_numbers_have_means_and_medians() {
    let data = data("n,y\n1.7e308,0\n1.6e308,1\n,0\n");
    for way in [Impute::Mean, Impute::Median] {
        let found = filled(&data, way, &[0, 1])[2][0];
        assert!((found / 1.65e308 - 1.0).abs() < 1e-15, "{way}: {found}");
    }
}
