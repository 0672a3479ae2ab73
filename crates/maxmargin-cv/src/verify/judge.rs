//! One machine computed again, and what several of them say together.

use crate::report::bounded_of;
use crate::study::SpaceSource;
use crate::study::label_text::label_in_words;
use crate::study::layout::MachineLayout;
use crate::study::matching::Terms;
use crate::verify::{Check, MachineVerdict, VerifyError};
use maxmargin_core::{BiasTerm, Certificate, EqualityConstraint, Formulation, Goal, Point, audit, bias_of, gap_screening};
use maxmargin_data::number::format_g;
use maxmargin_data::{Asking, Par};
use maxmargin_model::Model;
use std::collections::HashMap;

/// Relative difference of two recomputations that rounding explains.
const ROUNDING: f64 = 1e-9;

/// Violation of a box or a balance that rounding explains.
const FEASIBLE: f64 = 1e-9;

/// What a model was trained for.
pub(super) struct Asked {
    pub(super) formulation: Formulation,
    /// Factor of C for each class of the model.
    pub(super) weights: Vec<f64>,
    pub(super) goal: Goal,
    /// The KKT violation that biases are compared to where the goal names none.
    pub(super) eps: f64,
}

/// One comparison.
struct Finding {
    what: &'static str,
    /// The difference as a share of what may be: more than 1 is too much.
    off: f64,
    detail: String,
}

impl Finding {
    /// Not a number is too much as well.
    fn passed(&self) -> bool {
        self.off <= 1.0
    }
}

/// A machine and what is to be said of it.
pub(super) struct Judged {
    pub(super) verdict: MachineVerdict,
    findings: Vec<Finding>,
}

/// Everything that machines are recomputed from.
pub(super) struct Judge<'a> {
    pub(super) model: &'a Model,
    pub(super) asked: &'a Asked,
    pub(super) layout: &'a MachineLayout,
    /// Place in the layout of each row of the data.
    pub(super) position: Vec<usize>,
    pub(super) source: &'a SpaceSource<'a>,
}

impl Judge<'_> {
    /// Recomputes machine `p` from its rows and their α.
    pub(super) fn machine(&self, p: usize, terms: &Terms, par: Par) -> Result<Judged, VerifyError> {
        let Self { model, asked, layout, source, .. } = self;
        let (part, machine) = (&layout.parts[p], &model.machines()[p]);
        let training = model.record().map(|record| &record.machines[p]);
        let problem = part.problem(asked.formulation, &asked.weights)?;
        let dual = problem.dual();
        // A row of neither class has α = 0: otherwise its sign would have told.
        let place = |&(row, coef): &(usize, f64)| Some((part.rows.binary_search(&self.position[row]).ok()?, coef));
        let alpha = problem.alpha_of(terms.iter().filter_map(place));
        let mass: f64 = alpha.iter().sum();
        let bias_term = asked.formulation.bias_term();
        let folded = training.is_some_and(|training| training.folded.is_some());
        let ((audited, weights, proved), _) = source.with_space(part, bias_term.feature(), (0, par), |space| {
            let point = Point { dual, alpha: &alpha, bias: machine.bias };
            let source = space.exact(&Asking::nobody()).unwrap_or_else(|_| space.into());
            let audited = audit(source, &[point], par).remove(0);
            let weights = space.matrix().filter(|_| folded).map(|matrix| {
                let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| a * s).collect();
                matrix.weights(dual.ids(), &coef, par).0
            });
            let proved = gap_screening(dual, source, &alpha, &audited.gradient);
            (audited, weights, proved)
        });
        let certificate = audited.certificate;
        let mut findings = Vec::new();
        if let (Some(found), Some(&vector)) = (weights, machine.support.first()) {
            let largest = alpha.iter().fold(0.0_f64, |most, a| most.max(*a));
            findings.push(same_weights(&found, &model.parts().support.row(vector as usize).entries(), largest));
        }
        findings.push(Finding {
            what: "feasible",
            off: certificate.infeasible / FEASIBLE,
            detail: format!("largest violation of 0 ≤ alpha ≤ C and {}: {}", sums(dual.balance()), short(certificate.infeasible)),
        });
        let sum = || alpha.iter().zip(dual.sign()).map(|(a, s)| s * a).sum::<f64>();
        // A free bias is as exact as the solution; one that α determines is as exact as their sum.
        let (bias, room) = match bias_term {
            BiasTerm::Free => {
                let scale = problem.scale(dual, &alpha, &audited.gradient);
                (
                    scale * bias_of(dual, &alpha, &audited.gradient),
                    scale * asked.goal.kkt().unwrap_or(asked.eps).max(certificate.kkt),
                )
            }
            BiasTerm::Feature(value) => (value * value * sum(), ROUNDING * (value * value * mass).max(1.0)),
            BiasTerm::None => (0.0, ROUNDING),
        };
        findings.push(Finding {
            what: "bias",
            off: (bias - machine.bias).abs() / room,
            detail: format!("model {}, recomputed {}", long(machine.bias), long(bias)),
        });
        if let Some(training) = training {
            findings.push(agreement(&training.certificate, &certificate, mass));
            let bounded = bounded_of(dual, &alpha) as u64;
            findings.push(Finding {
                what: "at C",
                // One too many is too many.
                off: 2.0 * bounded.abs_diff(training.bounded) as f64,
                detail: format!("model {}, recomputed {bounded}", training.bounded),
            });
        }
        let verdict = MachineVerdict {
            machine: p,
            labels: model.sides(p),
            certificate,
            stored: training.map(|training| training.certificate),
            met: asked.goal.met(&certificate),
            certain: proved,
        };
        Ok(Judged { verdict, findings })
    }
}

