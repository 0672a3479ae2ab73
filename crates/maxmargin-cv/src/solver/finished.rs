//! SMO to any end: what its tail would take long for, an active-set finish does; what pairs do not
//! get done, working sets do.

use crate::solver::equal::Joined;
use crate::solver::two_sums::TwoSums;
use maxmargin_core::warm::close;
use maxmargin_core::{
    Clock, Dual, EqualityConstraint, Formulation, Goal, Refine, Refused, Rounding, Run, Solution, Solve, Solved, Start, Status,
    Stop, bias_of,
};
use maxmargin_irwls::{Finish, Irwls, finish};
use maxmargin_kernel::Space;
use maxmargin_smo::{PairBudget, Smo};
use std::time::Instant;

/// SMO; tolerances below 10⁻⁵ are reached by a finish on the free samples, where there is one sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoFinish {
    /// How SMO goes about it.
    pub smo: Smo,
    /// Whether a run that is slow or stalls goes on with weighted least squares on working sets
    /// ([`Irwls`]) from where it is.
    pub hands_over: bool,
    /// Whether equal samples of one sign are one variable.
    pub merge_equal_rows: bool,
}

/// Where the finish takes over, and the violation and the relative gap from which on it is worth
/// it.
const FINISHED_FROM: Goal = Goal::Kkt(1e-3);
const FINISHED_BELOW: (f64, f64) = (1e-5, 1e-6);

/// Iterations of SMO after which a run is slow in any case, so many and so many for each variable,
/// and those that every run gets. Trainings of scaled data take 1 to 10 for each.
const PATIENCE: (u64, u64) = (100_000, 20);
const LEAST: (u64, u64) = (2_000, 2);

/// What working sets take from where pairs leave off: so many Newton steps on all that is free, at
/// so many operations of a factor and so many values of a matrix a nanosecond.
const STEPS: f64 = 12.0;
const RATES: (f64, f64) = (40.0, 0.7);

/// Nanoseconds of the working sets of a problem with so many free variables of so many
/// ([`PairBudget::other`]).
fn of_sets(free: usize, variables: usize) -> f64 {
    let (free, set, variables) = (free as f64, 1.25 * free as f64, variables as f64);
    STEPS * (free.powi(3) / 3.0 / RATES.0 + 2.0 * set * set / RATES.1) + 2.0 * set * variables / RATES.1
}

/// Samples of a working set after a hand-over, at most: 3 GB ([`Finish::bytes`]). Several small
/// ones in the place of one undo each other's work: of Adult at C = 512, γ = 1/32, where 6,060 are
/// free, 47 of 3,072 take 45 s and one of 6,100 takes 2.
const MOST_TOGETHER: usize = 12_288;

/// Samples of working sets after a hand-over: what is free and a quarter more, so that nearly all
/// of what moves is solved together; problems that SMO is slow on have bounds far away, and small
/// working sets then undo each other's work. No more than fit twice: another fold may be at the
/// same.
fn working_set(dual: &Dual, alpha: &[f64], space: Space) -> usize {
    let free = alpha.iter().zip(dual.upper()).filter(|(alpha, upper)| **alpha > 0.0 && alpha < upper).count();
    let room = space.rows().map_or(0, |rows| Finish::fitting(rows.room() / 2));
    (free + free / 4).min(room).clamp(Irwls::default().working_set, MOST_TOGETHER)
}

/// Problems over so many rows are one working set of exact values, or nearly: nothing is won by
/// rows in `f32` first. Regression has two variables a row.
const AT_ONCE: usize = 2048;

/// `½ αᵀQα + linᵀα`.
fn objective(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    alpha.iter().zip(gradient).zip(dual.linear_term()).map(|((a, g), p)| 0.5 * a * (g + p)).sum()
}

/// What rounding makes of the gap of a point, relative to its objective, where a gap is asked for.
fn lost_in_rounding(goal: Goal, dual: &Dual, space: Space, alpha: &[f64], gradient: &[f64]) -> f64 {
    if goal.gap().is_none() {
        return 0.0;
    }
    let objective = objective(dual, alpha, gradient);
    let rounding = Rounding::at(dual, space, alpha, bias_of(dual, alpha, gradient), gradient).gap;
    if rounding == 0.0 { 0.0 } else { rounding / objective.abs() }
}

/// Steps of working sets from a point of whose objective nothing is known: from some the way leads
/// out of that (outliers that are support vectors for a while), from others none does.
const FEW: u64 = 4_000;

/// Prices are given up where rounding hides the objective by so much, as outliers alone do not.
const HIDDEN: f64 = 1e6;

/// The share of a goal that what is lost to rounding may take of it.
const NEGLIGIBLE: f64 = 0.01;

