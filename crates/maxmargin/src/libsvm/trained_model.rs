//! The model of a training, or LIBSVM's constant model for data with one class only, and its text.

use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Kernel, KernelKind};
use maxmargin_model::{DecisionRule, Model, ModelError, libsvm};
use std::io::Write;

/// A model, or LIBSVM's constant model for data with one class only.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainedModel {
    /// A model with machines.
    Model(Box<Model>),
    /// A constant prediction, because all training rows have the same class.
    Constant {
        /// The label of the class.
        label: i32,
        /// LIBSVM's type, 0 or 1.
        svm_type: i32,
        /// The kernel, which files contain but predictions do not use.
        kernel: Kernel,
        /// True if the model also predicts probabilities; the class has probability 1.
        probability: bool,
    },
}

impl TrainedModel {
    /// The model with machines, if it is one.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Constant { .. } => None,
        }
    }

    /// Returns true if the model has probabilities or the scale of errors.
    pub fn is_probability_model(&self) -> bool {
        match self {
            Self::Model(model) => !model.calibration().is_empty(),
            Self::Constant { probability, .. } => *probability,
        }
    }

    /// Reads a model file of any kind. The model decides ties as LIBSVM does, for files of any
    /// program.
    ///
    /// # Errors
    ///
    /// When the bytes are not a model.
    pub fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        if let Some(constant) = read_constant(bytes) {
            return Ok(constant);
        }
        let model = maxmargin_model::read(bytes)?;
        let order = model.label_order();
        Ok(Self::Model(Box::new(model.with_tie_order(order)?)))
    }

    /// Writes LIBSVM's text.
    ///
    /// # Errors
    ///
    /// As [`libsvm::write_model`].
    pub fn write(&self, mut out: &mut dyn Write) -> Result<(), ModelError> {
        match self {
            Self::Model(model) => libsvm::write_model(model, &mut out),
            Self::Constant { label, svm_type, kernel, probability } => {
                let name = if *svm_type == 1 { "nu_svc" } else { "c_svc" };
                write!(out, "svm_type {name}\n{}", libsvm::kernel_lines(kernel)?)?;
                let sigmoids = if *probability { "probA\nprobB\n" } else { "" };
                Ok(write!(out, "nr_class 1\ntotal_sv 0\nrho\nlabel {label}\n{sigmoids}nr_sv 0\nSV\n")?)
            }
        }
    }

    /// Returns the model with predictions by its decision values, as in `svm-predict -b 0`.
    ///
    /// # Errors
    ///
    /// When the decision rule does not fit, which does not occur for models that were read or
    /// trained.
    pub fn by_votes(self) -> Result<Self, ModelError> {
        match self {
            Self::Model(model) if model.decision_rule() == DecisionRule::Coupled => {
                let decision_rule = model.multiclass().decision_rule();
                Ok(Self::Model(Box::new(model.with_decision_rule(decision_rule)?)))
            }
            other => Ok(other),
        }
    }

    /// Returns the label or the value of every row.
    ///
    /// # Errors
    ///
    /// As [`Model::predict`].
    pub fn predict(&self, samples: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        match self {
            Self::Model(model) => model.predict(samples, par),
            Self::Constant { label, .. } => Ok(vec![f64::from(*label); samples.len()]),
        }
    }
}

/// Reads a constant model: a header with `nr_class 1` and no support vectors.
fn read_constant(bytes: &[u8]) -> Option<TrainedModel> {
    // A longer file is not a constant model.
    let text = std::str::from_utf8(bytes.get(..bytes.len().min(4096))?).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::trim));
    let number = |name: &str| field(name)?.parse::<f64>().ok();
    if field("nr_class")? != "1" || !text.lines().any(|line| line.trim() == "SV") {
        return None;
    }
    let (gamma, coef0) = (number("gamma").unwrap_or(1.0), number("coef0").unwrap_or(0.0));
    let kind = KernelKind::with_libsvm_name(field("kernel_type")?)?;
    let degree = if kind.has("degree") { field("degree")?.parse().ok()? } else { 0 };
    let kernel = kind.kernel(gamma, coef0, degree);
    let svm_type = match field("svm_type")? {
        "c_svc" => 0,
        "nu_svc" => 1,
        _ => return None,
    };
    let probability = text.lines().any(|line| line.trim() == "probA");
    Some(TrainedModel::Constant { label: field("label")?.parse().ok()?, svm_type, kernel, probability })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_class_is_written_and_read_as_libsvm_does() {
        let constant = TrainedModel::Constant { label: -3, svm_type: 0, kernel: Kernel::rbf(0.5), probability: false };
        let mut text = Vec::new();
        constant.write(&mut text).expect("room");
        let expected = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 1\ntotal_sv 0\nrho\nlabel -3\nnr_sv 0\nSV\n";
        assert_eq!(String::from_utf8_lossy(&text), expected);
        assert_eq!(TrainedModel::read(&text).expect("a model"), constant);
        assert_eq!(
            constant.predict(&Samples::from_rows(&[[1.0], [2.0]]).expect("rows"), Par::Seq).expect("labels"),
            [-3.0, -3.0]
        );
    }
}
