//! The finish: takes a nearly converged solution of any solver to the precision of `f64`.

use crate::config::{FinishConfig, IrwlsConfig, IrwlsError, IrwlsOutcome};
use crate::solve::{Run, check};
use maxmargin_core::{Dual, RunControl, Solution, SolverControl, Start, Status, Stop};
use maxmargin_kernel::{Gram, Rows};

/// Takes `solution`, for example with a KKT violation of 10⁻³ to 10⁻⁶, to one that meets
/// `stop.goal`. It makes damped active-set steps on the free samples, with exact kernel values
/// throughout. A violation of 10⁻¹⁰ is possible if `‖α‖` times the kernel's largest value is below
/// about 10⁵.
///
/// The gradient of a run that converged or stalled is recomputed at the end, so that a certificate
/// can use it.
///
/// # Errors
///
/// When the constraint is not a single sum, α has another length than the problem, `most` is less
/// than 2, or the problem names rows that the Gram matrix does not have. An α that is not feasible
/// is projected.
pub fn finish(
    dual: &Dual,
    gram: &dyn Gram,
    solution: &Solution,
    finish: &FinishConfig,
    stop: &Stop,
    control: &RunControl,
) -> Result<IrwlsOutcome, IrwlsError> {
    check(dual, &solution.alpha, finish.most, gram.len())?;
    // No row is requested: the store only provides the matrix and its threads.
    let rows = Rows::new(gram, 0, finish.par);
    let config = IrwlsConfig { working_set: finish.most, par: finish.par, ..IrwlsConfig::default() };
    let (alpha, trusted) = match Start::checked(dual, solution.alpha.clone()) {
        Ok(start) => (start.into_parts().0, finish.exact_gradient && solution.gradient.len() == dual.len()),
        Err(_) => match Start::project(dual, solution.alpha.clone()) {
            Ok(start) => (start.into_parts().0, false),
            Err(error) => return Err(IrwlsError::Infeasible(error)),
        },
    };
    let mut control = SolverControl::new(&rows, stop, control);
    let known = if trusted { Ok(solution.gradient.clone()) } else { control.exact_gradient(dual, gram, &alpha, f64::INFINITY) };
    let gradient = match known {
        Ok(gradient) => gradient,
        Err(status) => return Ok(IrwlsOutcome::without_gradient(alpha, status)),
    };
    let mut run = Run::new(dual, &rows, &config, alpha, &gradient, control);
    Ok(match run.iterate_exactly(stop.goal.times(AIM)) {
        Status::Converged | Status::Stalled => run.exactly(stop.goal),
        status => run.outcome(status, None),
    })
}

/// Updates of the gradient accumulate rounding, so aim below the violation that the recomputed
/// gradient must show.
const AIM: f64 = 0.5;
