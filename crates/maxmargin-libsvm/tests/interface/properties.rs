//! Properties of the C interface on data of any shape: the machine of the estimator, the same bits
//! after a file.

use crate::{Data, PRINTING, Parameter, freed, keep, parameter};
use maxmargin::Svm;
use maxmargin::data::{Dataset, Samples};
use maxmargin_testkit::{cases, strategies::any_problem};
use proptest::prelude::*;
use std::ffi::CString;
use svm::{
    SvmModel, svm_get_nr_sv, svm_get_sv_indices, svm_load_model, svm_predict, svm_predict_values, svm_save_model,
    svm_set_print_string_function, svm_train,
};

/// Rows of the interface: the entries of `samples`, features from 1.
fn rows_of(samples: &Samples, labels: &[f64]) -> Data {
    let entries = |i: usize| samples.row(i).entries().iter().map(|e| (e.0 as i32 + 1, e.1)).collect::<Vec<(i32, f64)>>();
    let rows: Vec<Vec<(i32, f64)>> = (0..samples.len()).map(entries).collect();
    Data::new(&labels.iter().copied().zip(rows.iter().map(Vec::as_slice)).collect::<Vec<_>>())
}

/// `y α` of every row, with the label of the first row positive.
fn coefficients(model: *const SvmModel, rows: usize) -> Vec<f64> {
    let mut beta = vec![0.0; rows];
    // SAFETY: a model of two classes of this library, with one column of coefficients.
    unsafe {
        let mut indices = vec![0; svm_get_nr_sv(model) as usize];
        svm_get_sv_indices(model, indices.as_mut_ptr());
        let column = *(*model).sv_coef;
        indices.iter().enumerate().for_each(|(at, &index)| beta[index as usize - 1] = *column.add(at));
    }
    beta
}

/// `½ βᵀKβ` with the Gaussian kernel of dense rows.
fn half_square(points: &[Vec<f64>], gamma: f64, beta: &[f64]) -> f64 {
    let square = |i: usize, j: usize| points[i].iter().zip(&points[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let n = points.len();
    (0..n * n).map(|at| 0.5 * beta[at / n] * beta[at % n] * (-gamma * square(at / n, at % n)).exp()).sum()
}

/// Decision values and labels of all rows.
fn predictions(model: *const SvmModel, data: &Data) -> Vec<(u64, u64)> {
    let of = |row: &Vec<svm::Node>| {
        let mut decision = [f64::NAN];
        // SAFETY: a model of two classes has one decision value; rows end with index −1.
        let label = unsafe { svm_predict_values(model, row.as_ptr(), decision.as_mut_ptr()) };
        // SAFETY: as above.
        assert_eq!(label.to_bits(), unsafe { svm_predict(model, row.as_ptr()) }.to_bits());
        (decision[0].to_bits(), label.to_bits())
    };
    data.nodes.iter().map(of).collect()
}

proptest! {
    #![proptest_config(cases(48))]

    /// α of the C interface is feasible. Its objective is within the tolerance of the estimator's
    /// certified optimum: the violation times the α that could move, and the estimator's own gap.
    /// A file keeps every bit of the predictions.
    #[test]
    fn the_interface_has_the_estimators_optimum(
        (samples, labels, _) in any_problem(), log_c in -2.0..3.0_f64, log_gamma in -2.0..1.0_f64, digits in 2_i32..7,
    ) {
        let (c, gamma, eps) = (10_f64.powf(log_c), 10_f64.powf(log_gamma), 10_f64.powi(-digits));
        let fitted = Svm::rbf(gamma).c(c).eps(1e-8).fit(&Dataset::from_samples(samples.clone(), &labels).expect("a label per row"));
        let certificate = fitted.expect("a training").certificate;
        prop_assert!(certificate.holds, "{:?}", certificate);
        let mut data = rows_of(&samples, &labels);
        let problem = data.problem();
        let turn = PRINTING.lock();
        // SAFETY: all pointers are to what svm.h says, and live.
        let model = unsafe {
            svm_set_print_string_function(Some(keep));
            let model = svm_train(&problem, &Parameter { gamma, eps, C: c, ..parameter() });
            svm_set_print_string_function(None);
            model
        };
        drop(turn);
        prop_assert!(!model.is_null());
        let beta = coefficients(model, labels.len());
        let alpha: Vec<f64> = beta.iter().zip(&labels).map(|(b, y)| b * y * labels[0]).collect();
        prop_assert!(alpha.iter().all(|a| (0.0..=c).contains(a)), "{:?}", alpha);
        let mass: f64 = alpha.iter().sum();
        prop_assert!(beta.iter().sum::<f64>().abs() <= 1e-12 * (c + mass));
        let dense: Vec<Vec<f64>> = (0..samples.len()).map(|i| {
            let mut row = vec![0.0; samples.features()];
            samples.row(i).entries().iter().for_each(|e| row[e.0] = e.1);
            row
        }).collect();
        let dual = mass - half_square(&dense, gamma, &beta);
        let rounding = 1e-12 * (1.0 + mass) * (1.0 + mass);
        let gap = certificate.primal - certificate.dual + eps * c * labels.len() as f64;
        prop_assert!(dual <= certificate.primal + rounding && dual >= certificate.primal - gap - rounding,
            "{} is not within {} of {}", dual, gap, certificate.primal);
        let folder = tempfile::tempdir().expect("a folder");
        let file = CString::new(folder.path().join("m").to_str().expect("a name")).expect("a name");
        // SAFETY: a model and a string of C.
        let again = unsafe {
            prop_assert_eq!(svm_save_model(file.as_ptr(), model), 0);
            svm_load_model(file.as_ptr())
        };
        prop_assert!(!again.is_null());
        prop_assert_eq!(predictions(again, &data), predictions(model, &data));
        freed(again);
        freed(model);
    }
}
