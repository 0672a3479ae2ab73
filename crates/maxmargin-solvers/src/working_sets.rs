//! Weighted least squares on working sets, from the point that SMO reached.

use maxmargin_core::{Dual, Refine, Refused, Run, Solution, Solve, Solved, Start, Status};
use maxmargin_irwls::{FinishConfig, Irwls, finish};
use maxmargin_kernel::{Rows, Space};
use maxmargin_smo::VariableCounts;

/// Newton steps that working sets take after a hand-over, in the cost model.
const STEPS: f64 = 12.0;
/// Operations of a factorisation in a nanosecond.
const FACTOR_RATE: f64 = 40.0;
/// Kernel values computed in a nanosecond.
const VALUE_RATE: f64 = 0.7;

/// Nanoseconds that working sets take ([`PairBudget::other`]): exact gradients of all support
/// vectors first, then systems of the free ones.
pub(crate) fn working_set_cost(of: VariableCounts) -> f64 {
    let (free, set, variables) = (of.free as f64, 1.25 * of.free as f64, of.all as f64);
    let values = of.support as f64 * variables + STEPS * 2.0 * set * set + 2.0 * set * variables;
    STEPS * free.powi(3) / 3.0 / FACTOR_RATE + values / VALUE_RATE
}

/// The largest working set after a hand-over: 3.6 GB ([`FinishConfig::bytes`]). Several small sets
/// in the place of one undo each other's work: on Adult at C = 512, γ = 1/32, where 6,060 samples
/// are free, 47 sets of 3,072 take 45 s and one set of 6,100 takes 2 s.
const MOST_TOGETHER: usize = 12_288;

/// The size of working sets after a hand-over: the free samples and a quarter more, so that nearly
/// all samples that move are solved together. SMO is slow on problems whose bounds are far away,
/// and there small working sets undo each other's work. Two sets must fit in memory: another fold
/// may need one at the same time.
fn working_set(dual: &Dual, alpha: &[f64], space: Space) -> usize {
    let free = free_of(dual, alpha);
    (free + free / 4).min(room(space)).clamp(Irwls::default().working_set, MOST_TOGETHER)
}

/// The number of variables between their bounds.
pub(crate) fn free_of(dual: &Dual, alpha: &[f64]) -> usize {
    alpha.iter().zip(dual.upper()).filter(|(alpha, upper)| **alpha > 0.0 && alpha < upper).count()
}

/// The largest working set that fits in memory twice.
pub(crate) fn room(space: Space) -> usize {
    space.rows().map_or(0, |rows| FinishConfig::fitting(rows.room() / 2))
}

/// Returns true if the free variables make one working set, but for the memory. Pair steps then
/// take less time than small sets: on Adult at C = 2048, γ = 1/32, in 1.5 GB, 25 s where sets of
/// a few thousand had not ended after 240.
pub(crate) fn lacks_room(dual: &Dual, alpha: &[f64], space: Space) -> bool {
    let free = free_of(dual, alpha);
    free <= MOST_TOGETHER && free > room(space)
}

/// Problems over at most so many rows are nearly one working set of exact values: rows in `f32`
/// first would gain nothing. Regression has two variables a row.
const AT_ONCE: usize = 2048;

/// Continues by working sets: of kernel rows in `f32` for many variables, of exact values for few.
pub(crate) fn by_working_sets(dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
    let rows = Refused::unless_rows("irwls", space)?;
    let most = (2 * AT_ONCE).min(FinishConfig::fitting(rows.room()));
    if rows.gram().len() > AT_ONCE.min(most) {
        let irwls = Irwls { working_set: working_set(dual, start.alpha(), space), ..Irwls::default() };
        // Use exact values: the certificate cannot correct rounding of `f32` rows afterwards.
        let refine = std::mem::replace(&mut run.refine, Refine::Exact);
        let solved = irwls.solve(dual, space, start, run);
        run.refine = refine;
        return solved;
    }
    by_exact_sets(dual, rows, start.into_parts().0, most, run)
}

/// Continues by working sets of exact values, of at most so many variables.
pub(crate) fn by_exact_sets(dual: &Dual, rows: &Rows, alpha: Vec<f64>, most: usize, run: &Run) -> Result<Solved, Refused> {
    let config = FinishConfig { exact_gradient: false, par: run.par, most };
    let solution = Solution::without_gradient(alpha, Status::Stalled);
    let _reserved = rows.reserve(FinishConfig::bytes(dual.len().min(most)));
    let outcome = finish(dual, rows.gram(), &solution, &config, &run.stop, run.control)
        .map_err(|error| Refused::failed("irwls", &error))?;
    let exact = outcome.solution.status == Status::Converged;
    let counts = vec![("working_sets", outcome.chunks), ("exact_working_sets", outcome.exact_chunks)];
    Ok(Solved { solution: outcome.solution, exact, counts })
}
