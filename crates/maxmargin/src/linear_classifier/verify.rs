//! Verification of the model of a linear classifier against its training data.

use super::LinearObjective;
use super::engine::{ClassRows, Engine, Weights};
use super::record::LinearRecord;
use maxmargin_core::{Certificate, Goal};
use maxmargin_cv::{Check, CvError, MachineVerdict, Verdict};
use maxmargin_data::number::format_g;
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_model::{Model, is_hash_of};

/// Relative difference of two computations that rounding explains.
const ROUNDING: f64 = 1e-9;

/// The loosest tolerance that a verification accepts from a record.
const LOOSEST: f64 = 1e-3;

/// Verifies `model` against the data that it was trained on: certificates are computed again, from
/// the weights, or from the dual variables of the machine of Crammer and Singer, whose weights are
/// compared with the model's. `record` is that of the model ([`LinearRecord::of`]).
///
/// Certificates must meet `goal`; without one, the goal of the training, but at most 10⁻³.
///
/// # Errors
///
/// When the model's scaler or columns do not accept the data, it has not one finite label for each
/// row, or the record's costs are no valid
/// problem. False statements are a [`Verdict`].
pub fn verify_linear(
    model: &Model,
    record: &LinearRecord,
    data: &Dataset,
    goal: Option<Goal>,
    par: Par,
) -> Result<Verdict, CvError> {
    data.check()?;
    let goal = goal.unwrap_or_else(|| record.goal.at_most(LOOSEST));
    let samples = model.prepared(&data.samples)?;
    let certificates = record.machines.iter().map(|machine| machine.certificate);
    let mut verdict = Verdict {
        checks: Vec::new(),
        goal,
        machines: Vec::new(),
        certificate: None,
        stored: worst(goal, certificates),
        claimed: record.machines.iter().all(|machine| goal.met_as_kept(machine.status, &machine.certificate)),
    };
    let classes = ClassLabels::new(&data.labels)?;
    verdict.checks = of_record(model, record, data, &samples, &classes);
    if verdict.checks.iter().take(2).any(|check| check.passed == Some(false)) {
        return Ok(verdict);
    }
    let of: Vec<usize> = classes.of().iter().map(|&class| class as usize).collect();
    let rows = ClassRows { of: &of, classes: classes.count(), positive: classes.count() - 1, weight: &record.weights };
    let engine = Engine::new(&record.classifier().threads(par), &samples);
    let stored = weights_of(model);
    let found = if record.objective == LinearObjective::CrammerSinger {
        let (certificate, mut weights) = engine.certify_classes(&rows, &record.all_alpha(data.labels.len()))?;
        if let [first, second] = &weights[..] {
            weights = vec![second.minus(first)];
        }
        verdict.checks.push(same_weights(&weights, &stored));
        vec![certificate]
    } else {
        engine.certify_columns(&rows, &stored)?
    };
    verdict.checks.push(agreement(record, &found));
    verdict.certificate = worst(goal, found.iter().copied());
    let labels = |machine| if record.objective == LinearObjective::CrammerSinger { None } else { model.sides(machine) };
    let machine = |(machine, (certificate, of)): (usize, (Certificate, Option<Certificate>))| MachineVerdict {
        machine,
        labels: labels(machine),
        certificate,
        stored: of,
        met: goal.met(&certificate),
        fixed_labels: None,
    };
    let own = record.machines.iter().map(|machine| Some(machine.certificate));
    verdict.machines = found.into_iter().zip(own).enumerate().map(machine).collect();
    Ok(verdict)
}

fn check(what: &'static str, passed: bool, detail: String) -> Check {
    Check { what, passed: Some(passed), detail }
}

/// Checks classes, shape and hash of the data.
fn of_record(model: &Model, record: &LinearRecord, data: &Dataset, samples: &Samples, classes: &ClassLabels) -> Vec<Check> {
    let words = |labels: &[f64]| labels.iter().map(|label| format_g(*label, 9)).collect::<Vec<_>>().join(" ");
    let (ours, theirs) = (model.classes(), classes.labels());
    let (rows, features) = (samples.len() as u64, samples.features() as u64);
    let same = is_hash_of(&record.data_sha256, data);
    let of_hash =
        if same { "the data is the training data, bit for bit" } else { "the data is another text than was trained on" };
    let shape = format!("model {} × {}, data {rows} × {features}", record.rows, record.features);
    vec![
        check("classes", ours == theirs, format!("model {}; data {}", words(ours), words(theirs))),
        check("shape", (rows, features) == (record.rows, record.features), shape),
        check("data hash", same, of_hash.to_owned()),
    ]
}

/// The weights of the machines of a model.
fn weights_of(model: &Model) -> Vec<Weights> {
    let support = &model.parts().support;
    let of = |machine: &maxmargin_model::Machine| {
        let sum = machine.support.iter().zip(&machine.coef).fold(Weights::default(), |sum, (&vector, coef)| {
            let terms = support.row(vector as usize).entries();
            let negative = terms.into_iter().map(|(j, w)| (j as u32, -coef * w)).collect();
            sum.minus(&Weights { weights: negative, bias: 0.0 })
        });
        Weights { bias: machine.bias, ..sum }
    };
    model.machines().iter().map(of).collect()
}

/// Compares the model's weights with those of the dual variables.
fn same_weights(found: &[Weights], stored: &[Weights]) -> Check {
    let largest = |of: &Weights| of.weights.iter().fold(of.bias.abs(), |most, term| most.max(term.1.abs()));
    let size = found.iter().chain(stored).map(largest).fold(0.0, f64::max);
    let off = found.iter().zip(stored).map(|(a, b)| largest(&a.minus(b))).fold(0.0, f64::max);
    let detail = format!("largest difference from the sums over the dual variables: {}", format_g(off, 4));
    check("weights", found.len() == stored.len() && off <= ROUNDING * size, detail)
}

/// Compares the certificates of the record with those computed again.
fn agreement(record: &LinearRecord, found: &[Certificate]) -> Check {
    let near = |a: f64, b: f64, room: f64| a == b || (a - b).abs() <= room;
    let objective = |a: f64, b: f64, room: f64| near(a, b, ROUNDING * a.abs().max(b.abs()) + room);
    let same = |(stored, found): (&Certificate, &Certificate)| {
        objective(stored.primal, found.primal, found.rounding.gap)
            && objective(stored.dual, found.dual, found.rounding.gap)
            && near(stored.kkt, found.kkt, ROUNDING * (1.0 + found.primal.abs()) + found.rounding.kkt)
    };
    let stored: Vec<Certificate> = record.machines.iter().map(|machine| machine.certificate).collect();
    let other = stored.iter().zip(found).position(|pair| !same(pair));
    let shown = &stored[other.unwrap_or(0).min(stored.len() - 1)];
    let detail = format!(
        "stored: primal {}, dual {}, KKT violation {}",
        format_g(shown.primal, 9),
        format_g(shown.dual, 9),
        format_g(shown.kkt, 4)
    );
    check("certificate", stored.len() == found.len() && other.is_none(), detail)
}

/// The certificate that is furthest from the goal.
fn worst(goal: Goal, certificates: impl Iterator<Item = Certificate>) -> Option<Certificate> {
    let measure = |c: &Certificate| if goal.kkt().is_some() { c.kkt } else { c.relative_gap() };
    certificates.max_by(|a, b| goal.met(b).cmp(&goal.met(a)).then(measure(a).total_cmp(&measure(b))))
}