/// What the balance asks for, for people.
fn sums(balance: EqualityConstraint) -> &'static str {
    match balance {
        EqualityConstraint::PerSign(..) => "of the sums that nu asks for",
        EqualityConstraint::Sum(wanted) if wanted != 0.0 => "sum alpha = nu n",
        _ => "sum y alpha = 0",
    }
}

/// Whether weights are the sum over the support vectors that they are said to be, up to rounding.
fn same_weights(found: &[(u32, f64)], stored: &[(usize, f64)], alpha: f64) -> Finding {
    let mut difference: HashMap<usize, f64> = found.iter().map(|&(j, v)| (j as usize, v)).collect();
    stored.iter().for_each(|&(j, v)| *difference.entry(j).or_insert(0.0) -= v);
    let off = difference.values().fold(0.0_f64, |most, v| most.max(v.abs()));
    let largest = stored.iter().fold(0.0_f64, |most, (_, v)| most.max(v.abs()));
    let detail = format!("{} of them; largest difference from the sum over the support vectors: {}", stored.len(), short(off));
    let off = if off == 0.0 { 0.0 } else { off / (ROUNDING * (largest + alpha)) };
    Finding { what: "weights", off, detail }
}

/// Whether the stored certificate is what recomputing gives, up to rounding of sums of this size.
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
    // `max` would lose what is not a number.
    let off = if all.iter().any(|off| off.is_nan()) { f64::NAN } else { all.into_iter().fold(0.0, f64::max) };
    Finding { what: "certificate", off, detail }
}

/// One check of each kind: it names the first machine that fails it, or the one that comes nearest
/// to it.
pub(super) fn checks(judged: &[Judged]) -> Vec<Check> {
    let kinds = judged.first().map_or(0, |one| one.findings.len());
    let check = |kind: usize| {
        let of = |p: usize| &judged[p].findings[kind];
        let failed: Vec<usize> = (0..judged.len()).filter(|&p| !of(p).passed()).collect();
        // The last of equal maxima would win otherwise.
        let nearest = || (0..judged.len()).rev().max_by(|a, b| of(*a).off.total_cmp(&of(*b).off)).unwrap_or(0);
        let shown = failed.first().copied().unwrap_or_else(nearest);
        let finding = of(shown);
        let detail = if judged.len() == 1 {
            finding.detail.clone()
        } else {
            let (a, b) = judged[shown].verdict.labels.unwrap_or_default();
            let earlier = a.map_or_else(|| "the rest".to_owned(), label_in_words);
            let name = format!("that of {earlier} and {}", label_in_words(b));
            match failed.len() {
                0 => format!("{} machines; nearest to a mismatch is {name}: {}", judged.len(), finding.detail),
                few => format!("{few} of {} machines; first {name}: {}", judged.len(), finding.detail),
            }
        };
        Check::new(finding.what, failed.is_empty(), detail)
    };
    (0..kinds).map(check).collect()
}

/// Four significant digits.
fn short(value: f64) -> String {
    format_g(value, 4)
}

/// Nine significant digits.
fn long(value: f64) -> String {
    format_g(value, 9)
}
