//! The run: a start, steps, and convergence confirmed on exact kernel values.
//!
//! ```text
//!   1  α ← a point of the simplex;  g ← Qα
//!   2  repeat
//!   3    steps of the method until its rule holds by the solver's own g:
//!          fw, mfw, swap   steps.rs   (Frandi et al. 2013, algorithms 2, 3; Ñanculef et al. 2014)
//!          cvm             cvm.rs     (algorithm 1)
//!          pairwise        pairwise.rs
//!   4    g ← Qα from exact f64 kernel values
//!   5  until the rule holds by that g; otherwise lower the tolerance of 3
//! ```

use crate::config::{Evidence, FrankWolfeConfig, FrankWolfeError, FrankWolfeOutcome, StepMethod, Steps};
use crate::methods::candidates::Candidates;
use crate::methods::core_set::CoreSet;
use crate::methods::pairwise::{self, KernelSource, MOST};
use crate::methods::steps::Target;
use crate::methods::{cvm, steps};
use crate::point::iterate::Iterate;
use maxmargin_core::{Dual, EqualityConstraint, Refine, RunControl, Solution, SolverControl, Start, Status, Stop, Work};
use maxmargin_kernel::{RowReservation, Rows};

/// Steps aim a little below the tolerance, so that rounding in `f32` kernel rows rarely costs a
/// second round.
const AIM: f64 = 0.98;

/// The refinements without halving after which the run counts as stalled.
const IDLE_REFINEMENTS: u64 = 20;

/// Checks that these solvers take the problem over a matrix of so many rows.
pub(crate) fn check(dual: &Dual, rows: usize) -> Result<(), FrankWolfeError> {
    if dual.balance() != EqualityConstraint::Simplex {
        return Err(FrankWolfeError::EqualityConstraint(dual.balance()));
    }
    if let Some((variable, &value)) = dual.linear_term().iter().enumerate().find(|(_, p)| **p != 0.0) {
        return Err(FrankWolfeError::Linear { variable, value });
    }
    if let Some((variable, &value)) = dual.upper().iter().enumerate().find(|(_, u)| **u < 1.0) {
        return Err(FrankWolfeError::Upper { variable, value });
    }
    dual.missing_row(rows).map_or(Ok(()), |row| Err(FrankWolfeError::Row { row, rows }))
}

/// Checks that the start belongs to a problem of this size.
fn check_start(dual: &Dual, start: &Start) -> Result<(), FrankWolfeError> {
    let (found, expected) = (start.alpha().len(), dual.len());
    if found == expected { Ok(()) } else { Err(FrankWolfeError::Start { found, expected }) }
}

/// Members that every budget has room for, so that small problems are solved with the same bits for
/// any budget.
const FEWEST: usize = 128;

/// Returns the number of members whose matrix, while it grows, fits into a budget.
fn members(budget: u64) -> usize {
    (((budget / 8) as f64).sqrt() as usize).clamp(FEWEST, MOST)
}

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// `dual` has the constraint [`EqualityConstraint::Simplex`], no linear term and no upper bound
/// below 1, as [`crate::l2_svm()`] makes it. Every returned point is on the simplex. If the status
/// is [`Status::Converged`] on [`Evidence::FullScan`], the rule of `config` holds at the tolerance
/// of `stop.goal` for every vertex, with [`Refine::Exact`] by exact kernel values.
///
/// # Errors
///
/// When the problem is another one or names rows that the Gram matrix does not have, the start
/// belongs to a problem of another size, or a sample has no points.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &FrankWolfeConfig,
    stop: &Stop,
    control: &RunControl,
) -> Result<FrankWolfeOutcome, FrankWolfeError> {
    check(dual, rows.gram().len())?;
    check_start(dual, &start)?;
    let sampling = config.sampling.filter(|_| config.method != StepMethod::Pairwise);
    if sampling.is_some_and(|s| s.candidates == 0) {
        return Err(FrankWolfeError::NoPoints { what: "a sample" });
    }
    let full = sampling.is_none_or(|s| s.candidates >= dual.len());
    let mut control = SolverControl::new(rows, stop, control);
    let (iterate, core) = match begin(dual, rows, &start, config, full, &mut control) {
        Ok(begun) => begun,
        Err(status) => {
            return Ok(FrankWolfeOutcome::without_gradient(start.into_parts().0, Steps::default(), Work::default(), status));
        }
    };
    let delta2 = iterate.diagonal.iter().fold(f64::NEG_INFINITY, |m, d| m.max(*d));
    let target = Target { rule: config.rule, tol: AIM * stop.goal.tol(), delta2, ridge: dual.ridge() };
    let mut descent = Descent {
        dual,
        rows,
        iterate,
        core,
        candidates: Candidates::new(sampling),
        made: Steps::default(),
        method: config.method,
        reserved: None,
    };
    if let (StepMethod::Cvm, Some(core)) = (config.method, &mut descent.core) {
        core.most = members(rows.room());
    }
    let ending = descent.refine(target, config.refine, stop.goal.tol(), &mut control);
    Ok(descent.outcome(ending, config.method, &mut control))
}

