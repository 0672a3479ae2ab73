//! Machines without a dual of ours, beside LIBLINEAR: logistic regression, the L1 norm, all classes
//! at once.
//!
//! A solution that is `δ` from the optimum has weights within `√(2 δ)` of the best for the L2 norm.
//! For the L1 norm its losses are near the best: the losses are convex and `P(w) − P* ≥ Σ C_i D_i`,
//! with `D_i ≥ (s_i − s*_i)²` for the squared hinge of slack `s`, and `D_i ≥ 2 (p_i − p*_i)²` for
//! the logistic loss of probability `p`. There, slacks and probabilities are compared.

use super::Error;
use super::cases::Case;
use super::compare::{Outcome, Pair, reach, rounding, verdict};
use super::peers::{Theirs, train};
use maxmargin::core::{Certificate, MarginLoss, Penalty, Status};
use maxmargin::data::{ClassLabels, Dataset};
use maxmargin::model::liblinear::LinearModel;
use maxmargin::prelude::Par;
use maxmargin::{LinearClassifier, LinearObjective};

/// Our relative duality gap.
const GAP: f64 = 1e-8;

/// Returns the objective of LIBLINEAR's solver of this number.
fn objective(solver: i32) -> Result<LinearObjective, Error> {
    let margin = |loss, penalty| Ok(LinearObjective::Margin { loss, penalty });
    match solver {
        0 | 7 => margin(MarginLoss::Logistic, Penalty::L2),
        4 => Ok(LinearObjective::CrammerSinger),
        5 => margin(MarginLoss::SquaredHinge, Penalty::L1),
        6 => margin(MarginLoss::Logistic, Penalty::L1),
        other => Err(format!("-s {other} is no such machine").into()),
    }
}

/// Trains `case` by both programs and compares.
pub(super) fn compare(case: &Case, solver: i32, data: &Dataset) -> Result<Outcome, Error> {
    let classes = ClassLabels::new(&data.labels)?;
    let of = objective(solver)?;
    let mut classifier = LinearClassifier::of(of, case.c).bias_term(case.bias_term).gap(GAP);
    for (label, weight) in classes.labels().iter().zip(case.weights.iter().flatten()) {
        classifier = classifier.class_weight(*label, *weight);
    }
    let fitted = classifier.fit(data)?;
    let (Theirs::Columns(model), labels) = train(case, data, classes.labels())? else {
        return Err("LIBLINEAR wrote another model".into());
    };
    let named: Vec<f64> = model.labels.iter().map(|label| f64::from(*label)).collect();
    let columns = model.weights.len();
    let mut theirs = model.decision_values(&data.samples, Par::Seq);
    // Its one column is for its first class, which is 1 of 1 and -1; ours is for the greater label.
    let other_way = columns == 1 && named.first() == classes.labels().first();
    if columns > 1 && named != classes.labels() {
        return Err("LIBLINEAR has other classes, or in another order".into());
    }
    if other_way {
        theirs.iter_mut().for_each(|value| *value = -*value);
    }
    let ours = fitted.model.decision_values(&data.samples, Par::Seq)?;
    let both = Both { case, of, data, classes: &classes, model: &model, ours: &ours, theirs: &theirs, columns };
    let certificates: Vec<Certificate> = fitted.machines.iter().map(|machine| machine.certificate).collect();
    let pairs: Vec<Pair> = certificates.iter().enumerate().map(|(p, certificate)| both.pair(p, certificate)).collect();
    let predicted = fitted.model.predict(&data.samples, Par::Seq)?;
    let differ: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] != predicted[i]).collect();
    let near = pairs.iter().map(|pair| pair.near).fold(0.0, f64::max);
    let undecided = differ.iter().all(|&i| both.lead(i) <= near);
    let converged = fitted.machines.iter().all(|machine| machine.status == Status::Converged) && fitted.certificate.holds;
    Ok(Outcome {
        gap: certificates.iter().map(Certificate::relative_gap).fold(0.0, f64::max),
        kkt: certificates.iter().map(|certificate| certificate.kkt).fold(0.0, f64::max),
        labels: differ.len(),
        ..verdict(data.labels.len(), &pairs, converged, undecided)
    })
}

/// The decision values of both sides, rows × columns, and what they are of.
struct Both<'a> {
    case: &'a Case,
    of: LinearObjective,
    data: &'a Dataset,
    classes: &'a ClassLabels,
    model: &'a LinearModel,
    ours: &'a [f64],
    theirs: &'a [f64],
    columns: usize,
}

