//! Sample matrices: forms, rows, selection.

use super::*;
use crate::{Progress, codec};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn csr(features: usize, offsets: &[usize], indices: &[u32], values: &[f64]) -> Result<Samples, SamplesError> {
    Samples::from_sparse(features, offsets.to_vec(), indices.to_vec(), values.to_vec())
}

#[test]
fn malformed_rows_are_refused() {
    assert!(csr(3, &[0, 2, 2], &[0, 2], &[1.0, 2.0]).is_ok());
    for (offsets, indices, values) in [
        (&[][..], &[][..], &[][..]),
        (&[1, 2], &[0, 2], &[1.0, 2.0]),
        (&[0, 1], &[0, 2], &[1.0, 2.0]),
        (&[0, 3, 2], &[0, 2], &[1.0, 2.0]),
        (&[0, 2], &[2, 0], &[1.0, 2.0]),
        (&[0, 2], &[1, 1], &[1.0, 2.0]),
        (&[0, 2], &[0, 3], &[1.0, 2.0]),
        (&[0, 2], &[0, 2], &[1.0]),
    ] {
        let made = csr(3, offsets, indices, values);
        assert!(matches!(made, Err(SamplesError::Structure(_))), "{offsets:?} {indices:?}: {made:?}");
    }
    let error = csr(5, &[0, 1, 3], &[0, 2, 4], &[1.0, 2.0, f64::NAN]).expect_err("not finite").to_string();
    assert!(error.starts_with("row 1, feature 4"), "{error}");
    assert!(Samples::from_dense(2, 2, vec![1.0; 3]).is_err());
    assert!(Samples::from_dense(usize::MAX, 2, vec![]).is_err());
}

#[test]
fn compact_follows_its_rule() {
    // 12 bytes per entry and 8 per row against 4 (8) bytes per value.
    assert!(prefers_dense(100, 10, 150, true));
    assert!(!prefers_dense(100, 11, 50, true));
    assert!(prefers_dense(100, 10, 300, false));
    assert!(!prefers_dense(100, 12, 300, false));
    // Exactly a gibibyte: 1024 bytes per row may replace 512, but not fewer.
    assert!(prefers_dense(1 << 20, 256, 42 << 20, true));
    assert!(!prefers_dense(1 << 20, 256, 41 << 20, true));
    // Above a gibibyte they may replace only 1024.
    assert!(!prefers_dense(1 << 21, 256, 80 << 21, true));
    assert!(prefers_dense(1 << 21, 256, 85 << 21, true));
    // More values than 32 (or 64) bits can count.
    assert!(!prefers_dense(usize::MAX, usize::MAX, 1 << 40, true));
    assert!(prefers_dense(3, 0, 0, true));
}

#[test]
fn widths_change_in_every_form() {
    let sparse = csr(4, &[0, 2, 3], &[0, 3, 1], &[1.5, 2.0, 0.1]).expect("valid");
    let wide = Samples::from_dense(2, 4, vec![1.5, 0.0, 0.0, 2.0, 0.0, 0.1, 0.0, 0.0]).expect("valid");
    let single = Samples::from_dense(2, 4, vec![1.5, 0.0, 0.0, 2.0, 0.0, 0.5, 0.0, 0.0]).expect("valid");
    for (samples, second) in [(sparse, 0.1), (wide, 0.1), (single, 0.5)] {
        let narrow = samples.clone().with_features(3);
        assert_eq!(narrow.dense_rows(0..2), [1.5, 0.0, 0.0, 0.0, second, 0.0]);
        assert_eq!(narrow.features(), 3);
        let wide = narrow.with_features(5);
        assert_eq!(wide.dense_rows(1..2), [0.0, second, 0.0, 0.0, 0.0]);
        assert_eq!(std::mem::discriminant(wide.storage()), std::mem::discriminant(samples.storage()));
        assert!(samples.with_features(0).dense_rows(0..2).is_empty());
    }
}

#[test]
fn damaged_bytes_do_not_make_malformed_samples() {
    let good = csr(3, &[0, 1, 2], &[0, 2], &[1.0, 2.0]).expect("valid");
    // Correct encodings of matrices that are not samples.
    let sparse = |offsets: Vec<usize>, indices: Vec<u32>| {
        let values = vec![1.0; indices.len()];
        Storage::Sparse(CsMatI::new((2, 3), offsets, indices, values))
    };
    let infinite = Storage::Sparse(CsMatI::new((1, 1), vec![0, 1], vec![0], vec![f64::INFINITY]));
    for broken in [
        Samples::from_parts(1, 1, Storage::Dense32(vec![f32::NAN])),
        Samples::from_parts(2, 2, Storage::Dense64(vec![1.0; 3])),
        Samples::from_parts(7, 3, sparse(vec![0, 1, 2], vec![0, 2])),
        Samples::from_parts(2, 2, sparse(vec![0, 1, 2], vec![0, 2])),
        Samples::from_parts(1, 1, infinite),
        Samples::from_parts(usize::MAX, 2, Storage::Dense64(vec![])),
    ] {
        let bytes = codec::encode(&broken).expect("encodable");
        assert!(codec::decode::<Samples>(&bytes, usize::MAX).is_err(), "{broken:?}");
    }
    let bytes = codec::encode(&good).expect("encodable");
    assert_eq!(codec::decode::<Samples>(&bytes, usize::MAX), Ok(good));
}

fn any_samples() -> impl Strategy<Value = Samples> {
    (0_usize..6, 0_usize..20, 0.0..1.0).prop_flat_map(|(rows, features, density)| {
        let value = prop::option::weighted(density, prop_oneof![(-9_i32..9).prop_map(f64::from), -1e9..1e9]);
        proptest::collection::vec(value, rows * features).prop_map(move |values| {
            let values = values.into_iter().map(|v| v.filter(|v| *v != 0.0).unwrap_or(0.0)).collect();
            Samples::from_dense(rows, features, values).expect("finite")
        })
    })
}

