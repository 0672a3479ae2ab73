//! Data files as these programs read them, and their words for what is wrong.

use super::ended::Ended;
use crate::input::{MaxSize, read_bytes};
use maxmargin::data::libsvm::{IndexBase, ReadError, ReadOptions, parse};
use maxmargin::data::{Dataset, Par};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Reads a data file.
pub(super) fn read(path: &OsStr, index_base: IndexBase, par: Par) -> Result<Dataset, Ended> {
    let options = ReadOptions { index_base, ..ReadOptions::default() };
    parse(&bytes(path, "input")?, &options, par).map_err(|error| match error {
        ReadError::Line { line, column, text, problem } => {
            let quoted = if text.is_empty() { String::new() } else { format!("`{text}` ") };
            Ended::Error(format!("Wrong input format at line {line} (column {column}: {quoted}{problem})"))
        }
        ReadError::Binary { line, .. } => {
            Ended::Error(format!("Wrong input format at line {line} (this is a binary file or UTF-16 text)"))
        }
        other => Ended::Error(format!("{}: {other}", path.to_string_lossy())),
    })
}

/// The bytes of a file of this kind: `input`, `model`.
pub(super) fn bytes(path: &OsStr, kind: &str) -> Result<Vec<u8>, Ended> {
    check_opens(path, kind)?;
    Ok(read_bytes(&path.to_string_lossy(), MaxSize::usual())?)
}

/// Whether a file of this kind is there and may be read.
pub(super) fn check_opens(path: &OsStr, kind: &str) -> Result<(), Ended> {
    // A lone dash is no standard input here.
    if path == "-" || File::open(path).is_err() {
        return Err(Ended::Error(format!("can't open {kind} file {}", path.to_string_lossy())));
    }
    Ok(())
}

/// The number of the last feature, as files count.
pub(super) fn greatest(data: &Dataset) -> usize {
    (data.samples.features() + data.index_base as usize).saturating_sub(1)
}

/// Whether rows begin as those of a precomputed kernel do: with their serial number.
pub(super) fn check_serials(data: &Dataset) -> Result<(), Ended> {
    let refused = |what: &str| Err(Ended::Error(format!("Wrong input format: {what}")));
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

/// The name of the model of a data file: its own with `.model`, in the current folder.
pub(super) fn default_model(data: &OsStr) -> PathBuf {
    let name = Path::new(data).file_name().unwrap_or(data);
    let mut name = name.to_owned();
    name.push(".model");
    PathBuf::from(name)
}
