//! Two classes: the machine of one hinge loss, whose solver does not slow down with C.
//!
//! At the optimum `w_1 = −w_2 = v / 2`, so that
//!
//! ```text
//! ½ Σ_m ‖w_m‖² + Σ_i C_i ξ_i  =  ½ (½ ‖v‖² + Σ_i 2 C_i max(0, 1 − s_i v·x_i))
//! α_i1 = −α_i2 = s_i a_i / 2
//! ```
//!
//! with `s_i = 1` for the first class and −1 for the second, and the dual variables `0 ≤ a_i ≤ 2
//! C_i` of the hinge loss.

use super::ClassesSolution;
use crate::config::{Config, LinearWork};
use crate::solve::{LinearError, solve};
use maxmargin_core::{
    CertifiedClasses, CrammerSinger, Dual, EqualityConstraint, RunControl, Start, Status, Stop, certify_crammer_singer,
};
use maxmargin_kernel::Matrix;
use std::time::Instant;

/// The times that a run goes on at half of the goal. Both certificates are of the same point, and
/// differ by rounding only.
const ROUNDS: u32 = 10;

/// Solves a problem of two classes; `None` if no row takes part.
pub(super) fn solve_two_classes(
    matrix: &Matrix,
    problem: &CrammerSinger,
    config: &Config,
    stop: &Stop,
    control: &RunControl,
) -> Option<Result<ClassesSolution, LinearError>> {
    let ids: Vec<usize> = (0..problem.len()).filter(|&i| problem.cost()[i] > 0.0).collect();
    let signs: Vec<f64> = ids.iter().map(|&i| if problem.class()[i] == 0 { 1.0 } else { -1.0 }).collect();
    let upper: Vec<f64> = ids.iter().map(|&i| 2.0 * problem.cost()[i]).collect();
    let linear_term = vec![-1.0; ids.len()];
    let dual = Dual::new(ids, signs, linear_term, upper, 0.0, EqualityConstraint::Free).ok()?;
    let mut start = Start::zero(&dual).ok()?;
    let (begun, mut aim, mut work) = (Instant::now(), stop.goal, LinearWork::default());
    let mut round = 0;
    loop {
        let left = Stop { goal: aim, ..stop.left(begun, work.steps + work.newton_steps) };
        let found = match solve(matrix, &dual, start, config, &left, control) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        work += found.work;
        let mut alpha = vec![0.0; 2 * problem.len()];
        for (k, &i) in dual.ids().iter().enumerate() {
            let half = 0.5 * dual.sign()[k] * found.solution.alpha[k];
            (alpha[2 * i], alpha[2 * i + 1]) = (half, -half);
        }
        let CertifiedClasses { weights, certificate } = certify_crammer_singer(problem, matrix, &alpha, config.par);
        let (met, converged) = (stop.goal.met(&certificate), found.solution.status == Status::Converged);
        round += 1;
        if met || !converged || round > ROUNDS {
            let status = if met {
                Status::Converged
            } else if converged {
                Status::Stalled
            } else {
                found.solution.status
            };
            return Some(Ok(ClassesSolution { weights, alpha, certificate, status, work }));
        }
        start = Start::checked(&dual, found.solution.alpha).expect("a solution is feasible");
        aim = aim.times(0.5);
    }
}
