//! Whether a Gram matrix is positive semidefinite, without which a dual point bounds no optimum.

use crate::Gram;
use faer::{Mat, Side};

/// Samples up to which a proof is attempted: it takes a third of their number cubed operations.
pub const PROVABLE: usize = 2048;

/// Sizes of leading blocks that are tried first: most indefinite matrices show it there.
const BLOCKS: [usize; 2] = [48, 384];

/// Shifts of the diagonal that are tried, as shares of its largest entry: kernel values that were
/// printed with six digits have eigenvalues of about −10⁻⁶.
const SHIFTS: [f64; 4] = [0.0, 1e-9, 1e-6, 1e-4];

/// A small `σ` for which `K + σI` is positive semidefinite, 0 where K is to working precision;
/// infinite where none is found, or where there are more than [`PROVABLE`] samples.
///
/// The proof is a Cholesky factorisation of the shifted matrix in `f64`: one that succeeds shows
/// that no eigenvalue lies further below 0 than the shift and the rounding of the factorisation
/// (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3). A principal block that
/// fails shows that the whole matrix has a negative eigenvalue.
pub(crate) fn indefiniteness<G: Gram + ?Sized>(gram: &G) -> f64 {
    let n = gram.len();
    let scale = gram.diagonal().iter().fold(0.0_f64, |most, k| most.max(k.abs()));
    if n > PROVABLE || !scale.is_finite() {
        return f64::INFINITY;
    }
    let error = (0..n).map(|i| gram.relative_error(i)).fold(0.0, f64::max);
    let rounding = n as f64 * (2.0 * error + 8.0 * f64::EPSILON) * scale;
    // Entries that are not known to be what they are prove nothing.
    if rounding.is_nan() || rounding > SHIFTS[1] * scale {
        return f64::INFINITY;
    }
    let largest = rounding + SHIFTS[SHIFTS.len() - 1] * scale;
    for size in BLOCKS.into_iter().filter(|size| *size < n) {
        if !is_definite(&values(gram, size), largest) {
            return f64::INFINITY;
        }
    }
    let values = values(gram, n);
    let proved = SHIFTS.into_iter().find(|share| is_definite(&values, rounding + share * scale));
    // To working precision it is semidefinite then; what rounding does to objectives is reckoned
    // apart from this.
    proved.map_or(f64::INFINITY, |share| if share == 0.0 { 0.0 } else { share * scale + 2.0 * rounding })
}

/// The leading block of so many samples, in `f64`.
fn values<G: Gram + ?Sized>(gram: &G, size: usize) -> Mat<f64> {
    let rows: Vec<usize> = (0..size).collect();
    let mut block = vec![0.0; size * size];
    gram.fill_exact(&rows, 0..size, &mut block);
    Mat::from_fn(size, size, |i, j| block[i * size + j])
}

/// Whether the shifted matrix has a Cholesky factor. The matrix of zeros has none, and is
/// semidefinite.
fn is_definite(values: &Mat<f64>, shift: f64) -> bool {
    if shift == 0.0 {
        return (0..values.nrows()).all(|i| (0..values.ncols()).all(|j| values[(i, j)] == 0.0));
    }
    let mut shifted = values.clone();
    (0..values.nrows()).for_each(|i| shifted[(i, i)] += shift);
    // NaN on the diagonal fails here, and elsewhere in the factorisation.
    (0..values.nrows()).all(|i| shifted[(i, i)] > 0.0) && shifted.llt(Side::Lower).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{PROVABLE, indefiniteness};
    use crate::{FnGram, Gram, Kernel, KernelGram, Subset};
    use maxmargin_data::generate::Generator;

    #[test]
    fn a_matrix_is_proved_semidefinite_or_not_at_all() {
        let products = FnGram::new(300, |i, j| ((i % 7) * (j % 7) + (i % 3) * (j % 3)) as f64);
        assert_eq!(products.indefiniteness(), 0.0, "rank two of 300");
        let indefinite = FnGram::new(300, |i, j| if i == j { 1.0 } else { -0.01 });
        assert_eq!(indefinite.indefiniteness(), f64::INFINITY, "its smallest eigenvalue is 1 - 2.99 - ...");
        // The last sample alone makes it indefinite: K(299, 299) = 1, K(0, 299) = 1.1.
        let last = FnGram::new(300, |i, j| if i == j { 1.0 } else { f64::from(u8::from(i == 0 && j == 299)) * 1.1 });
        assert_eq!(last.indefiniteness(), f64::INFINITY);
        assert_eq!(Subset::new(&products, vec![5, 9, 200]).indefiniteness(), 0.0);
        assert_eq!(FnGram::new(4, |_, _| 0.0).indefiniteness(), 0.0);
        assert_eq!(FnGram::new(4, |_, _| f64::NAN).indefiniteness(), f64::INFINITY);
        // Six digits of a matrix of rank one: semidefinite but for their rounding, which is told.
        let printed = FnGram::new(200, |i, j| ((i as f64 / 7.0).sin() * (j as f64 / 7.0).sin() * 1e6).round() / 1e6);
        let shift = printed.indefiniteness();
        assert!(shift > 1e-9 && shift < 1e-3, "{shift}");
        let many = FnGram::new(PROVABLE + 1, |i, j| f64::from(u8::from(i == j)));
        assert_eq!(indefiniteness(&many), f64::INFINITY, "nobody pays for the proof");
    }

    #[test]
    fn kernels_that_are_semidefinite_by_their_form_need_no_proof() {
        let data = Generator::Banana.generate(PROVABLE + 10, None, 3).expect("a generator");
        let of = |kernel: Kernel| KernelGram::new(&data.samples, kernel).expect("a kernel").indefiniteness();
        for kernel in [Kernel::Linear, Kernel::rbf(3.0), Kernel::poly(0.5, 0.0, 3), Kernel::poly(0.5, 1.0, 2)] {
            assert_eq!(of(kernel), 0.0);
        }
        for kernel in [Kernel::sigmoid(2.0, 0.0), Kernel::poly(0.5, -1.0, 3)] {
            assert_eq!(of(kernel), f64::INFINITY);
        }
    }
}
