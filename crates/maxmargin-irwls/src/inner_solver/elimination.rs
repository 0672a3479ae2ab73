//! A large chunk without the samples that stay between their bounds: these are eliminated once, and
//! all re-sortings of the sets work on the others.
//!
//! With the eliminated samples E and the others R, the minimum over `Δ_E` and the threshold leaves
//!
//! ```text
//!   A = K_EE + D_E⁻¹,  q = 1_R − K_RE A⁻¹ 1,  u = 1ᵀ A⁻¹ 1
//!   S = K_RR − K_RE A⁻¹ K_ER + q qᵀ / u
//!   g = f_R − K_RE A⁻¹ f_E − q (1ᵀ A⁻¹ f_E) / u
//! ```
//!
//! a problem over R alone, whose sum is free. One factor of A serves all weights of R. An
//! eliminated sample that meets a bound comes back to R: with `Z = A⁻¹ I_O` for such samples O and
//! `G = I_Oᵀ Z`, its rows are `G⁻¹` and `G⁻¹ Zᵀ K_ER`, and all others gain `K_RE Z G⁻¹ Zᵀ K_ER`.

use crate::inner_solver::system::System;
use crate::inner_solver::weighted::{Caps, Weighted, WeightedStep};
use crate::working_set::chunk::Chunk;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatRef, Par};
use maxmargin_core::{RunControl, cholesky, eliminate};
use maxmargin_simd::sums::{add_scaled, dot};
use std::ops::ControlFlow;

/// The fewest samples of a chunk from which some are eliminated: factors of fewer cost little.
const FEWEST: usize = 2048;

/// The least share of a chunk to eliminate, and the largest share of the others with samples that
/// came back. The matrices of a chunk, of the elimination and of the others then fit into
/// [`FinishConfig::bytes`](crate::FinishConfig::bytes).
const LEAST: f64 = 0.45;
const MOST_OTHERS: f64 = 0.6;

/// The share of its interval by which β of an eliminated sample is away from both bounds. Few of
/// these samples meet a bound after all.
const MARGIN: f64 = 0.05;

/// The solutions of an elimination from which samples may come back, and the share of the others
/// that these may be at most (one of so many). After that the rest is eliminated anew.
const ROUNDS: usize = 8;
const BACK: usize = 4;

/// The columns that are computed together.
const COLUMNS: usize = 256;

/// The eliminations for one step.
const ELIMINATIONS: usize = 4;

/// The samples of a chunk: those to eliminate, and the others.
#[derive(Clone, Debug)]
pub(crate) struct Sorted {
    inner: Vec<usize>,
    others: Vec<usize>,
}

impl Sorted {
    /// Sorts a chunk. Inner samples have a β well between its bounds.
    fn of(chunk: &Chunk) -> Self {
        let (inner, others) = (0..chunk.len()).partition(|&k| {
            let (beta, low, high) = (chunk.beta[k], chunk.low[k], chunk.high[k]);
            (beta - low).min(high - beta) > MARGIN * (high - low)
        });
        Self { inner, others }
    }

    /// Returns the samples of a large chunk, if enough of them are inner ones.
    pub(crate) fn of_large(chunk: &Chunk) -> Option<Self> {
        let sorted = Self::of(chunk);
        (chunk.len() >= FEWEST && sorted.suffices()).then_some(sorted)
    }

    fn suffices(&self) -> bool {
        let inner = self.inner.len();
        inner as f64 >= LEAST * (inner + self.others.len()) as f64
    }

    /// Moves the inner samples at these places to the others.
    fn without(&self, places: &[usize]) -> Self {
        let (mut inner, mut others) = (Vec::new(), self.others.clone());
        for (at, &k) in self.inner.iter().enumerate() {
            let side = if places.binary_search(&at).is_ok() { &mut others } else { &mut inner };
            side.push(k);
        }
        Self { inner, others }
    }
}