impl Both<'_> {
    /// The sign of row `i` in column `p`.
    fn sign(&self, i: usize, p: usize) -> f64 {
        let own = if self.columns == 1 { 1 } else { p };
        if self.classes.of()[i] as usize == own { 1.0 } else { -1.0 }
    }

    /// The cost of row `i` in column `p`: of more than two classes, the rest has C itself.
    fn cost(&self, i: usize, p: usize) -> f64 {
        let class = self.classes.of()[i] as usize;
        let weighted = self.columns == 1 || self.of == LinearObjective::CrammerSinger || class == p;
        let factor = self.case.weights.and_then(|weights| weights.get(class).copied()).filter(|_| weighted);
        self.case.c * factor.unwrap_or(1.0)
    }

    /// The primal objective of LIBLINEAR's weights.
    fn objective(&self, p: usize) -> f64 {
        let row = |i: usize| &self.theirs[i * self.columns..(i + 1) * self.columns];
        let rows = 0..self.data.labels.len();
        match self.of {
            LinearObjective::Margin { loss, penalty } => {
                let w = &self.model.weights[p];
                let norm: f64 = match penalty {
                    Penalty::L2 => w.iter().map(|w| 0.5 * w * w).sum(),
                    Penalty::L1 => w.iter().map(|w| w.abs()).sum(),
                };
                norm + rows.map(|i| self.cost(i, p) * loss.at(self.sign(i, p) * row(i)[p]).value).sum::<f64>()
            }
            LinearObjective::CrammerSinger => {
                let norm: f64 = self.model.weights.iter().flatten().map(|w| 0.5 * w * w).sum();
                let slack = |i: usize| {
                    let own = self.classes.of()[i] as usize;
                    let most = row(i).iter().enumerate().map(|(m, value)| value + f64::from(u8::from(m != own)));
                    most.fold(f64::NEG_INFINITY, f64::max) - row(i)[own]
                };
                norm + rows.map(|i| self.cost(i, p) * slack(i)).sum::<f64>()
            }
        }
    }

    fn pair(&self, p: usize, certificate: &Certificate) -> Pair {
        let objective = self.objective(p);
        let scale = certificate.primal.abs().max(f64::MIN_POSITIVE);
        let slack = rounding(self.data, scale);
        let (ours_off, theirs_off) = (certificate.gap(), objective - certificate.dual);
        let rows = 0..self.data.labels.len();
        let reach = reach(ours_off, theirs_off, slack);
        let least_cost = rows.clone().map(|i| self.cost(i, p)).fold(f64::INFINITY, f64::min);
        let compared = self.compared();
        let allowed = match compared {
            Compared::Decisions => reach * self.largest_norm(),
            Compared::Slacks => reach / (2.0 * least_cost).sqrt(),
            Compared::Probabilities => reach / (4.0 * least_cost).sqrt(),
        };
        let near = match compared {
            Compared::Probabilities if allowed < 0.5 => ((0.5 + allowed) / (0.5 - allowed)).ln(),
            Compared::Probabilities => f64::INFINITY,
            _ => allowed,
        };
        let all_classes = self.of == LinearObjective::CrammerSinger;
        let columns = if all_classes { 0..self.columns } else { p..p + 1 };
        let apart = |i: usize, p: usize| {
            let [ours, theirs] = [self.ours, self.theirs].map(|of| compared.of(self.sign(i, p) * of[i * self.columns + p]));
            (ours - theirs).abs()
        };
        let decisions = rows.flat_map(|i| columns.clone().map(move |p| apart(i, p))).fold(0.0, f64::max);
        Pair {
            objective: (objective - certificate.primal) / scale,
            decisions,
            allowed,
            near,
            loose: false,
            refuted: objective < certificate.dual - slack,
        }
    }

    fn compared(&self) -> Compared {
        match self.of {
            LinearObjective::Margin { loss: MarginLoss::SquaredHinge, penalty: Penalty::L1 } => Compared::Slacks,
            LinearObjective::Margin { loss: MarginLoss::Logistic, penalty: Penalty::L1 } => Compared::Probabilities,
            _ => Compared::Decisions,
        }
    }

    /// The greatest norm of a row, its bias feature included.
    fn largest_norm(&self) -> f64 {
        let bias = self.case.bias_term.feature().unwrap_or(0.0);
        let norm = |i: usize| self.data.samples.row(i).entries().iter().map(|(_, v)| v * v).sum::<f64>() + bias * bias;
        (0..self.data.labels.len()).map(norm).fold(0.0, f64::max).sqrt()
    }

    /// Returns by how much each decision value of row `i` may move before its label changes.
    fn lead(&self, i: usize) -> f64 {
        let row = &self.ours[i * self.columns..(i + 1) * self.columns];
        let [only] = row else {
            let mut sorted = row.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            return 0.5 * (sorted[0] - sorted[1]);
        };
        only.abs()
    }
}

/// The values that both sides are compared by.
#[derive(Clone, Copy)]
enum Compared {
    Decisions,
    Slacks,
    Probabilities,
}

impl Compared {
    /// The value at this margin.
    fn of(self, margin: f64) -> f64 {
        match self {
            Self::Decisions => margin,
            Self::Slacks => (1.0 - margin).max(0.0),
            Self::Probabilities => 1.0 / (1.0 + (-margin).exp()),
        }
    }
}
