//! The ways over the rows of a problem: all variables, the active ones, or neighbours.

use crate::config::{ActiveUse, Shrinking, SmoConfig};
use crate::neighbours::NeighbourPairs;
use crate::pairs::{Pairs, left_to_gain};
use crate::rounds::active::{Active, TooManyActive};
use maxmargin_core::{Dual, Goal, SolverControl, Status, Work};
use maxmargin_kernel::Rows;

/// The share of all rows after which the whole matrix is computed: most of the remaining rows will
/// be needed. It is lower for rows of one-byte codes, which take little memory.
const WHOLE: f64 = 0.3;
const WHOLE_OF_CODES: f64 = 0.15;

/// The cost of a row on its own beyond its values, in the operations of
/// [`Gram::value_operations`](maxmargin_kernel::Gram::value_operations). A matrix whose rows take
/// less than half of it is computed at once, since a third of its rows are needed.
const EACH_ROW: u64 = 2800;

fn whole(rows: &Rows) -> f64 {
    let gram = rows.gram();
    if gram.value_operations().saturating_mul(gram.len() as u64) <= EACH_ROW / 2 {
        0.0
    } else if gram.table().is_some() {
        WHOLE_OF_CODES
    } else {
        WHOLE
    }
}

/// The strategy for the rows of a problem.
pub(crate) enum Strategy<'a, 'g> {
    /// Uses all variables in every pass, until the control has counted this many iterations.
    Whole(Box<Pairs<'a, 'g>>, u64),
    /// Uses the active variables only, in rows of their number.
    Active(Box<Active<'a, 'g>>),
    /// Uses the neighbours of each sample only.
    Neighbours(Box<NeighbourPairs<'a>>),
}

/// A number of iterations that no run reaches.
const NO_LIMIT: u64 = u64::MAX;

impl ActiveUse {
    /// Returns the iterations after which a run over all variables goes on with the active ones.
    fn long_run(&self, dual: &Dual) -> u64 {
        if self.in_long_runs { Shrinking::LONG * dual.len() as u64 } else { NO_LIMIT }
    }
}

/// Returns the same problem at the same point, to continue with the active variables.
fn active_from<'a, 'g>(pairs: &Pairs<'a, 'g>, config: &SmoConfig) -> Active<'a, 'g> {
    let (alpha, gradient) = (pairs.state.alpha(), pairs.state.gradient());
    let mut active = Active::new(pairs.dual, pairs.rows, &alpha, &gradient, pairs.convergence.aimed_at(), config);
    active.go_on_from(pairs.work());
    active
}

impl<'a, 'g> Strategy<'a, 'g> {
    pub(crate) fn new(
        dual: &'a Dual,
        rows: &'a Rows<'g>,
        alpha: &[f64],
        gradient: &[f64],
        aim: Goal,
        config: &SmoConfig,
    ) -> Self {
        if let Some(pairs) = NeighbourPairs::new(dual, rows.gram(), alpha, gradient, aim, config) {
            return Self::Neighbours(Box::new(pairs));
        }
        let uses = config.shrinking.uses(dual, rows, alpha);
        if uses.at_once {
            let active = Active::new(dual, rows, alpha, gradient, aim, config);
            return Self::Active(Box::new(active.within(uses.limits)));
        }
        let mut pairs = Pairs::new(dual, rows, alpha, gradient, aim, whole(rows), config);
        pairs.stall.limit_gain(left_to_gain(dual, alpha, gradient));
        Self::Whole(Box::new(pairs), uses.long_run(dual))
    }

    pub(crate) fn iterate(&mut self, control: &mut SolverControl, config: &SmoConfig) -> Status {
        loop {
            match self {
                Self::Whole(pairs, until) => match pairs.iterate_until(*until, control) {
                    Some(status) => return status,
                    None => *self = Self::Active(Box::new(active_from(pairs, config))),
                },
                Self::Neighbours(pairs) => return pairs.iterate(control),
                Self::Active(active) => {
                    let until = match active.iterate(control) {
                        Ok(status) => return status,
                        Err(TooManyActive::InSet) => NO_LIMIT,
                        Err(TooManyActive::Moving) => {
                            config.shrinking.uses(active.dual, active.rows, &active.alpha).long_run(active.dual)
                        }
                    };
                    // The rows of the next phase come from the row store, which the control counts
                    // itself.
                    control.owed = 0;
                    let Active { dual, rows, alpha, gradient, convergence, work, .. } = &mut **active;
                    let mut pairs = Pairs::new(dual, rows, alpha, gradient, convergence.aimed_at(), whole(rows), config);
                    pairs.before = *work;
                    *self = Self::Whole(Box::new(pairs), until);
                }
            }
        }
    }

    /// Prefers variables at a small distance while the violation is large ([`Active::prefer`]).
    pub(crate) fn prefer(&mut self, distance: Vec<f64>) {
        if let Self::Active(active) = self {
            active.prefer(distance);
        }
    }

    /// Leaves the sums of the last round to the caller ([`Active::leave_last_sums`]).
    pub(crate) fn leave_last_sums(&mut self) {
        if let Self::Active(active) = self {
            active.leave_last_sums();
        }
    }

    /// Returns to the last point whose gradients are known.
    pub(crate) fn withdraw(&mut self) {
        if let Self::Active(active) = self {
            active.withdraw();
        }
    }

    /// Sets the goal of the next iterations.
    pub(crate) fn aim(&mut self, aim: Goal) {
        match self {
            Self::Whole(pairs, _) => pairs.convergence.aim(aim),
            Self::Active(active) => active.convergence.aim(aim),
            Self::Neighbours(pairs) => pairs.convergence.aim(aim),
        }
    }

    pub(crate) fn alpha(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.alpha(),
            Self::Active(active) => active.alpha.clone(),
            Self::Neighbours(pairs) => pairs.alpha(),
        }
    }

    pub(crate) fn gradient(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.gradient(),
            Self::Active(active) => active.gradient.clone(),
            Self::Neighbours(pairs) => pairs.gradient(),
        }
    }

    pub(crate) fn violation(&mut self) -> f64 {
        match self {
            Self::Whole(pairs, _) => pairs.state.extremes().violation(),
            Self::Active(active) => active.band().violation(),
            Self::Neighbours(pairs) => pairs.violation(),
        }
    }

    /// Takes the exact gradient of the point. Returns true if that of the last round was lacking
    /// ([`Active::leave_last_sums`]).
    pub(crate) fn refresh(&mut self, gradient: &[f64]) -> bool {
        match self {
            Self::Whole(pairs, _) => pairs.refresh(gradient),
            Self::Active(active) => return active.refresh(gradient),
            Self::Neighbours(pairs) => pairs.refresh(gradient),
        }
        false
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            Self::Whole(pairs, _) => pairs.work(),
            Self::Active(active) => active.work,
            Self::Neighbours(pairs) => pairs.work(),
        }
    }
}
