//! Whether a run comes to its goal at the pace that it shows.

/// Iterations before the first judgement, and for each variable: trainings that get there take fewer.
const FIRST: (u64, u64) = (1 << 17, 64);

/// Doublings of the iterations so far that a run may still need.
const DOUBLINGS: f64 = 12.0;

/// The least measure of a run, looked at whenever its iterations have doubled. Methods without a linear rate divide it by as much in every doubling; one that would
/// need more than twelve of them, thousands of times what was done, does not get there. It counts iterations and no time, so that the same run ends the same way on any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    next: u64,
    least: f64,
    before: f64,
}

impl Outlook {
    /// Of a run over so many variables.
    pub fn new(variables: usize) -> Self {
        let next = FIRST.0.max(FIRST.1 * variables as u64);
        Self { next, least: f64::INFINITY, before: f64::INFINITY }
    }

    /// Takes the measure after so many iterations; whether the run does not come down to `goal`.
    #[inline]
    pub fn is_hopeless(&mut self, iterations: u64, measure: f64, goal: f64) -> bool {
        self.least = self.least.min(measure);
        iterations >= self.next && self.judged(iterations, goal)
    }

    fn judged(&mut self, iterations: u64, goal: f64) -> bool {
        self.next = 2 * iterations;
        let before = std::mem::replace(&mut self.before, self.least);
        before.is_finite() && self.least > goal && self.least * (self.least / before).powf(DOUBLINGS) > goal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations after which a run of this pace is given up; none where it comes to the goal.
    fn given_up(pace: impl Fn(u64) -> f64, goal: f64) -> Option<u64> {
        let mut outlook = Outlook::new(100);
        (1..1 << 22).find(|&t| pace(t) <= goal || outlook.is_hopeless(t, pace(t), goal)).filter(|&t| pace(t) > goal)
    }

    #[test]
    fn what_needs_thousands_of_times_as_many_iterations_is_given_up() {
        let first = FIRST.0;
        assert_eq!(given_up(|_| 0.5, 0.1), Some(2 * first));
        // 1/t at the second look is 2⁻¹⁸: twelve doublings more are 2⁻³⁰.
        let power = |t: u64| 1.0 / t as f64;
        assert_eq!(given_up(power, 0.9 * 2.0_f64.powi(-30)), Some(2 * first));
        assert_eq!(given_up(power, 2.0_f64.powi(-21)), None);
        // A linear rate that is slow to begin with.
        assert_eq!(given_up(|t| (-(t as f64) / 1e5).exp(), 1e-12), None);
        // More variables have more time.
        assert_eq!(Outlook::new(1 << 20).next, 1 << 26);
    }
}
