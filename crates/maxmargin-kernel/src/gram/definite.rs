//! Proofs that a Gram matrix is positive semidefinite. Dual points bound the optimum only then.

use faer::{Mat, Side};

/// Largest number of samples for which a proof is attempted: it takes `n³/3` operations.
pub const PROVABLE: usize = 2048;

/// Sizes of leading blocks that are tried first: most indefinite matrices have an indefinite one.
const BLOCKS: [usize; 2] = [48, 384];

/// Shifts of the diagonal that are tried, relative to its largest entry. Kernel values that were
/// printed with six digits have eigenvalues of about −10⁻⁶.
const SHIFTS: [f64; 4] = [0.0, 1e-9, 1e-6, 1e-4];

/// Returns a small `σ` for which `K + σI` is positive semidefinite, 0 where K is semidefinite to
/// working precision. It is infinite where no `σ` is found, or beyond [`PROVABLE`] samples.
///
/// `error` is the largest [`relative_error`](crate::Gram::relative_error) of a sample, and
/// `leading_block(m)` the leading `m × m` block in `f64`.
///
/// The proof is a Cholesky factorisation of the shifted matrix in `f64`. If it succeeds, no
/// eigenvalue is smaller than minus the shift and the rounding of the factorisation (Higham,
/// Accuracy and Stability of Numerical Algorithms, theorem 10.3). If it fails for a principal
/// block, the whole matrix has a negative eigenvalue.
pub(super) fn smallest_shift(diagonal: &[f64], error: impl FnOnce() -> f64, leading_block: impl Fn(usize) -> Vec<f64>) -> f64 {
    let n = diagonal.len();
    let scale = diagonal.iter().fold(0.0_f64, |most, k| most.max(k.abs()));
    if n > PROVABLE || !scale.is_finite() {
        return f64::INFINITY;
    }
    let rounding = n as f64 * (2.0 * error() + 8.0 * f64::EPSILON) * scale;
    // Entries with a large or unknown error prove nothing.
    if rounding.is_nan() || rounding > SHIFTS[1] * scale {
        return f64::INFINITY;
    }
    let block = |size: usize| {
        let values = leading_block(size);
        Mat::from_fn(size, size, |i, j| values[i * size + j])
    };
    let largest = rounding + SHIFTS[SHIFTS.len() - 1] * scale;
    for size in BLOCKS.into_iter().filter(|size| *size < n) {
        if !is_definite(&block(size), largest) {
            return f64::INFINITY;
        }
    }
    let values = block(n);
    let proved = SHIFTS.into_iter().find(|share| is_definite(&values, rounding + share * scale));
    // Without a shift the matrix is semidefinite to working precision. Certificates account for the
    // effect of rounding on objectives separately.
    proved.map_or(f64::INFINITY, |share| if share == 0.0 { 0.0 } else { share * scale + 2.0 * rounding })
}

/// Returns whether the shifted matrix has a Cholesky factor. The zero matrix has none and counts as
/// semidefinite.
fn is_definite(values: &Mat<f64>, shift: f64) -> bool {
    if shift == 0.0 {
        return (0..values.nrows()).all(|i| (0..values.ncols()).all(|j| values[(i, j)] == 0.0));
    }
    let mut shifted = values.clone();
    (0..values.nrows()).for_each(|i| shifted[(i, i)] += shift);
    // This test rejects NaN on the diagonal, and the factorisation rejects it elsewhere.
    (0..values.nrows()).all(|i| shifted[(i, i)] > 0.0) && shifted.llt(Side::Lower).is_ok()
}

#[cfg(test)]
mod tests {
    use super::PROVABLE;
    use crate::gram::indefiniteness;
    use crate::{FnGram, Gram, Kernel, KernelGram, Subset};
    use maxmargin_data::{RunControl, generate::Generator};

    #[test]
    fn a_matrix_is_proved_semidefinite_or_not_at_all() {
        let products = FnGram::new(300, |i, j| ((i % 7) * (j % 7) + (i % 3) * (j % 3)) as f64);
        assert_eq!(products.indefiniteness(), 0.0, "rank two of 300");
        let indefinite = FnGram::new(300, |i, j| if i == j { 1.0 } else { -0.01 });
        assert_eq!(indefinite.indefiniteness(), f64::INFINITY, "its smallest eigenvalue is 1 - 2.99 - ...");
        // Only the last sample makes it indefinite: K(299, 299) = 1, K(0, 299) = 1.1.
        let last = FnGram::new(300, |i, j| if i == j { 1.0 } else { f64::from(u8::from(i == 0 && j == 299)) * 1.1 });
        assert_eq!(last.indefiniteness(), f64::INFINITY);
        assert_eq!(Subset::new(&products, vec![5, 9, 200]).indefiniteness(), 0.0);
        assert_eq!(FnGram::new(4, |_, _| 0.0).indefiniteness(), 0.0);
        assert_eq!(FnGram::new(4, |_, _| f64::NAN).indefiniteness(), f64::INFINITY);
        // A matrix of rank one, rounded to six digits, is semidefinite up to that rounding.
        let printed = FnGram::new(200, |i, j| ((i as f64 / 7.0).sin() * (j as f64 / 7.0).sin() * 1e6).round() / 1e6);
        let shift = printed.indefiniteness();
        assert!(shift > 1e-9 && shift < 1e-3, "{shift}");
        let many = FnGram::new(PROVABLE + 1, |i, j| f64::from(u8::from(i == j)));
        assert_eq!(indefiniteness(&many), f64::INFINITY, "beyond the limit no proof is attempted");
    }

    #[test]
    fn kernels_that_are_semidefinite_by_their_form_need_no_proof() {
        let data = Generator::Banana.generate(PROVABLE + 10, None, 3).expect("a generator");
        let of =
            |kernel: Kernel| KernelGram::new(&data.samples, kernel, &RunControl::unlimited()).expect("a kernel").indefiniteness();
        for kernel in [Kernel::Linear, Kernel::rbf(3.0), Kernel::poly(0.5, 0.0, 3), Kernel::poly(0.5, 1.0, 2)] {
            assert_eq!(of(kernel), 0.0);
        }
        for kernel in [Kernel::sigmoid(2.0, 0.0), Kernel::poly(0.5, -1.0, 3)] {
            assert_eq!(of(kernel), f64::INFINITY);
        }
    }
}
