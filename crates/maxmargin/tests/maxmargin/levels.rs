//! Several quantiles or expectiles in one model, beside models of one level each.

use crate::quantiles::{fit, waves};
use maxmargin::conformal::Level;
use maxmargin::core::{Formulation, Status, levels};
use maxmargin::cv::{Conformal, FoldPlan, verify};
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::Kernel;
use maxmargin::metrics::{LevelScores, Purpose};
use maxmargin::model::{self, libsvm};
use maxmargin::{Error, Fitted, Svm};

const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// An estimator of several levels, and that of one of them.
type Estimators = (Svm, fn(f64) -> Svm);

fn estimators() -> [Estimators; 2] {
    let kernel = || Kernel::rbf(0.5);
    let several = [Svm::quantiles(4.0, &LEVELS), Svm::expectiles(4.0, &LEVELS)];
    let [quantiles, expectiles] = several.map(|svm| svm.kernel(kernel()).eps(1e-7));
    [
        (quantiles, |tau| Svm::quantile(4.0, tau).kernel(Kernel::rbf(0.5)).eps(1e-7)),
        (expectiles, |tau| Svm::expectile(4.0, tau).kernel(Kernel::rbf(0.5)).eps(1e-7)),
    ]
}

#[test]
fn every_level_is_the_machine_of_that_level() {
    let (data, new) = (waves(90, 3), waves(40, 9));
    for (svm, alone) in estimators() {
        let fitted = fit(&svm, &data);
        assert_eq!(fitted.model.levels(), LEVELS);
        let decisions = fitted.decision_values(&new.samples).expect("values");
        for (at, &tau) in LEVELS.iter().enumerate() {
            let own = fit(&alone(tau), &data).predict(&new.samples).expect("values");
            let of_level = decisions.chunks_exact(LEVELS.len()).map(|row| row[at]);
            let far = of_level.zip(&own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-4, "level {tau}: {far}");
        }
        // A label is the rearranged value of the central level.
        let labels = fitted.predict(&new.samples).expect("labels");
        let rows = decisions.chunks_exact(LEVELS.len());
        assert!(labels.iter().zip(rows).all(|(label, row)| *label == levels::rearranged(row)[2]));
    }
}

/// Machines share kernel rows, and each starts from the last one.
#[test]
fn several_levels_cost_less_than_one_after_the_other() {
    let data = waves(400, 4);
    for (svm, alone) in estimators() {
        let (svm, alone) = (svm.eps(1e-3), |tau| alone(tau).eps(1e-3));
        let together = fit(&svm, &data);
        let apart: Vec<_> = LEVELS.iter().map(|&tau| fit(&alone(tau), &data)).collect();
        let rows: u64 = apart.iter().map(|one| one.kernel.computed).sum();
        assert!(together.kernel.computed <= 400 && rows > 2 * together.kernel.computed, "{} of {rows}", together.kernel.computed);
        let iterations: u64 = apart.iter().map(|one| one.iterations).sum();
        assert!(together.iterations < iterations, "{} of {iterations}", together.iterations);
        if matches!(svm.formulation(), Formulation::Quantile { .. }) {
            // Samples between two quantiles change sides.
            assert!(4 * together.iterations < 3 * iterations, "{} of {iterations}", together.iterations);
        }
    }
}

#[test]
fn folds_score_all_levels() {
    let data = waves(120, 5);
    let plan = FoldPlan::shuffled(120, 4, 1).expect("folds");
    for (svm, alone) in estimators() {
        let report = svm.cross_validate(&data, &plan).expect("folds");
        assert_eq!((report.status(), report.machines), (Status::Converged, LEVELS.len()));
        let losses = LEVELS.map(|tau| alone(tau).cross_validate(&data, &plan).expect("folds").scores[0].1);
        let found = LevelScores::of(Purpose::from(svm.formulation()), &LEVELS, &data.labels, &report.decisions);
        // Sorting the values of a row makes no loss greater by more than the tolerance.
        assert!((found.mean_loss() - report.scores[0].1).abs() < 1e-12);
        assert!(report.scores[0].1 <= losses.iter().sum::<f64>() / 5.0 + 1e-4, "{losses:?} {:?}", report.scores[0]);
        assert_eq!(found.rows, 120);
    }
}

#[test]
fn a_model_of_several_levels_is_kept_verified_and_alike_for_any_threads() {
    let data = waves(100, 6);
    let svm = &estimators()[0].0;
    let fitted = fit(svm, &data);
    let bytes = model::encode(&fitted.model).expect("a file");
    assert_eq!(model::decode(&bytes).expect("a model"), fitted.model);
    let both = fit(&svm.clone().threads(Par::Pool), &data);
    assert_eq!(model::encode(&both.model).expect("a file"), bytes);
    let verdict = verify(&fitted.model, &data, None, None, Par::Seq).expect("a verdict");
    assert!(verdict.matches(), "{:?}", verdict.checks);
    assert_eq!(verdict.machines.len(), LEVELS.len());
    let text = libsvm::write_model(&fitted.model, &mut Vec::new()).expect_err("one machine").to_string();
    assert!(text.contains("several quantiles or expectiles"), "{text}");
    // A record of another level than the central one is refused.
    let mut parts = fitted.model.clone().into_parts();
    parts.record.as_mut().expect("a record").formulation = Formulation::quantile(4.0, 0.25);
    assert!(model::Model::new(parts).is_err());
}

#[test]
fn intervals_are_those_of_one_level() {
    let data: Dataset = waves(90, 7);
    let level = Level::new(0.2).expect("a level");
    let conformal = |svm: Svm| svm.eps(1e-9).conformal(0.2).expect("a level");
    let several = fit(&conformal(estimators()[0].0.clone()), &data);
    let one = fit(&conformal(Svm::quantile(4.0, 0.5).kernel(Kernel::rbf(0.5))), &data);
    let kept = |fitted: &Fitted| Conformal::of(&fitted.model).expect("sound").expect("scores");
    assert_eq!(kept(&several).method(&several.model), "conformalised quantiles");
    let intervals =
        |fitted: &Fitted| kept(fitted).intervals(&fitted.model, &data.samples, level, None, Par::Seq).expect("intervals");
    for (a, b) in intervals(&several).iter().zip(intervals(&one)) {
        assert!((a.lower - b.lower).abs() < 1e-6 && (a.upper - b.upper).abs() < 1e-6, "{a:?} {b:?}");
    }
}

#[test]
fn levels_that_are_none_are_refused() {
    let data = waves(20, 1);
    for levels in [&[0.5, 0.5][..], &[0.1, 1.0], &[f64::NAN, 0.5]] {
        let refused = Svm::quantiles(1.0, levels).fit(&data);
        assert!(matches!(refused, Err(Error::Levels(_) | Error::Data(_))), "{levels:?}: {refused:?}");
    }
    assert!(Svm::quantiles(1.0, &[]).fit(&data).is_err());
    // A single level is a quantile as any other.
    assert!(fit(&Svm::quantiles(1.0, &[0.3]), &data).model.levels().is_empty());
}
