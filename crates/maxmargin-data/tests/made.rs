//! All constructors and formats give the same samples.

use maxmargin_data::samples::ArrayForm;
use maxmargin_data::{Cancelled, DataError, Dataset, Par, ReadOptions, RunControl, Samples, SamplesError, libsvm};
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use proptest::prelude::*;
use sprs::{CsMat, CsMatI, TriMat};

fn same_from_everywhere(rows: &[Vec<f64>], labels: &[f64]) {
    let (n, d) = (rows.len(), rows[0].len());
    let expected = Samples::from_rows(rows).expect("finite rows").compact();
    let flat = rows.concat();
    let same = |made: Result<Samples, SamplesError>, what: &str| {
        assert_eq!(made.expect("finite values").compact(), expected, "{what}");
    };
    same(Samples::from_dense(n, d, flat.clone()), "dense");
    same(Samples::from_slice(&flat, n, d), "slice");
    same(Samples::from_rows(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()), "slices");
    let smallest = Samples::from_array(&flat, n, d, ArrayForm::Smallest, &RunControl::unlimited());
    assert_eq!(smallest.as_ref(), Ok(&expected), "the smallest form at once");

    let array = ArrayView2::from_shape((n, d), &flat).expect("a shape");
    same(Samples::from_ndarray(array), "ndarray");
    let columns = array.t().as_standard_layout().into_owned();
    same(Samples::from_ndarray(columns.t()), "ndarray, columns first");
    // Every second row and column of a larger matrix, with both orders reversed.
    let mut wide = Array2::from_elem((2 * n + 1, 2 * d + 1), 7.0);
    wide.slice_mut(s![1..;2, 1..;2]).assign(&array.slice(s![..;-1, ..;-1]));
    same(Samples::from_ndarray(wide.slice(s![1..;2, 1..;2]).slice(s![..;-1, ..;-1])), "ndarray, strides of both signs");

    let matrix = faer::Mat::from_fn(n, d, |i, j| rows[i][j]);
    same(Samples::from_faer(matrix.as_ref()), "faer");
    let turned = matrix.transpose().to_owned();
    same(Samples::from_faer(turned.transpose()), "faer, rows first");
    let reversed = faer::Mat::from_fn(n, d, |i, j| rows[n - 1 - i][j]);
    same(Samples::from_faer(reversed.reverse_rows()), "faer, upside down");

    let mut triplets = TriMat::new((n, d));
    rows.iter().enumerate().for_each(|(i, row)| row.iter().enumerate().for_each(|(j, &v)| triplets.add_triplet(i, j, v)));
    let (csr, csc): (CsMat<f64>, CsMat<f64>) = (triplets.to_csr(), triplets.to_csc());
    same(Samples::from_csr(csr.view()), "compressed rows with zeros");
    same(Samples::from_csr(csc.view()), "compressed columns with zeros");
    let stored = Samples::from_csr(csr.view()).expect("finite values");
    assert_eq!(stored.row(0).entries().len(), rows[0].iter().filter(|v| **v != 0.0).count());
    let narrow: CsMatI<f64, u16> = csr.to_other_types();
    same(Samples::from_csr(narrow.view()), "indices of 16 bits");
    // A part of a larger matrix: its offsets do not begin with 0.
    let twice = sprs::vstack(&[csr.view(), csr.view()]);
    same(Samples::from_csr(twice.slice_outer(n..2 * n)), "a slice");

    let data = Dataset::from_rows(rows, labels).expect("labels");
    assert_eq!(Dataset::from_ndarray(array, ArrayView1::from(labels)).expect("labels"), data);
    assert_eq!(Dataset::from_samples(expected.clone(), labels).expect("labels"), data);
    let mut text = Vec::new();
    libsvm::write(&data, &mut text).expect("memory");
    let read = libsvm::parse(&text, &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("our own text");
    // Text cannot represent columns of zeros at the end.
    assert_eq!((read.samples.with_features(d).compact(), read.labels), (expected, data.labels));
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![4 => Just(0.0), 2 => (-9..9).prop_map(f64::from), 1 => (-1e6..1e6).prop_map(|v| f64::from(v as f32)), 1 => -1e3..1e3]
}

fn matrices() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    (1_usize..8, 1_usize..12).prop_flat_map(|(n, d)| {
        let row = prop::collection::vec(numbers(), d);
        (prop::collection::vec(row, n), prop::collection::vec((-3..3).prop_map(f64::from), n))
    })
}

