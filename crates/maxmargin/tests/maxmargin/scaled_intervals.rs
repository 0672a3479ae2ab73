//! Locally weighted intervals: the second machine of every fold by its definition, coverage over
//! many splits, and what a model keeps.

use maxmargin::Svm;
use maxmargin::conformal::{Band, ConformalScore, CrossScores, Level};
use maxmargin::cv::{Conformal, ConformalOptions, FoldPlan, verify};
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::Kernel;
use maxmargin::model::{Model, decode, encode};
use std::sync::Arc;

/// A number in [0, 1) of a counter and a seed.
fn uniform(i: usize, seed: u64) -> f64 {
    maxmargin::conformal::share_of_row(seed, [(i, 1.0)])
}

/// A sine whose noise grows along it: a tenth at 0, one at 6.
fn growing_noise(rows: usize, seed: u64) -> Dataset {
    let x: Vec<[f64; 1]> = (0..rows).map(|i| [6.0 * uniform(i, seed)]).collect();
    let noise = |i: usize| (0..4).map(|part| uniform(i + (part + 1) * rows, seed) - 0.5).sum::<f64>();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x[0].sin() + (0.1 + 0.15 * x[0]) * noise(i)).collect();
    Dataset::from_rows(&x, &y).expect("data")
}

fn svr() -> Svm {
    Svm::epsilon_svr(4.0, 0.01).kernel(Kernel::rbf(0.5)).eps(1e-9)
}

fn level() -> Level {
    Level::new(0.1).expect("a level")
}

fn scaled(svm: &Svm, plan: Option<&FoldPlan>) -> Svm {
    let plan = plan.map(|plan| Arc::new(plan.clone()));
    svm.clone().conformal_with(ConformalOptions { score: ConformalScore::Scaled, plan, ..ConformalOptions::new(level()) })
}

fn values(model: &Model, data: &Dataset) -> Vec<f64> {
    model.decision_values(&data.samples, Par::Seq).expect("values")
}

#[test]
fn intervals_are_those_of_two_machines_of_each_fold() {
    let (data, new) = (growing_noise(60, 1), growing_noise(20, 2));
    let plan = FoldPlan::shuffled(60, 4, 1).expect("folds");
    let of = plan.fold_of().expect("a partition");
    let nu = Svm::nu_svr(4.0, 0.5).kernel(Kernel::rbf(0.5)).eps(1e-9);
    let small = Svm::epsilon_svr(1.0, 0.1).kernel(Kernel::rbf(0.5)).eps(1e-9);
    let small_nu = Svm::nu_svr(1.0, 0.5).kernel(Kernel::rbf(0.5)).eps(1e-9);
    for (svm, second) in [(svr(), small), (nu, small_nu)] {
        let fitted = scaled(&svm, Some(&plan)).fit(&data).expect("a training");
        let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
        let kept = Conformal::of(&model).expect("sound").expect("scores");
        assert_eq!((kept.score_kind(), kept.method(&model)), (ConformalScore::Scaled, "cv+"));
        let apart = |svm: &Svm, data: &Dataset| -> Vec<Model> {
            (0..4).map(|fold| svm.fit(&data.select(&plan.train(fold))).expect("a training").model).collect()
        };
        let first = apart(&svm, &data);
        let own: Vec<Vec<f64>> = first.iter().map(|model| values(model, &data)).collect();
        let errors: Vec<f64> = (0..60).map(|row| (data.labels[row] - own[of[row] as usize][row]).abs()).collect();
        let mut sorted = errors.clone();
        sorted.sort_by(f64::total_cmp);
        let floor = 0.05 * sorted[30];
        let logs = Dataset { labels: errors.iter().map(|error| error.max(floor).ln()).collect(), ..data.clone() };
        let second = apart(&second, &logs);
        let band = |fold: usize, data: &Dataset, row: usize| {
            let log = values(&second[fold], data)[row];
            Band { unit: log.exp().clamp(floor, sorted[59]), ..Band::around(values(&first[fold], data)[row]) }
        };
        let scores: Vec<f64> = (0..60).map(|row| band(of[row] as usize, &data, row).score(data.labels[row])).collect();
        let scores = CrossScores::new(&of, &scores, None).expect("scores");
        let found = kept.intervals(&model, &new.samples, level(), None, Par::Pool).expect("intervals");
        for (row, found) in found.iter().enumerate() {
            let bands: Vec<Band> = (0..4).map(|fold| band(fold, &new, row)).collect();
            let expected = scores.interval(0, &bands, level());
            let off = (found.lower - expected.lower).abs().max((found.upper - expected.upper).abs());
            assert!(off < 1e-5, "{row}: {found:?} {expected:?}");
        }
    }
}

/// Fresh data for each of 40 trainings: coverage is within four standard deviations of a
/// beta-binomial mean, and wide intervals are where the noise is.
#[test]
fn coverage_over_many_splits_is_inside_the_band() {
    const SPLITS: u64 = 40;
    let (rows, new) = (150_usize, 200_usize);
    let (mut covered, mut widths) = (0, [0.0_f64; 2]);
    for seed in 0..SPLITS {
        let (train, test) = (growing_noise(rows, 100 + seed), growing_noise(new, 1000 + seed));
        let model = scaled(&svr().eps(1e-3), None).fit(&train).expect("a training").model;
        let kept = Conformal::of(&model).expect("sound").expect("scores");
        let found = kept.intervals(&model, &test.samples, level(), None, Par::Pool).expect("intervals");
        covered += found.iter().zip(&test.labels).filter(|(interval, y)| interval.contains(**y)).count();
        for (row, interval) in found.iter().enumerate() {
            let x = test.samples.row(row).entries().first().map_or(0.0, |entry| entry.1);
            widths[usize::from(x > 3.0)] += interval.upper - interval.lower;
        }
    }
    let deviation = (0.09 / SPLITS as f64 * (1.0 / (rows as f64 + 2.0) + 1.0 / new as f64)).sqrt();
    let share = covered as f64 / (SPLITS as f64 * new as f64);
    assert!((share - 0.9).abs() < 4.0 * deviation, "{share} {deviation}");
    // The noise of the upper half is more than twice that of the lower on average.
    assert!(widths[1] > 1.6 * widths[0], "{widths:?}");
}

#[test]
fn verification_computes_scaled_scores_again() {
    let data = growing_noise(60, 3);
    let model = scaled(&svr(), None).fit(&data).expect("a training").model;
    let check = |model: &Model| {
        let verdict = verify(model, &data, None, None, Par::Seq).expect("a verdict");
        verdict.checks.iter().find(|check| check.what == "conformal scores").and_then(|check| check.passed)
    };
    assert_eq!(check(&model), Some(true));
    assert!(model.section(*b"conform\0").is_none());
    let bytes = model.section(*b"conform2").expect("a section").to_vec();
    let mut refuted = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        refuted += usize::from(check(&model.clone().with_section(*b"conform2", changed)) == Some(false));
    }
    assert!(refuted >= 20, "{refuted}");
}
