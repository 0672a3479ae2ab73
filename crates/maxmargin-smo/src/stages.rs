//! The start of a large problem: solutions of samples of its rows, each twice as large as the last.
//!
//! ```text
//!   1  solve the problem of a sample of the rows
//!   2  f at the rows that the next sample adds, from the support vectors of this one
//!   3  the worst violators among these rows go to their bounds: in each sign as large a share as the
//!      solution has
//!   4  go to 1 with the next sample; the last one has all rows
//! ```
//!
//! Where most support vectors are bounded, the second half of the rows has about as many of them as
//! the first, and they are those that the first half predicts wrongly. From zero, rounds over the
//! worst violators find them by and by, and many on a false way. A solution of half of the rows
//! costs a quarter, so that all samples together cost a third of what all rows do.

use crate::config::SmoConfig;
use crate::neighbours::neighbours_for;
use crate::pairs::objective;
use crate::rounds::candidates::furthest;
use crate::rounds::round_layout::RoundLayout;
use crate::rounds::sums::sums_of;
use crate::strategy::Strategy;
use maxmargin_core::{Dual, EqualityConstraint, Goal, SolverControl, Status, Work, bias_of};
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_kernel::{Rows, apply, part_of};
use std::time::Instant;

/// The samples before all rows, at the least number of rows: each has half of the next.
const SAMPLES: u32 = 3;

/// The violation at which a sample is solved, as a share of the violation at zero. The next sample
/// moves the point more than that.
const SHARE: f64 = 0.05;

/// The least share of support vectors among the variables of a sample, and of bounded ones among
/// these. With fewer, the rounds over active variables from zero cost little.
const SUPPORT: f64 = 0.2;
const BOUNDED: f64 = 0.5;

/// A point with its gradient, and the work that led to it.
pub(crate) struct Point {
    pub(crate) alpha: Vec<f64>,
    /// The gradient `Qα + lin`.
    pub(crate) gradient: Vec<f64>,
    /// The distance of each variable from the threshold at a point near by: near ones are likely
    /// to move.
    pub(crate) distance: Option<Vec<f64>>,
    /// The solution that this point was made from. The point may be worse until the first rounds
    /// have moved it.
    pub(crate) before: Option<SampleSolution>,
    pub(crate) work: Work,
}

/// The solution of a sample, as a point of the whole problem. The gradient at the other rows is not
/// known.
#[derive(Default)]
pub(crate) struct SampleSolution {
    pub(crate) alpha: Vec<f64>,
    pub(crate) bias: f64,
    /// `½ αᵀQα + linᵀα`.
    pub(crate) objective: f64,
}

/// Returns a start near the solution of a large problem; `None` where it would not pay: for small
/// problems, starts that are not zero, and rows that are kept.
///
/// # Errors
///
/// When the run ended, with the solution of the last sample.
pub(crate) fn staged_start(
    dual: &Dual,
    rows: &Rows,
    alpha: &[f64],
    aim: Goal,
    config: &SmoConfig,
    control: &mut SolverControl,
) -> Result<Option<Point>, (SampleSolution, Status)> {
    let shrinking = &config.shrinking;
    let large = dual.len() >= shrinking.sampled_from && neighbours_for(dual, rows.gram(), config).is_none();
    let bounded = dual.upper().iter().all(|upper| upper.is_finite());
    let zero = matches!(dual.balance(), EqualityConstraint::Sum(sum) if sum == 0.0) && alpha.iter().all(|&a| a == 0.0);
    if !large || !zero || !bounded || !shrinking.pays(dual, rows, alpha) {
        return Ok(None);
    }
    let begun = Instant::now();
    let mut stages = Stages::new(dual, rows, config);
    let first = SAMPLES + (dual.len() / shrinking.sampled_from.max(1)).ilog2();
    for stage in (0..=first).rev() {
        let mut next = || {
            stages.extend(stage, control)?;
            if stage == 0 { Ok(()) } else { stages.solve(aim, control) }
        };
        if let Err(status) = next() {
            return Err((stages.solved, status));
        }
        if stage == first && !stages.pay() {
            rows.count_elsewhere(stages.values.div_ceil(dual.len() as u64), begun.elapsed());
            return Ok(None);
        }
    }
    let Stages { alpha, gradient, work, values, distance, solved, .. } = stages;
    let computed = values.div_ceil(dual.len() as u64);
    rows.count_elsewhere(computed, begun.elapsed());
    Ok(Some(Point { alpha, gradient, distance, before: Some(solved), work: Work { rows_computed: computed, ..work } }))
}

/// Returns the sample that a row joins: sample 0 has all rows, sample `t + 1` half of sample `t`.
fn stage_of(row: usize) -> u32 {
    // SplitMix64 (Steele, Lea and Flood 2014): its low bits look random for consecutive numbers.
    let mut bits = (row as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)).trailing_zeros()
}

