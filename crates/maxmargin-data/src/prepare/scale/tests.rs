//! Scaling: fits and range files.

use super::*;
use crate::codec;
use proptest::prelude::*;

/// Three rows; feature 1 is constant, feature 3 never stored.
fn small() -> Samples {
    Samples::from_sparse(4, vec![0, 3, 5, 7], vec![0, 1, 2, 1, 2, 0, 1], vec![1.0, 5.0, -0.5, 5.0, 7.0, 3.0, 5.0]).expect("valid")
}

const UNIT: ScaleMethod = ScaleMethod::MinMax { lower: -1.0, upper: 1.0 };

#[test]
fn min_max_meets_both_ends_and_drops_constants() {
    let scaler = Scaler::fit(&small(), UNIT);
    assert_eq!(scaler.column(0), Some((0.0, 3.0)));
    assert_eq!(scaler.column(1), None);
    let scaled = scaler.apply(&small()).expect("finite");
    let middle = -1.0 + 2.0 * (1.0 - 0.0) / 3.0;
    let zero = -1.0 + 2.0 * 0.5 / 7.5;
    assert_eq!(scaled.dense_rows(0..3), [middle, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, zero, 0.0]);
}

#[test]
fn other_data_is_extrapolated_and_unknown_features_are_ignored() {
    let scaler = Scaler::fit(&small(), UNIT);
    let other = Samples::from_dense(1, 6, vec![6.0, 9.0, -8.0, 4.0, 1.0, 1.0]).expect("valid");
    assert_eq!(scaler.apply(&other).expect("finite").dense_rows(0..1), [3.0, 0.0, -3.0, 0.0]);
    let narrow = Samples::from_dense(1, 1, vec![3.0]).expect("valid");
    let scaled = scaler.apply(&narrow).expect("finite");
    assert_eq!(scaled.features(), 4);
    assert_eq!(scaled.row(0).entries(), [(0, 1.0), (2, -1.0 + 2.0 * 0.5 / 7.5)]);
}

#[test]
fn only_the_given_rows_are_seen() {
    let scaler = Scaler::fit_rows(&small(), [1, 2].into_iter(), UNIT);
    assert_eq!(scaler.column(0), Some((0.0, 3.0)));
    assert_eq!(scaler.column(2), Some((0.0, 7.0)));
    let none = Scaler::fit_rows(&small(), std::iter::empty(), ScaleMethod::Standard);
    assert_eq!(none.apply(&small()).expect("finite").non_zeros(), 0);
}

#[test]
fn standard_scaling_gives_mean_zero_and_variance_one() {
    // With a large mean, one pass over squares would lose all digits.
    let values = vec![1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0, 1e9 + 6.0];
    let samples = Samples::from_dense(4, 1, values).expect("valid");
    let scaler = Scaler::fit(&samples, ScaleMethod::Standard);
    assert_eq!(scaler.column(0), Some((1e9 + 3.0, 3.5_f64.sqrt())));
    let scaled = scaler.apply(&samples).expect("finite").dense_rows(0..4);
    assert_eq!(scaled, [-2.0, -1.0, 0.0, 3.0].map(|d: f64| d / 3.5_f64.sqrt()));
}

/// The squares of such deviations are 0 in double precision.
#[test]
fn tiny_features_have_a_deviation() {
    for tiny in [1e-170, 1e-300, 2_f64.powi(-1070)] {
        let values: Vec<f64> = [1.0, 0.0, 3.0, 0.0].iter().map(|value| value * tiny).collect();
        let dense = Samples::from_dense(4, 1, values).expect("finite");
        let sparse = Samples::from_sparse(1, vec![0, 1, 1, 2, 2], vec![0, 0], vec![tiny, 3.0 * tiny]).expect("finite");
        for samples in [dense, sparse] {
            let scaled = Scaler::fit(&samples, ScaleMethod::Standard).apply(&samples).expect("finite").dense_rows(0..4);
            // Mean 1 and variance 1.5; the least of the magnitudes have a bit less than four bits.
            for (value, expected) in scaled.iter().zip([0.0, -1.0, 2.0, -1.0].map(|d: f64| d / 1.5_f64.sqrt())) {
                assert!((value - expected).abs() <= 2_f64.powi(-4) * expected.abs(), "{tiny}: {value} {expected}");
            }
        }
    }
}