/// The state of a run: the point, its working set and the method in use.
struct Descent<'a, 'g> {
    dual: &'a Dual,
    rows: &'a Rows<'g>,
    iterate: Iterate<'a, 'g>,
    core: Option<CoreSet>,
    candidates: Candidates,
    made: Steps,
    method: StepMethod,
    /// Memory for the matrix of pairwise steps that took over from core sets.
    reserved: Option<RowReservation<'a>>,
}

/// The end of the steps and refinements.
struct Ending {
    status: Status,
    evidence: Evidence,
    refinements: u64,
    /// The last exact gradient, if there was a refinement.
    exact: Option<Vec<f64>>,
    /// The measure after the last refinement.
    last: f64,
}

impl Descent<'_, '_> {
    /// Makes steps and refinements in turn (steps 2 to 5). `target` holds the first tolerance,
    /// `tol` the one to confirm.
    fn refine(&mut self, mut target: Target, refine: Refine, tol: f64, control: &mut SolverControl) -> Ending {
        let mut ending =
            Ending { status: Status::Stalled, evidence: Evidence::None, refinements: 0, exact: None, last: f64::INFINITY };
        loop {
            // 3: steps until the rule holds by the solver's own gradient.
            (ending.status, ending.evidence) = self.steps(target, ending.last, control);
            let given_up = matches!(ending.status, Status::Stalled | Status::Slow);
            let confirm = given_up || (ending.status, ending.evidence) == (Status::Converged, Evidence::FullScan);
            if refine != Refine::Exact || !confirm {
                return ending;
            }
            // 4: the exact gradient.
            self.iterate.normalise();
            let gradient = match control.exact_gradient(self.dual, self.rows.gram(), &self.iterate.alphas(), ending.last) {
                Ok(gradient) => gradient,
                Err(status) => return Ending { status, evidence: Evidence::None, ..ending },
            };
            self.iterate.refresh(&gradient);
            ending.exact = Some(gradient);
            ending.refinements += 1;
            // 5: the rule by the exact gradient.
            let furthest = self.iterate.furthest();
            let measure = target.at(&mut self.iterate, furthest);
            if target.holds(&mut self.iterate, furthest, tol) {
                return Ending { status: Status::Converged, evidence: Evidence::FullScan, ..ending };
            }
            // Rounds that do not halve the measure (or whose measure is NaN) have reached the
            // precision of f32 rows. If the steps stalled as well, one such round is enough.
            let halved = measure <= 0.5 * ending.last;
            if ending.status == Status::Slow || (!halved && (given_up || ending.refinements > IDLE_REFINEMENTS)) {
                let status = if given_up { ending.status } else { Status::Stalled };
                return Ending { status, evidence: Evidence::None, ..ending };
            }
            ending.last = measure;
            target.tol = (0.5 * tol).max(0.9 * target.tol);
        }
    }

