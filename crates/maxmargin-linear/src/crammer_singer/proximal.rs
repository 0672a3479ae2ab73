//! Proximal steps for all classes at once, each by semismooth Newton steps: few, whatever C is.
//!
//! ```text
//!   Φ(W) = ½ ‖W‖² + Σ_i max over α_i of −α_i·(W x_i + Δ_i) − ‖α_i − a_i‖² / (2σ)
//!   with Δ_im = [m ≠ y_i]
//!
//!   1  α_i(W) ← the feasible point nearest to a_i − σ (W x_i + Δ_i)
//!      r ← W − Σ_i α_i(W) x_iᵀ  (= ∇Φ)
//!   2  while ‖r‖² is above a share of ‖α(W) − a‖² / σ:
//!   3    D ← −H⁻¹ r (hessian.rs);  W ← W + t D where the derivative along D is near 0;  r as in 1
//!   4  a ← α(W);  σ rises where Newton steps were few;  to 1 until the gap of a is reached
//! ```
//!
//! The minimum of Φ is a proximal step on the dual problem from a (Rockafellar, Mathematics of
//! Operations Research 1976).

use crate::config::LinearWork;
use crate::crammer_singer::free::FreeClasses;
use crate::crammer_singer::hessian::{LARGEST, NewtonSystem};
use crate::crammer_singer::passes::{CHUNK, scores, weights_of};
use crate::crammer_singer::subproblem::minimise;
use crate::run::SweepControl;
use maxmargin_core::{Certificate, CrammerSinger, RunControl, certify_crammer_singer};
use maxmargin_data::Par;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_simd::sums::dot;

/// The first σ, as a share of the mean cost.
const FIRST: f64 = 0.1;

/// The largest factor between σ and the mean cost. A large σ adds its rounding to the dual
/// variables.
const MOST_SIGMA: f64 = 1e8;

/// A squared residual of this share of `‖α − a‖² / σ` ends a proximal step (criterion B of the
/// paper).
const SHARE: f64 = 0.1;

/// The bound on the change of losses by a residual is usually so many times too large; a gap that
/// is missed at the solution shows that it is less.
const ALONG: f64 = 30.0;

/// The relative gap that is aimed at where the goal is none.
const AIM: f64 = 1e-6;

/// The most Newton steps of a proximal step.
const MOST: u64 = 100;

/// The most proximal steps in which neither gap nor violation falls to a half.
const PATIENCE: u32 = 12;

/// The factor of σ after a proximal step of so many Newton steps.
fn rise(steps: u64) -> f64 {
    match steps {
        0..=3 => 10.0,
        4..=7 => 3.0,
        8..=15 => 1.5,
        _ => 1.0,
    }
}

/// Operations counted for the projection of a variable.
const PROJECTED: u64 = 100;

/// The most points of a line search, and the share of the first derivative that ends it.
const SEARCH: (u32, f64) = (40, 0.2);

/// A solution by proximal steps.
pub(super) struct ProximalSteps<'a, R> {
    pub(super) rows: &'a R,
    pub(super) matrix: &'a Matrix<'a>,
    pub(super) problem: &'a CrammerSinger,
    pub(super) par: Par,
}

/// The end of Newton steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NewtonEnd {
    /// The goal is met, or the run has ended.
    Done,
    /// Proximal steps make no more progress.
    Still,
    /// A system has too many unknowns.
    TooLarge,
}

/// The weights with what belongs to them.
struct Point {
    w: Vec<f64>,
    scores: Vec<f64>,
    alpha: Vec<f64>,
    residual: Vec<f64>,
}

/// The end of the Newton steps of a proximal step.
enum StepsEnd {
    /// The residual is small, or no step makes it smaller.
    Near,
    /// The run ended.
    Ended,
    /// The system has too many unknowns.
    TooLarge,
}

/// The term `‖α − a‖² / (2σ)`.
struct Term {
    centre: Vec<f64>,
    sigma: f64,
}

/// The best point so far, and what is known of the progress.
struct Progress {
    alpha: Vec<f64>,
    certificate: Certificate,
    /// The largest dual objective.
    dual: f64,
    /// The least violation that a proximal step has left.
    violation: f64,
    /// The proximal steps since the last progress.
    missed: u32,
}

/// The duality gap.
fn gap_of(certificate: &Certificate) -> f64 {
    certificate.primal - certificate.dual
}

impl Progress {
    /// Counts a proximal step that ended at `alpha` with this violation.
    fn count(&mut self, alpha: &[f64], certificate: Certificate, violation: f64) {
        let (gap, left) = (gap_of(&self.certificate), gap_of(&certificate));
        // A gap of rounding alone may be below 0.
        let is_progress = left.max(0.0) < 0.5 * gap || violation < 0.5 * self.violation;
        self.missed = if is_progress { 0 } else { self.missed + 1 };
        self.violation = self.violation.min(violation);
        self.dual = self.dual.max(certificate.dual);
        if left < gap {
            self.certificate = certificate;
            self.alpha.copy_from_slice(alpha);
        }
    }
}

