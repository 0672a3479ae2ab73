//! Each class against the rest: every machine is the two-class training that it says it is, through
//! everything that models go through.
//!
//! Real data: `pendigits`. Program: `liblinear-train`.

use maxmargin::core::{BiasTerm, Loss};
use maxmargin::cv::{Change, MachineReport, Probability, TrainingData, UpdateError, update, verify};
use maxmargin::data::classes::pairs;
use maxmargin::data::libsvm::write;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par, Scaler};
use maxmargin::kernel::Kernel;
use maxmargin::model::{DecisionRule, Model, Multiclass, decode, encode};
use maxmargin::prelude::FoldPlan;
use maxmargin::{Fitted, Solver, Svm};
use maxmargin_testkit::outside::{dataset, program};
use std::fs;
use std::ops::ControlFlow;
use std::process::Command;

/// Points of the plane in four classes that overlap.
fn four(rows: usize) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, 3).expect("data");
    let x: Vec<f64> = (0..rows).map(|i| data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1)).collect();
    let mut sorted = x.clone();
    sorted.sort_by(f64::total_cmp);
    for (i, x) in x.iter().enumerate() {
        data.labels[i] *= if x + 0.05 * ((i * 7 % 11) as f64 - 5.0) > sorted[rows / 2] { 1.0 } else { 2.5 };
    }
    data
}

/// The same, one class at 1 and all others at −1.
fn against(data: &Dataset, class: f64) -> Dataset {
    let labels = data.labels.iter().map(|label| if *label == class { 1.0 } else { -1.0 }).collect();
    Dataset { labels, ..data.clone() }
}

/// Both kinds of spaces, and weights of classes.
fn all() -> Vec<Svm> {
    vec![
        Svm::rbf(1.5).c(2.0).eps(1e-6),
        Svm::rbf(1.5).c(2.0).eps(1e-6).class_weight(2.5, 3.0),
        Svm::linear().c(2.0).eps(1e-6),
        Svm::linear().loss(Loss::SquaredHinge).bias_term(BiasTerm::Feature(1.0)).eps(1e-6),
        Svm::nu_svc(0.2).kernel(Kernel::rbf(1.0)).eps(1e-6),
        Svm::rbf(1.0).solver(Solver::Irwls).eps(1e-6),
    ]
}

fn fit(svm: &Svm, data: &Dataset) -> Fitted {
    let fitted = svm.fit(data).expect("a training");
    assert!(fitted.certificate.holds, "{:?}", fitted.certificate);
    fitted
}

/// The training of a class against the rest by itself; LIBLINEAR's weights: that of the class
/// counts where it stands alone.
fn alone(svm: &Svm, weighted: bool, data: &Dataset, class: f64) -> Fitted {
    let mut own = against(data, class);
    own.sha256 = [0; 32];
    let plain = if weighted { Svm::rbf(1.5).c(2.0).eps(1e-6) } else { svm.clone() };
    let factor = if weighted && class == 2.5 { 3.0 } else { 1.0 };
    fit(&plain.class_weight(1.0, factor), &own)
}

/// Row of the data and coefficient of a machine's support vectors, and its bias; weights where it
/// keeps these alone.
fn machine(model: &Model, p: usize) -> (Vec<u64>, Vec<f64>, f64, Option<Vec<f64>>) {
    let (machine, training) = (&model.machines()[p], &model.record().expect("a record").machines[p]);
    let coef = training.folded.clone().unwrap_or_else(|| machine.coef.clone());
    (training.rows.clone(), coef, machine.bias, model.weights(p).map(<[f64]>::to_vec))
}

#[test]
fn every_machine_is_the_training_of_its_class_against_the_rest() {
    let data = four(120);
    for (case, svm) in all().into_iter().enumerate() {
        let fitted = fit(&svm.clone().one_vs_rest(), &data);
        let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
        assert_eq!(
            (model.decision_rule(), model.multiclass(), model.machines().len()),
            (DecisionRule::Argmax, Multiclass::OneVsRest, 4)
        );
        let decisions = fitted.decision_values(&data.samples).expect("decisions");
        for (p, class) in model.classes().to_vec().into_iter().enumerate() {
            let own = alone(&svm, case == 1, &data, class);
            assert_eq!(machine(&model, p), machine(&own.model, 0), "case {case}, class {class}");
            let of = own.decision_values(&data.samples).expect("decisions");
            let column = decisions.iter().skip(p).step_by(4);
            assert!(column.zip(&of).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())), "case {case}, class {class}");
        }
        let labels = fitted.predict(&data.samples).expect("labels");
        for (row, label) in decisions.chunks_exact(4).zip(&labels) {
            let place = model.classes().iter().position(|class| class == label).expect("a class");
            assert!(row.iter().all(|f| *f <= row[place]));
        }
        let verdict = verify(&model, &data, None, None, Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met() && verdict.machines.len() == 4, "case {case}: {:?}", verdict.checks);
        assert_eq!(verdict.machines[1].labels, Some((None, model.classes()[1])));
        let mut parts = model.into_parts();
        parts.record.as_mut().expect("a record").machines.swap(0, 1);
        if let Ok(changed) = Model::new(parts) {
            assert!(!verify(&changed, &data, None, None, Par::Seq).expect("a verdict").matches(), "case {case}");
        }
    }
}

