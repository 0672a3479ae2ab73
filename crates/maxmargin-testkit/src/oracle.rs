//! The exact optimum of small problems, by trying every active set.

use maxmargin_core::{Dual, EqualityConstraint};
use maxmargin_kernel::Gram;

/// The largest number of variables: 3⁸ active sets are still quick.
pub const MOST: usize = 8;

/// The optimum of a small problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The value `½ αᵀQα + linᵀα` at the optimum: the global one, even if the kernel is indefinite.
    pub objective: f64,
    /// A point that attains it; there may be others.
    pub alpha: Vec<f64>,
    /// The interval of biases that fit α (infinite if nothing bounds it). It is a multiplier of one
    /// constraint: meaningful for [`EqualityConstraint::Sum`].
    pub bias: (f64, f64),
    /// The KKT violation of α: rounding only.
    pub kkt: f64,
}

/// The set of a variable.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Zero,
    Upper,
    Free,
}

/// Solves a problem exactly (up to `f64` elimination).
///
/// Every variable is tried at 0, at its upper bound and free. With the bounded ones fixed, the free
/// ones and the multipliers ν solve the bordered linear system `Q_FF α_F + A_Fᵀν = −lin_F − Q_FB
/// α_B`, `A_F α_F = d − A_B α_B`. The optimum is the solution inside the box with the least
/// objective.
///
/// Singular systems are skipped: at a minimum the free variables can always be chosen such that the
/// system is regular. Otherwise some `x ≠ 0` on F has `A_F x = 0` and `Q_FF x = 0` (it minimises
/// `xᵀQx ≥ 0` over the constraint's null space). The objective then does not change along `±x`, and
/// one can move until a free variable meets a bound.
///
/// # Panics
///
/// When there are more than [`MOST`] variables, or no feasible point is found.
pub fn solve(dual: &Dual, gram: &dyn Gram) -> Optimum {
    let n = dual.len();
    assert!(n <= MOST, "the oracle takes at most {MOST} variables, not {n}");
    let q = matrix(dual, gram);
    let constraints = constraints(dual);
    let mut best: Option<(f64, usize, Vec<f64>)> = None;
    for code in 0..3_usize.pow(n as u32) {
        let places: Vec<Place> =
            (0..n).map(|k| [Place::Zero, Place::Upper, Place::Free][code / 3_usize.pow(k as u32) % 3]).collect();
        let Some(alpha) = stationary(dual, &q, &constraints, &places) else { continue };
        let objective = objective(dual, &q, &alpha);
        let free = places.iter().filter(|p| **p == Place::Free).count();
        // For equal objectives take fewer free variables, so that a bias that is not unique shows
        // its whole interval.
        let better = best.as_ref().is_none_or(|(least, least_free, _)| {
            let slack = 1e-13 * least.abs().max(1e-300);
            objective < least - slack || (objective <= least + slack && free < *least_free)
        });
        if better {
            best = Some((objective, free, alpha));
        }
    }
    let (objective, _, alpha) = best.expect("a feasible point");
    let (lowest_up, highest_low) = extremes(dual, &q, &alpha, |_| true);
    let kkt = match dual.balance() {
        // Every sign has its own multiplier.
        EqualityConstraint::PerSign(..) => [1.0, -1.0].map(|sign| extremes(dual, &q, &alpha, |k| dual.sign()[k] == sign)),
        // The multiplier is 0.
        EqualityConstraint::Free => [(lowest_up.min(0.0), highest_low.max(0.0)); 2],
        _ => [(lowest_up, highest_low); 2],
    };
    let kkt = kkt.iter().fold(0.0, |most: f64, (low, high)| most.max(high - low));
    Optimum { objective, alpha, bias: (-lowest_up, -highest_low), kkt }
}

fn matrix(dual: &Dual, gram: &dyn Gram) -> Vec<Vec<f64>> {
    let (ids, sign) = (dual.ids(), dual.sign());
    let mut row = vec![0.0; gram.len()];
    (0..dual.len())
        .map(|k| {
            gram.fill_exact(&ids[k..=k], 0..gram.len(), &mut row);
            let ridge = |l: usize| if k == l { dual.ridge_of(k) } else { 0.0 };
            (0..dual.len()).map(|l| sign[k] * sign[l] * row[ids[l]] + ridge(l)).collect()
        })
        .collect()
}

/// Returns the rows of `Aα = d` with their right sides.
fn constraints(dual: &Dual) -> Vec<(Vec<f64>, f64)> {
    let only = |want: f64| dual.sign().iter().map(|s| f64::from(*s == want)).collect::<Vec<f64>>();
    match dual.balance() {
        EqualityConstraint::Sum(wanted) => vec![(dual.sign().to_vec(), wanted)],
        EqualityConstraint::Simplex => vec![(vec![1.0; dual.len()], 1.0)],
        EqualityConstraint::PerSign(plus, minus) => vec![(only(1.0), plus), (only(-1.0), minus)],
        _ => vec![],
    }
}

