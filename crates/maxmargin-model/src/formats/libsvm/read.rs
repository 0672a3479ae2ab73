//! Reads LIBSVM's model text.

use super::{HEADER, Kind};
use crate::calibration::Calibration;
use crate::decision::{DecisionRule, Multiclass};
use crate::error::ModelError;
use crate::model::Model;
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_data::quote::quoted;
use maxmargin_kernel::{Kernel, KernelKind};

/// Greatest feature index: the width of the matrix then fits `u32`.
const MAX_INDEX: u32 = u32::MAX - 1;

/// The header as the file gives it, in any order.
#[derive(Default)]
struct Header {
    svm_type: Option<String>,
    kernel_type: Option<String>,
    degree: Option<u32>,
    gamma: Option<f64>,
    coef0: Option<f64>,
    classes: Option<usize>,
    total: Option<usize>,
    rho: Option<Vec<f64>>,
    labels: Option<Vec<f64>>,
    sizes: Option<Vec<usize>>,
    prob_a: Option<Vec<f64>>,
    prob_b: Option<Vec<f64>>,
    marks: Option<Vec<f64>>,
}

/// Reads LIBSVM's model text, header lines in any order. Of two classes the greater label becomes
/// the positive class; more keep the order of the file. Ties are decided as LIBSVM decides them, by
/// the order of the labels in the file ([`Model::tie_order`]).
///
/// Index 0 anywhere makes the model zero-based. A model with probabilities decides by the greatest
/// ([`DecisionRule::Coupled`]), as `svm-predict -b 1` does.
///
/// # Errors
///
/// When the text is not a model, with the line.
pub fn read_model(bytes: &[u8]) -> Result<Model, ModelError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].split(|b| *b == b'\n').count();
        ModelError::line(line, "not text")
    })?;
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let mut header = Header::default();
    let mut last = 1;
    let complete = loop {
        let Some((at, line)) = lines.next() else { break false };
        last = at;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("SV") => break true,
            Some(name) => header.line(at, name, &words.collect::<Vec<_>>())?,
            None => {}
        }
    };
    if !complete {
        return Err(ModelError::line(last, "the file ends before the line `SV`; it is cut short"));
    }
    let kernel = header.kernel(last)?;
    let missing = |what: &str| ModelError::line(last, format!("the header has no `{what}`"));
    let rho = header.rho.take().ok_or_else(|| missing("rho"))?;
    let total = header.total.ok_or_else(|| missing("total_sv"))?;
    let kind = header.kind(last)?;
    if let Some(decision_rule) = kind.decides_alone() {
        let [rho] = rho[..] else {
            return Err(ModelError::line(last, format!("{} values of rho for {}, which has one", rho.len(), kind.name())));
        };
        let calibration = header.of_one(decision_rule);
        let rows = support_vectors(lines, 1, (total, last))?.0;
        return alone(kernel, rows, rho, decision_rule, kind)?.with_calibration(calibration);
    }
    let labels = header.labels.take().ok_or_else(|| missing("label"))?;
    let count = labels.len();
    if count < 2 || header.classes.is_some_and(|k| k != count) {
        return Err(ModelError::line(last, format!("{count} labels for {} classes", header.classes.unwrap_or(count))));
    }
    if rho.len() as u128 != Multiclass::OneVsOne.machines(count) {
        return Err(ModelError::line(last, format!("{} values of rho for {count} classes", rho.len())));
    }
    let sigmoids = header.sigmoids(last, rho.len())?;
    let sizes = header.sizes.take().ok_or_else(|| missing("nr_sv"));
    let (mut rows, last) = support_vectors(lines, count - 1, (total, last))?;
    // Two classes have one column of coefficients, whichever vector is whose.
    let sizes = if count == 2 { vec![total, 0] } else { sizes? };
    if sizes.len() != count || sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size)) != Some(total) {
        return Err(ModelError::line(last, format!("nr_sv does not divide {total} support vectors among {count} classes")));
    }
    let (support, index_base) = rows.samples(&kernel)?;
    // There a positive decision is for the earlier class, here for the later: two classes are
    // turned round instead, where that brings the greater label last.
    let turned = count == 2 && labels[0] > labels[1];
    let sign = if turned { 1.0 } else { -1.0 };
    let machines = machines(&rows.coef, &sizes, &rho, sign);
    // 1 − 1/(1 + exp(z)) is 1/(1 + exp(−z)), and z changes its sign with the decision value but for
    // what is added to it.
    let calibration: Vec<_> =
        sigmoids.into_iter().map(|(a, b)| Calibration::Sigmoid { a, b: if turned { b } else { 0.0 - b } }).collect();
    let (classes, order) =
        if turned { (labels.into_iter().rev().collect(), vec![1, 0]) } else { (labels, (0..count as u32).collect()) };
    let parts = parts(kernel, (support, index_base), machines, (DecisionRule::Vote, classes), kind);
    Model::new(parts)?.with_tie_order(order)?.with_calibration(calibration)
}

