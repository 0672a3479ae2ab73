//! Verification of a model against its training data. Everything that the model states is computed
//! again.

mod claims;
mod error;
mod finding;
mod recompute;
mod verdict;
mod weights;

pub use error::VerifyError;
pub use verdict::{Check, MachineVerdict};

use crate::run::label_text::labels_in_words;
use crate::study::layout::MachineLayout;
use crate::study::matching::{Terms, by_targets, positions, terms};
use crate::study::space_source::{Prepared, SpaceSource};
use maxmargin_core::{Certificate, Formulation, Goal};
use maxmargin_data::{Dataset, Par, Preparation, RunControl, Samples};
use maxmargin_kernel::KernelError;
use maxmargin_model::{DecisionRule, Model};
use recompute::{Recomputation, RecomputedMachine, TrainingClaim};
use std::borrow::Cow;

/// The default goal of a verification, in units of the margin 1.
const EPS: f64 = 1e-3;

/// The training problem of a model without a record, stated by the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The formulation, with C before class weights.
    pub formulation: Formulation,
    /// Label and factor of C. Other labels have the factor 1.
    pub weights: Vec<(f64, f64)>,
}

/// Memory of a verification, in bytes, half of it for products that all machines share.
const MEMORY: u64 = 2 << 30;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Verdict {
    /// All comparisons.
    pub checks: Vec<Check>,
    /// The goal that certificates must meet.
    pub goal: Goal,
    /// The verification of each machine; empty if the model's support vectors are not rows of the
    /// data.
    pub machines: Vec<MachineVerdict>,
    /// The worst recomputed certificate.
    pub certificate: Option<Certificate>,
    /// The worst certificate in the record.
    pub stored: Option<Certificate>,
    /// True if the record claims the goal for every machine.
    pub claimed: bool,
}

impl Verdict {
    /// Returns true if no comparison failed. Some statements may be
    /// [not checked](Verdict::unchecked).
    pub fn matches(&self) -> bool {
        self.checks.iter().all(|check| check.passed != Some(false))
    }

    /// The statements that could not be compared.
    pub fn unchecked(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.passed.is_none())
    }

    /// Returns true if the gap of every machine is small enough for an optimum.
    pub fn is_optimal(&self) -> bool {
        !self.machines.is_empty() && self.machines.iter().all(|machine| machine.certificate.is_optimal())
    }

    /// Returns true if every machine was certified and meets the goal.
    pub fn met(&self) -> bool {
        !self.machines.is_empty() && self.machines.iter().all(|machine| machine.met)
    }
}

/// Verifies `model` against the data that it was trained on. Everything in its file is computed
/// again, in double precision, from the data and the coefficients alone.
///
/// Certificates must meet `goal`. Without one, the goal is the kind of the model's own goal (a KKT
/// violation, a relative gap, or both), but at most 10⁻³: a model with a loose goal must not pass
/// because of it. Machines are verified in parallel; the result does not depend on `par`.
///
/// # Errors
///
/// When a model has neither a record nor a claim, or both; when the data has not one finite label
/// for each row; when the claim and the data are no valid
/// problem. A model with false statements gives a [`Verdict`], not an error.
pub fn verify(
    model: &Model,
    data: &Dataset,
    claim: Option<&Claim>,
    goal: Option<Goal>,
    par: Par,
) -> Result<Verdict, VerifyError> {
    let record = model.record();
    let trained_for = trained_for(model, claim, goal)?;
    data.check()?;
    let mut verdict = Verdict {
        checks: vec![claims::classes(model, data)],
        goal: trained_for.goal,
        machines: Vec::new(),
        certificate: None,
        stored: record.and_then(|record| worst(trained_for.goal, record.machines.iter().map(|machine| machine.certificate))),
        claimed: record.is_some_and(|record| record.machines.iter().all(|machine| machine.meets(trained_for.goal))),
    };
    claims::of_record(model, data, &mut verdict.checks);
    let classes = !model.classes().is_empty();
    let of = if classes { positions(&data.labels, model.classes()).ok() } else { Some(Vec::new()) };
    let Some(of) = of.filter(|_| verdict.checks[0].passed == Some(true)) else {
        return Ok(verdict);
    };
    let samples = model.prepared(&data.samples)?;
    let terms = match terms(model, &samples, &of) {
        Ok(terms) => terms,
        Err(detail) => {
            verdict.checks.push(Check::new("support vectors", false, detail));
            return Ok(verdict);
        }
    };
    let terms: Vec<Terms> = if record.is_none() && model.decision_rule() == DecisionRule::Value {
        terms.iter().map(|terms| by_targets(terms, model.kernel(), &samples, &data.labels)).collect()
    } else {
        terms
    };
    let vectors = model.support_vectors();
    let signs = if classes { ", coefficient signs agree with labels" } else { "" };
    let detail = format!("all {vectors} are rows of the data{signs}");
    verdict.checks.push(Check::new("support vectors", true, detail));
    let machines = recomputed(model, data, samples, &of, &terms, &trained_for, par)?;
    verdict.checks.extend(recompute::checks(&machines, model.columns().map_or(&[][..], |columns| columns.labels())));
    verdict.checks.extend(recompute::conformal_scores(model, data, par));
    verdict.checks.extend(claims::of_folds(model));
    verdict.certificate = worst(trained_for.goal, machines.iter().map(|one| one.verdict.certificate));
    verdict.machines = machines.into_iter().map(|one| one.verdict).collect();
    Ok(verdict)
}

