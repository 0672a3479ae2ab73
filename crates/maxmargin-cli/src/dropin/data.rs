//! Data files as these programs read them, with their error messages.

use super::exit::Exit;
use crate::console::stderr::print_line;
use crate::files::input::{MaxSize, read_bytes};
use maxmargin::data::libsvm::{IndexBase, ReadError, ReadOptions, line_of_row, parse};
use maxmargin::data::number::format_g;
use maxmargin::data::{Dataset, LabelError, Par, RunControl};
use maxmargin::libsvm::check_labels;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Reads a data file.
pub(super) fn read(path: &OsStr, index_base: IndexBase, par: Par) -> Result<Dataset, Exit> {
    parsed(path, &bytes(path, "input")?, index_base, par)
}

/// Reads a data file whose labels are classes: whole numbers of 32 bits.
pub(super) fn read_classes(path: &OsStr, index_base: IndexBase, par: Par) -> Result<Dataset, Exit> {
    let bytes = bytes(path, "input")?;
    let data = parsed(path, &bytes, index_base, par)?;
    let line = |row: usize| line_of_row(&bytes, row).unwrap_or(row as u64 + 1);
    if let Err(error) = check_labels(&data.labels) {
        let row = if let LabelError::Wide { row, .. } = error { row } else { 0 };
        return Err(Exit::Error(format!("Wrong input format at line {} ({error})", line(row))));
    }
    if let Some(row) = data.labels.iter().position(|label| label.fract() != 0.0) {
        let (label, place) = (format_g(data.labels[row], 17), line(row));
        let class = data.labels[row].trunc();
        print_line(&format!(
            "WARNING: line {place}: the class label {label} is cut to {class}, as all labels of classes that are not whole numbers"
        ));
    }
    Ok(data)
}

fn parsed(path: &OsStr, bytes: &[u8], index_base: IndexBase, par: Par) -> Result<Dataset, Exit> {
    let options = ReadOptions { index_base, ..ReadOptions::default() };
    parse(bytes, &options, par, &RunControl::unlimited()).map_err(|error| match error {
        ReadError::Line { line, column, text, problem } => {
            let quoted = if text.is_empty() { String::new() } else { format!("`{text}` ") };
            Exit::Error(format!("Wrong input format at line {line} (column {column}: {quoted}{problem})"))
        }
        ReadError::Binary { line, .. } => {
            Exit::Error(format!("Wrong input format at line {line} (this is a binary file or UTF-16 text)"))
        }
        other => Exit::Error(format!("{}: {other}", path.to_string_lossy())),
    })
}

/// Reads a file of this kind, `input` or `model`.
pub(super) fn bytes(path: &OsStr, kind: &str) -> Result<Vec<u8>, Exit> {
    check_opens(path, kind)?;
    Ok(read_bytes(&path.to_string_lossy(), MaxSize::usual())?)
}

/// Checks that a file of this kind can be opened.
pub(super) fn check_opens(path: &OsStr, kind: &str) -> Result<(), Exit> {
    // A lone dash is not standard input here.
    if path == "-" || File::open(path).is_err() {
        return Err(Exit::Error(format!("can't open {kind} file {}", path.to_string_lossy())));
    }
    Ok(())
}

/// Returns the index of the last feature, as written in files.
pub(super) fn greatest(data: &Dataset) -> usize {
    (data.samples.features() + data.index_base as usize).saturating_sub(1)
}

/// Returns the first row that has the last feature.
pub(super) fn widest(data: &Dataset) -> usize {
    let has = |row: &usize| {
        let mut found = false;
        data.samples.row(*row).for_each(|column, _| found |= column + 1 == data.samples.features());
        found
    };
    (0..data.samples.len()).find(has).unwrap_or(0)
}

/// Returns the message of an error in a row, with its line number.
pub(super) fn at_row(path: &OsStr, row: usize, what: &dyn std::fmt::Display) -> String {
    // The text is no longer in memory, so the file is read again to count its lines.
    let line = bytes(path, "input").ok().and_then(|bytes| line_of_row(&bytes, row)).unwrap_or(row as u64 + 1);
    format!("ERROR: {}: line {line}: {what}", path.to_string_lossy())
}

/// Checks that every row begins with its serial number, as a precomputed kernel requires.
pub(super) fn check_serials(data: &Dataset) -> Result<(), Exit> {
    let refused = |what: &str| Err(Exit::Error(format!("Wrong input format: {what}")));
    for row in 0..data.samples.len() {
        let first = data.samples.row(row).entries().first().copied().filter(|first| first.0 == 0 && data.index_base == 0);
        match first {
            None => return refused("first column must be 0:sample_serial_number"),
            Some((_, serial)) if serial < 1.0 || serial as usize > greatest(data) => {
                return refused("sample_serial_number out of range");
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Returns the default model of a data file: its name with `.model`, in the current folder.
pub(super) fn default_model(data: &OsStr) -> PathBuf {
    let name = Path::new(data).file_name().unwrap_or(data);
    let mut name = name.to_owned();
    name.push(".model");
    PathBuf::from(name)
}
