//! Samples whose linear kernel is a given matrix.

use crate::points::PointsGram;
use maxmargin_data::Samples;
use maxmargin_kernel::Gram;

/// Returns the rows of `L` for `K = L Lᵀ`, by a pivoted Cholesky factorisation that ends when only
/// rounding is left.
///
/// # Panics
///
/// When the matrix is not positive semidefinite.
pub fn root(gram: &PointsGram) -> Samples {
    let n = gram.len();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut left: Vec<f64> = gram.diagonal().to_vec();
    let largest = left.iter().fold(0.0, |most: f64, v| most.max(*v));
    while columns.len() < n {
        let pivot = (0..n).max_by(|&i, &j| left[i].total_cmp(&left[j])).expect("samples");
        assert!(left.iter().all(|v| *v >= -1e-12 * largest), "a positive semidefinite matrix");
        if left[pivot] <= 4.0 * f64::EPSILON * largest {
            break;
        }
        let scale = left[pivot].sqrt();
        let entry = |i: usize| (gram.at(i, pivot) - columns.iter().map(|c| c[i] * c[pivot]).sum::<f64>()) / scale;
        let column: Vec<f64> = (0..n).map(entry).collect();
        left.iter_mut().zip(&column).for_each(|(left, c)| *left -= c * c);
        // Its own residual is 0 by definition.
        left[pivot] = 0.0;
        columns.push(column);
    }
    let values = (0..n).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
    Samples::from_dense(n, columns.len(), values).expect("finite numbers")
}
