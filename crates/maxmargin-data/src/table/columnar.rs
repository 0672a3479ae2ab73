//! The fields of columnar files, by the decoder of their format.

use super::cells::Cells;
use super::error::TableError;
use super::format::Columnar;
use crate::run::RunControl;

/// Reads the fields of a file, after a row of names. `leaves_out` receives all names and
/// the places of pandas' index, and marks columns without fields, which may contain anything.
pub(super) fn cells(
    file: Columnar,
    bytes: &[u8],
    leaves_out: impl FnOnce(&[String], &[usize]) -> Vec<bool>,
    control: &RunControl,
) -> Result<Cells, TableError> {
    match file {
        #[cfg(feature = "parquet")]
        Columnar::Parquet => super::parquet::cells(bytes, leaves_out, control),
        #[cfg(feature = "arrow")]
        Columnar::Arrow => super::arrow::cells(bytes, leaves_out, control),
        #[cfg(not(all(feature = "arrow", feature = "parquet")))]
        _ => {
            let _ = (bytes, leaves_out, control);
            Err(TableError::NotBuiltFor { file })
        }
    }
}
