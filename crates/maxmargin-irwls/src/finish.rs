//! The finish: a nearly converged solution of any solver taken to the precision of `f64`.

use crate::config::{IrwlsConfig, IrwlsError, Outcome};
use crate::solve::{Run, check};
use maxmargin_core::{Clock, Dual, Solution, Start, Status, Stop, Watch};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, Rows};

/// Choices of the finish.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// Samples of a working set, at most: 20 bytes times the square of this are held while a factor
    /// is made (3 GB for 12,288). Where the free samples are no more, they are solved together in a
    /// few dense systems; where they are more, random working sets of them one after the other,
    /// which converges slowly.
    pub most: usize,
    /// Whether the solution's gradient comes from exact kernel values, as that of our solvers does
    /// when they converged with refinement: it is then not computed again at the beginning. At the
    /// end it always is.
    pub exact_gradient: bool,
    /// Threads for exact kernel values. The result has the same bits for any.
    pub par: Par,
}

impl Default for Finish {
    fn default() -> Self {
        Self { most: 12_288, exact_gradient: false, par: Par::Seq }
    }
}

/// Bytes for each entry: of the matrix of the working set, of the one that is factored, and of the
/// factor.
const PER_ENTRY: u64 = 20;

/// Samples that every budget has room for: some hundred kilobytes, so that small problems are
/// solved with the same bits whatever it is.
const FEWEST: usize = 128;

impl Finish {
    /// Samples of a working set whose matrices fit into so many bytes, at most those of the
    /// default.
    pub fn fitting(bytes: u64) -> usize {
        ((bytes as f64 / PER_ENTRY as f64).sqrt() as usize).clamp(FEWEST, Self::default().most)
    }

    /// Bytes that the matrices of a working set of `m` samples take.
    pub fn bytes(m: usize) -> u64 {
        PER_ENTRY * (m * m) as u64
    }
}

/// Takes `solution`, say at a KKT violation of 10⁻³ to 10⁻⁶, to one that meets `stop.goal` by
/// damped active-set steps on its free samples, with exact kernel values throughout; 10⁻¹⁰ is
/// within reach where `‖α‖` times the kernel's largest value is below some 10⁵.
///
/// The gradient of a run that converged or stalled is computed afresh at the end: a certificate can
/// be made of it.
///
/// # Errors
///
/// When the problem's balance is not a single sum, α has another length than the problem, or `most`
/// is less than 2. An α that is not feasible is projected.
///
/// # Panics
///
/// When the problem names samples that the Gram matrix does not have.
pub fn finish(
    dual: &Dual,
    gram: &dyn Gram,
    solution: &Solution,
    finish: &Finish,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Outcome, IrwlsError> {
    check(dual, &solution.alpha, finish.most)?;
    // No row is ever asked for: the store is where the matrix and its threads come from.
    let rows = Rows::new(gram, 0, finish.par);
    let config = IrwlsConfig { working_set: finish.most, par: finish.par, ..IrwlsConfig::default() };
    let (alpha, trusted) = match Start::checked(dual, solution.alpha.clone()) {
        Ok(start) => (start.into_parts().0, finish.exact_gradient && solution.gradient.len() == dual.len()),
        Err(_) => match Start::project(dual, solution.alpha.clone()) {
            Ok(start) => (start.into_parts().0, false),
            Err(error) => return Err(IrwlsError::Infeasible(error)),
        },
    };
    let mut clock = Clock::new(&rows, stop, watch);
    let known = if trusted { Ok(solution.gradient.clone()) } else { clock.exact_gradient(dual, gram, &alpha, f64::INFINITY) };
    let gradient = match known {
        Ok(gradient) => gradient,
        Err(status) => return Ok(Outcome::without_gradient(alpha, status)),
    };
    let mut run = Run::new(dual, &rows, &config, alpha, &gradient, clock);
    Ok(match run.iterate_exactly(stop.goal.times(AIM)) {
        Status::Converged | Status::Stalled => run.exactly(stop.goal),
        status => run.outcome(status, None),
    })
}

/// The updates of the gradient carry rounding of their own: work towards a little less than the
/// fresh one has to show.
const AIM: f64 = 0.5;
