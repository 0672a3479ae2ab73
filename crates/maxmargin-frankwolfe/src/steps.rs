//! Frank-Wolfe, modified Frank-Wolfe and SWAP: one step after the other on the whole simplex.

use crate::ball::Ball;
use crate::candidates::{Candidates, Search};
use crate::config::{Evidence, Method, Rule, Steps};
use crate::iterate::{Iterate, Vertex};
use crate::tight::relative_gap;
use maxmargin_core::{Clock, Status};

/// The rule and how far it has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) rule: Rule,
    pub(crate) tol: f64,
    /// The largest `Q_kk`.
    pub(crate) delta2: f64,
    pub(crate) ridge: f64,
}

/// When to look at the gap with the best slacks, which costs some passes where the Frank-Wolfe gap
/// costs none and is larger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    calls: u64,
    next: u64,
    /// Whether long runs are looked at as often as short ones.
    often: bool,
    /// What the last look saw.
    seen: Option<f64>,
}

impl Check {
    /// Looks of a run by this clock.
    pub(crate) fn of(clock: &Clock) -> Self {
        Self { calls: 0, next: 0, often: clock.follows(), seen: None }
    }

    /// What progress is told of: the gap when it was last looked at, and the cheap measure where
    /// nobody looks.
    pub(crate) fn told(&self, measure: f64) -> f64 {
        self.seen.unwrap_or(measure)
    }

    /// Whether [`Rule::RelativeGap`] holds by the certificate's gap; looked at now and then, more
    /// rarely as the run gets long.
    pub(crate) fn holds(&mut self, target: Target, iterate: &Iterate) -> bool {
        self.calls += 1;
        if self.calls < self.next || !iterate.full {
            return false;
        }
        self.next = self.calls + if self.often { LOOK } else { LOOK.max(self.calls / 16) };
        self.seen = target.certified(iterate);
        self.seen.is_some_and(|gap| gap <= target.tol)
    }
}

/// Steps between two looks at the certificate's gap, at least.
const LOOK: u64 = 128;

impl Target {
    /// The rule's quantity, to be compared with its tolerance.
    pub(crate) fn measure(self, square: f64, furthest: f64, nearest: impl FnOnce() -> f64) -> f64 {
        let gap = square - furthest;
        let relative = |scale: f64| if gap <= 0.0 { 0.0 } else { gap / scale };
        match self.rule {
            Rule::RelativeGap => relative((0.5 * square - furthest).abs().max(0.5 * square)),
            Rule::Radius => (1.0 + 2.0 * relative(Ball { delta2: self.delta2, square }.radius2())).sqrt() - 1.0,
            Rule::Violation => (nearest() - furthest).max(0.0),
        }
    }

    /// The Frank-Wolfe gap or, by [`Rule::Violation`], the violation at which the rule holds.
    pub(crate) fn allowed(self, square: f64) -> f64 {
        match self.rule {
            Rule::RelativeGap => 0.5 * self.tol * square,
            Rule::Radius => Ball { delta2: self.delta2, square }.gap_allowed(self.tol),
            Rule::Violation => self.tol,
        }
    }

    /// The certificate's relative gap, where the rule is about it and the gradient is known
    /// everywhere.
    pub(crate) fn certified(self, iterate: &Iterate) -> Option<f64> {
        let known = self.rule == Rule::RelativeGap && self.ridge > 0.0 && iterate.full;
        known.then(|| {
            let margins = || (0..iterate.len()).map(|k| iterate.gradient(k) - self.ridge * iterate.alpha(k));
            let squares = iterate.support.iter().map(|&k| iterate.alpha(k as usize) * iterate.alpha(k as usize)).sum();
            relative_gap(margins, iterate.square, squares, self.ridge)
        })
    }

    /// Whether the rule holds, by the certificate's gap or by the cheaper one.
    pub(crate) fn holds(self, iterate: &mut Iterate, furthest: Vertex, tol: f64) -> bool {
        self.at(iterate, furthest) <= tol || self.certified(iterate).is_some_and(|gap| gap <= tol)
    }

    /// [`Target::measure`] at a point.
    pub(crate) fn at(self, iterate: &mut Iterate, furthest: Vertex) -> f64 {
        self.measure(iterate.square, furthest.gradient, || iterate.nearest().gradient)
    }
}

