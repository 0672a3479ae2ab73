//! Balanced classes: every training set has the factors of its own rows, whichever way leads to it.

use maxmargin::cv::{Change, FoldPlan, Probability, RunControl, Seeding, TrainingData, Unlogged, calibration_plan, update};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par};
use maxmargin::kernel::Kernel;
use maxmargin::model::{Calibration, Model, decode, encode};
use maxmargin::{Ranges, Search, SearchHooks, Svm};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Classes in runs whose lengths differ, so that contiguous folds have other shares of each: the
/// last class is in the last third alone, but for a few rows.
fn runs(rows: usize, classes: usize) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, 5).expect("data");
    for (i, label) in data.labels.iter_mut().enumerate() {
        let class = if i % 10 == 0 { 0 } else { i * classes / rows };
        *label = (class + usize::from(*label > 0.0 && i % 3 == 0)).min(classes - 1) as f64 + 1.0;
    }
    data
}

/// The weight of each class by which all weigh the same, counted by hand.
fn by_hand(labels: &[f64], weights: Option<&[f64]>) -> BTreeMap<u64, f64> {
    let mut mass = BTreeMap::new();
    for (i, label) in labels.iter().enumerate() {
        *mass.entry(*label as u64).or_insert(0.0) += weights.map_or(1.0, |weights| weights[i]);
    }
    let all: f64 = mass.values().sum();
    let classes = mass.len() as f64;
    mass.into_iter().map(|(label, own)| (label, all / (classes * own))).collect()
}

fn weighted(svm: &Svm, labels: &[f64], weights: Option<&[f64]>) -> Svm {
    by_hand(labels, weights).into_iter().fold(svm.clone(), |svm, (label, weight)| svm.class_weight(label as f64, weight))
}

/// Decision values of what each fold tests, and labels, from trainings of each training set alone
/// with explicit weights of classes.
fn alone(svm: &Svm, data: &Dataset, plan: &FoldPlan, (weights, by_weight): (Option<&[f64]>, bool)) -> (Vec<f64>, Vec<f64>) {
    let (mut decisions, mut labels) = (Vec::new(), vec![0.0; data.labels.len()]);
    for fold in 0..plan.folds() {
        let (train, test) = (plan.train(fold), plan.test(fold));
        let part = data.select(&train);
        let own: Option<Vec<f64>> = weights.map(|weights| train.iter().map(|&i| weights[i]).collect());
        let svm = weighted(svm, &part.labels, own.as_deref().filter(|_| by_weight));
        let fitted = own.iter().fold(svm, |svm, own| svm.sample_weights(own.clone())).fit(&part).expect("a training");
        let queries = data.samples.select(test);
        let found = fitted.decision_values(&queries).expect("decisions");
        let width = found.len() / test.len();
        decisions.resize(data.labels.len() * width, 0.0);
        test.iter().zip(found.chunks(width)).for_each(|(&i, row)| decisions[i * width..(i + 1) * width].copy_from_slice(row));
        let said = fitted.predict(&queries).expect("labels");
        test.iter().zip(said).for_each(|(&i, label)| labels[i] = label);
    }
    (decisions, labels)
}

fn near(found: &[f64], expected: &[f64], tol: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let most = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let large = expected.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    assert!(most <= tol * large, "{what}: {most:e} of {large:e}");
}

fn rbf() -> Svm {
    Svm::rbf(0.5).c(0.5).eps(1e-9)
}

