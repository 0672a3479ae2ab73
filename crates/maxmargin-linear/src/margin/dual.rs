//! Coordinate descent on the dual of logistic regression (Yu, Huang and Lin, *Dual coordinate
//! descent methods for logistic regression and maximum entropy models*, 2011), with uniform or
//! adaptive frequencies.
//!
//! ```text
//!   1  w ← Σ α_i y_i x_i
//!   2  for i in a random order:  s ← the root of  y_i w·x_i + Q_ii (C_i σ(s) − α_i) + s
//!   3    α_i ← C_i σ(s);  w += y_i Δα_i x_i
//! ```
//!
//! The dual variable is the logistic function of `s`, so that its bounds need no care: the function
//! of step 2 rises with a slope of at least 1.

use crate::config::Method;
use crate::coordinate::avsf::Frequencies;
use crate::coordinate::descent::BETWEEN as BETWEEN_CHECKS;
use crate::coordinate::order::shuffle;
use crate::margin::context::MarginRun;
use crate::margin::newton::L2Problem;
use crate::margin::passes::Passes;
use maxmargin_core::{Certificate, Goal, MarginProblem, Status, certify_margin_rows};
use maxmargin_kernel::features::FeatureRows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The most steps on one variable.
const MOST: u32 = 50;

/// Sweeps until the next check of the gap, relative to those before it.
const BETWEEN: f64 = 0.15;

/// Sweeps that are forecast to be more than this are left to Newton steps.
const WORTH: f64 = 120.0;

/// The sweeps before the first check.
const FIRST: u64 = 3;

/// The checks without a smaller gap after which rounding allows no further progress.
const STANDSTILL: u32 = 30;

/// The state of the descent.
struct LogisticDescent<'p, 'r, R> {
    problem: &'p L2Problem<'r, R>,
    squares: Vec<f64>,
    /// The logit of `α_i / C_i`; none before the first step on the variable.
    logit: Vec<Option<f64>>,
    alpha: Vec<f64>,
    w: Vec<f64>,
}

/// The problem whose certificate ends a descent.
pub(crate) struct Certifier<'a> {
    pub(crate) problem: &'a MarginProblem,
    /// `x · x` of every row.
    pub(crate) squares: &'a [f64],
    pub(crate) goal: Goal,
}

/// The end of a descent.
pub(crate) struct DescentEnd {
    pub(crate) w: Vec<f64>,
    /// The certificate of these weights, if it met the goal.
    pub(crate) certificate: Option<Certificate>,
    /// True if Newton steps have to go on.
    pub(crate) is_slow: bool,
}

impl<R: FeatureRows> L2Problem<'_, R> {
    /// Minimises from `α = 0` until the goal is met; if `gives_up`, until Newton steps are forecast
    /// to be cheaper.
    pub(crate) fn dual_descent(&self, certifier: &Certifier, gives_up: bool, run: &mut MarginRun) -> DescentEnd {
        let (n, goal) = (self.passes.ids.len(), certifier.goal);
        let squares = self.passes.ids.iter().map(|&id| certifier.squares[id]).collect();
        let (alpha, w) = (vec![0.0; n], vec![0.0; self.passes.rows.width()]);
        let mut descent = LogisticDescent { problem: self, squares, logit: vec![None; n], alpha, w };
        let mut visits = Visits::new(n, run);
        let (mut due, mut last) = (FIRST, None::<(u64, f64)>);
        let (mut least, mut still) = (f64::INFINITY, 0);
        loop {
            visits.sweep(&mut descent, run);
            let sweeps = run.work.sweeps;
            let over = run.control.check(run.work.steps, f64::INFINITY) || run.control.spent(run.work.steps + n as u64);
            let mut is_slow = false;
            if sweeps >= due {
                due = sweeps + 2 + (BETWEEN * sweeps as f64) as u64;
                let Passes { rows, par, .. } = &self.passes;
                let certificate = certify_margin_rows(certifier.problem, *rows, certifier.squares, &descent.w, *par);
                if goal.met(&certificate) {
                    return DescentEnd { w: descent.w, certificate: Some(certificate), is_slow };
                }
                // The gap is the square of a gradient.
                let of_gap = goal.gap().map_or(0.0, |gap| certificate.relative_gap() / gap);
                let left = of_gap.max(goal.kkt().map_or(0.0, |kkt| (certificate.kkt / kkt).powi(2)));
                if let Some((before, gap)) = last.filter(|_| gives_up) {
                    // The gap falls by about the same factor in every sweep.
                    let rate = (gap / left).ln() / (sweeps - before) as f64;
                    is_slow = rate.is_nan() || rate <= 0.0 || left.ln() / rate > WORTH;
                }
                last = Some((sweeps, left));
                still = if left < 0.9 * least { 0 } else { still + 1 };
                least = least.min(left);
                if still > 0 {
                    visits.reset();
                }
                if still >= STANDSTILL {
                    run.control.ended.get_or_insert(Status::Stalled);
                    return DescentEnd { w: descent.w, certificate: None, is_slow };
                }
            }
            if over || is_slow {
                return DescentEnd { w: descent.w, certificate: None, is_slow };
            }
        }
    }
}

