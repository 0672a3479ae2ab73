//! A start near the optimum of a kernel that is mostly zero.
//!
//! ```text
//!   1  α_k ← clip((−p_k − s_k b) / R_k), R_k = Σ_l K_kl + ridge, with the b of a feasible point
//!   2  f ← s ∘ (Qα + p);  both variables of a sample, of opposite signs, move by the same amount to
//!      the bound that lowers the objective
//!   3  for each k: s_k α_k ← clip(s_k α_k − (f_k + b) / K_kk), f updated
//!   4  b ← b + (Σ s_k α_k − wanted) / Σ 1 / R_k over the free k; go to 3, a few times
//!   5  the rest of the sum is divided among the free variables
//! ```
//!
//! Step 1 is exact for samples without neighbours, and for equal samples without others. The move
//! of step 2 changes no `f`. Step 3 is a sweep of coordinate descent: without a constraint, samples
//! that are no neighbours do not disturb each other.

use super::{LOW, NeighbourPairs, UP};
use maxmargin_core::warm::balance;
use maxmargin_core::{EqualityConstraint, SolverControl};
use maxmargin_kernel::NeighbourRow;

/// Halvings of the range of a multiplier.
const HALVINGS: usize = 60;

/// The largest number of sweeps (step 3), the violation that ends them, and the share of the last
/// violation above which pair steps do more.
const SWEEPS: usize = 12;
const SETTLED: f64 = 1e-3;
const FALL: f64 = 0.5;

/// The result of a sweep.
struct Sweep {
    /// `Σ s_k α_k` after it.
    excess: f64,
    /// How much this falls with `b`, about.
    slope: f64,
    /// The largest violation before a move.
    largest: f64,
}

