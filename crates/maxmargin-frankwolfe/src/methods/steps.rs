//! Frank-Wolfe, modified Frank-Wolfe and SWAP: single steps on the whole simplex.
//!
//! The notation of Frandi et al. (2013), with `g = K̃α`; the furthest point has the least `g`.
//!
//! ```text
//!   1  i* ← argmin g over all vertices, or over a random sample;  stop if the rule holds
//!   2  FW:    λ ← (αᵀg − g_i*) / (αᵀK̃α − 2 g_i* + K̃_ii);  α ← (1 − λ) α + λ e_i*
//!   3  MFW:   j* ← argmax g over the support; if αᵀg − g_i* ≥ g_j* − αᵀg: step 2, otherwise
//!            λ ← min((g_j* − αᵀg) / (αᵀK̃α − 2 g_j* + K̃_jj), α_j* / (1 − α_j*))
//!            α ← (1 + λ) α − λ e_j*
//!   4  SWAP:  the step with more gain of step 2 and α ← α + λ (e_i* − e_j*), 0 ≤ λ ≤ α_j*
//!   5  αᵀK̃α and g by their recurrences;  go to 1
//! ```

use crate::config::{Evidence, StepMethod, Steps, StopRule};
use crate::methods::candidates::{Candidates, Search};
use crate::point::ball::Ball;
use crate::point::iterate::{Iterate, Vertex};
use crate::point::tight::relative_gap;
use maxmargin_core::{SolverControl, Status};

/// The stopping rule and its tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) rule: StopRule,
    pub(crate) tol: f64,
    /// The largest `Q_kk`.
    pub(crate) delta2: f64,
    pub(crate) ridge: f64,
}

/// The schedule for the gap with the best slacks. It costs some passes, while the Frank-Wolfe gap
/// costs none and is larger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    calls: u64,
    next: u64,
    /// True if long runs compute it as often as short ones.
    often: bool,
    /// The last gap.
    last_gap: Option<f64>,
}

impl Check {
    /// Creates the schedule of a run by this control.
    pub(crate) fn of(control: &SolverControl) -> Self {
        Self { calls: 0, next: 0, often: control.is_traced(), last_gap: None }
    }

    /// Returns the measure for progress reports: the last gap, or the cheap measure before there is
    /// one.
    pub(crate) fn reported(&self, measure: f64) -> f64 {
        self.last_gap.unwrap_or(measure)
    }

    /// Returns true if [`StopRule::RelativeGap`] holds by the certificate's gap. It is computed now
    /// and then, more rarely in long runs.
    pub(crate) fn holds(&mut self, target: Target, iterate: &Iterate) -> bool {
        self.calls += 1;
        if self.calls < self.next || !iterate.full {
            return false;
        }
        self.next = self.calls + if self.often { LOOK } else { LOOK.max(self.calls / 16) };
        self.last_gap = target.certified(iterate);
        self.last_gap.is_some_and(|gap| gap <= target.tol)
    }
}

/// The least number of steps between two computations of the certificate's gap.
const LOOK: u64 = 128;

impl Target {
    /// Returns the rule's quantity, for comparison with its tolerance.
    pub(crate) fn measure(self, square: f64, furthest: f64, nearest: impl FnOnce() -> f64) -> f64 {
        let gap = square - furthest;
        let relative = |scale: f64| if gap <= 0.0 { 0.0 } else { gap / scale };
        match self.rule {
            StopRule::RelativeGap => relative((0.5 * square - furthest).abs().max(0.5 * square)),
            StopRule::Radius => (1.0 + 2.0 * relative(Ball { delta2: self.delta2, square }.radius2())).sqrt() - 1.0,
            StopRule::Violation => (nearest() - furthest).max(0.0),
        }
    }

    /// Returns the Frank-Wolfe gap at which the rule holds, or the violation for
    /// [`StopRule::Violation`].
    pub(crate) fn allowed(self, square: f64) -> f64 {
        match self.rule {
            StopRule::RelativeGap => 0.5 * self.tol * square,
            StopRule::Radius => Ball { delta2: self.delta2, square }.gap_allowed(self.tol),
            StopRule::Violation => self.tol,
        }
    }

