//! Problems with a sum for each sign by problems with one sum: a search for a price.
//!
//! With a price `ρ` for `Σ α` the sums `Σ_{s=+1} α = p` and `Σ_{s=−1} α = m` become one, `Σ s α = p
//! − m`: of ν-SVC that is a C-SVC with the margin ρ, of ν-SVR an ε-SVR with the width −ρ. The total
//! `Σ α` of a solution grows with the price, and is piecewise linear in it. Between two prices
//! whose totals lie on either side of `p + m` the solutions are mixed: the mixture has both sums,
//! and its gradient is the mixture of the gradients. The certificate decides.

use maxmargin_core::{
    Certificate, Dual, EqualityConstraint, Goal, Refused, Run, Solution, Solved, Start, Status, Work, bias_of, figures,
    thresholds_of,
};
use std::time::Instant;

/// The largest number of prices.
const MOST: u32 = 60;

/// The first tolerance of problems with one sum, as a share of the violation at the start, where
/// the goal is a gap alone.
const FIRST: f64 = 0.01;
/// The factor of that tolerance where it is not enough.
const FINER: f64 = 0.1;

/// Prices in a row that lower the gap by less than a tenth, after which the search has stalled: of
/// an optimum of 0 no relative gap is small.
const IDLE: u32 = 10;

/// The solution for a price.
struct End {
    price: f64,
    alpha: Vec<f64>,
    /// `Qα + lin`, without the price.
    gradient: Vec<f64>,
    total: f64,
}

impl End {
    fn of(price: f64, solved: Solution) -> Self {
        let gradient = solved.gradient.iter().map(|g| g + price).collect();
        Self { price, total: solved.alpha.iter().sum(), alpha: solved.alpha, gradient }
    }
}

/// A point of the problem with two sums.
struct Point {
    alpha: Vec<f64>,
    gradient: Vec<f64>,
    certificate: Certificate,
}

/// The prices of a search.
struct Search {
    /// The next price.
    price: f64,
    /// The next step to the other side.
    step: f64,
    /// The tolerance of problems with one sum.
    aim: f64,
    /// The highest price known whose total is too small.
    low: Option<End>,
    /// The lowest price known whose total is too large.
    high: Option<End>,
}

impl Search {
    /// Adds the solution of the last price. If all totals are on one side, the next price is one
    /// step further.
    fn take(&mut self, end: End, total: f64) {
        let side = if end.total <= total { &mut self.low } else { &mut self.high };
        *side = Some(end);
        if self.low.is_none() || self.high.is_none() {
            self.price += if self.high.is_none() { self.step } else { -self.step };
            self.step *= 4.0;
        }
    }

    /// The solutions on both sides.
    fn ends(&self) -> Option<(&End, &End)> {
        self.low.as_ref().zip(self.high.as_ref())
    }

    /// Chooses the next price between both sides at a share of their distance, or a finer tolerance
    /// if the present one cannot separate the two prices.
    fn narrow(&mut self, share: f64) {
        let Some((less, more)) = self.ends() else { return };
        let (from, width) = (less.price, more.price - less.price);
        if width <= self.aim {
            let price = f64::midpoint(less.price, more.price);
            *self = Self { price, step: self.aim, aim: FINER * self.aim, low: None, high: None };
        } else {
            self.price = from + share * width;
        }
    }
}

/// A problem with a sum for each sign.
pub(crate) struct TwoSums<'a> {
    dual: &'a Dual,
    /// `p − m`.
    one: f64,
    /// `p + m`.
    total: f64,
}

