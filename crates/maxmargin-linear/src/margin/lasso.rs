//! Working sets for the L1 norm.
//!
//! ```text
//!   1  z_i ← y_i w·x_i;  α_i ← −C_i ℓ'(z_i);  u ← Σ α_i y_i x_i       (a pass over all columns)
//!   2  stop when the gap of w and of α / max(1, max_j |u_j|) is small enough; with a free bias, of
//!      the α that are scaled as in the certificate
//!   3  W ← the columns with w_j ≠ 0, and those of the largest |u_j|
//!   4  minimise over w_W by proximal Newton steps (working_set.rs), to a share of the violation
//!   5  go to 1
//! ```
//!
//! With many columns, a run from zero goes through rising costs (`rising_costs.rs`). With few it
//! does so where it has not ended after a hundred passes: costs are large then, and nearly all rows
//! are classified well at the end.

use crate::margin::context::MarginRun;
use crate::margin::l1_problem::{L1Problem, LassoPoint, violation_of};
use crate::margin::rising_costs::{ROUGH, through_costs};
use crate::margin::working_set::WorkingSet;
use maxmargin_core::Status;
use maxmargin_kernel::features::{FeatureRows, products};

/// The number of columns up to which all are in the working set.
const ALL: usize = 1000;

/// The passes after which a run from zero over few columns goes through rising costs.
const PATIENT: u64 = 100;

/// The smallest working set of more columns.
const FEWEST: usize = 256;

/// The least `|u_j|` of a column that joins a working set with weight 0.
const NEAR: f64 = 0.8;

/// The violation that a working set is solved to, relative to that of all columns.
const INNER: f64 = 0.02;

/// The violation of a working set, relative to the one that is thought to meet the goal.
const SPARE: f64 = 0.3;

/// The least decrease of the primal objective that counts, relative to it.
const FALL: f64 = 1e-9;

/// The rounds without progress after which rounding allows no further progress.
const STANDSTILL: u32 = 6;

/// The goal: the relative gap and the violation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LassoGoal {
    pub(crate) gap: f64,
    pub(crate) kkt: f64,
}

/// The least figures of a run.
#[derive(Clone, Copy, Debug)]
struct Least {
    gap: f64,
    primal: f64,
}

/// The figures of a point.
struct Figures {
    u: Vec<f64>,
    violation: f64,
    norm: f64,
    primal: f64,
    gap: f64,
    relative: f64,
    /// The violation that the certificate has.
    kkt: f64,
}

