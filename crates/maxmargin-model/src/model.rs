//! The model: a decision function, checked once when it is made.

use crate::error::ModelError;
use crate::record::Record;
use maxmargin_core::{Dual, Solution};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{BinaryLabels, Samples};
use maxmargin_kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Bytes that another crate keeps in a model file (such as the state of an incremental solver), found by tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Whose bytes these are, padded with zeros.
    pub tag: [u8; 8],
    /// Opaque here.
    pub bytes: Vec<u8>,
}

/// All numbers of a model, before anything is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// The kernel.
    pub kernel: Kernel,
    /// Support vectors (scaled, if there is a scaler). For a precomputed kernel: column 0 with the serial numbers, nothing else.
    pub support: Samples,
    /// `s α` of each support vector.
    pub coef: Vec<f64>,
    /// Added to the weighted kernel sum.
    pub bias: f64,
    /// The label of negative decision values.
    pub negative: f64,
    /// The label of decision values of 0 and above.
    pub positive: f64,
    /// The number that files give to the first feature: 0 or 1.
    pub index_base: u32,
    /// Applied to samples before the kernel.
    pub scaler: Option<Scaler>,
    /// How the model was trained; none for models from elsewhere.
    pub record: Option<Record>,
    /// Bytes of other crates.
    pub sections: Vec<Section>,
}

/// A two-class support vector machine: decision value `Σ coef_k K(x_k, x) + bias`, positive class at 0 and above.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    parts: Parts,
    /// `Σ coef_k x_k` for the linear kernel.
    w: Option<Vec<f64>>,
}

impl Model {
    /// Checks the parts and derives `w` for the linear kernel.
    ///
    /// # Errors
    ///
    /// When a kernel parameter, coefficient, bias or label is not possible, or lengths do not fit.
    pub fn new(mut parts: Parts) -> Result<Self, ModelError> {
        parts.kernel = parts.kernel.checked()?;
        check_numbers(&parts)?;
        if let Some(record) = &parts.record {
            check_record(record, &parts)?;
        }
        if let Some(scaler) = &parts.scaler
            && scaler.features() != parts.support.features()
        {
            let reason = format!("it scales {} features, the model has {}", scaler.features(), parts.support.features());
            return Err(ModelError::invalid("scaler", reason));
        }
        if parts.kernel == Kernel::Precomputed {
            check_serials(&parts.support)?;
        }
        let w = keeps_weights(&parts).then(|| weighted_sum(&parts.support, &parts.coef));
        Ok(Self { parts, w })
    }

    /// Keeps the support vectors of a solution: row `i` of `samples` is Gram index `i` of `dual`.
    ///
    /// `samples` are scaled already where a scaler will be added ([`Model::with_scaler`]). The model has index base 1
    /// ([`Model::with_index_base`]) and no record yet ([`Model::with_record`]).
    ///
    /// # Errors
    ///
    /// As [`Model::new`].
    ///
    /// # Panics
    ///
    /// When the problem names rows that `samples` does not have, or the solution is of another problem.
    pub fn from_solution(
        kernel: Kernel,
        samples: &Samples,
        labels: &BinaryLabels,
        dual: &Dual,
        solution: &Solution,
    ) -> Result<Self, ModelError> {
        let support = Self::support_of(dual, solution);
        let rows: Vec<usize> = support.iter().map(|s| s.row).collect();
        let mut chosen = samples.select(&rows);
        if kernel == Kernel::Precomputed {
            chosen = chosen.with_features(1);
        }
        Self::new(Parts {
            kernel,
            support: chosen,
            coef: support.iter().map(|s| s.coef).collect(),
            bias: solution.bias,
            negative: labels.negative,
            positive: labels.positive,
            index_base: 1,
            scaler: None,
            record: None,
            sections: Vec::new(),
        })
    }

