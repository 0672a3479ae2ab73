//! Decision values in single precision by operators of ai.onnx.ml.

use super::graph::{Attribute, Element, Graph, Value};
use crate::program::{Expansion, Functions, KernelFunction, Matrix, Terms};

/// Adds the decision values of `features`, rows × functions: `SVMRegressor` for each function, or
/// one `LinearRegressor`. The result is in double precision.
pub(super) fn decisions(graph: &mut Graph, features: &Value, functions: &Functions) -> Value {
    let features = graph.cast(features, Element::Float);
    let values = match &functions.expansion {
        Expansion::Linear { weights } => linear(graph, &features, weights, &functions.bias),
        Expansion::Kernel { kernel, vectors, machines } => {
            let columns: Vec<Value> = machines
                .iter()
                .zip(&functions.bias)
                .map(|(terms, bias)| machine(graph, &features, kernel, vectors, terms, *bias))
                .collect();
            if let [column] = &columns[..] { column.clone() } else { graph.concat(&columns.iter().collect::<Vec<_>>()) }
        }
    };
    graph.cast(&values, Element::Double)
}

fn single(values: &[f64]) -> Attribute {
    Attribute::Floats(values.iter().map(|value| *value as f32).collect())
}

fn linear(graph: &mut Graph, features: &Value, weights: &Matrix, bias: &[f64]) -> Value {
    let attributes = vec![
        ("coefficients", single(&weights.values)),
        ("intercepts", single(bias)),
        ("targets", Attribute::Int(bias.len() as i64)),
    ];
    graph.apply_ml("LinearRegressor", features, attributes)
}

fn machine(graph: &mut Graph, features: &Value, kernel: &KernelFunction, vectors: &Matrix, terms: &Terms, bias: f64) -> Value {
    let (name, parameters) = match *kernel {
        KernelFunction::Rbf { gamma } => ("RBF", [gamma, 0.0, 0.0]),
        KernelFunction::Poly { gamma, coef0, degree } => ("POLY", [gamma, coef0, f64::from(degree)]),
        KernelFunction::Sigmoid { gamma, coef0 } => ("SIGMOID", [gamma, coef0, 0.0]),
    };
    let width = vectors.columns;
    let own: Vec<f64> = terms.vectors.iter().flat_map(|&k| &vectors.values[k as usize * width..][..width]).copied().collect();
    let attributes = vec![
        ("kernel_type", Attribute::Text(name.to_owned())),
        ("kernel_params", single(&parameters)),
        ("support_vectors", single(&own)),
        ("n_supports", Attribute::Int(terms.vectors.len() as i64)),
        ("coefficients", single(&terms.coefficients)),
        ("rho", single(&[bias])),
        ("one_class", Attribute::Int(0)),
    ];
    graph.apply_ml("SVMRegressor", features, attributes)
}