#[test]
fn folds_are_balanced_by_their_own_training_sets() {
    let linear = || Svm::linear().c(0.1).eps(1e-7);
    let kinds = [
        ("two classes", 2, rbf(), 1e-6),
        ("one against one", 3, rbf(), 1e-6),
        ("one against the rest", 3, rbf().one_vs_rest(), 1e-6),
        ("the squared hinge", 2, rbf().loss(maxmargin::core::Loss::SquaredHinge).solver(maxmargin::Solver::Smo), 1e-6),
        ("nu", 2, Svm::nu_svc(0.5).kernel(Kernel::rbf(0.5)).eps(1e-9), 1e-5),
        ("scaled apart", 3, rbf().scale(ScaleMethod::Standard), 1e-6),
        ("features", 2, linear(), 1e-4),
        ("features, the rest", 3, linear().one_vs_rest(), 1e-4),
    ];
    for (what, classes, svm, tol) in kinds {
        let data = runs(90, classes);
        let plan = FoldPlan::contiguous(90, 3).expect("folds");
        let (decisions, labels) = alone(&svm, &data, &plan, (None, false));
        let report = svm.clone().balanced().cross_validate(&data, &plan).expect("a report");
        near(&report.decisions, &decisions, tol, what);
        // Without a kernel some decision values of several machines are equal but for rounding.
        if svm.kernel_given() != Kernel::Linear {
            assert_eq!(report.predicted, labels, "{what}");
        }
        assert!(report.folds.iter().all(|fold| fold.certificate.holds), "{what}");
        // Weights of all rows say something else, so that this test can fail.
        let whole = weighted(&svm, &data.labels, None).cross_validate(&data, &plan).expect("a report");
        let apart = whole.decisions.iter().zip(&decisions).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart > 100.0 * tol, "{what}: {apart:e}");
    }
}

#[test]
fn every_seeding_ends_at_the_balanced_optimum() {
    let data = runs(80, 2);
    let plan = FoldPlan::contiguous(80, 4).expect("folds");
    let (decisions, _) = alone(&rbf(), &data, &plan, (None, false));
    for (name, seeding) in Seeding::ALL {
        let report = rbf().balanced().seeding(seeding).cross_validate(&data, &plan).expect("a report");
        near(&report.decisions, &decisions, 1e-6, name);
    }
}

#[test]
fn weights_of_samples_count_where_they_are_asked_for() {
    let data = runs(90, 3);
    let plan = FoldPlan::contiguous(90, 3).expect("folds");
    let weights: Vec<f64> = (0..90).map(|i| [0.25, 1.0, 3.0][i % 3]).collect();
    for by_weight in [false, true] {
        let svm = if by_weight { rbf().balanced_by_weight() } else { rbf().balanced() };
        let report = svm.sample_weights(weights.clone()).cross_validate(&data, &plan).expect("a report");
        near(&report.decisions, &alone(&rbf(), &data, &plan, (Some(&weights), by_weight)).0, 1e-6, "weights");
    }
    // A training of all rows, and what is said of it.
    let svm = rbf().balanced_by_weight().sample_weights(weights.clone());
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let expected: Vec<f64> = by_hand(&data.labels, Some(&weights)).into_values().collect();
    near(&svm.weights_of(&classes).expect("weights"), &expected, 1e-12, "weights of classes");
    let record = svm.fit(&data).expect("a training").model.record().expect("a record").weights.clone();
    near(&record, &expected, 1e-12, "the record");
}

#[test]
fn leave_one_out_balances_what_is_left() {
    let data = runs(30, 2);
    let plan = FoldPlan::leave_one_out(30).expect("folds");
    let report = rbf().balanced().leave_one_out(&data).expect("a report");
    near(&report.decisions, &alone(&rbf(), &data, &plan, (None, false)).0, 1e-6, "leave-one-out");
}

#[test]
fn searches_balance_every_cell() {
    let data = runs(90, 2);
    let plan = FoldPlan::contiguous(90, 3).expect("folds");
    let ranges = Ranges::new().c(&[0.05, 0.5, 5.0]).gamma(&[0.2, 1.0]);
    let found = rbf().balanced().grid(&data, &plan, &ranges).expect("cells");
    assert_eq!(found.cells.len(), 6);
    for cell in &found.cells {
        let (c, kernel) = (cell.svm.formulation().c().expect("a C"), cell.svm.kernel_given());
        let expected = alone(&rbf().c(c).kernel(kernel), &data, &plan, (None, false));
        near(&cell.result.decisions, &expected.0, 1e-5, "a cell");
        assert_eq!(cell.result.predicted, expected.1);
    }
    // An outer training set is balanced by its own rows, in the search and in the training that
    // follows.
    let one = Search::new(Ranges::new().c(&[0.5]).gamma(&[0.5]));
    let attended = SearchHooks { control: &RunControl::unlimited(), logs: &Unlogged };
    let inner = |part: &Dataset| FoldPlan::contiguous(part.labels.len(), 3);
    let nested = rbf().balanced().nested(&data, &plan, inner, &one, attended).expect("outer folds");
    let labels = alone(&rbf(), &data, &plan, (None, false)).1;
    for (fold, outer) in nested.folds.iter().enumerate() {
        let test = plan.test(fold);
        let right = test.iter().filter(|&&i| labels[i] == data.labels[i]).count();
        assert_eq!(outer.score, Some(right as f64 / test.len() as f64));
        let part = data.select(&plan.train(fold));
        let inner = FoldPlan::contiguous(part.labels.len(), 3).expect("folds");
        let labels = alone(&rbf(), &part, &inner, (None, false)).1;
        let right = labels.iter().zip(&part.labels).filter(|(a, b)| a == b).count() as f64 / labels.len() as f64;
        let found = outer.chosen.as_ref().and_then(|chosen| chosen.1).expect("a score");
        assert!((found - right).abs() < 1e-12, "{found}, alone {right}");
    }
}

