//! The Cholesky factor of the bordered margin system, with insertion and deletion in `O(m²)`.

use crate::linalg::cholesky::{at, cholesky, pack};
use crate::linalg::dense::{axpy, dot};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Mat, MatMut};
use maxmargin_data::{Cancelled, Par, RunControl};
use pulp::Arch;

/// A pivot below this share of its diagonal entry counts as zero: the new sample is an affine
/// combination of the others.
pub const SINGULAR: f64 = 1e-13;

/// The factor `L Lᵀ = K_MM + c·11ᵀ` in packed rows, and `u = L⁻¹ 1`.
///
/// With the shift `c > 0` the factor exists exactly if the bordered system `[0 1ᵀ; 1 K_MM]` (`M` in
/// equation 7 of Karasuyama and Takeuchi 2009, with the labels absorbed into `β = y ⊙ α`) has a
/// unique solution. `K_MM` itself may be singular along `1`.
#[derive(Clone, Debug)]
pub struct Factor {
    shift: f64,
    rows: Vec<f64>,
    ones: Vec<f64>,
    work: Vec<f64>,
    turns: Vec<(f64, f64)>,
}

impl Factor {
    /// Creates an empty factor; `shift` is the `c` above, of the size of the diagonal.
    pub fn new(shift: f64) -> Self {
        Self { shift, rows: Vec::new(), ones: Vec::new(), work: Vec::new(), turns: Vec::new() }
    }

    /// Returns the number of samples in the factor.
    pub fn len(&self) -> usize {
        self.ones.len()
    }

    /// Returns true if the factor has no samples.
    pub fn is_empty(&self) -> bool {
        self.ones.is_empty()
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ones.clear();
    }

    /// Returns the bytes of memory of the factor.
    pub fn bytes(&self) -> u64 {
        8 * (self.rows.capacity() + self.ones.capacity() + self.work.capacity() + 2 * self.turns.capacity()) as u64
    }

    /// Factors `K` anew in blocks; its lower half is read and overwritten. Returns false, with an
    /// empty factor, if `K` is singular to working precision.
    ///
    /// # Errors
    ///
    /// When the run is cancelled; the factor is then empty.
    pub fn build(&mut self, mut matrix: MatMut<'_, f64>, par: Par, control: &RunControl) -> Result<bool, Cancelled> {
        self.clear();
        let m = matrix.nrows();
        for j in 0..m {
            matrix.rb_mut().col_mut(j).subrows_mut(j, m - j).iter_mut().for_each(|value| *value += self.shift);
        }
        let diagonal: Vec<f64> = (0..m).map(|i| matrix[(i, i)]).collect();
        if !cholesky(matrix.rb_mut(), par, control)? {
            return Ok(false);
        }
        // Reuse the memory if the new factor fills most of it.
        if self.rows.capacity() > at(m) + at(m) / 4 {
            self.rows.shrink_to(at(m));
        }
        self.rows.reserve_exact(at(m));
        self.rows.resize(at(m), 0.0);
        pack(matrix.rb(), &mut self.rows);
        for (i, full) in diagonal.into_iter().enumerate() {
            let row = &self.rows[at(i)..=at(i) + i];
            let pivot = row[i];
            if pivot.is_nan() || pivot * pivot <= SINGULAR * full {
                self.clear();
                return Ok(false);
            }
            let u = (1.0 - dot(&row[..i], &self.ones)) / row[i];
            self.ones.push(u);
        }
        Ok(true)
    }

    /// Returns the factor of the samples of a matrix (row-major) that are no affine combination of
    /// those before them, to working precision, and flags for these samples.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    ///
    /// # Panics
    ///
    /// When the matrix is not square.
    pub fn independent(shift: f64, matrix: &[f64], control: &RunControl) -> Result<(Self, Vec<bool>), Cancelled> {
        let m = matrix.len().isqrt();
        assert_eq!(m * m, matrix.len(), "as many rows as columns");
        let mut factor = Self::new(shift);
        if factor.build(Mat::from_fn(m, m, |i, j| matrix[i * m + j]).as_mut(), Par::Seq, control)? {
            return Ok((factor, vec![true; m]));
        }
        let mut kept = vec![false; m];
        for i in 0..m {
            control.check((i * i) as u64)?;
            let own = &matrix[i * m..(i + 1) * m];
            kept[i] = factor.append((0..i).filter(|&j| kept[j]).map(|j| own[j]), own[i]);
        }
        Ok((factor, kept))
    }

