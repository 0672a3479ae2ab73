//! Decision values in double precision by core operators.

use super::graph::{Graph, Value};
use crate::program::{Expansion, Functions, KernelFunction, Matrix};

/// The largest gamma times squared norm of a vector (from their mean) for which squared distances
/// may be norms minus twice a product.
///
/// Their error is about 2⁻⁵³ times the sum of both norms, and counts by the factor gamma. Where the
/// row is more than twice as long as the vector, the kernel value is below exp(−gamma ‖x‖²/4),
/// which outweighs it; otherwise the kernel value is off by 5 · 64 · 2⁻⁵³, 4e-14, at most.
const NORMS: f64 = 64.0;

/// Adds the decision values of `features`, rows × functions.
pub(super) fn decisions(graph: &mut Graph, features: &Value, functions: &Functions) -> Value {
    let count = functions.bias.len();
    let sums = match &functions.expansion {
        Expansion::Linear { weights } => {
            let weights = transposed(graph, "weights", weights);
            graph.apply("MatMul", &[features, &weights])
        }
        Expansion::Kernel { kernel, vectors, machines } => {
            let values = kernel_values(graph, features, kernel, vectors);
            let mut coefficients = vec![0.0; vectors.len() * count];
            for (m, terms) in machines.iter().enumerate() {
                for (&k, coefficient) in terms.vectors.iter().zip(&terms.coefficients) {
                    coefficients[k as usize * count + m] = *coefficient;
                }
            }
            let coefficients = graph.doubles("coefficients", &[vectors.len(), count], coefficients);
            graph.apply("MatMul", &[&values, &coefficients])
        }
    };
    let bias = graph.doubles("bias", &[1, count], functions.bias.clone());
    graph.apply("Add", &[&sums, &bias])
}

/// Adds a matrix with rows and columns exchanged.
fn transposed(graph: &mut Graph, name: &str, matrix: &Matrix) -> Value {
    let (rows, columns) = (matrix.len(), matrix.columns);
    let mut values = vec![0.0; rows * columns];
    for (i, row) in matrix.rows().enumerate() {
        row.iter().enumerate().for_each(|(j, value)| values[j * rows + i] = *value);
    }
    graph.doubles(name, &[columns, rows], values)
}

/// Adds the kernel values of all rows with all vectors.
fn kernel_values(graph: &mut Graph, features: &Value, kernel: &KernelFunction, vectors: &Matrix) -> Value {
    match *kernel {
        KernelFunction::Rbf { gamma } => {
            let distances = distances(graph, features, gamma, vectors);
            let factor = graph.scalar("minus_gamma", -gamma);
            let exponents = graph.apply("Mul", &[&distances, &factor]);
            graph.apply("Exp", &[&exponents])
        }
        KernelFunction::Poly { gamma, coef0, degree } => {
            let base = affine_products(graph, features, gamma, coef0, vectors);
            power(graph, &base, degree)
        }
        KernelFunction::Sigmoid { gamma, coef0 } => {
            let argument = affine_products(graph, features, gamma, coef0, vectors);
            graph.apply("Tanh", &[&argument])
        }
    }
}

/// Adds `gamma xᵀz + coef0`.
fn affine_products(graph: &mut Graph, features: &Value, gamma: f64, coef0: f64, vectors: &Matrix) -> Value {
    let vectors = transposed(graph, "vectors", vectors);
    let products = graph.apply("MatMul", &[features, &vectors]);
    let gamma = graph.scalar("gamma", gamma);
    let scaled = graph.apply("Mul", &[&products, &gamma]);
    let coef0 = graph.scalar("coef0", coef0);
    graph.apply("Add", &[&scaled, &coef0])
}

/// Adds a power by products of squares.
fn power(graph: &mut Graph, base: &Value, degree: u32) -> Value {
    if degree == 0 {
        let zero = graph.scalar("zero", 0.0);
        let one = graph.scalar("one", 1.0);
        let zeros = graph.apply("Mul", &[base, &zero]);
        return graph.apply("Add", &[&zeros, &one]);
    }
    let (mut square, mut product, mut left) = (base.clone(), None::<Value>, degree);
    loop {
        if left % 2 == 1 {
            product = Some(product.map_or_else(|| square.clone(), |product| graph.apply("Mul", &[&product, &square])));
        }
        left /= 2;
        if left == 0 {
            break product.unwrap_or(square);
        }
        square = graph.apply("Mul", &[&square, &square]);
    }
}

/// Adds the squared distances of all rows and vectors.
fn distances(graph: &mut Graph, features: &Value, gamma: f64, vectors: &Matrix) -> Value {
    let (count, width) = (vectors.len(), vectors.columns);
    let mut mean = vec![0.0; width];
    for row in vectors.rows() {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value / count as f64);
    }
    let values = vectors.rows().flat_map(|row| row.iter().zip(&mean).map(|(value, mean)| value - mean)).collect();
    let centred = Matrix { columns: width, values };
    let norms: Vec<f64> = centred.rows().map(|row| row.iter().map(|value| value * value).sum()).collect();
    if gamma * norms.iter().copied().fold(0.0, f64::max) > NORMS {
        return sums_of_squares(graph, features, vectors);
    }
    let mean = graph.doubles("mean", &[1, width], mean);
    let rows = graph.apply("Sub", &[features, &mean]);
    let squares = graph.apply("Mul", &[&rows, &rows]);
    let own_norms = graph.reduce_sum(&squares, 1, true);
    let vectors = transposed(graph, "vectors", &centred);
    let products = graph.apply("MatMul", &[&rows, &vectors]);
    let minus_two = graph.scalar("minus_two", -2.0);
    let products = graph.apply("Mul", &[&products, &minus_two]);
    let norms = graph.doubles("norms", &[1, count], norms);
    let norms = graph.apply("Add", &[&own_norms, &norms]);
    let distances = graph.apply("Add", &[&norms, &products]);
    let zero = graph.scalar("zero", 0.0);
    graph.apply("Max", &[&distances, &zero])
}

/// Adds squared distances from differences, rows × vectors × features, where norms would lose
/// digits.
fn sums_of_squares(graph: &mut Graph, features: &Value, vectors: &Matrix) -> Value {
    let vectors = graph.doubles("vectors", &[1, vectors.len(), vectors.columns], vectors.values.clone());
    let rows = graph.unsqueeze(features, 1);
    let differences = graph.apply("Sub", &[&rows, &vectors]);
    let squares = graph.apply("Mul", &[&differences, &differences]);
    graph.reduce_sum(&squares, 2, false)
}
