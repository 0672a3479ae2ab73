//! Permutation importance beside the same permutations predicted by separate trainings.

use crate::quantiles::waves;
use maxmargin::cv::{FoldPlan, Importance, ImportanceOptions};
use maxmargin::data::{Dataset, Par, RunControl, Samples};
use maxmargin::kernel::Kernel;
use maxmargin::metrics::{MEAN_SQUARED_ERROR, ROC_AUC};
use maxmargin::{Error, Svm};

fn importance(svm: &Svm, data: &Dataset, plan: &FoldPlan, options: &ImportanceOptions) -> Importance {
    let found = svm.cross_validate_with_importance(data, plan, options, &RunControl::unlimited()).expect("folds");
    assert_eq!(found.0.scores, svm.cross_validate(data, plan).expect("folds").scores);
    found.1.expect("all folds have a solution")
}

/// Two features that matter and two that are noise.
fn classes(rows: usize) -> Dataset {
    // Products with these primes spread values over -1 to 1.
    let value = |i: usize, j: usize| ((i * 7919 + 13) * [31, 101, 439, 761][j] % 1009) as f64 / 504.5 - 1.0;
    let x: Vec<[f64; 4]> = (0..rows).map(|i| [0, 1, 2, 3].map(|j| value(i, j))).collect();
    let y: Vec<f64> = x.iter().map(|x| if x[0] + 0.5 * x[1] > 0.0 { 1.0 } else { -1.0 }).collect();
    Dataset::from_rows(&x, &y).expect("data")
}

#[test]
fn features_that_matter_are_important() {
    let data = classes(200);
    let plan = FoldPlan::stratified(&data.labels, 5, 1).expect("folds");
    for svm in [Svm::c_svc(1.0).kernel(Kernel::rbf(0.3)), Svm::c_svc(1.0)] {
        let found = importance(&svm, &data, &plan, &ImportanceOptions::default());
        assert_eq!((found.metric, found.columns.len(), found.repeats), ("accuracy", 4, 5));
        let means: Vec<f64> = found.columns.iter().map(|column| column.mean).collect();
        assert!(means[0] > means[1] && means[1] > 0.03 && means[2].abs() < 0.03 && means[3].abs() < 0.03, "{means:?}");
        assert!(found.columns[0].deviation > 0.0);
        // The same bits for any threads, other ones for another seed.
        let both = importance(&svm.clone().threads(Par::Pool), &data, &plan, &ImportanceOptions::default());
        assert_eq!(both, found);
        let other = ImportanceOptions { seed: 2, ..ImportanceOptions::default() };
        assert_ne!(importance(&svm, &data, &plan, &other).columns, found.columns);
        let ranked = ImportanceOptions { metric: Some(&ROC_AUC), ..ImportanceOptions::default() };
        assert!(importance(&svm, &data, &plan, &ranked).columns[0].mean > 0.1);
    }
}

/// With leave-one-out every fold predicts one row, whose column comes from any row.
#[test]
fn all_features_together_leave_nothing() {
    let data = waves(60, 4);
    let svm = Svm::epsilon_svr(4.0, 0.1).kernel(Kernel::rbf(0.5));
    let plan = FoldPlan::leave_one_out(60).expect("folds");
    let together = ImportanceOptions { columns: Some(vec![0, 0]), repeats: 20, ..ImportanceOptions::default() };
    let found = importance(&svm, &data, &plan, &together);
    assert_eq!((found.metric, found.columns.len()), (MEAN_SQUARED_ERROR.name(), 1));
    // Predictions of other rows are as good as predictions at random: the variance of targets, and
    // that of predictions.
    let mean = data.labels.iter().sum::<f64>() / 60.0;
    let variance = data.labels.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 60.0;
    let shuffled = found.score + found.columns[0].mean;
    assert!(shuffled > variance && shuffled < 3.0 * variance, "{shuffled} {variance}");
    // A constant column has no importance at all, in dense and in sparse samples.
    let mut wide = data.clone();
    let rows: Vec<f64> = (0..60)
        .flat_map(|i| {
            let mut row = vec![0.0, 0.0, 7.0];
            data.samples.row(i).for_each(|j, value| row[j] = value);
            row
        })
        .collect();
    wide.samples = Samples::from_dense(60, 3, rows).expect("rows");
    let found = importance(&svm, &wide, &FoldPlan::shuffled(60, 4, 1).expect("folds"), &ImportanceOptions::default());
    assert_eq!((found.columns[2].mean, found.columns[2].deviation), (0.0, 0.0));
}

#[test]
fn folds_without_a_class_and_columns_that_do_not_fit_are_refused() {
    let data = classes(40);
    let ask = |data: &Dataset, plan: &FoldPlan, options: &ImportanceOptions| {
        let svm = Svm::c_svc(1.0).kernel(Kernel::rbf(0.3));
        svm.cross_validate_with_importance(data, plan, options, &RunControl::unlimited()).expect_err("refused")
    };
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    let short = ImportanceOptions { columns: Some(vec![0]), ..ImportanceOptions::default() };
    assert!(matches!(ask(&data, &plan, &short), Error::Importance(_)));
    let matrix = Svm::c_svc(1.0).kernel(Kernel::Precomputed);
    let options = ImportanceOptions::default();
    let refused = matrix.cross_validate_with_importance(&data, &plan, &options, &RunControl::unlimited());
    assert!(refused.expect_err("no columns").to_string().contains("a precomputed kernel has no columns"));
    let mut lone = data.clone();
    lone.labels = vec![1.0; 40];
    lone.labels[0] = -1.0;
    let text = ask(&lone, &FoldPlan::shuffled(40, 4, 1).expect("folds"), &ImportanceOptions::default()).to_string();
    assert!(text.contains("trains on no row of a class"), "{text}");
}
