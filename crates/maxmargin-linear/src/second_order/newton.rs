//! Semismooth Newton steps on the augmented Lagrangian: the second-order finish.
//!
//! ```text
//!   1  u_k ← −lin_k − s_k (x_k·w + b);  p_k ← clip((α_k + σ_k u_k) / (1 + σ_k D_k), 0, U_k)
//!   2  g ← w − Σ s_k p_k x_k;  stop if g changes no margin noticeably: p is the next α
//!   3  solve (I + Σ h_k x_k x_kᵀ) d = −g over unclipped k,  h_k = σ_k / (1 + σ_k D_k)
//!   4  t ← line search along d (search.rs);  w += t d;  go to 1
//! ```
//!
//! For the dual `min ½ αᵀQα + linᵀα` over the box, the proximal point step from `α` solves `min
//! ½‖w‖² + Σ_k ψ_k(u_k)` over `w` (and the bias). `ψ_k` is the largest `p u_k − ½ D_k p² − (p −
//! α_k)² / 2σ_k` over `0 ≤ p ≤ U_k`, attained at the `p_k` of step 1. Step 3 is the generalised
//! Hessian.
//!
//! Along the path of `finish.rs` the centre is 0, and `w` is kept from σ to σ.
//!
//! The larger σ is, the faster the steps converge; for this piecewise quadratic problem they are
//! finite. Without an upper bound (squared hinge) `σ_k = ∞`: plain Newton on the primal.

use crate::point::PointValues;
use crate::second_order::search::{Line, search};
use crate::second_order::system::{Curvature, DIRECT, System};
use crate::second_order::variables::Variables;
use maxmargin_core::{Dual, EqualityConstraint, RunControl, rounding_of_sums, twins};
use maxmargin_data::Par;
use maxmargin_kernel::MemoryBudget;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_kernel::features::{CHUNK, combine, products};
use maxmargin_simd::clipped::{Advance, Variable};
use maxmargin_simd::sums::dot;
use std::ops::ControlFlow;

/// The cost of Newton steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Newton steps.
    pub(crate) steps: u64,
    /// Proximal steps.
    pub(crate) rounds: u64,
    /// Iterations of conjugate gradients.
    pub(crate) gradients: u64,
}

/// The state of the method.
pub(crate) struct Newton<'a, R> {
    rows: &'a R,
    memory: &'a MemoryBudget,
    dual: &'a Dual,
    par: Par,
    w: Vec<f64>,
    bias: f64,
    variables: Variables,
    /// The product of each row with the last direction, if a row has two variables; else empty.
    row_products: Vec<f64>,
    /// The sums `Σ s_k p_k x_k` and `Σ s_k p_k`.
    sum: Vec<f64>,
    balance: f64,
    /// The variables that are not clipped, ascending, and their weights.
    free: Vec<usize>,
    weights: Vec<f64>,
    /// The largest projected gradient of `p` at the present `w`.
    violation: f64,
    squares: &'a [f64],
    /// The largest `‖x_k‖`, and with many features their mean square's root.
    longest: f64,
    typical: Option<f64>,
    curvature: Curvature<'a>,
    pub(crate) cost: Cost,
}

/// The Newton steps after which a round is given up.
const STEPS: u64 = 40;

/// The same limit if no variable has a bound: there is no proximal term then, and the next round
/// would start the same problem again.
const STEPS_AT_ONCE: u64 = 1000;

/// A round ends when the gradient of the inner problem changes no margin by more than this share of
/// the present violation.
const EARLY: f64 = 0.1;

/// The limits of the relative accuracy of conjugate gradients, with many features. Most systems
/// have another active set than the next, so that an accurate solution is of no use.
const LEAST: f64 = 1e-2;
const MOST: f64 = 0.1;

/// The accuracy of the inner problem.
#[derive(Clone, Copy, Debug)]
enum Accuracy {
    /// No margin is disturbed by more than a share of the violation, or of this tolerance.
    Round(f64),
    /// The margin of a typical row is not: the next stage begins there, and needs no more.
    Stage,
}

