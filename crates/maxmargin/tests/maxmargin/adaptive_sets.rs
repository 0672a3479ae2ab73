//! Adaptive prediction sets: scores by their definition on folds trained apart, coverage over many
//! splits, and what a model keeps.

use maxmargin::conformal::{ConformalScore, Level, Penalty, share_of_row};
use maxmargin::cv::{Conformal, ConformalOptions, FoldPlan, Probability, verify};
use maxmargin::data::classes::pairs;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par};
use maxmargin::model::{Calibration, Model, decode, encode};
use maxmargin::{Fitted, Svm};
use std::sync::Arc;

/// The section of a model with scores of probabilities.
const SECTION: [u8; 8] = *b"conform2";

/// Points of the plane in three classes that overlap.
fn three_classes(rows: usize, seed: u64) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, seed).expect("data");
    for i in 0..rows {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        data.labels[i] = if x + 0.1 * ((i * 7 % 11) as f64 - 5.0) > 0.5 { 7.0 } else { data.labels[i] };
    }
    data
}

fn level(alpha: f64) -> Level {
    Level::new(alpha).expect("a level")
}

fn fit(svm: &Svm, data: &Dataset, plan: &FoldPlan, score: ConformalScore) -> (Fitted, Conformal) {
    let options = ConformalOptions { score, plan: Some(Arc::new(plan.clone())), ..ConformalOptions::new(level(0.2)) };
    let fitted = svm.clone().conformal_with(options).fit(data).expect("a training");
    let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
    let kept = Conformal::of(&model).expect("sound").expect("scores");
    (fitted, kept)
}

/// The score of a class as a running sum over the classes by descending probability.
fn running_sum(probabilities: &[f64], class: usize, penalty: Penalty, share: f64) -> f64 {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let mut sum = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        if at == class {
            let beyond = (rank + 1).saturating_sub(penalty.free);
            return sum + share * probabilities[class] + penalty.weight * beyond as f64;
        }
        sum += probabilities[at];
    }
    unreachable!("the class is one of them")
}

/// Platt's sigmoid of every pair, fitted to the rows that are not of a fold.
fn sigmoids(own: &[Vec<f64>], of: &[u32], classes: &ClassLabels, fold: u32) -> Vec<Calibration> {
    let fit = |(p, (a, b)): (usize, (usize, usize))| {
        let is_side = |row: &usize| of[*row] != fold && [a, b].contains(&(classes.of()[*row] as usize));
        let rows: Vec<usize> = (0..of.len()).filter(is_side).collect();
        let decisions: Vec<f64> = rows.iter().map(|row| own[*row][p]).collect();
        let later: Vec<bool> = rows.iter().map(|row| classes.of()[*row] as usize == b).collect();
        Calibration::platt(&decisions, &later).expect("a sigmoid")
    };
    pairs(classes.count()).enumerate().map(fit).collect()
}

#[test]
fn p_values_are_those_of_folds_trained_apart() {
    let svm = Svm::rbf(0.5).c(2.0).eps(1e-9);
    let data = three_classes(90, 3);
    let new = three_classes(111, 4).select(&(90..111).collect::<Vec<_>>());
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    let of = plan.fold_of().expect("a partition");
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let models: Vec<Model> = (0..4).map(|fold| svm.fit(&data.select(&plan.train(fold))).expect("a training").model).collect();
    let table = |data: &Dataset, model: &Model| -> Vec<Vec<f64>> {
        model.decision_values(&data.samples, Par::Seq).expect("values").chunks(3).map(<[f64]>::to_vec).collect()
    };
    let by_fold: Vec<Vec<Vec<f64>>> = models.iter().map(|model| table(&data, model)).collect();
    let own: Vec<Vec<f64>> = (0..90).map(|row| by_fold[of[row] as usize][row].clone()).collect();
    let calibration: Vec<Vec<Calibration>> = (0..4).map(|fold| sigmoids(&own, &of, &classes, fold)).collect();
    let theirs: Vec<Vec<Vec<f64>>> = models.iter().map(|model| table(&new, model)).collect();
    for penalty in [Penalty::NONE, Penalty::USUAL, Penalty { weight: 0.3, free: 2 }] {
        let (fitted, kept) = fit(&svm, &data, &plan, ConformalScore::Adaptive(penalty));
        let score = |decisions: &[f64], fold: usize, class: usize, data: &Dataset, row: usize| {
            let probabilities = fitted.model.multiclass().probabilities(3, &calibration[fold], decisions);
            running_sum(&probabilities, class, penalty, share_of_row(1, data.samples.row(row).entries()))
        };
        let known: Vec<f64> =
            (0..90).map(|row| score(&own[row], of[row] as usize, classes.of()[row] as usize, &data, row)).collect();
        for per_class in [false, true] {
            let found = kept.class_p_values(&fitted.model, &new.samples, per_class, None, Par::Pool).expect("p-values");
            for (at, p) in found.iter().enumerate() {
                let (row, class) = (at / 3, at % 3);
                let counted = |i: &usize| !per_class || classes.of()[*i] as usize == class;
                let rows: Vec<usize> = (0..90).filter(counted).collect();
                let is_at_least = |i: &&usize| {
                    let fold = of[**i] as usize;
                    known[**i] >= score(&theirs[fold][row], fold, class, &new, row)
                };
                let expected = (1 + rows.iter().filter(is_at_least).count()) as f64 / (rows.len() + 1) as f64;
                assert_eq!(*p, expected, "{penalty:?} {per_class} {row} {class}");
            }
        }
    }
}

