//! Iterative re-weighted least squares on a chunk (table 1 of the paper, damped).

use crate::chunk::{Chunk, ChunkSolver};
use crate::pairs::{self, Extremes};
use crate::project::project;
use crate::system::System;
use maxmargin_simd::sums::{add_scaled, dot};

/// Weights are capped where the error is this share of the tolerance: below it the damping would be all that keeps the system from being singular.
const CAP: f64 = 0.1;

/// Damping relative to the mean of the diagonal, at least: what `f64` leaves of the smallest pivot.
const LEAST: f64 = 1e-12;

/// Failed factorisations before pair steps take over for good.
const ATTEMPTS: u32 = 8;

/// The weighted least squares solver of chunks.
///
/// A step solves `(K + D⁻¹) Δ + δ·1 = e` over the samples S1 that are free or at a bound with an error of the wrong sign, where `e = −f − b` is the
/// error times the label's sign as the paper has it and `D⁻¹ = |e| / C` the inverse of its weight, capped. From β = 0 that is equation (3) of
/// the paper; from elsewhere the weights damp the change of β and not β itself, so that bounds are reached in finitely many steps. The step
/// is projected on the box and the balance, and cut where the dual objective is least along it. Where that gains less than a pair of
/// samples would, pair steps are made instead: no iteration gains less than one of SMO, and SMO ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastSquares;

impl ChunkSolver for LeastSquares {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut dyn FnMut() -> bool) {
        let m = chunk.len();
        let mut f = chunk.f.clone();
        let mut system = System::new(chunk);
        let diagonal = (0..m).map(|i| chunk.kernel[i * m + i].abs()).sum::<f64>() / m.max(1) as f64;
        let sum = chunk.beta.iter().sum::<f64>();
        let (mut lift, mut failed) = (LEAST * diagonal, 0);
        let (mut threshold, mut wanted, mut step) = (f64::NAN, vec![f64::NAN; m], vec![0.0; m]);
        let mut still = 0;
        loop {
            let extremes = Extremes::of(chunk, &f);
            if extremes.violation() <= tol || extremes.violation().is_nan() || still > 2 * m + 100 || !more() {
                return;
            }
            let middle = f64::midpoint(extremes.min_up, extremes.max_low);
            threshold = if threshold > extremes.min_up && threshold < extremes.max_low { threshold } else { middle };
            let error: Vec<f64> = f.iter().map(|f| threshold - f).collect();
            for k in 0..m {
                let (rise, fall) = (chunk.beta[k] < chunk.high[k], chunk.beta[k] > chunk.low[k]);
                let joins = (rise && fall) || (rise && error[k] > 0.0) || (fall && error[k] < 0.0);
                let room = chunk.high[k] - chunk.low[k];
                wanted[k] = if joins { (error[k].abs().max(CAP * tol) / room).max(lift) } else { f64::NAN };
            }
            let floor = pairs::worst(chunk, &f, &extremes).gain;
            let shift = if failed < ATTEMPTS { system.solve(chunk, &wanted, &error, &mut step) } else { None };
            let made = match shift {
                Some(shift) => advance(chunk, &mut f, &step, sum, floor).map(|share| threshold -= share * shift),
                None if failed < ATTEMPTS => {
                    // Not definite in this precision: more damping, next time from the start.
                    failed += 1;
                    lift = (100.0 * lift).max(1e-9 * diagonal);
                    None
                }
                None => None,
            };
            if made.is_none() {
                descend(chunk, &mut f, tol, m / 4, more);
            }
            still = if floor > 0.0 { 0 } else { still + 1 };
        }
    }
}

/// Makes the step as far as it is good, projected; the share of it that was made, or nothing where it gains less than `floor`.
fn advance(chunk: &mut Chunk, f: &mut [f64], step: &[f64], sum: f64, floor: f64) -> Option<f64> {
    let movers: Vec<usize> = (0..step.len()).filter(|&k| step[k] != 0.0).collect();
    let part = |all: &[f64]| movers.iter().map(|&k| all[k]).collect::<Vec<f64>>();
    let (low, high, old) = (part(&chunk.low), part(&chunk.high), part(&chunk.beta));
    let mut aim: Vec<f64> = movers.iter().map(|&k| chunk.beta[k] + step[k]).collect();
    let rest: f64 = (0..step.len()).filter(|&k| step[k] == 0.0).map(|k| chunk.beta[k]).sum();
    project(&mut aim, &low, &high, sum - rest);
    let change: Vec<f64> = aim.iter().zip(&old).map(|(a, b)| a - b).collect();
    let mut product = vec![0.0; f.len()];
    for (&k, &c) in movers.iter().zip(&change).filter(|(_, c)| **c != 0.0) {
        add_scaled(&mut product, c, chunk.row(k));
    }
    let slope = dot(&change, &part(f));
    let curvature = dot(&change, &part(&product));
    let share = if curvature > 0.0 { (-slope / curvature).min(1.0) } else { 1.0 };
    let gain = -share * (slope + 0.5 * share * curvature);
    if gain.is_nan() || share <= 0.0 || gain <= 0.0 || gain < floor {
        return None;
    }
    for (place, &k) in movers.iter().enumerate() {
        chunk.beta[k] =
            if share == 1.0 { aim[place] } else { (old[place] + share * change[place]).clamp(low[place], high[place]) };
    }
    add_scaled(f, share, &product);
    Some(share)
}

/// At most `most` pair steps (at least one): cheaper together than another factor.
fn descend(chunk: &mut Chunk, f: &mut [f64], tol: f64, most: usize, more: &mut dyn FnMut() -> bool) {
    for made in 0..most.max(1) {
        let extremes = Extremes::of(chunk, f);
        if made > 0 && (extremes.violation() <= tol || extremes.violation().is_nan() || !more()) {
            return;
        }
        let pair = pairs::best(chunk, f, &extremes);
        pairs::make(chunk, f, &pair);
    }
}