/// Returns the step of [`Weighted::solve`] by eliminations, with the weights of eliminated samples
/// at their last cap. Returns `None` if too many samples meet a bound, or if a system cannot be
/// solved in this precision.
pub(crate) fn step_of(
    chunk: &Chunk,
    mut sorted: Sorted,
    caps: Caps,
    more: &mut (dyn FnMut() -> bool + Send),
) -> Option<WeightedStep> {
    for _ in 0..ELIMINATIONS {
        if !sorted.suffices() {
            break;
        }
        match Elimination::of(chunk, sorted, caps, more)?.solve(caps, more)? {
            Outcome::Step(step) => return Some(step),
            Outcome::Left(left) => sorted = left,
        }
    }
    None
}

/// The end of an elimination: the step, or the samples of the next elimination.
enum Outcome {
    Step(WeightedStep),
    Left(Sorted),
}

/// A chunk whose inner samples are eliminated.
struct Elimination<'c> {
    chunk: &'c Chunk,
    samples: Sorted,
    /// `D⁻¹` of the inner samples.
    damping: Vec<f64>,
    /// The factor of the inner samples, the rows of the others, of `1` and of `f`, and what is left
    /// of the matrix of these rows.
    factor: Mat<f64>,
}

/// Inner samples that came back.
struct Back {
    /// Their places among the inner samples, ascending.
    places: Vec<usize>,
    /// `L⁻¹ I_O`, and the Cholesky factor of `G`.
    solved: Mat<f64>,
    gram: Mat<f64>,
}

impl Back {
    fn none() -> Self {
        Self { places: Vec::new(), solved: Mat::new(), gram: Mat::new() }
    }
}

/// The problem over the others and the samples that came back.
struct Reduced {
    chunk: Chunk,
    /// `q`, `−u` and `−1ᵀ A⁻¹ f_E`.
    ones: Vec<f64>,
    of_ones: f64,
    with_f: f64,
}

impl<'c> Elimination<'c> {
    /// Eliminates the inner samples. Returns `None` if their matrix is not positive definite in
    /// this precision, or if `more` returned false.
    fn of(chunk: &'c Chunk, samples: Sorted, caps: Caps, more: &mut (dyn FnMut() -> bool + Send)) -> Option<Self> {
        let m = chunk.len();
        let Sorted { inner, others } = &samples;
        let damping: Vec<f64> = inner.iter().map(|&k| (caps.end / (chunk.high[k] - chunk.low[k])).max(caps.lift)).collect();
        let order = [&inner[..], &others[..]].concat();
        let mut factor = Mat::zeros(m + 2, m + 2);
        // Column by column, each from one row of the symmetric matrix; only the lower half is read.
        for (j, &k) in order.iter().enumerate() {
            let (row, column) = (chunk.row(k), factor.col_as_slice_mut(j));
            column[j..].iter_mut().zip(&order[j..]).for_each(|(value, &i)| *value = row[i]);
            column[j] += damping.get(j).copied().unwrap_or_default();
            (column[m], column[m + 1]) = (1.0, chunk.f[k]);
        }
        let control = RunControl::new(|_| if more() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
        let positive = eliminate(factor.as_mut(), inner.len(), chunk.par, &control).unwrap_or(false);
        positive.then_some(Self { chunk, samples, damping, factor })
    }

    /// Solves the chunk. Returns `None` if a system cannot be solved in this precision.
    fn solve(&self, caps: Caps, more: &mut (dyn FnMut() -> bool + Send)) -> Option<Outcome> {
        let mut back = Back::none();
        for _ in 0..ROUNDS {
            let reduced = self.reduced(&back)?;
            let step = Weighted::new(&reduced.chunk).solve(caps, &mut System::new(&reduced.chunk), more)?;
            let delta = self.expand(&reduced, &back, &step.delta);
            if !step.settled {
                return Some(Outcome::Step(WeightedStep { delta, ..step }));
            }
            let is_outside = |at: &usize| {
                let k = self.samples.inner[*at];
                let to = self.chunk.beta[k] + delta[k];
                (to <= self.chunk.low[k] || to >= self.chunk.high[k]) && back.places.binary_search(at).is_err()
            };
            let mut places: Vec<usize> = (0..self.samples.inner.len()).filter(is_outside).collect();
            if places.is_empty() {
                let product = self.chunk.multiply(&delta);
                return Some(Outcome::Step(WeightedStep { delta, product, settled: true }));
            }
            places.extend(&back.places);
            places.sort_unstable();
            let (new, others) = (places.len(), self.samples.others.len());
            if new * BACK > others || (new + others) as f64 > MOST_OTHERS * self.chunk.len() as f64 {
                return Some(Outcome::Left(self.samples.without(&places)));
            }
            back = self.back(places)?;
        }
        Some(Outcome::Left(self.samples.without(&back.places)))
    }

    /// The factor of the inner samples, and the rows below it.
    fn parts(&self) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let (e, rows) = (self.samples.inner.len(), self.samples.others.len() + 2);
        (self.factor.as_ref().submatrix(0, 0, e, e), self.factor.as_ref().submatrix(e, 0, rows, e))
    }