#[test]
fn calibrations_balance_every_fold() {
    let data = runs(93, 2);
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let plan = calibration_plan(Some(&classes), &data.labels, 7).expect("folds");
    let decisions = alone(&rbf(), &data, &plan, (None, false)).0;
    let later: Vec<bool> = classes.of().iter().map(|class| *class == 1).collect();
    let expected = Calibration::platt(&decisions, &later).expect("a sigmoid");
    let fitted = rbf().balanced().seed(7).probability(Probability::Platt).fit(&data).expect("a training");
    let of = |calibration: &Calibration| -> Vec<f64> { (-4..=4).map(|f| calibration.probability(f64::from(f))).collect() };
    near(&of(&fitted.model.calibration()[0]), &of(&expected), 1e-6, "probabilities");
}

/// A model file says by which rule its classes were weighted, so that what is done with it later
/// weights every training set anew.
#[test]
fn a_saved_model_is_calibrated_as_it_would_have_been_when_trained() {
    let data = runs(93, 2);
    let svm = rbf().balanced().class_weight(2.0, 1.5);
    let saved = |svm: Svm| -> Model {
        let model = svm.fit(&data).expect("a training").model;
        decode(&encode(&model).expect("bytes")).expect("a model")
    };
    let plain = saved(svm.clone());
    let again = Svm::of_model(&plain).expect("a record").probability(Probability::Platt).seed(7);
    let later = again.calibrate(plain, &data).expect("a calibration").model;
    let trained = saved(svm.seed(7).probability(Probability::Platt));
    assert_eq!(later.calibration(), trained.calibration());
    // Without the rule, the folds would have the weights of all rows.
    let record = trained.record().expect("a record");
    let fixed = rbf().class_weight(1.0, record.weights[0]).class_weight(2.0, record.weights[1]);
    assert_ne!(saved(fixed.seed(7).probability(Probability::Platt)).calibration(), trained.calibration());
}

#[test]
fn an_updated_model_is_balanced_by_its_new_rows() {
    for classes in [2, 3] {
        let (data, more) = (runs(90, classes), runs(40, classes).select(&(25..40).collect::<Vec<_>>()));
        let svm = rbf().balanced().class_weight(2.0, 1.5);
        let model = svm.fit(&data).expect("a training").model;
        let remove: Vec<u64> = (3..30).collect();
        let change = Change { add: Some(&more), remove: &remove, c: None };
        let go_on = |_: &_| ControlFlow::Continue(());
        let updated = update(&model, &TrainingData::new(data), &change, 1 << 26, Par::Seq, &go_on).expect("an update");
        let now = &updated.kept.data;
        let mut expected = by_hand(&now.labels, None);
        expected.entry(2).and_modify(|weight| *weight *= 1.5);
        let record = updated.model.record().expect("a record");
        near(&record.weights, &expected.into_values().collect::<Vec<_>>(), 1e-12, "weights");
        let trained = svm.fit(now).expect("a training").model;
        let values = |model: &Model| model.decision_values(&now.samples, Par::Seq).expect("numbers");
        near(&values(&updated.model), &values(&trained), 1e-6, "decision values");
        assert_eq!(trained.record().expect("a record").weights, record.weights);
    }
}