proptest! {
    #[test]
    fn compact_keeps_every_number_and_is_idempotent(samples in any_samples()) {
        let compact = samples.clone().compact();
        let all = 0..samples.len();
        prop_assert_eq!(compact.dense_rows(all.clone()), samples.dense_rows(all.clone()));
        prop_assert_eq!(compact.dense_rows32(all.clone()), samples.dense_rows32(all.clone()));
        prop_assert_eq!(compact.non_zeros(), samples.non_zeros());
        prop_assert_eq!(&compact.clone().compact(), &compact);
        let reversed: Vec<usize> = all.rev().collect();
        let (a, b) = (compact.select(&reversed), samples.select(&reversed));
        for (i, from) in reversed.into_iter().enumerate() {
            prop_assert_eq!(a.row(i).entries(), samples.row(from).entries());
            prop_assert_eq!(b.row(i).entries(), samples.row(from).entries());
        }
    }

    #[test]
    fn every_form_survives_storing(samples in any_samples()) {
        for form in [samples.clone(), samples.compact()] {
            let bytes = codec::encode(&form).expect("encodable");
            prop_assert_eq!(codec::decode::<Samples>(&bytes, usize::MAX), Ok(form));
        }
    }
}

#[test]
fn stacking_keeps_rows_in_every_form() {
    let dense = Samples::from_dense(2, 2, vec![1.0, 0.0, 0.1, 2.0]).expect("dense");
    let sparse = Samples::from_sparse(4, vec![0, 1, 1], vec![3], vec![5.0]).expect("sparse");
    for (above, below) in [(&dense, &dense), (&dense, &sparse), (&sparse, &dense), (&sparse, &sparse)] {
        let both = above.stacked(below).expect("few entries");
        assert_eq!((both.len(), both.features()), (4, above.features().max(below.features())));
        let non_zero = |row: Row| row.entries().into_iter().filter(|e| e.1 != 0.0).collect::<Vec<_>>();
        for i in 0..4 {
            let from = if i < 2 { above.row(i) } else { below.row(i - 2) };
            assert_eq!(non_zero(both.row(i)), non_zero(from));
        }
    }
}

#[test]
fn packing_drops_columns_that_nobody_uses() {
    let last = u32::MAX - 1;
    let wide = csr(last as usize + 1, &[0, 2, 3], &[7, last, 7], &[1.0, 2.0, 3.0]).expect("valid rows");
    let (packed, columns) = wide.packed().expect("far more columns than entries");
    assert_eq!((packed.len(), packed.features(), &columns[..]), (2, 2, &[7, last][..]));
    assert_eq!(packed.row(0).entries(), [(0, 1.0), (1, 2.0)]);
    assert_eq!(packed.row(1).entries(), [(0, 3.0)]);
    let summary = crate::inspect(&wide);
    assert_eq!((summary.min, summary.max, summary.constant), (0.0, 3.0, last as usize - 1));
    let scaler = crate::Scaler::fit(&wide, crate::prepare::scale::ScaleMethod::MinMax { lower: 0.0, upper: 1.0 });
    assert_eq!(scaler.features(), last as usize + 1);
    assert_eq!((scaler.column(7), scaler.column(last as usize)), (Some((1.0, 3.0)), Some((0.0, 2.0))));
    assert!(csr(9, &[0, 1], &[7], &[1.0]).expect("valid rows").packed().is_none());
}

/// A prediction for two rows by a model of 2²⁷ features used to take 2 GiB.
#[test]
fn dense_rows_that_are_widened_far_hold_no_zeros() {
    let dense = Samples::from_dense(2, 3, vec![1.0, 0.0, -2.5, 0.0, 0.5, 3.0]).expect("finite values");
    assert!(!matches!(dense.clone().with_features(5).storage(), Storage::Sparse(_)), "few columns more");
    let wide = dense.clone().with_features(1 << 27);
    assert_eq!((wide.len(), wide.features(), wide.non_zeros()), (2, 1 << 27, 4));
    assert!(wide.bytes() < 1000, "{} bytes", wide.bytes());
    assert_eq!(wide.row(1).entries(), dense.row(1).entries());
    assert_eq!(wide.with_features(3).row(0).entries(), dense.row(0).entries());
}

#[test]
fn putting_rows_in_order_asks_between_stretches_whether_it_is_still_wanted() {
    let (n, d) = (4_000, 600);
    let values: Vec<f64> = (0..n * d).map(|at| (at as f64).sin()).collect();
    let singles = values.iter().map(|v| f64::from(*v as f32)).collect();
    let offsets: Vec<usize> = (0..=n).map(|i| i * d).collect();
    let indices: Vec<u32> = (0..n * d).map(|at| (at % d) as u32).collect();
    let lists = Samples::from_sparse(d, offsets, indices, values.clone()).expect("rows");
    let order: Vec<usize> = (0..n).rev().collect();
    for samples in [Samples::from_dense(n, d, values), Samples::from_dense(n, d, singles), Ok(lists)] {
        let samples = samples.expect("finite values");
        let mut asked = 0;
        let observer = |_: &Progress| {
            asked += 1;
            if asked < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        assert_eq!(samples.try_select(&order, &RunControl::new(observer)), Err(Cancelled));
        assert_eq!(asked, 2);
        let selected = samples.try_select(&order, &RunControl::unlimited()).expect("nobody calls it off");
        assert!(selected == samples.select(&order) && selected.select(&order) == samples);
    }
}
