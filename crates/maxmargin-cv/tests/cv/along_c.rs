//! Values of C one after the other: what is kept between them changes no result.

use crate::common::{Case, certified, leaked, same_optima, threads};
use maxmargin_core::{BiasTerm, Formulation, Loss, Status};
use maxmargin_cv::{CvReport, Seeding, Study, TrainOptions};
use maxmargin_data::{Generator, Par, RunControl};

const VALUES: [f64; 4] = [0.3, 0.6, 1.2, 4.8];

/// Classes that overlap, in enough rows for sums of bounded samples to be kept.
fn overlapping(c: f64) -> Case {
    Case::generated(Generator::TwoGaussians, 2100, 3, 0.2, c, 7).at(1e-4)
}

fn along(study: &Study, case: &Case) -> Vec<CvReport> {
    study.cross_validate_along(&VALUES, &case.plan, Seeding::Full, &RunControl::unlimited()).expect("reports")
}

/// Cross-validations with kept sums of bounded samples have the optima of those without, from fewer
/// kernel rows, and the same bits for any number of threads; with one weight of both classes and
/// with two.
#[test]
fn kept_sums_of_bounded_samples_change_no_optimum() {
    for weights in [[1.0, 1.0], [1.0, 0.3]] {
        let of = |c: f64| Case { weights: weights.to_vec(), ..overlapping(c) };
        let case = of(1.0);
        let reports = along(&case.study(Par::Seq), &case);
        let shared = threads(3).install(|| along(&case.study(Par::Pool), &case));
        for ((report, shared), c) in reports.iter().zip(&shared).zip(VALUES) {
            let (own, what) = (of(c), format!("C = {c}, weights {weights:?}"));
            let alone = own.run(Seeding::Full);
            certified(&own, report, &what);
            same_optima(report, &alone, &what);
            assert!(3 * report.seed_steps < 2 * alone.seed_steps, "{what}: {} of {}", report.seed_steps, alone.seed_steps);
            assert_eq!((report.total_iterations, &report.decisions), (shared.total_iterations, &shared.decisions), "{what}");
        }
    }
}

/// The same of regressions, whose samples have a bound on either side.
#[test]
fn kept_sums_change_no_optimum_of_a_regression() {
    let case = overlapping(1.0);
    let options = leaked(TrainOptions { kernel: case.kernel.clone(), par: Par::Seq, ..TrainOptions::default() });
    let study = |c: f64| Study {
        formulation: Formulation::Svr { c, epsilon: 0.1, loss: Loss::Hinge, bias_term: BiasTerm::Free },
        stop: case.stop,
        memory: case.memory,
        ..Study::new(&case.data, None, options, &[], &*case.solver)
    };
    for (report, c) in along(&study(1.0), &case).iter().zip(VALUES) {
        let alone = study(c).cross_validate(&case.plan, Seeding::Full, &RunControl::unlimited()).expect("a report");
        assert_eq!(report.status(), Status::Converged);
        assert!(report.folds.iter().all(|fold| fold.certificate.holds && fold.certificate.kkt <= 1e-4), "C = {c}");
        same_optima(report, &alone, &format!("C = {c}"));
        assert!(3 * report.seed_steps < 2 * alone.seed_steps, "C = {c}: {} of {}", report.seed_steps, alone.seed_steps);
    }
}
