//! The run: a start, steps, and convergence confirmed on exact kernel values.

use crate::candidates::Candidates;
use crate::config::{Evidence, FrankWolfeConfig, FrankWolfeError, Method, Outcome, Steps};
use crate::core_set::CoreSet;
use crate::iterate::Iterate;
use crate::pairwise::{self, MOST, Source};
use crate::steps::Target;
use crate::{cvm, steps};
use maxmargin_core::{Clock, Dual, EqualityConstraint, Refine, Solution, Start, Status, Stop, Watch, Work};
use maxmargin_kernel::Rows;

/// Steps aim a little below the tolerance, so that rounding in `f32` kernel rows rarely costs a
/// second round.
const AIM: f64 = 0.98;

/// Refinements that come no nearer before the run counts as stalled.
const PATIENCE: u64 = 20;

/// Whether the problem is one that these solvers take.
pub(crate) fn check(dual: &Dual) -> Result<(), FrankWolfeError> {
    if dual.balance() != EqualityConstraint::Simplex {
        return Err(FrankWolfeError::EqualityConstraint(dual.balance()));
    }
    if let Some((variable, &value)) = dual.linear_term().iter().enumerate().find(|(_, p)| **p != 0.0) {
        return Err(FrankWolfeError::Linear { variable, value });
    }
    if let Some((variable, &value)) = dual.upper().iter().enumerate().find(|(_, u)| **u < 1.0) {
        return Err(FrankWolfeError::Upper { variable, value });
    }
    Ok(())
}

/// Whether the start is one of a problem of this size.
fn check_start(dual: &Dual, start: &Start) -> Result<(), FrankWolfeError> {
    let (found, expected) = (start.alpha().len(), dual.len());
    if found == expected { Ok(()) } else { Err(FrankWolfeError::Start { found, expected }) }
}

/// Members that every budget has room for: small problems are solved with the same bits whatever it
/// is.
const FEWEST: usize = 128;

