//! The start that the paper's algorithms share: the smallest ball around a few random points.

use crate::candidates::draw;
use crate::config::{FrankWolfeError, Rule};
use crate::core_set::{Aim, CoreSet};
use crate::iterate::Iterate;
use crate::solve::check;
use crate::steps::Target;
use maxmargin_core::{Asking, Clock, Dual, Halted, Silent, Start, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The number of points that the paper starts from.
pub const POINTS: usize = 20;

/// The exact solution of the problem of `points` random vertices (all, if there are fewer), 0
/// elsewhere.
///
/// It is solved until the violation is at most 10⁻¹² of the largest `Q_kk`, or no pair descends.
///
/// # Errors
///
/// When the problem is none for these solvers, `points` is 0, or kernel values are not finite.
pub fn random_start(dual: &Dual, rows: &Rows, points: usize, seed: u64) -> Result<Start, FrankWolfeError> {
    check(dual)?;
    if points == 0 {
        return Err(FrankWolfeError::NoPoints { what: "the random start" });
    }
    let mut drawn = vec![];
    draw(&mut ChaCha8Rng::seed_from_u64(seed), dual.len(), points, &mut drawn);
    drawn.sort_unstable();
    let mut alpha = vec![0.0; dual.len()];
    drawn.iter().for_each(|&k| alpha[k] = 1.0 / drawn.len() as f64);
    // A few points: nobody calls it off.
    let begin = || {
        let asking = Asking::nobody();
        let mut iterate = Iterate::new(dual, rows, Par::Seq, &alpha, None, false, &asking)?;
        let core = CoreSet::new(&mut iterate, dual.ridge(), &asking)?;
        Ok((iterate, core))
    };
    let Ok::<_, Halted>((iterate, mut core)) = begin() else {
        return Start::cold(dual).map_err(|_| FrankWolfeError::Kernel);
    };
    let largest = iterate.diagonal.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    let (stop, mut silent) = (Stop::at(0.0), Silent);
    let target = Target { rule: Rule::Violation, tol: 1e-12 * largest, delta2: largest, ridge: dual.ridge() };
    let aim = Aim { target, tight: None, most: 100_000 };
    core.solve(aim, &mut Clock::new(rows, &stop, &mut silent), f64::INFINITY);
    let mut solved = vec![0.0; dual.len()];
    let mass: f64 = core.alpha.iter().sum();
    core.members.iter().zip(&core.alpha).for_each(|(&k, a)| solved[k] = a / mass);
    // Pairwise steps stay on the simplex unless they were led by what is no number.
    Start::checked(dual, solved).map_err(|_| FrankWolfeError::Kernel)
}
