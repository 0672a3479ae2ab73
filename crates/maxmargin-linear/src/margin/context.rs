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
}