    /// Returns the certificate's relative gap, if the rule is about it and the full gradient is
    /// kept.
    pub(crate) fn certified(self, iterate: &Iterate) -> Option<f64> {
        let known = self.rule == StopRule::RelativeGap && self.ridge > 0.0 && iterate.full;
        known.then(|| {
            let margins = || (0..iterate.len()).map(|k| iterate.gradient(k) - self.ridge * iterate.alpha(k));
            let squares = iterate.support.iter().map(|&k| iterate.alpha(k as usize) * iterate.alpha(k as usize)).sum();
            relative_gap(margins, iterate.square, squares, self.ridge)
        })
    }

    /// Returns true if the rule holds, by the certificate's gap or by the cheaper one.
    pub(crate) fn holds(self, iterate: &mut Iterate, furthest: Vertex, tol: f64) -> bool {
        self.at(iterate, furthest) <= tol || self.certified(iterate).is_some_and(|gap| gap <= tol)
    }

    /// Returns [`Target::measure`] at a point.
    pub(crate) fn at(self, iterate: &mut Iterate, furthest: Vertex) -> f64 {
        self.measure(iterate.square, furthest.gradient, || iterate.nearest().gradient)
    }
}

/// Makes steps until the rule holds.
pub(crate) fn run(
    method: StepMethod,
    target: Target,
    iterate: &mut Iterate,
    candidates: &mut Candidates,
    steps: &mut Steps,
    control: &mut SolverControl,
) -> (Status, Evidence) {
    let mut stall = StallDetector::new(iterate.len());
    let mut check = Check::of(control);
    let passes = passes(method, target.rule);
    if method == StepMethod::Fw && target.rule == StopRule::Violation {
        // Plain steps never remove a point, so that this violation need not fall at all. The gap of
        // Frank-Wolfe falls like 1/t: at most by half while the steps double.
        control.limit_fall(2.0);
    }
    loop {
        if let Err(status) = candidates.keep(iterate, control) {
            return (status, Evidence::None);
        }
        // 1: the furthest point.
        let furthest = match search_or_end(target, iterate, candidates, &mut check, steps, control) {
            Ok(vertex) => vertex,
            Err(ended) => return ended,
        };
        let measure = target.at(iterate, furthest);
        if let Some(status) = control.ended_or_slow(check.reported(measure)) {
            return (status, Evidence::None);
        }
        if let Err(status) = iterate.ready(furthest.k, measure, control) {
            return (status, Evidence::None);
        }
        let before = iterate.square;
        // 2 to 5: the step.
        let moved = match method {
            StepMethod::Mfw => modified(iterate, furthest, steps),
            StepMethod::Swap => swap(iterate, furthest, steps),
            _ => toward(iterate, furthest, steps),
        };
        control.step(passes * iterate.len());
        if !moved || stall.stalls(before - iterate.square, iterate.square, measure) {
            return (Status::Stalled, Evidence::None);
        }
    }
}

/// Returns the number of passes over the gradient in a step: one for the furthest point and the
/// update, and one for the nearest point of the support where the method or the rule asks for it.
fn passes(method: StepMethod, rule: StopRule) -> usize {
    1 + usize::from(rule == StopRule::Violation || matches!(method, StepMethod::Mfw | StepMethod::Swap))
}

/// Searches for the furthest point; returns the end of the run if the rule holds (step 1).
pub(crate) fn search_or_end(
    target: Target,
    iterate: &mut Iterate,
    candidates: &mut Candidates,
    check: &mut Check,
    steps: &mut Steps,
    control: &mut SolverControl,
) -> Result<Vertex, (Status, Evidence)> {
    let found = candidates.search(iterate, control, |iterate, vertex| target.at(iterate, vertex) <= target.tol);
    steps.samples = candidates.samples;
    match found {
        Err(status) => Err((status, Evidence::None)),
        Ok(Search::NoViolator(true)) => Err((Status::Converged, Evidence::FullScan)),
        Ok(Search::NoViolator(false)) => Err((Status::Converged, Evidence::Sample)),
        Ok(Search::Furthest(_)) if check.holds(target, iterate) => Err((Status::Converged, Evidence::FullScan)),
        Ok(Search::Furthest(vertex)) => Ok(vertex),
    }
}

/// Detects runs that make no progress any more.
struct StallDetector {
    window: u64,
    steps: u64,
    gained: f64,
    least: f64,
    least_before: f64,
}