    /// Appends a sample: `cross` is its kernel with the samples of the factor, `diagonal` with
    /// itself.
    ///
    /// Returns false if it is an affine combination of them to working precision;
    /// [`Factor::combination`] then returns the combination.
    pub fn append(&mut self, cross: impl Iterator<Item = f64>, diagonal: f64) -> bool {
        let shift = self.shift;
        self.work.clear();
        self.work.extend(cross.map(|k| k + shift));
        debug_assert_eq!(self.work.len(), self.len());
        self.border(0, diagonal)
    }

    /// Appends samples with the same bits as one [`Factor::append`] after the other, but reads the
    /// factor once for several of them. `value(j, i)` is the kernel of the j-th new sample with the
    /// i-th of the factor, where earlier new samples follow the existing ones; with itself it is
    /// the diagonal.
    ///
    /// Returns the number appended: all up to the first that is refused.
    ///
    /// # Errors
    ///
    /// When the run is cancelled; some samples may then be appended.
    pub fn append_all(
        &mut self,
        count: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        par: Par,
        control: &RunControl,
    ) -> Result<usize, Cancelled> {
        let (begun, shift) = (self.len(), self.shift);
        let mut all = Vec::new();
        for from in (0..count).step_by(ROUND) {
            let (known, round) = (begun + from, ROUND.min(count - from));
            control.check((round * known * known / 4) as u64)?;
            all.clear();
            all.resize(round * known, 0.0);
            par.for_chunks(&mut all, (TOGETHER * known).max(1), |group, columns| {
                for (j, column) in columns.chunks_mut(known).enumerate() {
                    column.iter_mut().enumerate().for_each(|(i, x)| *x = value(from + group * TOGETHER + j, i) + shift);
                }
                lower_solve(&self.rows, columns, known, 0);
            });
            for j in 0..round {
                let new = from + j;
                self.work.clear();
                self.work.extend_from_slice(&all[j * known..(j + 1) * known]);
                self.work.extend((known..begun + new).map(|i| value(new, i) + shift));
                if !self.border(known, value(new, begun + new)) {
                    return Ok(new);
                }
            }
        }
        Ok(count)
    }

    /// Appends the sample whose kernel values with the others are in `work`; those before `known`
    /// are already solved.
    fn border(&mut self, known: usize, diagonal: f64) -> bool {
        let m = self.work.len();
        lower_solve(&self.rows, &mut self.work, m, known);
        let full = diagonal + self.shift;
        let rest = full - dot(&self.work, &self.work);
        if rest.is_nan() || rest <= SINGULAR * full.abs() {
            return false;
        }
        let pivot = rest.sqrt();
        let u = (1.0 - dot(&self.work, &self.ones)) / pivot;
        let more = self.work.len() + 1;
        if self.rows.capacity() - self.rows.len() < more {
            // The memory does not double: a factor may be most of the memory in use.
            self.rows.reserve_exact(more + self.rows.len() / 8);
        }
        self.rows.extend_from_slice(&self.work);
        self.rows.push(pivot);
        self.ones.push(u);
        true
    }

    /// Returns, after a refused [`Factor::append`], the `z` with `(K_MM + c·11ᵀ) z = k + c·1`, that
    /// is `K z ≈ k` and `1ᵀz ≈ 1`.
    pub fn combination(&mut self, z: &mut Vec<f64>) {
        upper_solve(&self.rows, &mut self.work);
        z.clone_from(&self.work);
    }

    /// Deletes sample `k`. The rows below lose a column, and plane rotations make them triangular
    /// again.
    pub fn remove(&mut self, k: usize) {
        let m = self.len();
        let (rows, turns) = (&mut self.rows, &mut self.turns);
        turns.clear();
        let mut i = k + 1;
        while i < m {
            let group = (m - i).min(GROUP);
            rotate_group(rows, turns, k, i, group);
            i += group;
        }
        rows.truncate(at(m - 1));
        let mut carry = self.ones[k];
        for (t, &(c, s)) in turns.iter().enumerate() {
            let next = self.ones[k + t + 1];
            self.ones[k + t] = c * carry + s * next;
            carry = c * next - s * carry;
        }
        self.ones.truncate(m - 1);
    }

