//! The settings, the limits and the cost of a run.

use crate::config::{Config, LinearWork};
use crate::run::SweepControl;
use maxmargin_kernel::MemoryBudget;

/// A run, while it lasts.
pub(crate) struct MarginRun<'a> {
    pub(crate) config: &'a Config,
    pub(crate) control: SweepControl<'a>,
    pub(crate) memory: &'a MemoryBudget,
    pub(crate) work: LinearWork,
    /// The coordinate steps after which the present stage is given up.
    pub(crate) until: u64,
}

impl MarginRun<'_> {
    /// Returns true if the present stage is to be given up.
    pub(crate) fn is_given_up(&self) -> bool {
        self.work.steps >= self.until
    }
}
