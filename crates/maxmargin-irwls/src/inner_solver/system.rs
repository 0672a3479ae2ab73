//! The linear system of a least squares step, whose factor follows the set of its samples.

use crate::working_set::chunk::Chunk;
use faer::Mat;
use maxmargin_core::{Factor, RunControl};
use maxmargin_simd::sums::{add_scaled, dot};
use std::ops::ControlFlow;

/// The weights of insertions and deletions: if their weighted sum exceeds the samples that stay,
/// the factor is computed anew. With 7,200 samples an insertion among others takes 3 to 4 ms, one
/// of some 30 deletions 6 ms, a factor 1.8 to 3 s. With 1,600 an insertion alone takes 0.5 ms and a
/// factor 55 ms.
const CHANGES: (usize, usize) = (8, 32);

/// The fewest samples of a system that is solved by the factor of another damping. Smaller factors
/// take less time than a few iterations over the memory of both matrices.
const ITERATED: usize = 1024;

/// The samples for each iteration that may take the place of a factor: a factor grows with the cube
/// of the samples, an iteration with their square.
const MEMBERS_EACH: usize = 200;

/// The right-hand side of a system, and the largest allowed residual.
pub(crate) struct RightSide<'r> {
    /// A value for each sample of the working set.
    pub(crate) values: &'r [f64],
    pub(crate) sum: f64,
    pub(crate) accuracy: f64,
}

/// The end of iterations.
enum Iterated {
    /// The threshold.
    Solved(f64),
    /// A factor costs less.
    Slow,
    Cancelled,
}

