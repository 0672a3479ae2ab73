//! When a run by pairs is better ended, since another way costs less than it has cost already.

/// Nanoseconds of an iteration, and of each variable that its passes go over, about.
const ITERATION: (f64, f64) = (600.0, 0.75);

/// Nanoseconds of an iteration over so many variables.
pub(crate) fn iteration(active: usize) -> f64 {
    ITERATION.0 + ITERATION.1 * active as f64
}

/// Iterations between two looks.
pub(crate) const BETWEEN: u64 = 1024;

/// When pairs leave a problem to somebody who goes on from where they are: once they have taken as
/// long as that would. Until then they may be near their end; at worst both together take twice as
/// long as the better of them.
///
/// Costs are counted and not measured: a run ends at the same iteration on every machine.
#[derive(Clone, Copy, Debug)]
pub struct PairBudget {
    /// Iterations that every run gets, and those that no run gets.
    pub least: u64,
    /// See `least`.
    pub most: u64,
    /// Variables of the whole problem.
    pub variables: usize,
    /// Nanoseconds of the other way with so many variables between their bounds, of so many in all.
    pub other: fn(usize, usize) -> f64,
}

impl PairBudget {
    /// Whether it is over after so many iterations of passes over `active` variables, `free()` of
    /// them between their bounds.
    pub(crate) fn is_over(&self, iterations: u64, active: usize, free: impl FnOnce() -> usize) -> bool {
        iterations >= self.most
            || iterations >= self.least && iterations as f64 * iteration(active) >= (self.other)(free(), self.variables)
    }
}

#[cfg(test)]
mod tests {
    use super::PairBudget;

    #[test]
    fn pairs_go_on_as_long_as_they_have_cost_less() {
        let patience = PairBudget { least: 1000, most: 1_000_000, variables: 50, other: |free, all| (free * all) as f64 * 1e6 };
        assert!(!patience.is_over(999, 10, || 0) && patience.is_over(1000, 10, || 0));
        // 1,350 ns each.
        assert!(!patience.is_over(37_000, 1000, || 1) && patience.is_over(37_100, 1000, || 1));
        assert!(!patience.is_over(74_000, 1000, || 2) && patience.is_over(74_100, 1000, || 2));
        assert!(!patience.is_over(999_999, 1000, || 900) && patience.is_over(1_000_000, 1000, || 900));
    }
}