/// Returns the stationary point of one active set, if it is unique and feasible.
fn stationary(dual: &Dual, q: &[Vec<f64>], constraints: &[(Vec<f64>, f64)], places: &[Place]) -> Option<Vec<f64>> {
    let n = dual.len();
    let mut alpha = vec![0.0; n];
    for k in 0..n {
        match places[k] {
            Place::Upper if !dual.upper()[k].is_finite() || dual.upper()[k] == 0.0 => return None,
            Place::Upper => alpha[k] = dual.upper()[k],
            Place::Zero | Place::Free => {}
        }
    }
    let free: Vec<usize> = (0..n).filter(|&k| places[k] == Place::Free).collect();
    let touching: Vec<&(Vec<f64>, f64)> = constraints.iter().filter(|(row, _)| free.iter().any(|&k| row[k] != 0.0)).collect();
    let size = free.len() + touching.len();
    let dot = |row: &[f64], alpha: &[f64]| row.iter().zip(alpha).map(|(r, a)| r * a).sum::<f64>();
    let mut system = vec![vec![0.0; size + 1]; size];
    for (r, &k) in free.iter().enumerate() {
        for (c, &l) in free.iter().enumerate() {
            system[r][c] = q[k][l];
        }
        system[r][size] = -dual.linear_term()[k] - dot(&q[k], &alpha);
    }
    for (c, (row, wanted)) in touching.iter().enumerate() {
        let border = free.len() + c;
        for (r, &k) in free.iter().enumerate() {
            system[r][border] = row[k];
            system[border][r] = row[k];
        }
        system[border][size] = wanted - dot(row, &alpha);
    }
    let solved = eliminate(&system)?;
    for (r, &k) in free.iter().enumerate() {
        let room = 1e-12 * dual.upper()[k].min(solved[r].abs().max(1.0));
        if solved[r] < -room || solved[r] > dual.upper()[k] + room {
            return None;
        }
        alpha[k] = solved[r].clamp(0.0, dual.upper()[k]);
    }
    let mass: f64 = alpha.iter().sum::<f64>().max(1.0);
    let balanced = constraints.iter().all(|(row, wanted)| (dot(row, &alpha) - wanted).abs() <= 1e-11 * mass);
    balanced.then_some(alpha)
}

/// Solves a square system, given with its right side as last column, by elimination with full
/// pivoting and one round of iterative refinement. Returns `None` if it is singular to working
/// precision.
fn eliminate(system: &[Vec<f64>]) -> Option<Vec<f64>> {
    let first = eliminate_once(system)?;
    let size = system.len();
    let mut residual: Vec<Vec<f64>> = system.to_vec();
    for row in &mut residual {
        row[size] -= (0..size).map(|c| row[c] * first[c]).sum::<f64>();
    }
    let correction = eliminate_once(&residual)?;
    Some(first.iter().zip(&correction).map(|(x, d)| x + d).collect())
}

fn eliminate_once(system: &[Vec<f64>]) -> Option<Vec<f64>> {
    let size = system.len();
    let mut a = system.to_vec();
    let mut columns: Vec<usize> = (0..size).collect();
    let largest = a.iter().flat_map(|row| &row[..size]).fold(0.0, |m: f64, v| m.max(v.abs()));
    for step in 0..size {
        let (mut row, mut column) = (step, step);
        for r in step..size {
            for c in step..size {
                if a[r][c].abs() > a[row][column].abs() {
                    (row, column) = (r, c);
                }
            }
        }
        if a[row][column].abs() <= 1e-13 * largest {
            return None;
        }
        a.swap(step, row);
        columns.swap(step, column);
        for r in &mut a {
            r.swap(step, column);
        }
        let pivot = a[step].clone();
        for row in &mut a[step + 1..] {
            let factor = row[step] / pivot[step];
            row.iter_mut().zip(&pivot).skip(step).for_each(|(v, p)| *v -= factor * p);
        }
    }
    let mut solved = vec![0.0; size];
    for step in (0..size).rev() {
        let known: f64 = (step + 1..size).map(|c| a[step][c] * solved[columns[c]]).sum();
        solved[columns[step]] = (a[step][size] - known) / a[step][step];
    }
    Some(solved)
}

fn objective(dual: &Dual, q: &[Vec<f64>], alpha: &[f64]) -> f64 {
    let row = |k: usize| q[k].iter().zip(alpha).map(|(q, a)| q * a).sum::<f64>();
    (0..dual.len()).map(|k| alpha[k] * (0.5 * row(k) + dual.linear_term()[k])).sum()
}

/// Returns `min over I_up` and `max over I_low` of `s_k g_k` of some variables.
fn extremes(dual: &Dual, q: &[Vec<f64>], alpha: &[f64], of: impl Fn(usize) -> bool) -> (f64, f64) {
    let (mut lowest_up, mut highest_low) = (f64::INFINITY, f64::NEG_INFINITY);
    for k in (0..dual.len()).filter(|&k| of(k)) {
        let gradient = dual.linear_term()[k] + q[k].iter().zip(alpha).map(|(q, a)| q * a).sum::<f64>();
        let (rise, fall) = (alpha[k] < dual.upper()[k], alpha[k] > 0.0);
        // Only a single sum has signs in its constraint.
        let s = if matches!(dual.balance(), EqualityConstraint::Sum(_)) { dual.sign()[k] } else { 1.0 };
        if (s > 0.0 && rise) || (s < 0.0 && fall) {
            lowest_up = lowest_up.min(s * gradient);
        }
        if (s > 0.0 && fall) || (s < 0.0 && rise) {
            highest_low = highest_low.max(s * gradient);
        }
    }
    (lowest_up, highest_low)
}
