//! Small models for the tests.

use maxmargin_core::{Certificate, Formulation, Rounding, Status};
use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_kernel::Kernel;
use maxmargin_model::{ClassWeights, DecisionRule, Machine, MachineRecord, Model, Multiclass, Parts, Record};

/// Labels of two, three and four classes.
pub(crate) const CLASSES: [&[f64]; 3] = [&[-1.0, 1.0], &[-3.0, 0.0, 4.0], &[7.0, -2.0, 3.0, 4.0]];

/// Numbers between −1 and 1 that look random.
pub(crate) fn noise(count: usize, mut state: u64) -> Vec<f64> {
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}

pub(crate) fn dense(rows: usize, features: usize, seed: u64) -> Samples {
    Samples::from_dense(rows, features, noise(rows * features, seed)).expect("finite numbers")
}

pub(crate) fn sparse(rows: usize, features: usize, seed: u64) -> Samples {
    let values = noise(rows * features, seed);
    let (mut offsets, mut indices, mut kept) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        for j in (0..features).filter(|j| (i * 7 + j * 13) % 5 == 0) {
            indices.push(j as u32);
            kept.push(values[i * features + j]);
        }
        offsets.push(kept.len());
    }
    Samples::from_sparse(features, offsets, indices, kept).expect("valid rows")
}

/// Support vectors of classes in turn. One machine uses all of them, with any signs; several use
/// most of those of their two classes, with the signs that these have.
pub(crate) fn model(kernel: Kernel, support: Samples, classes: &[f64]) -> Model {
    let count = classes.len();
    let machines = pairs(count).enumerate().map(|(p, (a, b))| {
        let mut machine = Machine { bias: 0.125 - 0.25 * p as f64, ..Machine::default() };
        for (k, value) in noise(support.len(), p as u64 + 99).into_iter().enumerate() {
            let class = k % count;
            if count == 2 {
                machine.support.push(k as u32);
                machine.coef.push(value);
            } else if (class == a || class == b) && (k + p) % 4 != 0 {
                machine.support.push(k as u32);
                machine.coef.push(if class == b { value.abs() } else { -value.abs() });
            }
        }
        machine
    });
    let machines = machines.collect();
    Model::new(Parts {
        levels: Vec::new(),
        kernel,
        support,
        machines,
        decision_rule: DecisionRule::Vote,
        classes: classes.to_vec(),
        index_base: 1,
        scaler: None,
        record: None,
        sections: Vec::new(),
        multiclass: Multiclass::OneVsOne,
        calibration: Vec::new(),
        encoder: None,
        threshold: None,
        tie_order: Vec::new(),
    })
    .expect("a valid model")
}

/// The model with one changed thing.
pub(crate) fn changed(model: &Model, change: impl FnOnce(&mut Parts)) -> Result<Model, maxmargin_model::ModelError> {
    let mut parts = model.parts().clone();
    change(&mut parts);
    Model::new(parts)
}

/// A record that fits: row `3 k + 1` is vector `k`, and every machine took more iterations than the
/// one before.
pub(crate) fn record_of(model: &Model) -> Record {
    let training = |(p, machine): (usize, &Machine)| MachineRecord {
        rows: machine.support.iter().map(|k| 3 * u64::from(*k) + 1).collect(),
        folded: None,
        bounded: machine.support.len().min(1) as u64,
        status: Status::Converged,
        iterations: 1234 + p as u64,
        certificate: Certificate { primal: 3.5, dual: 3.25, kkt: 9e-4, infeasible: 0.0, rounding: Rounding::NONE },
    };
    let halved = |class: usize| 1.0 / (1.0 + class as f64);
    Record {
        formulation: Formulation::c_svc(2.0),
        weights: (0..model.classes().len()).map(halved).collect(),
        class_weights: ClassWeights::Balanced,
        given_weights: (0..model.classes().len()).map(|class| 3.0 * halved(class)).collect(),
        sample_weights: None,
        eps: 1e-3,
        gap: Some(1e-6),
        solver: "smo".to_owned(),
        rows: 3 * model.len() as u64 + 9,
        features: model.features() as u64,
        data_sha256: [7; 32],
        machines: model.machines().iter().enumerate().map(training).collect(),
    }
}

pub(crate) fn recorded(kernel: Kernel, support: Samples, classes: &[f64]) -> Model {
    let model = model(kernel, support, classes);
    let record = record_of(&model);
    model.with_record(record).expect("a record that fits")
}

pub(crate) fn kernels() -> Vec<Kernel> {
    vec![
        Kernel::Linear,
        Kernel::Rbf { gamma: 0.7 },
        Kernel::Poly { gamma: 0.5, coef0: -0.25, degree: 3 },
        Kernel::Sigmoid { gamma: 0.3, coef0: 0.1 },
    ]
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}
