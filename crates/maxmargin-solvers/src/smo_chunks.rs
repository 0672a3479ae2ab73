//! SMO as the inner solver of IRWLS's working sets. Neither of the two crates may import the other,
//! so that they meet in this crate.

use maxmargin_core::{Dual, EqualityConstraint, RunControl, Start, Stop};
use maxmargin_data::Par;
use maxmargin_irwls::{Chunk, ChunkSolver};
use maxmargin_kernel::{FnGram, Rows};
use maxmargin_smo::{Refine, SmoConfig, solve};

/// SMO inside [`maxmargin_irwls::solve`]: the decomposition with pair steps as its inner solver.
///
/// Kernel values of the chunk are read in `f32`. The rows have this precision anyway, except for
/// working sets of exact values.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoChunks;

impl ChunkSolver for SmoChunks {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut (dyn FnMut() -> bool + Send)) {
        if !more() {
            return;
        }
        let m = chunk.len();
        // A sample's sign is the side of 0 that its bounds are on.
        let sign: Vec<f64> = chunk.high().iter().map(|high| if *high > 0.0 { 1.0 } else { -1.0 }).collect();
        let linear = chunk.linear();
        let linear_term = linear.iter().zip(&sign).map(|(l, s)| l * s).collect();
        let upper = chunk.high().iter().zip(chunk.low()).map(|(high, low)| high - low).collect();
        let alpha: Vec<f64> = chunk.beta().iter().zip(&sign).map(|(b, s)| b * s).collect();
        let gradient = chunk.indicator().iter().zip(&sign).map(|(f, s)| f * s).collect();
        let sum = chunk.beta().iter().sum();
        let solved = {
            let gram = FnGram::new(m, |i, j| chunk.row(i)[j]);
            let rows = Rows::new(&gram, u64::MAX, Par::Seq);
            let Ok(dual) = Dual::new((0..m).collect(), sign.clone(), linear_term, upper, 0.0, EqualityConstraint::Sum(sum))
            else {
                return;
            };
            let Ok(start) = Start::checked(&dual, alpha) else { return };
            let config = SmoConfig { refine: Refine::Never, ..SmoConfig::default() };
            let stop = Stop { max_iter: Some(MOST), ..Stop::at(tol) };
            solve(&dual, &rows, start.with_gradient(gradient), &config, &stop, &RunControl::unlimited())
        };
        if let Ok(solution) = solved {
            let beta: Vec<f64> = solution.alpha.iter().zip(&sign).map(|(a, s)| a * s).collect();
            chunk.set(&beta);
        }
    }
}

/// The maximum number of pair steps on one working set, since the run checks its limits between
/// working sets only.
const MOST: u64 = 1_000_000;
