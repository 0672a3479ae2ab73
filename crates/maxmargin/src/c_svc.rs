//! One C-SVC over kernel rows, by the solver of choice, to any tolerance.

use crate::svm::SvmError;
use maxmargin_core::{Certificate, Dual, Solution, Start, Status, Stop, Watch};
use maxmargin_data::Par;
use maxmargin_irwls::{Finish, IrwlsConfig, finish};
use maxmargin_kernel::Rows;

/// Who solves a C-SVC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CSvcSolver {
    /// Sequential minimal optimisation; tolerances below 10⁻⁵ are reached by an active-set finish.
    #[default]
    Smo,
    /// Weighted least squares on working sets.
    Irwls {
        /// Seed of random working sets.
        seed: u64,
    },
}

/// Where the finish takes over, and the tolerance from which on it is worth it.
const FINISHED_FROM: f64 = 1e-3;
const FINISHED_BELOW: f64 = 1e-5;

/// Solves `dual` from `start` until its exact certificate meets `stop.tol`, if it can.
///
/// # Errors
///
/// When the problem has another constraint than one balance of sums, or the start belongs to another problem.
pub fn solve_c_svc(
    solver: CSvcSolver,
    dual: &Dual,
    rows: &Rows,
    start: Start,
    par: Par,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<(Solution, Certificate), SvmError> {
    match solver {
        CSvcSolver::Irwls { seed } => {
            let config = IrwlsConfig { seed, par, ..IrwlsConfig::default() };
            let (outcome, certificate) = maxmargin_irwls::solve_certified(dual, rows, start, &config, stop, watch)?;
            Ok((outcome.solution, certificate))
        }
        CSvcSolver::Smo if stop.tol >= FINISHED_BELOW => Ok(maxmargin_smo::solve_certified(dual, rows, start, par, stop, watch)?),
        CSvcSolver::Smo => smo_and_finish(dual, rows, start, par, stop, watch),
    }
}

/// The tail of SMO takes as many iterations again as all before it; a few dense solves on the free samples take its place, where they fit.
fn smo_and_finish(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    par: Par,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<(Solution, Certificate), SvmError> {
    let begun = std::time::Instant::now();
    let coarse = Stop { tol: FINISHED_FROM, ..*stop };
    let (solution, certificate) = maxmargin_smo::solve_certified(dual, rows, start, par, &coarse, watch)?;
    let config = Finish { exact_gradient: true, par, ..Finish::default() };
    let free = solution.alpha.iter().zip(dual.upper()).filter(|(a, u)| **a > 0.0 && a < u).count();
    if solution.status != Status::Converged {
        return Ok((solution, certificate));
    }
    let left = |work: u64| Stop {
        max_time: stop.max_time.map(|most| most.saturating_sub(begun.elapsed())),
        max_iter: stop.max_iter.map(|most| most.saturating_sub(work)),
        ..*stop
    };
    let before = solution.work;
    let mut nearest = solution;
    if free <= config.most {
        let (outcome, certificate) = finish(dual, rows.gram(), &nearest, &config, &left(before.iterations), watch)?;
        let mut work = before;
        work += outcome.solution.work;
        nearest = Solution { work, ..outcome.solution };
        if nearest.status != Status::Stalled {
            return Ok((nearest, certificate));
        }
    }
    // Too many free samples, or a system that is singular: pair steps go on from here.
    let work = nearest.work;
    let start = Start::checked(dual, nearest.alpha).or_else(|_| Start::zero(dual))?;
    let (mut solution, certificate) = maxmargin_smo::solve_certified(dual, rows, start, par, &left(work.iterations), watch)?;
    solution.work += work;
    Ok((solution, certificate))
}