    /// Returns the data of samples that come back, or `None` if their matrix is singular.
    fn back(&self, places: Vec<usize>) -> Option<Back> {
        let (e, o) = (self.samples.inner.len(), places.len());
        let mut solved = Mat::zeros(e, o);
        places.iter().enumerate().for_each(|(column, &at)| solved[(at, column)] = 1.0);
        solve_lower_triangular_in_place(self.parts().0, solved.as_mut(), Par::Seq);
        let mut gram = Mat::zeros(o, o);
        matmul(gram.as_mut(), Accum::Replace, solved.transpose(), &solved, 1.0, Par::Seq);
        let positive = cholesky(gram.as_mut(), maxmargin_data::Par::Seq, &RunControl::unlimited()).unwrap_or(false);
        positive.then_some(Back { places, solved, gram })
    }

    /// Returns what is left of the rows of the others, of samples that came back, of `1` and of
    /// `f`, in its lower half.
    fn left(&self, back: &Back) -> Mat<f64> {
        let (e, r, o) = (self.samples.inner.len(), self.samples.others.len(), back.places.len());
        let mut left = Mat::zeros(r + o + 2, r + o + 2);
        let to = |row: usize| if row < r { row } else { row + o };
        // The products with the samples that came back, as columns.
        let mut rows = Mat::zeros(o, r + 2);
        if o > 0 {
            let below = self.parts().1;
            matmul(rows.as_mut(), Accum::Replace, back.solved.transpose(), below.transpose(), 1.0, Par::Seq);
            solve_lower_triangular_in_place(back.gram.as_ref(), rows.as_mut(), Par::Seq);
        }
        for first in (0..r + 2).step_by(COLUMNS) {
            let count = COLUMNS.min(r + 2 - first);
            let mut gained = Mat::zeros(r + 2 - first, count);
            let (below, own) = (rows.as_ref().subcols(first, r + 2 - first), rows.as_ref().subcols(first, count));
            matmul(gained.as_mut(), Accum::Replace, below.transpose(), own, 1.0, Par::Seq);
            for j in first..first + count {
                let from = &self.factor.col_as_slice(e + j)[e..];
                (j..r + 2).for_each(|i| left[(to(i), to(j))] = from[i] + gained[(i - first, j - first)]);
            }
        }
        if o == 0 {
            return left;
        }
        let upper = back.gram.transpose();
        solve_upper_triangular_in_place(upper, rows.as_mut(), Par::Seq);
        let mut inverse = Mat::identity(o, o);
        solve_lower_triangular_in_place(back.gram.as_ref(), inverse.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(upper, inverse.as_mut(), Par::Seq);
        for (a, &at) in back.places.iter().enumerate() {
            (0..r).for_each(|j| left[(r + a, j)] = rows[(a, j)]);
            (a..o).for_each(|b| left[(r + b, r + a)] = inverse[(b, a)]);
            left[(r + a, r + a)] -= self.damping[at];
            (0..2).for_each(|row| left[(r + o + row, r + a)] = rows[(a, r + row)]);
        }
        left
    }

    /// Returns the problem over the others and the samples that came back, at the same point.
    fn reduced(&self, back: &Back) -> Option<Reduced> {
        let left = self.left(back);
        let mut samples = self.samples.others.clone();
        samples.extend(back.places.iter().map(|&at| self.samples.inner[at]));
        let n = samples.len();
        let (of_ones, with_f) = (left[(n, n)], left[(n + 1, n)]);
        if of_ones.is_nan() || of_ones >= 0.0 {
            return None;
        }
        let row = |row: usize| (0..n).map(|j| left[(row, j)]).collect::<Vec<f64>>();
        let (ones, f) = (row(n), row(n + 1));
        let mut kernel = vec![0.0; n * n];
        for j in 0..n {
            let column = &left.col_as_slice(j)[j..n];
            for (i, value) in (j..n).zip(column) {
                let value = value - ones[i] * ones[j] / of_ones;
                kernel[i * n + j] = value;
                kernel[j * n + i] = value;
            }
        }
        let of = |all: &[f64]| samples.iter().map(|&k| all[k]).collect::<Vec<f64>>();
        let chunk = Chunk {
            kernel,
            beta: of(&self.chunk.beta),
            f: f.iter().zip(&ones).map(|(f, one)| f - one * with_f / of_ones).collect(),
            low: of(&self.chunk.low),
            high: of(&self.chunk.high),
            any_sum: true,
            par: self.chunk.par,
        };
        Some(Reduced { chunk, ones, of_ones, with_f })
    }

    /// Returns Δ of all samples for that of the reduced problem.
    fn expand(&self, reduced: &Reduced, back: &Back, part: &[f64]) -> Vec<f64> {
        let (e, r, o) = (self.samples.inner.len(), self.samples.others.len(), back.places.len());
        let (of_others, of_back) = part.split_at(r);
        let t = (dot(&reduced.ones, part) + reduced.with_f) / reduced.of_ones;
        // L⁻¹ (t·1 − f_E − K_ER Δ_R).
        let mut column = Mat::<f64>::zeros(e, 1);
        let known = column.col_as_slice_mut(0);
        for (i, known) in known.iter_mut().enumerate() {
            let rows = &self.factor.col_as_slice(i)[e..];
            *known = t * rows[r] - rows[r + 1] - dot(&rows[..r], of_others);
        }
        if o > 0 {
            // The forces that hold the samples which came back where they are.
            let mut force = Mat::from_fn(o, 1, |a, _| dot(back.solved.col_as_slice(a), known) - of_back[a]);
            solve_lower_triangular_in_place(back.gram.as_ref(), force.as_mut(), Par::Seq);
            solve_upper_triangular_in_place(back.gram.transpose(), force.as_mut(), Par::Seq);
            (0..o).for_each(|a| add_scaled(known, -force[(a, 0)], back.solved.col_as_slice(a)));
        }
        solve_upper_triangular_in_place(self.parts().0.transpose(), column.as_mut(), Par::Seq);
        let mut delta = vec![0.0; self.chunk.len()];
        self.samples.inner.iter().zip(column.col_as_slice(0)).for_each(|(&k, value)| delta[k] = *value);
        self.samples.others.iter().zip(of_others).for_each(|(&k, value)| delta[k] = *value);
        back.places.iter().zip(of_back).for_each(|(&at, value)| delta[self.samples.inner[at]] = *value);
        delta
    }
}

#[cfg(test)]
mod tests;