#[test]
fn folds_are_trainings_of_their_rows() {
    let data = four(120);
    let plan = FoldPlan::stratified(&data.labels, 4, 2).expect("folds");
    for (case, svm) in all().into_iter().enumerate() {
        let svm = svm.one_vs_rest();
        let report = svm.cross_validate(&data, &plan).expect("folds");
        assert!(report.folds.iter().all(|fold| fold.certificate.holds) && report.machines == 4, "case {case}");
        for fold in 0..4 {
            let (train, test) = (plan.train(fold), plan.test(fold));
            let own = fit(&svm, &data.select(&train));
            let gap = |m: &MachineReport| (m.certificate.primal - m.certificate.dual).max(0.0);
            let judged = &report.folds[fold];
            let full = report.full.iter().flat_map(|full| &full.machines);
            let most: f64 = own.machines.iter().chain(&judged.machines).chain(full).map(gap).sum();
            let objective: f64 = own.machines.iter().map(|m| m.objective).sum();
            assert!((judged.objective - objective).abs() <= most + 1e-9 * (1.0 + objective.abs()), "case {case}, fold {fold}");
            let queries = data.samples.select(test);
            let (decisions, labels) = (own.decision_values(&queries).expect("decisions"), own.predict(&queries).expect("labels"));
            for (at, &i) in test.iter().enumerate() {
                let (found, expected) = (&report.decisions[4 * i..4 * i + 4], &decisions[4 * at..4 * at + 4]);
                // A free bias may be anywhere between its bounds, and so may the margin of ν:
                // decision values are further apart than objectives.
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.05 * (1.0 + b.abs());
                assert!(case == 4 || found.iter().zip(expected).all(near), "case {case}, row {i}: {found:?} {expected:?}");
                let clear =
                    (0..4).filter(|&p| expected[p] > expected.iter().copied().fold(f64::MIN, f64::max) - 0.2).count() == 1;
                assert!(case == 4 || !clear || report.predicted[i] == labels[at], "case {case}, row {i}");
            }
        }
    }
    let loo = Svm::rbf(1.5).c(2.0).one_vs_rest().leave_one_out(&four(40)).expect("folds");
    assert!(loo.folds.len() == 40 && loo.folds.iter().all(|fold| fold.certificate.holds));
}

/// Four machines need the rows of one.
#[test]
fn machines_of_all_samples_share_their_rows() {
    let (data, svm) = (four(120), Svm::rbf(1.5).c(2.0).eps(1e-6).one_vs_rest());
    assert!(fit(&svm, &data).kernel.computed <= 120);
    let plan = FoldPlan::stratified(&data.labels, 4, 2).expect("folds");
    let report = svm.cross_validate(&data, &plan).expect("folds");
    assert!(report.rows_computed <= 120, "{}", report.rows_computed);
    // Side by side as one after the other.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let two = pool.install(|| fit(&svm.clone().threads(Par::Pool), &data));
    assert_eq!(two.model, fit(&svm, &data).model);
    assert!(two.kernel.computed <= 240, "{}", two.kernel.computed);
}

#[test]
fn two_classes_are_one_machine_in_any_case() {
    let data = Generator::Banana.generate(60, None, 1).expect("data");
    let svm = Svm::rbf(1.0);
    assert_eq!(fit(&svm.clone().one_vs_rest(), &data).model, fit(&svm, &data).model);
}

