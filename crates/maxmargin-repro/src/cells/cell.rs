//! A cell: one measurement to make.

use super::settings::Settings;

/// One measurement to make.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) table: u32,
    pub(crate) problem: String,
    /// The varied settings as text, such as `folds=contiguous k=10`.
    pub(crate) vary: String,
    /// The same as the report shows it.
    pub(crate) shown: String,
    pub(crate) variant: String,
    /// What the measured program is told, apart from the data.
    pub(crate) settings: Settings,
}

impl Cell {
    /// How a person sees the cell named.
    pub(crate) fn name(&self) -> String {
        format!("table {} {} {} {}", self.table, self.problem, self.vary, self.variant)
    }
}
