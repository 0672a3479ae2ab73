//! The groups of rows: of those that stay together in folds, and of those that each have a
//! conformal promise by themselves.

use crate::console::failure::Failure;
use crate::files::input::request::DataRequest;
use crate::files::input::{Input, MaxSize, column_name, read_text};
use maxmargin::cv::ConformalGroups;
use std::collections::HashMap;
use std::path::Path;

/// Returns the request with the columns of these groups, as far as they are asked for; only tables
/// have columns.
pub(crate) fn with_groups<const N: usize>(mut data: DataRequest, groups: [Option<&str>; N]) -> DataRequest {
    let columns = &mut data.options.table.groups;
    for name in groups.into_iter().flatten() {
        if !columns.iter().any(|known| known == name) {
            columns.push(name.to_owned());
        }
    }
    data
}

/// Returns the group of each row of the data: from the column of a table that was read by
/// [`with_groups`], or from a file of this name. `option` is the option that names it.
fn words_of(source: &str, option: &str, max_size: Option<u64>, input: &Input) -> Result<Vec<String>, Failure> {
    let columns = input.written.as_ref().map_or(&[][..], |table| &table.groups);
    if let Some((_, column)) = columns.iter().find(|(asked, _)| asked == source) {
        let line = |row: usize| input.lines.get(row).copied().unwrap_or(row as u64 + 1);
        let place = |row: usize| format!("{}:{}: {}", input.name, line(row), column_name(&column.name));
        let missing = input.data.columns.as_ref().map(|columns| columns.missing());
        // A word for a missing value is no group: the rows that have it do not belong together.
        let is_gap = |field: &str| missing.is_some_and(|words| words.is_gap(&column.name, field));
        let fields = column.fields.iter().enumerate();
        return words(fields.map(|(row, field)| (if is_gap(field) { "" } else { &field[..] }, place(row))));
    }
    let text = read_text(Path::new(source), MaxSize::of(max_size)).map_err(|why| {
        let what = format!("cannot read the groups: {why}; {option} takes a file, or a column of a table");
        Failure::input(source, what)
    })?;
    let found = words(text.lines().enumerate().map(|(at, line)| (line, format!("{source}:{}", at + 1))))?;
    let (groups, rows) = (found.len(), input.data.labels.len());
    if groups == rows {
        Ok(found)
    } else {
        Err(Failure::input(source, format!("{groups} groups for {rows} rows of {}", input.name)))
    }
}

/// Returns the group of each row for conformal predictions, if groups are asked for.
pub(crate) fn group_words(groups: Option<&str>, max_size: Option<u64>, input: &Input) -> Result<Option<Vec<String>>, Failure> {
    groups.map(|source| words_of(source, "--conformal-groups", max_size, input)).transpose()
}

/// Returns the number of the group of each row for folds: groups are numbered as they come.
pub(crate) fn group_numbers(source: &str, max_size: Option<u64>, input: &Input) -> Result<Vec<u64>, Failure> {
    let words = words_of(source, "--folds groups:", max_size, input)?;
    let mut numbers = HashMap::new();
    let number = |word| {
        let next = numbers.len() as u64;
        *numbers.entry(word).or_insert(next)
    };
    Ok(words.into_iter().map(number).collect())
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