    /// Solves `K x + b·1 = rhs`, `1ᵀx = sum` (equation 7): `x` holds `rhs` on entry; returns `b`.
    ///
    /// With `v = L⁻¹ rhs`: `b' = (uᵀv − sum) / uᵀu`, `x = L⁻ᵀ(v − b' u)`, `b = b' + c·sum`.
    pub fn solve(&self, x: &mut [f64], sum: f64) -> f64 {
        lower_solve(&self.rows, x, x.len(), 0);
        let b = (dot(&self.ones, x) - sum) / dot(&self.ones, &self.ones);
        axpy(-b, &self.ones, x);
        upper_solve(&self.rows, x);
        b + self.shift * sum
    }

    /// Solves `(K + c·11ᵀ) x = rhs` for any sum of `x`, which holds `rhs` on entry.
    pub fn solve_for_any_sum(&self, x: &mut [f64]) {
        lower_solve(&self.rows, x, x.len(), 0);
        upper_solve(&self.rows, x);
    }
}

/// The rows that are rotated together: one alone is a long chain of dependent operations.
const GROUP: usize = 8;

/// Moves rows `i … i + group` up by one without column `k`. It applies the rotations known so far
/// and adds those of these rows.
fn rotate_group(rows: &mut [f64], turns: &mut Vec<(f64, f64)>, k: usize, i: usize, group: usize) {
    let mut carry = [0.0; GROUP];
    for (g, carry) in carry[..group].iter_mut().enumerate() {
        let (read, write) = (at(i + g), at(i + g - 1));
        *carry = rows[read + k];
        rows.copy_within(read..read + k, write);
    }
    if group == GROUP {
        let read: [usize; GROUP] = std::array::from_fn(|g| at(i + g) + k + 1);
        let write: [usize; GROUP] = std::array::from_fn(|g| at(i + g - 1) + k);
        for (t, &(c, s)) in turns.iter().enumerate() {
            for g in 0..GROUP {
                let next = rows[read[g] + t];
                rows[write[g] + t] = c * carry[g] + s * next;
                carry[g] = c * next - s * carry[g];
            }
        }
    }
    let known = if group == GROUP { turns.len() } else { 0 };
    for (g, mut carry) in carry[..group].iter().copied().enumerate() {
        let (row, read, write) = (i + g, at(i + g) + k + 1, at(i + g - 1) + k);
        for (t, &(c, s)) in turns.iter().enumerate().skip(known) {
            let next = rows[read + t];
            rows[write + t] = c * carry + s * next;
            carry = c * next - s * carry;
        }
        let last = rows[at(row) + row];
        let length = carry.hypot(last);
        turns.push((carry / length, last / length));
        rows[at(row - 1) + row - 1] = length;
    }
}

/// The new samples for which a row of the factor is read once: they fit into the second-level cache
/// together with it.
const TOGETHER: usize = 8;

/// The new samples between two checks for cancellation; each is solved against those before it
/// alone.
const ROUND: usize = 32;

/// Solves columns of `m` entries, stored one after the other, by the factor; the entries before
/// `from` are already solved.
fn lower_solve(rows: &[f64], columns: &mut [f64], m: usize, from: usize) {
    Arch::new().dispatch(|| {
        for i in from..m {
            let row = &rows[at(i)..=at(i) + i];
            for column in columns.chunks_exact_mut(m) {
                let (known, rest) = column.split_at_mut(i);
                rest[0] = (rest[0] - dot(&row[..i], known)) / row[i];
            }
        }
    });
}

fn upper_solve(rows: &[f64], x: &mut [f64]) {
    Arch::new().dispatch(|| {
        for i in (0..x.len()).rev() {
            let row = &rows[at(i)..=at(i) + i];
            let (above, rest) = x.split_at_mut(i);
            rest[0] /= row[i];
            axpy(-rest[0], &row[..i], above);
        }
    });
}

#[cfg(test)]
mod tests;
