//! Names of columns in messages.

use maxmargin::data::quote::quoted;

/// Characters of a name in a note.
pub(super) const SHOWN: usize = 40;

/// Returns the name of a column in messages. One without a name is already called `column 3`.
pub(crate) fn column_name(name: &str) -> String {
    let shown = quoted(name, SHOWN);
    if name.strip_prefix("column ").is_some_and(|number| number.parse::<usize>().is_ok()) {
        shown
    } else {
        format!("column {shown}")
    }
}
