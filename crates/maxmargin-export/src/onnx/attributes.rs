//! Attributes that several operators of ai.onnx.ml have.

use super::graph::Attribute;
use crate::program::KernelFunction;

/// Returns numbers in single precision.
pub(super) fn single(values: &[f64]) -> Attribute {
    Attribute::Floats(values.iter().map(|value| *value as f32).collect())
}

/// The attributes of a kernel, of all operators that have one.
pub(super) fn kernel_attributes(kernel: &KernelFunction) -> Vec<(&'static str, Attribute)> {
    let (name, parameters) = match *kernel {
        KernelFunction::Rbf { gamma } => ("RBF", [gamma, 0.0, 0.0]),
        KernelFunction::Poly { gamma, coef0, degree } => ("POLY", [gamma, coef0, f64::from(degree)]),
        KernelFunction::Sigmoid { gamma, coef0 } => ("SIGMOID", [gamma, coef0, 0.0]),
    };
    vec![("kernel_type", Attribute::Text(name.to_owned())), ("kernel_params", single(&parameters))]
}
