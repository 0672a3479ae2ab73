//! update: samples are added and removed, C moves, and every machine equals a training from
//! scratch.

use crate::common::banana as data;
use maxmargin_core::{BiasTerm, Formulation, Goal, Loss, Status, Stop};
use maxmargin_cv::{
    Change, KeptPreparation, RunControl, Study, TrainOptions, TrainingData, UpdateError, Updated, update, verify,
};
use maxmargin_data::scale::{ScaleMethod, Scaler};
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::libsvm::{read_model, write_model};
use maxmargin_model::{Model, Record};
use maxmargin_path::Update;
use maxmargin_solvers::Solver;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

const MEMORY: u64 = 1 << 26;
const KERNEL: Kernel = Kernel::Rbf { gamma: 0.5 };
const SCALE: ScaleMethod = ScaleMethod::MinMax { lower: -1.0, upper: 1.0 };

/// Solver, loss and bias of a training.
type Problem = (Solver, Loss, BiasTerm);

const C_SVC: Problem = (Solver::Smo, Loss::Hinge, BiasTerm::Free);

fn train(data: &Dataset, kernel: &Kernel, scale: Option<ScaleMethod>, problem: Problem, c: f64, eps: f64) -> Model {
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let weights = vec![1.0; classes.count()];
    let (solver, loss, bias_term) = problem;
    let solver = solver.build(7);
    let options = TrainOptions { kernel: kernel.clone(), scale, par: Par::Pool, ..TrainOptions::default() };
    let study = Study {
        formulation: Formulation::Svc { c, loss, bias_term },
        stop: Stop::at(eps),
        memory: MEMORY,
        ..Study::new(data, Some(&classes), &options, &weights, &*solver)
    };
    study.train(&RunControl::unlimited()).expect("a training").model
}

fn trained(data: &Dataset) -> Model {
    train(data, &KERNEL, None, C_SVC, 2.0, 1e-3)
}

fn go_on(_: &Update) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn changed(model: &Model, kept: &TrainingData, change: &Change) -> Result<Updated, UpdateError> {
    update(model, kept, change, MEMORY, Par::Pool, &go_on)
}

fn values(model: &Model, data: &Dataset) -> Vec<f64> {
    model.decision_values(&data.samples, Par::Seq).expect("numbers")
}

