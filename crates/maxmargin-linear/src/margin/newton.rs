//! Newton steps for the L2 norm.
//!
//! ```text
//!   1  z_i ← y_i w·x_i;  α_i ← −C_i ℓ'(z_i);  g ← w − Σ α_i y_i x_i     (no penalty on a free bias)
//!   2  stop when ½‖g‖², the duality gap, is small enough; with a free bias, the gap of the α that
//!      are scaled as in the certificate
//!   3  (I + Σ C_i ℓ''(z_i) x_i x_iᵀ) d = −g: factored, or by conjugate gradients (conjugate.rs)
//!   4  t: P is lower, its derivative along d within a quarter of 0 (line.rs);  w += t d;  go to 1
//! ```
//!
//! A line search needs margins alone, so that its last evaluation is step 1 of the next iteration.

use crate::margin::conjugate::{NewtonSystem, Systems};
use crate::margin::context::MarginRun;
use crate::margin::evaluate::{Targets, inner};
use crate::margin::line::line_search;
use crate::margin::passes::Passes;
use crate::margin::rising_costs::{ROUGH, through_costs};
use maxmargin_core::Status;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_simd::sums::dot;

/// The steps without a smaller gap or objective after which rounding allows no further progress.
const STANDSTILL: u32 = 12;

/// The least relative fall of the objective that is not rounding.
const ROUNDING: f64 = 1e-12;

/// The least accuracy of a system that is iterated, that of the first, and that of the last.
const ACCURACIES: (f64, f64, f64) = (0.02, 0.1, 0.5);

/// A problem over the rows that take part.
pub(crate) struct L2Problem<'r, R> {
    pub(crate) passes: Passes<'r, R>,
    pub(crate) targets: Targets,
    /// The column that the penalty leaves out.
    pub(crate) free: Option<usize>,
}

/// The goal of Newton steps: the gap, or a relative one, and the largest entry of the gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewtonGoal {
    /// The gap relative to the primal objective.
    pub(crate) gap: f64,
    /// The largest entry of the gradient.
    pub(crate) kkt: f64,
}

/// The point of a Newton iteration.
struct Iterate {
    w: Vec<f64>,
    z: Vec<f64>,
    alpha: Vec<f64>,
}

