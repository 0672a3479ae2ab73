//! `verify` of a model of several classes: every machine is certified from the data.

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::format;
use crate::input::Input;
use crate::matching::key;
use crate::problem::class_weights;
use crate::verify::{Check, Judgement, agreement, same_hash, same_weights};
use maxmargin::core::{Certificate, Dual, Loss, Offset, bias_of, certify_gradient, exact_gradient};
use maxmargin::cv::{ClassOrder, ClassPair, map_pairs};
use maxmargin::data::classes::pairs;
use maxmargin::data::scale::Scaler;
use maxmargin::data::{ClassLabels, Par, Samples};
use maxmargin::kernel::{Gram, KernelGram, OffsetGram};
use maxmargin::linear::Matrix;
use maxmargin::model::{MulticlassModel, PairRecord};
use std::collections::HashMap;

/// What the model claims to have been trained with.
struct Claim<'a> {
    c: f64,
    /// By class of the data.
    weights: Vec<f64>,
    eps: f64,
    problem: (Loss, Offset),
    pairs: Option<&'a [PairRecord]>,
}

/// A machine's place in the model, and (row of the data, `s α`) of its support vectors, positive for the later class of the data.
type Machine = (usize, Vec<(usize, f64)>);

/// One machine as it should be: certificate, bias, and what is wrong.
struct Judged {
    certificate: Certificate,
    wrong: Option<String>,
}

/// Judges `model` against its training data.
pub(crate) fn run(args: &VerifyArgs, model: &MulticlassModel, input: &Input, par: Par) -> Result<Judgement, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::input(&input.name, e);
    let labels = ClassLabels::new(&input.data.labels).map_err(|e| failed(&e))?;
    let mut checks = Vec::new();
    let eps = args.eps.or_else(|| model.record().map(|r| r.eps)).unwrap_or(1e-3);
    let mut sorted = model.classes().to_vec();
    sorted.sort_by(f64::total_cmp);
    let same_classes = sorted == labels.labels();
    let [ours, theirs] =
        [&sorted[..], labels.labels()].map(|l| l.iter().map(|l| format::exact(*l)).collect::<Vec<_>>().join(", "));
    let detail = if same_classes { format!("{} classes", labels.count()) } else { format!("model {ours}; data {theirs}") };
    checks.push(Check { what: "classes", passed: same_classes, detail });
    if !same_classes {
        return Ok(Judgement { eps, checks, certificate: None, stored: None });
    }
    check_record(model, input, &mut checks);
    let claim = claim(args, model, &labels, eps)?;
    let samples = model.prepared(&input.data.samples).map_err(|e| failed(&e))?;
    let machines = match machines(model, &samples, &labels, &claim) {
        Ok(machines) => machines,
        Err(detail) => {
            checks.push(Check { what: "support vectors", passed: false, detail });
            return Ok(Judgement { eps, checks, certificate: None, stored: None });
        }
    };
    let detail = format!("all {} are rows of the data, coefficient signs agree with labels", model.support_vectors());
    checks.push(Check { what: "support vectors", passed: true, detail });
    let order = ClassOrder::new(&labels);
    let judged = judge(model, &samples, &labels, &order, &claim, &machines, par).map_err(|e| failed(&e))?;
    let wrong: Vec<&String> = judged.iter().filter_map(|j| j.wrong.as_ref()).collect();
    checks.push(Check {
        what: "machines",
        passed: wrong.is_empty(),
        detail: match wrong.first() {
            None => format!("{}: feasible, biases and certificates are what recomputing gives", judged.len()),
            Some(first) => format!("{} of {} are not what they say; {first}", wrong.len(), judged.len()),
        },
    });
    let worst = judged.iter().map(|j| j.certificate).max_by(|a, b| a.kkt.total_cmp(&b.kkt));
    let stored = claim.pairs.and_then(|p| p.iter().map(|r| r.certificate).max_by(|a, b| a.kkt.total_cmp(&b.kkt)));
    Ok(Judgement { eps, checks, certificate: worst, stored })
}

fn claim<'m>(args: &VerifyArgs, model: &'m MulticlassModel, labels: &ClassLabels, eps: f64) -> Result<Claim<'m>, Failure> {
    let Some(record) = model.record() else {
        let Some(c) = args.c else {
            let what = "the model does not say with which C it was trained; add -c C (and --weight LABEL=W, --eps)";
            return Err(Failure::Usage(format!("{}: {what}", args.model.display())));
        };
        let weights = class_weights(&args.weight, labels.labels())?;
        return Ok(Claim { c, weights, eps, problem: (Loss::Hinge, Offset::Free), pairs: None });
    };
    if args.c.is_some() || !args.weight.is_empty() {
        return Err(Failure::Usage("-c and --weight are for models that do not say; this one does".to_owned()));
    }
    let weight = |label: &f64| model.classes().iter().position(|c| c == label).map_or(1.0, |at| record.weights[at]);
    let weights = labels.labels().iter().map(weight).collect();
    Ok(Claim { c: record.c, weights, eps, problem: (record.loss, record.offset), pairs: Some(&record.pairs) })
}

