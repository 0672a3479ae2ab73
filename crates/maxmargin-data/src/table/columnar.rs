//! The fields of columnar files, by the decoder of their format.

use super::cells::Cells;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::encoding::without_marks;
use super::error::TableError;
use super::format::Columnar;
use crate::run::RunControl;

/// The entry of a file in which pandas describes its columns.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) const PANDAS: &str = "pandas";

/// The name of a column of a file, as a text would have it.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) fn column_name(name: &str) -> String {
    without_marks(name).trim().to_owned()
}

/// Returns the columns with these names that are the index of a data frame: those that `pandas`,
/// the file's entry of this key, lists, and levels without a name. Ranges there have no column.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) fn index_levels(names: &[String], pandas: Option<&str>) -> Vec<usize> {
    let described = pandas.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()).unwrap_or_default();
    let listed = described["index_columns"].as_array().into_iter().flatten().filter_map(|level| level.as_str());
    let listed: Vec<String> = listed.map(column_name).collect();
    (0..names.len()).filter(|&c| listed.contains(&names[c]) || is_level(&names[c])).collect()
}

/// Returns whether this is the name of a level of an index without a name in a file of pandas.
#[cfg(any(feature = "arrow", feature = "parquet"))]
fn is_level(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

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