impl<'a> TwoSums<'a> {
    /// The problem split into its sums; `None` if it does not have a sum for each sign.
    pub(crate) fn new(dual: &'a Dual) -> Option<Self> {
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

    /// Continues from `from`, the point that a solver for two sums left, with problems with one sum
    /// that `solve` solves exactly from a start: to the goal of `run`, or as far as the prices
    /// lead. None where that is no further. The search stops at a point that is `lost` (by its α
    /// and gradient), whose objective is hidden by rounding: no later point would show progress.
    ///
    /// 1. ρ ← the mean of the thresholds of both signs; solve with the price ρ.
    /// 2. Move ρ by growing steps until the totals of two prices enclose `p + m`.
    /// 3. Mix the two solutions; stop where the mixture meets the goal.
    /// 4. ρ ← the price at which a line through both totals has `p + m`, or the middle every third
    ///    time; solve, replace one of the two, and go to 3.
    /// 5. Where the two prices are as near as the tolerance tells, lower it and go to 2.
    ///
    /// # Errors
    ///
    /// When `solve` refuses a problem.
    pub(crate) fn solve(
        &self,
        from: &Solution,
        run: &mut Run,
        lost: impl Fn(&[f64], &[f64]) -> bool,
        mut solve: impl FnMut(&Dual, Start, &mut Run) -> Result<Solution, Refused>,
    ) -> Result<Option<Solved>, Refused> {
        let (dual, begun, stop) = (self.dual, Instant::now(), run.stop);
        let Some((plus, minus)) = thresholds_of(dual, &from.alpha, &from.gradient) else { return Ok(None) };
        let first = self.point(from.alpha.clone(), from.gradient.clone());
        let first_gap = first.certificate.gap();
        let aim = stop.goal.kkt().map_or(FIRST * first.certificate.kkt, |kkt| 0.5 * kkt);
        let step = (0.5 * first.certificate.kkt).max(aim);
        let mut search = Search { price: f64::midpoint(plus, minus), step, aim, low: None, high: None };
        let (mut best, mut status) = (first, Status::Stalled);
        let mut work = Work::default();
        let mut at = from.alpha.clone();
        let mut idle = 0;
        for tried in 1..=MOST {
            let Some(priced) = self.priced(search.price) else { break };
            let Ok(start) = Start::checked(&priced, at.clone()) else { break };
            run.stop = stop.left(begun, work.iterations);
            run.stop.goal = Goal::Kkt(search.aim);
            let solved = solve(&priced, start, run);
            run.stop = stop;
            let solved = solved?;
            work += solved.work;
            if !matches!(solved.status, Status::Converged | Status::Stalled) {
                status = solved.status;
                break;
            }
            at.clone_from(&solved.alpha);
            search.take(End::of(search.price, solved), self.total);
            let Some((less, more)) = search.ends() else { continue };
            let share = (self.total - less.total) / (more.total - less.total);
            let (alpha, gradient) = self.mixed(less, more, share);
            let mixture = self.point(alpha, gradient);
            let gap = mixture.certificate.gap();
            let met = stop.goal.met(&mixture.certificate);
            idle = if gap < 0.9 * best.certificate.gap() { 0 } else { idle + 1 };
            if met || gap < best.certificate.gap() {
                best = mixture;
            }
            if met {
                status = Status::Converged;
                break;
            }
            if idle > IDLE || lost(&best.alpha, &best.gradient) {
                break;
            }
            search.narrow(if tried.is_multiple_of(3) { 0.5 } else { share.clamp(0.02, 0.98) });
        }
        if best.certificate.gap() >= first_gap && status == Status::Stalled {
            return Ok(None);
        }
        let bias = bias_of(dual, &best.alpha, &best.gradient);
        let solution = Solution { alpha: best.alpha, bias, gradient: best.gradient, status, work, weights: None };
        Ok(Some(Solved { solution, exact: status == Status::Converged, counts: Vec::new() }))
    }

    /// A point of the problem with two sums, with its certificate.
    fn point(&self, alpha: Vec<f64>, gradient: Vec<f64>) -> Point {
        let certificate = figures(self.dual, &alpha, bias_of(self.dual, &alpha, &gradient), &gradient);
        Point { alpha, gradient, certificate }
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
    use crate::working_sets::by_working_sets;
    use maxmargin_core::{Formulation, Refine, Stop, TrainingSet, certify, exact_gradient};
    use maxmargin_data::{BinaryLabels, Generator, Par, RunControl};
    use maxmargin_kernel::{Kernel, KernelGram, Rows, Space};

    #[test]
    fn both_sums_are_met_where_one_is_searched_for() {
        let data = Generator::GaussM.generate(150, None, 3).expect("data");
        let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
        let gram = KernelGram::new(&data.samples, Kernel::rbf(0.5), &RunControl::unlimited()).expect("a kernel");
        let rows = Rows::new(&gram, u64::MAX, Par::Seq);
        let ids: Vec<usize> = (0..150).collect();
        for formulation in [Formulation::NuSvc { nu: 0.4 }, Formulation::NuSvr { c: 10.0, nu: 0.3 }] {
            let part = TrainingSet { ids: &ids, target: &signs, weights: &[1.0; 150] };
            let problem = formulation.problem(&part).expect("a problem");
            let dual = problem.dual();
            let alpha = Start::project(dual, vec![0.0; dual.len()]).expect("feasible").into_parts().0;
            let gradient = exact_gradient(dual, rows.gram(), &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            let from = Solution { gradient, ..Solution::without_gradient(alpha, Status::Stalled) };
            let mut run =
                Run { stop: Stop::at(1e-6), refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
            let sums = TwoSums::new(dual).expect("two sums");
            let solved = sums.solve(
                &from,
                &mut run,
                |_, _| false,
                |dual, start, run| Ok(by_working_sets(dual, Space::Kernel(&rows), start, run)?.solution),
            );
            let solved = solved.expect("no problem is refused").expect("it gets further");
            assert_eq!((solved.solution.status, run.stop), (Status::Converged, Stop::at(1e-6)), "{formulation:?}");
            let certificate = certify(dual, rows.gram(), &solved.solution, Par::Seq);
            assert!(certificate.holds(1e-6) && certificate.relative_gap() < 1e-5, "{formulation:?}: {certificate:?}");
        }
        assert!(TwoSums::new(&Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0; 2]).expect("a problem")).is_none());
    }
}