/// Makes steps until the rule holds.
pub(crate) fn run(
    method: Method,
    target: Target,
    iterate: &mut Iterate,
    candidates: &mut Candidates,
    steps: &mut Steps,
    clock: &mut Clock,
) -> (Status, Evidence) {
    let mut pace = Pace::new(iterate.len());
    let mut check = Check::of(clock);
    loop {
        if let Err(status) = candidates.keep(iterate, clock) {
            return (status, Evidence::None);
        }
        let found = candidates.search(iterate, clock, |iterate, vertex| target.at(iterate, vertex) <= target.tol);
        steps.samples = candidates.samples;
        let furthest = match found {
            Err(status) => return (status, Evidence::None),
            Ok(Search::Nothing(true)) => return (Status::Converged, Evidence::FullScan),
            Ok(Search::Nothing(false)) => return (Status::Converged, Evidence::Sample),
            Ok(Search::Found(_)) if check.holds(target, iterate) => return (Status::Converged, Evidence::FullScan),
            Ok(Search::Found(vertex)) => vertex,
        };
        let measure = target.at(iterate, furthest);
        if let Some(status) = clock.ended_or_slow(check.told(measure)) {
            return (status, Evidence::None);
        }
        if let Err(status) = iterate.ready(furthest.k, measure, clock) {
            return (status, Evidence::None);
        }
        let before = iterate.square;
        let moved = match method {
            Method::Mfw => modified(iterate, furthest, steps),
            Method::Swap => swap(iterate, furthest, steps),
            _ => toward(iterate, furthest, steps),
        };
        clock.step(iterate.len());
        if !moved || pace.stalls(before - iterate.square, iterate.square, measure) {
            return (Status::Stalled, Evidence::None);
        }
    }
}

/// Watches whether the run still gets anywhere.
struct Pace {
    window: u64,
    steps: u64,
    gained: f64,
    least: f64,
    least_before: f64,
}

impl Pace {
    fn new(vertices: usize) -> Self {
        Self { window: 100_000.max(vertices as u64), steps: 0, gained: 0.0, least: f64::INFINITY, least_before: f64::INFINITY }
    }

    /// Whether a window of steps gained nothing that `f64` holds and came no nearer to the rule.
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

/// `λ = (αᵀg − g_i) / (αᵀQα − 2 g_i + Q_ii)`: the least objective towards the furthest point; `½ (1
/// − r²/γ²)` where all `Q_ii` are Δ².
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

/// The steeper of the directions towards the furthest and away from the nearest point (algorithm 3;
/// `δ₊ ≥ δ₋` of the paper).
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

/// A step towards the furthest point, or of mass from the nearest to it: whichever lowers the
/// objective more, and the second wherever it empties the nearest. No vertex is emptied more often
/// than it was filled, so that these steps are few.
fn swap(iterate: &mut Iterate, furthest: Vertex, steps: &mut Steps) -> bool {
    let nearest = iterate.nearest();
    if nearest.k == furthest.k || nearest.k == usize::MAX {
        return toward(iterate, furthest, steps);
    }
    let row = iterate.row(furthest.k);
    // Decrease of ½ αᵀQα by the best step of at most `most` along a direction.
    let gain = |slope: f64, curvature: f64, most: f64| {
        let step = if curvature > 0.0 { (slope / curvature).min(most) } else { most };
        (step * (slope - 0.5 * step * curvature), step)
    };
    let slope = iterate.square - furthest.gradient;
    let (forward, _) = gain(slope, iterate.square - 2.0 * furthest.gradient + iterate.diagonal[furthest.k], 1.0);
    let alpha = iterate.alpha(nearest.k);
    let curvature = iterate.curvature(furthest.k, nearest.k, &row);
    let (exchange, lambda) = gain(nearest.gradient - furthest.gradient, curvature, alpha);
    // A vertex that the exchange empties goes, however little that gains: steps towards others only
    // shrink its α, and it stays for ever.
    if !(exchange > 0.0 && (exchange > forward || lambda == alpha)) {
        return toward(iterate, furthest, steps);
    }
    let row_j = iterate.row(nearest.k);
    iterate.swap(furthest, nearest, lambda, lambda == alpha, &row, &row_j);
    steps.swap += 1;
    steps.drop += u64::from(lambda == alpha);
    true
}
