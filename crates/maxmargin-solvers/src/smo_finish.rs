//! SMO with an active-set finish and a hand-over to working sets.
//!
//! 1. Merge rows that are equal and have one sign into one variable (`MergedRows`).
//! 2. Run SMO to the tolerance, or to 10⁻³ where the tolerance is below 10⁻⁵.
//! 3. Finish: solve the dense system of the free samples until the tolerance holds.
//! 4. Where SMO spends its budget of pair steps or stalls: continue with weighted least squares on
//!    working sets from the point that SMO reached (problems with a sum for each sign: `TwoSums`).
//!    If the memory has no room for the free samples in one set, pair steps go on before.
//! 5. Where working sets stall after a run that was only slow: continue with pair steps.
//! 6. Give every row its share of the merged variable.

use crate::merged_rows::MergedRows;
use crate::two_sums::TwoSums;
use crate::working_sets::{by_exact_sets, by_working_sets, free_of, lacks_room, working_set_cost};
use maxmargin_core::warm::close;
use maxmargin_core::{
    Alternative, Dual, EqualityConstraint, Formulation, Goal, Refine, Refused, Rounding, Run, Solution, Solve, Solved,
    SolverControl, Start, Status, Stop, bias_of, exact_gradient,
};
use maxmargin_irwls::{FinishConfig, finish};
use maxmargin_kernel::Space;
use maxmargin_smo::{PairBudget, Smo, SmoError};
use std::time::Instant;

/// SMO; tolerances below 10⁻⁵ are reached by a finish on the free samples, where there is one sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoFinish {
    /// The options of SMO.
    pub smo: Smo,
    /// Hands a run that is slow or stalls over to weighted least squares on working sets
    /// ([`maxmargin_irwls::Irwls`]).
    pub hands_over: bool,
    /// Makes one variable of equal samples with the same sign.
    pub merge_equal_rows: bool,
}

/// The goal of SMO before a finish.
const FINISHED_FROM: Goal = Goal::Kkt(1e-3);
/// The KKT tolerance below which a finish pays.
const FINISHED_BELOW_KKT: f64 = 1e-5;
/// The relative gap below which a finish pays.
const FINISHED_BELOW_GAP: f64 = 1e-6;

/// A number of iterations that grows with the number of variables.
struct Iterations {
    constant: u64,
    per_variable: u64,
}

impl Iterations {
    fn of(&self, variables: usize) -> u64 {
        self.constant + self.per_variable * variables as u64
    }
}

/// Iterations of SMO after which a run counts as slow in any case. Trainings of scaled data take 1
/// to 10 for each variable.
const MOST: Iterations = Iterations { constant: 100_000, per_variable: 20 };
/// Iterations that every run may take.
const LEAST: Iterations = Iterations { constant: 2_000, per_variable: 2 };

/// `½ αᵀQα + linᵀα`.
fn objective(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    alpha.iter().zip(gradient).zip(dual.linear_term()).map(|((a, g), p)| 0.5 * a * (g + p)).sum()
}

/// The rounding of the gap at a point, relative to the objective; 0 where the goal has no gap.
fn lost_in_rounding(goal: Goal, dual: &Dual, space: Space, alpha: &[f64], gradient: &[f64]) -> f64 {
    if goal.gap().is_none() {
        return 0.0;
    }
    let objective = objective(dual, alpha, gradient);
    let rounding = Rounding::at(dual, space, alpha, bias_of(dual, alpha, gradient), gradient).gap;
    if rounding == 0.0 { 0.0 } else { rounding / objective.abs() }
}

/// Steps of working sets from a point whose objective is lost in rounding. From some points they
/// lead out of that (outliers that are support vectors for a while), from others they do not.
const FEW: u64 = 4_000;

/// Steps of working sets from any other point. Runs that converge take hundreds; where C is beyond
/// the precision, each step may gain a little for ever.
const MANY: u64 = 100_000;

/// The relative rounding at which the search for a price stops. Outliers alone do not cause it.
const HIDDEN: f64 = 1e6;

/// The share of a goal that rounding may take.
const NEGLIGIBLE: f64 = 0.01;

impl SmoFinish {
    fn with(self, budget: PairBudget) -> Self {
        Self { smo: Smo { pair_budget: Some(budget), ..self.smo }, ..self }
    }

