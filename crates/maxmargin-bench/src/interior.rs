//! An interior point method as the solver of working sets, where the paper has LOQO.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use maxmargin::irwls::{Chunk, ChunkSolver};

/// The default solver of the `clarabel` crate, a primal-dual interior point method with a sparse factorisation, on one thread.
pub(crate) struct InteriorPoint;

/// What is nearer to a bound than this share of its box is on it: an interior point is never there exactly.
const ON_BOUND: f64 = 1e-6;

impl ChunkSolver for InteriorPoint {
    fn solve(&self, chunk: &mut Chunk, _: f64, more: &mut dyn FnMut() -> bool) {
        if !more() {
            return;
        }
        let m = chunk.len();
        let q = chunk.linear();
        let sum: f64 = chunk.beta().iter().sum();
        let upper_triangle = (0..m).flat_map(|j| chunk.row(j)[..=j].iter().copied()).collect();
        let starts = (0..=m).map(|j| j * (j + 1) / 2).collect();
        let p = CscMatrix::new(m, m, starts, (0..m).flat_map(|j| 0..=j).collect(), upper_triangle);
        // Row 0: the balance. Rows 1 … m: β ≤ high. Rows m + 1 … 2m: −β ≤ −low.
        let rows = (0..m).flat_map(|j| [0, 1 + j, 1 + m + j]).collect();
        let a = CscMatrix::new(2 * m + 1, m, (0..=m).map(|j| 3 * j).collect(), rows, [1.0, 1.0, -1.0].repeat(m));
        let mut b = vec![sum];
        b.extend(chunk.high());
        b.extend(chunk.low().iter().map(|low| -low));
        let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(2 * m)];
        let settings = DefaultSettings { verbose: false, max_threads: 1, ..DefaultSettings::default() };
        let Ok(mut solver) = DefaultSolver::new(&p, &q, &a, &b, &cones, settings) else { return };
        solver.solve();
        let mut beta = solver.solution.x.clone();
        if beta.iter().any(|b| !b.is_finite()) {
            return;
        }
        for (k, b) in beta.iter_mut().enumerate() {
            let (low, high) = (chunk.low()[k], chunk.high()[k]);
            let near = ON_BOUND * (high - low);
            *b = if *b <= low + near {
                low
            } else if *b >= high - near {
                high
            } else {
                *b
            };
        }
        chunk.set(&beta);
    }
}
