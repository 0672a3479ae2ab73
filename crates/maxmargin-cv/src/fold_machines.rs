//! The machines of all folds of a cross-validation, kept for predictions after it.

use maxmargin_model::{Ensemble, Model};
use std::sync::{Mutex, PoisonError};

/// The machines of all folds, each once.
#[derive(Debug, Default)]
pub(crate) struct FoldMachines {
    pub(crate) ensembles: Vec<Ensemble>,
    /// For each fold, the ensemble and the place of each of its machines.
    pub(crate) places: Vec<Vec<(u32, u32)>>,
}

/// Collects the machines of all folds beside those of a model of all data.
pub(crate) struct FoldMachineCollector<'a> {
    /// The model of all data, if its vectors are not stored again.
    pub(crate) model: Option<&'a Model>,
    collected: Mutex<FoldMachines>,
}

impl<'a> FoldMachineCollector<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        Self { model: Some(model), collected: Mutex::default() }
    }

    /// Collects machines that share no vectors with a model.
    pub(crate) fn alone() -> Self {
        Self { model: None, collected: Mutex::default() }
    }

    /// Returns the machines.
    pub(crate) fn into_machines(self) -> FoldMachines {
        self.collected.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the machines by those of all folds.
    pub(crate) fn put(&self, machines: FoldMachines) {
        *self.collected.lock().unwrap_or_else(PoisonError::into_inner) = machines;
    }

    /// Adds the next fold, whose machines are those of a model of its own.
    pub(crate) fn add_model(&self, model: &Model) {
        let mut machines = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let at = machines.ensembles.len() as u32;
        machines.places.push((0..model.machines().len() as u32).map(|machine| (at, machine)).collect());
        machines.ensembles.push(Ensemble::of_model(model));
    }
}
