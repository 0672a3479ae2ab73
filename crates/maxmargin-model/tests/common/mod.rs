//! Small models for the tests.
#![allow(dead_code, reason = "each test file uses some of it")]

use maxmargin_core::{Certificate, Loss, Offset, Status};
use maxmargin_data::Samples;
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Parts, Record};

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

pub(crate) fn model(kernel: Kernel, support: Samples) -> Model {
    let coef = noise(support.len(), 99);
    let (negative, positive) = (-1.0, 1.0);
    Model::new(Parts {
        kernel,
        support,
        coef,
        bias: 0.125,
        negative,
        positive,
        index_base: 1,
        scaler: None,
        record: None,
        sections: Vec::new(),
    })
    .expect("a valid model")
}

pub(crate) fn recorded(kernel: Kernel, support: Samples) -> Model {
    let features = support.features() as u64;
    let support_rows: Vec<u64> = (0..support.len() as u64).map(|k| 3 * k + 1).collect();
    let record = Record {
        c: 2.0,
        weights: [1.0, 0.5],
        eps: 1e-3,
        rows: 3 * support.len() as u64 + 5,
        features,
        data_sha256: [7; 32],
        support_rows,
        bounded: 1,
        status: Status::Converged,
        iterations: 1234,
        certificate: Certificate { primal: 3.5, dual: 3.25, kkt: 9e-4, infeasible: 0.0 },
        loss: Loss::Hinge,
        offset: Offset::Free,
        folded: None,
    };
    model(kernel, support).with_record(record).expect("a record that fits")
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