proptest! {
    #[test]
    fn every_road_leads_to_the_same_samples((rows, labels) in matrices()) {
        same_from_everywhere(&rows, &labels);
    }

    #[test]
    fn single_precision_is_taken_as_it_is((rows, _) in matrices()) {
        let single: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| f64::from(*v as f32)).collect()).collect();
        let array = Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j] as f32);
        prop_assert_eq!(Samples::from_ndarray(array.view()), Samples::from_rows(&single));
        let (flat, (n, d)) = (array.as_slice().expect("one piece"), array.dim());
        prop_assert_eq!(Samples::from_array(flat, n, d, ArrayForm::Dense, &RunControl::unlimited()), Samples::from_rows(&single));
    }

    #[test]
    fn values_that_are_not_finite_are_named((mut rows, labels) in matrices(), at in any::<(prop::sample::Index, prop::sample::Index)>()) {
        let (n, d) = (rows.len(), rows[0].len());
        let (row, feature) = (at.0.index(n), at.1.index(d));
        rows[row][feature] = f64::NEG_INFINITY;
        let refused = SamplesError::NotFinite { row, feature, value: f64::NEG_INFINITY };
        let array = Array2::from_shape_fn((n, d), |(i, j)| rows[i][j]);
        let matrix = faer::Mat::from_fn(n, d, |i, j| rows[i][j]);
        let sparse = CsMat::csr_from_dense(array.view(), 0.0);
        for made in [
            Samples::from_rows(&rows),
            Samples::from_slice(&rows.concat(), n, d),
            Samples::from_ndarray(array.view()),
            Samples::from_faer(matrix.as_ref()),
            Samples::from_csr(sparse.view()),
            Samples::from_csr(sparse.to_csc().view()),
        ] {
            prop_assert_eq!(made, Err(refused.clone()));
        }
        prop_assert_eq!(Dataset::from_rows(&rows, &labels), Err(DataError::Samples(refused)));
    }

    #[test]
    fn the_first_row_of_another_length_is_named((mut rows, labels) in matrices(), at in any::<prop::sample::Index>(), longer: bool) {
        prop_assume!(rows.len() > 1);
        let (row, expected) = (1 + at.index(rows.len() - 1), rows[0].len());
        if longer { rows[row].push(1.0) } else { rows[row].pop().map_or((), |_| ()) }
        let refused = SamplesError::Ragged { row, found: rows[row].len(), expected };
        prop_assert_eq!(Samples::from_rows(&rows), Err(refused.clone()));
        prop_assert_eq!(Dataset::from_rows(&rows, &labels), Err(DataError::Samples(refused)));
    }

    #[test]
    fn selected_rows_keep_labels_and_groups((rows, labels) in matrices(), order in prop::collection::vec(any::<prop::sample::Index>(), 0..9)) {
        let mut data = Dataset::from_rows(&rows, &labels).expect("labels");
        data.sha256 = [1; 32];
        data.groups = Some((0..rows.len() as u64).collect());
        let order: Vec<usize> = order.iter().map(|at| at.index(rows.len())).collect();
        let part = data.select(&order);
        prop_assert_eq!(&part.samples, &data.samples.select(&order));
        prop_assert_eq!(part.labels, order.iter().map(|&i| labels[i]).collect::<Vec<_>>());
        prop_assert_eq!(part.groups, Some(order.iter().map(|&i| i as u64).collect()));
        prop_assert_eq!(part.sha256, [0; 32]);
    }
}

#[test]
fn labels_are_checked() {
    let rows = [[1.0], [2.0]];
    let error = Dataset::from_rows(&rows, &[1.0]).expect_err("a label is missing");
    assert_eq!(error.to_string(), "1 labels for 2 rows: give one label for each row");
    let error = Dataset::from_rows(&rows, &[1.0, f64::NAN]).expect_err("no number");
    assert_eq!(error.to_string(), "the label of row 1 is NaN: labels are finite numbers");
}

/// Rows of 40 values, of which one in `every` is not 0.
fn array(rows: usize, every: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..40 * rows).map(|at| if (at * at) % every == 1 { value(at) } else { [0.0, -0.0][at % 2] }).collect()
}

#[test]
fn an_array_is_stored_in_the_smallest_form() {
    let unlimited = RunControl::unlimited();
    for rows in [0, 1, 3000] {
        for every in [3, 17, 101] {
            for value in [|at| at as f64, |at| 0.1 + at as f64] {
                let flat = array(rows, every, value);
                let made = Samples::from_array(&flat, rows, 40, ArrayForm::Smallest, &unlimited);
                assert_eq!(made, Samples::from_dense(rows, 40, flat).map(Samples::compact), "{rows} rows, {every}");
            }
        }
    }
}

#[test]
fn an_array_names_its_first_value_that_is_not_finite_and_stops_when_it_is_cancelled() {
    let mut flat = array(5000, 7, |at| at as f64);
    (flat[150_003], flat[150_004]) = (f64::INFINITY, f64::NAN);
    for form in [ArrayForm::Dense, ArrayForm::Smallest] {
        let refused = SamplesError::NotFinite { row: 3750, feature: 3, value: f64::INFINITY };
        assert_eq!(Samples::from_array(&flat, 5000, 40, form, &RunControl::unlimited()), Err(refused));
        let stopped = RunControl::new(|_| std::ops::ControlFlow::Break(()));
        let huge = vec![1.0_f32; 1 << 25];
        assert_eq!(Samples::from_array(&huge, 1 << 15, 1 << 10, form, &stopped), Err(SamplesError::Cancelled(Cancelled)));
    }
}

#[test]
fn nothing_is_a_matrix_too() {
    assert_eq!(Samples::from_rows::<Vec<f64>>(&[]), Samples::from_dense(0, 0, vec![]));
    assert_eq!(Samples::from_rows(&[[0.0; 0]; 3]), Samples::from_dense(3, 0, vec![]));
    assert_eq!(Samples::from_slice(&[1.0], usize::MAX, 2), Err(SamplesError::Shape { values: 1, rows: usize::MAX, features: 2 }));
}

#[test]
fn columns_beyond_32_bits_are_refused() {
    let far = 1_usize << 32;
    let matrix = CsMat::new((1, far + 1), vec![0, 1], vec![far], vec![1.0]);
    let error = Samples::from_csr(matrix.view()).expect_err("no u32");
    assert!(error.to_string().contains("column 4294967296 of row 0"), "{error}");
}
