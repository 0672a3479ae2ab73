//! Leverage: how far the removal of a sample moves the decision values of the others, beside
//! trainings without it.

use maxmargin::prelude::*;

/// The root mean square change of the decision values of all other samples, by two trainings.
fn by_trainings(svm: &Svm, data: &Dataset, out: usize) -> f64 {
    let others: Vec<usize> = (0..data.labels.len()).filter(|&i| i != out).collect();
    let rest = data.select(&others);
    let decisions = |of: &Dataset| svm.fit(of).expect("a model").decision_values(&rest.samples).expect("decisions");
    let (before, after) = (decisions(data), decisions(&rest));
    let squares: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).powi(2)).sum();
    (squares / before.len() as f64).sqrt()
}

fn check(svm: &Svm, data: &Dataset) {
    let report = svm.leave_one_out(data).expect("a leave-one-out");
    let rows = data.labels.len();
    assert_eq!(report.leverage.len(), rows);
    let greatest = report.leverage.iter().copied().fold(0.0, f64::max);
    assert!(greatest > 0.0);
    for out in 0..rows {
        let expected = by_trainings(svm, data, out);
        assert!((report.leverage[out] - expected).abs() < 1e-4 * greatest, "row {out}: {} {expected}", report.leverage[out]);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let parallel = pool.install(|| svm.clone().threads(Par::Pool).leave_one_out(data)).expect("a leave-one-out");
    assert!(parallel.leverage == report.leverage, "the same bits for two threads");
}

#[test]
fn leverage_is_what_a_training_without_the_sample_moves() {
    let two = Generator::Banana.generate(60, None, 3).expect("data");
    check(&Svm::rbf(1.0).c(2.0).eps(1e-8), &two);
    let kernel = maxmargin::kernel::Kernel::rbf(0.5);
    check(&Svm::epsilon_svr(2.0, 0.3).kernel(kernel).eps(1e-8), &two);
}

/// Every machine of one class against the rest has all samples.
#[test]
fn leverage_is_the_mean_over_machines() {
    let mut data = Generator::Banana.generate(50, None, 1).expect("data");
    // Three classes that overlap.
    data.labels.iter_mut().enumerate().filter(|(i, _)| i % 3 == 0).for_each(|(_, label)| *label *= 2.0 * label.max(0.5));
    check(&Svm::rbf(1.5).c(2.0).eps(1e-8).one_vs_rest(), &data);
}

#[test]
fn folds_of_several_samples_have_no_leverage() {
    let data = Generator::Banana.generate(60, None, 3).expect("data");
    let plan = FoldPlan::stratified(&data.labels, 5, 1).expect("folds");
    assert!(Svm::rbf(1.0).cross_validate(&data, &plan).expect("a report").leverage.is_empty());
    // Trainings from zero have nothing to compare with.
    let cold = Svm::rbf(1.0).seeding(maxmargin::cv::Seeding::Cold).leave_one_out(&data).expect("a report");
    assert!(cold.leverage.iter().all(|of| of.is_nan() || *of == 0.0));
}