impl NeighbourPairs<'_> {
    /// Moves from zero to a better point, where the sum of zeros is the required one. Each variable
    /// that a sweep moves counts as an iteration.
    pub(super) fn leave_zero(&mut self, control: &mut SolverControl) {
        if self.dual.balance() != EqualityConstraint::Sum(0.0) {
            return;
        }
        let mut there = vec![0.0; self.samples];
        self.dual.ids().iter().for_each(|&id| there[id] = 1.0);
        let row_sums: Vec<f64> = self.sums(&there).into_iter().map(|sum| sum + self.dual.ridge()).collect();
        let (start, b) = self.first_point(&row_sums);
        let gradient = self.gradient_at(&start);
        self.move_to(&start, &gradient);
        self.part_twins();
        self.sweeps(&row_sums, b, control);
        let mut alpha = self.alpha();
        balance(self.dual, &mut alpha);
        let gradient = self.gradient_at(&alpha);
        self.move_to(&alpha, &gradient);
    }

    /// Returns the point of step 1 and its `b`.
    fn first_point(&self, row_sums: &[f64]) -> (Vec<f64>, f64) {
        let dual = self.dual;
        let at = |b: f64, k: usize| ((-dual.linear_term()[k] - dual.sign()[k] * b) / row_sums[k]).clamp(0.0, dual.upper()[k]);
        let excess = |b: f64| (0..dual.len()).map(|k| dual.sign()[k] * at(b, k)).sum::<f64>();
        let widest = dual.linear_term().iter().fold(0.0_f64, |most, p| most.max(p.abs()));
        let (mut low, mut high) = (-widest, widest);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let b = f64::midpoint(low, high);
        ((0..dual.len()).map(|k| at(b, k)).collect(), b)
    }

    /// Moves both variables of each sample that has two (step 2): their objective is linear along
    /// this move.
    fn part_twins(&mut self) {
        let variables = &mut self.variables;
        if self.dual.ridge() > 0.0 {
            return;
        }
        for one in 0..variables.f.len() - self.samples {
            let pair = [one, one + self.samples];
            let [sign, other] = pair.map(|place| variables.sign[place]);
            if sign * other >= 0.0 {
                continue;
            }
            let slope: f64 = pair.iter().map(|&place| variables.sign[place] * variables.f[place]).sum();
            let room =
                |place: usize| if slope < 0.0 { variables.upper[place] - variables.alpha[place] } else { variables.alpha[place] };
            let [first, second] = pair.map(room);
            for (place, room) in pair.into_iter().zip([first, second]) {
                let by = first.min(second);
                let bound = if slope < 0.0 { variables.upper[place] } else { 0.0 };
                let moved = if slope < 0.0 { variables.alpha[place] + by } else { variables.alpha[place] - by };
                variables.alpha[place] = if by == room { bound } else { moved };
                variables.mark(place);
            }
        }
    }

    /// Sweeps over all variables at changing `b` (steps 3 and 4), until little changes or the run
    /// ends. The tournaments are not kept up to date.
    fn sweeps(&mut self, row_sums: &[f64], mut b: f64, control: &mut SolverControl) {
        let violation = self.convergence.measure(self.violation());
        let (mut last, mut least): (Option<[f64; 2]>, f64) = (None, f64::INFINITY);
        for _ in 0..SWEEPS {
            let Some(Sweep { excess, slope, largest }) = self.sweep(row_sums, b, violation, control) else { return };
            // Neighbours of the other class make the sum more sensitive than row sums tell.
            let seen = last.map_or(0.0, |[last_b, last_excess]| (last_excess - excess) / (b - last_b));
            let slope = if seen.is_finite() { slope.max(seen) } else { slope };
            last = Some([b, excess]);
            let by = if slope > 0.0 { excess / slope } else { 0.0 };
            let settled = largest <= SETTLED && by.abs() <= SETTLED;
            if settled || largest > FALL * least {
                return;
            }
            least = largest;
            b += by;
        }
    }

    /// Moves each variable to its optimum at this `b`, with the others where they are. None if the
    /// run ended.
    fn sweep(&mut self, row_sums: &[f64], b: f64, violation: f64, control: &mut SolverControl) -> Option<Sweep> {
        let Self { dual, neighbours, places, samples: all, variables, own, .. } = self;
        let mut sweep = Sweep { excess: 0.0, slope: 0.0, largest: 0.0 };
        for (k, &place) in places.iter().enumerate() {
            let (grow, fall) = variables.rooms(place);
            let step = ((-b - variables.f[place]) / *own).clamp(-fall, grow);
            sweep.largest = sweep.largest.max(step.abs() * *own);
            if step != 0.0 {
                if control.ended(violation).is_some() {
                    return None;
                }
                control.iterations += 1;
                variables.shift(place, step, step == grow || step == -fall);
                variables.f[place] += step * dual.ridge();
                let NeighbourRow { samples, values } = neighbours.of(dual.ids()[k]);
                for from in (0..variables.f.len()).step_by(*all) {
                    for (&sample, value) in samples.iter().zip(values) {
                        variables.f[from + sample as usize] += step * value;
                    }
                }
            }
            sweep.excess += dual.sign()[k] * variables.alpha[place];
            sweep.slope += if variables.sets[place] == UP | LOW { 1.0 / row_sums[k] } else { 0.0 };
        }
        Some(sweep)
    }

    /// Returns the gradient of a point, summed over the neighbours of each sample.
    fn gradient_at(&self, alpha: &[f64]) -> Vec<f64> {
        let (dual, mut coef) = (self.dual, vec![0.0; self.samples]);
        let signed = dual.sign().iter().zip(alpha).map(|(s, a)| s * a);
        dual.ids().iter().zip(signed).for_each(|(&id, beta)| coef[id] += beta);
        let sums = self.sums(&coef);
        let of_variable = |k: usize| dual.sign()[k] * sums[k] + dual.ridge() * alpha[k] + dual.linear_term()[k];
        (0..alpha.len()).map(of_variable).collect()
    }

    /// Returns `Σ_l coef_l K_kl` of each variable, with a coefficient for each sample.
    fn sums(&self, coef: &[f64]) -> Vec<f64> {
        self.dual.ids().iter().map(|&id| self.neighbours.of(id).dot(coef)).collect()
    }
}
