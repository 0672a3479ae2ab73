//! Adaptive variable selection frequencies (Glasmachers and Doğan, algorithms 3 to 5).
//!
//! ```text
//!   1  p_i ← 1;  Δ_ref ← average gain of the first sweep
//!   2  repeat
//!   3    schedule ← n indices with expected frequencies p_i / Σp, in random order   (algorithm 4)
//!   4    for i in the schedule:
//!   5      μ ← clip(g / ‖x_i‖², −α_i, C − α_i);  α_i += μ;  w += μ y_i x_i
//!          Δ ← μ (g − ½ μ ‖x_i‖²)
//!   6      p_i ← clip(p_i exp(c (Δ / Δ_ref − 1)), 1/20, 20);  Δ_ref += (Δ − Δ_ref) / n
//!   7    if the largest violation is below ε: stop if can_stop; otherwise p ← 1, can_stop ← true
//!   8    otherwise can_stop ← false
//! ```
//!
//! Variables whose steps gain more than the average are visited more often. Step 6 is the update of
//! algorithm 5, which does not depend on scale; the running text of the paper has the difference
//! instead of the quotient.
//!
//! The paper has no shrinking. If it is enabled, a coordinate is set aside by the baseline's rule.
//! Its preference is 0 until all preferences are reset to 1, when the others are within the
//! tolerance.

use crate::coordinate::descent::{BETWEEN, Descent, GoOn, SweepResult, Thresholds};
use crate::coordinate::order::shuffle;
use maxmargin_kernel::features::FeatureRows;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The learning rate `c` of the preferences.
const RATE: f64 = 0.2;

/// The smallest and the largest preference.
const PREFERENCES: (f64, f64) = (1.0 / 20.0, 20.0);

/// Draws the schedules and updates the preferences of so many steps without making any, with the
/// gain `gains[k]` for a step on variable `k`. It measures the cost of adaptation in a run of
/// [`Method::Avsf`](crate::Method::Avsf), where a clock inside the steps would slow them. Returns
/// the steps of whole sweeps: `steps` and up to a sweep more.
pub fn adapt(gains: &[f64], steps: u64, seed: u64) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut frequencies = Frequencies::new(gains.len(), false);
    let mut made = 0;
    while made < steps && !gains.is_empty() {
        frequencies.draw(&mut random);
        for at in 0..frequencies.schedule.len() {
            let k = frequencies.schedule[at] as usize;
            frequencies.learn(k, gains[k]);
        }
        frequencies.swept();
        made += frequencies.schedule.len() as u64;
    }
    made
}

/// The preferences and the average gain of a step.
pub(crate) struct Frequencies {
    preference: Vec<f64>,
    /// The average gain of a step; `None` until the first sweep has measured it.
    reference: Option<f64>,
    /// The gains of the first sweep.
    gains: f64,
    /// True if the previous sweep within the tolerance was followed by a reset, and no sweep beyond
    /// it came since.
    can_stop: bool,
    /// The coordinates that were not set aside when the last schedule was drawn.
    active: Vec<u32>,
    schedule: Vec<u32>,
    shrinks: bool,
    thresholds: Thresholds,
}

impl Frequencies {
    pub(crate) fn new(n: usize, shrinks: bool) -> Self {
        let schedule = Vec::with_capacity(n);
        Self {
            preference: vec![1.0; n],
            reference: None,
            gains: 0.0,
            can_stop: false,
            active: (0..n as u32).collect(),
            schedule,
            shrinks,
            thresholds: Thresholds::NONE,
        }
    }

    /// Makes one outer loop (steps 3 to 8); the range of its result is the largest violation. After
    /// a cancellation it returns [`SweepResult::On`] with an infinite range.
    pub(crate) fn sweep<R: FeatureRows>(
        &mut self,
        descent: &mut Descent<R>,
        tol: f64,
        random: &mut ChaCha8Rng,
        go_on: GoOn,
    ) -> SweepResult {
        // 3: the schedule.
        self.draw(random);
        let (mut highest, mut lowest) = (0.0_f64, 0.0_f64);
        let mut ask = descent.entries + BETWEEN;
        for at in 0..self.schedule.len() {
            if descent.entries >= ask {
                ask = descent.entries + BETWEEN;
                if !go_on(descent.steps, highest.max(-lowest)) {
                    return SweepResult::On(f64::INFINITY);
                }
            }
            let k = self.schedule[at] as usize;
            if let Some(&soon) = self.schedule.get(at + 4) {
                descent.prefetch(soon as usize);
            }
            // 5: the step.
            let step = descent.step(k, self.thresholds, 0.0);
            highest = highest.max(step.highest);
            lowest = lowest.min(step.lowest);
            if step.beyond {
                self.preference[k] = 0.0;
            }
            // A coordinate that is set aside stays so, even if the schedule contains it again.
            if self.preference[k] == 0.0 {
                continue;
            }
            // 6: the preference.
            self.learn(k, step.gain);
        }
        self.swept();
        let largest = highest.max(-lowest);
        // 7, 8: the end, or a reset.
        if largest >= tol {
            self.can_stop = false;
            if self.shrinks {
                self.thresholds = Thresholds::after(highest, lowest);
            }
            return SweepResult::On(largest);
        }
        self.thresholds = Thresholds::NONE;
        if self.can_stop {
            return SweepResult::Done(largest);
        }
        self.reset();
        self.can_stop = true;
        SweepResult::Unshrunk(largest)
    }

