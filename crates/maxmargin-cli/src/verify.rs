//! `verify`: certifies a model file against its training data, trusting nothing in it.

use crate::args::VerifyArgs;
use crate::failure::{Done, Failure};
use crate::input::{self, Input};
use crate::matching::match_rows;
use crate::notes::Notes;
use crate::output::{print, print_json};
use crate::report::{Certified, DataDocument, End, fields};
use crate::threads::Threads;
use crate::{format, model_io, multiclass, problem};
use maxmargin::Kept;
use maxmargin::core::{Certificate, Dual, audit, bias_of};
use maxmargin::data::scale::Scaler;
use maxmargin::data::{BinaryLabels, Par, Samples};
use maxmargin::kernel::KernelGram;
use maxmargin::linear::Matrix;
use maxmargin::model::{Model, Record, Stored, data_sha256, numbers_sha256};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Instant;

/// Relative difference of two recomputations that rounding explains.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) what: &'static str,
    pub(crate) passed: bool,
    pub(crate) detail: String,
}

/// What was found: of several machines the worst certificate.
pub(crate) struct Judgement {
    pub(crate) eps: f64,
    pub(crate) checks: Vec<Check>,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) stored: Option<Certificate>,
}

#[derive(Debug, Serialize)]
struct VerifyDocument {
    model: String,
    data: DataDocument,
    /// Every check passed.
    matches: bool,
    /// The recomputed KKT violation is within the tolerance.
    tolerance_met: bool,
    eps: f64,
    checks: Vec<Check>,
    certificate: Option<Certified>,
    stored: Option<Certified>,
    total_seconds: f64,
    #[serde(flatten)]
    end: End,
}

