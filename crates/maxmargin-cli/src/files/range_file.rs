//! Files of ranges, as LIBSVM's svm-scale writes them.

use super::input::{MaxSize, read_text};
use crate::console::failure::Failure;
use maxmargin::data::scale::Scaler;
use std::path::Path;

/// Reads the scaler of a file of ranges.
pub(crate) fn read_scaler(path: &Path, index_base: u32, most: MaxSize) -> Result<Scaler, Failure> {
    let name = path.display().to_string();
    let text = read_text(path, most).map_err(|e| Failure::input(&name, format!("cannot read the ranges: {e}")))?;
    Scaler::from_range_text(&text, index_base).map_err(|e| Failure::input(&name, e))
}