/// Recomputes every machine from its terms. `of` has the class of each row of the data.
fn recomputed(
    model: &Model,
    data: &Dataset,
    samples: Cow<Samples>,
    of: &[u32],
    terms: &[Terms],
    trained_for: &TrainingClaim,
    par: Par,
) -> Result<Vec<RecomputedMachine>, VerifyError> {
    // Feature weights are sums of rows in the order of the data, and need no kernel.
    let features = model.folded();
    let count = model.classes().len();
    let layout = match (model.classes().is_empty(), features) {
        (true, _) => MachineLayout::of_values(&data.labels, model.levels(), None),
        (false, true) => MachineLayout::unsorted(of, count, model.multiclass()),
        (false, false) => MachineLayout::sorted(of, count, model.multiclass()),
    };
    let weights = model.record().and_then(|record| record.sample_weights.as_deref());
    // The model's list of weights may have another length than the data; it is then left out.
    let layout = layout.weighted(weights.filter(|weights| weights.len() == data.labels.len()));
    let prepared = Prepared { preparation: Preparation::default(), samples, kernel: model.kernel().clone() };
    let source = SpaceSource::of(&prepared, &layout, features, par, &RunControl::unlimited())?;
    source.keep_values(&layout, MEMORY, par, &RunControl::unlimited()).map_err(KernelError::from)?;
    let mut position = vec![0; data.labels.len()];
    layout.data_row.iter().enumerate().for_each(|(at, &row)| position[row] = at);
    let recomputation = Recomputation { model, trained_for, layout: &layout, position, source: &source };
    layout.map_machines(par, |p, par| recomputation.machine(p, &terms[p], par))
}

/// The training problem of the model, by its record or by the claim.
fn trained_for(model: &Model, claim: Option<&Claim>, goal: Option<Goal>) -> Result<TrainingClaim, VerifyError> {
    match (model.record(), claim) {
        (None, None) => Err(VerifyError::NoClaim),
        (Some(_), Some(_)) => Err(VerifyError::Claim),
        (Some(record), None) => Ok(TrainingClaim {
            formulation: record.formulation,
            weights: record.weights.clone(),
            goal: goal.unwrap_or_else(|| record.goal().at_most(EPS)),
            eps: goal.and_then(Goal::kkt).unwrap_or(EPS),
        }),
        (None, Some(claim)) => {
            let mut weights = vec![1.0; model.classes().len()];
            for &(label, weight) in &claim.weights {
                let class = model.classes().iter().position(|known| *known == label);
                let class = class.ok_or_else(|| VerifyError::Label { label, known: labels_in_words(model.classes(), &[]) })?;
                weights[class] = weight;
            }
            let formulation = claim.formulation;
            if formulation.target_kind() != model.decision_rule().target_kind() {
                return Err(VerifyError::DecisionRule(formulation.name()));
            }
            Ok(TrainingClaim { formulation, weights, goal: goal.unwrap_or(Goal::Kkt(EPS)), eps: EPS })
        }
    }
}

/// The worst certificate: one that misses the goal comes first, then the largest violation, or the
/// largest gap if the goal is a gap. Of equals it is the first.
fn worst(goal: Goal, certificates: impl DoubleEndedIterator<Item = Certificate>) -> Option<Certificate> {
    let measure = |c: &Certificate| if goal.kkt().is_some() { c.kkt } else { c.relative_gap() };
    let worse = |a: &Certificate, b: &Certificate| goal.met(b).cmp(&goal.met(a)).then(measure(a).total_cmp(&measure(b)));
    // `max_by` returns the last of equal maxima: reverse to get the first.
    certificates.rev().max_by(worse)
}
