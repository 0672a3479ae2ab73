//! The linear system of a least squares step, whose factor follows the set of its samples.

use crate::working_set::chunk::Chunk;
use faer::Mat;
use maxmargin_core::{Factor, RunControl};
use std::ops::ControlFlow;

/// The weights of insertions and deletions: if their weighted sum exceeds the samples that stay,
/// the factor is computed anew. With 7,200 samples an insertion among others takes 3 to 4 ms, one
/// of some 30 deletions 6 ms, a factor 1.8 to 3 s. With 1,600 an insertion alone takes 0.5 ms and a
/// factor 55 ms.
const CHANGES: (usize, usize) = (8, 32);

/// The factor of `K + D⁻¹` over a set of samples, bordered by the equality constraint.
pub(crate) struct System {
    factor: Factor,
    /// The matrix to factor; its memory is reused by the next factor.
    matrix: Mat<f64>,
    /// The samples in the order of the factor.
    members: Vec<usize>,
    /// The diagonal of `D⁻¹` of each sample in the factor; NaN for others.
    damped: Vec<f64>,
    /// The factors computed, and the entries inserted or deleted.
    pub(crate) built: u64,
    pub(crate) updated: u64,
}

impl System {
    pub(crate) fn new(chunk: &Chunk) -> Self {
        let m = chunk.len();
        let mean = (0..m).map(|i| chunk.kernel[i * m + i].abs()).sum::<f64>() / m.max(1) as f64;
        let shift = if mean.is_finite() && mean > 0.0 { mean } else { 1.0 };
        Self {
            factor: Factor::new(shift),
            matrix: Mat::new(),
            members: Vec::new(),
            damped: vec![f64::NAN; m],
            built: 0,
            updated: 0,
        }
    }

    /// Solves `(K + D⁻¹) x − t·1 = r`, `Σ x = sum` over the samples whose `wanted` (the diagonal of
    /// `D⁻¹`) is a number; there is at least one. It writes x to `out` there and leaves other
    /// entries unchanged. Returns t, or `None` if the matrix is not positive definite to working
    /// precision or `more` returned false during a large factorisation.
    pub(crate) fn solve(
        &mut self,
        chunk: &Chunk,
        wanted: &[f64],
        r: &[f64],
        sum: f64,
        out: &mut [f64],
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<f64> {
        if !self.follow(chunk, wanted, more) && !self.build(chunk, wanted, more) {
            return None;
        }
        let mut x: Vec<f64> = self.members.iter().map(|&k| r[k]).collect();
        let bias = self.factor.solve(&mut x, sum);
        self.members.iter().zip(&x).for_each(|(&k, x)| out[k] = *x);
        (bias.is_finite() && x.iter().all(|x| x.is_finite())).then_some(-bias)
    }

    /// Updates the factor by insertions and deletions, if they are few and `more` does not return
    /// false. Returns true if the factor is then the required one.
    fn follow(&mut self, chunk: &Chunk, wanted: &[f64], more: &mut (dyn FnMut() -> bool + Send)) -> bool {
        let leave: Vec<usize> =
            (0..self.members.len()).filter(|&at| self.damped[self.members[at]] != wanted[self.members[at]]).collect();
        let kept = self.members.len() - leave.len();
        let join = wanted.iter().filter(|w| !w.is_nan()).count() - kept;
        if kept == 0 || join * CHANGES.0 + leave.len() * CHANGES.1 > kept {
            return false;
        }
        let control = RunControl::new(|_| if more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
        for &at in leave.iter().rev() {
            if control.check((self.members.len() * self.members.len() / 4) as u64).is_err() {
                return false;
            }
            self.factor.remove(at);
            let k = self.members.remove(at);
            self.damped[k] = f64::NAN;
        }
        let known = self.members.len();
        self.members.extend((0..wanted.len()).filter(|&k| !wanted[k].is_nan() && self.damped[k].is_nan()));
        let members = &self.members;
        let value = |j: usize, i: usize| {
            let k = members[known + j];
            chunk.row(k)[members[i]] + if i == known + j { wanted[k] } else { 0.0 }
        };
        if self.factor.append_all(join, value, chunk.par, &control) != Ok(join) {
            self.members.truncate(self.factor.len());
            return false;
        }
        self.members[known..].iter().for_each(|&k| self.damped[k] = wanted[k]);
        self.updated += (leave.len() + join) as u64;
        true
    }

    fn build(&mut self, chunk: &Chunk, wanted: &[f64], more: &mut (dyn FnMut() -> bool + Send)) -> bool {
        self.members.clear();
        self.members.extend((0..wanted.len()).filter(|&k| !wanted[k].is_nan()));
        self.damped.copy_from_slice(wanted);
        self.built += 1;
        let members = &self.members;
        if self.matrix.nrows() < wanted.len() {
            self.matrix = Mat::zeros(wanted.len(), wanted.len());
        }
        // Column by column, each from one row of the symmetric matrix; only the lower half is read.
        for (j, &k) in members.iter().enumerate() {
            let (row, column) = (chunk.row(k), &mut self.matrix.col_as_slice_mut(j)[j..members.len()]);
            column.iter_mut().zip(&members[j..]).for_each(|(value, &i)| *value = row[i]);
            column[0] += wanted[k];
        }
        let matrix = self.matrix.as_mut().submatrix_mut(0, 0, members.len(), members.len());
        let control = RunControl::new(|_| if more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
        let built = self.factor.build(matrix, chunk.par, &control).unwrap_or(false);
        if !built {
            self.members.clear();
            self.damped.fill(f64::NAN);
        }
        built
    }
}
