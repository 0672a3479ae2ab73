//! The columns that a table is read with, by the options of the command line.

use super::request::{FileFormat, TableRequest};
use super::{GapRule, Requirements, faults};
use crate::console::failure::Failure;
use crate::console::notes::Notes;
use maxmargin::data::Table;
use maxmargin::data::table::{LabelRule, TableError, TableOptions};
use std::path::Path;

/// A table, and the columns of groups that it has.
pub(super) struct ReadColumns {
    pub(super) table: Table,
    pub(super) groups: Vec<String>,
}

/// Reads a table by `read`. A group that is none of its columns and names a file is left to
/// [`crate::problem::groups`], which reads the file.
pub(super) fn read_columns(
    name: &str,
    own: &TableRequest,
    format: FileFormat,
    wanted: &Requirements,
    notes: &Notes,
    read: impl Fn(&TableOptions) -> Result<Table, TableError>,
) -> Result<ReadColumns, Failure> {
    let mut groups = own.groups.clone();
    loop {
        match read(&options_of(own, &groups, format, wanted)) {
            Ok(table) => return Ok(ReadColumns { table, groups }),
            Err(TableError::Unknown { name: unknown, .. }) if groups.contains(&unknown) && Path::new(&unknown).is_file() => {
                notes.note(&format!("{name}: there is no column {unknown}: the groups are those of the file of this name"));
                groups.retain(|group| *group != unknown);
            }
            Err(error @ TableError::Unknown { .. }) if groups.iter().any(|group| is_of(&error, group)) => {
                let what = format!("{}; no file has this name either", error.reason());
                return Err(Failure::input(name, what));
            }
            Err(error) => return Err(faults::failure(name, &error, wanted)),
        }
    }
}

/// Returns whether an error is that there is no column of this name.
fn is_of(error: &TableError, column: &str) -> bool {
    matches!(error, TableError::Unknown { name, .. } if name == column)
}

/// Returns whether columns that cannot be used are left out, instead of refused.
pub(super) fn leaves_out_faulty(wanted: &Requirements) -> bool {
    matches!(wanted.gaps, GapRule::Described)
}

/// Returns the options of reading a table for what is wanted of it.
fn options_of(own: &TableRequest, groups: &[String], format: FileFormat, wanted: &Requirements) -> TableOptions {
    TableOptions {
        delimiter: own.delimiter.or((format == FileFormat::Tsv).then_some(b'\t')),
        skip_rows: own.skip_rows,
        decimal_comma: own.decimal_comma,
        header: own.header,
        target: own.target.clone(),
        no_target: own.no_target || (wanted.one_class && own.target.is_none()),
        drop: own.drop.clone(),
        // The columns of groups come last.
        keep: own.keep.iter().chain(groups).cloned().collect(),
        categories: own.category.clone(),
        missing_words: own.missing.clone(),
        missing: wanted.missing(),
        labels: match wanted.model {
            Some(_) if wanted.known_labels => LabelRule::Known,
            Some(_) => LabelRule::Optional,
            None => LabelRule::Present,
        },
        leave_out_faulty: leaves_out_faulty(wanted),
    }
}
