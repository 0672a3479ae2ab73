//! Every use of a model file.

use maxmargin_core::{Formulation, Goal};
use maxmargin_cv::{Change, Claim, Conformal, TrainingData, update, verify};
use maxmargin_data::{Dataset, Par, Samples};
use maxmargin_model::{Model, decode, encode, libsvm, read};
use maxmargin_path::Update;
use std::ops::ControlFlow;

/// Bytes of kernel columns in an update.
const MEMORY: u64 = 1 << 20;

/// Breakpoints after which a path is stopped. The tests look for panics, not for the end of the
/// path.
const ENOUGH: usize = 2000;

/// Reads `bytes` as a model and uses it in every way. Returns true if it is a model. Nothing may
/// panic.
pub(crate) fn decode_all(bytes: &[u8]) -> bool {
    let Ok(model) = read(bytes) else { return false };
    consume(&model, &Dataset::from_rows(&[[0.5, -1.0], [1.0, 0.25], [-2.0, 0.0]], &[1.0, -1.0, 3.0]).expect("numbers"));
    true
}

/// Describes, predicts with, verifies, updates and writes `model`. `data` may be its training data.
pub(crate) fn consume(model: &Model, data: &Dataset) {
    describe(model);
    let kept = TrainingData::of(model).ok().flatten();
    let own = kept.as_ref().map(|kept| &kept.data);
    for data in own.into_iter().chain([data]) {
        predict(model, &data.samples);
        let weights = model.classes().first().map(|label| (*label, 2.0)).into_iter().collect();
        let claim = Claim { formulation: Formulation::c_svc(1.0), weights };
        for claim in [None, Some(&claim)] {
            // An error is a valid outcome.
            let _ = verify(model, data, claim, None, Par::Seq).map(|verdict| (verdict.matches(), verdict.met()));
        }
    }
    predict(model, &Samples::from_sparse(9, vec![0, 0, 2], vec![3, 8], vec![1.0, -1.0]).expect("rows"));
    for kept in kept.into_iter().chain([TrainingData::new(data.clone())]) {
        change(model, &kept);
    }
    write(model);
}

fn describe(model: &Model) {
    let _ = (model.support_vectors(), model.features(), model.folded(), model.len(), format!("{:?}", model.parts().scaler));
    for p in 0..model.machines().len() {
        let _ = model.weights(p).map(|w| w.iter().map(|v| v * v).sum::<f64>());
    }
    let Some(record) = model.record() else { return };
    let _ = (record.status(), record.iterations(), record.worst().map(|worst| worst.bounded));
    let met = |machine: &maxmargin_model::MachineRecord| record.goal().met(&machine.certificate);
    let _ = record.machines.iter().filter(|machine| met(machine)).count();
    let _: u64 = record.machines.iter().map(|machine| machine.bounded).sum();
}

fn predict(model: &Model, samples: &Samples) {
    let Ok(decisions) = model.decision_values(samples, Par::Seq) else { return };
    assert_eq!(decisions.len(), samples.len() * model.machines().len());
    if let Ok(probabilities) = model.probabilities(samples, Par::Seq) {
        let rows = probabilities.chunks_exact(model.outcomes().len());
        assert_eq!(rows.len(), samples.len());
        rows.for_each(|row| {
            assert!(row.iter().all(|p| (0.0..=1.0).contains(p)) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        });
    }
    if let Ok(Some(kept)) = Conformal::of(model) {
        // Each kind of target has one of them, and the others are errors.
        let groups = kept.groups().map(|names| vec![names[0].clone(); samples.len()]);
        let groups = groups.as_deref();
        let bounds = kept.intervals(model, samples, kept.level(), groups, Par::Seq).map(|all| all.len());
        let sets = kept.sets(model, samples, kept.level(), kept.per_class(), groups, Par::Seq).map(|all| all.len());
        let p_values = kept.p_values(model, samples, groups, Par::Seq).map(|all| all.len());
        let found = [bounds, sets.map(|all| all / model.classes().len().max(1)), p_values];
        assert!(found.into_iter().flatten().all(|rows| rows == samples.len()));
    }
    let labels = model.predict(samples, Par::Seq).expect("they were decided before");
    assert!(model.classes().is_empty() || labels.iter().all(|label| model.classes().contains(label)));
}

fn change(model: &Model, kept: &TrainingData) {
    let one = |row: usize| kept.data.select(&[row]);
    let add = (!kept.data.samples.is_empty()).then(|| one(kept.data.samples.len() - 1));
    let remove: Vec<u64> = kept.numbers.iter().copied().take(1).collect();
    for change in [
        Change { add: add.as_ref(), remove: &[], c: None },
        Change { add: None, remove: &remove, c: None },
        Change { add: add.as_ref(), remove: &remove, c: Some(0.5) },
    ] {
        let watch =
            |update: &Update| if update.breakpoints > ENOUGH { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let Ok(updated) = update(model, kept, &change, MEMORY, Par::Seq, &watch) else { continue };
        let _ = (updated.sum(), updated.status());
        // A class with the weight 0 gives an error in place of a verdict.
        let _ = verify(&updated.model, &updated.kept.data, None, Some(Goal::Kkt(1e-3)), Par::Seq);
        let again = decode(&encode(&updated.model).expect("encodable")).expect("what was written reads back");
        assert_eq!(TrainingData::of(&again).expect("whole"), Some(updated.kept));
    }
}

fn write(model: &Model) {
    let bytes = encode(model).expect("encodable");
    let again = decode(&bytes).expect("what was written reads back");
    // Compared as bytes, since a certificate may have NaN.
    assert_eq!(encode(&again).expect("encodable"), bytes);
    let mut text = Vec::new();
    if libsvm::write_model(model, &mut text).is_ok() {
        let _ = libsvm::read_model(&text);
    }
}
