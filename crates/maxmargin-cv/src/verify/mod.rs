//! The judgement of a model against its training data, which believes nothing that the model says.

mod claims;
mod error;
mod judge;

pub use error::VerifyError;

use crate::study::label_text::labels_in_words;
use crate::study::layout::{MachineLayout, map_machines};
use crate::study::matching::{Terms, by_targets, positions, terms};
use crate::study::{Prepared, SpaceSource};
use judge::{Asked, Judge, Judged};
use maxmargin_core::{Certificate, Formulation, GapScreening, Goal};
use maxmargin_data::{Asking, Dataset, Par, Preparation};
use maxmargin_model::{DecisionRule, Model};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// What models are judged by where the caller says nothing, in units of the margin 1.
const EPS: f64 = 1e-3;

/// What a model that does not say how it was trained is said to have been trained with.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What was solved, with C before class weights.
    pub formulation: Formulation,
    /// (label, factor of C); labels that are not named have 1.
    pub weights: Vec<(f64, f64)>,
}

/// One thing that a model says, compared with what is.
///
/// Serialised with its `state` besides: `ok`, `mismatch` or `not_checked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its short name.
    pub what: &'static str,
    /// Whether it is so; none where that cannot be known.
    pub passed: Option<bool>,
    /// Both sides, for people.
    pub detail: String,
}

/// One machine, judged.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MachineVerdict {
    /// Its place among the machines of the model.
    pub machine: usize,
    /// The labels that it decides between, the second at 0 and above, where there are classes; the
    /// first is none where that is all the others.
    pub labels: Option<(Option<f64>, f64)>,
    /// Recomputed from the data and the model's coefficients.
    pub certificate: Certificate,
    /// What the model's record says.
    pub stored: Option<Certificate>,
    /// Whether the recomputed certificate meets the goal.
    pub met: bool,
    /// What the gap proves about labels, where that is known.
    pub certain: Option<GapScreening>,
}

/// What became of a model.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Verdict {
    /// Everything that was compared.
    pub checks: Vec<Check>,
    /// What certificates were asked to show.
    pub goal: Goal,
    /// One for each machine; none where the model's support vectors are not rows of the data.
    pub machines: Vec<MachineVerdict>,
    /// The worst recomputed certificate.
    pub certificate: Option<Certificate>,
    /// The worst certificate of the record.
    pub stored: Option<Certificate>,
}

impl Check {
    fn new(what: &'static str, passed: bool, detail: String) -> Self {
        Self { what, passed: Some(passed), detail }
    }

    /// `ok`, `MISMATCH` or `not checked`, for people.
    pub fn word(&self) -> &'static str {
        match self.passed {
            Some(true) => "ok",
            Some(false) => "MISMATCH",
            None => "not checked",
        }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match self.passed {
            Some(true) => "ok",
            Some(false) => "mismatch",
            None => "not_checked",
        };
        let mut fields = serializer.serialize_struct("Check", 4)?;
        fields.serialize_field("what", self.what)?;
        fields.serialize_field("passed", &self.passed)?;
        fields.serialize_field("state", state)?;
        fields.serialize_field("detail", &self.detail)?;
        fields.end()
    }
}

impl Verdict {
    /// Whether nothing that could be compared differs: the model is what it says about this data,
    /// but for what was [not checked](Verdict::unchecked).
    pub fn matches(&self) -> bool {
        self.checks.iter().all(|check| check.passed != Some(false))
    }

    /// What could not be compared.
    pub fn unchecked(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.passed.is_none())
    }

    /// Whether the gap of every machine is small enough to speak of an optimum.
    pub fn is_optimal(&self) -> bool {
        !self.machines.is_empty() && self.machines.iter().all(|machine| machine.certificate.is_optimal())
    }

    /// Whether every machine was certified and meets the goal.
    pub fn met(&self) -> bool {
        !self.machines.is_empty() && self.machines.iter().all(|machine| machine.met)
    }
}