/// Goes on by working sets: of rows where there are many variables, of exact values where they are
/// few.
pub(super) fn sets(dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
    let rows = Refused::unless_rows("irwls", space)?;
    let most = (2 * AT_ONCE).min(Finish::fitting(rows.room()));
    if rows.gram().len() > AT_ONCE.min(most) {
        let irwls = Irwls { working_set: working_set(dual, start.alpha(), space), ..Irwls::default() };
        // Who judges later can do nothing about what `f32` cannot tell.
        let refine = std::mem::replace(&mut run.refine, Refine::Exact);
        let solved = irwls.solve(dual, space, start, run);
        run.refine = refine;
        return solved;
    }
    let config = Finish { exact_gradient: false, par: run.par, most };
    let solution = Solution::unjudged(start.into_parts().0, Status::Stalled);
    let _held = rows.reserve(Finish::bytes(dual.len().min(most)));
    let outcome = finish(dual, rows.gram(), &solution, &config, &run.stop, run.watch).map_err(|error| Refused {
        solver: "irwls",
        reason: error.to_string(),
        instead: "use the solver `smo`",
    })?;
    let exact = outcome.solution.status == Status::Converged;
    let counts = vec![("working_sets", outcome.chunks), ("exact_working_sets", outcome.exact_chunks)];
    Ok(Solved { solution: outcome.solution, exact, counts })
}

impl SmoFinish {
    fn with(self, patience: PairBudget) -> Self {
        Self { smo: Smo { patience: Some(patience), ..self.smo }, ..self }
    }

    /// SMO, and the finish for tolerances that want it.
    fn pairs(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (kkt, gap) = (run.stop.goal.kkt(), run.stop.goal.gap());
        let loose = kkt.is_none_or(|kkt| kkt >= FINISHED_BELOW.0) && gap.is_none_or(|gap| gap >= FINISHED_BELOW.1);
        if loose || !matches!(dual.balance(), EqualityConstraint::Sum(_)) {
            return self.smo.solve(dual, space, start, run);
        }
        let wanted = (run.stop, run.refine);
        run.refine = Refine::Exact;
        let solved = smo_and_finish(&self.smo, dual, space, start, run);
        (run.stop, run.refine) = wanted;
        solved
    }

    /// What pairs find that were left for their cost, where working sets stalled: numbers that are
    /// no system to be factored may be no trouble to them.
    fn after_sets(
        &self,
        sets: &Solved,
        patience: PairBudget,
        dual: &Dual,
        space: Space,
        run: &mut Run,
    ) -> Result<Option<Solved>, Refused> {
        let Ok(start) = Start::checked(dual, sets.solution.alpha.clone()) else { return Ok(None) };
        let mut solved = self.with(patience).pairs(dual, space, start, run)?;
        solved.solution.work += sets.solution.work;
        Solved::add_counts(&mut solved.counts, &sets.counts);
        Ok((solved.solution.status == Status::Converged).then_some(solved))
    }

    /// As long as pairs get on; then by working sets, from the point that they came to; where each
    /// sign has a sum, by problems with one.
    fn pairs_and_sets(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, stop) = (Instant::now(), run.stop);
        let of_all = |(most, each): (u64, u64)| most + each * dual.len() as u64;
        let (least, most) = (of_all(LEAST), of_all(PATIENCE));
        let patience = PairBudget { least, most, variables: dual.len(), other: of_sets };
        let first = self.with(patience).pairs(dual, space, start, run);
        let mut first = first?;
        let work = first.solution.work;
        let slow = first.solution.status == Status::IterationLimit && stop.max_iter.is_none_or(|most| work.iterations < most);
        if !slow && first.solution.status != Status::Stalled {
            return Ok(first);
        }
        let lost = |alpha: &[f64], gradient: &[f64]| lost_in_rounding(stop.goal, dual, space, alpha, gradient);
        run.stop = stop.left(begun, work.iterations);
        let few = run.stop.max_iter.is_none_or(|most| most > FEW) && lost(&first.solution.alpha, &first.solution.gradient) >= 1.0;
        if few {
            run.stop.max_iter = Some(FEW);
        }
        let second = match TwoSums::new(dual) {
            Some(sums) => sums.solve(
                &first.solution,
                run,
                |alpha, gradient| lost(alpha, gradient) >= HIDDEN,
                |dual, start, run| Ok(sets(dual, space, start, run)?.solution),
            ),
            None => match Start::checked(dual, first.solution.alpha.clone()) {
                Ok(start) => sets(dual, space, start, run).map(Some),
                Err(_) => Ok(None),
            },
        };
        run.stop = stop;
        // What working sets cannot take is as far as it was.
        let Ok(Some(mut second)) = second else {
            // The limit was ours.
            first.solution.status = Status::Stalled;
            return Ok(first);
        };
        if few && second.solution.status == Status::IterationLimit {
            // The limit was ours.
            second.solution.status = Status::Stalled;
        }
        second.solution.work += work;
        Solved::add_counts(&mut second.counts, &first.counts);
        second.counts.push(("handed_over_after", work.iterations));
        if slow && second.solution.status == Status::Stalled {
            run.stop = stop.left(begun, second.solution.work.iterations);
            let third = self.after_sets(&second, PairBudget { least: most, ..patience }, dual, space, run);
            run.stop = stop;
            return Ok(third?.unwrap_or(second));
        }
        Ok(second)
    }
}