impl StallDetector {
    fn new(vertices: usize) -> Self {
        Self { window: 100_000.max(vertices as u64), steps: 0, gained: 0.0, least: f64::INFINITY, least_before: f64::INFINITY }
    }

    /// Returns true if a window of steps gained less than `f64` can hold and came no nearer to the
    /// rule.
    fn stalls(&mut self, gain: f64, square: f64, measure: f64) -> bool {
        self.gained += gain;
        self.least = self.least.min(measure);
        self.steps += 1;
        if !self.steps.is_multiple_of(self.window) {
            return false;
        }
        let still = self.gained <= 1e-12 * square && self.least >= self.least_before;
        self.least_before = self.least_before.min(self.least);
        (self.gained, self.least) = (0.0, f64::INFINITY);
        still
    }
}

/// Makes the best step towards the furthest point (step 2): `λ = (αᵀg − g_i) / (αᵀQα − 2 g_i +
/// Q_ii)`, which is `½ (1 − r²/γ²)` if all `Q_ii` are Δ².
fn toward(iterate: &mut Iterate, furthest: Vertex, steps: &mut Steps) -> bool {
    let slope = iterate.square - furthest.gradient;
    let curvature = iterate.square - 2.0 * furthest.gradient + iterate.diagonal[furthest.k];
    if !(slope > 0.0 && curvature > 0.0) {
        return false;
    }
    let row = iterate.row(furthest.k);
    iterate.toward(furthest, (slope / curvature).min(1.0), false, &row);
    steps.toward += 1;
    true
}

/// Makes the steeper of the steps towards the furthest and away from the nearest point (step 3;
/// algorithm 3 of the paper, `δ₊ ≥ δ₋`).
fn modified(iterate: &mut Iterate, furthest: Vertex, steps: &mut Steps) -> bool {
    let nearest = iterate.nearest();
    let (plus, minus) = (iterate.square - furthest.gradient, nearest.gradient - iterate.square);
    if plus >= minus || iterate.support.len() < 2 || nearest.k == usize::MAX {
        return toward(iterate, furthest, steps);
    }
    let curvature = iterate.square - 2.0 * nearest.gradient + iterate.diagonal[nearest.k];
    let alpha = iterate.alpha(nearest.k);
    let most = alpha / (1.0 - alpha);
    let best = if curvature > 0.0 { minus / curvature } else { f64::INFINITY };
    let row = iterate.row(nearest.k);
    iterate.toward(nearest, -best.min(most), best >= most, &row);
    steps.away += 1;
    steps.drop += u64::from(best >= most);
    true
}

/// Makes the step of step 4 that lowers the objective more. A swap that empties the nearest vertex
/// is always taken; these are few, since no vertex is emptied more often than it was filled.
fn swap(iterate: &mut Iterate, furthest: Vertex, steps: &mut Steps) -> bool {
    let nearest = iterate.nearest();
    if nearest.k == furthest.k || nearest.k == usize::MAX {
        return toward(iterate, furthest, steps);
    }
    let row = iterate.row(furthest.k);
    // Returns the decrease of ½ αᵀQα by the best step of at most `most`, and the step.
    let gain = |slope: f64, curvature: f64, most: f64| {
        let step = if curvature > 0.0 { (slope / curvature).min(most) } else { most };
        (step * (slope - 0.5 * step * curvature), step)
    };
    let slope = iterate.square - furthest.gradient;
    let (forward, _) = gain(slope, iterate.square - 2.0 * furthest.gradient + iterate.diagonal[furthest.k], 1.0);
    let alpha = iterate.alpha(nearest.k);
    let curvature = iterate.curvature(furthest.k, nearest.k, &row);
    let (exchange, lambda) = gain(nearest.gradient - furthest.gradient, curvature, alpha);
    // Take a swap that empties a vertex even for a small gain. Later steps would only shrink its α,
    // and it would stay in the support.
    if !(exchange > 0.0 && (exchange > forward || lambda == alpha)) {
        return toward(iterate, furthest, steps);
    }
    let row_j = iterate.row(nearest.k);
    iterate.swap(furthest, nearest, lambda, lambda == alpha, &row, &row_j);
    steps.swap += 1;
    steps.drop += u64::from(lambda == alpha);
    true
}