    /// Runs SMO, and the finish for tight tolerances (steps 2 and 3).
    fn pairs(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (kkt, gap) = (run.stop.goal.kkt(), run.stop.goal.gap());
        let loose = kkt.is_none_or(|kkt| kkt >= FINISHED_BELOW_KKT) && gap.is_none_or(|gap| gap >= FINISHED_BELOW_GAP);
        // Pair steps over neighbours cost less than any dense system.
        let sparse = self.uses_neighbours() && space.rows().is_some_and(|rows| rows.gram().neighbours().is_some());
        if loose || sparse || !matches!(dual.balance(), EqualityConstraint::Sum(_)) {
            return self.smo.solve(dual, space, start, run);
        }
        let wanted = (run.stop, run.refine);
        run.refine = Refine::Exact;
        let solved = smo_and_finish(&self.smo, dual, space, start, run);
        (run.stop, run.refine) = wanted;
        solved
    }

    /// Continues with pair steps from the end of another run (steps 4 and 5). They factor no
    /// system, so that numbers which make one singular do not stop them.
    fn with_more_pairs(&self, before: &Solved, dual: &Dual, space: Space, run: &mut Run) -> Result<Option<Solved>, Refused> {
        let Ok(start) = Start::checked(dual, before.solution.alpha.clone()) else { return Ok(None) };
        let mut solved = self.pairs(dual, space, start, run)?;
        solved.solution.work += before.solution.work;
        Solved::add_counts(&mut solved.counts, &before.counts);
        Ok(Some(solved))
    }

