//! Iterative re-weighted least squares on a chunk (table 1 of the paper, damped).

use crate::chunk::{Chunk, ChunkSolver};
use crate::pairs::{self, Extremes};
use crate::project::rebalance;
use crate::system::System;
use crate::weighted::{Weighted, multiply};
use maxmargin_core::rounding_of_sums;
use maxmargin_simd::sums::{add_scaled, dot};

/// The last cap of the weights is at errors of this share of the tolerance: those of free samples
/// cannot be larger.
const CAP: f64 = 0.6;

/// Damping relative to the mean of the diagonal, at least: sets are read from errors divided by it,
/// and with less, rounding of the errors decides.
const LEAST: f64 = 1e-10;

/// What counts as a gain, as a share of the objective: some units in the last place.
const ROUNDING: f64 = 1e-15;

/// Iterations without gain and without a lesser violation after which a chunk is as well solved as
/// its numbers allow.
const STILL: u32 = 20;

/// As many as one counts for whose violation is within rounding.
const HOPELESS: u32 = 4;

/// Failed factorisations before pair steps take over for good.
const ATTEMPTS: u32 = 8;

/// The weighted least squares solver of chunks.
///
/// Errors `e = −f − b` (times the label's sign, as the paper has them) give weights `a = C / |e|`,
/// capped. With these fixed, the chunk is solved for the change Δ of β, which the weights damp;
/// from β = 0 that is the paper's step, from elsewhere it reaches bounds in finitely many. Then
/// come new weights. The dual objective falls every time; where it would fall by less than a pair
/// of samples can make it fall, pair steps are made instead: no re-weighting gains less than an
/// iteration of SMO, and SMO ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastSquares;

impl ChunkSolver for LeastSquares {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut dyn FnMut() -> bool) {
        let m = chunk.len();
        let mut system = System::new(chunk);
        let diagonal = (0..m).map(|i| chunk.kernel[i * m + i].abs()).sum::<f64>() / m.max(1) as f64;
        let sum = chunk.beta.iter().sum::<f64>();
        let (mut lift, mut failed, mut still) = (LEAST * diagonal, 0, 0);
        let linear = chunk.linear();
        let largest = (0..m).map(|i| chunk.kernel[i * m + i]).fold(0.0, f64::max);
        // What the rest of the samples brings is in the linear terms.
        let outside = linear.iter().fold(0.0, |most: f64, l| most.max(l.abs()));
        let terms = chunk.beta.iter().zip(&chunk.f).zip(&linear);
        let (mut objective, mut least) = (terms.map(|((b, f), l)| 0.5 * b * (f + l)).sum::<f64>().abs(), f64::INFINITY);
        loop {
            let extremes = Extremes::of(chunk);
            let violation = extremes.violation();
            if violation <= tol || violation.is_nan() || still > STILL || !more() {
                return;
            }
            let floor = pairs::worst(chunk, &extremes).gain;
            let made = failed < ATTEMPTS && {
                match Weighted::new(chunk).solve(0.5 * violation, CAP * tol, lift, &mut system, more) {
                    Some(solved) if solved.settled && feasible(chunk, &solved.step) => {
                        advance(chunk, &solved.step, &solved.product, floor)
                    }
                    Some(solved) => {
                        let mut beta: Vec<f64> = chunk.beta.iter().zip(&solved.step).map(|(b, s)| b + s).collect();
                        rebalance(&mut beta, &chunk.low, &chunk.high, sum);
                        let step: Vec<f64> = beta.iter().zip(&chunk.beta).map(|(b, old)| b - old).collect();
                        let product = multiply(chunk, &step);
                        advance(chunk, &step, &product, floor)
                    }
                    None => {
                        // Not definite in this precision: more damping, next time from the start.
                        failed += 1;
                        lift = (100.0 * lift).max(1e-9 * diagonal);
                        false
                    }
                }
            };
            if !made {
                descend(chunk, tol, m / 4, more);
            }
            // A gain that is lost in the rounding of the objective is none, however often it is
            // predicted.
            objective += floor;
            let noise = rounding_of_sums(chunk.beta.iter().map(|b| b.abs()).sum(), largest) + rounding_of_sums(outside, 1.0);
            let gains = floor > ROUNDING * objective && violation > noise;
            still = if gains || violation < 0.9 * least { 0 } else { still + if violation > noise { 1 } else { HOPELESS } };
            least = least.min(violation);
        }
    }
}

/// Whether a step keeps the balance to rounding, and to the box: an ill-conditioned system may lose
/// either.
fn feasible(chunk: &Chunk, step: &[f64]) -> bool {
    let (sum, mass) = step.iter().fold((0.0, 0.0), |(sum, mass), s| (sum + s, mass + s.abs()));
    let inside = |(k, s): (usize, &f64)| *s >= chunk.low[k] - chunk.beta[k] && *s <= chunk.high[k] - chunk.beta[k];
    sum.abs() <= 1e-14 * mass && step.iter().enumerate().all(inside)
}

/// Makes the step as far as it is good; whether it gains `floor`.
fn advance(chunk: &mut Chunk, step: &[f64], product: &[f64], floor: f64) -> bool {
    let (slope, curvature) = (dot(step, &chunk.f), dot(step, product));
    let gain_of = |share: f64| -share * (slope + 0.5 * share * curvature);
    let best = if curvature > 0.0 { (-slope / curvature).min(1.0) } else { 1.0 };
    // A full step meets bounds exactly; that is worth some of the gain.
    let share = if gain_of(1.0) >= 0.5 * gain_of(best) { 1.0 } else { best };
    let gain = gain_of(share);
    if gain.is_nan() || share <= 0.0 || gain <= 0.0 || gain < floor {
        return false;
    }
    for (k, &s) in step.iter().enumerate() {
        let to = chunk.beta[k] + s;
        let (low, high) = (chunk.low[k], chunk.high[k]);
        // Steps to bounds were made of differences: what is meant is the bound.
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

/// At most `most` pair steps (at least one): cheaper together than another factor.
fn descend(chunk: &mut Chunk, tol: f64, most: usize, more: &mut dyn FnMut() -> bool) {
    for made in 0..most.max(1) {
        let extremes = Extremes::of(chunk);
        if made > 0 && (extremes.violation() <= tol || extremes.violation().is_nan() || !more()) {
            return;
        }
        let pair = pairs::best(chunk, &extremes);
        pairs::make(chunk, &pair);
    }
}
