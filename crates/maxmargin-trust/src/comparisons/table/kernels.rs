//! LIBSVM's formulations with an RBF kernel.

use super::{Place, Side};
use crate::comparisons::differential::{EPS, Error};
use maxmargin::cv::{Claim, verify};
use maxmargin::data::libsvm::{ReadOptions, parse};
use maxmargin::data::{ClassLabels, Dataset, Par, RunControl, classes::pairs};
use maxmargin::kernel::gamma_scale;
use maxmargin::libsvm::{LibsvmProblem, LibsvmRun, Parameters, TrainedModel, train};
use std::time::Instant;

/// Returns both sides, and our gap. All parameters are exact in `f32`, to which Debian's
/// `svm-train` rounds some.
pub(super) fn both(kind: i32, place: &Place) -> Result<([Side; 2], f64), Error> {
    let gamma = gamma_scale(&place.train.samples).log2().round().exp2();
    let nu = if kind == 1 { feasible(&place.train.labels)? } else { 0.25 };
    let parameters = Parameters { svm_type: kind, gamma, eps: EPS, c: 8.0, nu, p: 0.125, ..Parameters::default() };
    let options = format!("-q -m 1000 -s {kind} -t 2 -g {gamma} -c 8 -n {nu} -p 0.125 -e {EPS}");
    let (text, predicted, seconds) = place.run(["svm-train", "svm-predict"], &options)?;
    let (objective, _) = certified_objective(&text, &parameters, &place.train)?;
    let theirs = Side { objective, predicted, seconds };

    let begun = Instant::now();
    let data = parse(&place.text, &ReadOptions::default(), Par::Seq, &RunControl::unlimited())?;
    let trained = train(&LibsvmProblem::new(data, &parameters)?, &parameters, &LibsvmRun::default())?;
    let mut text = Vec::new();
    trained.learned.write(&mut text)?;
    let seconds = begun.elapsed().as_secs_f64();
    let predicted = TrainedModel::read(&text)?.predict(&place.test.samples, Par::Seq)?;
    let (objective, gap) = certified_objective(&text, &parameters, &place.train)?;
    Ok(([Side { objective, predicted, seconds }, theirs], gap))
}

/// Returns the minimised dual objective of a model, and its relative gap: both computed from its
/// coefficients and the data.
fn certified_objective(text: &[u8], parameters: &Parameters, data: &Dataset) -> Result<(f64, f64), Error> {
    let learned = TrainedModel::read(text)?;
    let model = learned.model().ok_or("a model of one class")?;
    let claim = Claim { formulation: parameters.shape().formulation, weights: Vec::new() };
    let verdict = verify(model, data, Some(&claim), None, Par::Seq)?;
    if verdict.machines.is_empty() {
        return Err(format!("a model that is not of this data: {:?}", verdict.checks).into());
    }
    let certificates = || verdict.machines.iter().map(|machine| machine.certificate);
    let gap = certificates().map(|certificate| certificate.relative_gap()).fold(0.0, f64::max);
    Ok((certificates().map(|certificate| -certificate.dual).sum(), gap))
}

/// Returns a ν that all pairs of classes allow: half of the largest, rounded down to a power of 2.
fn feasible(labels: &[f64]) -> Result<f64, Error> {
    let classes = ClassLabels::new(labels)?;
    let size = |class: usize| classes.sizes()[class] as f64;
    let most = pairs(classes.count()).map(|(a, b)| 2.0 * size(a).min(size(b)) / (size(a) + size(b)));
    Ok((0.5 * most.fold(1.0, f64::min)).log2().floor().exp2())
}