    /// Runs SMO within its budget of pair steps, then working sets (steps 2 to 5).
    fn pairs_and_sets(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, stop) = (Instant::now(), run.stop);
        let most = MOST.of(dual.len());
        let budget = PairBudget { least: LEAST.of(dual.len()), most, variables: dual.len(), other: working_set_cost };
        let mut first = self.with(budget).pairs(dual, space, start, run)?;
        let is_slow = |solution: &Solution| {
            solution.status == Status::IterationLimit && stop.max_iter.is_none_or(|most| solution.work.iterations < most)
        };
        if is_slow(&first.solution) && lacks_room(dual, &first.solution.alpha, space) {
            run.stop = stop.left(begun, first.solution.work.iterations);
            let on = self.with_more_pairs(&first, dual, space, run);
            run.stop = stop;
            first = on?.unwrap_or(first);
        }
        let (work, slow) = (first.solution.work, is_slow(&first.solution));
        if !slow && first.solution.status != Status::Stalled {
            return Ok(first);
        }
        let lost = |alpha: &[f64], gradient: &[f64]| lost_in_rounding(stop.goal, dual, space, alpha, gradient);
        run.stop = stop.left(begun, work.iterations);
        let steps = if lost(&first.solution.alpha, &first.solution.gradient) >= 1.0 { FEW } else { MANY };
        let limited = limit(&mut run.stop, steps);
        let second = match TwoSums::new(dual) {
            Some(sums) => sums.solve(
                &first.solution,
                run,
                |alpha, gradient| lost(alpha, gradient) >= HIDDEN,
                |dual, start, run| Ok(by_working_sets(dual, space, start, run)?.solution),
            ),
            None => match Start::checked(dual, first.solution.alpha.clone()) {
                Ok(start) => by_working_sets(dual, space, start, run).map(Some),
                Err(_) => Ok(None),
            },
        };
        run.stop = stop;
        // Working sets that refuse the problem leave the point of SMO.
        let Ok(Some(mut second)) = second else {
            // The iteration limit was the budget of this run, not the caller's.
            first.solution.status = Status::Stalled;
            return Ok(first);
        };
        if limited && second.solution.status == Status::IterationLimit {
            // The iteration limit was not the caller's.
            second.solution.status = Status::Stalled;
        }
        second.solution.work += work;
        Solved::add_counts(&mut second.counts, &first.counts);
        second.counts.push(("handed_over_after", work.iterations));
        if slow && second.solution.status == Status::Stalled {
            run.stop = stop.left(begun, second.solution.work.iterations);
            let third = self.with(PairBudget { least: most, ..budget }).with_more_pairs(&second, dual, space, run);
            run.stop = stop;
            let converged = third?.filter(|third| third.solution.status == Status::Converged);
            return Ok(converged.unwrap_or(second));
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

    fn uses_neighbours(&self) -> bool {
        self.smo.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, stop) = (Instant::now(), run.stop);
        // Merging reads rows before SMO checks the problem.
        if let Some(rows) = space.rows().map(|rows| rows.gram().len())
            && let Some(row) = dual.missing_row(rows)
        {
            return Err(Refused::failed(self.name(), &SmoError::Row { row, rows }));
        }
        // Progress begins at the violation of a start from zero.
        let violation = 2.0 * dual.linear_term().first().map_or(0.0, |p| p.abs());
        let merged = match space.rows().filter(|_| self.merge_equal_rows) {
            Some(rows) => {
                SolverControl::new(rows, &run.stop, run.control).run(violation, |control| MergedRows::new(dual, rows, control))
            }
            None => Ok(None),
        };
        run.stop = stop.left(begun, 0);
        let solved = match merged {
            Ok(merged) => self.solve_merged(merged.as_ref(), dual, space, start, run),
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
    /// Solves the problem in merged variables, where there are any and the start is one of theirs,
    /// and gives every row its share (steps 1 and 6).
    fn solve_merged(
        &self,
        merged: Option<&MergedRows>,
        dual: &Dual,
        space: Space,
        start: Start,
        run: &mut Run,
    ) -> Result<Solved, Refused> {
        let Some((merged, start)) = merged.and_then(|merged| Some((merged, merged.start(&start)?))) else {
            return self.solve_variables(dual, space, start, run);
        };
        let mut solved = self.solve_variables(merged.dual(), Space::Kernel(merged.rows()), start, run)?;
        let apart = merged.split(dual, &solved.solution);
        // The certificate computes the gradient again where the shares moved it.
        solved.exact &= is_small(merged.gradient_error(&apart.alpha, &solved.solution.alpha), dual, &apart, run.stop.goal);
        solved.solution = apart;
        solved.exact &= !close(dual, &mut solved.solution.alpha);
        solved.counts.push(("joined_variables", merged.dual().len() as u64));
        Ok(solved)
    }

    fn solve_variables(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        // Working sets need bounded variables; those of the squared loss have no bound.
        let bounded = dual.upper().iter().all(|upper| upper.is_finite());
        match (bounded, self.hands_over) {
            (true, true) => self.pairs_and_sets(dual, space, start, run),
            (true, false) => self.pairs(dual, space, start, run),
            (false, _) => self.pairs_and_one_set(dual, space, start, run),
        }
    }

    /// Runs SMO, and where it stalls, continues with one set of exact values: without bounds,
    /// rounding in `f32` rows of more than the ridge leaves pair steps without a minimum. No result
    /// is worse than its start.
    fn pairs_and_one_set(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, stop) = (Instant::now(), run.stop);
        let before = start.alpha().to_vec();
        let first = self.pairs(dual, space, start, run)?;
        if first.solution.status != Status::Stalled {
            return Ok(first);
        }
        let rows = Refused::unless_rows(self.name(), space)?;
        // An objective below what a semidefinite matrix allows is that of a problem without a
        // minimum.
        let lowest = BEYOND * dual.lowest_objective();
        let worth = |alpha: &[f64], run: &Run| {
            let gradient = exact_gradient(dual, rows.gram(), alpha, run.par, run.control).ok()?;
            Some(objective(dual, alpha, &gradient)).filter(|objective| objective.is_finite() && *objective >= lowest)
        };
        let is_no_worse = |solution: &Solution, run: &Run| match (worth(&solution.alpha, run), worth(&before, run)) {
            (Some(after), Some(before)) => after <= before,
            (after, _) => after.is_some(),
        };
        let most = FinishConfig::fitting(rows.room()).min(MOST_IN_ONE_SET);
        let one_set = dual.len() <= most && matches!(dual.balance(), EqualityConstraint::Sum(_));
        let keeps = is_no_worse(&first.solution, run);
        let mut nearest = if keeps { first } else { Solved { solution: unsolved(&before), exact: false, ..first } };
        if one_set {
            let (work, counts) = (nearest.solution.work, std::mem::take(&mut nearest.counts));
            run.stop = stop.left(begun, work.iterations);
            let limited = limit(&mut run.stop, steps_of_one_set(dual.len()));
            let solved = by_exact_sets(dual, rows, nearest.solution.alpha.clone(), most, run);
            run.stop = stop;
            let mut solved = solved?;
            if limited && solved.solution.status == Status::IterationLimit {
                solved.solution.status = Status::Stalled;
            }
            if solved.solution.status == Status::Converged || is_no_worse(&solved.solution, run) {
                nearest = solved;
            } else {
                nearest.solution.work = std::mem::take(&mut solved.solution.work);
            }
            nearest.solution.work += work;
            Solved::add_counts(&mut nearest.counts, &counts);
        }
        Ok(nearest)
    }
}

/// The most variables of one set in the place of pair steps. A factorisation takes 5 s.
const MOST_IN_ONE_SET: usize = 8192;

/// Steps of one set of so many variables. Most cost much less than a factorisation; runs that
/// converge take some hundred.
fn steps_of_one_set(variables: usize) -> u64 {
    let factorisation = (variables as f64).powi(3) / 3.0;
    ((1e14 / factorisation) as u64).clamp(100, MANY)
}

/// Limits the iterations; returns true if the caller allows more.
fn limit(stop: &mut Stop, most: u64) -> bool {
    let limits = stop.max_iter.is_none_or(|limit| limit > most);
    if limits {
        stop.max_iter = Some(most);
    }
    limits
}

/// The solution of a run that has found none.
fn unsolved(start: &[f64]) -> Solution {
    Solution::without_gradient(start.to_vec(), Status::Stalled)
}

/// The factor of [`Dual::lowest_objective`] that rounding explains.
const BEYOND: f64 = 1.01;

/// Returns true if an error of the gradients of this size is negligible for the goal.
fn is_small(error: f64, dual: &Dual, solution: &Solution, goal: Goal) -> bool {
    let violation = goal.kkt().is_none_or(|kkt| 2.0 * error <= NEGLIGIBLE * kkt);
    let boxes: f64 = dual.upper().iter().sum();
    let objective = objective(dual, &solution.alpha, &solution.gradient).abs();
    violation && goal.gap().is_none_or(|gap| 2.0 * boxes * error <= NEGLIGIBLE * gap * objective)
}

/// Returns the refusal of a solution that cannot be finished: SMO alone reaches looser tolerances.
fn unfinished(solver: &'static str, error: &impl std::fmt::Display) -> Refused {
    Refused::failed(solver, error).instead(Alternative::Kkt(FINISHED_BELOW_KKT))
}

/// Runs SMO to 10⁻³ and finishes on the free samples (step 3). The tail of SMO takes as many
/// iterations as all before it; a few dense solves take its place, where they fit in memory.
fn smo_and_finish(smo: &Smo, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
    let (begun, stop) = (Instant::now(), run.stop);
    let rows = Refused::unless_rows(smo.name(), space)?;
    run.stop = Stop { goal: FINISHED_FROM, ..stop };
    let coarse = smo.solve(dual, space, start, run)?;
    if coarse.solution.status != Status::Converged {
        return Ok(coarse);
    }
    let most = FinishConfig::fitting(rows.room());
    let config = FinishConfig { exact_gradient: true, par: run.par, most };
    let mut nearest = coarse.solution;
    let mut work = nearest.work;
    let free = free_of(dual, &nearest.alpha);
    if free <= config.most {
        let left = stop.left(begun, work.iterations);
        let _reserved = rows.reserve(FinishConfig::bytes(most.min(dual.len())));
        let finished = finish(dual, rows.gram(), &nearest, &config, &left, run.control);
        let outcome = finished.map_err(|error| unfinished(smo.name(), &error))?;
        work += outcome.solution.work;
        nearest = Solution { work, ..outcome.solution };
        if nearest.status != Status::Stalled {
            let exact = nearest.status == Status::Converged;
            return Ok(Solved { solution: nearest, exact, counts: Vec::new() });
        }
    }
    // Too many samples are free, or the system is singular: pair steps continue.
    run.stop = stop.left(begun, work.iterations);
    let start = Start::checked(dual, nearest.alpha).or_else(|_| Start::zero(dual));
    let start = start.map_err(|error| unfinished(smo.name(), &error))?;
    let mut solved = smo.solve(dual, space, start, run)?;
    solved.solution.work += work;
    Ok(solved)
}
