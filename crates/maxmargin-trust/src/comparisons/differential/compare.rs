//! One case: trained by both sides and compared by the certificate.

use super::cases::{Case, Peer};
use super::peers::{Theirs, train};
use super::{EPS, Error, OBJECTIVE};
use maxmargin::core::Status;
use maxmargin::data::{ClassLabels, Dataset};
use maxmargin::model::Model;
use maxmargin::prelude::{Fitted, Kernel, Loss, Par, Samples, Solver, Svm};

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both found the same.
    Agree,
    /// Ours is better, as our certificate shows.
    Better,
    /// A requirement does not hold.
    Fault(&'static str),
}

/// The figures of a case, the worst of its machines.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The number of rows.
    pub rows: usize,
    /// The number of machines.
    pub machines: usize,
    /// The relative excess of their objective over ours (below 0: theirs is better), the one of
    /// largest size.
    pub objective: f64,
    /// Our relative duality gap.
    pub gap: f64,
    /// Our KKT violation.
    pub kkt: f64,
    /// The largest difference of decision values, without biases that are not unique.
    pub decisions: f64,
    /// The allowed difference.
    pub allowed: f64,
    /// The rows with different labels.
    pub labels: usize,
    /// The machines whose bias is not unique.
    pub loose: usize,
    /// The result.
    pub verdict: Verdict,
}

/// A machine of both sides.
pub(super) struct Pair {
    pub(super) objective: f64,
    pub(super) decisions: f64,
    pub(super) allowed: f64,
    /// The absolute decision value below which ours may have either sign.
    pub(super) near: f64,
    pub(super) loose: bool,
    pub(super) refuted: bool,
}

/// Compares a case of a support vector machine.
pub(super) fn compare(case: &Case, data: &Dataset) -> Result<Outcome, Error> {
    let classes = ClassLabels::new(&data.labels)?;
    let kernel = case.kernel.clone();
    // LIBLINEAR's problems go to our linear solver, LIBSVM's to SMO. A KKT violation bounds an
    // objective that is a sum over all rows less tightly.
    let (solver, eps) = if case.peer == Peer::Liblinear { (Solver::Auto, EPS * 1e-3) } else { (Solver::Smo, EPS) };
    let mut svm = Svm::c_svc(case.c).kernel(kernel).loss(case.loss).bias_term(case.bias_term).solver(solver).eps(eps);
    for (label, weight) in classes.labels().iter().zip(case.weights.iter().flatten()) {
        svm = svm.class_weight(*label, *weight);
    }
    let fitted = svm.fit(data)?;
    let (theirs, labels) = train(case, data, classes.labels())?;
    let ours = fitted.decision_values(&data.samples)?;
    let pairs = match &theirs {
        Theirs::Dual(model) => beside_model(case, data, &fitted, model, &ours)?,
        Theirs::Primal(weights) => vec![beside_weights(case, data, &fitted, weights, &ours)],
        Theirs::Columns(_) => return Err("LIBLINEAR wrote another model".into()),
    };
    let count = pairs.len();
    let predicted = fitted.predict(&data.samples)?;
    let differ: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] != predicted[i]).collect();
    // A row may get another label if one of its machines is undecided.
    let open = |i: usize| (0..count).any(|p| ours[i * count + p].abs() <= pairs[p].near);
    let converged = fitted.status == Status::Converged && fitted.certificate.holds;
    Ok(Outcome {
        gap: fitted.machines.iter().map(|m| m.certificate.relative_gap).fold(0.0, f64::max),
        kkt: fitted.certificate.kkt.max(0.0),
        labels: differ.len(),
        ..verdict(labels.len(), &pairs, converged, differ.iter().all(|&i| open(i)))
    })
}

/// Returns the result of the machines of both sides. `converged` is true if ours did, `undecided`
/// if each label that differs may do so. Figures of our certificate and the labels are the
/// caller's.
pub(super) fn verdict(rows: usize, pairs: &[Pair], converged: bool, undecided: bool) -> Outcome {
    let objective = pairs.iter().map(|p| p.objective).fold(0.0, |most: f64, v| if v.abs() > most.abs() { v } else { most });
    let verdict = if !converged {
        Verdict::Fault("ours did not converge")
    } else if pairs.iter().any(|p| p.refuted) {
        Verdict::Fault("their objective refutes our certificate")
    } else if pairs.iter().any(|p| p.objective < -OBJECTIVE) {
        Verdict::Fault("their objective is better")
    } else if pairs.iter().any(|p| p.decisions > p.allowed) {
        Verdict::Fault("decision values differ")
    } else if !undecided {
        Verdict::Fault("labels differ")
    } else if objective > OBJECTIVE {
        Verdict::Better
    } else {
        Verdict::Agree
    };
    // The machine whose difference comes nearest to the allowed one.
    let worst = pairs.iter().max_by(|a, b| (a.decisions / a.allowed).total_cmp(&(b.decisions / b.allowed)));
    Outcome {
        rows,
        machines: pairs.len(),
        objective,
        gap: 0.0,
        kkt: 0.0,
        decisions: worst.map_or(0.0, |p| p.decisions),
        allowed: worst.map_or(0.0, |p| p.allowed),
        labels: 0,
        loose: pairs.iter().filter(|p| p.loose).count(),
        verdict,
    }
}

/// Returns the greatest `K(x, x)`, computed as in decision values of single vectors.
fn largest_diagonal(case: &Case, data: &Dataset) -> f64 {
    let norm = |i: usize| data.samples.row(i).entries().iter().map(|(_, v)| v * v).sum::<f64>();
    let value = |i: usize| match case.kernel {
        Kernel::Precomputed => 1.0,
        ref kernel => kernel.of_dot(norm(i), norm(i), norm(i)).abs(),
    };
    (0..data.samples.len()).map(value).fold(0.0, f64::max)
}