#[test]
fn sparse_data_stays_sparse_when_zero_stays_zero() {
    let counts = Samples::from_sparse(1000, vec![0, 1, 2, 3], vec![4, 4, 9], vec![2.0, 4.0, 5.0]).expect("valid");
    let scaler = Scaler::fit(&counts, ScaleMethod::MinMax { lower: 0.0, upper: 1.0 });
    let scaled = scaler.apply(&counts).expect("finite");
    assert!(matches!(scaled.storage(), crate::Storage::Sparse(_)));
    assert_eq!((0..3).map(|i| scaled.row(i).entries()).collect::<Vec<_>>(), [[(4, 0.5)], [(4, 1.0)], [(9, 1.0)]]);
    // Two columns shift: the result remains sparse, with zeros filled in.
    let scaled = Scaler::fit(&counts, UNIT).apply(&counts).expect("finite");
    assert!(matches!(scaled.storage(), crate::Storage::Sparse(_)));
    assert_eq!(scaled.row(0).entries(), [(9, -1.0)]);
    assert_eq!(scaled.row(2).entries(), [(4, -1.0), (9, 1.0)]);
}

#[test]
fn filling_up_sparse_data_is_refused() {
    let rows = 70_000;
    let wide: Vec<u32> = (0..40_000).collect();
    let mut offsets = vec![wide.len(); rows + 1];
    offsets[0] = 0;
    let samples = Samples::from_sparse(wide.len(), offsets, wide.clone(), vec![1.0; wide.len()]).expect("valid");
    let error = Scaler::fit(&samples, UNIT).apply(&samples).expect_err("too dense");
    assert!(matches!(error, ScaleError::TooDense { entries: 2_800_040_000 }), "{error}");
    let kept = Scaler::fit(&samples, ScaleMethod::MinMax { lower: 0.0, upper: 1.0 });
    assert!(kept.apply(&samples).is_ok());
}

#[test]
fn range_files_are_those_of_svm_scale() {
    // As `svm-scale -l 0 -y -1 1 -s` wrote it for labels 0 and 1 (1 1:1 2:5 / 0 1:3 3:7 / 1 2:5
    // 3:-0.5).
    let text = "y\n-1 1\n0 1\nx\n0 1\n1 0 3\n2 0 5\n3 -0.5 7\n";
    let samples = Samples::from_dense(3, 3, vec![1.0, 5.0, 0.0, 3.0, 0.0, 7.0, 0.0, 5.0, -0.5]).expect("valid");
    let target = Some(TargetRange { lower: -1.0, upper: 1.0, min: 0.0, max: 1.0 });
    let scaler = Scaler::fit(&samples, ScaleMethod::MinMax { lower: 0.0, upper: 1.0 }).with_target(target);
    assert_eq!(scaler.to_range_text(1).as_deref(), Ok(text));
    assert_eq!(Scaler::from_range_text(text, 1), Ok(scaler.clone()));
    assert_eq!(Scaler::from_range_text(&text.replace('\n', "\r\n"), 1), Ok(scaler.clone()));
    assert_eq!(scaler.target().map(|t| (t.apply(0.0), t.apply(0.25), t.invert(0.5))), Some((-1.0, -0.5, 0.75)));
    let zero_based = scaler.to_range_text(0).expect("min-max");
    assert!(zero_based.ends_with("\n0 0 3\n1 0 5\n2 -0.5 7\n"), "{zero_based}");
    assert_eq!(Scaler::from_range_text(&zero_based, 0), Ok(scaler));
    // 17 digits, as C prints them.
    let text = "x\n-1 1\n10 0 6.2000000000000002\n";
    assert_eq!(Scaler::from_range_text(text, 1).and_then(|s| s.to_range_text(1)).as_deref(), Ok(text));
}

