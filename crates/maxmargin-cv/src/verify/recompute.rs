//! Recomputation of machines, and the checks that summarise them.

use super::error::VerifyError;
use super::finding::Finding;
use super::verdict::{Check, MachineVerdict};
use super::weights::SumOfVectors;
use crate::conformal::Conformal;
use crate::report::bounded_of;
use crate::run::label_text::label_name;
use crate::run::refusal::ConformalProblem;
use crate::study::layout::MachineLayout;
use crate::study::matching::Terms;
use crate::study::space_source::SpaceSource;
use maxmargin_core::{
    Audit, AuditPoint, BiasTerm, Certificate, EqualityConstraint, Formulation, Goal, Problem, audit, bias_of, gap_screening,
};
use maxmargin_data::number::format_g;
use maxmargin_data::{Dataset, Par, RunControl};
use maxmargin_model::Model;

/// Relative difference of two computations that rounding explains.
const ROUNDING: f64 = 1e-9;

/// Violation of a box or an equality constraint that rounding explains.
const FEASIBLE: f64 = 1e-9;

/// The reason why figures of a ν-SVC without a margin may differ.
const NO_MARGIN: &str = "no margin is left to determine it";

/// The training problem and goal of a model.
pub(super) struct TrainingClaim {
    pub(super) formulation: Formulation,
    /// Factor of C for each class of the model.
    pub(super) weights: Vec<f64>,
    pub(super) goal: Goal,
    /// The KKT violation that limits the difference of biases, if the goal has none.
    pub(super) eps: f64,
}

/// A recomputed machine.
pub(super) struct RecomputedMachine {
    pub(super) verdict: MachineVerdict,
    findings: Vec<Finding>,
}

/// The inputs of the recomputation of all machines.
pub(super) struct Recomputation<'a> {
    pub(super) model: &'a Model,
    pub(super) trained_for: &'a TrainingClaim,
    pub(super) layout: &'a MachineLayout,
    /// The position in the layout of each row of the data.
    pub(super) position: Vec<usize>,
    pub(super) source: &'a SpaceSource<'a>,
}