/// The factor of `K + D⁻¹` over a set of samples, bordered by the equality constraint unless any
/// sum is allowed.
pub(crate) struct System {
    factor: Factor,
    /// The matrix to factor; its memory is reused by the next factor.
    matrix: Mat<f64>,
    any_sum: bool,
    /// The samples in the order of the factor.
    members: Vec<usize>,
    /// The diagonal of `D⁻¹` of each sample in the factor; NaN for others.
    damped: Vec<f64>,
    /// The iterations with this factor, and the largest damping that they were for. Another factor
    /// is due when iterations for one damping have cost as much.
    iterations: usize,
    iterated: f64,
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
            factor: Factor::new(if chunk.any_sum { 0.0 } else { shift }),
            matrix: Mat::new(),
            any_sum: chunk.any_sum,
            members: Vec::new(),
            damped: vec![f64::NAN; m],
            iterations: 0,
            iterated: f64::NAN,
            built: 0,
            updated: 0,
        }
    }

    /// Solves `(K + D⁻¹) x − t·1 = r`, `Σ x = sum` (or, for any sum, the same with `t = 0`) over
    /// the samples whose `wanted` (the diagonal of `D⁻¹`) is a number; there is at least one. It
    /// writes x to `out` there and leaves other entries unchanged. Returns t, or `None` if the
    /// matrix is not positive definite to working precision or `more` returned false during a large
    /// factorisation.
    ///
    /// No entry of the residual is larger than `accuracy`, unless rounding is.
    pub(crate) fn solve(
        &mut self,
        chunk: &Chunk,
        wanted: &[f64],
        right: &RightSide,
        out: &mut [f64],
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<f64> {
        if !self.follow(chunk, wanted, more) {
            match self.iterate(chunk, wanted, right, out, more) {
                Iterated::Solved(t) => return Some(t),
                Iterated::Slow if self.build(chunk, wanted, more) => {}
                _ => return None,
            }
        }
        let mut x: Vec<f64> = self.members.iter().map(|&k| right.values[k]).collect();
        let bias = self.by_factor(&mut x, right.sum);
        self.members.iter().zip(&x).for_each(|(&k, x)| out[k] = *x);
        (bias.is_finite() && x.iter().all(|x| x.is_finite())).then_some(-bias)
    }

    /// Solves with the factor as it is: `x` holds the right-hand side on entry. Returns `−t`.
    fn by_factor(&self, x: &mut [f64], sum: f64) -> f64 {
        if self.any_sum {
            self.factor.solve_for_any_sum(x);
            0.0
        } else {
            self.factor.solve(x, sum)
        }
    }

    /// Solves with the factor of another damping, by conjugate gradients among the x of one sum.
    /// Smaller weights shift all eigenvalues of the matrix alike, and where these are larger than
    /// the shifts, a few iterations take the place of a factor.
    fn iterate(
        &mut self,
        chunk: &Chunk,
        wanted: &[f64],
        right: &RightSide,
        out: &mut [f64],
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Iterated {
        let same = || (0..wanted.len()).all(|k| wanted[k].is_nan() == self.damped[k].is_nan());
        if self.members.len() < ITERATED || !same() {
            return Iterated::Slow;
        }
        let damping = wanted.iter().fold(0.0, |most: f64, d| most.max(*d));
        if damping != self.iterated {
            (self.iterated, self.iterations) = (damping, 0);
        }
        let members = &self.members;
        let mut whole = vec![0.0; wanted.len()];
        let mut image = |x: &[f64]| -> Vec<f64> {
            members.iter().zip(x).for_each(|(&k, x)| whole[k] = *x);
            let product = chunk.multiply(&whole);
            members.iter().zip(x).map(|(&k, x)| product[k] + wanted[k] * x).collect()
        };
        let values: Vec<f64> = members.iter().map(|&k| right.values[k]).collect();
        let mut x = values.clone();
        self.by_factor(&mut x, right.sum);
        let mut residual: Vec<f64> = values.iter().zip(image(&x)).map(|(r, product)| r - product).collect();
        let (mut direction, mut last) = (vec![0.0; x.len()], f64::INFINITY);
        let most = (members.len() / MEMBERS_EACH).saturating_sub(self.iterations);
        // The sum of the thresholds that were taken out of the residual, and its largest entry.
        let take = |residual: &mut [f64]| take_common(residual, self.any_sum);
        let (mut taken, first) = take(&mut residual);
        let mut largest = first;
        for iteration in 0..=most {
            if largest <= right.accuracy {
                members.iter().zip(&x).for_each(|(&k, x)| out[k] = *x);
                return Iterated::Solved(-taken);
            }
            let left = most - iteration;
            let hopeless = iteration > 1 && largest * pace(first, largest, iteration).powi(left as i32) > right.accuracy;
            if hopeless || left == 0 || !largest.is_finite() {
                break;
            }
            if !more() {
                return Iterated::Cancelled;
            }
            self.iterations += 1;
            let mut z = residual.clone();
            self.by_factor(&mut z, 0.0);
            let norm = dot(&residual, &z);
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + norm / last * *d);
            let product = image(&direction);
            let step = norm / dot(&direction, &product);
            add_scaled(&mut x, step, &direction);
            add_scaled(&mut residual, -step, &product);
            last = norm;
            let (common, left) = take(&mut residual);
            (taken, largest) = (taken + common, left);
        }
        Iterated::Slow
    }

    /// Updates the factor by insertions and deletions, if they are few and `more` does not return
    /// false. Returns true if the factor is then the required one. If most samples have another
    /// damping, only the set becomes the required one, for [`System::iterate`].
    fn follow(&mut self, chunk: &Chunk, wanted: &[f64], more: &mut (dyn FnMut() -> bool + Send)) -> bool {
        let members_where = |leaves: fn(f64, f64) -> bool| -> Vec<usize> {
            let leaves = |at: &usize| leaves(self.damped[self.members[*at]], wanted[self.members[*at]]);
            (0..self.members.len()).filter(leaves).collect()
        };
        let mut leave = members_where(|old, new| old != new);
        let mut follows = true;
        if 2 * leave.len() > self.members.len() && self.members.len() >= ITERATED {
            (leave, follows) = (members_where(|_, new| new.is_nan()), false);
        }
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
        follows
    }

    fn build(&mut self, chunk: &Chunk, wanted: &[f64], more: &mut (dyn FnMut() -> bool + Send)) -> bool {
        self.members.clear();
        self.members.extend((0..wanted.len()).filter(|&k| !wanted[k].is_nan()));
        self.damped.copy_from_slice(wanted);
        self.iterations = 0;
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

/// Takes out of the residual what all its entries have in common, which is all of it at the
/// solution, unless any sum is allowed. Returns that, and the largest entry that is left.
fn take_common(residual: &mut [f64], any_sum: bool) -> (f64, f64) {
    let common = if any_sum { 0.0 } else { residual.iter().sum::<f64>() / residual.len() as f64 };
    residual.iter_mut().for_each(|r| *r -= common);
    (common, residual.iter().fold(0.0, |most: f64, r| most.max(r.abs())))
}

/// The factor of an iteration, from the errors before the first and after the last of so many.
fn pace(first: f64, last: f64, iterations: usize) -> f64 {
    (last / first).powf(1.0 / iterations as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A working set on a line, of kernel values that are the nearer to a singular matrix the
    /// larger the `width`.
    fn line(m: usize, width: f64) -> Chunk {
        let value = |i: usize, j: usize| (-((i as f64 - j as f64) / width).powi(2)).exp();
        let kernel = (0..m * m).map(|at| value(at / m, at % m)).collect();
        Chunk { kernel, beta: vec![0.0; m], ..Chunk::default() }
    }

    /// Solves with two dampings one after the other and a set that loses a sample; returns the
    /// factors computed.
    fn factors(chunk: &Chunk, dampings: [f64; 2]) -> u64 {
        let m = chunk.len();
        let values: Vec<f64> = (0..m).map(|k| f64::from((k * 7 % 11) as u32) / 11.0 - 0.5).collect();
        let mut system = System::new(chunk);
        for (round, damping) in dampings.into_iter().enumerate() {
            let mut wanted = vec![damping; m];
            (0..=round).for_each(|k| wanted[5 * k] = f64::NAN);
            let (right, mut x) = (RightSide { values: &values, sum: 0.25, accuracy: 1e-9 }, vec![0.0; m]);
            let t = system.solve(chunk, &wanted, &right, &mut x, &mut || true).expect("positive definite");
            let rounding = 1e-13 * x.iter().map(|x| x.abs()).sum::<f64>();
            assert!((x.iter().sum::<f64>() - 0.25).abs() <= 1e-9 + rounding, "the sum");
            let product = chunk.multiply(&x);
            for k in (0..m).filter(|&k| !wanted[k].is_nan()) {
                let residual = product[k] + damping * x[k] - t - values[k];
                assert!(residual.abs() <= 2e-9 + rounding, "damping {damping}, sample {k}: {residual}");
            }
            assert_eq!(x[0], 0.0, "a sample outside the set");
        }
        system.built
    }

    #[test]
    fn iterations_replace_a_factor_where_the_damping_is_small() {
        assert_eq!(factors(&line(1100, 1.0), [1e-4, 1e-6]), 1);
        // Here the damping is most of the matrix, and iterations take too long.
        assert_eq!(factors(&line(1100, 30.0), [1e-2, 1e-8]), 2);
        // A small factor costs less than iterations.
        assert_eq!(factors(&line(200, 1.0), [1e-4, 1e-6]), 2);
    }

    #[test]
    fn a_system_of_any_sum_has_no_threshold() {
        // By a factor, and from 1,024 samples on by iterations with the factor of another damping.
        for m in [50, 1100] {
            let chunk = Chunk { any_sum: true, ..line(m, 1.0) };
            let values: Vec<f64> = (0..m).map(|k| f64::from((k % 5) as u32)).collect();
            let right = RightSide { values: &values, sum: 0.0, accuracy: 1e-9 };
            let (mut system, mut x) = (System::new(&chunk), vec![0.0; m]);
            for damping in [1e-4, 1e-6] {
                let t = system.solve(&chunk, &vec![damping; m], &right, &mut x, &mut || true);
                assert_eq!(t.map(f64::abs), Some(0.0));
                let product = chunk.multiply(&x);
                assert!((0..m).all(|k| (product[k] + damping * x[k] - values[k]).abs() <= 1e-8), "{m} {damping}");
            }
            assert_eq!(system.built, if m > ITERATED { 1 } else { 2 });
        }
    }

    #[test]
    fn iterations_can_be_cancelled() {
        let chunk = line(1100, 1.0);
        let (m, values) = (chunk.len(), vec![1.0; chunk.len()]);
        let right = RightSide { values: &values, sum: 0.0, accuracy: 1e-9 };
        let (mut system, mut x) = (System::new(&chunk), vec![0.0; m]);
        assert!(system.solve(&chunk, &vec![1e-4; m], &right, &mut x, &mut || true).is_some());
        let values: Vec<f64> = (0..m).map(|k| f64::from((k % 3) as u32)).collect();
        let right = RightSide { values: &values, ..right };
        assert_eq!(system.solve(&chunk, &vec![1e-6; m], &right, &mut x, &mut || false), None);
        assert_eq!(system.built, 1);
    }
}
