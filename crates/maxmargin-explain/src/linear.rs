//! Games of a linear machine: `φ_p = Σ_{j∈p} w_j (x_j − z̄_j)`, `z̄` being the mean of the
//! background rows, or 0.

use crate::players::Players;
use maxmargin_data::Samples;
use maxmargin_model::Model;

/// The weights of every machine, machines × features.
pub(crate) fn weights(model: &Model, features: usize) -> Vec<f64> {
    let machines = model.machines();
    let support = &model.parts().support;
    let mut weights = vec![0.0; machines.len() * features];
    for (m, (own, machine)) in weights.chunks_exact_mut(features.max(1)).zip(machines).enumerate() {
        if let Some(w) = model.weights(m) {
            own[..w.len()].copy_from_slice(w);
            continue;
        }
        for (i, coef) in machine.support.iter().zip(&machine.coef) {
            support.row(*i as usize).for_each(|j, value| own[j] += coef * value);
        }
    }
    weights
}

/// The mean of all rows.
pub(crate) fn mean(samples: &Samples, features: usize) -> Vec<f64> {
    let mut mean = vec![0.0; features];
    for i in 0..samples.len() {
        samples.row(i).for_each(|j, value| mean[j] += value);
    }
    let count = samples.len() as f64;
    mean.iter_mut().for_each(|sum| *sum /= count);
    mean
}

/// Adds the Shapley values of a row by one machine.
pub(crate) fn add(weights: &[f64], row: &[f64], mean: Option<&[f64]>, players: &Players, values: &mut [f64]) {
    for (j, (w, x)) in weights.iter().zip(row).enumerate() {
        values[players.of(j)] += w * (x - mean.map_or(0.0, |mean| mean[j]));
    }
}