/// The one machine of regression and of one class: no labels, one column of coefficients.
fn alone(kernel: Kernel, mut rows: Rows, rho: f64, decision_rule: DecisionRule, kind: Kind) -> Result<Model, ModelError> {
    let (support, index_base) = rows.samples(&kernel)?;
    let terms = (0..).zip(&rows.coef).filter(|(_, coef)| **coef != 0.0);
    let (support_of, coef) = terms.map(|(k, coef): (u32, &f64)| (k, *coef)).unzip();
    let machines = vec![Machine { support: support_of, coef, bias: 0.0 - rho }];
    Model::new(parts(kernel, (support, index_base), machines, (decision_rule, Vec::new()), kind))
}

/// What the text tells, and nothing of what it does not know.
fn parts(
    kernel: Kernel,
    (support, index_base): (Samples, u32),
    machines: Vec<Machine>,
    (decision_rule, classes): (DecisionRule, Vec<f64>),
    kind: Kind,
) -> Parts {
    Parts {
        kernel,
        support,
        machines,
        decision_rule,
        classes,
        index_base,
        scaler: None,
        record: None,
        sections: kind.kept(),
        multiclass: Multiclass::OneVsOne,
        calibration: Vec::new(),
        encoder: None,
        threshold: None,
        tie_order: Vec::new(),
    }
}

/// The lines after `SV`, which must be `total`, and the number of the last.
fn support_vectors<'l>(
    lines: impl Iterator<Item = (usize, &'l str)>,
    columns: usize,
    (total, mut last): (usize, usize),
) -> Result<(Rows, usize), ModelError> {
    let mut rows = Rows { columns, ..Rows::default() };
    for (at, line) in lines {
        if !line.trim().is_empty() {
            rows.line(at, line)?;
            last = at;
        }
    }
    if rows.ends.len() != total {
        let reason = format!("{} support vectors, but total_sv is {total}; the file is cut short or damaged", rows.ends.len());
        return Err(ModelError::line(last, reason));
    }
    Ok((rows, last))
}

/// LIBSVM keeps `k − 1` coefficients with each support vector: those of class `a` have that of the
/// pair `(a, b)` in column `b − 1`, those of `b` in column `a`. Multiplying by the sign is exact.
fn machines(coef: &[f64], sizes: &[usize], rho: &[f64], sign: f64) -> Vec<Machine> {
    let columns = sizes.len() - 1;
    let first: Vec<usize> = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let machine = |((a, b), rho): ((usize, usize), &f64)| {
        let of = |class: usize, column: usize| {
            (first[class]..first[class] + sizes[class]).map(move |k| (k as u32, sign * coef[k * columns + column]))
        };
        // The vectors of the earlier class stand before those of the later.
        let terms = of(a, b - 1).chain(of(b, a)).filter(|t| t.1 != 0.0);
        let (support, coef) = terms.unzip();
        Machine { support, coef, bias: 0.0 - sign * rho }
    };
    pairs(sizes.len()).zip(rho).map(machine).collect()
}

impl Header {
    fn line(&mut self, at: usize, name: &str, values: &[&str]) -> Result<(), ModelError> {
        if !HEADER.contains(&name) {
            return Err(ModelError::line(at, format!("unknown word `{}` in the header of the model", shortened(name))));
        }
        let one = || match values {
            [value] => Ok(*value),
            _ => Err(ModelError::line(at, format!("`{name}` needs one value, not {}", values.len()))),
        };
        match name {
            "svm_type" => self.svm_type = Some(one()?.to_owned()),
            "kernel_type" => self.kernel_type = Some(one()?.to_owned()),
            "degree" => self.degree = Some(whole(at, one()?)?),
            "gamma" => self.gamma = Some(number(at, one()?)?),
            "coef0" => self.coef0 = Some(number(at, one()?)?),
            "nr_class" => self.classes = Some(whole(at, one()?)? as usize),
            "total_sv" => self.total = Some(whole(at, one()?)? as usize),
            "rho" => self.rho = Some(values.iter().map(|v| number(at, v)).collect::<Result<_, _>>()?),
            "label" => self.labels = Some(values.iter().map(|v| number(at, v)).collect::<Result<_, _>>()?),
            "nr_sv" => self.sizes = Some(values.iter().map(|v| whole(at, v).map(|n| n as usize)).collect::<Result<_, _>>()?),
            "probA" => self.prob_a = Some(values.iter().map(|v| number(at, v)).collect::<Result<_, _>>()?),
            "probB" => self.prob_b = Some(values.iter().map(|v| number(at, v)).collect::<Result<_, _>>()?),
            "prob_density_marks" => self.marks = Some(values.iter().map(|v| number(at, v)).collect::<Result<_, _>>()?),
            _ => {}
        }
        Ok(())
    }