    /// Makes steps of the method until its rule holds (step 3).
    fn steps(&mut self, target: Target, last: f64, control: &mut SolverControl) -> (Status, Evidence) {
        let Self { dual, rows, iterate, core, candidates, made, method, reserved } = self;
        if let (Some(set), StepMethod::Cvm) = (&mut *core, *method) {
            if let Some(ended) = cvm::run(target, iterate, rows, candidates, set, made, control) {
                return ended;
            }
            // The budget has no room for more members. Pairwise steps need fewer of them, and read
            // rows if necessary.
            *method = StepMethod::Pairwise;
            *core = Some(CoreSet::empty(dual.len(), dual.ridge()));
            *reserved = Some(rows.reserve(8 * (members(rows.room()) as u64).pow(2)));
            if let Err(status) = control.run(last, |control| iterate.complete(control)) {
                return (status, Evidence::None);
            }
        }
        match core {
            Some(core) => {
                let most = members(if reserved.is_some() { rows.room() } else { rows.budget() });
                pairwise::run(target, KernelSource { dual, rows, most }, iterate, core, made, control)
            }
            None => steps::run(*method, target, iterate, candidates, made, control),
        }
    }

    /// Returns the result: the last point with its gradient.
    fn outcome(self, ending: Ending, asked: StepMethod, control: &mut SolverControl) -> FrankWolfeOutcome {
        let Self { rows, mut iterate, core, made, reserved, .. } = self;
        let Ending { status, evidence, refinements, exact, last } = ending;
        // Report the peak memory of the matrix after its end: pairwise steps read rows only then.
        if asked == StepMethod::Pairwise {
            drop(core.as_ref().map(|core| rows.reserve(core.peak)));
        }
        drop(reserved);
        let completed = match status {
            Status::Converged | Status::Stalled | Status::Slow => control.run(last, |control| iterate.complete(control)),
            ended => control.run_final(|control| iterate.complete(control)).ok_or(ended),
        };
        iterate.normalise();
        let alpha = iterate.alphas();
        let (rows_requested, rows_computed) = (iterate.rows_requested, iterate.rows_computed);
        let work = Work { iterations: control.iterations, rows_requested, rows_computed, refinements };
        if let Err(status) = completed {
            return FrankWolfeOutcome::without_gradient(alpha, made, work, status);
        }
        let gradient = match exact {
            Some(exact) if matches!(status, Status::Converged | Status::Stalled | Status::Slow) => exact,
            _ => iterate.gradients(),
        };
        let gap = frank_wolfe_gap(&alpha, &gradient);
        let core_set = core.map_or(iterate.support.len(), |core| core.len());
        let solution = Solution { alpha, bias: 0.0, gradient, status, work, weights: None };
        FrankWolfeOutcome { solution, evidence, steps: made, core_set, gap }
    }
}

fn frank_wolfe_gap(alpha: &[f64], gradient: &[f64]) -> f64 {
    let least = gradient.iter().fold(f64::INFINITY, |m, g| m.min(*g));
    alpha.iter().zip(gradient).map(|(a, g)| a * g).sum::<f64>() - least
}

/// Returns the point of a start with its gradient, and the working set of the methods that have
/// one.
fn begin<'a, 'g>(
    dual: &'a Dual,
    rows: &'a Rows<'g>,
    start: &Start,
    config: &FrankWolfeConfig,
    full: bool,
    control: &mut SolverControl,
) -> Result<(Iterate<'a, 'g>, Option<CoreSet>), Status> {
    control.run(f64::INFINITY, |control| {
        let mut iterate = Iterate::new(dual, rows, config.par, start.alpha(), start.gradient(), full, control)?;
        let core = match config.method {
            StepMethod::Cvm => Some(CoreSet::new(&mut iterate, dual.ridge(), control)?),
            StepMethod::Pairwise => Some(CoreSet::empty(dual.len(), dual.ridge())),
            StepMethod::Fw | StepMethod::Mfw | StepMethod::Swap => None,
        };
        Ok((iterate, core))
    })
}