/// Members whose matrix, while it grows, fits into a budget.
fn members(budget: u64) -> usize {
    (((budget / 8) as f64).sqrt() as usize).clamp(FEWEST, MOST)
}

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// `dual` has the balance [`EqualityConstraint::Simplex`], no linear term and no upper bound below
/// 1, as [`crate::l2_svm`] makes it. Every returned point is on the simplex. When the status is
/// [`Status::Converged`] on [`Evidence::FullScan`], the rule of `config` holds at the number of
/// `stop.goal` for every vertex, with [`Refine::Exact`] for exact kernel values.
///
/// # Errors
///
/// When the problem is another one, the start belongs to a problem of another size, or a sample has
/// no points.
///
/// # Panics
///
/// When the problem names samples that the Gram matrix does not have.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &FrankWolfeConfig,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Outcome, FrankWolfeError> {
    check(dual)?;
    check_start(dual, &start)?;
    let sampling = config.sampling.filter(|_| config.method != Method::Pairwise);
    if sampling.is_some_and(|s| s.candidates == 0) {
        return Err(FrankWolfeError::NoPoints { what: "a sample" });
    }
    let full = sampling.is_none_or(|s| s.candidates >= dual.len());
    let mut clock = Clock::new(rows, stop, watch);
    let (mut iterate, mut core) = match begin(dual, rows, &start, config, full, &mut clock) {
        Ok(begun) => begun,
        Err(status) => return Ok(Outcome::unjudged(start.into_parts().0, Steps::default(), Work::default(), status)),
    };
    let delta2 = iterate.diagonal.iter().fold(f64::NEG_INFINITY, |m, d| m.max(*d));
    let mut candidates = Candidates::new(sampling);
    let mut made = Steps::default();
    let mut refinements = 0;
    let (mut aim, mut last) = (AIM * stop.goal.tol(), f64::INFINITY);
    let mut exact = None;
    let mut method = config.method;
    if let (Method::Cvm, Some(core)) = (method, &mut core) {
        core.most = members(rows.room());
    }
    let mut held = None;
    let (status, evidence) = loop {
        let target = Target { rule: config.rule, tol: aim, delta2, ridge: dual.ridge() };
        let (status, evidence) = match &mut core {
            Some(core) if method == Method::Pairwise => {
                let most = members(if held.is_some() { rows.room() } else { rows.budget() });
                let source = Source { dual, rows, most };
                pairwise::run(target, source, &mut iterate, core, &mut made, &mut clock)
            }
            Some(set) => {
                let ended = cvm::run(target, (&mut iterate, rows), &mut candidates, set, &mut made, &mut clock);
                if let Some(ended) = ended {
                    ended
                } else {
                    // The budget has no room for more members: pairwise steps do with fewer, and
                    // with rows where they must.
                    method = Method::Pairwise;
                    core = Some(CoreSet::empty(dual.len(), dual.ridge()));
                    held = Some(rows.reserve(8 * (members(rows.room()) as u64).pow(2)));
                    match clock.asked(last, |asking| iterate.complete(asking)) {
                        Ok(()) => continue,
                        Err(status) => (status, Evidence::None),
                    }
                }
            }
            None => steps::run(config.method, target, &mut iterate, &mut candidates, &mut made, &mut clock),
        };
        let given_up = matches!(status, Status::Stalled | Status::Slow);
        let refine = given_up || (status, evidence) == (Status::Converged, Evidence::FullScan);
        if config.refine == Refine::Never || !refine {
            break (status, evidence);
        }
        iterate.normalise();
        let gradient = match clock.exact_gradient(dual, rows.gram(), &iterate.alphas(), last) {
            Ok(gradient) => gradient,
            Err(status) => break (status, Evidence::None),
        };
        iterate.refresh(&gradient);
        exact = Some(gradient);
        refinements += 1;
        let furthest = iterate.furthest();
        let measure = target.at(&mut iterate, furthest);
        if target.holds(&mut iterate, furthest, stop.goal.tol()) {
            break (Status::Converged, Evidence::FullScan);
        }
        // Rounds that do not halve the measure (or have none that is a number) are at the floor of
        // f32 rows, at once where the steps stalled as well.
        let halved = measure <= 0.5 * last;
        if status == Status::Slow || (!halved && (given_up || refinements > PATIENCE)) {
            break (if given_up { status } else { Status::Stalled }, Evidence::None);
        }
        last = measure;
        aim = (0.5 * stop.goal.tol()).max(0.9 * aim);
    };
    // What was held is told afterwards: pairwise steps read rows only when the matrix is gone.
    if config.method == Method::Pairwise {
        drop(core.as_ref().map(|core| rows.reserve(core.peak)));
    }
    drop(held);
    let completed = match status {
        Status::Converged | Status::Stalled | Status::Slow => clock.asked(last, |asking| iterate.complete(asking)),
        ended => clock.last_words(|asking| iterate.complete(asking)).ok_or(ended),
    };
    iterate.normalise();
    let alpha = iterate.alphas();
    let work = Work {
        iterations: clock.iterations,
        rows_requested: iterate.rows_requested,
        rows_computed: iterate.rows_computed,
        refinements,
    };
    if let Err(status) = completed {
        return Ok(Outcome::unjudged(alpha, made, work, status));
    }
    let gradient = match exact {
        Some(exact) if matches!(status, Status::Converged | Status::Stalled | Status::Slow) => exact,
        _ => iterate.gradients(),
    };
    let gap = frank_wolfe_gap(&alpha, &gradient);
    let core_set = core.map_or(iterate.support.len(), |core| core.len());
    let solution = Solution { alpha, bias: 0.0, gradient, status, work };
    Ok(Outcome { solution, evidence, steps: made, core_set, gap })
}

fn frank_wolfe_gap(alpha: &[f64], gradient: &[f64]) -> f64 {
    let least = gradient.iter().fold(f64::INFINITY, |m, g| m.min(*g));
    alpha.iter().zip(gradient).map(|(a, g)| a * g).sum::<f64>() - least
}

/// The point of a start with its gradient, and the working set of the methods that have one.
fn begin<'a, 'g>(
    dual: &'a Dual,
    rows: &'a Rows<'g>,
    start: &Start,
    config: &FrankWolfeConfig,
    full: bool,
    clock: &mut Clock,
) -> Result<(Iterate<'a, 'g>, Option<CoreSet>), Status> {
    clock.asked(f64::INFINITY, |asking| {
        let mut iterate = Iterate::new(dual, rows, config.par, start.alpha(), start.gradient(), full, asking)?;
        let core = match config.method {
            Method::Cvm => Some(CoreSet::new(&mut iterate, dual.ridge(), asking)?),
            Method::Pairwise => Some(CoreSet::empty(dual.len(), dual.ridge())),
            Method::Fw | Method::Mfw | Method::Swap => None,
        };
        Ok((iterate, core))
    })
}
