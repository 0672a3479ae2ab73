//! Bounds of rounding in sums over support vectors in single precision.
//!
//! The bounds hold for any order of additions, with or without multiply-adds, and for squared
//! distances from differences or from norms: docs/math/prediction.md derives their parts.

use crate::program::{Expansion, Functions, KernelFunction, Matrix, Terms};
use maxmargin_data::Row;

/// The unit of rounding in single precision.
const U: f64 = 5.960_464_477_539_063e-8;

/// The smallest normal number in single precision: below it, digits are lost.
const TINY: f64 = 1.175_494_350_822_287_5e-38;

/// Returns for each decision function a bound on the difference of its value in single precision
/// from the true one, for a row of features (scaled, in double precision).
///
/// # Panics
///
/// When the row has features that the vectors do not have.
pub fn bounds(functions: &Functions, row: Row<'_>) -> Vec<f64> {
    let mut x = vec![0.0; width(functions)];
    row.for_each(|j, value| x[j] = value);
    match &functions.expansion {
        Expansion::Linear { weights } => {
            let sizes = weights.rows().map(|w| w.iter().zip(&x).map(|(w, x)| (w * x).abs()).sum::<f64>());
            // Rounded factors (2u), products and sums.
            sizes.zip(&functions.bias).map(|(size, bias)| total(size, (x.len() + 6) as f64 * U, *bias)).collect()
        }
        Expansion::Kernel { kernel, vectors, machines } => {
            let values: Vec<[f64; 2]> = vectors.rows().map(|z| value_and_error(kernel, &x, z)).collect();
            let of = |(terms, bias): (&Terms, &f64)| {
                let mut size = 0.0;
                let mut error = 0.0;
                for (&k, coefficient) in terms.vectors.iter().zip(&terms.coefficients) {
                    let [value, wrong] = values[k as usize];
                    size += coefficient.abs() * (value.abs() + wrong);
                    error += coefficient.abs() * (wrong + TINY) + TINY;
                }
                error * 1.01 + total(size, (terms.vectors.len() + 6) as f64 * U, *bias)
            };
            machines.iter().zip(&functions.bias).map(of).collect()
        }
    }
}

fn width(functions: &Functions) -> usize {
    let (Expansion::Linear { weights: Matrix { columns, .. } } | Expansion::Kernel { vectors: Matrix { columns, .. }, .. }) =
        &functions.expansion;
    *columns
}

/// The bound of a sum of terms with these sizes, whose rounding adds up to `share` of them.
fn total(size: f64, share: f64, bias: f64) -> f64 {
    // The last additions round the result itself, and values beyond single precision are infinite.
    let bound = 1.01 * share * (size + bias.abs()) + 4.0 * U * (size + bias.abs());
    if share < 0.01 && size + bias.abs() < f64::from(f32::MAX) / 2.0 { bound } else { f64::INFINITY }
}

/// The value of a kernel and a bound on its error.
fn value_and_error(kernel: &KernelFunction, x: &[f64], z: &[f64]) -> [f64; 2] {
    let count = x.len() as f64;
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 { x.iter().zip(z).map(|(x, z)| of(*x, *z)).sum() };
    let (product, norm_x, norm_z) = (sum(&|x, z| x * z), sum(&|x, _| x * x), sum(&|_, z| z * z));
    let affine = |gamma: f64, coef0: f64| {
        let size = gamma * sum(&|x, z| (x * z).abs());
        [gamma * product + coef0, 1.02 * U * ((count + 6.0) * size + 3.0 * coef0.abs() + size) + (count + 2.0) * TINY]
    };
    let value = kernel.kernel().of_dot(product, norm_x, norm_z);
    match *kernel {
        KernelFunction::Rbf { gamma } => {
            let distance = sum(&|x, z| (x - z) * (x - z));
            // As in docs/math/prediction.md; gamma and its product with the distance are rounded.
            let exponent = gamma * 1.02 * (count + 12.0) * U * (norm_x + norm_z) + 3.0 * U * gamma * distance + U;
            let error = if exponent <= 0.5 { value * (exponent * (1.0 + exponent) + 4.0 * U) } else { 1.0 };
            [value, error + TINY]
        }
        KernelFunction::Sigmoid { gamma, coef0 } => {
            let [_, error] = affine(gamma, coef0);
            // tanh has slopes of at most 1; runtimes have it to a few units in the last place.
            [value, error + 16.0 * U]
        }
        KernelFunction::Poly { gamma, coef0, degree } => {
            let [argument, error] = affine(gamma, coef0);
            let power = |base: f64| base.powi(degree as i32);
            let most = power(argument.abs() + error);
            let wrong = most - power(argument.abs()) + 2.0 * (f64::from(degree) + 4.0) * U * most;
            [value, if most < f64::from(f32::MAX) / 2.0 { wrong } else { f64::INFINITY }]
        }
    }
}
