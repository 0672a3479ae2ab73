//! Properties of trainings on data of any shape: certified, the same machine however rows and
//! classes are written, and the same bits on any number of threads and after a file.

use crate::quantiles::waves;
use maxmargin::core::{Goal, Status};
use maxmargin::cv::{FoldPlan, Seeding, verify};
use maxmargin::data::{Dataset, Generator, Par, Samples};
use maxmargin::kernel::Kernel;
use maxmargin::model::{decode, encode};
use maxmargin::{Fitted, Svm, libsvm};
use maxmargin_testkit::{cases, strategies::any_problem};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Three threads, for as long as the tests run.
static POOL: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool"));

fn fit(svm: &Svm, data: &Dataset) -> Result<Fitted, TestCaseError> {
    let fitted = svm.fit(data).expect("a training");
    prop_assert_eq!(fitted.status, Status::Converged, "{:?}", fitted.certificate);
    prop_assert!(fitted.certificate.holds, "{:?}", fitted.certificate);
    Ok(fitted)
}

fn dataset(samples: &Samples, labels: &[f64]) -> Dataset {
    Dataset::from_samples(samples.clone(), labels).expect("a label per row")
}

/// Returns `√(2 gap)`, the distance of `w` from the optimal one at most.
fn distance(fitted: &Fitted) -> f64 {
    let certificate = fitted.certificate;
    let rounding = certificate.rounding.expect("finite") * certificate.primal.abs();
    (2.0 * ((certificate.primal - certificate.dual).max(0.0) + rounding)).sqrt()
}

/// Asserts that the first machines of two models are one, up to the factor `sign`, by their
/// decision values without bias. With a kernel of at most 1 they differ by at most `‖w − w'‖`, and
/// by rounding: of 64-bit sums over at most 40 terms.
fn assert_one_machine(a: &Fitted, b: &Fitted, sign: f64, queries: &Samples) -> Result<(), TestCaseError> {
    let values = |fitted: &Fitted| -> Vec<f64> {
        let bias = fitted.model.machines()[0].bias;
        let decided = fitted.model.decision_values(queries, Par::Seq).expect("decisions");
        decided.iter().map(|d| d - bias).collect()
    };
    let mass = |fitted: &Fitted| fitted.model.machines()[0].coef.iter().map(|c| c.abs()).sum::<f64>();
    let allowed = distance(a) + distance(b) + 1e-12 * (1.0 + mass(a) + mass(b));
    for (a, b) in values(a).into_iter().zip(values(b)) {
        prop_assert!((a - sign * b).abs() <= allowed, "{a} and {b} are more than {allowed} apart");
    }
    Ok(())
}

/// The formulations of two classes, of values and of no target.
fn formulations(c: f64) -> [Svm; 6] {
    [
        Svm::c_svc(c),
        Svm::epsilon_svr(c, 0.1),
        Svm::nu_svr(c, 0.3),
        Svm::quantile(c, 0.7),
        Svm::expectile(c, 0.7),
        Svm::one_class(0.3),
    ]
}

