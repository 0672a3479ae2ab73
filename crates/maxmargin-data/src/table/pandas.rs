//! The names of columns of columnar files, and those that pandas wrote as an index.

use super::encoding::without_marks;

/// The entry of a file in which pandas describes its columns.
pub(super) const PANDAS: &str = "pandas";

/// The name of a column of a file, as a text would have it.
pub(super) fn column_name(name: &str) -> String {
    without_marks(name).trim().to_owned()
}

/// Returns the columns with these names that are the index of a data frame: those that `pandas`,
/// the file's entry of this key, lists, and levels without a name. Ranges there have no column.
pub(super) fn index_levels(names: &[String], pandas: Option<&str>) -> Vec<usize> {
    let described = pandas.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()).unwrap_or_default();
    let listed = described["index_columns"].as_array().into_iter().flatten().filter_map(|level| level.as_str());
    let listed: Vec<String> = listed.map(column_name).collect();
    (0..names.len()).filter(|&c| listed.contains(&names[c]) || is_level(&names[c])).collect()
}

/// Returns whether this is the name of a level of an index without a name in a file of pandas.
fn is_level(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}