/// Returns the rounding error of sums of one term per row, for objectives of this size and the few
/// sums they consist of.
pub(super) fn rounding(data: &Dataset, scale: f64) -> f64 {
    4.0 * data.labels.len() as f64 * f64::EPSILON * scale
}

/// Returns the largest distance of the weights of two solutions whose objectives are so far from
/// the optimum.
pub(super) fn reach(ours_off: f64, theirs_off: f64, slack: f64) -> f64 {
    (2.0 * (ours_off.max(0.0) + slack)).sqrt() + (2.0 * (theirs_off.max(0.0) + slack)).sqrt()
}

fn beside_model(case: &Case, data: &Dataset, fitted: &Fitted, model: &Model, ours: &[f64]) -> Result<Vec<Pair>, Error> {
    let count = fitted.machines.len();
    let parts = model.parts();
    if parts.classes != fitted.model.classes() || parts.machines.len() != count {
        return Err("LIBSVM has other classes, or in another order".into());
    }
    let theirs = model.decision_values(&data.samples, Par::Seq)?;
    let at_vectors = model.decision_values(&vectors(case, data, model), Par::Seq)?;
    let diagonal = largest_diagonal(case, data);
    let pairs = (0..count).map(|p| {
        let (machine, certificate) = (&parts.machines[p], fitted.machines[p].certificate);
        let mass: f64 = machine.coef.iter().map(|c| c.abs()).sum();
        let sums = machine.support.iter().map(|&k| at_vectors[k as usize * count + p] - machine.bias);
        let quadratic: f64 = sums.zip(&machine.coef).map(|(sum, c)| sum * c).sum();
        let dual = mass - 0.5 * quadratic;
        let scale = certificate.dual.abs().max(f64::MIN_POSITIVE);
        let (ours_off, theirs_off) = (certificate.primal - certificate.dual, certificate.primal - dual);
        let slack = rounding(data, scale.max(mass));
        let reach = reach(ours_off, theirs_off, slack) * diagonal.sqrt();
        // LIBSVM sums its gradient from kernel values in f32.
        let their_kkt = EPS + f64::from(f32::EPSILON) * mass * diagonal;
        let machine_ours = &fitted.model.machines()[p];
        let bound = |c: f64| case.weights.map_or(vec![c], |w| w.iter().map(|w| w * c).chain([c]).collect());
        let bounds = bound(case.c);
        let free = |coef: &[f64]| coef.iter().any(|a| !bounds.iter().any(|b| (a.abs() - b).abs() <= 1e-9 * b));
        let loose = !free(&machine.coef) || (!free(&machine_ours.coef) && !fitted.model.folded());
        let shift = fitted.model.machines()[p].bias - machine.bias;
        let removed = if loose { shift } else { 0.0 };
        let apart = |i: usize| (ours[i * count + p] - theirs[i * count + p] - removed).abs();
        let decisions = (0..data.labels.len()).map(apart).fold(0.0, f64::max);
        // A kernel that is not positive semidefinite has no weights to compare; among these cases
        // only the sigmoid is one.
        let indefinite = matches!(case.kernel, Kernel::Sigmoid { .. });
        let allowed = if indefinite { 1e-3 } else { 3.0 * reach + certificate.kkt + their_kkt };
        Pair {
            objective: (certificate.dual - dual) / scale,
            decisions,
            allowed,
            near: allowed + removed.abs(),
            loose,
            refuted: !indefinite && dual > certificate.primal + slack,
        }
    });
    Ok(pairs.collect())
}

/// Returns the support vectors as queries of the model: for a precomputed kernel their rows in the
/// data.
fn vectors(case: &Case, data: &Dataset, model: &Model) -> Samples {
    let support = &model.parts().support;
    if case.kernel != Kernel::Precomputed {
        return support.clone();
    }
    let serial = |k: usize| support.row(k).entries().first().map_or(1.0, |(_, v)| *v) as usize - 1;
    data.samples.select(&(0..support.len()).map(serial).collect::<Vec<_>>())
}

/// Compares the primal objective of LIBLINEAR's weights with both of ours.
fn beside_weights(case: &Case, data: &Dataset, fitted: &Fitted, weights: &[f64], ours: &[f64]) -> Pair {
    let certificate = fitted.certificate;
    let value = case.bias_term.feature().unwrap_or(0.0);
    let (plane, bias) = weights.split_at(weights.len() - 1);
    let at = |j: usize| plane.get(j).copied().unwrap_or(0.0);
    let positive = fitted.model.classes()[1];
    let mut objective = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
    let (mut decisions, mut norm) = (0.0_f64, 0.0_f64);
    for (i, label) in data.labels.iter().enumerate() {
        let mut theirs = bias[0] * value;
        let mut squared = value * value;
        data.samples.row(i).for_each(|j, v| {
            theirs += at(j) * v;
            squared += v * v;
        });
        let missed = (1.0 - if *label == positive { theirs } else { -theirs }).max(0.0);
        objective += case.c * if case.loss == Loss::Hinge { missed } else { missed * missed };
        decisions = decisions.max((ours[i] - theirs).abs());
        norm = norm.max(squared);
    }
    let (ours_off, theirs_off) = (certificate.primal - certificate.dual, objective - certificate.dual);
    let scale = certificate.primal.abs().max(f64::MIN_POSITIVE);
    let slack = rounding(data, scale);
    let reach = reach(ours_off, theirs_off, slack) * norm.sqrt();
    Pair {
        objective: (objective - certificate.primal) / scale,
        decisions,
        allowed: reach,
        near: reach,
        loose: false,
        refuted: objective < certificate.dual - slack,
    }
}
