//! Problems with a sum for each sign by problems with one sum: what a sample more in both sums
//! costs is searched for.
//!
//! With a price `ρ` for `Σ α` the sums `Σ_{s=+1} α = p` and `Σ_{s=−1} α = m` become one, `Σ s α = p
//! − m`: of ν-SVC that is a C-SVC with the margin ρ, of ν-SVR an ε-SVR with the width −ρ. The total
//! that a price leads to grows with it, and is piecewise linear. Between two prices whose totals
//! lie on either side of `p + m` the solutions are mixed: the mixture has both sums, its gradient
//! is the mixture of theirs, and the certificate judges it.

use maxmargin_core::{
    Dual, EqualityConstraint, Goal, Refused, Run, Solution, Solved, Start, Status, Work, bias_of, figures, thresholds_of,
};
use std::time::Instant;

/// Prices that are tried, at most.
const MOST: u32 = 60;

/// The violation of a problem with one sum, as a share of that at the start, where a gap alone is
/// asked for; and what it is multiplied by where that is not enough.
const FIRST: f64 = 0.01;
const FINER: f64 = 0.1;

/// Prices in a row that bring the gap down by less than a tenth, after which the search has
/// stalled: of an optimum of 0 no relative gap is small.
const IDLE: u32 = 10;

/// The solution for a price.
struct End {
    price: f64,
    alpha: Vec<f64>,
    /// `Qα + lin`, without the price.
    gradient: Vec<f64>,
    total: f64,
}

/// What is searched for.
pub(super) struct TwoSums<'a> {
    dual: &'a Dual,
    one: f64,
    total: f64,
}

impl<'a> TwoSums<'a> {
    /// Nothing where there are no two sums.
    pub(super) fn new(dual: &'a Dual) -> Option<Self> {
        let EqualityConstraint::PerSign(plus, minus) = dual.balance() else { return None };
        Some(Self { dual, one: plus - minus, total: plus + minus })
    }

    /// The problem with a price.
    fn priced(&self, price: f64) -> Option<Dual> {
        let dual = self.dual;
        let linear_term = dual.linear_term().iter().map(|p| p - price).collect();
        let (ids, sign, upper) = (dual.ids().to_vec(), dual.sign().to_vec(), dual.upper().to_vec());
        Dual::new(ids, sign, linear_term, upper, dual.ridge(), EqualityConstraint::Sum(self.one)).ok()
    }

    /// Goes on from `from`, which a solver for two sums has left, with problems that `solve` solves
    /// from a start, exactly: to the goal of `run`, or as far as it comes. Nothing where that is no
    /// further. It ends at a point that is `lost`, by its α and gradient: nobody would know what
    /// comes after it.
    ///
    /// # Errors
    ///
    /// When `solve` refuses a problem.
    pub(super) fn solve(
        &self,
        from: &Solution,
        run: &mut Run,
        lost: impl Fn(&[f64], &[f64]) -> bool,
        mut solve: impl FnMut(&Dual, Start, &mut Run) -> Result<Solution, Refused>,
    ) -> Result<Option<Solved>, Refused> {
        let (dual, begun, stop) = (self.dual, Instant::now(), run.stop);
        let Some((plus, minus)) = thresholds_of(dual, &from.alpha, &from.gradient) else { return Ok(None) };
        let judged = |alpha: &[f64], gradient: &[f64]| figures(dual, alpha, bias_of(dual, alpha, gradient), gradient);
        let first = judged(&from.alpha, &from.gradient);
        let mut best = (from.alpha.clone(), from.gradient.clone(), first, Status::Stalled);
        let mut aim = stop.goal.kkt().map_or(FIRST * first.kkt, |kkt| 0.5 * kkt);
        let (mut price, mut step) = (f64::midpoint(plus, minus), (0.5 * first.kkt).max(aim));
        let (mut low, mut high): (Option<End>, Option<End>) = (None, None);
        let mut work = Work::default();
        let mut at = from.alpha.clone();
        let mut idle = 0;
        for tried in 1..=MOST {
            let Some(priced) = self.priced(price) else { break };
            let Ok(start) = Start::checked(&priced, at.clone()) else { break };
            run.stop = stop.left(begun, work.iterations);
            run.stop.goal = Goal::Kkt(aim);
            let solved = solve(&priced, start, run);
            run.stop = stop;
            let solved = solved?;
            work += solved.work;
            if !matches!(solved.status, Status::Converged | Status::Stalled) {
                best.3 = solved.status;
                break;
            }
            at.clone_from(&solved.alpha);
            let gradient = solved.gradient.iter().map(|g| g + price).collect();
            let end = End { price, total: solved.alpha.iter().sum(), alpha: solved.alpha, gradient };
            if end.total <= self.total {
                low = Some(end);
            } else {
                high = Some(end);
            }
            let (Some(less), Some(more)) = (&low, &high) else {
                price += if high.is_none() { step } else { -step };
                step *= 4.0;
                continue;
            };
            let share = (self.total - less.total) / (more.total - less.total);
            let (alpha, gradient) = self.mixed(less, more, share);
            let certificate = judged(&alpha, &gradient);
            let met = stop.goal.met(&certificate);
            idle = if certificate.gap() < 0.9 * best.2.gap() { 0 } else { idle + 1 };
            if met || certificate.gap() < best.2.gap() {
                best = (alpha, gradient, certificate, Status::Stalled);
            }
            if met {
                best.3 = Status::Converged;
                break;
            }
            if idle > IDLE || lost(&best.0, &best.1) {
                break;
            }
            if more.price - less.price <= aim {
                // As near as these tolerances tell.
                (price, step, aim) = (f64::midpoint(less.price, more.price), aim, FINER * aim);
                (low, high) = (None, None);
            } else {
                let share = if tried.is_multiple_of(3) { 0.5 } else { share.clamp(0.02, 0.98) };
                price = less.price + share * (more.price - less.price);
            }
        }
        let (alpha, gradient, certificate, status) = best;
        if certificate.gap() >= first.gap() && status == Status::Stalled {
            return Ok(None);
        }
        let bias = bias_of(dual, &alpha, &gradient);
        let solution = Solution { alpha, bias, gradient, status, work };
        Ok(Some(Solved { solution, exact: status == Status::Converged, counts: Vec::new() }))
    }

