//! Tables for models without column names: a column of numbers for each feature.

use super::Requirements;
use crate::console::failure::Failure;
use maxmargin::data::table::{self, LabelRule, TableError, TableOptions, TargetChoice};
use maxmargin::data::{RunControl, Table};
use maxmargin::kernel::Kernel;
use maxmargin::model::Model;

/// Reads a table without knowledge of its columns. A table to predict that has exactly one column
/// for each feature of the model has no target: its last column, or one of coordinates that is
/// called `y`, is a feature. A column whose name says that it is the target stays the target.
pub(super) fn read(
    bytes: &[u8],
    options: &TableOptions,
    wanted: &Requirements,
    control: &RunControl,
) -> Result<Table, TableError> {
    let table = table::read(bytes, options, control)?;
    let target = table.data.columns.as_ref().and_then(|columns| columns.target());
    let is_guessed = options.labels == LabelRule::Optional
        && match table.target {
            TargetChoice::Last => true,
            TargetChoice::Name => target.is_some_and(|target| target.name.eq_ignore_ascii_case("y")),
            // Given, or none.
            _ => false,
        };
    match (&table.data.columns, wanted.model) {
        (Some(columns), Some(model)) if is_guessed && columns.features().len() + 1 == model.features() => {
            table::read(bytes, &TableOptions { no_target: true, ..options.clone() }, control)
        }
        _ => Ok(table),
    }
}

/// Turns a table into numbered features.
///
/// # Errors
///
/// When columns hold words, or there are fewer of them than the model has features.
pub(super) fn take_numbers(name: &str, model: &Model, table: &mut Table) -> Result<(), Failure> {
    let columns = table.data.columns.take().filter(|columns| columns.are_numbers());
    let Some(columns) = columns else {
        let what = "the model was trained on numbers without names, and this table has words; give it a table of numbers, or train it on a table";
        return Err(Failure::input(name, what));
    };
    let (theirs, ours) = (columns.features().len(), model.features());
    if theirs < ours && *model.kernel() != Kernel::Precomputed {
        let target = if columns.target().is_some() { " besides the target" } else { "" };
        let what = format!(
            "the table has {theirs} columns{target}, and the model {ours} features without names: give it a table with a column for each"
        );
        return Err(Failure::input(name, what));
    }
    table.data.index_base = model.parts().index_base;
    Ok(())
}
