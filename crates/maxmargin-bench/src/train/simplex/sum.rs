//! SMO on the problem of the solvers on the simplex.

use maxmargin::core::{Alternative, Dual, EqualityConstraint, Goal, Refused, Run, Solution, Start, Status, Stop};
use maxmargin::frankwolfe::{Evidence, FrankWolfeOutcome, Steps, StopRule};
use maxmargin::kernel::{FnGram, Rows};
use maxmargin::smo::{SmoConfig, solve};
use std::fmt::Display;

/// Minimises `½ αᵀQα` over the simplex from `start`.
///
/// SMO's labels are part of its constraint. The constraint here has none, so that labels are inside
/// the kernel and all signs are 1. All kernel values are kept in `f64`, which is meant for some
/// thousand samples.
pub(super) fn smo(
    simplex: &Dual,
    rows: &Rows,
    start: &Start,
    rule: StopRule,
    run: &mut Run,
) -> Result<FrankWolfeOutcome, Refused> {
    let refused = |error: &dyn Display| Refused::failed("smo", &error).instead(Alternative::Solver("pairwise"));
    let tol = run.stop.goal.tol();
    let goal = match rule {
        StopRule::RelativeGap => Goal::Gap(tol),
        StopRule::Violation => Goal::Kkt(tol),
        StopRule::Radius => return Err(refused(&"it knows no radius")),
    };
    let stop = Stop { goal, ..run.stop };
    let (n, ids, sign) = (simplex.len(), simplex.ids(), simplex.sign());
    let all = rows.gram().len();
    let mut values = vec![0.0; n * all];
    rows.gram().fill_exact(ids, 0..all, &mut values);
    let signed = FnGram::new(n, |k, l| sign[k] * sign[l] * values[k * all + ids[l]]);
    let rows = Rows::new(&signed, u64::MAX, run.par);
    let (zeros, upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
    let dual = Dual::new((0..n).collect(), vec![1.0; n], zeros, upper, simplex.ridge(), EqualityConstraint::Sum(1.0));
    let dual = dual.map_err(|error| refused(&error))?;
    let start = Start::checked(&dual, start.alpha().to_vec()).map_err(|error| refused(&error))?;
    let config = SmoConfig { par: run.par, ..SmoConfig::default() };
    let found = solve(&dual, &rows, start, &config, &stop, run.control).map_err(|error| refused(&error))?;
    let least = found.gradient.iter().fold(f64::INFINITY, |least, g| least.min(*g));
    let gap = found.alpha.iter().zip(&found.gradient).map(|(a, g)| a * g).sum::<f64>() - least;
    let core_set = found.alpha.iter().filter(|a| **a > 0.0).count();
    let steps = Steps { swap: found.work.iterations, ..Steps::default() };
    // SMO confirms convergence on exact values. After a limit the caller computes the gradient.
    let evidence = if found.status == Status::Converged { Evidence::FullScan } else { Evidence::None };
    Ok(FrankWolfeOutcome { solution: Solution { bias: 0.0, ..found }, evidence, steps, core_set, gap })
}
