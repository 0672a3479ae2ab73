//! Iterative re-weighted least squares on a chunk (table 1 of the paper, damped).
//!
//! ```text
//!   1  stop if the violation inside the chunk is at most tol
//!   2  e ← −f − b;  a ← C / |e|, capped;  D ← diag(a)
//!   3  S1 ← free samples, S2 ← at the lower bound, S3 ← at the upper bound
//!   4  solve [ K_S1,S1 + D⁻¹  1 ; 1ᵀ  0 ] [ Δ_S1 ; b ] = [ −f − K_S1,S3 Δ_S3 ; −Σ Δ_S3 ]
//!   5  re-sort the sets by the new errors; repeat 4 until they stay (weighted.rs)
//!   6  β += η Δ;  f += η K Δ, with the η of largest gain
//!   7  if 6 gains less than the pair that violates most: pair steps instead;  go to 1
//! ```

use crate::inner_solver::elimination::{self, Sorted};
use crate::inner_solver::pairs::{self, Extremes};
use crate::inner_solver::system::System;
use crate::inner_solver::weighted::{Caps, Weighted, WeightedStep};
use crate::working_set::chunk::{Chunk, ChunkSolver};
use crate::working_set::project::rebalance;
use maxmargin_core::rounding_of_sums;
use maxmargin_simd::sums::{add_scaled, dot};

/// The last cap of the weights is at errors of this share of the tolerance. Errors of free samples
/// cannot be larger.
const CAP: f64 = 0.6;

/// The least damping relative to the mean of the diagonal. The sets follow from errors divided by
/// it; with less damping, the rounding of the errors would decide.
const LEAST: f64 = 1e-10;

/// The least gain, as a share of the objective: some units in the last place.
const ROUNDING: f64 = 1e-15;

/// The iterations without gain and without a smaller violation after which a chunk is solved as
/// well as its precision allows.
const STILL: u32 = 20;

/// An iteration whose violation is within rounding counts as this many.
const ROUNDING_COUNT: u32 = 4;

/// The violation, as a multiple of the tolerance, from which samples are eliminated. Below it few
/// systems are left to solve.
const ELIMINATED_FROM: f64 = 4.0;

/// The failed factorisations after which only pair steps are made.
const ATTEMPTS: u32 = 8;

/// The weighted least squares solver of chunks.
///
/// Errors `e = −f − b` (times the label's sign, as in the paper) give weights `a = C / |e|`,
/// capped. With fixed weights the chunk is solved for the change Δ of β, which the weights damp.
/// From β = 0 that is the paper's step; from other points it reaches bounds in finitely many steps.
/// Then the weights are updated.
///
/// The dual objective falls in every iteration. If it would fall by less than the step of one pair,
/// pair steps are made instead. So no re-weighting gains less than an iteration of SMO, and SMO
/// terminates.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastSquares;

impl ChunkSolver for LeastSquares {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut (dyn FnMut() -> bool + Send)) {
        let m = chunk.len();
        let mut system = System::new(chunk);
        let diagonal = (0..m).map(|i| chunk.kernel[i * m + i].abs()).sum::<f64>() / m.max(1) as f64;
        let sum = chunk.beta.iter().sum::<f64>();
        let (mut lift, mut failed, mut still) = (LEAST * diagonal, 0, 0);
        let mut eliminates = true;
        let linear = chunk.linear();
        let largest = (0..m).map(|i| chunk.kernel[i * m + i]).fold(0.0, f64::max);
        // The linear terms contain the part of the samples outside the chunk.
        let outside = linear.iter().fold(0.0, |most: f64, l| most.max(l.abs()));
        let terms = chunk.beta.iter().zip(&chunk.f).zip(&linear);
        let (mut objective, mut least) = (terms.map(|((b, f), l)| 0.5 * b * (f + l)).sum::<f64>().abs(), f64::INFINITY);
        loop {
            let extremes = Extremes::of(chunk);
            let violation = extremes.violation();
            if violation <= tol || violation.is_nan() || still > STILL || !more() {
                return;
            }
            // 7 needs the gain of the pair that violates most.
            let floor = pairs::worst(chunk, &extremes).gain;
            // 2 to 6: the damped step.
            let made = failed < ATTEMPTS && {
                let caps = Caps { begin: 0.5 * violation, end: CAP * tol, lift };
                match step_of(chunk, caps, &mut system, eliminates && violation > ELIMINATED_FROM * tol, more) {
                    Some(step) if step.settled && feasible(chunk, &step.delta) => {
                        advance(chunk, &step.delta, &step.product, floor)
                    }
                    Some(step) => {
                        let mut beta: Vec<f64> = chunk.beta.iter().zip(&step.delta).map(|(b, s)| b + s).collect();
                        rebalance(&mut beta, &chunk.low, &chunk.high, sum);
                        let step: Vec<f64> = beta.iter().zip(&chunk.beta).map(|(b, old)| b - old).collect();
                        let product = chunk.multiply(&step);
                        advance(chunk, &step, &product, floor)
                    }
                    None => {
                        // The matrix is not definite in this precision: use more damping next time.
                        failed += 1;
                        lift = (100.0 * lift).max(1e-9 * diagonal);
                        false
                    }
                }
            };
            eliminates = made;
            if !made {
                descend(chunk, tol, m / 4, more);
            }
            // A gain below the rounding of the objective is no progress, even if it is predicted
            // repeatedly.
            objective += floor;
            let noise = rounding_of_sums(chunk.beta.iter().map(|b| b.abs()).sum(), largest) + rounding_of_sums(outside, 1.0);
            let gains = floor > ROUNDING * objective && violation > noise;
            still = if gains || violation < 0.9 * least { 0 } else { still + if violation > noise { 1 } else { ROUNDING_COUNT } };
            least = least.min(violation);
        }
    }
}