    /// A linear model that keeps its weights alone: `weights` are (feature, weight), features ascending, below `features`.
    ///
    /// Index base, scaler and record are added as to [`Model::from_solution`]; the record is that of [`Record::of_weights`].
    ///
    /// # Errors
    ///
    /// As [`Model::new`], and when features do not ascend below `features`.
    pub fn from_weights(features: usize, labels: &BinaryLabels, weights: &[(u32, f64)], bias: f64) -> Result<Self, ModelError> {
        let (indices, values) = weights.iter().copied().unzip();
        let w = Samples::from_sparse(features, vec![0, weights.len()], indices, values);
        let w = w.map_err(|e| ModelError::invalid("vector of weights", e.to_string()))?;
        Self::new(Parts {
            kernel: Kernel::Linear,
            support: w.compact(),
            coef: vec![1.0],
            bias,
            negative: labels.negative,
            positive: labels.positive,
            index_base: 1,
            scaler: None,
            record: None,
            sections: Vec::new(),
        })
    }

    /// The support vectors of a solution, rows ascending.
    ///
    /// # Panics
    ///
    /// When the solution is of another problem.
    pub fn support_of(dual: &Dual, solution: &Solution) -> Vec<Support> {
        assert_eq!(solution.alpha.len(), dual.len(), "one alpha per variable");
        let mut support: Vec<Support> = (0..dual.len())
            .filter(|&k| solution.alpha[k] != 0.0)
            .map(|k| Support {
                row: dual.ids()[k],
                coef: dual.sign()[k] * solution.alpha[k],
                bounded: solution.alpha[k] >= dual.upper()[k],
            })
            .collect();
        support.sort_by_key(|s| s.row);
        support
    }

    /// The same model with the record of its training.
    ///
    /// # Errors
    ///
    /// When the record does not fit the model.
    pub fn with_record(mut self, record: Record) -> Result<Self, ModelError> {
        check_record(&record, &self.parts)?;
        self.parts.record = Some(record);
        Ok(self)
    }

    /// The same model behind a scaler.
    ///
    /// # Errors
    ///
    /// When the scaler has another number of features than the support vectors.
    pub fn with_scaler(mut self, scaler: Scaler) -> Result<Self, ModelError> {
        self.parts.scaler = Some(scaler);
        Self::new(self.parts)
    }

    /// The same model for files whose first feature has the number `index_base`.
    ///
    /// # Errors
    ///
    /// When it is neither 0 nor 1.
    pub fn with_index_base(mut self, index_base: u32) -> Result<Self, ModelError> {
        self.parts.index_base = index_base;
        Self::new(self.parts)
    }

    /// Stores `bytes` under `tag`, in place of what was there.
    #[must_use]
    pub fn with_section(mut self, tag: [u8; 8], bytes: Vec<u8>) -> Self {
        self.parts.sections.retain(|s| s.tag != tag);
        self.parts.sections.push(Section { tag, bytes });
        self
    }

    /// The bytes stored under `tag`.
    pub fn section(&self, tag: [u8; 8]) -> Option<&[u8]> {
        self.parts.sections.iter().find(|s| s.tag == tag).map(|s| &s.bytes[..])
    }

    /// All numbers of the model.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.parts.kernel
    }

    /// Number of support vectors of the training, whether the model keeps them or their sum.
    pub fn support_vectors(&self) -> usize {
        match self.folded() {
            Some(folded) => folded.len(),
            None => self.len(),
        }
    }

    /// What proves the weights of a model that keeps nothing else ([`Record::folded`]).
    pub fn folded(&self) -> Option<&[f64]> {
        self.parts.record.as_ref()?.folded.as_deref()
    }

    /// Number of vectors that the model keeps: support vectors, or 1 for a linear model of weights alone.
    pub fn len(&self) -> usize {
        self.parts.coef.len()
    }

    /// Whether no vectors are kept, so that every decision value is the bias.
    pub fn is_empty(&self) -> bool {
        self.parts.coef.is_empty()
    }

    /// Number of features of the training data.
    pub fn features(&self) -> usize {
        match &self.parts.record {
            Some(record) => record.features as usize,
            None => self.parts.support.features(),
        }
    }

    /// The record of the training, if there is one.
    pub fn record(&self) -> Option<&Record> {
        self.parts.record.as_ref()
    }

    /// `Σ coef_k x_k`, one entry per feature, for a linear kernel (none when features are so many that almost all entries are 0).
    pub fn w(&self) -> Option<&[f64]> {
        self.w.as_deref()
    }
}