    /// The point between two that has both sums, and its gradient.
    fn mixed(&self, less: &End, more: &End, share: f64) -> (Vec<f64>, Vec<f64>) {
        let mix = |(a, b): (&f64, &f64)| if a == b { *a } else { (1.0 - share) * a + share * b };
        let alpha: Vec<f64> = less.alpha.iter().zip(&more.alpha).map(mix).collect();
        let alpha = alpha.iter().zip(self.dual.upper()).map(|(a, u)| a.clamp(0.0, *u)).collect();
        (alpha, less.gradient.iter().zip(&more.gradient).map(mix).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::finished::sets;
    use maxmargin_core::{Formulation, Refine, Silent, Stop, TrainingSet, certify, exact_gradient};
    use maxmargin_data::{BinaryLabels, Generator, Par};
    use maxmargin_kernel::{Kernel, KernelGram, Rows, Space};

    #[test]
    fn both_sums_are_met_where_one_is_searched_for() {
        let data = Generator::GaussM.generate(150, None, 3).expect("data");
        let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
        let gram = KernelGram::new(&data.samples, Kernel::rbf(0.5)).expect("a kernel");
        let rows = Rows::new(&gram, u64::MAX, Par::Seq);
        let ids: Vec<usize> = (0..150).collect();
        for formulation in [Formulation::NuSvc { nu: 0.4 }, Formulation::NuSvr { c: 10.0, nu: 0.3 }] {
            let part = TrainingSet { ids: &ids, target: &signs, weights: &[1.0; 150] };
            let problem = formulation.problem(&part).expect("a problem");
            let dual = problem.dual();
            let alpha = Start::project(dual, vec![0.0; dual.len()]).expect("feasible").into_parts().0;
            let gradient = exact_gradient(dual, rows.gram(), &alpha, Par::Seq);
            let from = Solution { gradient, ..Solution::without_gradient(alpha, Status::Stalled) };
            let mut run = Run { stop: Stop::at(1e-6), refine: Refine::Exact, par: Par::Seq, machine: 0, watch: &mut Silent };
            let sums = TwoSums::new(dual).expect("two sums");
            let solved = sums.solve(
                &from,
                &mut run,
                |_, _| false,
                |dual, start, run| Ok(sets(dual, Space::Kernel(&rows), start, run)?.solution),
            );
            let solved = solved.expect("no problem is refused").expect("it gets further");
            assert_eq!((solved.solution.status, run.stop), (Status::Converged, Stop::at(1e-6)), "{formulation:?}");
            let certificate = certify(dual, rows.gram(), &solved.solution, Par::Seq);
            assert!(certificate.holds(1e-6) && certificate.relative_gap() < 1e-5, "{formulation:?}: {certificate:?}");
        }
        assert!(TwoSums::new(&Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0; 2]).expect("a problem")).is_none());
    }
}