fn check_record(model: &MulticlassModel, input: &Input, checks: &mut Vec<Check>) {
    if let Some(record) = model.record() {
        let (rows, features) = (input.data.samples.len() as u64, input.data.samples.features() as u64);
        checks.push(Check {
            what: "shape",
            passed: (record.rows, record.features) == (rows, features),
            detail: format!("model {} × {}, data {rows} × {features}", record.rows, record.features),
        });
        checks.push(same_hash(input, &record.data_sha256));
    }
    if let Some(scaler) = &model.parts().scaler {
        let same = *scaler == Scaler::fit(&input.data.samples, scaler.method());
        let detail = if same { "fitted to this data" } else { "not what fitting to this data gives" };
        checks.push(Check { what: "scaler", passed: same, detail: detail.to_owned() });
    }
}

/// Every machine by rows of the data; machines are in the order of the data's classes.
fn machines(model: &MulticlassModel, samples: &Samples, labels: &ClassLabels, claim: &Claim) -> Result<Vec<Machine>, String> {
    let rows = if claim.pairs.is_some() { None } else { Some(find_rows(model, samples, labels)?) };
    let class = |label: f64| labels.labels().iter().position(|l| *l == label).unwrap_or(0);
    let count = labels.count();
    let mut found = vec![(usize::MAX, Vec::new()); pairs(count).count()];
    for (p, ((a, b), machine)) in pairs(count).zip(&model.parts().machines).enumerate() {
        let (a, b) = (class(model.classes()[a]), class(model.classes()[b]));
        let turned = if a < b { 1.0 } else { -1.0 };
        let record = claim.pairs.map(|records| &records[p]);
        let coef = record.and_then(|r| r.folded.as_deref()).unwrap_or(&machine.coef);
        let mut terms = Vec::with_capacity(coef.len());
        for (at, &coef) in coef.iter().enumerate() {
            let row = match (record, &rows) {
                (Some(record), _) => record.rows[at] as usize,
                (None, Some(rows)) => rows[machine.support[at] as usize],
                (None, None) => continue,
            };
            let name = format!("support vector {at} of the machine {p}");
            if row >= samples.len() {
                return Err(format!("{name} is said to be row {}, but there are {} rows", row + 1, samples.len()));
            }
            let is_folded = record.is_some_and(|r| r.folded.is_some());
            let parts = model.parts();
            if !is_folded && key(&parts.kernel, &parts.support, machine.support[at] as usize) != key(&parts.kernel, samples, row)
            {
                return Err(format!("{name} is said to be row {}, but differs from it", row + 1));
            }
            // A positive coefficient speaks for the later class of the model's pair.
            let wanted = if coef > 0.0 { b } else { a };
            if coef != 0.0 && labels.of()[row] as usize != wanted {
                return Err(format!("{name} has the sign of the class that row {} is not in", row + 1));
            }
            terms.push((row, coef * turned));
        }
        let place = pairs(count).position(|pair| pair == (a.min(b), a.max(b))).unwrap_or(0);
        found[place] = (p, terms);
    }
    Ok(found)
}

/// Looks every support vector up among the rows of the classes that its coefficients speak for; equal rows are used in turn.
fn find_rows(model: &MulticlassModel, samples: &Samples, labels: &ClassLabels) -> Result<Vec<usize>, String> {
    let parts = model.parts();
    let mut class_of = vec![None; parts.support.len()];
    for ((a, b), machine) in pairs(parts.classes.len()).zip(&parts.machines) {
        for (&k, &coef) in machine.support.iter().zip(&machine.coef).filter(|(_, c)| **c != 0.0) {
            class_of[k as usize] = Some(parts.classes[if coef > 0.0 { b } else { a }]);
        }
    }
    let mut places: HashMap<(usize, _), Vec<usize>> = HashMap::new();
    for row in (0..samples.len()).rev() {
        places.entry((labels.of()[row] as usize, key(&parts.kernel, samples, row))).or_default().push(row);
    }
    let find = |(k, class): (usize, Option<f64>)| {
        let class = class.and_then(|label| labels.labels().iter().position(|l| *l == label)).unwrap_or(0);
        let found = places.get_mut(&(class, key(&parts.kernel, &parts.support, k))).and_then(Vec::pop);
        found.ok_or_else(|| {
            format!("support vector {k} is no row of the data (LIBSVM writes eight digits only: train on such data, or export from maxmargin)")
        })
    };
    class_of.into_iter().enumerate().map(find).collect()
}