/// What the model claims to have been trained with.
struct Claim {
    c: f64,
    weights: [f64; 2],
    eps: f64,
    rows: Option<Vec<usize>>,
    certificate: Option<Certificate>,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let threads = Threads::new(args.run.threads)?;
    let stored = model_io::load_any(&args.model)?;
    let input = training_data(args, &stored, threads.par(), &mut notes)?;
    let judgement = match &stored {
        Stored::Two(model) => verify_two(args, model, &input, threads.par())?,
        Stored::Many(model) => multiclass::verify(args, model, &input, threads.par())?,
    };
    let Judgement { eps, checks, certificate: found, stored } = judgement;
    let document = VerifyDocument {
        model: args.model.display().to_string(),
        data: DataDocument::new(&input.name, &input.data),
        matches: checks.iter().all(|c| c.passed),
        tolerance_met: found.is_some_and(|c| c.holds(eps)),
        eps,
        checks,
        certificate: found.map(|c| Certified::new(&c, eps)),
        stored: stored.map(|c| Certified::new(&c, eps)),
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(&threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else {
        print(&report(&document))?;
    }
    Ok(match (document.matches, document.tolerance_met) {
        (false, _) => Done::Refuted,
        (true, false) => Done::Stopped,
        (true, true) => Done::Finished,
    })
}

fn verify_two(args: &VerifyArgs, model: &Model, input: &Input, par: Par) -> Result<Judgement, Failure> {
    let labels = BinaryLabels::new(&input.data.labels).map_err(|e| Failure::input(&input.name, e))?;
    let claim = claim(args, model, &labels)?;
    let mut checks = Vec::new();
    check_claims(model, input, &labels, &mut checks);
    let certificate = judge(model, input, &labels, &claim, par, &mut checks)?;
    Ok(Judgement { eps: claim.eps, checks, certificate, stored: claim.certificate })
}

/// The data that the user names, or what the model keeps.
fn training_data(args: &VerifyArgs, stored: &Stored, par: Par, notes: &mut Notes) -> Result<Input, Failure> {
    let name = args.model.display().to_string();
    let index_base = match stored {
        Stored::Two(model) => model.parts().index_base,
        Stored::Many(model) => model.parts().index_base,
    };
    if let Some(data) = &args.data {
        return input::load_from(data, &args.options, Some(index_base), par, notes);
    }
    let begun = Instant::now();
    let kept = match stored {
        Stored::Two(model) => Kept::of(model).map_err(|e| Failure::input(&name, e))?,
        Stored::Many(_) => None,
    };
    let Some(kept) = kept else {
        return Err(Failure::Usage(format!("{name} does not keep its training data; name it: verify MODEL DATA")));
    };
    Ok(Input { name: format!("the data in {name}"), data: kept.data, seconds: begun.elapsed().as_secs_f64() })
}

fn claim(args: &VerifyArgs, model: &Model, labels: &BinaryLabels) -> Result<Claim, Failure> {
    if let Some(record) = model.record() {
        if args.c.is_some() || !args.weight.is_empty() {
            return Err(Failure::Usage("-c and --weight are for models that do not say; this one does".to_owned()));
        }
        return Ok(Claim {
            c: record.c,
            weights: record.weights,
            eps: args.eps.unwrap_or(record.eps),
            rows: Some(record.support_rows.iter().map(|r| *r as usize).collect()),
            certificate: Some(record.certificate),
        });
    }
    let Some(c) = args.c else {
        let what = "the model does not say with which C it was trained; add -c C (and --weight LABEL=W, --eps)";
        return Err(Failure::Usage(format!("{}: {what}", args.model.display())));
    };
    let weights = problem::two_weights(&args.weight, labels)?;
    Ok(Claim { c, weights, eps: args.eps.unwrap_or(1e-3), rows: None, certificate: None })
}

/// What can be compared without any kernel value.
fn check_claims(model: &Model, input: &Input, labels: &BinaryLabels, checks: &mut Vec<Check>) {
    let parts = model.parts();
    let [n0, p0, n1, p1] = [parts.negative, parts.positive, labels.negative, labels.positive].map(format::exact);
    checks.push(Check {
        what: "classes",
        passed: (parts.negative, parts.positive) == (labels.negative, labels.positive),
        detail: format!("model {n0} and {p0}, data {n1} and {p1}"),
    });
    if let Some(record) = model.record() {
        let (rows, features) = (input.data.samples.len() as u64, input.data.samples.features() as u64);
        checks.push(Check {
            what: "shape",
            passed: (record.rows, record.features) == (rows, features),
            detail: format!("model {} × {}, data {rows} × {features}", record.rows, record.features),
        });
        checks.push(same_hash(input, &record.data_sha256));
    }
    if let Some(scaler) = &parts.scaler {
        let updates = Kept::of(model).ok().flatten().map_or(0, |kept| kept.updates);
        let same = updates > 0 || *scaler == Scaler::fit(&input.data.samples, scaler.method());
        let detail = match (updates, same) {
            (0, true) => "fitted to this data",
            (0, false) => "not what fitting to this data gives",
            _ => "not checked: it was fitted before the model was updated",
        };
        checks.push(Check { what: "scaler", passed: same, detail: detail.to_owned() });
    }
}

/// Whether the data is what a record names.
pub(crate) fn same_hash(input: &Input, recorded: &[u8; 32]) -> Check {
    // A model that was updated has the hash of numbers: its training set never was a text.
    let passed = [data_sha256(&input.data), numbers_sha256(&input.data)].contains(recorded);
    let detail =
        if passed { "the data is the training data, bit for bit" } else { "the data is another text than was trained on" };
    Check { what: "data hash", passed, detail: detail.to_owned() }
}

/// Puts the model's coefficients on the rows of the data and recomputes everything in double precision.
fn judge(
    model: &Model,
    input: &Input,
    labels: &BinaryLabels,
    claim: &Claim,
    par: Par,
    checks: &mut Vec<Check>,
) -> Result<Option<Certificate>, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::input(&input.name, e);
    let samples = model.prepared(&input.data.samples).map_err(|e| failed(&e))?;
    if let Some(record) = model.record().filter(|record| record.folded.is_some()) {
        return judge_weights(model, record, &samples, labels, claim, par, checks).map_err(|e| failed(&e));
    }
    let rows = match match_rows(model, &samples, &labels.signs, claim.rows.as_deref()) {
        Ok(rows) => rows,
        Err(detail) => {
            checks.push(Check { what: "support vectors", passed: false, detail });
            return Ok(None);
        }
    };
    let detail = format!("all {} are rows of the data, coefficient signs agree with labels", rows.len());
    checks.push(Check { what: "support vectors", passed: true, detail });
    let upper = problem::upper_bounds(labels, claim.c, claim.weights);
    let mut alpha = vec![0.0; upper.len()];
    for (&row, coef) in rows.iter().zip(&model.parts().coef) {
        alpha[row] += coef.abs();
    }
    let dual = Dual::c_svc((0..alpha.len()).collect(), labels.signs.clone(), upper).map_err(|e| failed(&e))?;
    let gram = KernelGram::new(&samples, model.kernel().clone()).map_err(|e| failed(&e))?;
    let audited = audit(&gram, &[(&dual, &alpha, model.parts().bias)], par).remove(0);
    let certificate = audited.certificate;
    let bias = bias_of(&dual, &alpha, &audited.gradient);
    check_solution(model, claim, &dual, &alpha, bias, certificate, checks);
    Ok(Some(certificate))
}

/// Adds what a weights-only model claims up again: its weights from the coefficients and the rows, everything else from those.
fn judge_weights(
    model: &Model,
    record: &Record,
    samples: &Samples,
    labels: &BinaryLabels,
    claim: &Claim,
    par: Par,
    checks: &mut Vec<Check>,
) -> Result<Option<Certificate>, String> {
    let rows = claim.rows.as_deref().unwrap_or_default();
    let coef = record.folded.as_deref().unwrap_or_default();
    let wrong = rows.iter().zip(coef).position(|(&row, coef)| row >= samples.len() || coef * labels.signs[row] < 0.0);
    if let Some(at) = wrong {
        let detail =
            format!("support vector {at} is said to be row {}, which does not exist or is of the other class", rows[at] + 1);
        checks.push(Check { what: "support vectors", passed: false, detail });
        return Ok(None);
    }
    let detail = format!("all {} are rows of the data, coefficient signs agree with labels", rows.len());
    checks.push(Check { what: "support vectors", passed: true, detail });
    let mut alpha = vec![0.0; labels.signs.len()];
    rows.iter().zip(coef).for_each(|(&row, coef)| alpha[row] += coef.abs());
    let upper = problem::upper_bounds(labels, claim.c, claim.weights);
    let ids = (0..alpha.len()).collect();
    let dual = Dual::svc(record.loss, record.offset, ids, labels.signs.clone(), upper).map_err(|e| e.to_string())?;
    let matrix = Matrix::new(samples, record.offset.feature(), par);
    let judged = maxmargin::linear::judge(&matrix, &dual, &alpha, par);
    checks.push(same_weights(&judged.w, &model.parts().support.row(0).entries(), &alpha));
    check_solution(model, claim, &dual, &alpha, judged.bias, judged.certificate, checks);
    Ok(Some(judged.certificate))
}

/// Whether weights are the sum over the support vectors that they are said to be, up to rounding.
pub(crate) fn same_weights(found: &[(u32, f64)], stored: &[(usize, f64)], alpha: &[f64]) -> Check {
    let mut difference: HashMap<usize, f64> = found.iter().map(|&(j, v)| (j as usize, v)).collect();
    stored.iter().for_each(|&(j, v)| *difference.entry(j).or_insert(0.0) -= v);
    let off = difference.values().fold(0.0_f64, |most, v| most.max(v.abs()));
    let largest = stored.iter().fold(0.0_f64, |most, (_, v)| most.max(v.abs()));
    Check {
        what: "weights",
        passed: off <= ROUNDING * (largest + alpha.iter().fold(0.0, |most: f64, a| most.max(*a))),
        detail: format!(
            "{} of them; largest difference from the sum over the support vectors: {}",
            stored.len(),
            format::short(off)
        ),
    }
}

/// Compares a solution with what was recomputed from it.
fn check_solution(
    model: &Model,
    claim: &Claim,
    dual: &Dual,
    alpha: &[f64],
    bias: f64,
    certificate: Certificate,
    checks: &mut Vec<Check>,
) {
    checks.push(Check {
        what: "feasible",
        passed: certificate.infeasible <= 1e-9,
        detail: format!("largest violation of 0 ≤ alpha ≤ C and sum y alpha = 0: {}", format::short(certificate.infeasible)),
    });
    let off = (bias - model.parts().bias).abs();
    checks.push(Check {
        what: "bias",
        passed: off <= claim.eps.max(certificate.kkt),
        detail: format!("model {}, recomputed {}", format::long(model.parts().bias), format::long(bias)),
    });
    if let Some(stored) = claim.certificate {
        checks.push(agreement(&stored, &certificate, alpha.iter().sum()));
    }
    let bounded = alpha.iter().zip(dual.upper()).filter(|(a, u)| **a > 0.0 && a >= u).count();
    if let Some(record) = model.record() {
        checks.push(Check {
            what: "at C",
            passed: record.bounded == bounded as u64,
            detail: format!("model {}, recomputed {bounded}", record.bounded),
        });
    }
}

/// Whether the stored certificate is what recomputing gives, up to rounding of sums of this size.
pub(crate) fn agreement(stored: &Certificate, found: &Certificate, mass: f64) -> Check {
    let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= ROUNDING * scale.max(1.0);
    let objective = |a: f64, b: f64| near(a, b, a.abs().max(b.abs()));
    let passed = objective(stored.primal, found.primal)
        && objective(stored.dual, found.dual)
        && near(stored.kkt, found.kkt, mass)
        && near(stored.infeasible, found.infeasible, 1.0);
    let detail = format!(
        "stored: primal {}, dual {}, KKT violation {}",
        format::long(stored.primal),
        format::long(stored.dual),
        format::short(stored.kkt)
    );
    Check { what: "certificate", passed, detail }
}

fn report(d: &VerifyDocument) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for check in &d.checks {
        let mark = if check.passed { "ok" } else { "MISMATCH" };
        rows.push((check.what, format!("{mark}: {}", check.detail)));
    }
    if let Some(c) = &d.certificate {
        rows.push(("primal", format::long(c.primal)));
        rows.push(("dual", format::long(c.dual)));
        rows.push(("relative gap", format::short(c.relative_gap)));
        rows.push(("KKT violation", format!("{} (tolerance {})", format::short(c.kkt), format::short(d.eps))));
    }
    rows.push(("time", format::seconds(d.total_seconds)));
    let verdict = match (d.matches, d.tolerance_met) {
        (true, true) => "certified: an optimal solution of this problem, to its tolerance",
        (true, false) => "genuine, but not solved to the tolerance",
        (false, _) => "REFUTED: the model is not what it says about this data",
    };
    format!("{} against {}\n{}{verdict}\n", d.model, d.data.name, fields(&rows))
}