impl Recomputation<'_> {
    /// Recomputes machine `p` from its rows and their α.
    pub(super) fn machine(&self, p: usize, terms: &Terms, par: Par) -> Result<RecomputedMachine, VerifyError> {
        let Self { model, trained_for, layout, source, .. } = self;
        let (samples, machine) = (&layout.machines[p], &model.machines()[p]);
        let training = model.record().map(|record| &record.machines[p]);
        let problem = samples.problem(trained_for.formulation, &trained_for.weights)?;
        let dual = problem.dual();
        // Only rows of the two classes have α > 0: signs of coefficients were checked before.
        let place = |&(row, coef): &(usize, f64)| Some((samples.rows.binary_search(&self.position[row]).ok()?, coef));
        let alpha = problem.alpha_of(terms.iter().filter_map(place));
        let feature = trained_for.formulation.bias_term().feature();
        let folded = training.is_some_and(|training| training.folded.is_some());
        let stored = machine.support.first().filter(|_| folded).map(|&vector| {
            let of = model.parts().support.row(vector as usize).entries();
            of.into_iter().map(|(feature, weight)| (feature as u32, weight)).collect::<Vec<_>>()
        });
        let ((audited, weights, fixed_labels), _) = source.with_space(samples, feature, 0, par, false, |space| {
            // Weights that are nearer to the optimum than the sum over the support vectors count.
            let bias_of_feature = feature.map_or(0.0, |_| machine.bias);
            let own = space.matrix().zip(stored.as_ref()).and_then(|(matrix, own)| matrix.pack(own, bias_of_feature));
            let point = AuditPoint { dual, alpha: &alpha, bias: machine.bias, weights: own.as_deref(), known: None };
            let source = space.exact(&RunControl::unlimited()).unwrap_or_else(|_| space.into());
            let audited = audit(source, &[point], par, &RunControl::unlimited()).expect("unlimited").remove(0);
            let weights = space
                .matrix()
                .zip(stored.as_ref())
                .map(|(matrix, stored)| SumOfVectors::of(matrix, dual, &alpha).compared(matrix, stored));
            let screened = || gap_screening(dual, audited.source(source), &alpha, &audited.gradient);
            let fixed_labels = if audited.of_weights { None } else { screened() };
            (audited, weights, fixed_labels)
        });
        let certificate = audited.certificate;
        let mut findings = Vec::new();
        let agreement = training.map(|training| agreement(&training.certificate, &certificate, alpha.iter().sum()));
        // Weights with the stated certificate of their own need not be the sum, and α need not
        // determine their bias.
        let are_certified = audited.of_weights && agreement.as_ref().is_some_and(Finding::passed);
        let judged =
            |finding: Finding| if are_certified { finding.excused("the certificate is that of the weights") } else { finding };
        findings.extend(weights.map(judged));
        findings.push(Finding {
            what: "feasible",
            off: certificate.infeasible / FEASIBLE,
            detail: format!("largest violation of 0 ≤ alpha ≤ C and {}: {}", sums(dual.balance()), short(certificate.infeasible)),
        });
        findings.push(judged(self.bias(machine.bias, &problem, &alpha, &audited)));
        if let Some((training, agreement)) = training.zip(agreement) {
            let of_record = [agreement, at_bound(training.bounded, bounded_of(dual, &alpha) as u64)];
            let lacks_margin = self.lacks_margin(&certificate) && self.lacks_margin(&training.certificate);
            let judged = |finding: Finding| if lacks_margin { finding.excused(NO_MARGIN) } else { finding };
            findings.extend(of_record.map(judged));
        }
        let verdict = MachineVerdict {
            machine: p,
            labels: model.sides(p),
            certificate,
            stored: training.map(|training| training.certificate),
            met: trained_for.goal.met(&certificate),
            fixed_labels,
        };
        Ok(RecomputedMachine { verdict, findings })
    }

    /// Returns true if no margin is left ([`Formulation::lacks_margin`]). The coefficients of the
    /// model are then quotients of numbers that are 0 but for rounding, and so are their figures.
    fn lacks_margin(&self, of: &Certificate) -> bool {
        self.trained_for.formulation.lacks_margin(of.primal + of.rounding.gap)
    }

    /// Compares the model's bias with the recomputed one. A free bias is only as exact as the
    /// solution; one that α determines is as exact as the sum of α.
    fn bias(&self, stored: f64, problem: &Problem, alpha: &[f64], audited: &Audit) -> Finding {
        let (dual, gradient) = (problem.dual(), &audited.gradient);
        let sum = || alpha.iter().zip(dual.sign()).map(|(a, s)| s * a).sum::<f64>();
        let mass: f64 = alpha.iter().sum();
        let (bias, tolerance) = match self.trained_for.formulation.bias_term() {
            BiasTerm::Free => {
                let scale = problem.scale(dual, alpha, gradient);
                let kkt = self.trained_for.goal.kkt().unwrap_or(self.trained_for.eps);
                (scale * bias_of(dual, alpha, gradient), scale * kkt.max(audited.certificate.kkt))
            }
            BiasTerm::Feature(value) => (value * value * sum(), ROUNDING * (value * value * mass).max(1.0)),
            BiasTerm::None => (0.0, ROUNDING),
        };
        let off = (bias - stored).abs() / tolerance;
        let found = Finding { what: "bias", off, detail: format!("model {}, recomputed {}", long(stored), long(bias)) };
        if self.lacks_margin(&audited.certificate) { found.excused(NO_MARGIN) } else { found }
    }
}

/// Compares the numbers of variables at their bound.
fn at_bound(of_model: u64, recomputed: u64) -> Finding {
    Finding {
        what: "at C",
        // A difference of one is a mismatch.
        off: 2.0 * recomputed.abs_diff(of_model) as f64,
        detail: format!("model {of_model}, recomputed {recomputed}"),
    }
}