/// A support vector of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Gram index.
    pub row: usize,
    /// `s α`
    pub coef: f64,
    /// Whether α is at its upper bound.
    pub bounded: bool,
}

fn check_numbers(parts: &Parts) -> Result<(), ModelError> {
    if parts.coef.len() != parts.support.len() {
        let reason = format!("{} for {} support vectors", parts.coef.len(), parts.support.len());
        return Err(ModelError::invalid("number of coefficients", reason));
    }
    if let Some(at) = parts.coef.iter().position(|c| !c.is_finite()) {
        return Err(ModelError::invalid("a coefficient", format!("number {at} is {}", parts.coef[at])));
    }
    for (what, value) in [("bias", parts.bias), ("negative label", parts.negative), ("positive label", parts.positive)] {
        if !value.is_finite() {
            return Err(ModelError::invalid(what, format!("it is {value}")));
        }
    }
    if parts.negative == parts.positive {
        return Err(ModelError::invalid("pair of labels", format!("both are {}", parts.negative)));
    }
    if parts.index_base > 1 {
        return Err(ModelError::invalid("index base", format!("it is {}", parts.index_base)));
    }
    Ok(())
}

fn check_record(record: &Record, parts: &Parts) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("training record", reason));
    let vectors = record.folded.as_ref().map_or(parts.coef.len(), Vec::len);
    if record.support_rows.len() != vectors {
        return invalid(format!("{} rows for {vectors} support vectors", record.support_rows.len()));
    }
    if let Some(folded) = &record.folded {
        if parts.kernel != Kernel::Linear || parts.coef != [1.0] {
            return invalid("only a linear model can keep its weights alone".to_owned());
        }
        if let Some(value) = folded.iter().find(|v| !v.is_finite()) {
            return invalid(format!("a coefficient is {value}"));
        }
    }
    if record.offset.feature().is_some_and(|value| !value.is_finite()) {
        return invalid("the value of the bias feature is not finite".to_owned());
    }
    if !record.support_rows.is_sorted_by(|a, b| a < b) || record.support_rows.last().is_some_and(|&r| r >= record.rows) {
        return invalid(format!("the rows of the support vectors do not ascend below {}", record.rows));
    }
    let width = parts.support.features() as u64;
    if parts.kernel != Kernel::Precomputed && record.features != width {
        return invalid(format!("{} features, the support vectors have {width}", record.features));
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let weight = |value: f64| value >= 0.0 && value.is_finite();
    if !positive(record.c) || !positive(record.eps) || !record.weights.iter().all(|w| weight(*w)) {
        return invalid(format!("C = {}, weights {:?}, eps = {}", record.c, record.weights, record.eps));
    }
    Ok(())
}

/// A precomputed kernel knows its support vectors by serial number alone.
pub(crate) fn check_serials(support: &Samples) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("serial numbers", reason));
    if support.features() != 1 && !support.is_empty() {
        return invalid(format!("{} columns instead of 1", support.features()));
    }
    for i in 0..support.len() {
        let serial = support.row(i).entries().first().map_or(0.0, |e| e.1);
        if serial < 1.0 || serial.fract() != 0.0 || serial > f64::from(u32::MAX) {
            return invalid(format!("support vector {i} has {serial}"));
        }
    }
    Ok(())
}

/// Whether a linear model keeps one weight per feature: a few bytes of a file that name feature 4,000,000,000 must not cost
/// gigabytes.
fn keeps_weights(parts: &Parts) -> bool {
    parts.kernel == Kernel::Linear && parts.support.features() <= (16 * parts.support.non_zeros()).max(1 << 22)
}

/// `Σ coef_k x_k`, summed in row order so that the same model always has the same bits.
fn weighted_sum(support: &Samples, coef: &[f64]) -> Vec<f64> {
    let mut w = vec![0.0; support.features()];
    for (i, c) in coef.iter().enumerate() {
        support.row(i).for_each(|j, v| w[j] += c * v);
    }
    w
}