/// The end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// The inner problem is solved well enough.
    Solved,
    /// The inner problem needs more steps, or no step descends.
    Unsolved,
    /// The run was cancelled.
    Stopped,
}

impl<'a, R: FeatureRows> Newton<'a, R> {
    pub(crate) fn new(rows: &'a R, memory: &'a MemoryBudget, squares: &'a [f64], dual: &'a Dual, par: Par) -> Self {
        let longest = dual.ids().iter().map(|&id| squares[id]).fold(0.0, f64::max).sqrt();
        let (n, width) = (dual.len(), rows.width());
        let mean = dual.ids().iter().map(|&id| squares[id]).sum::<f64>() / n.max(1) as f64;
        let typical = (width > DIRECT).then(|| mean.sqrt());
        Self {
            rows,
            memory,
            dual,
            par,
            w: vec![0.0; width],
            bias: 0.0,
            variables: Variables::new(n),
            row_products: vec![0.0; if twins(dual).is_some() { rows.len() } else { 0 }],
            sum: vec![0.0; width],
            balance: 0.0,
            free: Vec::new(),
            weights: Vec::new(),
            violation: 0.0,
            squares,
            longest,
            typical,
            curvature: Curvature::new(),
            cost: Cost::default(),
        }
    }

    pub(crate) fn rows(&self) -> &'a R {
        self.rows
    }

    /// Returns the required `Σ s p`, if there is a bias.
    fn wanted(&self) -> Option<f64> {
        match self.dual.balance() {
            EqualityConstraint::Sum(wanted) => Some(wanted),
            _ => None,
        }
    }

    /// Starts from `w`, bias and gradient `Qα + lin` of a point computed anew, with `σ` for the
    /// variables that have a bound.
    fn centre(&mut self, alpha: &[f64], w: &[f64], bias: f64, gradient: &[f64], sigma: f64) {
        self.w.copy_from_slice(w);
        self.bias = bias;
        let dual = self.dual;
        self.variables.update(|k, v| {
            let (upper, ridge) = (dual.upper()[k], dual.ridge_of(k));
            let (base, weight) = base_and_weight(alpha[k], upper, ridge, sigma);
            let slack = ridge * alpha[k] - gradient[k] - dual.sign()[k] * bias;
            *v = Variable { slack, fall: 0.0, base, weight, upper, ridge, p: 0.0 };
        });
        self.sum.fill(0.0);
        self.balance = 0.0;
        self.advance(0.0);
    }

    /// Moves the slacks by the share `t` of the step, updates `p` (step 1), and adds the changes to
    /// the sums.
    fn advance(&mut self, t: f64) {
        let dual = self.dual;
        let Advance { free, changes, violation } = self.variables.advance(t, self.par);
        let ids: Vec<usize> = changes.iter().map(|change| dual.ids()[change.place]).collect();
        let coef: Vec<f64> = changes.iter().map(|change| dual.sign()[change.place] * change.delta).collect();
        self.balance += coef.iter().sum::<f64>();
        let moved = combine(self.rows, &ids, &coef, self.par);
        self.sum.iter_mut().zip(&moved).for_each(|(s, m)| *s += m);
        self.weights.clear();
        self.weights.extend(free.iter().map(|&k| self.variables.get(k).weight));
        self.free = free;
        self.violation = violation;
    }

    /// Makes one proximal step from `from`. It is solved until the gradient of the inner problem
    /// changes no margin by more than a share of the violation, or of `tol`. [`Newton::solution`]
    /// returns the next α.
    pub(crate) fn round(
        &mut self,
        alpha: &[f64],
        from: &PointValues,
        sigma: f64,
        tol: f64,
        stop: impl FnMut(&Cost, f64) -> bool + Send,
    ) -> Round {
        self.centre(alpha, &from.w, from.bias, &from.gradient, sigma);
        let steps = if self.is_unbounded() { STEPS_AT_ONCE } else { STEPS };
        self.minimise(sigma, Accuracy::Round(tol), steps, stop)
    }

    /// Prepares for [`Newton::stage`] at this `w`.
    pub(crate) fn begin_path(&mut self, w: &[f64]) {
        let dual = self.dual;
        let mut gradient = vec![0.0; dual.len()];
        products(self.rows, dual.ids(), w, &mut gradient, self.par);
        for (k, g) in gradient.iter_mut().enumerate() {
            *g = dual.sign()[k] * *g + dual.linear_term()[k];
        }
        self.centre(&vec![0.0; dual.len()], w, 0.0, &gradient, 1.0);
    }

    /// Makes a proximal step as [`Newton::round`], from the present `w`, which the step or stage
    /// before this one left. A `w` computed anew from α would be far off at a large σ.
    pub(crate) fn next_round(
        &mut self,
        alpha: &[f64],
        sigma: f64,
        tol: f64,
        stop: impl FnMut(&Cost, f64) -> bool + Send,
    ) -> Round {
        self.variables.update(|k, v| (v.base, v.weight) = base_and_weight(alpha[k], v.upper, v.ridge, sigma));
        self.advance(0.0);
        let steps = if self.is_unbounded() { STEPS_AT_ONCE } else { STEPS };
        self.minimise(sigma, Accuracy::Round(tol), steps, stop)
    }

    fn is_unbounded(&self) -> bool {
        self.dual.upper().iter().all(|upper| *upper == f64::INFINITY || *upper == 0.0)
    }

    /// Solves the inner problem with centre 0 and this `σ` for all variables, from the present `w`.
    /// An infinite `σ` means that of the ridge.
    pub(crate) fn stage(&mut self, sigma: f64, tol: f64, stop: impl FnMut(&Cost, f64) -> bool + Send) -> Round {
        self.variables.update(|_, v| (v.base, v.weight) = (0.0, 1.0 / (v.ridge + 1.0 / sigma)));
        self.advance(0.0);
        let accuracy = if sigma.is_finite() { Accuracy::Stage } else { Accuracy::Round(tol) };
        self.minimise(sigma, accuracy, STEPS_AT_ONCE, stop)
    }

    /// Returns the relative accuracy that is worth its iterations. With bounds, the active set
    /// changes at both of them.
    fn least_accuracy(&self) -> f64 {
        match self.typical {
            None => 1e-10,
            Some(_) if self.is_unbounded() => LEAST,
            Some(_) => MOST,
        }
    }

    /// Makes Newton steps from the present `w` until the inner problem is solved.
    fn minimise(&mut self, sigma: f64, aim: Accuracy, steps: u64, mut stop: impl FnMut(&Cost, f64) -> bool + Send) -> Round {
        let tol = if let Accuracy::Round(tol) = aim { tol } else { 0.0 };
        self.cost.rounds += 1;
        self.curvature.clear();
        for _ in 0..steps {
            // 2: the gradient of the inner problem.
            let gradient: Vec<f64> = self.w.iter().zip(&self.sum).map(|(w, s)| w - s).collect();
            let bias_gradient = self.wanted().map(|wanted| wanted - self.balance);
            let norm = dot(&gradient, &gradient).sqrt();
            let imbalance = self.longest * bias_gradient.unwrap_or(0.0).abs();
            let mut disturbed = self.longest * (norm + imbalance);
            let enough = (0.1 * tol).max(EARLY * self.violation);
            if let (Some(typical), Accuracy::Stage) = (self.typical, aim) {
                disturbed = typical * norm + self.longest * imbalance;
            } else if let Some(typical) = self.typical
                && disturbed > enough
                && typical * norm + self.longest * imbalance <= enough
            {
                // A few rows are far longer than the others: their products decide.
                disturbed = self.largest_product(&gradient) + self.longest * imbalance;
            }
            if disturbed <= enough {
                return Round::Solved;
            }
            if stop(&self.cost, self.violation.max(disturbed)) {
                return Round::Stopped;
            }
            self.cost.steps += 1;
            let system = System {
                rows: self.rows,
                memory: self.memory,
                dual: self.dual,
                scale: sigma,
                free: &self.free,
                weights: &self.weights,
                largest: self.longest * self.longest,
                par: self.par,
            };
            let accuracy = (0.1 * enough / disturbed).clamp(self.least_accuracy(), MOST);
            let (cost, violation) = (self.cost, self.violation.max(disturbed));
            let control =
                RunControl::new(|_| if stop(&cost, violation) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
            // 3: the Newton direction.
            let found = system.solve(&gradient, bias_gradient, accuracy, &mut self.curvature, &control);
            drop(control);
            let Ok((direction, bias_direction, gradients)) = found else { return Round::Stopped };
            self.cost.gradients += gradients;
            self.look_along(&direction, bias_direction);
            let wanted = self.wanted().unwrap_or(0.0) * bias_direction;
            let slope = dot(&gradient, &direction) + bias_gradient.unwrap_or(0.0) * bias_direction;
            let line = Line { linear: dot(&self.w, &direction) + wanted, square: dot(&direction, &direction), slope };
            // 4: the line search; `advance` is step 1.
            let t = search(&self.variables, &line, self.par);
            if t == 0.0 {
                // The rest is below rounding.
                return if disturbed <= tol.max(self.rounding()) { Round::Solved } else { Round::Unsolved };
            }
            self.w.iter_mut().zip(&direction).for_each(|(w, d)| *w += t * d);
            self.bias += t * bias_direction;
            self.advance(t);
        }
        Round::Unsolved
    }

    /// Returns the disturbance of margins that the rounding of `Σ s_k p_k x_k` causes.
    fn rounding(&self) -> f64 {
        let term = |(k, &id): (usize, &usize)| self.variables.get(k).p * self.squares[id].sqrt();
        rounding_of_sums(self.dual.ids().iter().enumerate().map(term).sum(), self.longest)
    }

    /// Returns the largest `|x_k · g|`.
    fn largest_product(&self, g: &[f64]) -> f64 {
        let mut out = vec![0.0; self.variables.len()];
        products(self.rows, self.dual.ids(), g, &mut out, self.par);
        out.iter().fold(0.0, |most, product| most.max(product.abs()))
    }

    /// Computes the decrease of every slack along a direction. The two variables of a row, one for
    /// each side of its value, share its product.
    fn look_along(&mut self, direction: &[f64], bias_direction: f64) {
        let (dual, rows) = (self.dual, self.rows);
        self.par.for_chunks(&mut self.row_products, CHUNK, |chunk, products| {
            products.iter_mut().enumerate().for_each(|(at, product)| *product = rows.dot(chunk * CHUNK + at, direction));
        });
        let known = &self.row_products;
        self.variables.set_falls(self.par, |k| {
            let id = dual.ids()[k];
            let product = known.get(id).copied().unwrap_or_else(|| rows.dot(id, direction));
            dual.sign()[k] * (product + bias_direction)
        });
    }

    /// Returns the present w and bias.
    pub(crate) fn own(&self) -> (&[f64], f64) {
        (&self.w, self.bias)
    }

    /// Returns the maximisers at the end of the last round.
    pub(crate) fn solution(&self) -> Vec<f64> {
        (0..self.variables.len()).map(|k| self.variables.get(k).p).collect()
    }
}

/// Returns base and weight of the maximiser `clip(base + weight · slack)`. Without an upper bound
/// there is no proximal term.
fn base_and_weight(alpha: f64, upper: f64, ridge: f64, sigma: f64) -> (f64, f64) {
    if upper.is_finite() {
        let damped = 1.0 + sigma * ridge;
        (alpha / damped, sigma / damped)
    } else {
        (0.0, 1.0 / ridge)
    }
}