/// The solution of the current sample.
struct Stages<'p, 'g> {
    dual: &'p Dual,
    rows: &'p Rows<'g>,
    config: &'p SmoConfig,
    /// 0 outside the sample.
    alpha: Vec<f64>,
    /// The gradient at the variables of the sample; the linear term elsewhere.
    gradient: Vec<f64>,
    /// The variables of the sample, in order.
    sample: Vec<usize>,
    /// The solution of this sample; of the last one while this one is being solved.
    solved: SampleSolution,
    /// The distance of each variable from the threshold, by the solution of the last sample.
    distance: Option<Vec<f64>>,
    /// The violation at zero.
    first_violation: f64,
    /// The kernel values computed.
    values: u64,
    work: Work,
}

impl<'p, 'g> Stages<'p, 'g> {
    fn new(dual: &'p Dual, rows: &'p Rows<'g>, config: &'p SmoConfig) -> Self {
        Self {
            dual,
            rows,
            config,
            alpha: vec![0.0; dual.len()],
            gradient: dual.linear_term().to_vec(),
            sample: Vec::new(),
            solved: SampleSolution { alpha: vec![0.0; dual.len()], ..SampleSolution::default() },
            distance: None,
            first_violation: f64::INFINITY,
            values: 0,
            work: Work::default(),
        }
    }

    /// Returns true if there are many support vectors and most of them are bounded.
    fn pay(&self) -> bool {
        let support = self.sample.iter().filter(|&&k| self.alpha[k] > 0.0);
        let bounded = support.clone().filter(|&&k| self.alpha[k] >= self.dual.upper()[k]).count();
        let support = support.count();
        let rows = self.sample.len() as f64;
        support as f64 >= SUPPORT * rows && bounded as f64 >= BOUNDED * support as f64
    }

    /// Adds the variables of the next sample (steps 2 and 3).
    fn extend(&mut self, stage: u32, control: &mut SolverControl) -> Result<(), Status> {
        let is_first = self.sample.is_empty();
        let joins = |&k: &usize| {
            let of = stage_of(self.dual.ids()[k]);
            of == stage || is_first && of > stage
        };
        let new: Vec<usize> = (0..self.dual.len()).filter(joins).collect();
        if !is_first {
            let support = self.sample.iter().map(|&k| (self.alpha[k], k)).filter(|&(alpha, _)| alpha > 0.0).collect::<Vec<_>>();
            self.add_effect(&support, &new, control)?;
            let distance = self.distance.get_or_insert_with(|| vec![f64::INFINITY; self.dual.len()]);
            for &k in self.sample.iter().chain(&new) {
                distance[k] = (self.gradient[k] + self.dual.sign()[k] * self.solved.bias).abs();
            }
            let entering = self.entering(&new);
            self.add_effect(&entering, &[&self.sample[..], &new].concat(), control)?;
            for (alpha, k) in entering {
                self.gradient[k] += self.dual.ridge_of(k) * alpha;
                self.alpha[k] = alpha;
            }
        }
        self.sample.extend(new);
        self.sample.sort_unstable();
        Ok(())
    }

    /// Adds the effect of the variables of `support`, with their α, to the gradients of others.
    fn add_effect(&mut self, support: &[(f64, usize)], variables: &[usize], control: &mut SolverControl) -> Result<(), Status> {
        let dual = self.dual;
        let (coef, ids): (Vec<f64>, Vec<usize>) =
            support.iter().map(|&(alpha, k)| (dual.sign()[k] * alpha, dual.ids()[k])).unzip();
        let sums = control.run(self.first_violation, |control| self.sums(&ids, &coef, variables, control))?;
        for (&k, sum) in variables.iter().zip(sums) {
            self.gradient[k] += dual.sign()[k] * sum;
        }
        self.values += (ids.len() * variables.len()) as u64;
        Ok(())
    }

    /// Returns `Σ_r coef_r K[ids_r, ·]` at the rows of `variables`.
    fn sums(&self, ids: &[usize], coef: &[f64], variables: &[usize], control: &RunControl) -> Result<Vec<f64>, Cancelled> {
        if variables.len() == self.dual.len() {
            let sums = sums_of(self.dual, self.rows, ids, coef, control)?;
            return Ok(variables.iter().map(|&k| sums[self.dual.ids()[k]]).collect());
        }
        let mut columns: Vec<usize> = variables.iter().map(|&k| self.dual.ids()[k]).collect();
        columns.sort_unstable();
        columns.dedup();
        let part = part_of(self.rows.gram(), &[ids, &columns].concat());
        let support: Vec<usize> = (0..ids.len()).collect();
        let sums = apply(&*part, &support, coef, ids.len()..part.len(), self.rows.par(), control)?;
        let at = |k: usize| columns.binary_search(&self.dual.ids()[k]).expect("a column of each variable");
        Ok(variables.iter().map(|&k| sums[at(k)]).collect())
    }

