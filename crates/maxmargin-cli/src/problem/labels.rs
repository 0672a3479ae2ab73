//! Labels that are no classes.

use crate::console::failure::Failure;
use crate::console::{format, label_names};
use crate::files::input::Input;
use maxmargin::data::LabelError;

/// The number from which whole numbers in a file may be read as one: 2^53.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Refuses class labels that may have been different in the file.
pub(super) fn check_labels(input: &Input) -> Result<(), Failure> {
    let Some(row) = input.data.labels.iter().position(|label| label.abs() >= WHOLE) else { return Ok(()) };
    let what = format!(
        "row {}: label {}: from 2^53 on different whole numbers are read as one; number the classes from 1, or in a table name them \
         by words (--category with the name of the target)",
        format::count(row as u64 + 1),
        label_names::display(input.data.labels[row]),
    );
    Err(Failure::input(&input.name, what))
}

/// Returns the failure of labels that are no classes.
pub(crate) fn label_failure(input: &Input, error: &LabelError) -> Failure {
    let LabelError::OneClass { rows, label } = error else { return Failure::input(&input.name, error) };
    let (rows, label) = (format::count(*rows as u64), label_names::display(*label));
    Failure::input(&input.name, format!("all {rows} labels are {label}: training needs two classes"))
}
