//! The Cholesky factor of a dense matrix, of all or of the first unknowns, computed in panels with
//! checks for cancellation between them, and its packed form.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use maxmargin_data::{Cancelled, Par as Threads, RunControl};

/// The unknowns of a panel, the rows of a stripe, and the largest matrix that is factored at once.
const PANEL: usize = 256;
const STRIPE: usize = 512;
const AT_ONCE: usize = 1024;

/// Replaces the lower half of a positive definite matrix by its Cholesky factor, checking for
/// cancellation between panels. Returns false if the matrix is not positive definite to working
/// precision. The result has the same bits for any number of threads.
///
/// # Errors
///
/// When the run is cancelled.
pub fn cholesky(matrix: MatMut<'_, f64>, threads: Threads, control: &RunControl) -> Result<bool, Cancelled> {
    let unknowns = matrix.nrows();
    eliminate(matrix, unknowns, threads, control)
}

/// Eliminates the first unknowns of a symmetric matrix `[A Bᵀ; B C]`: its lower half becomes `L`
/// and `B L⁻ᵀ`, with `L Lᵀ = A`, and the Schur complement `C − B A⁻¹ Bᵀ`. Checks for
/// cancellation between panels. Returns false if `A` is not positive definite to working
/// precision. The result has the same bits for any number of threads.
///
/// # Errors
///
/// When the run is cancelled.
///
/// # Panics
///
/// When the matrix has fewer rows than `unknowns`.
pub fn eliminate(
    mut matrix: MatMut<'_, f64>,
    unknowns: usize,
    threads: Threads,
    control: &RunControl,
) -> Result<bool, Cancelled> {
    let m = matrix.nrows();
    let panel = if m <= AT_ONCE { m.max(1) } else { PANEL };
    let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<f64>(panel, Par::Seq, Spec::default()));
    let starts = (0..unknowns).step_by(panel).chain((unknowns..m).step_by(panel));
    for from in starts {
        let to = if from < unknowns { unknowns } else { m }.min(from + panel);
        let earlier = from.min(unknowns);
        if earlier > 0 {
            // Subtract the part of the earlier panels from this one.
            control.check(((m - from) * (to - from) * earlier / 4) as u64)?;
            let (known, rest) = matrix.rb_mut().split_at_col_mut(from);
            let (known, rest) =
                (known.as_ref().submatrix(from, 0, m - from, earlier), rest.submatrix_mut(from, 0, m - from, to - from));
            let own = known.subrows(0, to - from);
            in_stripes(rest, threads, |first, mut rest| {
                let rows = known.subrows(first, rest.nrows());
                matmul(rest.rb_mut(), Accum::Add, rows, own.transpose(), -1.0, Par::Seq);
            });
        }
        if from >= unknowns {
            continue;
        }
        if m > AT_ONCE {
            control.check(((to - from) * (to - from) * (m - from)) as u64 / 8)?;
        }
        let (above, below) = matrix.rb_mut().subcols_mut(from, to - from).split_at_row_mut(to);
        let (mut block, stack) = (above.subrows_mut(from, to - from), MemStack::new(&mut scratch));
        if cholesky_in_place(block.rb_mut(), LltRegularization::default(), Par::Seq, stack, Spec::default()).is_err() {
            return Ok(false);
        }
        let block = block.rb();
        in_stripes(below, threads, |_, rows| solve_lower_triangular_in_place(block, rows.transpose_mut(), Par::Seq));
    }
    Ok(true)
}

/// Calls `task` with the rows of each stripe and the index of the first.
fn in_stripes<'m>(mut rest: MatMut<'m, f64>, threads: Threads, task: impl Fn(usize, MatMut<'_, f64>) + Sync) {
    let mut stripes: Vec<MatMut<'m, f64>> = Vec::new();
    while rest.nrows() > 0 {
        let rows = rest.nrows().min(STRIPE);
        let (stripe, below) = rest.split_at_row_mut(rows);
        stripes.push(stripe);
        rest = below;
    }
    threads.for_chunks(&mut stripes, 1, |at, stripe| task(at * STRIPE, stripe[0].rb_mut()));
}

/// Returns the position of row `i` in a packed lower half.
pub(crate) fn at(i: usize) -> usize {
    i * (i + 1) / 2
}

/// The rows and columns of a tile: its cache lines in both forms fit into the first level together.
const TILE: usize = 32;

/// Copies the lower half of a column-major matrix into packed rows.
pub(crate) fn pack(matrix: MatRef<'_, f64>, rows: &mut [f64]) {
    let m = matrix.nrows();
    for first in (0..m).step_by(TILE) {
        for left in (0..=first).step_by(TILE) {
            for j in left..m.min(left + TILE) {
                let top = first.max(j);
                let column = matrix.col(j).subrows(top, m.min(first + TILE) - top);
                column.iter().enumerate().for_each(|(i, value)| rows[at(top + i) + j] = *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{cholesky, eliminate};
    use faer::Mat;
    use maxmargin_data::{Par, RunControl};

    #[test]
    fn the_factor_of_several_panels_for_any_number_of_threads() {
        // Two panels more than one piece, and rows that end inside a stripe.
        let m = 1300;
        let entry = |i: usize, j: usize| (-((i as f64 - j as f64) / 90.0).powi(2)).exp() + f64::from(u8::from(i == j));
        let matrix = Mat::from_fn(m, m, entry);
        let mut factor = matrix.clone();
        assert_eq!(cholesky(factor.as_mut(), Par::Seq, &RunControl::unlimited()), Ok(true));
        let mut of_three = matrix.clone();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        assert_eq!(pool.install(|| cholesky(of_three.as_mut(), Par::Pool, &RunControl::unlimited())), Ok(true));
        for i in (0..m).step_by(7) {
            for j in 0..=i {
                assert_eq!(factor[(i, j)].to_bits(), of_three[(i, j)].to_bits(), "{i} {j}");
            }
            for j in (0..=i).step_by(11) {
                let product: f64 = (0..=j).map(|k| factor[(i, k)] * factor[(j, k)]).sum();
                assert!((product - matrix[(i, j)]).abs() < 1e-12, "{i} {j}: {product}");
            }
        }
        let mut indefinite = Mat::from_fn(m, m, |i, j| if i == j && i == 1200 { -1.0 } else { entry(i, j) });
        assert_eq!(cholesky(indefinite.as_mut(), Par::Seq, &RunControl::unlimited()), Ok(false));
        assert!(cholesky(matrix.clone().as_mut(), Par::Seq, &RunControl::new(|_| std::ops::ControlFlow::Break(()))).is_err());
    }

    #[test]
    fn the_first_unknowns_leave_their_schur_complement() {
        for (m, unknowns) in [(40, 25), (1200, 700), (1200, 0), (30, 30)] {
            let entry = |i: usize, j: usize| (-((i as f64 - j as f64) / 9.0).powi(2)).exp() + f64::from(u8::from(i == j));
            let matrix = Mat::from_fn(m, m, entry);
            let mut part = matrix.clone();
            assert_eq!(eliminate(part.as_mut(), unknowns, Par::Seq, &RunControl::unlimited()), Ok(true));
            for i in (0..m).step_by(7) {
                for j in (0..=i).step_by(3) {
                    // The rows of the factor make up what was subtracted from an entry.
                    let known: f64 = (0..unknowns.min(j + 1)).map(|k| part[(i, k)] * part[(j, k)]).sum();
                    let left = if j < unknowns { 0.0 } else { part[(i, j)] };
                    assert!((known + left - matrix[(i, j)]).abs() < 1e-12, "{m} {unknowns}: {i} {j}");
                }
            }
        }
    }
}