proptest! {
    #![proptest_config(cases(32))]

    /// Models keep their bits and their predictions in a file, and verification finds them right.
    #[test]
    fn certified_models_go_through_a_file(
        rows in 8_usize..60, seed in 0_u64..1000, log_c in -1.0..2.0_f64, kind in 0_usize..6, digits in 2_i32..6,
    ) {
        let classes = Generator::Banana.generate(rows, None, seed).expect("data");
        let data = if kind == 0 { classes } else { waves(rows, seed) };
        let tol = 10_f64.powi(-digits);
        let svm = formulations(10_f64.powf(log_c))[kind].clone().kernel(Kernel::rbf(0.5)).eps(tol);
        let fitted = fit(&svm, &data)?;
        prop_assert!(fitted.certificate.kkt <= tol);
        let bytes = encode(&fitted.model).expect("bytes");
        let model = decode(&bytes).expect("a model");
        prop_assert_eq!(&encode(&model).expect("bytes"), &bytes);
        let values = |model: &maxmargin::model::Model| model.decision_values(&data.samples, Par::Seq).expect("decisions");
        prop_assert_eq!(values(&model), values(&fitted.model));
        let verdict = verify(&model, &data, None, Some(Goal::Kkt(tol)), Par::Seq).expect("a verdict");
        prop_assert!(verdict.matches() && verdict.met(), "{:?}", verdict.checks);
    }

    /// The order of rows changes nothing beyond the gaps. Other names of the classes in the same
    /// order change no bit, and in the other order only the sign.
    #[test]
    fn order_and_names_do_not_matter(
        (samples, labels, _) in any_problem(), log_c in -2.0..3.0_f64, log_gamma in -2.0..1.0_f64, seed in any::<u64>(),
    ) {
        let svm = Svm::rbf(10_f64.powf(log_gamma)).c(10_f64.powf(log_c)).eps(1e-6);
        let plain = fit(&svm, &dataset(&samples, &labels))?;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&k| (k as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let permuted = fit(&svm, &dataset(&samples, &labels).select(&order))?;
        assert_one_machine(&plain, &permuted, 1.0, &samples)?;
        let renamed = |low: f64, high: f64| -> Vec<f64> { labels.iter().map(|y| if *y < 0.0 { low } else { high }).collect() };
        let same = fit(&svm, &dataset(&samples, &renamed(3.0, 7.0)))?;
        prop_assert_eq!(&same.model.machines()[0].coef, &plain.model.machines()[0].coef);
        prop_assert_eq!(same.model.machines()[0].bias.to_bits(), plain.model.machines()[0].bias.to_bits());
        let swapped = fit(&svm, &dataset(&samples, &renamed(7.0, 3.0)))?;
        assert_one_machine(&plain, &swapped, -1.0, &samples)?;
    }

    /// Threads change no bit of a model or of a cross-validation.
    #[test]
    fn threads_change_no_bit(rows in 12_usize..80, seed in 0_u64..1000, log_c in -1.0..2.0_f64) {
        let mut data = Generator::Banana.generate(rows, None, seed).expect("data");
        data.labels.iter_mut().step_by(3).for_each(|label| *label = 5.0);
        let plan = FoldPlan::shuffled(rows, 3, seed).expect("folds");
        let svm = Svm::rbf(0.5).c(10_f64.powf(log_c));
        let of = |svm: Svm| {
            let report = svm.cross_validate(&data, &plan).expect("a cross-validation");
            let objectives: Vec<u64> = report.folds.iter().map(|fold| fold.objective.to_bits()).collect();
            (fit(&svm, &data).map(|fitted| fitted.model.machines().to_vec()), report.decisions, objectives)
        };
        let (alone, together) = (of(svm.clone().threads(Par::Seq)), POOL.install(|| of(svm.threads(Par::Pool))));
        prop_assert_eq!(alone.0?, together.0?);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        prop_assert_eq!(bits(&alone.1), bits(&together.1));
        prop_assert_eq!(alone.2, together.2);
    }

    /// Every seeding ends within the gap of a cold start, fold by fold, with a certificate.
    #[test]
    fn seeds_change_no_result(
        rows in 12_usize..70, seed in 0_u64..1000, log_c in -1.0..3.0_f64, log_gamma in -2.0..3.0_f64, k in 2_usize..6,
    ) {
        let data = Generator::Banana.generate(rows, None, seed).expect("data");
        let plan = FoldPlan::shuffled(rows, k, seed).expect("folds");
        let svm = Svm::rbf(10_f64.powf(log_gamma)).c(10_f64.powf(log_c)).eps(1e-4);
        let of = |seeding| svm.clone().seeding(seeding).cross_validate(&data, &plan).expect("a cross-validation");
        let cold = of(Seeding::Cold);
        for (name, seeding) in Seeding::ALL {
            for (a, b) in cold.folds.iter().zip(&of(seeding).folds) {
                let (a, b) = (a.certificate, b.certificate);
                prop_assert!(a.holds && b.holds, "{}: {:?} {:?}", name, a, b);
                let slack = 1e-12 * (1.0 + a.primal.abs());
                prop_assert!(a.dual <= b.primal + slack && b.dual <= a.primal + slack, "{}: {:?} {:?}", name, a, b);
            }
        }
    }

    /// LIBSVM's behaviour (`libsvm::train`) and the estimator have one machine, and so has LIBSVM's
    /// text.
    #[test]
    fn libsvms_text_is_the_estimators_machine(
        (samples, labels, _) in any_problem(), log_c in -2.0..3.0_f64, log_gamma in -2.0..1.0_f64,
    ) {
        let (c, gamma) = (10_f64.powf(log_c), 10_f64.powf(log_gamma));
        let data = dataset(&samples, &labels);
        let fitted = fit(&Svm::rbf(gamma).c(c).eps(1e-6), &data)?;
        let parameters = libsvm::Parameters { gamma, c, eps: 1e-6, ..libsvm::Parameters::default() };
        let problem = libsvm::LibsvmProblem::new(data, &parameters).expect("a problem");
        let trained = libsvm::train(&problem, &parameters, &libsvm::LibsvmRun::default()).expect("a training");
        let certificate = trained.certificate.expect("two classes");
        prop_assert!(certificate.holds && certificate.dual <= fitted.certificate.primal * (1.0 + 1e-12) + 1e-12);
        prop_assert!(fitted.certificate.dual <= certificate.primal * (1.0 + 1e-12) + 1e-12);
        let mut text = Vec::new();
        trained.learned.write(&mut text).expect("room");
        let again = libsvm::TrainedModel::read(&text).expect("a model");
        let labels = |model: &libsvm::TrainedModel| model.predict(&samples, Par::Seq).expect("labels");
        prop_assert_eq!(labels(&again), labels(&trained.learned));
    }
}
