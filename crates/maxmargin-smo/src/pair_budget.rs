//! The budget of iterations on pairs, for callers that have another solver to continue with.

/// The cost of an iteration in nanoseconds: a constant, and a part for each variable of its passes.
/// Both are approximate.
const ITERATION: (f64, f64) = (600.0, 0.75);

/// Returns the nanoseconds of one iteration over so many variables.
pub(crate) fn iteration(active: usize) -> f64 {
    ITERATION.0 + ITERATION.1 * active as f64
}

/// Iterations between two checks of the budget.
pub(crate) const BETWEEN: u64 = 1024;

/// The budget of pair steps before another solver takes over from the current point.
///
/// The pairs stop when they have cost as much as the other solver would. Until then they may be
/// near their end. At worst both together take twice as long as the faster one.
///
/// Costs are counted, not measured: a run ends at the same iteration on every machine.
#[derive(Clone, Copy, Debug)]
pub struct PairBudget {
    /// The least number of iterations: every run gets these.
    pub least: u64,
    /// The largest number of iterations.
    pub most: u64,
    /// The number of variables of the whole problem.
    pub variables: usize,
    /// Estimates the nanoseconds of the other solver.
    pub other: fn(VariableCounts) -> f64,
}

/// The numbers of variables that the cost of a solver depends on.
#[derive(Clone, Copy, Debug)]
pub struct VariableCounts {
    /// Between their bounds.
    pub free: usize,
    /// Not 0.
    pub support: usize,
    /// All of the problem.
    pub all: usize,
}

impl PairBudget {
    /// Returns true if the budget is used up after so many iterations over `active` variables.
    /// `counts` are `[free, support]` variables.
    pub(crate) fn is_over(&self, iterations: u64, active: usize, counts: impl FnOnce() -> [usize; 2]) -> bool {
        let other = || {
            let [free, support] = counts();
            (self.other)(VariableCounts { free, support, all: self.variables })
        };
        iterations >= self.most || iterations >= self.least && iterations as f64 * iteration(active) >= other()
    }
}

#[cfg(test)]
mod tests {
    use super::PairBudget;

    #[test]
    fn pairs_go_on_as_long_as_they_have_cost_less() {
        let pair_budget = PairBudget { least: 1000, most: 1_000_000, variables: 50, other: |of| (of.free * of.all) as f64 * 1e6 };
        assert!(!pair_budget.is_over(999, 10, || [0, 0]) && pair_budget.is_over(1000, 10, || [0, 0]));
        // An iteration over 1,000 variables costs 1,350 ns.
        assert!(!pair_budget.is_over(37_000, 1000, || [1, 0]) && pair_budget.is_over(37_100, 1000, || [1, 0]));
        assert!(!pair_budget.is_over(74_000, 1000, || [2, 0]) && pair_budget.is_over(74_100, 1000, || [2, 0]));
        assert!(!pair_budget.is_over(999_999, 1000, || [900, 0]) && pair_budget.is_over(1_000_000, 1000, || [900, 0]));
    }
}