/// Returns the step with fixed weights, by eliminations if `eliminates` and most samples are well
/// between their bounds.
fn step_of(
    chunk: &Chunk,
    caps: Caps,
    system: &mut System,
    eliminates: bool,
    more: &mut (dyn FnMut() -> bool + Send),
) -> Option<WeightedStep> {
    if let Some(sorted) = eliminates.then(|| Sorted::of_large(chunk)).flatten() {
        // The elimination takes the memory of an earlier factor.
        *system = System::new(chunk);
        if let Some(step) = elimination::step_of(chunk, sorted, caps, more) {
            return Some(step);
        }
        // After a cancellation the memory of another factor would be touched for nothing.
        if !more() {
            return None;
        }
    }
    Weighted::new(chunk).solve(caps, system, more)
}

/// Returns true if a step keeps the sum to rounding, and the box: an ill-conditioned system may
/// violate either.
fn feasible(chunk: &Chunk, step: &[f64]) -> bool {
    let (sum, mass) = step.iter().fold((0.0, 0.0), |(sum, mass), s| (sum + s, mass + s.abs()));
    let inside = |(k, s): (usize, &f64)| *s >= chunk.low[k] - chunk.beta[k] && *s <= chunk.high[k] - chunk.beta[k];
    sum.abs() <= 1e-14 * mass && step.iter().enumerate().all(inside)
}

/// Makes the step as far as it gains most; returns true if it gains `floor`.
fn advance(chunk: &mut Chunk, step: &[f64], product: &[f64], floor: f64) -> bool {
    let (slope, curvature) = (dot(step, &chunk.f), dot(step, product));
    let gain_of = |share: f64| -share * (slope + 0.5 * share * curvature);
    let best = if curvature > 0.0 { (-slope / curvature).min(1.0) } else { 1.0 };
    // A full step meets bounds exactly, which is worth some of the gain.
    let share = if gain_of(1.0) >= 0.5 * gain_of(best) { 1.0 } else { best };
    let gain = gain_of(share);
    if gain.is_nan() || share <= 0.0 || gain <= 0.0 || gain < floor {
        return false;
    }
    for (k, &s) in step.iter().enumerate() {
        let to = chunk.beta[k] + s;
        let (low, high) = (chunk.low[k], chunk.high[k]);
        // Steps to bounds were computed as differences: set the bound itself.
        let meant = if s == low - chunk.beta[k] {
            low
        } else if s == high - chunk.beta[k] {
            high
        } else {
            to
        };
        chunk.beta[k] = if share == 1.0 { meant.clamp(low, high) } else { (chunk.beta[k] + share * s).clamp(low, high) };
    }
    add_scaled(&mut chunk.f, share, product);
    true
}

/// Makes at most `most` pair steps (at least one): together they are cheaper than another factor.
fn descend(chunk: &mut Chunk, tol: f64, most: usize, more: &mut (dyn FnMut() -> bool + Send)) {
    for made in 0..most.max(1) {
        let extremes = Extremes::of(chunk);
        if made > 0 && (extremes.violation() <= tol || extremes.violation().is_nan() || !more()) {
            return;
        }
        let pair = pairs::best(chunk, &extremes);
        pairs::make(chunk, &pair);
    }
}