    /// Returns which of the new variables leave 0, and their α (step 3). The sum of all `s α` stays
    /// as it is.
    fn entering(&self, new: &[usize]) -> Vec<(f64, usize)> {
        let (dual, growth) = (self.dual, new.len() as f64 / self.sample.len() as f64);
        let of_sign = |sign: f64| {
            let of_sample = self.sample.iter().filter(|&&k| dual.sign()[k] == sign && self.alpha[k] > 0.0);
            let shares: f64 = of_sample.map(|&k| self.alpha[k] / dual.upper()[k]).sum();
            let violation = |k: usize| -self.gradient[k] - sign * self.solved.bias;
            let of = new.iter().filter(|&&k| dual.sign()[k] == sign).map(|&k| (violation(k), k));
            let mut worst: Vec<(f64, usize)> = of.filter(|&(by, _)| by > 0.0).collect();
            furthest(&mut worst, (shares * growth).round() as usize);
            worst.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            worst
        };
        let sides = [of_sign(1.0), of_sign(-1.0)];
        let most = |side: &[(f64, usize)]| side.iter().map(|&(_, k)| dual.upper()[k]).sum::<f64>();
        let each = most(&sides[0]).min(most(&sides[1]));
        let mut entering = Vec::new();
        for side in sides {
            let mut left = each;
            for (_, k) in side {
                let alpha = dual.upper()[k].min(left);
                left -= alpha;
                if alpha > 0.0 {
                    entering.push((alpha, k));
                }
            }
        }
        entering
    }

    /// Solves the problem of the sample (step 1).
    fn solve(&mut self, aim: Goal, control: &mut SolverControl) -> Result<(), Status> {
        let (dual, rows) = (self.dual, self.rows);
        if self.sample.is_empty() {
            return Ok(());
        }
        let RoundLayout { set, ids, row } = RoundLayout::new(dual, &self.sample);
        // At zero the gradient is the linear term.
        let part = dual.among(&set, row, &vec![0.0; dual.len()], dual.linear_term());
        let gram = part_of(rows.gram(), &ids);
        let bytes = (4 * (ids.len() * ids.len()) as u64).min(rows.spare());
        let pages = rows.part_pages();
        let store = Rows::in_pages(&*gram, bytes, rows.par(), pages.clone());
        let of = |values: &[f64]| set.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        let mut strategy = Strategy::new(&part, &store, &of(&self.alpha), &of(&self.gradient), aim, self.config);
        if self.first_violation.is_infinite() {
            self.first_violation = strategy.violation();
        }
        let goal = aim.kkt().unwrap_or(0.0).max(SHARE * self.first_violation);
        strategy.aim(Goal::Kkt(goal));
        if let Some(distance) = &self.distance {
            strategy.prefer(of(distance));
        }
        control.is_whole = false;
        strategy.iterate(control, self.config);
        control.is_whole = true;
        let (alpha, gradient, work) = (strategy.alpha(), strategy.gradient(), strategy.work());
        let (bias, objective) = (bias_of(&part, &alpha, &gradient), objective(&part, &alpha, &gradient));
        for ((&k, alpha), gradient) in set.iter().zip(alpha).zip(gradient) {
            (self.alpha[k], self.gradient[k]) = (alpha, gradient);
        }
        // The sample takes a small part of its share, and counts what it took.
        drop(rows.reserve(store.work().peak_bytes));
        self.work.rows_requested += work.rows_requested;
        self.values += work.rows_computed * ids.len() as u64;
        // The point after the cut of a run may be worse than zero.
        if objective < self.solved.objective {
            self.solved = SampleSolution { alpha: self.alpha.clone(), bias, objective };
        }
        // A sample that stalls, or that has spent the budget of pairs, is a start all the same.
        control.check_now(strategy.violation()).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    //! The rows of samples.

    use super::stage_of;

    #[test]
    fn samples_are_halves_of_each_other() {
        let count = |stage: u32, rows: &mut dyn Iterator<Item = usize>| rows.filter(|&row| stage_of(row) >= stage).count();
        for stage in 0..6 {
            let expected = 64_000 >> stage;
            // Rows in a row, and every fourth one.
            for found in [count(stage, &mut (0..64_000)), count(stage, &mut (0..256_000).step_by(4))] {
                assert!(found.abs_diff(expected) <= expected / 16, "{found} rows of {expected} in sample {stage}");
            }
        }
    }
}