impl Solve for SmoFinish {
    fn name(&self) -> &'static str {
        self.smo.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.smo.takes(formulation, features)
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, stop) = (Instant::now(), run.stop);
        // That of a start from zero: progress that is shown begins there.
        let violation = 2.0 * dual.linear_term().first().map_or(0.0, |p| p.abs());
        let joined = match space.rows().filter(|_| self.merge_equal_rows) {
            Some(rows) => Clock::new(rows, &run.stop, run.watch).asked(violation, |asking| Joined::new(dual, rows, asking)),
            None => Ok(None),
        };
        run.stop = stop.left(begun, 0);
        let solved = match joined {
            Ok(joined) => self.solve_apart(joined.as_ref(), dual, space, start, run),
            Err(status) => {
                let solution = Solution::not_begun(dual, start, status);
                Ok(Solved { solution, exact: false, counts: Vec::new() })
            }
        };
        run.stop = stop;
        solved
    }
}

impl SmoFinish {
    /// The problem in joined variables, if there are any and the start is one of theirs, and every
    /// copy's share of what was found.
    fn solve_apart(
        &self,
        joined: Option<&Joined>,
        dual: &Dual,
        space: Space,
        start: Start,
        run: &mut Run,
    ) -> Result<Solved, Refused> {
        let Some((joined, start)) = joined.and_then(|joined| Some((joined, joined.start(&start)?))) else {
            return self.solve_joined(dual, space, start, run);
        };
        let mut solved = self.solve_joined(&joined.dual, Space::Kernel(joined.rows()), start, run)?;
        let apart = joined.apart(dual, &solved.solution);
        // The certificate computes the gradient again where the shares moved it.
        solved.exact &= is_small(joined.astray(&apart.alpha, &solved.solution.alpha), dual, &apart, run.stop.goal);
        solved.solution = apart;
        solved.exact &= !close(dual, &mut solved.solution.alpha);
        solved.counts.push(("joined_variables", joined.dual.len() as u64));
        Ok(solved)
    }

    fn solve_joined(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        // Working sets are of bounded variables: those of the squared loss have no bound.
        let bounded = dual.upper().iter().all(|upper| upper.is_finite());
        if self.hands_over && bounded {
            self.pairs_and_sets(dual, space, start, run)
        } else {
            self.pairs(dual, space, start, run)
        }
    }
}

/// Whether gradients that are off by so much matter little to what is asked for.
fn is_small(astray: f64, dual: &Dual, solution: &Solution, goal: Goal) -> bool {
    let violation = goal.kkt().is_none_or(|kkt| 2.0 * astray <= NEGLIGIBLE * kkt);
    let boxes: f64 = dual.upper().iter().sum();
    let objective = objective(dual, &solution.alpha, &solution.gradient).abs();
    violation && goal.gap().is_none_or(|gap| 2.0 * boxes * astray <= NEGLIGIBLE * gap * objective)
}

/// The tail of SMO takes as many iterations again as all before it; a few dense solves on the free
/// samples take its place, where they fit.
fn smo_and_finish(smo: &Smo, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
    let (begun, stop) = (Instant::now(), run.stop);
    let rows = Refused::unless_rows(smo.name(), space)?;
    run.stop = Stop { goal: FINISHED_FROM, ..stop };
    let coarse = smo.solve(dual, space, start, run)?;
    if coarse.solution.status != Status::Converged {
        return Ok(coarse);
    }
    let most = Finish::fitting(rows.room());
    let config = Finish { exact_gradient: true, par: run.par, most };
    let mut nearest = coarse.solution;
    let mut work = nearest.work;
    let free = nearest.alpha.iter().zip(dual.upper()).filter(|(a, u)| **a > 0.0 && a < u).count();
    if free <= config.most {
        let left = stop.left(begun, work.iterations);
        let _held = rows.reserve(Finish::bytes(most.min(dual.len())));
        let finished = finish(dual, rows.gram(), &nearest, &config, &left, run.watch);
        let outcome = finished.map_err(|error| Refused {
            solver: smo.name(),
            reason: error.to_string(),
            instead: "ask for a tolerance of 1e-5",
        })?;
        work += outcome.solution.work;
        nearest = Solution { work, ..outcome.solution };
        if nearest.status != Status::Stalled {
            let exact = nearest.status == Status::Converged;
            return Ok(Solved { solution: nearest, exact, counts: Vec::new() });
        }
    }
    // Too many free samples, or a system that is singular: pair steps go on from here.
    run.stop = stop.left(begun, work.iterations);
    let start = Start::checked(dual, nearest.alpha).or_else(|_| Start::zero(dual));
    let start = start.map_err(|error| Refused {
        solver: smo.name(),
        reason: error.to_string(),
        instead: "ask for a tolerance of 1e-5",
    })?;
    let mut solved = smo.solve(dual, space, start, run)?;
    solved.solution.work += work;
    Ok(solved)
}
