//! An interior point method as the solver of working sets. The paper uses LOQO.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use maxmargin::irwls::{Chunk, ChunkSolver};

/// The default solver of the `clarabel` crate, a primal-dual interior point method with a sparse
/// factorisation, on one thread.
pub(crate) struct InteriorPoint;

/// A variable counts as bounded within this share of its box: an interior point is never exactly on
/// a bound. So does a variable whose multiplier outweighs its distance to the bound.
const ON_BOUND: f64 = 1e-8;

/// Relative and absolute gap, small enough to show which samples are bounded.
const GAP: f64 = 1e-10;

impl ChunkSolver for InteriorPoint {
    fn solve(&self, chunk: &mut Chunk, _: f64, more: &mut (dyn FnMut() -> bool + Send)) {
        if !more() {
            return;
        }
        let m = chunk.len();
        let q = chunk.linear();
        let sum: f64 = chunk.beta().iter().sum();
        let upper_triangle = (0..m).flat_map(|j| chunk.row(j)[..=j].iter().copied()).collect();
        let starts = (0..=m).map(|j| j * (j + 1) / 2).collect();
        let p = CscMatrix::new(m, m, starts, (0..m).flat_map(|j| 0..=j).collect(), upper_triangle);
        // Row 0: the equality constraint. Rows 1 … m: β ≤ high. Rows m + 1 … 2m: −β ≤ −low.
        let rows = (0..m).flat_map(|j| [0, 1 + j, 1 + m + j]).collect();
        let a = CscMatrix::new(2 * m + 1, m, (0..=m).map(|j| 3 * j).collect(), rows, [1.0, 1.0, -1.0].repeat(m));
        let mut b = vec![sum];
        b.extend(chunk.high());
        b.extend(chunk.low().iter().map(|low| -low));
        let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(2 * m)];
        let settings = DefaultSettings {
            verbose: false,
            max_threads: 1,
            tol_gap_abs: GAP,
            tol_gap_rel: GAP,
            tol_feas: GAP,
            ..DefaultSettings::default()
        };
        let Ok(mut solver) = DefaultSolver::new(&p, &q, &a, &b, &cones, settings) else { return };
        solver.solve();
        let mut beta = solver.solution.x.clone();
        if beta.iter().any(|b| !b.is_finite()) {
            return;
        }
        let multipliers = &solver.solution.z;
        for (k, b) in beta.iter_mut().enumerate() {
            let (low, high) = (chunk.low()[k], chunk.high()[k]);
            let on = |slack: f64, multiplier: f64| slack < multiplier * (high - low) || slack < ON_BOUND * (high - low);
            *b = if on(*b - low, multipliers[1 + m + k]) {
                low
            } else if on(high - *b, multipliers[1 + k]) {
                high
            } else {
                *b
            };
        }
        chunk.set(&beta);
    }
}
