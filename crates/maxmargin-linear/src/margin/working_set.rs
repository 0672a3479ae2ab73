//! Proximal Newton steps over a working set of columns.
//!
//! ```text
//!   1  u ← Σ α_i y_i x_i;  stop when the violation is small enough
//!   2  d ← argmin −u·d + ½ dᵀHd + ‖w + d‖₁,  H = Σ C_i ℓ''(z_i) x_i x_iᵀ    (model.rs)
//!   3  t: P is lower, its derivative along d within a quarter of 0 (line.rs);  w += t d;  go to 1
//! ```

use crate::margin::context::MarginRun;
use crate::margin::evaluate::inner;
use crate::margin::l1_problem::{L1Problem, LassoPoint, violation_of};
use crate::margin::line::line_search;
use crate::margin::matrix_descent::curvature_matrix;
use crate::margin::model::{Columns, QuadraticModel, simplification};
use faer::Mat;
use maxmargin_core::Cancelled;
use maxmargin_kernel::features::{FeatureRows, products};
use std::sync::OnceLock;

/// The most steps on one working set.
const MOST: u32 = 30;

/// The violation of the model of a step, relative to that of its beginning.
const ACCURACY: f64 = 0.05;

/// The least curvature of a misclassified row, as a share of its α, where the violation is 1 or
/// more. Far on the wrong side the loss is a line: a weight of such rows alone would have a step of
/// any length.
const FLAT: f64 = 0.01;

/// The matrix of an earlier step serves the next one if that step left at most this share of the
/// violation.
const KEEP: f64 = 0.2;

pub(crate) struct WorkingSet<'p, 'r> {
    problem: &'p L1Problem<'r>,
    columns: Columns<'p>,
    /// The place of the free column in the set.
    free: Option<usize>,
    w: Vec<f64>,
    /// The matrix of the last model.
    matrix: Option<Mat<f64>>,
}

impl<'p, 'r> WorkingSet<'p, 'r> {
    pub(crate) fn new(problem: &'p L1Problem<'r>, set: &[u32], w: &[f64]) -> Self {
        let store = problem.store;
        let columns = if set.len() == store.columns.len() {
            Columns::Borrowed { columns: &store.columns, rows: &store.rows }
        } else {
            Columns::Owned { columns: store.columns.selected(set.iter().map(|&j| j as usize)), rows: OnceLock::new() }
        };
        let free = problem.free.and_then(|free| set.iter().position(|&j| j as usize == free));
        Self { problem, columns, free, w: set.iter().map(|&j| w[j as usize]).collect(), matrix: None }
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.w
    }

    /// Minimises until the violation is at most `tol`, and moves the margins of `at` along.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn solve(&mut self, at: &mut LassoPoint, tol: f64, run: &mut MarginRun) -> Result<(), Cancelled> {
        let problem = self.problem;
        let (targets, par) = (&problem.targets, problem.par);
        let mut before = f64::INFINITY;
        for _ in 0..MOST {
            let coef: Vec<f64> = at.alpha.iter().zip(&targets.sign).map(|(a, y)| a * y).collect();
            let mut u = vec![0.0; self.w.len()];
            self.columns.columns().products(&coef, &mut u, par, |_, sum| sum);
            let violations = self.w.iter().zip(&u).enumerate().map(|(j, (w, u))| violation_of(*w, *u, self.free == Some(j)));
            let violation = violations.fold(0.0, f64::max);
            if violation <= tol {
                return Ok(());
            }
            run.control.control().check(self.columns.columns().entries() as u64)?;
            if run.control.spent(run.work.steps + 1) || run.is_given_up() {
                return Ok(());
            }
            run.work.newton_steps += 1;
            let weights = targets.curvature(&at.alpha, simplification(violation) * FLAT);
            let is_kept = violation <= KEEP * before && self.matrix.is_some();
            if !is_kept {
                self.matrix = curvature_matrix(&self.columns, &weights, par, run)?;
            }
            before = violation;
            let (columns, free) = (&self.columns, self.free);
            let norm: f64 = self.w.iter().enumerate().filter(|(j, _)| free != Some(*j)).map(|(_, w)| w.abs()).sum();
            let primal = norm + targets.losses(&at.z, par);
            let model = QuadraticModel { columns, weights: &weights, u: &u, w: &self.w, primal, violation, free, par };
            let aim = (ACCURACY * violation).max(0.5 * tol);
            let d = match &self.matrix {
                Some(h) => model.with_matrix(h, aim, run)?,
                None => model.with_columns(aim, run)?,
            };
            if !self.step(at, &u, &d) {
                if !is_kept {
                    return Ok(());
                }
                // The matrix is made again.
                self.matrix = None;
            }
        }
        Ok(())
    }

    /// Moves along `d`; returns false if no step is possible.
    fn step(&mut self, at: &mut LassoPoint, u: &[f64], d: &[f64]) -> bool {
        let (targets, par) = (&self.problem.targets, self.problem.par);
        let n = at.z.len();
        let mut q = vec![0.0; n];
        let moved = d.iter().filter(|d| **d != 0.0).count();
        if let Some(rows) = self.columns.known_rows().filter(|_| 4 * moved > d.len()) {
            products(rows, &(0..n).collect::<Vec<_>>(), d, &mut q, par);
        } else {
            for (j, d) in d.iter().enumerate().filter(|(_, d)| **d != 0.0) {
                self.columns.columns().add(j, *d, &mut q);
            }
        }
        q.iter_mut().zip(&targets.sign).for_each(|(q, y)| *q *= y);
        let (w, free) = (&self.w, self.free);
        // The derivative of the norm from the left; at 0 from the right.
        let of_norm = |t: f64| -> f64 {
            let of = |(j, (w, d)): (usize, (&f64, &f64))| {
                let to = w + t * d;
                match () {
                    () if free == Some(j) => 0.0,
                    () if to == 0.0 => {
                        if t == 0.0 {
                            d.abs()
                        } else {
                            -d.abs()
                        }
                    }
                    () => to.signum() * d,
                }
            };
            w.iter().zip(d).enumerate().map(of).sum()
        };
        let slope = of_norm(0.0) - maxmargin_simd::sums::dot(u, d);
        let LassoPoint { z, alpha, .. } = at;
        let found = line_search(slope, |t| {
            targets.alpha(z, &q, t, alpha, par);
            of_norm(t) - inner(alpha, &q, par)
        });
        let Some(t) = found else {
            targets.alpha(z, z, 0.0, alpha, par);
            return false;
        };
        z.iter_mut().zip(&q).for_each(|(z, q)| *z += t * q);
        self.w.iter_mut().zip(d).for_each(|(w, d)| *w += t * d);
        true
    }
}
