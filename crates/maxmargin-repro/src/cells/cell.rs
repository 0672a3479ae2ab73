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
    /// The request to the measured program, without the data.
    pub(crate) settings: Settings,
}

impl Cell {
    /// Returns whether both are the same place of a table, whatever their settings.
    pub(crate) fn is_named_as(&self, other: &Self) -> bool {
        (self.table, &self.problem, &self.vary, &self.variant) == (other.table, &other.problem, &other.vary, &other.variant)
    }

    /// Returns the name of the cell for people.
    pub(crate) fn name(&self) -> String {
        format!("table {} {} {} {}", self.table, self.problem, self.vary, self.variant)
    }
}
