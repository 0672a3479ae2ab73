//! The groups of rows that each have a conformal promise by themselves.

use crate::console::failure::Failure;
use crate::files::input::request::DataRequest;
use crate::files::input::{Input, MaxSize, column_name, read_text};
use maxmargin::cv::ConformalGroups;
use std::path::Path;

/// Returns the request with the column of groups, which only tables have.
pub(crate) fn with_groups(mut data: DataRequest, groups: Option<&str>) -> DataRequest {
    data.options.table.groups = groups.map(str::to_owned);
    data
}

/// Returns the group of each row of the data, if groups are asked for: from the column of a table
/// that was read by [`with_groups`], or from a file of this name.
pub(crate) fn group_words(groups: Option<&str>, max_size: Option<u64>, input: &Input) -> Result<Option<Vec<String>>, Failure> {
    let Some(source) = groups else { return Ok(None) };
    if let Some(column) = input.written.as_ref().and_then(|table| table.groups.as_ref()) {
        let line = |row: usize| input.lines.get(row).copied().unwrap_or(row as u64 + 1);
        let place = |row: usize| format!("{}:{}: {}", input.name, line(row), column_name(&column.name));
        return words(column.fields.iter().enumerate().map(|(row, field)| (&field[..], place(row)))).map(Some);
    }
    let text = read_text(Path::new(source), MaxSize::of(max_size)).map_err(|why| {
        let what = format!("cannot read the groups: {why}; --conformal-groups takes a file, or a column of a table");
        Failure::input(source, what)
    })?;
    let found = words(text.lines().enumerate().map(|(at, line)| (line, format!("{source}:{}", at + 1))))?;
    let (groups, rows) = (found.len(), input.data.labels.len());
    if groups == rows {
        Ok(Some(found))
    } else {
        Err(Failure::input(source, format!("{groups} groups for {rows} rows of {}", input.name)))
    }
}

/// Returns the groups of the rows of the training data, if they are asked for.
pub(crate) fn training_groups(
    groups: Option<&str>,
    max_size: Option<u64>,
    input: &Input,
) -> Result<Option<ConformalGroups>, Failure> {
    let words = group_words(groups, max_size, input)?;
    words.map(|words| ConformalGroups::new(&words).map_err(|e| Failure::input(&input.name, e))).transpose()
}

/// Returns the words, each with its place in messages.
fn words<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> Result<Vec<String>, Failure> {
    let word = |(field, place): (&str, String)| match field.trim() {
        "" => Err(Failure::input(place, "this row has no group; give every row a word")),
        word => Ok(word.to_owned()),
    };
    fields.map(word).collect()
}
