//! Reads LIBSVM's model text.

use super::{HEADER, Kind};
use crate::calibration::Calibration;
use crate::decision::{DecisionRule, Multiclass};
use crate::error::{ModelError, Unsupported};
use crate::model::Model;
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_data::quote::quoted;
use maxmargin_kernel::{Kernel, KernelKind};

/// The greatest feature index, chosen so that the width of the matrix fits `u32`.
const MAX_INDEX: u32 = u32::MAX - 1;

/// The lines of the header, which a file may have in any order.
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

/// Reads LIBSVM's model text, with header lines in any order. The greater of two labels becomes the
/// positive class; three and more labels keep the order of the file. Ties are decided as in LIBSVM,
/// by the order of the labels in the file ([`Model::tie_order`]).
///
/// If any support vector has index 0, features are numbered from 0. A model with probabilities
/// predicts the class with the greatest probability ([`DecisionRule::Coupled`]), as `svm-predict -b
/// 1` does.
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
    let Some(decision_rule) = kind.single_machine_rule() else {
        let labels = header.checked_labels(rho.len(), last)?;
        let sigmoids = header.sigmoids(last, rho.len())?;
        let sizes = header.sizes.take().ok_or_else(|| missing("nr_sv"));
        let mut rows = Rows::new(labels.len() - 1);
        let last = rows.read(lines, total, last)?;
        // Two classes have a single column of coefficients, so that `nr_sv` does not matter.
        let sizes = if labels.len() == 2 { vec![total, 0] } else { sizes? };
        if sizes.len() != labels.len() || sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size)) != Some(total) {
            let reason = format!("nr_sv does not divide {total} support vectors among {} classes", labels.len());
            return Err(ModelError::line(last, reason));
        }
        return classifier(kernel, kind, rows, Classifier { labels, rho, sigmoids, sizes });
    };
    let [rho] = rho[..] else {
        return Err(ModelError::line(last, format!("{} values of rho for {}, which has one", rho.len(), kind.name())));
    };
    let calibration = header.single_calibration(decision_rule);
    let mut rows = Rows::new(1);
    rows.read(lines, total, last)?;
    single_machine(kernel, rows, rho, decision_rule, kind)?.with_calibration(calibration)
}

/// The header lines that only classifiers have.
struct Classifier {
    labels: Vec<f64>,
    /// One for each pair of classes.
    rho: Vec<f64>,
    /// `probA` and `probB` of each pair of classes, or nothing.
    sigmoids: Vec<(f64, f64)>,
    /// The number of support vectors of each class.
    sizes: Vec<usize>,
}

fn classifier(kernel: Kernel, kind: Kind, mut rows: Rows, header: Classifier) -> Result<Model, ModelError> {
    let Classifier { labels, rho, sigmoids, sizes } = header;
    let (support, index_base) = rows.samples(&kernel)?;
    // In LIBSVM a positive decision value selects the earlier class, here the later. Two classes
    // are exchanged if that puts the greater label last; otherwise the signs change.
    let exchanged = labels.len() == 2 && labels[0] > labels[1];
    let sign = if exchanged { 1.0 } else { -1.0 };
    let machines = machines(&rows.coef, &sizes, &rho, sign);
    // The identity 1 − 1/(1 + exp(z)) = 1/(1 + exp(−z)) moves a sigmoid to the other class. The
    // sign of `a` is unchanged, because the decision value changes its sign as well.
    let calibration: Vec<_> =
        sigmoids.into_iter().map(|(a, b)| Calibration::Sigmoid { a, b: if exchanged { b } else { 0.0 - b } }).collect();
    let order = if exchanged { vec![1, 0] } else { (0..labels.len() as u32).collect() };
    let classes = if exchanged { labels.into_iter().rev().collect() } else { labels };
    let parts = Parts { decision_rule: DecisionRule::Vote, classes, ..plain_parts(kernel, support, index_base, machines, kind) };
    Model::new(parts)?.with_tie_order(order)?.with_calibration(calibration)
}

/// Returns the model of a regression or of one class: no labels, one column of coefficients.
fn single_machine(
    kernel: Kernel,
    mut rows: Rows,
    rho: f64,
    decision_rule: DecisionRule,
    kind: Kind,
) -> Result<Model, ModelError> {
    let (support, index_base) = rows.samples(&kernel)?;
    let terms = (0..).zip(&rows.coef).filter(|(_, coef)| **coef != 0.0);
    let (support_of, coef) = terms.map(|(k, coef): (u32, &f64)| (k, *coef)).unzip();
    let machines = vec![Machine { support: support_of, coef, bias: 0.0 - rho }];
    Model::new(Parts { decision_rule, ..plain_parts(kernel, support, index_base, machines, kind) })
}

/// Returns parts without classes, and without anything that the text cannot express.
fn plain_parts(kernel: Kernel, support: Samples, index_base: u32, machines: Vec<Machine>, kind: Kind) -> Parts {
    Parts {
        kernel,
        support,
        machines,
        decision_rule: DecisionRule::Value,
        levels: Vec::new(),
        classes: Vec::new(),
        index_base,
        scaler: None,
        record: None,
        sections: kind.sections(),
        multiclass: Multiclass::OneVsOne,
        calibration: Vec::new(),
        encoder: None,
        threshold: None,
        tie_order: Vec::new(),
    }
}