#[test]
fn sigmoids_of_classes_share_what_there_is() {
    let data = four(160);
    let labels = ClassLabels::new(&data.labels).expect("classes");
    for way in Probability::ALL {
        let fitted = fit(&Svm::rbf(1.5).c(2.0).one_vs_rest().probability(way), &data);
        assert_eq!((fitted.model.decision_rule(), fitted.model.calibration().len()), (DecisionRule::Coupled, 4));
        let p = fitted.model.probabilities(&data.samples, Par::Seq).expect("probabilities");
        let decisions = fitted.decision_values(&data.samples).expect("decisions");
        for (row, of) in p.chunks_exact(4).zip(decisions.chunks_exact(4)) {
            let each: Vec<f64> = fitted.model.calibration().iter().zip(of).map(|(one, f)| one.probability(*f)).collect();
            let sum: f64 = each.iter().sum();
            assert!(row.iter().zip(&each).all(|(p, one)| (p - one / sum).abs() < 1e-15));
        }
        let found = fitted.calibration.and_then(|found| found.reliability).expect("scores");
        let shares: f64 = labels.sizes().iter().map(|n| *n as f64 / 160.0).map(|share| -share * share.ln()).sum();
        assert!(found.log_loss < 0.8 * shares, "{} {shares}", found.log_loss);
        // Later as at once.
        let plain = fit(&Svm::rbf(1.5).c(2.0).one_vs_rest(), &data).model;
        let again = Svm::of_model(&plain).expect("a record").probability(way).calibrate(plain, &data).expect("a calibration");
        assert_eq!(again.model, fitted.model);
    }
}

#[test]
fn updates_are_refused_by_name() {
    let data = four(60);
    let fitted = fit(&Svm::rbf(1.0).keep_vectors().one_vs_rest(), &data);
    let kept = TrainingData::new(data);
    let change = Change { add: None, remove: &[1], c: None };
    let refused = update(&fitted.model, &kept, &change, 1 << 24, Par::Seq, &|_| ControlFlow::Continue(()));
    let error = refused.expect_err("no path");
    assert!(matches!(error, UpdateError::DecisionRule) && error.to_string().contains("against the rest"), "{error}");
}

#[test]
fn votes_and_the_greatest_value_are_different_rules() {
    let data = four(150);
    let (pairs_, rest) = (fit(&Svm::rbf(1.5), &data), fit(&Svm::rbf(1.5).one_vs_rest(), &data));
    assert_eq!(pairs_.model.machines().len(), pairs(4).count());
    assert!(rest.model.clone().with_decision_rule(DecisionRule::Vote).is_err());
    let right = |fitted: &Fitted| {
        let labels = fitted.predict(&data.samples).expect("labels");
        labels.iter().zip(&data.labels).filter(|(a, b)| a == b).count()
    };
    assert!(right(&rest) > 120 && right(&pairs_) > 120, "{} {}", right(&rest), right(&pairs_));
}

/// The columns of weights of LIBLINEAR's text, and its labels.
fn liblinear(text: &str) -> (Vec<f64>, Vec<Vec<f64>>) {
    let numbers = |line: &str| -> Vec<f64> { line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect() };
    let labels = text.lines().find(|line| line.starts_with("label")).map(numbers).expect("labels");
    (labels, text.lines().skip_while(|line| *line != "w").skip(1).map(numbers).collect())
}

#[test]
fn weights_are_liblinears() {
    let Some(train) = program("liblinear-train") else { return };
    let Some(mut data) = dataset("pendigits") else { return };
    data = data.select(&(0..1500).collect::<Vec<_>>());
    data.samples =
        Scaler::fit(&data.samples, ScaleMethod::MinMax { lower: 0.0, upper: 1.0 }).apply(&data.samples).expect("ranges");
    let mut text = Vec::new();
    write(&data, &mut text).expect("memory");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("data"), text).expect("room");
    for (number, loss) in [("1", Loss::SquaredHinge), ("3", Loss::Hinge)] {
        let status = Command::new(&train)
            .args(["-s", number, "-B", "1", "-e", "0.00001", "-c", "0.1", "-w3", "2", "-q"])
            .args([path("data"), path("m")])
            .status();
        assert!(status.expect("it runs").success());
        let (labels, rows) = liblinear(&fs::read_to_string(path("m")).expect("a model"));
        let svm = Svm::linear().loss(loss).bias_term(BiasTerm::Feature(1.0)).c(0.1).class_weight(3.0, 2.0).eps(1e-6);
        let model = fit(&svm.one_vs_rest(), &data).model;
        for (p, class) in model.classes().iter().enumerate() {
            let column = labels.iter().position(|label| label == class).expect("a class");
            let weights = model.weights(p).expect("weights");
            let size = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            let apart = weights.iter().zip(&rows).map(|(w, row)| (w - row[column]).powi(2)).sum::<f64>().sqrt();
            assert!(apart < 1e-2 * size, "-s {number}, class {class}: {apart} of {size}");
            assert!(
                (model.machines()[p].bias - rows[rows.len() - 1][column]).abs() < 1e-2 * size.max(1e-3),
                "-s {number}, class {class}"
            );
        }
    }
}