impl<R: FeatureRows> L2Problem<'_, R> {
    /// Minimises from `w`, from zero through rising costs.
    pub(crate) fn newton_from(mut self, mut w: Vec<f64>, goal: NewtonGoal, run: &mut MarginRun) -> Vec<f64> {
        let mut systems = Systems::default();
        if w.iter().all(|w| *w == 0.0) {
            let at = self.iterate(w);
            let mut changes = vec![0.0; at.z.len()];
            self.passes.products(&self.gradient(&at.w, &at.alpha), &mut changes);
            let largest = changes.iter().fold(0.0_f64, |largest, change| largest.max(change.abs()));
            let (targets, rough) = (self.targets.clone(), NewtonGoal { gap: ROUGH, kkt: f64::INFINITY });
            w = through_costs(&targets, largest, at.w, run, |targets, w, run| {
                self.targets = targets;
                self.newton(w, rough, &mut systems, run)
            });
            self.targets = targets;
        }
        self.newton(w, goal, &mut systems, run)
    }

    /// Minimises from `w`.
    pub(crate) fn newton(&self, w: Vec<f64>, goal: NewtonGoal, systems: &mut Systems, run: &mut MarginRun) -> Vec<f64> {
        let mut at = self.iterate(w);
        let (mut least, mut lowest, mut still, mut first) = (f64::INFINITY, f64::INFINITY, 0, None);
        loop {
            let gradient = self.gradient(&at.w, &at.alpha);
            let (square, largest) = self.sizes(&gradient);
            run.work.newton_steps += 1;
            if self.meets(&at, square, largest, goal) || run.control.check(run.work.newton_steps, largest) {
                return at.w;
            }
            let primal = self.primal(&at);
            still = if square < 0.9 * least || primal < (1.0 - ROUNDING) * lowest { 0 } else { still + 1 };
            (least, lowest) = (least.min(square), lowest.min(primal));
            if still >= STANDSTILL || run.control.spent(run.work.newton_steps + 1) {
                run.control.ended.get_or_insert(Status::Stalled);
                return at.w;
            }
            let weights = self.targets.curvature(&at.alpha, 0.0);
            // The accuracy follows the gradient; a step need not do much more than reach the goal.
            let begun = *first.get_or_insert(square);
            let left = 0.5 * (2.0 * goal.gap * self.primal_bound() / square).sqrt();
            // The bounds may not be numbers where the gradient is beyond rounding.
            let least = (square / begun).powf(0.25).min(ACCURACIES.1).max(ACCURACIES.0);
            let accuracy = left.max(least).min(ACCURACIES.2);
            let system = NewtonSystem { passes: &self.passes, weights: &weights, free: self.free };
            let Ok(direction) = system.solve(&gradient, accuracy, systems, run) else { return at.w };
            if !self.step(&mut at, &gradient, &direction) {
                run.control.ended.get_or_insert(Status::Stalled);
                return at.w;
            }
        }
    }

    fn iterate(&self, w: Vec<f64>) -> Iterate {
        let mut z = vec![0.0; self.targets.sign.len()];
        self.passes.products(&w, &mut z);
        z.iter_mut().zip(&self.targets.sign).for_each(|(z, y)| *z *= y);
        let mut alpha = vec![0.0; z.len()];
        self.targets.alpha(&z, &z, 0.0, &mut alpha, self.passes.par);
        Iterate { w, z, alpha }
    }

    fn gradient(&self, w: &[f64], alpha: &[f64]) -> Vec<f64> {
        let mut g = self.passes.combine(&self.targets.signed(alpha));
        g.iter_mut().zip(w).for_each(|(g, w)| *g = w - *g);
        if let Some(free) = self.free {
            g[free] -= w[free];
        }
        g
    }

    /// Returns the squared norm of the gradient without the free bias, and its largest entry.
    fn sizes(&self, gradient: &[f64]) -> (f64, f64) {
        let largest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let free = self.free.map_or(0.0, |free| gradient[free] * gradient[free]);
        ((dot(gradient, gradient) - free).max(0.0), largest)
    }

    fn meets(&self, at: &Iterate, square: f64, largest: f64, goal: NewtonGoal) -> bool {
        if largest > goal.kkt || 0.5 * square > goal.gap * self.primal_bound() {
            return false;
        }
        let primal = self.primal(at);
        let (gap, kkt) = if self.free.is_some() { self.balanced(at, primal) } else { (0.5 * square, largest) };
        kkt <= goal.kkt && gap <= goal.gap * primal
    }

    /// Returns the gap and the violation of the certificate with a free bias.
    fn balanced(&self, at: &Iterate, primal: f64) -> (f64, f64) {
        let (balanced, lost) = self.targets.balanced(&at.alpha);
        let gradient = self.gradient(&at.w, &balanced);
        let penalised = at.w.iter().zip(&gradient).enumerate().filter(|(j, _)| self.free != Some(*j));
        let quadratic = 0.5 * penalised.map(|(_, (w, g))| (w - g) * (w - g)).sum::<f64>();
        let dual = self.targets.conjugates(&balanced, 1.0, self.passes.par) - quadratic;
        (primal - dual, gradient.iter().fold(lost, |most, g| most.max(g.abs())))
    }

    fn primal(&self, at: &Iterate) -> f64 {
        let norm = dot(&at.w, &at.w) - self.free.map_or(0.0, |free| at.w[free] * at.w[free]);
        0.5 * norm + self.targets.losses(&at.z, self.passes.par)
    }

    /// Returns a bound on the primal objective at the optimum: that of zero weights.
    fn primal_bound(&self) -> f64 {
        (self.targets.loss.at(0.0).value * self.targets.cost.iter().sum::<f64>()).max(f64::MIN_POSITIVE)
    }

    /// Moves along `direction`; returns false if no step is possible.
    fn step(&self, at: &mut Iterate, gradient: &[f64], direction: &[f64]) -> bool {
        let par = self.passes.par;
        let mut q = vec![0.0; at.z.len()];
        self.passes.products(direction, &mut q);
        q.iter_mut().zip(&self.targets.sign).for_each(|(q, y)| *q *= y);
        let free = |a: &[f64], b: &[f64]| dot(a, b) - self.free.map_or(0.0, |free| a[free] * b[free]);
        let (linear, quadratic) = (free(&at.w, direction), free(direction, direction));
        let slope = dot(gradient, direction);
        let Iterate { w, z, alpha } = at;
        let found = line_search(slope, |t| {
            self.targets.alpha(z, &q, t, alpha, par);
            linear + t * quadratic - inner(alpha, &q, par)
        });
        let Some(t) = found else { return false };
        z.iter_mut().zip(&q).for_each(|(z, q)| *z += t * q);
        w.iter_mut().zip(direction).for_each(|(w, d)| *w += t * d);
        true
    }
}
