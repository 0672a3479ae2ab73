//! Kernels that are mostly zero: the same machines, folds and searches as over whole rows. Real
//! data: `w4a`.

use maxmargin::core::Status;
use maxmargin::cv::verify;
use maxmargin::prelude::*;
use maxmargin_testkit::outside::dataset;

/// The problem at which 99.7 % of the values of `w8a` are below 10⁻¹⁴, on a part of it.
fn web() -> Option<(Dataset, Svm)> {
    Some((dataset("w4a")?, Svm::rbf(7.8125).c(64.0).gap(1e-5)))
}

/// Points of a plane, with a target that depends on them smoothly.
fn waves(rows: usize) -> Dataset {
    let mut data = Generator::TwoGaussians.generate(rows, None, 3).expect("data");
    for i in 0..rows {
        let mut at = [0.0; 2];
        data.samples.row(i).for_each(|k, value| at[k] = value);
        data.labels[i] = (3.0 * at[0]).sin() + (2.0 * at[1]).cos();
    }
    data
}

fn count(counts: &[(&'static str, u64)], name: &str) -> u64 {
    counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
}

#[test]
fn a_machine_is_that_of_whole_rows_and_is_verified() {
    let Some((data, svm)) = web() else { return };
    let ours = svm.fit(&data).expect("trained");
    let whole = svm.clone().shrinking(false).fit(&data).expect("trained");
    assert!(count(&ours.counts, "neighbours") > 0 && count(&whole.counts, "neighbours") == 0);
    assert!(ours.kernel.computed == 0 && whole.kernel.computed > 0, "{:?} {:?}", ours.kernel, whole.kernel);
    for fitted in [&ours, &whole] {
        assert!(fitted.status == Status::Converged && fitted.certificate.holds, "{:?}", fitted.certificate);
    }
    let (dual, other) = (ours.certificate.dual, whole.certificate.dual);
    assert!((dual - other).abs() <= 2e-5 * other, "{dual} and {other}");
    // Verification computes all values, and finds the same figures.
    let verdict = verify(&ours.model, &data, None, None, Par::Seq).expect("a verdict");
    assert!(verdict.matches() && verdict.met());
}

/// Folds are those of separate trainings: the same labels of held-out samples, no row computed, the
/// same bits for any threads.
#[test]
fn folds_and_values_of_c_visit_neighbours_alone() {
    let Some((data, svm)) = web() else { return };
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    let run = |svm: &Svm| svm.cross_validate(&data, &plan).expect("a report");
    let ours = run(&svm);
    assert!(ours.status() == Status::Converged && ours.folds.iter().all(|fold| fold.certificate.relative_gap <= 1e-5));
    let whole = run(&svm.clone().shrinking(false));
    let differ = ours.predicted.iter().zip(&whole.predicted).filter(|(a, b)| a != b).count();
    assert!(differ <= 2, "{differ} labels differ");
    assert!(ours.rows_computed <= 4 && whole.rows_computed > 1000, "{} and {}", ours.rows_computed, whole.rows_computed);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let other = pool.install(|| run(&svm.clone().threads(Par::Pool)));
    assert_eq!((ours.iterations, ours.decisions), (other.iterations, other.decisions));
}

#[test]
fn a_regression_and_one_class_are_those_of_whole_rows() {
    let data = waves(2300);
    for svm in [Svm::epsilon_svr(10.0, 0.05), Svm::one_class(0.2)] {
        let svm = svm.kernel(Kernel::rbf(400.0)).eps(1e-6);
        let [ours, whole] = [true, false].map(|shrinking| svm.clone().shrinking(shrinking).fit(&data).expect("trained"));
        assert!(count(&ours.counts, "neighbours") > 0, "{:?}", ours.counts);
        assert!(ours.certificate.holds && whole.certificate.holds, "{:?} {:?}", ours.certificate, whole.certificate);
        let (dual, other) = (ours.certificate.dual, whole.certificate.dual);
        let most = ours.certificate.relative_gap.max(whole.certificate.relative_gap) + 1e-9;
        assert!((dual - other).abs() <= most * other.abs(), "{dual} and {other}");
    }
}