impl<R: FeatureRows> ProximalSteps<'_, R> {
    /// Returns whether the systems of these variables are small enough.
    pub(super) fn is_small_enough(&self, alpha: &[f64]) -> bool {
        let free = FreeClasses::of(alpha, self.problem.classes(), |i, m| self.upper(i, m));
        // The first steps free more variables than the sweeps have left.
        (self.rows.width() * free.classes).min(2 * free.rank()) <= LARGEST
    }

    /// Continues from dual variables until the certificate meets the goal, the run ends, or there
    /// is no more progress. Returns the best variables.
    pub(super) fn run(&self, alpha: Vec<f64>, control: &mut SweepControl, work: &mut LinearWork) -> (Vec<f64>, NewtonEnd) {
        let certify = |alpha: &[f64]| certify_crammer_singer(self.problem, self.matrix, alpha, self.par).certificate;
        let costs = self.problem.cost();
        let all_costs: f64 = costs.iter().sum();
        let mean = all_costs / costs.iter().filter(|cost| **cost > 0.0).count().max(1) as f64;
        // A residual r changes the losses by at most ‖r‖ times this number.
        let lengths: f64 = costs.iter().zip(self.matrix.squares()).map(|(cost, square)| cost * square.sqrt()).sum();
        let w = weights_of(self.rows, &alpha, self.problem.classes(), self.par);
        let certificate = certify(&alpha);
        let dual = certificate.dual.abs();
        let mut best = Progress { alpha: alpha.clone(), certificate, dual, violation: f64::INFINITY, missed: 0 };
        let mut term = Term { centre: alpha, sigma: FIRST * mean };
        let mut point = self.point(w, &term);
        let (mut along, aim) = (ALONG, control.stop.goal.gap().unwrap_or(AIM));
        while !control.stop.goal.met(&best.certificate) {
            let least = (along * aim * best.dual / lengths).powi(2);
            let before = work.newton_steps;
            let end = self.newton_steps(&mut point, &term, least, control, work);
            work.rounds += 1;
            // A proximal step leaves this violation of the conditions of optimality.
            let moved = point.alpha.iter().zip(&term.centre).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
            let violation = moved / term.sigma;
            best.count(&point.alpha, certify(&point.alpha), violation);
            // Steps that have nothing to do ask neither for limits nor for Ctrl-C.
            let done = work.steps + work.newton_steps;
            let is_over = control.check(done, violation) || control.spent(done + 1);
            match end {
                _ if is_over => break,
                StepsEnd::Near if best.missed <= PATIENCE => {}
                StepsEnd::Near if control.stop.goal.met(&best.certificate) => break,
                StepsEnd::Near => return (best.alpha, NewtonEnd::Still),
                StepsEnd::TooLarge => return (best.alpha, NewtonEnd::TooLarge),
                StepsEnd::Ended => break,
            }
            // At the solution a smaller σ has less rounding; before it, σ rises where steps are
            // few.
            let at_solution = violation * all_costs <= aim * best.dual;
            let factor = if at_solution { 0.1 } else { rise(work.newton_steps - before) };
            along *= if at_solution { 0.1 } else { 1.0 };
            // A proximal step comes nearer to the solution also where its gap is larger.
            term = Term { centre: point.alpha, sigma: (factor * term.sigma).min(MOST_SIGMA * mean) };
            // Scores are computed anew, without the rounding errors of the steps.
            point = self.point(point.w, &term);
        }
        (best.alpha, NewtonEnd::Done)
    }

    /// Makes Newton steps until the squared residual is a share of the proximal step, or at most
    /// `least`, or no step makes it smaller.
    fn newton_steps(
        &self,
        point: &mut Point,
        term: &Term,
        least: f64,
        control: &mut SweepControl,
        work: &mut LinearWork,
    ) -> StepsEnd {
        let classes = self.problem.classes();
        for _ in 0..MOST {
            let squared = dot(&point.residual, &point.residual);
            let moved: f64 = point.alpha.iter().zip(&term.centre).map(|(new, old)| (new - old) * (new - old)).sum();
            if squared.is_nan() || squared <= least.max(SHARE * moved / term.sigma) {
                return StepsEnd::Near;
            }
            let done = work.steps + work.newton_steps;
            if control.check(done, squared.sqrt()) || control.spent(done + 1) {
                return StepsEnd::Ended;
            }
            let free = FreeClasses::of(&point.alpha, classes, |i, m| self.upper(i, m));
            if (self.rows.width() * classes).min(free.rank()) > LARGEST {
                return StepsEnd::TooLarge;
            }
            let system = NewtonSystem { rows: self.rows, free, sigma: term.sigma, par: self.par };
            let Ok(direction) = system.solve(&point.residual, control.control()) else {
                control.check(done, squared.sqrt());
                return StepsEnd::Ended;
            };
            work.newton_steps += 1;
            let step = |direction: Vec<f64>| self.advance(point, term, &direction, control.control());
            if !direction.is_some_and(step) {
                return StepsEnd::Near;
            }
        }
        StepsEnd::Near
    }

    /// Moves the weights against `direction` to a point where the derivative along it is near 0;
    /// returns false if there is none but the present one, or the run has ended.
    fn advance(&self, point: &mut Point, term: &Term, direction: &[f64], control: &RunControl) -> bool {
        let classes = self.problem.classes();
        let change = scores(self.rows, direction, classes, self.par);
        let (own, square) = (dot(&point.w, direction), dot(direction, direction));
        let first = -dot(&point.residual, direction);
        let at = |t: f64| -> (f64, Vec<f64>) {
            let moved: Vec<f64> = point.scores.iter().zip(&change).map(|(score, change)| score - t * change).collect();
            let alpha = self.nearest(&moved, term);
            (t * square - own + dot(&alpha, &change), alpha)
        };
        if first >= 0.0 {
            return false;
        }
        // The derivative rises along the direction: where it is negative, Φ is below its beginning.
        let (mut low, mut high) = ((0.0, first), None);
        // The derivative at the lower end, halved where that end stays (the Illinois rule): a kink
        // near the beginning would take many steps otherwise.
        let mut weight = first;
        let (mut t, mut alpha) = (1.0, Vec::new());
        for _ in 0..SEARCH.0 {
            if control.check(PROJECTED * point.scores.len() as u64).is_err() {
                return false;
            }
            let (slope, found) = at(t);
            if slope <= 0.0 {
                (low, alpha, weight) = ((t, slope), found, slope);
                if high.is_none() || slope >= SEARCH.1 * first {
                    break;
                }
            } else {
                weight *= if high.is_some() { 0.5 } else { 1.0 };
                high = Some((t, slope));
            }
            let (until, slope) = high.expect("a step that is too long");
            // The secant, a little below its zero and away from both ends.
            t = low.0 + (until - low.0) * (weight / (weight - slope)).clamp(0.01, 0.9) * 0.98;
        }
        if low.0 == 0.0 {
            return false;
        }
        let t = low.0;
        point.w.iter_mut().zip(direction).for_each(|(w, d)| *w -= t * d);
        point.scores.iter_mut().zip(&change).for_each(|(score, change)| *score -= t * change);
        point.alpha = alpha;
        point.residual = self.residual(&point.w, &point.alpha);
        true
    }

    /// The bound of class m in row i.
    fn upper(&self, i: usize, m: usize) -> f64 {
        if m == self.problem.class()[i] { self.problem.cost()[i] } else { 0.0 }
    }

    /// The point with these weights.
    fn point(&self, w: Vec<f64>, term: &Term) -> Point {
        let scores = scores(self.rows, &w, self.problem.classes(), self.par);
        let alpha = self.nearest(&scores, term);
        let residual = self.residual(&w, &alpha);
        Point { w, scores, alpha, residual }
    }

    /// The gradient of Φ.
    fn residual(&self, w: &[f64], alpha: &[f64]) -> Vec<f64> {
        let mut residual = weights_of(self.rows, alpha, self.problem.classes(), self.par);
        residual.iter_mut().zip(w).for_each(|(sum, w)| *sum = w - *sum);
        residual
    }

    /// The variables `α(W)` of these scores.
    fn nearest(&self, scores: &[f64], term: &Term) -> Vec<f64> {
        let classes = self.problem.classes();
        let mut all = vec![0.0; scores.len()];
        self.par.for_chunks(&mut all, CHUNK * classes, |chunk, alpha| {
            let (mut linear, mut scratch) = (vec![0.0; classes], Vec::with_capacity(classes));
            for (i, alpha) in (chunk * CHUNK..).zip(alpha.chunks_exact_mut(classes)) {
                let (class, cost) = (self.problem.class()[i], self.problem.cost()[i]);
                if cost == 0.0 {
                    continue;
                }
                let of = i * classes..(i + 1) * classes;
                for (m, (linear, (score, centre))) in
                    linear.iter_mut().zip(scores[of.clone()].iter().zip(&term.centre[of])).enumerate()
                {
                    *linear = term.sigma * (score + f64::from(u8::from(m != class))) - centre;
                }
                minimise(1.0, &linear, Some(class), cost, &mut scratch, alpha);
            }
        });
        all
    }
}