/// Judges `model` against the data it was trained on: everything that its file says is computed
/// again, in double precision, from the data and the coefficients alone.
///
/// Certificates are judged by `goal`, or in this judge's own terms: 10⁻³ of what the model was
/// asked for (a KKT violation, a relative gap, or both). What the model says that it was asked for
/// is no argument: a model that was asked for nothing would be proved right. Machines are judged
/// side by side; the result does not depend on `par`.
///
/// # Errors
///
/// When a model without a record comes without a claim, or one with a record with a claim; when a
/// claim or the data cannot be a problem. That a model is not what it says is a [`Verdict`], not an
/// error.
pub fn verify(
    model: &Model,
    data: &Dataset,
    claim: Option<&Claim>,
    goal: Option<Goal>,
    par: Par,
) -> Result<Verdict, VerifyError> {
    let record = model.record();
    let asked = asked(model, claim, goal)?;
    let mut verdict = Verdict {
        checks: vec![claims::classes(model, data)],
        goal: asked.goal,
        machines: Vec::new(),
        certificate: None,
        stored: record.and_then(|record| worst(asked.goal, record.machines.iter().map(|machine| machine.certificate))),
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
    // Weights are sums of rows: those are what is at hand, and no kernel is needed.
    let features = model.folded();
    let count = model.classes().len();
    let layout = match (classes, features) {
        (false, _) => MachineLayout::alone(&data.labels, None),
        (true, true) => MachineLayout::unsorted(&of, count, model.multiclass()),
        (true, false) => MachineLayout::sorted(&of, count, model.multiclass()),
    };
    let weights = record.and_then(|record| record.sample_weights.as_deref());
    // Checked against the rows of the data: the shape is not what the model says otherwise.
    let layout = layout.weighted(weights.filter(|weights| weights.len() == data.labels.len()));
    let prepared = Prepared { preparation: Preparation::default(), samples, kernel: model.kernel().clone() };
    let source = SpaceSource::of(&prepared, &layout, features, &Asking::nobody())?;
    let mut position = vec![0; data.labels.len()];
    layout.original.iter().enumerate().for_each(|(at, &row)| position[row] = at);
    let judge = Judge { model, asked: &asked, layout: &layout, position, source: &source };
    let judged: Vec<Judged> = map_machines(terms.len(), par, |p, par| judge.machine(p, &terms[p], par))?;
    verdict.checks.extend(judge::checks(&judged));
    verdict.certificate = worst(asked.goal, judged.iter().map(|one| one.verdict.certificate));
    verdict.machines = judged.into_iter().map(|one| one.verdict).collect();
    Ok(verdict)
}

/// What the model was trained for, by its record or by the claim.
fn asked(model: &Model, claim: Option<&Claim>, goal: Option<Goal>) -> Result<Asked, VerifyError> {
    match (model.record(), claim) {
        (None, None) => Err(VerifyError::NoClaim),
        (Some(_), Some(_)) => Err(VerifyError::Claim),
        (Some(record), None) => Ok(Asked {
            formulation: record.formulation,
            weights: record.weights.clone(),
            goal: goal.unwrap_or_else(|| record.goal().at_most(EPS)),
            eps: goal.and_then(Goal::kkt).unwrap_or(EPS),
        }),
        (None, Some(claim)) => {
            let mut weights = vec![1.0; model.classes().len()];
            for &(label, weight) in &claim.weights {
                let class = model.classes().iter().position(|known| *known == label);
                let class = class.ok_or_else(|| VerifyError::Label { label, known: labels_in_words(model.classes()) })?;
                weights[class] = weight;
            }
            let formulation = claim.formulation;
            if formulation.target_kind() != model.decision_rule().target_kind() {
                return Err(VerifyError::DecisionRule(formulation.name()));
            }
            Ok(Asked { formulation, weights, goal: goal.unwrap_or(Goal::Kkt(EPS)), eps: EPS })
        }
    }
}

/// The least favourable certificate: one that misses the goal, then the greatest violation, or gap
/// where that is the goal; the first of equals.
fn worst(goal: Goal, certificates: impl DoubleEndedIterator<Item = Certificate>) -> Option<Certificate> {
    let measure = |c: &Certificate| if goal.kkt().is_some() { c.kkt } else { c.relative_gap() };
    let worse = |a: &Certificate, b: &Certificate| goal.met(b).cmp(&goal.met(a)).then(measure(a).total_cmp(&measure(b)));
    // The last of equal maxima would win otherwise.
    certificates.rev().max_by(worse)
}
