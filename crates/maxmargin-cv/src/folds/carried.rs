//! Machines that stay optimal from one value of C to the next.
//!
//! Where no variable reaches C, the machine is that of every larger C, too. Classes that can be
//! separated have such machines from some C on, and a grid asks for them again and again.

use crate::folds::task::Task;
use maxmargin_core::Status;
use std::sync::{Mutex, PoisonError};

/// Variables of all machines that are kept for the next value of C: 40 bytes each.
const MOST_VARIABLES: usize = 1 << 20;

/// Certified machines of one value of C for the next one: that of all data, then those of the
/// folds.
#[derive(Debug, Default)]
pub(crate) struct CarriedMachines(Vec<Mutex<Option<Task>>>);

fn place(fold: Option<usize>) -> usize {
    fold.map_or(0, |fold| fold + 1)
}

impl CarriedMachines {
    /// Returns whether the machines of so many folds may be kept.
    pub(crate) fn fit(folds: usize, variables: usize) -> bool {
        (folds + 1).saturating_mul(variables) <= MOST_VARIABLES
    }

    /// Keeps a certified machine in which no variable is at its bound.
    pub(crate) fn keep(&mut self, task: Task) {
        let mut bounds = task.solution.alpha.iter().zip(task.dual.upper());
        if task.solution.status == Status::Converged && bounds.all(|(a, upper)| *a == 0.0 || a < upper) {
            let at = place(task.fold);
            self.0.resize_with(self.0.len().max(at + 1), Mutex::default);
            self.0[at] = Mutex::new(Some(task));
        }
    }

    /// The number of values of C that must be run again, if their machines are lost, before the
    /// next value: the last value, and those since the oldest of its machines was trained.
    pub(crate) fn values(&mut self) -> usize {
        let kept = self.0.iter_mut().filter_map(|place| place.get_mut().unwrap_or_else(PoisonError::into_inner).as_ref());
        kept.map(|task| task.age + 1).max().unwrap_or(0)
    }

    /// Takes the machine of a fold, or of all data.
    pub(crate) fn take(&self, fold: Option<usize>) -> Option<Task> {
        self.0.get(place(fold))?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
