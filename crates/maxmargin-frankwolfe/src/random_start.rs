//! The common start of the paper's algorithms: the smallest ball around a few random points.

use crate::config::{FrankWolfeError, StopRule};
use crate::methods::candidates::draw;
use crate::methods::core_set::{Aim, CoreSet};
use crate::methods::steps::Target;
use crate::point::iterate::Iterate;
use crate::solve::check;
use maxmargin_core::{Cancelled, Dual, RunControl, SolverControl, Start, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The number of points of the paper's start.
pub const POINTS: usize = 20;

/// Returns the exact solution of the problem of `points` random vertices (all, if there are fewer),
/// 0 elsewhere.
///
/// It is solved until the violation is at most 10⁻¹² of the largest `Q_kk`, or no pair descends.
///
/// # Errors
///
/// When these solvers do not take the problem, `points` is 0, or kernel values are not finite.
pub fn random_start(dual: &Dual, rows: &Rows, points: usize, seed: u64) -> Result<Start, FrankWolfeError> {
    check(dual, rows.gram().len())?;
    if points == 0 {
        return Err(FrankWolfeError::NoPoints { what: "the random start" });
    }
    let mut drawn = vec![];
    draw(&mut ChaCha8Rng::seed_from_u64(seed), dual.len(), points, &mut drawn);
    drawn.sort_unstable();
    let mut alpha = vec![0.0; dual.len()];
    drawn.iter().for_each(|&k| alpha[k] = 1.0 / drawn.len() as f64);
    // A few points take no time, so there is no check for cancellation.
    let begin = || {
        let control = RunControl::unlimited();
        let mut iterate = Iterate::new(dual, rows, Par::Seq, &alpha, None, false, &control)?;
        let core = CoreSet::new(&mut iterate, dual.ridge(), &control)?;
        Ok((iterate, core))
    };
    let Ok::<_, Cancelled>((iterate, mut core)) = begin() else {
        return Start::cold(dual).map_err(|_| FrankWolfeError::Kernel);
    };
    let largest = iterate.diagonal.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    let (stop, unlimited) = (Stop::at(0.0), RunControl::unlimited());
    let target = Target { rule: StopRule::Violation, tol: 1e-12 * largest, delta2: largest, ridge: dual.ridge() };
    let aim = Aim { target, tight: None, most: 100_000 };
    core.solve(aim, &mut SolverControl::new(rows, &stop, &unlimited), f64::INFINITY);
    let mut solved = vec![0.0; dual.len()];
    let mass: f64 = core.alpha.iter().sum();
    core.members.iter().zip(&core.alpha).for_each(|(&k, a)| solved[k] = a / mass);
    // Pairwise steps leave the simplex only through NaN.
    Start::checked(dual, solved).map_err(|_| FrankWolfeError::Kernel)
}
