//! Decision values in single precision by operators of ai.onnx.ml.

use super::attributes::{kernel_attributes, single};
use super::classifier;
use super::graph::{Attribute, Element, Graph, Value};
use crate::program::{Expansion, Functions, KernelFunction, Matrix, Outcome, Terms};

/// Adds the decision values of `features`, rows × functions: one `LinearRegressor`, one
/// `SVMClassifier` for all pairs of classes, or one `SVMRegressor` for each function. The result is
/// in double precision.
pub(super) fn decisions(graph: &mut Graph, features: &Value, functions: &Functions, outcome: &Outcome) -> Value {
    let features = graph.cast(features, Element::Float);
    let values = match &functions.expansion {
        Expansion::Linear { weights } => linear(graph, &features, weights, &functions.bias),
        Expansion::Kernel { kernel, vectors, machines } => {
            if let Some(values) = classifier::decisions(graph, &features, functions, outcome) {
                return graph.cast(&values, Element::Double);
            }
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

fn linear(graph: &mut Graph, features: &Value, weights: &Matrix, bias: &[f64]) -> Value {
    let attributes = vec![
        ("coefficients", single(&weights.values)),
        ("intercepts", single(bias)),
        ("targets", Attribute::Int(bias.len() as i64)),
    ];
    graph.apply_ml("LinearRegressor", features, attributes)
}

fn machine(graph: &mut Graph, features: &Value, kernel: &KernelFunction, vectors: &Matrix, terms: &Terms, bias: f64) -> Value {
    let width = vectors.columns;
    let own: Vec<f64> = terms.vectors.iter().flat_map(|&k| &vectors.values[k as usize * width..][..width]).copied().collect();
    let mut attributes = kernel_attributes(kernel);
    attributes.extend([
        ("support_vectors", single(&own)),
        ("n_supports", Attribute::Int(terms.vectors.len() as i64)),
        ("coefficients", single(&terms.coefficients)),
        ("rho", single(&[bias])),
        ("one_class", Attribute::Int(0)),
    ]);
    graph.apply_ml("SVMRegressor", features, attributes)
}