fn record(model: &Model) -> &Record {
    model.record().expect("a record")
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

/// Checks that two models of the same problem, with kernel values up to 1, differ by no more than
/// their certificates allow.
///
/// `½‖w − w*‖²` is at most the duality gap, so that the sums of two solutions differ by `√2gap +
/// √2gap'` at most; biases by as much and their KKT violations, where they have a free support
/// vector in common.
fn assert_same_solution(a: &Model, b: &Model, data: &Dataset, what: &str) {
    let (left, right, width) = (values(a, data), values(b, data), a.machines().len());
    for p in 0..width {
        let [ours, theirs] = [a, b].map(|model| record(model).machines[p].certificate);
        let distance = |gap: f64| (2.0 * gap.max(1e-14)).sqrt();
        let bound = 2.0 * (distance(ours.gap()) + distance(theirs.gap())) + ours.kkt + theirs.kkt;
        assert!(bound < 0.01, "{what}: the bound {bound} says nothing");
        let of = |values: &[f64]| values.iter().skip(p).step_by(width).copied().collect::<Vec<_>>();
        let difference = largest_difference(&of(&left), &of(&right));
        assert!(difference <= bound, "{what}, machine {p}: {difference} {bound}");
    }
}

/// Checks that the model agrees with its record and its training data, and that updated machines
/// are exact.
fn assert_exact(updated: &Updated, what: &str) {
    let verdict = verify(&updated.model, &updated.kept.data, None, None, Par::Pool).expect("a verdict");
    assert!(verdict.matches() && verdict.met(), "{what}: {verdict:?}");
    for machine in &updated.machines {
        assert_eq!(verdict.machines[machine.machine].labels, Some((Some(machine.labels.0), machine.labels.1)));
        let Some(walked) = &machine.walked else { continue };
        let sum = walked.sum();
        assert_eq!(sum.status, Status::Converged, "{what}");
        assert!(Goal::Kkt(sum.tolerance).met(&machine.certificate), "{what}: {:?}", machine.certificate);
    }
    assert_eq!(TrainingData::of(&updated.model).expect("whole"), Some(updated.kept.clone()));
}

#[test]
fn an_updated_model_is_that_of_the_changed_data() {
    for count in [2, 4] {
        let model = trained(&data(120, count, 3));
        let kept = TrainingData::new(data(120, count, 3));
        let more = data(40, count, 11);
        let remove: Vec<u64> = [1, 5].into_iter().chain(20..50).collect();
        let updated = changed(&model, &kept, &Change { add: Some(&more), remove: &remove, c: None }).expect("an update");
        assert_exact(&updated, "added and removed");
        assert_eq!((updated.added.clone(), updated.kept.next, updated.kept.updates), (121..161, 161, 1));
        let numbers: Vec<u64> = (2..5).chain(6..20).chain(50..161).collect();
        assert_eq!(updated.kept.numbers, numbers);
        let now = &updated.kept.data;
        assert_eq!((now.samples.len(), record(&updated.model).rows), (128, 128));
        assert_same_solution(&updated.model, &train(now, &KERNEL, None, C_SVC, 2.0, 1e-10), now, "from nothing");
        // The goal stays; statuses and certificates are new.
        let (old, new) = (record(&model), record(&updated.model));
        assert_eq!((old.eps, &old.solver, old.formulation), (new.eps, &new.solver, new.formulation));
        assert!(updated.certificate.kkt <= 1e-8 && updated.status() == Status::Converged);
        // The bits do not depend on the number of threads or the order of machines.
        let alone = update(&model, &kept, &Change { add: Some(&more), remove: &remove, c: None }, MEMORY, Par::Seq, &go_on);
        assert_eq!(alone.expect("an update").model.machines(), updated.model.machines());
    }
}

#[test]
fn what_comes_and_goes_leaves_no_trace() {
    for count in [2, 4] {
        let all = data(120, count, 5);
        let (model, kept) = (trained(&all), TrainingData::new(all.clone()));
        // Every machine becomes exact first: a sample of each class leaves.
        let labels = model.classes();
        let remove: Vec<u64> = labels.iter().map(|l| 1 + all.labels.iter().position(|o| o == l).expect("one") as u64).collect();
        let first = changed(&model, &kept, &Change { remove: &remove, ..Change::default() }).expect("an update");
        let grown = changed(&first.model, &first.kept, &Change { add: Some(&data(40, count, 6)), ..Change::default() });
        let grown = grown.expect("an update");
        assert!(largest_difference(&values(&first.model, &all), &values(&grown.model, &all)) > 1e-3);
        let remove: Vec<u64> = grown.added.clone().collect();
        let back = changed(&grown.model, &grown.kept, &Change { remove: &remove, ..Change::default() }).expect("an update");
        assert_eq!(back.kept.data, first.kept.data);
        assert_eq!((back.kept.next, back.kept.updates), (161, 3));
        let difference = largest_difference(&values(&first.model, &all), &values(&back.model, &all));
        assert!(difference <= 1e-8, "{count} classes: {difference}");
        assert_exact(&back, "there and back");
    }
}

#[test]
fn c_moves_alone_and_with_samples() {
    for count in [2, 4] {
        let all = data(100, count, 7);
        let (model, kept) = (trained(&all), TrainingData::new(all.clone()));
        let moved = changed(&model, &kept, &Change { c: Some(5.0), ..Change::default() }).expect("an update");
        assert_exact(&moved, "C");
        assert_eq!((record(&moved.model).formulation.c(), moved.kept.updates), (Some(5.0), 1));
        assert!(moved.machines.iter().all(|machine| machine.walked.as_ref().is_some_and(|walked| walked.paths.len() == 1)));
        assert_same_solution(&moved.model, &train(&all, &KERNEL, None, C_SVC, 5.0, 1e-10), &all, "C");
        let both = Change { c: Some(0.5), add: Some(&data(30, count, 8)), remove: &[2, 3] };
        let both = changed(&moved.model, &moved.kept, &both).expect("an update");
        assert_exact(&both, "C and samples");
        let now = &both.kept.data;
        assert_same_solution(&both.model, &train(now, &KERNEL, None, C_SVC, 0.5, 1e-10), now, "C and samples");
    }
}

#[test]
fn machines_whose_samples_stay_keep_their_solution() {
    let all = data(120, 4, 9);
    let (model, kept) = (trained(&all), TrainingData::new(all.clone()));
    let label = all.labels[0];
    let more = data(60, 4, 10);
    let rows: Vec<usize> = (0..60).filter(|&i| more.labels[i] == label).collect();
    let updated = changed(&model, &kept, &Change { add: Some(&more.select(&rows)), remove: &[1], c: None }).expect("an update");
    let (old, new) = (values(&model, &all), values(&updated.model, &all));
    for machine in &updated.machines {
        let touched = machine.labels.0 == label || machine.labels.1 == label;
        assert_eq!(machine.walked.is_some(), touched, "{:?}", machine.labels);
        let p = machine.machine;
        // Sums of the same terms, in an order that depends on the vectors of all machines.
        let of = |values: &[f64]| values.iter().skip(p).step_by(6).copied().collect::<Vec<_>>();
        assert_eq!(largest_difference(&of(&old), &of(&new)) <= 1e-12, !touched);
        let [was, is] = [&model, &updated.model].map(|model| &model.machines()[p]);
        assert_eq!((&was.coef, was.bias) == (&is.coef, is.bias), !touched);
        if !touched {
            let [was, is] = [&model, &updated.model].map(|model| &record(model).machines[p]);
            assert_eq!((was.certificate, was.iterations, was.status), (is.certificate, is.iterations, is.status));
            // The first row has left: all others are one earlier.
            assert!(was.rows.iter().zip(&is.rows).all(|(was, is)| was - 1 == *is));
        }
    }
    assert_eq!(updated.machines.iter().filter(|machine| machine.walked.is_none()).count(), 3);
    assert_exact(&updated, "one class");
    let same = changed(&model, &kept, &Change::default()).expect("an update");
    assert!(same.sum().is_none() && same.model.machines() == model.machines());
}

#[test]
fn linear_models_that_keep_their_vectors_are_updated() {
    let all = data(80, 4, 12);
    let model = train(&all, &Kernel::Linear, None, C_SVC, 0.5, 1e-3);
    let updated = changed(&model, &TrainingData::new(all), &Change { add: Some(&data(20, 4, 13)), remove: &[7, 9], c: None });
    assert_exact(&updated.expect("an update"), "linear");
}

/// From the smallest possible C, a path once took eleven million breakpoints without progress.
#[test]
fn a_path_that_does_not_get_on_is_ended() {
    let all = data(12, 3, 3);
    let mut parts = trained(&all).into_parts();
    let record = parts.record.as_mut().expect("a record");
    record.formulation = record.formulation.with_c(5e-324);
    let model = Model::new(parts).expect("a positive C");
    let watch = |update: &Update| if update.breakpoints > 10_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let change = Change { add: Some(&data(12, 3, 4)), c: Some(3.0), ..Change::default() };
    let updated = update(&model, &TrainingData::new(all), &change, MEMORY, Par::Seq, &watch).expect("an end");
    assert_exact(&updated, "from the smallest C");
}

/// A scaler that was attached after the record once let kept data be scaled a second time.
#[test]
fn a_scaled_model_is_not_scaled_twice_by_an_update() {
    for count in [2, 4] {
        let all = data(120, count, 14);
        // Unscaled values far from the scaled ones.
        let stretched = |data: &Dataset| {
            let rows: Vec<Vec<f64>> = (0..data.samples.len())
                .map(|i| {
                    let mut row = vec![0.0; 2];
                    data.samples.row(i).for_each(|j, v| row[j] = 100.0 * v + 40.0);
                    row
                })
                .collect();
            Dataset { samples: Samples::from_rows(&rows).expect("numbers"), sha256: [0; 32], ..data.clone() }
        };
        let (all, more) = (stretched(&all), stretched(&data(30, count, 15)));
        let model = train(&all, &Kernel::rbf(2.0), Some(SCALE), C_SVC, 2.0, 1e-3);
        let kept = TrainingData::new(all.clone());
        let updated = changed(&model, &kept, &Change { add: Some(&more), remove: &[4, 8], c: None }).expect("an update");
        assert_exact(&updated, "scaled");
        let verdict = verify(&updated.model, &updated.kept.data, None, None, Par::Seq).expect("a verdict");
        let fits = model.parts().scaler.as_ref() == Some(&Scaler::fit(&updated.kept.data.samples, SCALE));
        assert_eq!(updated.kept_preparation, KeptPreparation { columns: false, scaler: !fits });
        let word = if fits { "ok" } else { "not checked" };
        assert!(verdict.checks.iter().any(|check| check.what == "scaler" && check.word() == word));
        // The data is kept unscaled, and scaled by the scaler of the first training only.
        let now = &updated.kept.data;
        assert_eq!(now.samples.row(1).entries(), all.samples.row(1).entries());
        let scaler = model.parts().scaler.as_ref().expect("a scaler");
        let scaled = Dataset { samples: scaler.apply(&now.samples).expect("numbers"), ..now.clone() };
        let scratch = train(&scaled, &Kernel::rbf(2.0), None, C_SVC, 2.0, 1e-10);
        let [a, b] = [values(&updated.model, now), values(&scratch, &scaled)];
        assert!(largest_difference(&a, &b) <= 1e-4, "{}", largest_difference(&a, &b));
        let wide = Dataset { samples: more.samples.clone().with_features(5), ..more.clone() };
        let wide = changed(&model, &kept, &Change { add: Some(&wide), remove: &[4, 8], c: None }).expect("an update");
        assert_eq!((wide.model.machines(), wide.kept_preparation), (updated.model.machines(), updated.kept_preparation));
        // A value in a feature that the scaler does not have is left out, and that is told.
        let known = [0, 1].map(|row| all.samples.row(row).entries());
        let beyond: Vec<Vec<f64>> = known.iter().map(|row| vec![row[0].1, row[1].1, 7.0]).collect();
        let beyond = Dataset { samples: Samples::from_rows(&beyond).expect("numbers"), ..all.select(&[0, 1]) };
        let cut = changed(&model, &kept, &Change { add: Some(&beyond), ..Change::default() }).expect("an update");
        assert_eq!((cut.kept.data.samples.features(), cut.kept_preparation.scaler), (2, true));
        // Trained on scaled data, with the scaler attached afterwards.
        let scaler = Scaler::fit(&all.samples, SCALE);
        let scaled = Dataset { samples: scaler.apply(&all.samples).expect("numbers"), ..all.clone() };
        let mut late = train(&scaled, &Kernel::rbf(2.0), None, C_SVC, 2.0, 1e-3).into_parts();
        late.scaler = Some(scaler);
        let late = Model::new(late).expect("as wide");
        let refused = changed(&late, &TrainingData::new(scaled), &Change { remove: &[4], ..Change::default() });
        assert!(matches!(refused, Err(UpdateError::ScaledBefore)), "{refused:?}");
    }
}

#[test]
fn models_that_no_path_is_for_are_refused() {
    let all = data(60, 4, 16);
    let remove = Change { remove: &[1], ..Change::default() };
    for (kernel, problem, says) in [
        (KERNEL, (Solver::Pairwise, Loss::SquaredHinge, BiasTerm::Feature(1.0)), "the squared hinge loss"),
        (Kernel::Linear, (Solver::Linear, Loss::SquaredHinge, BiasTerm::None), "the squared hinge loss"),
        (Kernel::Linear, (Solver::Linear, Loss::Hinge, BiasTerm::Feature(1.0)), "a bias that is one more feature"),
        (Kernel::Linear, (Solver::Linear, Loss::Hinge, BiasTerm::None), "no bias"),
        (Kernel::Linear, (Solver::Linear, Loss::Hinge, BiasTerm::Free), "weights alone"),
    ] {
        let model = train(&all, &kernel, None, problem, 1.0, 1e-3);
        let refused = changed(&model, &TrainingData::new(all.clone()), &remove).expect_err("no path is for it").to_string();
        assert!(refused.contains(says) && !refused.contains("--"), "{refused}");
    }
    let mut text = Vec::new();
    write_model(&trained(&all), &mut text).expect("integer labels");
    let refused = changed(&read_model(&text).expect("a model"), &TrainingData::new(all), &remove);
    assert!(matches!(refused, Err(UpdateError::NoRecord)), "{refused:?}");
}

#[test]
fn what_cannot_be_done_says_so() {
    let all = data(60, 4, 17);
    let (model, kept) = (trained(&all), TrainingData::new(all.clone()));
    let refused = |change: &Change| changed(&model, &kept, change).expect_err("impossible").to_string();
    let mut odd = data(4, 4, 18);
    odd.labels[2] = 7.0;
    let message = refused(&Change { add: Some(&odd), ..Change::default() });
    assert!(message.contains("row 3 has the label 7") && message.contains("-3, -1, 1, 3"), "{message}");
    assert!(refused(&Change { remove: &[61], ..Change::default() }).contains("no sample has the number 61"));
    assert!(refused(&Change { remove: &[4, 4], ..Change::default() }).contains("sample 4 is named twice"));
    assert!(refused(&Change { c: Some(0.0), ..Change::default() }).contains("C is 0"));
    let class: Vec<u64> = (1..=60).filter(|n| all.labels[*n as usize - 1] == 3.0).collect();
    let message = refused(&Change { remove: &class, ..Change::default() });
    assert!(message.contains("no sample of class 3 would be left"), "{message}");
    // Added samples of the class in the same update are enough.
    let more = data(40, 4, 19);
    let exchanged = changed(&model, &kept, &Change { add: Some(&more), remove: &class, c: None }).expect("an update");
    assert_exact(&exchanged, "a class exchanged");
    let other = TrainingData::new(data(60, 4, 20));
    let refused = changed(&model, &other, &Change { remove: &[1], ..Change::default() });
    assert!(matches!(refused, Err(UpdateError::OtherData(_))), "{refused:?}");
}

#[test]
fn a_precomputed_kernel_cannot_grow() {
    let rows: Vec<[f64; 5]> = (0..4)
        .map(|i| std::array::from_fn(|j| if j == 0 || j == i + 1 { 1.0 + (i * usize::from(j == 0)) as f64 } else { 0.0 }))
        .collect();
    let all = Dataset::from_rows(&rows, &[1.0, -1.0, 1.0, -1.0]).expect("numbers");
    let model = train(&all, &Kernel::Precomputed, None, C_SVC, 1.0, 1e-3);
    let refused = changed(&model, &TrainingData::new(all), &Change { remove: &[1], ..Change::default() });
    assert!(matches!(refused, Err(UpdateError::Path(maxmargin_path::UpdatableError::Precomputed))), "{refused:?}");
}

/// A coefficient of 0 has no sign, so that its row may be of either class.
#[test]
fn a_foreign_row_of_no_weight_is_no_support_vector() {
    let all = data(60, 4, 23);
    let model = trained(&all);
    let mut parts = model.parts().clone();
    let (row, last) = (record(&model).machines[0].rows[0], model.machines().len() - 1);
    let vector = parts.machines[0].support[0];
    let training = &mut parts.record.as_mut().expect("a record").machines[last];
    let at = training.rows.partition_point(|r| *r < row);
    training.rows.insert(at, row);
    parts.machines[last].support.insert(at, vector);
    parts.machines[last].coef.insert(at, 0.0);
    let crafted = Model::new(parts).expect("a model");
    let refused = changed(&crafted, &TrainingData::new(all.clone()), &Change { remove: &[row + 1], ..Change::default() });
    assert!(matches!(refused, Err(UpdateError::OtherData(_))), "{refused:?}");
    assert!(!verify(&crafted, &all, None, None, Par::Seq).expect("a verdict").matches());
}

#[test]
fn an_interrupted_update_changes_nothing() {
    let all = data(120, 4, 21);
    let (model, kept) = (trained(&all), TrainingData::new(all));
    let (before, told) = ((model.clone(), kept.clone()), AtomicUsize::new(0));
    let watch = |_: &Update| {
        if told.fetch_add(1, Ordering::Relaxed) == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let more = data(60, 4, 22);
    let change = Change { add: Some(&more), c: Some(50.0), remove: &[] };
    let ended = update(&model, &kept, &change, MEMORY, Par::Pool, &watch);
    assert!(matches!(ended, Err(UpdateError::Interrupted)), "{ended:?}");
    assert_eq!((model, kept), before);
    assert!(told.load(Ordering::Relaxed) >= 3);
}