impl L1Problem<'_> {
    /// Minimises from `w`; returns the weights.
    pub(crate) fn solve(&self, w: Vec<f64>, goal: LassoGoal, run: &mut MarginRun) -> Vec<f64> {
        if w.iter().any(|w| *w != 0.0) {
            return self.solve_from(w, goal, run);
        }
        if w.len() <= ALL {
            run.until = run.work.steps + PATIENT * w.len() as u64;
            let found = self.attempt(w.clone(), goal, run);
            run.until = u64::MAX;
            if let Some(found) = found {
                return found;
            }
        }
        let at = self.point(w);
        let u = self.figures(&at).u;
        let penalised = u.iter().enumerate().filter(|(j, _)| self.free != Some(*j));
        let largest = penalised.fold(0.0_f64, |largest, (_, u)| largest.max(u.abs()));
        let rough = LassoGoal { gap: ROUGH, kkt: f64::INFINITY };
        let start = through_costs(&self.targets, largest, at.w, run, |targets, w, run| {
            L1Problem { store: self.store, targets, free: self.free, par: self.par }.solve_from(w, rough, run)
        });
        self.solve_from(start, goal, run)
    }

    /// Minimises at these costs.
    fn solve_from(&self, w: Vec<f64>, goal: LassoGoal, run: &mut MarginRun) -> Vec<f64> {
        self.attempt(w, goal, run).expect("only an attempt with a limit is given up")
    }

    /// Minimises at these costs; `None` if the attempt is given up.
    fn attempt(&self, w: Vec<f64>, goal: LassoGoal, run: &mut MarginRun) -> Option<Vec<f64>> {
        let mut at = self.point(w);
        let (mut least, mut still) = (Least { gap: f64::INFINITY, primal: f64::INFINITY }, 0);
        let mut held: Option<(Vec<u32>, WorkingSet)> = None;
        loop {
            let figures = self.figures(&at);
            run.work.rounds += 1;
            let met = figures.kkt <= goal.kkt && figures.relative <= goal.gap;
            if met || run.control.check(run.work.steps, figures.violation) || run.control.spent(run.work.steps + 1) {
                return Some(at.w);
            }
            if run.is_given_up() {
                return None;
            }
            let falls = figures.gap < 0.99 * least.gap || figures.primal < (1.0 - FALL) * least.primal;
            still = if falls { 0 } else { still + 1 };
            least = Least { gap: least.gap.min(figures.gap), primal: least.primal.min(figures.primal) };
            if still >= STANDSTILL {
                run.control.ended.get_or_insert(Status::Stalled);
                return Some(at.w);
            }
            let set = self.working_set(&at.w, &figures.u);
            // A violation v leaves a gap of about v ‖w‖₁: what is left to the goal may be large.
            let of_goal = SPARE * (goal.gap * figures.primal / figures.norm.max(1.0)).min(goal.kkt);
            let tol = (INNER * figures.violation).max(of_goal.min(SPARE * figures.violation));
            let (set, mut inner) = match held.take() {
                Some((same, inner)) if same == set => (same, inner),
                _ => {
                    let inner = WorkingSet::new(self, &set, &at.w);
                    (set, inner)
                }
            };
            let Ok(()) = inner.solve(&mut at, tol, run) else { return Some(at.w) };
            set.iter().zip(inner.weights()).for_each(|(&j, w)| at.w[j as usize] = *w);
            held = Some((set, inner));
        }
    }

    fn point(&self, w: Vec<f64>) -> LassoPoint {
        let n = self.targets.sign.len();
        let mut z = vec![0.0; n];
        products(&self.store.rows, &(0..n).collect::<Vec<_>>(), &w, &mut z, self.par);
        z.iter_mut().zip(&self.targets.sign).for_each(|(z, y)| *z *= y);
        let mut alpha = vec![0.0; n];
        self.targets.alpha(&z, &z, 0.0, &mut alpha, self.par);
        LassoPoint { w, z, alpha }
    }

    fn figures(&self, at: &LassoPoint) -> Figures {
        let u = self.gradient(&at.alpha);
        let violation = self.violation(&at.w, &u);
        let penalised = |(j, _): &(usize, &f64)| self.free != Some(*j);
        let norm: f64 = at.w.iter().enumerate().filter(penalised).map(|(_, w)| w.abs()).sum();
        let primal = norm + self.targets.losses(&at.z, self.par);
        let dual_of = |u: &[f64], alpha: &[f64]| {
            let largest = u.iter().enumerate().filter(penalised).fold(1.0_f64, |largest, (_, u)| largest.max(u.abs()));
            self.targets.conjugates(alpha, 1.0 / largest, self.par)
        };
        let (dual, kkt) = if self.free.is_some() {
            let (balanced, lost) = self.targets.balanced(&at.alpha);
            let of_balanced = self.gradient(&balanced);
            (dual_of(&of_balanced, &balanced), self.violation(&at.w, &of_balanced).max(lost))
        } else {
            (dual_of(&u, &at.alpha), violation)
        };
        let gap = primal - dual;
        Figures { u, violation, norm, primal, gap, relative: gap / primal.abs().max(f64::MIN_POSITIVE), kkt }
    }

    /// Returns `Σ α_i y_i x_i`.
    fn gradient(&self, alpha: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.store.columns.len()];
        self.store.columns.products(&self.targets.signed(alpha), &mut u, self.par, |_, sum| sum);
        u
    }

    /// Returns the largest violation of the optimality conditions of a weight.
    fn violation(&self, w: &[f64], u: &[f64]) -> f64 {
        let of = |(j, (u, w)): (usize, (&f64, &f64))| violation_of(*w, *u, self.free == Some(j));
        u.iter().zip(w).enumerate().map(of).fold(0.0, f64::max)
    }

    /// Returns the columns of the next working set, ascending (step 3).
    fn working_set(&self, w: &[f64], u: &[f64]) -> Vec<u32> {
        let width = w.len();
        if width <= ALL {
            return (0..width as u32).collect();
        }
        let is_in = |j: usize| w[j] != 0.0 || self.free == Some(j);
        let mut set: Vec<u32> = (0..width).filter(|&j| is_in(j)).map(|j| j as u32).collect();
        let mut others: Vec<u32> = (0..width).filter(|&j| !is_in(j) && u[j].abs() > NEAR).map(|j| j as u32).collect();
        let most = set.len().max(FEWEST);
        if others.len() > most {
            others.select_nth_unstable_by(most - 1, |&a, &b| u[b as usize].abs().total_cmp(&u[a as usize].abs()).then(a.cmp(&b)));
            others.truncate(most);
        }
        set.append(&mut others);
        set.sort_unstable();
        set
    }
}
