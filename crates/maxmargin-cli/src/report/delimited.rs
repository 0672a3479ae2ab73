//! Tables with a delimiter: what `predict` and `explain` write, and names for their columns.

use crate::console::{format, label_names};
use maxmargin::data::table::{Columns, KeptColumn};
use maxmargin::model::Model;
use std::io::{self, Write};
use std::path::Path;

/// Returns the delimiter of a file by its name: a tab for `.tsv` and `.tab`, or else a comma.
pub(crate) fn delimiter_of(path: &Path) -> char {
    let is_tab = |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("tsv") || ending.eq_ignore_ascii_case("tab");
    if path.extension().is_some_and(is_tab) { '\t' } else { ',' }
}

/// Writes a row of a table. Fields that the delimiter, a quote or the end of a line would break are
/// quoted, with inner quotes doubled.
pub(crate) fn write_fields(fields: &[&str], delimiter: char, out: &mut dyn Write) -> io::Result<()> {
    let needs_quotes = |field: &str| {
        field.is_empty() && fields.len() == 1 || field.trim() != field || field.contains([delimiter, '"', '\n', '\r'])
    };
    let field =
        |field: &&str| if needs_quotes(field) { format!("\"{}\"", field.replace('"', "\"\"")) } else { (*field).to_owned() };
    writeln!(out, "{}", fields.iter().map(field).collect::<Vec<_>>().join(&delimiter.to_string()))
}

/// Returns the columns of the data to copy, each once.
pub(crate) fn each_once(kept: &[KeptColumn]) -> Vec<&KeptColumn> {
    let is_first = |at: usize| kept[..at].iter().all(|earlier| earlier.name != kept[at].name);
    (0..kept.len()).filter(|&at| is_first(at)).map(|at| &kept[at]).collect()
}

/// Returns the names of computed columns: one that a copied column or an earlier one has gets
/// `prefix` before it, as often as needed.
pub(crate) fn free_names(names: impl IntoIterator<Item = String>, prefix: &str, copied: &[&KeptColumn]) -> Vec<String> {
    let mut free: Vec<String> = Vec::new();
    for mut name in names {
        while copied.iter().any(|column| column.name == name) || free.contains(&name) {
            name.insert_str(0, prefix);
        }
        free.push(name);
    }
    free
}

/// Returns a label without quotes.
pub(crate) fn label_text(label: f64) -> String {
    label_names::word_of(label).map_or_else(|| format::exact(label), str::to_owned)
}

/// Returns the names of the columns of a table, or else `count` numbers of features from the first.
pub(crate) fn feature_names(columns: Option<&Columns>, first: usize, count: usize) -> Vec<String> {
    match columns {
        Some(columns) => columns.features().iter().map(|column| column.name.clone()).collect(),
        None => (0..count).map(|j| format!("feature {}", j + first)).collect(),
    }
}

/// Returns the labels that each machine of several separates, such as `elm_oak`, or its level;
/// empty for a single machine.
pub(crate) fn machine_names(model: &Model) -> Vec<String> {
    let machines = model.machines().len();
    let name = |machine: usize| match model.sides(machine).filter(|_| machines > 1) {
        Some((Some(negative), positive)) => format!("{}_{}", label_text(negative), label_text(positive)),
        Some((None, positive)) => label_text(positive),
        None => model.levels().get(machine).map_or_else(String::new, |level| format::exact(*level)),
    };
    (0..machines).map(name).collect()
}