    /// Updates the preference of `k` by the gain of a step (step 6). In the first sweep the gain
    /// only enters the average.
    #[inline]
    pub(crate) fn learn(&mut self, k: usize, gain: f64) {
        match &mut self.reference {
            None => self.gains += gain,
            Some(reference) => {
                if *reference > 0.0 {
                    let change = (RATE * (gain / *reference - 1.0)).exp();
                    self.preference[k] = (self.preference[k] * change).clamp(PREFERENCES.0, PREFERENCES.1);
                }
                *reference += (gain - *reference) / self.preference.len() as f64;
            }
        }
    }

    /// Sets the average gain after the first sweep.
    pub(crate) fn swept(&mut self) {
        if self.reference.is_none() {
            self.reference = Some(self.gains / self.schedule.len().max(1) as f64);
        }
    }

    /// Draws as many indices as are not set aside, with expected frequencies `p / Σp` (algorithm
    /// 4), in random order (step 3). Returns their number.
    pub(crate) fn draw(&mut self, random: &mut ChaCha8Rng) -> usize {
        let Self { preference, active, schedule, .. } = self;
        active.retain(|&k| preference[k as usize] > 0.0);
        let n = active.len();
        schedule.clear();
        let mut left: f64 = active.iter().map(|&k| preference[k as usize]).sum();
        for &k in active.iter() {
            let p = preference[k as usize];
            let open = (n - schedule.len()) as f64;
            let expected = p * open / left;
            let whole = expected.floor();
            let chance = f64::from(random.next_u32()) / 4_294_967_296.0;
            let times = whole as usize + usize::from(chance < expected - whole);
            let times = times.min(n - schedule.len());
            schedule.extend(std::iter::repeat_n(k, times));
            left -= p;
        }
        shuffle(&mut self.schedule, random);
        self.schedule.len()
    }

    /// Returns the variable at a place of the schedule.
    #[inline]
    pub(crate) fn scheduled(&self, at: usize) -> usize {
        self.schedule[at] as usize
    }

    /// Sets all preferences to 1; nothing is set aside then.
    pub(crate) fn reset(&mut self) {
        self.preference.fill(1.0);
        self.active.clear();
        self.active.extend(0..self.preference.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_follow_the_preferences() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut frequencies = Frequencies::new(400, false);
        frequencies.preference.iter_mut().step_by(2).for_each(|p| *p = 4.0);
        let mut counts = vec![0_usize; 400];
        for _ in 0..200 {
            frequencies.draw(&mut random);
            assert!((380..=400).contains(&frequencies.schedule.len()), "{}", frequencies.schedule.len());
            frequencies.schedule.iter().for_each(|&k| counts[k as usize] += 1);
        }
        let (often, seldom): (usize, usize) = (counts.iter().step_by(2).sum(), counts.iter().skip(1).step_by(2).sum());
        let ratio = often as f64 / seldom as f64;
        assert!((3.8..4.2).contains(&ratio), "{ratio}");
        assert!(counts.iter().all(|&c| c > 40), "every variable has its turn");
    }

    /// Gains of 1 and 0 drive the preferences to their bounds; the length of schedules does not
    /// change.
    #[test]
    fn adaptation_alone_makes_whole_sweeps_of_steps() {
        let gains: Vec<f64> = (0..400).map(|k| f64::from(k % 2)).collect();
        let made = adapt(&gains, 10_000, 3);
        assert!((10_000..10_400).contains(&made), "{made}");
        assert_eq!((adapt(&gains, 0, 3), adapt(&[], 5, 3)), (0, 0));
        let mut frequencies = Frequencies::new(2, false);
        for sweep in 0..100 {
            frequencies.schedule = vec![0, 1];
            frequencies.learn(0, 1.0);
            frequencies.learn(1, 0.0);
            frequencies.swept();
            assert!(sweep > 0 || frequencies.preference == [1.0, 1.0], "the first sweep measures the average");
        }
        assert_eq!(frequencies.preference, [PREFERENCES.1, PREFERENCES.0]);
    }
}
