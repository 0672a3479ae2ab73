//! Linear classifiers beyond the duals: what their models say of the training, and its
//! verification.

use maxmargin::core::{Certificate, Goal, MarginLoss, Status};
use maxmargin::cv::{FoldPlan, RunControl};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::Kernel;
use maxmargin::model::{Model, encode, read};
use maxmargin::prelude::{BiasTerm, Generator, Penalty};
use maxmargin::{
    LinearClassifier, LinearMachineReport, LinearObjective, LinearRecord, Solver, Svm, cross_validate_linear, fit_linear,
    verify_linear,
};

fn data(classes: usize) -> Dataset {
    let mut data = Generator::Blobs.generate(150, Some(6), 3).expect("generated data");
    if classes > 2 {
        for i in 0..data.labels.len() {
            let row = data.samples.row(i).entries();
            data.labels[i] = f64::from(u8::from(row.iter().any(|(j, v)| *j == 0 && *v > 0.0))) + data.labels[i].max(0.0);
        }
    }
    data
}

fn machines() -> [LinearClassifier; 5] {
    [
        LinearClassifier::logistic(0.5),
        LinearClassifier::logistic(0.5).penalty(Penalty::L1).bias_term(BiasTerm::Feature(2.0)),
        LinearClassifier::sparse_svc(0.5).class_weight(1.0, 3.0),
        LinearClassifier::sparse_svc(0.5).bias_term(BiasTerm::None),
        LinearClassifier::crammer_singer(0.5).bias_term(BiasTerm::Feature(1.0)),
    ]
}

fn record(model: &Model) -> LinearRecord {
    LinearRecord::of(model).expect("a record in order").expect("a record")
}

#[test]
fn models_are_verified_from_their_files() {
    for classes in [2, 3] {
        let data = data(classes);
        for machine in machines() {
            let weights: Vec<f64> = (0..data.labels.len()).map(|i| 0.5 + (i % 3) as f64).collect();
            let fitted = machine.clone().sample_weights(weights).fit(&data).expect("a training");
            let model = read(&encode(&fitted.model).expect("a file")).expect("the file");
            let record = record(&model);
            let certificates = |machines: &[LinearMachineReport]| -> Vec<Certificate> {
                machines.iter().map(|machine| machine.certificate.as_kept()).collect()
            };
            assert_eq!(certificates(&record.machines), certificates(&fitted.machines), "{machine:?}");
            let verdict = verify_linear(&model, &record, &data, None, Par::Seq).expect("a verdict");
            assert!(verdict.matches() && verdict.met(), "{machine:?}: {verdict:?}");
            let stricter = verify_linear(&model, &record, &data, Some(Goal::Gap(1e-15)), Par::Seq).expect("a verdict");
            assert!(stricter.matches() && !stricter.met());
        }
    }
}

#[test]
fn other_data_and_other_weights_are_found_out() {
    let data = data(3);
    for machine in machines() {
        let model = machine.fit(&data).expect("a training").model;
        let verdict =
            |model: &Model, data: &Dataset| verify_linear(model, &record(model), data, None, Par::Seq).expect("a verdict");
        let mut other = data.clone();
        let swapped = (1..150).find(|&i| other.labels[i] != other.labels[0]).expect("another class");
        other.labels.swap(0, swapped);
        assert!(!verdict(&model, &other).matches(), "{machine:?}: other labels");
        assert!(!verdict(&model, &data.select(&(1..150).collect::<Vec<_>>())).matches(), "{machine:?}: fewer rows");
        let mut parts = model.clone().into_parts();
        parts.machines[0].coef[0] *= 1.001;
        let changed = Model::new(parts).expect("a model");
        assert!(!verdict(&changed, &data).matches(), "{machine:?}: other weights");
    }
}

#[test]
fn damaged_records_are_errors() {
    let model = LinearClassifier::crammer_singer(1.0).fit(&data(3)).expect("a training").model;
    let bytes = model.section(*b"linear\0\0").expect("a section").to_vec();
    for cut in (0..bytes.len()).step_by(7) {
        let cut = model.clone().with_section(*b"linear\0\0", bytes[..cut].to_vec());
        assert!(LinearRecord::of(&cut).is_err());
    }
    let other = LinearClassifier::crammer_singer(1.0).fit(&data(2)).expect("a training").model;
    let error = LinearRecord::of(&other.with_section(*b"linear\0\0", bytes)).expect_err("another model's record");
    assert!(error.to_string().contains("does not fit the model"), "{error}");
}

/// The limit holds inside a working set: one of few columns has a single one.
#[test]
fn limits_end_a_training_with_an_honest_certificate() {
    let data = data(2);
    for machine in machines() {
        let fitted = machine.gap(1e-12).limits(Some(1), None).fit(&data).expect("a training");
        let of = &fitted.machines[0];
        assert_eq!(of.status, Status::IterationLimit, "{of:?}");
        assert!(!fitted.certificate.holds && of.certificate.gap().is_finite(), "{of:?}");
        assert!(of.work.newton_steps <= 1, "{of:?}");
    }
}

/// The folds of a cross-validation are trainings on the other rows, whose scaling is their own.
#[test]
fn folds_are_trainings_on_the_other_rows() {
    let data = data(3);
    let plan = FoldPlan::contiguous(150, 3).expect("a plan");
    let svm = Svm::c_svc(0.5).kernel(Kernel::Linear).solver(Solver::Linear).one_vs_rest().scale(ScaleMethod::Standard).gap(1e-9);
    let control = RunControl::unlimited();
    for (objective, bias_term) in [
        (LinearObjective::Margin { loss: MarginLoss::Logistic, penalty: Penalty::L2 }, BiasTerm::Free),
        (LinearObjective::Margin { loss: MarginLoss::SquaredHinge, penalty: Penalty::L1 }, BiasTerm::Feature(1.0)),
        (LinearObjective::CrammerSinger, BiasTerm::None),
    ] {
        let svm = svm.clone().bias_term(bias_term);
        let report = cross_validate_linear(objective, &svm, &data, &plan, &control).expect("a cross-validation");
        assert!(report.certificate().expect("a certificate").holds);
        for fold in 0..3 {
            let alone = fit_linear(objective, &svm, &data.select(&plan.train(fold)), &control).expect("a training");
            let values = alone.decision_values(&data.samples.select(plan.test(fold))).expect("decision values");
            let own = plan.test(fold).iter().flat_map(|&i| report.decisions[3 * i..3 * i + 3].to_vec());
            assert!(own.zip(values).all(|(a, b)| (a - b).abs() <= 1e-12), "{objective:?}, fold {fold}");
        }
        let whole = fit_linear(objective, &svm, &data, &control).expect("a training");
        let model = read(&encode(&whole.model).expect("a file")).expect("the file");
        let verdict = verify_linear(&model, &record(&model), &data, None, Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met(), "{verdict:?}");
    }
}