/// The order of visits: random permutations, or adaptive frequencies.
enum Visits {
    Uniform { order: Vec<u32>, random: ChaCha8Rng },
    Adaptive { frequencies: Frequencies, random: ChaCha8Rng },
}

impl Visits {
    fn new(n: usize, run: &MarginRun) -> Self {
        let random = ChaCha8Rng::seed_from_u64(run.config.seed);
        if run.config.method == Method::Avsf {
            Self::Adaptive { frequencies: Frequencies::new(n, false), random }
        } else {
            Self::Uniform { order: (0..n as u32).collect(), random }
        }
    }

    /// Gives every variable its turn again: frequencies that were learnt early may leave one out.
    fn reset(&mut self) {
        if let Self::Adaptive { frequencies, .. } = self {
            frequencies.reset();
        }
    }

    /// Makes as many steps as there are variables, until the run is cancelled.
    fn sweep<R: FeatureRows>(&mut self, descent: &mut LogisticDescent<R>, run: &mut MarginRun) {
        let mut asked = run.work.entries;
        let mut goes_on = |run: &mut MarginRun| {
            let due = run.work.entries - asked > BETWEEN_CHECKS;
            if due {
                asked = run.work.entries;
            }
            !(due && run.control.check(run.work.steps, f64::INFINITY))
        };
        match self {
            Self::Adaptive { frequencies, random } => {
                for at in 0..frequencies.draw(random) {
                    let k = frequencies.scheduled(at);
                    let gain = descent.step(k, run);
                    frequencies.learn(k, gain);
                    if !goes_on(run) {
                        return;
                    }
                }
                frequencies.swept();
            }
            Self::Uniform { order, random } => {
                shuffle(order, random);
                let passes = &descent.problem.passes;
                for at in 0..order.len() {
                    if let Some(&soon) = order.get(at + 4) {
                        passes.rows.prefetch(passes.ids[soon as usize]);
                    }
                    descent.step(order[at] as usize, run);
                    if !goes_on(run) {
                        return;
                    }
                }
            }
        }
        run.work.sweeps += 1;
    }
}

impl<R: FeatureRows> LogisticDescent<'_, '_, R> {
    /// Minimises over variable `k` (steps 2 and 3); returns about the gain, half the product of
    /// gradient and change.
    fn step(&mut self, k: usize, run: &mut MarginRun) -> f64 {
        let (targets, passes) = (&self.problem.targets, &self.problem.passes);
        let (id, y, c, q) = (passes.ids[k], targets.sign[k], targets.cost[k], self.squares[k]);
        run.work.steps += 1;
        run.work.entries += 2 * passes.rows.entries_of(id) as u64;
        let margin = y * passes.rows.dot(id, &self.w);
        let old = self.alpha[k];
        let is_first = self.logit[k].is_none();
        let mut s = self.logit[k].unwrap_or(-margin);
        let before = margin + s;
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for at in 0..MOST {
            let share = 1.0 / (1.0 + (-s).exp());
            let value = margin + q * (c * share - old) + s;
            if value.abs() <= 1e-10 * (1.0 + margin.abs() + s.abs()) {
                break;
            }
            if value > 0.0 {
                high = s;
            } else {
                low = s;
            }
            // The function is flat on both sides of its rise: Newton steps alone may go to and fro
            // between them.
            let next = s - value / (1.0 + q * c * share * (1.0 - share));
            let halves = at % 4 == 3 && low.is_finite() && high.is_finite();
            s = if halves || next <= low || next >= high { 0.5 * (low + high) } else { next };
        }
        let new = c / (1.0 + (-s).exp());
        let delta = new - old;
        (self.alpha[k], self.logit[k]) = (new, Some(s));
        passes.rows.add(id, y * delta, &mut self.w);
        // The gradient at 0 is infinite: the first step gains about its length.
        if is_first { delta.abs() } else { 0.5 * (before * delta).abs() }
    }
}