/// Certifies every machine.
fn judge(
    model: &MulticlassModel,
    samples: &Samples,
    labels: &ClassLabels,
    order: &ClassOrder,
    claim: &Claim,
    machines: &[Machine],
    par: Par,
) -> Result<Vec<Judged>, String> {
    let (loss, offset) = claim.problem;
    let folded = claim.pairs.is_some_and(|records| records.iter().any(|r| r.folded.is_some()));
    let mut position = vec![0; samples.len()];
    order.original().iter().enumerate().for_each(|(at, &row)| position[row] = at);
    let sorted = samples.select(order.original());
    let plain =
        if folded { None } else { Some(KernelGram::new(&sorted, model.parts().kernel.clone()).map_err(|e| e.to_string())?) };
    let with_bias = match (&plain, offset) {
        (Some(plain), Offset::Feature(value)) => Some(OffsetGram::new(plain, value * value)),
        _ => None,
    };
    let gram = with_bias.as_ref().map(|g| g as &dyn Gram).or_else(|| plain.as_ref().map(|g| g as &dyn Gram));
    let of_pairs: Vec<ClassPair> = order.pairs();
    map_pairs(of_pairs.len(), par, |at, par| {
        let (pair, (p, terms)) = (&of_pairs[at], &machines[at]);
        let machine = &model.parts().machines[*p];
        let ids: Vec<usize> = pair.ids().collect();
        let mut alpha = vec![0.0; ids.len()];
        let place: HashMap<usize, usize> = ids.iter().enumerate().map(|(k, &id)| (id, k)).collect();
        terms.iter().for_each(|(row, coef)| alpha[place[&position[*row]]] += coef.abs());
        let upper = ids.iter().map(|&id| claim.c * claim.weights[labels.of()[order.original()[id]] as usize]).collect();
        let turned = model.classes().iter().position(|c| *c == labels.labels()[pair.classes.0])
            > model.classes().iter().position(|c| *c == labels.labels()[pair.classes.1]);
        let bias = if turned { -machine.bias } else { machine.bias };
        let name = format!(
            "that of {} and {}",
            format::exact(labels.labels()[pair.classes.0]),
            format::exact(labels.labels()[pair.classes.1])
        );
        let mut wrong = None;
        let mut note = |what: String| _ = wrong.get_or_insert(format!("{name}: {what}"));
        let (certificate, expected) = if let Some(gram) = gram {
            let dual = Dual::svc(loss, offset, ids, pair.signs(), upper).map_err(|e| e.to_string())?;
            let gradient = exact_gradient(&dual, gram, &alpha, par);
            match offset {
                Offset::Feature(value) => {
                    let sum: f64 = alpha.iter().zip(dual.sign()).map(|(a, s)| s * a).sum();
                    (certify_gradient(&dual, &alpha, 0.0, &gradient), value * value * sum)
                }
                _ => (certify_gradient(&dual, &alpha, bias, &gradient), bias_of(&dual, &alpha, &gradient)),
            }
        } else {
            let rows: Vec<usize> = ids.iter().map(|&id| order.original()[id]).collect();
            let dual = Dual::svc(loss, offset, (0..ids.len()).collect(), pair.signs(), upper).map_err(|e| e.to_string())?;
            let own = samples.select(&rows);
            let judged = maxmargin::linear::judge(&Matrix::new(&own, offset.feature(), par), &dual, &alpha, par);
            let sign = if turned { -1.0 } else { 1.0 };
            let stored: Vec<(usize, f64)> = match machine.support.first() {
                Some(&k) => model.parts().support.row(k as usize).entries().into_iter().map(|(j, v)| (j, sign * v)).collect(),
                None => Vec::new(),
            };
            let weights = same_weights(&judged.w, &stored, &alpha);
            if !weights.passed {
                note(weights.detail);
            }
            (judged.certificate, judged.bias)
        };
        if certificate.infeasible > 1e-9 {
            note(format!("0 ≤ alpha ≤ C is violated by {}", format::short(certificate.infeasible)));
        }
        if (bias - expected).abs() > claim.eps.max(certificate.kkt) {
            note(format!("bias {}, recomputed {}", format::long(bias), format::long(expected)));
        }
        if let Some(record) = claim.pairs.map(|records| &records[*p]) {
            let check = agreement(&record.certificate, &certificate, alpha.iter().sum());
            if !check.passed {
                note(format!("certificate {}", check.detail));
            }
        }
        Ok(Judged { certificate, wrong })
    })
}