/// Returns the machines of all pairs of classes. LIBSVM stores `k − 1` coefficients with each
/// support vector. The coefficient for the pair `(a, b)` is in column `b − 1` for vectors of class
/// `a`, and in column `a` for vectors of class `b`. Multiplication by the sign is exact.
fn machines(coef: &[f64], sizes: &[usize], rho: &[f64], sign: f64) -> Vec<Machine> {
    let columns = sizes.len() - 1;
    let first: Vec<usize> = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let machine = |((a, b), rho): ((usize, usize), &f64)| {
        let of = |class: usize, column: usize| {
            (first[class]..first[class] + sizes[class]).map(move |k| (k as u32, sign * coef[k * columns + column]))
        };
        // The vectors of the earlier class come first in the file.
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

    /// Returns the labels, after a check of their number against `nr_class` and the values of rho.
    fn checked_labels(&mut self, rhos: usize, at: usize) -> Result<Vec<f64>, ModelError> {
        let labels = self.labels.take().ok_or_else(|| ModelError::line(at, "the header has no `label`"))?;
        let count = labels.len();
        if count == 1 && self.classes.is_none_or(|classes| classes == 1) {
            let reason = "the model has one class, as svm-train writes it for data with a single label; it predicts that label for every row: train on two classes";
            return Err(ModelError::line(at, reason.to_owned()));
        }
        if count < 2 || self.classes.is_some_and(|k| k != count) {
            return Err(ModelError::line(at, format!("{count} labels for {} classes", self.classes.unwrap_or(count))));
        }
        if rhos as u128 != Multiclass::OneVsOne.machines(count) {
            return Err(ModelError::line(at, format!("{rhos} values of rho for {count} classes")));
        }
        Ok(labels)
    }

    /// Returns `probA` and `probB` of every machine, or nothing if the model has no probabilities.
    fn sigmoids(&mut self, at: usize, machines: usize) -> Result<Vec<(f64, f64)>, ModelError> {
        let (Some(a), Some(b)) = (self.prob_a.take(), self.prob_b.take()) else { return Ok(Vec::new()) };
        if a.len() != machines || b.len() != machines {
            let reason = format!("{} values of probA and {} of probB for {machines} decision functions", a.len(), b.len());
            return Err(ModelError::line(at, reason));
        }
        Ok(a.into_iter().zip(b).collect())
    }

    /// Returns the calibration of a regression or of a one-class model. LIBSVM writes a scale of 0
    /// if all errors are 0; such a scale is ignored, because it has no distribution.
    fn single_calibration(&mut self, decision_rule: DecisionRule) -> Vec<Calibration> {
        let scale = self.prob_a.take().and_then(|scale| scale.first().copied()).filter(|scale| *scale != 0.0);
        let scale = scale.filter(|_| decision_rule == DecisionRule::Value).map(|scale| Calibration::Laplace { scale });
        let marks = self.marks.take().filter(|_| decision_rule == DecisionRule::Inlier).map(Calibration::Marks);
        scale.or(marks).into_iter().collect()
    }

    fn kind(&self, at: usize) -> Result<Kind, ModelError> {
        let svm_type = self.svm_type.as_deref().ok_or_else(|| ModelError::line(at, "the header has no `svm_type`"))?;
        Kind::named(svm_type)
            .ok_or_else(|| ModelError::from(Unsupported::Header { field: "svm_type", word: shortened(svm_type) }))
    }

    fn kernel(&self, at: usize) -> Result<Kernel, ModelError> {
        let missing = |what: &str| ModelError::line(at, format!("the header has no `{what}`"));
        self.kind(at)?;
        let name = self.kernel_type.as_deref().ok_or_else(|| missing("kernel_type"))?;
        let Some(kind) = KernelKind::with_libsvm_name(name) else {
            return Err(ModelError::from(Unsupported::Header { field: "kernel_type", word: shortened(name) }));
        };
        let degree = if kind.has("degree") { self.degree.ok_or_else(|| missing("degree"))? } else { 0 };
        let gamma = if kind.has("gamma") { self.gamma.ok_or_else(|| missing("gamma"))? } else { 0.0 };
        let coef0 = if kind.has("coef0") { self.coef0.ok_or_else(|| missing("coef0"))? } else { 0.0 };
        Ok(kind.kernel(gamma, coef0, degree))
    }
}

/// The lines of support vectors, with indices as in the file.
#[derive(Default)]
struct Rows {
    /// The number of coefficients of each vector.
    columns: usize,
    coef: Vec<f64>,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Reads the lines after `SV`, which must be `total`, and returns the number of the last line.
    /// `header_end` is the number of the line `SV`.
    fn read<'l>(
        &mut self,
        lines: impl Iterator<Item = (usize, &'l str)>,
        total: usize,
        header_end: usize,
    ) -> Result<usize, ModelError> {
        let mut last = header_end;
        for (at, line) in lines {
            if !line.trim().is_empty() {
                self.line(at, line)?;
                last = at;
            }
        }
        if self.ends.len() != total {
            let reason =
                format!("{} support vectors, but total_sv is {total}; the file is cut short or damaged", self.ends.len());
            return Err(ModelError::line(last, reason));
        }
        Ok(last)
    }

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

    /// Returns the matrix of support vectors and its index base. The greatest index determines the
    /// width.
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
