//! The labels or the level of a machine.

use crate::console::format;
use crate::console::label_names::display;
use maxmargin::model::{Model, Multiclass};
use serde::Serialize;

/// The labels that a machine decides between, or its level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct MachineName {
    /// The label of negative decision values; None without classes, or for the rest.
    negative: Option<f64>,
    /// The label of decision values of 0 and above.
    positive: Option<f64>,
    /// The level of a quantile or expectile, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<f64>,
}

impl MachineName {
    /// Returns the label of decision values of 0 and above, if there are classes.
    pub(crate) fn positive(self) -> Option<f64> {
        self.positive
    }

    /// Returns `-1 and 1`, `1 and the rest`, `tau 0.9`, or `all`.
    pub(crate) fn text(self) -> String {
        match (self.negative, self.positive, self.level) {
            (Some(a), Some(b), _) => format!("{} and {}", display(a), display(b)),
            (None, Some(b), _) => format!("{} and the rest", display(b)),
            (None, None, Some(level)) => format!("tau {}", format::exact(level)),
            _ => "all".to_owned(),
        }
    }
}

/// The names of all machines of a model or a training.
#[derive(Clone, Debug)]
pub(crate) struct MachineNames {
    labels: Vec<f64>,
    sides: Vec<(Option<usize>, usize)>,
    levels: Vec<f64>,
}

impl MachineNames {
    /// Names the machines of these classes, or of these levels.
    pub(crate) fn new(labels: Vec<f64>, multiclass: Multiclass, levels: &[f64]) -> Self {
        Self { sides: multiclass.sides(labels.len()), labels, levels: levels.to_vec() }
    }

    /// Names the machines of a model.
    pub(crate) fn of(model: &Model) -> Self {
        Self::new(model.classes().to_vec(), model.multiclass(), model.levels())
    }

    /// Returns the name of a machine.
    pub(crate) fn name(&self, machine: usize) -> MachineName {
        let sides = self.sides.get(machine);
        MachineName {
            negative: sides.and_then(|sides| sides.0).map(|class| self.labels[class]),
            positive: sides.map(|sides| self.labels[sides.1]),
            level: self.levels.get(machine).copied(),
        }
    }
}
