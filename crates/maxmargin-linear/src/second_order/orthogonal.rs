//! The factor of `I + Σ h_k x_k x_kᵀ` without the sum itself.
//!
//! Beside entries of 10¹⁷ the sum keeps nothing of `I`, nor of a feature of the size of 1. The
//! matrix of the rows `√h_k x_k` has entries of 10⁸ at most: its orthogonal factorisation with the
//! rows of `I` below has the same triangular factor, and keeps both.

use faer::Mat;
use faer::linalg::solvers::Qr;
use maxmargin_core::{Cancelled, RunControl};
use maxmargin_kernel::features::FeatureRows;

/// The rows that are factored at once, as a multiple of the features.
const ROWS: usize = 2;

/// The bytes that [`factor`] needs, for so many unknowns.
pub(crate) fn bytes(width: usize) -> u64 {
    // The block, its factorisation and two triangles.
    8 * (width * width * (2 * (ROWS + 1) + 2)) as u64
}

/// Returns the lower triangular `L` with `L Lᵀ = I + Σ h_k x_k x_kᵀ`. A free bias is one more
/// feature with the value 1 in every row and 0 on the diagonal of `I`.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn factor<R: FeatureRows>(
    rows: &R,
    ids: &[usize],
    weights: &[f64],
    has_bias: bool,
    control: &RunControl,
) -> Result<Mat<f64>, Cancelled> {
    let features = rows.width();
    let width = features + usize::from(has_bias);
    let mut upper = Mat::<f64>::zeros(0, width);
    let terms: Vec<(usize, f64)> = ids.iter().copied().zip(weights.iter().map(|weight| weight.sqrt())).collect();
    for part in terms.chunks(ROWS * width.max(1)) {
        control.check((2 * (part.len() + width) * width * width) as u64)?;
        let above = upper.nrows();
        let mut block = Mat::<f64>::zeros(above + part.len(), width);
        block.subrows_mut(0, above).copy_from(&upper);
        for (at, &(id, root)) in part.iter().enumerate() {
            rows.each(id, |column, value| block[(above + at, column)] = root * value);
            if has_bias {
                block[(above + at, features)] = root;
            }
        }
        upper = triangle(&block);
    }
    // Large rows first: small ones below large ones keep their digits.
    let above = upper.nrows();
    let mut block = Mat::<f64>::zeros(above + width, width);
    block.subrows_mut(0, above).copy_from(&upper);
    (0..features).for_each(|at| block[(above + at, at)] = 1.0);
    Ok(triangle(&block).transpose().to_owned())
}

/// Returns the triangle of a matrix, with a diagonal of 0 or more.
fn triangle(block: &Mat<f64>) -> Mat<f64> {
    let mut upper = Qr::new(block.as_ref()).thin_R().to_owned();
    for at in 0..upper.nrows() {
        if upper[(at, at)] < 0.0 {
            (at..upper.ncols()).for_each(|column| upper[(at, column)] *= -1.0);
        }
    }
    upper
}

#[cfg(test)]
mod tests {
    //! The factor beside sums.

    use super::factor;
    use maxmargin_core::RunControl;
    use maxmargin_data::{Par, Samples};
    use maxmargin_kernel::Matrix;
    use maxmargin_kernel::features::{FeatureRows, Job};

    /// `L Lᵀ` of all rows with weights 1, 2, 3, …
    struct Product;

    impl Job for Product {
        type Out = Vec<Vec<f64>>;

        fn run<R: FeatureRows>(self, rows: &R) -> Vec<Vec<f64>> {
            let ids: Vec<usize> = (0..rows.len()).collect();
            let weights: Vec<f64> = ids.iter().map(|id| *id as f64 + 1.0).collect();
            let lower = factor(rows, &ids, &weights, false, &RunControl::unlimited()).expect("unlimited");
            let product = &lower * lower.transpose();
            (0..rows.width()).map(|i| (0..rows.width()).map(|j| product[(i, j)]).collect()).collect()
        }
    }

    #[test]
    fn it_is_the_factor_of_the_sum() {
        for count in [1, 2, 3, 11] {
            let row = |i: usize| vec![1.0 + i as f64, (i * i % 7) as f64 - 2.0, 0.5];
            let all: Vec<Vec<f64>> = (0..count).map(row).collect();
            let found = Matrix::new(&Samples::from_rows(&all).expect("numbers"), None, Par::Seq).visit(Product);
            for i in 0..3 {
                for j in 0..3 {
                    let sum: f64 = all.iter().enumerate().map(|(k, row)| (k as f64 + 1.0) * row[i] * row[j]).sum();
                    let expected = sum + if i == j { 1.0 } else { 0.0 };
                    assert!((found[i][j] - expected).abs() < 1e-12 * expected.abs().max(1.0), "{count}: {i} {j}");
                }
            }
        }
    }

    /// Two equal rows of 10⁸ beside the feature of value 1: the sum has 1 + 10¹⁶ on its diagonal.
    #[test]
    fn it_keeps_small_columns_beside_large_ones() {
        struct Last;
        impl Job for Last {
            type Out = f64;
            fn run<R: FeatureRows>(self, rows: &R) -> f64 {
                let lower = factor(rows, &[0, 1], &[1.0, 1.0], false, &RunControl::unlimited()).expect("unlimited");
                lower[(1, 1)]
            }
        }
        let samples = Samples::from_rows(&[vec![1e8], vec![1e8]]).expect("numbers");
        // I + 2 · (10⁸, 1)(10⁸, 1)ᵀ has the Schur complement 1 + 2 / (1 + 2·10¹⁶).
        let last = Matrix::new(&samples, Some(1.0), Par::Seq).visit(Last);
        assert!((last - 1.0).abs() < 1e-7, "{last}");
    }
}