    /// `probA` and `probB` of each of so many machines, or nothing.
    fn sigmoids(&mut self, at: usize, machines: usize) -> Result<Vec<(f64, f64)>, ModelError> {
        let (Some(a), Some(b)) = (self.prob_a.take(), self.prob_b.take()) else { return Ok(Vec::new()) };
        if a.len() != machines || b.len() != machines {
            let reason = format!("{} values of probA and {} of probB for {machines} decision functions", a.len(), b.len());
            return Err(ModelError::line(at, reason));
        }
        Ok(a.into_iter().zip(b).collect())
    }

    /// The calibration of regression, or of one class. LIBSVM writes a scale of 0 where all errors
    /// were 0: that is no distribution.
    fn of_one(&mut self, decision_rule: DecisionRule) -> Vec<Calibration> {
        let scale = self.prob_a.take().and_then(|scale| scale.first().copied()).filter(|scale| *scale != 0.0);
        let scale = scale.filter(|_| decision_rule == DecisionRule::Value).map(|scale| Calibration::Laplace { scale });
        let marks = self.marks.take().filter(|_| decision_rule == DecisionRule::Inlier).map(Calibration::Marks);
        scale.or(marks).into_iter().collect()
    }

    fn kind(&self, at: usize) -> Result<Kind, ModelError> {
        let svm_type = self.svm_type.as_deref().ok_or_else(|| ModelError::line(at, "the header has no `svm_type`"))?;
        Kind::named(svm_type).ok_or_else(|| ModelError::Unsupported(format!("svm_type {}", shortened(svm_type))))
    }

    fn kernel(&self, at: usize) -> Result<Kernel, ModelError> {
        let missing = |what: &str| ModelError::line(at, format!("the header has no `{what}`"));
        self.kind(at)?;
        let name = self.kernel_type.as_deref().ok_or_else(|| missing("kernel_type"))?;
        let Some(kind) = KernelKind::with_libsvm_name(name) else {
            return Err(ModelError::Unsupported(format!("kernel_type {}", shortened(name))));
        };
        let degree = if kind.has("degree") { self.degree.ok_or_else(|| missing("degree"))? } else { 0 };
        let gamma = if kind.has("gamma") { self.gamma.ok_or_else(|| missing("gamma"))? } else { 0.0 };
        let coef0 = if kind.has("coef0") { self.coef0.ok_or_else(|| missing("coef0"))? } else { 0.0 };
        Ok(kind.kernel(gamma, coef0, degree))
    }
}

/// The support vectors as they are read: indices as the file writes them.
#[derive(Default)]
struct Rows {
    /// Coefficients of each.
    columns: usize,
    coef: Vec<f64>,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn line(&mut self, at: usize, line: &str) -> Result<(), ModelError> {
        let mut words = line.split_ascii_whitespace();
        for _ in 0..self.columns {
            self.coef.push(number(at, words.next().unwrap_or_default())?);
        }
        let mut previous = None;
        for word in words {
            let Some((index, value)) = word.split_once(':') else {
                return Err(ModelError::line(at, format!("`{}` is not `index:value`", shortened(word))));
            };
            let index = whole(at, index)?;
            if index > MAX_INDEX {
                return Err(ModelError::line(at, format!("index {index} is above {MAX_INDEX}, the greatest possible")));
            }
            if previous.is_some_and(|p| p >= index) {
                return Err(ModelError::line(at, format!("index {index} does not ascend")));
            }
            previous = Some(index);
            self.indices.push(index);
            self.values.push(number(at, value)?);
        }
        self.ends.push(self.indices.len());
        Ok(())
    }

    /// The matrix of support vectors and its index base. The width is what the indices need.
    fn samples(&mut self, kernel: &Kernel) -> Result<(Samples, u32), ModelError> {
        let zero_based = self.indices.contains(&0);
        let base = u32::from(!zero_based);
        let greatest = self.indices.iter().max().copied();
        let mut width = greatest.map_or(0, |j| j as usize + usize::from(zero_based));
        let mut offsets = vec![0];
        offsets.append(&mut self.ends);
        let mut indices = std::mem::take(&mut self.indices);
        for j in &mut indices {
            *j -= base;
        }
        let values = std::mem::take(&mut self.values);
        if *kernel == Kernel::Precomputed {
            width = width.max(1);
        }
        let samples = Samples::from_sparse(width, offsets, indices, values)
            .map_err(|e| ModelError::invalid("matrix of support vectors", e.to_string()))?;
        let samples = if *kernel == Kernel::Precomputed { samples.with_features(1) } else { samples.compact() };
        Ok((samples, base))
    }
}

fn number(at: usize, word: &str) -> Result<f64, ModelError> {
    word.parse::<f64>()
        .ok()
        .filter(|v| v.is_finite())
        .ok_or_else(|| ModelError::line(at, format!("`{}` is not a finite number", shortened(word))))
}

fn whole(at: usize, word: &str) -> Result<u32, ModelError> {
    word.parse().map_err(|_| ModelError::line(at, format!("`{}` is not a whole number", shortened(word))))
}

fn shortened(word: &str) -> String {
    quoted(word, 40)
}