/// The equality constraint as text.
fn sums(balance: EqualityConstraint) -> &'static str {
    match balance {
        EqualityConstraint::PerSign(..) => "of the sums that nu asks for",
        EqualityConstraint::Sum(wanted) if wanted != 0.0 => "sum alpha = nu n",
        _ => "sum y alpha = 0",
    }
}

/// Compares the stored certificate with the recomputed one. `mass` is the sum of α, for rounding.
fn agreement(stored: &Certificate, found: &Certificate, mass: f64) -> Finding {
    let off = |a: f64, b: f64, room: f64| if a == b { 0.0 } else { (a - b).abs() / room };
    let objective = |a: f64, b: f64| off(a, b, ROUNDING * a.abs().max(b.abs()) + found.rounding.gap);
    let all = [
        objective(stored.primal, found.primal),
        objective(stored.dual, found.dual),
        off(stored.kkt, found.kkt, ROUNDING * mass.max(1.0) + found.rounding.kkt),
        off(stored.infeasible, found.infeasible, FEASIBLE),
    ];
    let detail =
        format!("stored: primal {}, dual {}, KKT violation {}", long(stored.primal), long(stored.dual), short(stored.kkt));
    // `f64::max` drops NaN.
    let off = if all.iter().any(|off| off.is_nan()) { f64::NAN } else { all.into_iter().fold(0.0, f64::max) };
    Finding { what: "certificate", off, detail }
}

/// One check of each kind. It names the first machine that fails it, or the machine nearest to a
/// mismatch.
pub(super) fn checks(machines: &[RecomputedMachine], names: &[String]) -> Vec<Check> {
    let kinds = machines.first().map_or(0, |one| one.findings.len());
    let check = |kind: usize| {
        let of = |p: usize| &machines[p].findings[kind];
        let failed: Vec<usize> = (0..machines.len()).filter(|&p| !of(p).passed()).collect();
        // `max_by` returns the last of equal maxima: reverse to get the first.
        let nearest = || (0..machines.len()).rev().max_by(|a, b| of(*a).off.total_cmp(&of(*b).off)).unwrap_or(0);
        let shown = failed.first().copied().unwrap_or_else(nearest);
        let finding = of(shown);
        let detail = if machines.len() == 1 {
            finding.detail.clone()
        } else {
            let (a, b) = machines[shown].verdict.labels.unwrap_or_default();
            let earlier = a.map_or_else(|| "the rest".to_owned(), |a| label_name(a, names));
            let name = format!("that of {earlier} and {}", label_name(b, names));
            match failed.len() {
                0 => format!("{} machines; nearest to a mismatch is {name}: {}", machines.len(), finding.detail),
                few => format!("{few} of {} machines; first {name}: {}", machines.len(), finding.detail),
            }
        };
        Check::new(finding.what, failed.is_empty(), detail)
    };
    (0..kinds).map(check).collect()
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    format_g(value, 4)
}

/// A number with nine significant digits.
fn long(value: f64) -> String {
    format_g(value, 9)
}

/// Compares the scores for conformal predictions with those of the fold machines in the model.
pub(super) fn conformal_scores(model: &Model, data: &Dataset, par: Par) -> Option<Check> {
    const WHAT: &str = "conformal scores";
    let compared = || {
        let Some(kept) = Conformal::of(model)? else { return Ok(None) };
        Ok(Some((kept.recomputed(model, &data.samples, &data.labels, par)?, kept)))
    };
    let (recomputed, kept) = match compared() {
        Ok(found) => found?,
        Err(error) => return Some(Check::new(WHAT, false, ConformalProblem::to_string(&error))),
    };
    let largest = kept.stored_scores().iter().fold(1.0_f64, |most, score| most.max(score.abs()));
    let off = recomputed.iter().zip(kept.stored_scores()).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    let count = kept.stored_scores().len();
    let same = off <= ROUNDING * largest;
    let detail = if same {
        format!("{count} scores are those of {} folds", kept.folds())
    } else {
        format!("a score differs by {} from that of its fold's machine", format_g(off, 3))
    };
    Some(Check::new(WHAT, same, detail))
}
