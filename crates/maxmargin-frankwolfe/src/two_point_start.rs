//! The simple start of the papers: a point and the one that is furthest from it.

use crate::config::FrankWolfeError;
use crate::methods::candidates::draw;
use crate::point::iterate::Iterate;
use crate::solve::check;
use maxmargin_core::{Dual, RunControl, Start};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Returns half of the mass on a random vertex and half on the one furthest from it, where
/// `‖z_a − z_b‖² = Q_aa + Q_bb − 2 Q_ab` (Frandi et al. 2013, section 3). It takes one kernel row.
///
/// Of several vertices at the largest distance the first one is taken. A single vertex has all of
/// the mass.
///
/// # Errors
///
/// When these solvers do not take the problem, or kernel values are not finite.
pub fn two_point_start(dual: &Dual, rows: &Rows, seed: u64) -> Result<Start, FrankWolfeError> {
    check(dual, rows.gram().len())?;
    let mut drawn = vec![];
    draw(&mut ChaCha8Rng::seed_from_u64(seed), dual.len(), 1, &mut drawn);
    let first = drawn[0];
    let mut alpha = vec![0.0; dual.len()];
    alpha[first] = 1.0;
    // One row takes no time, so there is no check for cancellation.
    let Ok(iterate) = Iterate::new(dual, rows, Par::Seq, &alpha, None, true, &RunControl::unlimited()) else {
        return Start::cold(dual).map_err(|_| FrankWolfeError::Kernel);
    };
    let distance = |k: usize| iterate.diagonal[k] - 2.0 * iterate.gradient(k);
    let others = (0..dual.len()).filter(|&k| k != first);
    if let Some(furthest) = others.reduce(|best, k| if distance(k) > distance(best) { k } else { best }) {
        (alpha[first], alpha[furthest]) = (0.5, 0.5);
    }
    Start::checked(dual, alpha).map_err(|_| FrankWolfeError::Kernel)
}