#[test]
fn malformed_range_files_are_refused_with_their_line() {
    for (text, expected) in [
        ("", "ends where `x` or `y`"),
        ("x\n", "truncated"),
        ("y\n0 1\n", "truncated"),
        ("z\n-1 1\n", "line 1: `z`"),
        ("y\n0 1\n0 1\n-1 1\n", "line 4"),
        ("x\n-1\n", "line 2: `-1`"),
        ("x\n-1 1\n1 0\n", "line 3: `1 0`"),
        ("x\n-1 1\n1 0 nan\n", "line 3"),
        ("x\n-1 1\n1 0 1\n1 0 1\n", "line 4"),
        ("x\n-1 1\n0 0 1\n", "numbered from 1"),
        ("x\n-1 1\n-2 0 1\n", "line 3"),
        // Readers of the scaled file would refuse this index.
        ("x\n-1 1\n4294967295 0 1\n", "at most 4294967294"),
    ] {
        let error = Scaler::from_range_text(text, 1).expect_err(text).to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    assert_eq!(Scaler::fit(&small(), ScaleMethod::Standard).to_range_text(1), Err(RangeError::NotMinMax));
    // A huge feature number costs nothing.
    let sparse = Scaler::from_range_text("x\n0 1\n4294967294 0 2\n", 1).expect("valid");
    assert_eq!(sparse.apply(&small()).expect("finite").non_zeros(), 0);
}

/// Features without positive values used to count as constant and became 0.
#[test]
fn features_that_are_never_positive_are_scaled() {
    let samples = Samples::from_dense(3, 2, vec![-5.0, 0.0, -1.0, -2.0, -3.0, -1.0]).expect("valid");
    let scaled = Scaler::fit(&samples, UNIT).apply(&samples).expect("finite");
    assert_eq!(
        (0..3).map(|i| scaled.row(i).entries()).collect::<Vec<_>>(),
        [vec![(0, -1.0), (1, 1.0)], vec![(0, 1.0), (1, -1.0)], vec![]]
    );
}

/// If scaling makes a finite value infinite, the error must not blame the file.
#[test]
fn overflow_in_scaling_names_the_value_that_was_given() {
    let wide = [1.0, -1.5e308, 1.0, 2.0, 1.0, 1.5e308];
    let narrow = [1.0, 0.0, 1.0, 5e-324, 1.0, 1.0];
    for (values, method, at, value) in [
        (wide, UNIT, 1, 2.0),
        (wide, ScaleMethod::Standard, 0, -1.5e308),
        // The mean overflows as well as the deviation.
        ([1.0, 1.5e308, 2.0, 1.6e308, 3.0, 1.7e308], ScaleMethod::Standard, 0, 1.5e308),
    ] {
        let dense = Samples::from_dense(3, 2, values.to_vec()).expect("finite");
        let sparse = Samples::from_sparse(2, vec![0, 2, 4, 6], vec![0, 1, 0, 1, 0, 1], values.to_vec()).expect("finite");
        for samples in [dense, sparse] {
            let error = Scaler::fit(&samples, method).apply(&samples).expect_err("too wide");
            let ScaleError::Overflow { row, feature, value: named, .. } = error else { panic!("{error}") };
            assert_eq!((row, feature, named), (at, 1, value), "{method:?}");
            let moved = error.in_order(&[7, 8, 9]).to_string();
            assert!(
                moved.contains(&format!("row {}, feature 1", at + 7)) && moved.contains("overflows when it is scaled by"),
                "{moved}"
            );
        }
    }
    let narrow = Samples::from_dense(3, 2, narrow.to_vec()).expect("finite");
    assert!(Scaler::fit(&narrow, UNIT).apply(&narrow).is_ok());
}

fn samples() -> impl Strategy<Value = Samples> {
    (1_usize..9, 1_usize..7).prop_flat_map(|(rows, features)| {
        let value = prop_oneof![2 => Just(0.0), 3 => -1e3..1e3];
        proptest::collection::vec(value, rows * features)
            .prop_map(move |values| Samples::from_dense(rows, features, values).expect("finite"))
    })
}

proptest! {
    #[test]
    fn scalers_survive_storing(samples in samples(), standard in any::<bool>()) {
        let scaler = Scaler::fit(&samples, if standard { ScaleMethod::Standard } else { UNIT });
        let bytes = codec::encode(&scaler).expect("encodable");
        prop_assert_eq!(codec::decode::<Scaler>(&bytes, usize::MAX), Ok(scaler.clone()));
        if !standard {
            let text = scaler.to_range_text(1).expect("min-max");
            let back = Scaler::from_range_text(&text, 1).expect("own text");
            let scaled = back.apply(&samples).expect("finite").with_features(scaler.features());
            prop_assert_eq!(scaled.compact(), scaler.apply(&samples).expect("finite"));
        }
    }

    #[test]
    fn scaled_features_span_the_interval(samples in samples(), lower in -3.0..0.0, width in 0.5..4.0) {
        let upper = lower + width;
        let scaler = Scaler::fit(&samples, ScaleMethod::MinMax { lower, upper });
        let scaled = scaler.apply(&samples).expect("finite");
        let ranges = crate::feature_ranges(&scaled);
        for (j, range) in ranges.into_iter().enumerate() {
            let expected = if scaler.column(j).is_some() { (lower, upper) } else { (0.0, 0.0) };
            prop_assert_eq!(range, expected);
        }
    }

    #[test]
    fn storage_does_not_matter(samples in samples(), standard in any::<bool>()) {
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in 0..samples.len() {
            samples.row(i).for_each(|j, v| {
                indices.push(j as u32);
                values.push(v);
            });
            offsets.push(indices.len());
        }
        let sparse = Samples::from_sparse(samples.features(), offsets, indices, values).expect("valid");
        let method = if standard { ScaleMethod::Standard } else { UNIT };
        let scaler = Scaler::fit(&sparse, method);
        prop_assert_eq!(&scaler, &Scaler::fit(&samples, method));
        prop_assert_eq!(scaler.apply(&sparse), scaler.apply(&samples));
        let wide = scaler.apply_sparse(&sparse, &scaler.columns.iter()
            .map(|c| (c.feature as usize, scaler.method.image(*c, 0.0)))
            .filter(|(_, image)| *image != 0.0)
            .collect::<Vec<_>>());
        prop_assert_eq!(wide.map(Samples::compact).ok(), scaler.apply(&samples).ok());
    }
}

/// After any scaling, features are the scaled values times the factors, up to rounding. Features
/// that the scaling drops remain zero.
#[test]
fn factors_come_behind_the_scaling() {
    let factors = [0.5, 3.0, 1e-3, 7.0];
    let fitted = |method| Some(Scaler::fit(&small(), method));
    let range = |lower, upper| ScaleMethod::MinMax { lower, upper };
    for scaler in [None, fitted(UNIT), fitted(ScaleMethod::Standard), fitted(range(0.0, 5.0)), fitted(range(2.0, 2.0))] {
        let plain = scaler.as_ref().map_or_else(small, |scaler| scaler.apply(&small()).expect("finite"));
        let is_point = scaler.as_ref().is_some_and(|scaler| scaler.method() == range(2.0, 2.0));
        let stretched = Scaler::stretched(scaler, &factors);
        let found = stretched.apply(&small()).expect("finite").dense_rows(0..3);
        for (at, (found, plain)) in found.iter().zip(plain.dense_rows(0..3)).enumerate() {
            let expected = if is_point { 0.0 } else { plain * factors[at % 4] };
            assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{at}: {found} and {expected}");
        }
        // Files store the factors, and they can be multiplied again.
        let bytes = codec::encode(&stretched).expect("bytes");
        assert_eq!(codec::decode::<Scaler>(&bytes, bytes.len()).expect("read back"), stretched);
        assert_eq!(stretched.factors().map(|found| found.len()), Some(4));
        let twice = Scaler::stretched(Some(stretched), &[2.0; 4]).apply(&small()).expect("finite").dense_rows(0..3);
        assert!(twice.iter().zip(&found).all(|(twice, once)| *twice == 2.0 * once));
    }
    assert_eq!(Scaler::fit(&small(), UNIT).factors(), None);
    assert_eq!(Scaler::stretched(None, &[2.0, 4.0]).factors(), Some(vec![2.0, 4.0]));
}
