//! LIBLINEAR's formulations.

use super::{Place, Side};
use crate::comparisons::differential::Error;
use maxmargin::data::libsvm::{ReadOptions, parse};
use maxmargin::data::{Dataset, Par, RunControl};
use maxmargin::liblinear::{LinearModel, Parameters, train};
use maxmargin::libsvm::LibsvmRun;
use maxmargin::model::liblinear::read_model;
use std::time::Instant;

/// Returns both sides, and our gap.
pub(super) fn both(kind: i32, place: &Place) -> Result<([Side; 2], f64), Error> {
    // A thousandth of LIBLINEAR's default, so that our gap is a thousandth of ours.
    let eps = match kind {
        2 => 1e-5,
        11 => 1e-7,
        _ => 1e-4,
    };
    let parameters = Parameters { solver: kind, c: 1.0, eps: Some(eps), p: 0.125, bias: 1.0, ..Parameters::default() };
    let options = format!("-q -s {kind} -c 1 -B 1 -p 0.125 -e {eps}");
    let (text, predicted, seconds) = place.run(["liblinear-train", "liblinear-predict"], &options)?;
    let objective = primal(&read_model(&text)?, &parameters, &place.train);
    let theirs = Side { objective, predicted, seconds };

    let begun = Instant::now();
    let data = parse(&place.text, &ReadOptions::default(), Par::Seq, &RunControl::unlimited())?;
    let trained = train(data, &parameters, &LibsvmRun::default())?;
    let mut text = Vec::new();
    trained.model.write(&mut text)?;
    let seconds = begun.elapsed().as_secs_f64();
    let model = read_model(&text)?;
    let decisions = model.decision_values(&place.test.samples, Par::Seq);
    let predicted = decisions.chunks_exact(model.weights.len()).map(|row| model.label(row)).collect();
    let gap = trained.certificate.map_or(f64::NAN, |certificate| certificate.relative_gap);
    Ok(([Side { objective: primal(&model, &parameters, &place.train), predicted, seconds }, theirs], gap))
}

/// Returns `½ ‖w‖² + C Σ loss`, summed over the columns of weights.
fn primal(model: &LinearModel, parameters: &Parameters, data: &Dataset) -> f64 {
    let columns = model.weights.len();
    let decisions = model.decision_values(&data.samples, Par::Seq);
    let of = |column: usize| {
        let norm: f64 = model.weights[column].iter().map(|w| w * w).sum();
        let loss = data.labels.iter().zip(decisions.chunks_exact(columns)).map(|(label, row)| {
            let missed = if model.is_regression() {
                (label - row[column]).abs() - parameters.p
            } else {
                let own = f64::from(model.labels[column]) == *label;
                1.0 - if own { row[column] } else { -row[column] }
            };
            if matches!(parameters.solver, 3 | 13) { missed.max(0.0) } else { missed.max(0.0).powi(2) }
        });
        0.5 * norm + parameters.c * loss.sum::<f64>()
    };
    (0..columns).map(of).sum()
}