/// Fresh data for each of 40 trainings: coverage is within four standard deviations of a
/// beta-binomial mean, over all rows and, by itself, in each class.
#[test]
fn coverage_over_many_splits_is_inside_the_band() {
    const SPLITS: u64 = 40;
    let (rows, new) = (150_usize, 200_usize);
    for score in [ConformalScore::APS, ConformalScore::Adaptive(Penalty::USUAL)] {
        let svm = Svm::rbf(0.5).conformal_with(ConformalOptions { score, ..ConformalOptions::new(level(0.1)) });
        let mut covered = [0_usize; 2];
        let mut sizes = [0_usize; 2];
        for seed in 0..SPLITS {
            let all = three_classes(rows + new, 100 + seed);
            let train = all.select(&(0..rows).collect::<Vec<_>>());
            let test = all.select(&(rows..rows + new).collect::<Vec<_>>());
            let model = svm.fit(&train).expect("a training").model;
            let kept = Conformal::of(&model).expect("sound").expect("scores");
            for per_class in [false, true] {
                let sets = kept.sets(&model, &test.samples, level(0.1), per_class, None, Par::Pool).expect("sets");
                let place = |label: f64| model.classes().iter().position(|class| *class == label).expect("a class");
                let is_in = |row: &usize| sets[row * 3 + place(test.labels[*row])];
                covered[usize::from(per_class)] += (0..new).filter(is_in).count();
                sizes[usize::from(per_class)] += sets.iter().filter(|is_in| **is_in).count();
            }
        }
        let deviation = (0.09 / SPLITS as f64 * (1.0 / (rows as f64 + 2.0) + 1.0 / new as f64)).sqrt();
        for covered in covered {
            let share = covered as f64 / (SPLITS as f64 * new as f64);
            assert!((share - 0.9).abs() < 4.0 * deviation, "{score}: {share} {deviation} {sizes:?}");
        }
    }
}

#[test]
fn a_row_has_the_same_set_wherever_it_stands() {
    let data = three_classes(120, 5);
    let plan = FoldPlan::stratified(&data.labels, 5, 1).expect("folds");
    let (fitted, kept) = fit(&Svm::rbf(0.5), &data, &plan, ConformalScore::APS);
    assert_eq!(kept.score_kind(), ConformalScore::APS);
    let backward: Vec<usize> = (0..120).rev().collect();
    let p_values = |data: &Dataset| kept.class_p_values(&fitted.model, &data.samples, false, None, Par::Seq).expect("p-values");
    let (forward, reversed) = (p_values(&data), p_values(&data.select(&backward)));
    assert!((0..120).all(|row| forward[row * 3..row * 3 + 3] == reversed[(119 - row) * 3..(119 - row) * 3 + 3]));
    // Another seed draws other shares, and other folds are not needed for that.
    let (other, seeded) = fit(&Svm::rbf(0.5).seed(2), &data, &plan, ConformalScore::APS);
    assert_ne!(seeded.class_p_values(&other.model, &data.samples, false, None, Par::Seq).expect("p-values"), forward);
}

#[test]
fn verification_computes_adaptive_scores_again() {
    let data = three_classes(90, 6);
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    for svm in [Svm::rbf(0.5), Svm::rbf(0.5).one_vs_rest(), Svm::rbf(0.5).probability(Probability::Isotonic)] {
        let (fitted, _) = fit(&svm, &data, &plan, ConformalScore::Adaptive(Penalty::USUAL));
        let check = |model: &Model| {
            let verdict = verify(model, &data, None, None, Par::Seq).expect("a verdict");
            verdict.checks.iter().find(|check| check.what == "conformal scores").and_then(|check| check.passed)
        };
        assert_eq!(check(&fitted.model), Some(true));
        // Programs that do not know these scores find none.
        assert!(fitted.model.section(*b"conform\0").is_none());
        let bytes = fitted.model.section(SECTION).expect("a section").to_vec();
        let mut refuted = 0;
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            refuted += usize::from(check(&fitted.model.clone().with_section(SECTION, changed)) == Some(false));
        }
        assert!(refuted >= 20, "{refuted}");
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            assert!(Conformal::of(&fitted.model.clone().with_section(SECTION, bytes[..cut].to_vec())).is_err());
        }
    }
}

#[test]
fn adaptive_scores_that_cannot_be_are_refused() {
    let data = three_classes(60, 7);
    let refused = |svm: Svm, plan: Option<FoldPlan>| {
        let plan = plan.map(Arc::new);
        let options = ConformalOptions { score: ConformalScore::APS, plan, ..ConformalOptions::new(level(0.1)) };
        svm.conformal_with(options).fit(&data).expect_err("refused").to_string()
    };
    assert!(refused(Svm::epsilon_svr(1.0, 0.1), None).contains("no classes"));
    // All rows are in training sets, and one of each class is tested.
    let tests = [-1.0, 1.0, 7.0].map(|label| (0..60).find(|&row| data.labels[row] == label).expect("a row"));
    let plan = FoldPlan::from_tests(60, [(tests.to_vec(), vec![])]).expect("a fold");
    let text = refused(Svm::rbf(0.5), Some(plan));
    assert!(text.contains("one fold alone tests rows of class -1"), "{text}");
}
