//! Tables: comma- or tab-separated values, with or without a header, with numbers, words and
//! missing values. The features `parquet` and `arrow` add files of these formats.
//!
//! [`read`] detects the delimiter, the header and the kinds of the columns, and returns a
//! [`Dataset`](crate::Dataset) whose `columns` contain the names. Each word becomes a feature, and
//! missing values are marked. Each training imputes them from its own rows ([`crate::prepare`]).
//! [`read_like`] reads another table for a model with known columns.
//!
//! ```
//! use maxmargin_data::RunControl;
//! use maxmargin_data::table::{self, TableOptions};
//!
//! let text = b"age,colour,kind\n31,red,cat\n8,blue,dog\n12,red,dog\n";
//! let control = RunControl::unlimited(); // no cancellation
//! let table = table::read(text, &TableOptions::default(), &control)?;
//! let columns = table.data.columns.as_ref().expect("of a table");
//! assert_eq!(columns.feature_name(1).as_deref(), Some("colour = blue"));
//! assert_eq!(columns.labels(), ["cat", "dog"]);
//! assert_eq!(table.data.labels, [0.0, 1.0, 1.0]);
//!
//! let more = b"colour;age\ngreen;3\n";
//! let more = table::read_like(more, columns, &TableOptions::default(), &control)?;
//! assert!(!more.is_labelled);
//! assert_eq!(more.unknown[0].example, "green");
//! # Ok::<(), maxmargin_data::table::TableError>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
mod blanks;
mod body;
mod build;
mod cells;
mod columnar;
mod decimal;
mod describe;
mod encoding;
mod error;
mod fields;
mod format;
mod header;
mod infer;
mod likely;
mod options;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod pandas;
#[cfg(feature = "parquet")]
mod parquet;
mod problem;
mod records;
mod sheet;
mod sniff;
mod usable;
mod words;

pub use crate::dataset::{Column, ColumnKind, Columns, MissingWords, Target};
pub use build::{MissingCells, UnknownWords};
pub use describe::{ColumnSummary, describe};
pub use encoding::TextEncoding;
pub use error::{TableError, delimiter_in_words};
pub use fields::decodes_columns;
pub use format::{Columnar, ForeignFormat};
pub use infer::{MOST_WORDS, MixedColumn};
pub use options::{KeptColumn, LabelRule, LikelierTarget, Table, TableOptions, TargetChoice};
pub use problem::{ColumnProblem, ValueProblem};
pub use sniff::{Look, look};

use crate::run::RunControl;
use build::{LabelTreatment, MissingPolicy};
use sheet::{Sheet, TableLayout};
use std::sync::Arc;
use usable::Usable;

/// Reads a table and detects the kinds of its columns. A columnar file ([`Columnar`]) defines
/// delimiter, header and missing values (nulls) itself. Its columns have the kinds of a text with
/// the same values.
///
/// # Errors
///
/// The first fault, with its line and column, and all columns that are neither numbers, categories
/// nor labels. [`TableError::Cancelled`] when `control` ends the run.
pub fn read(bytes: &[u8], options: &TableOptions, control: &RunControl) -> Result<Table, TableError> {
    let sheet = Sheet::of(bytes, options, None, control)?;
    let places = |names: &[String]| names.iter().map(|name| sheet.place(name)).collect::<Result<Vec<_>, _>>();
    let (dropped, categories, kept) = (places(&options.drop)?, places(&options.categories)?, places(&options.keep)?);
    let index: Vec<usize> = sheet.index().into_iter().filter(|c| !categories.contains(c)).collect();
    let (target, choice) = match sheet.target(options, &dropped)? {
        // A kept column or an index is the target only if it is named so.
        (Some(last), TargetChoice::Last) if kept.contains(&last) || index.contains(&last) => {
            sheet.target(options, &[&dropped[..], &kept, &index].concat())?
        }
        found => found,
    };
    if let Some(twice) = target.filter(|target| dropped.contains(target)) {
        return Err(TableError::column(&sheet.names[twice], ColumnProblem::TargetDropped));
    }
    let is_free = |c: &usize| Some(*c) != target && !dropped.contains(c) && !kept.contains(c);
    let index: Vec<usize> = index.into_iter().filter(is_free).collect();
    let places: Vec<usize> = (0..sheet.names.len()).filter(|c| is_free(c) && !index.contains(c)).collect();
    if places.is_empty() {
        return Err(TableError::NoFeatures);
    }
    let named = |c: &usize| sheet.names[*c].clone();
    let words = MissingWords { words: options.missing_words.clone(), verbatim: categories.iter().map(named).collect() };
    let Usable { places, features, target_column, mixed, faults } = Usable::of(&sheet, options, places, target, &words)?;
    let target = target.filter(|_| target_column.is_some());
    // Targets stand at either end of a table.
    let likelier_target = target.filter(|_| choice != TargetChoice::Asked).and_then(|taken| {
        let at_ends = [sheet.names.len() - 1, 0].into_iter().filter(|place| *place != taken);
        let mut features_there = at_ends.filter_map(|place| Some((places.iter().position(|known| *known == place)?, place)));
        features_there.find_map(|(at, place)| likely::likelier(&sheet, &features[at], place, taken, &words))
    });
    // Names are unique and words ascend, so only a table without features fails here.
    let columns = Columns::new(features, target_column).map_err(|_| TableError::NoFeatures)?.with_missing(words);
    let gaps = if options.missing { MissingPolicy::Keep } else { MissingPolicy::Refuse };
    let ignored = dropped.iter().chain(&index).map(named).collect();
    let treatment = LabelTreatment { unknown: false, missing: options.labels == LabelRule::Optional };
    let choice = if target.is_some() { choice } else { TargetChoice::None };
    let layout = TableLayout { columns: Arc::new(columns), places, target, choice, ignored };
    let table = sheet.table(layout, gaps, treatment, control)?;
    let index = index.first().map(named);
    Ok(Table { likelier_target, faults, mixed, index, ..table })
}

/// Reads a table for a model that knows its columns by name. Columns may have another order,
/// unknown columns are left out, and unknown words set no feature. Labels may be missing.
///
/// # Errors
///
/// As [`read`]. When a column is missing, or has another kind than in training.
pub fn read_like(
    bytes: &[u8],
    columns: &Arc<Columns>,
    options: &TableOptions,
    control: &RunControl,
) -> Result<Table, TableError> {
    let sheet = Sheet::of(bytes, options, Some(columns), control)?;
    let place = |name: &str| sheet.names.iter().position(|known| known == name);
    let lacking = |name: &str| TableError::Lacking { name: name.to_owned(), known: sheet.listed() };
    let of_feature = |column: &Column| place(&column.name).ok_or_else(|| lacking(&column.name));
    let places = columns.features().iter().map(of_feature).collect::<Result<Vec<_>, _>>()?;
    let dropped = options.drop.iter().map(|name| sheet.place(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(needed) = dropped.iter().find(|c| places.contains(c)) {
        return Err(TableError::column(&sheet.names[*needed], ColumnProblem::Needed));
    }
    let kept = options.keep.iter().map(|name| sheet.place(name)).collect::<Result<Vec<_>, _>>()?;
    let target = match &options.target {
        _ if options.no_target => None,
        Some(name) => Some(sheet.place(name)?),
        None => columns.target().and_then(|target| place(&target.name)),
    };
    let target = target.filter(|target| !dropped.contains(target));
    if let Some(wanted) = columns.target().filter(|_| target.is_none() && options.labels == LabelRule::Known) {
        return Err(lacking(&wanted.name));
    }
    let is_used = |c: &usize| places.contains(c) || Some(*c) == target || kept.contains(c);
    let ignored = (0..sheet.names.len()).filter(|c| !is_used(c)).map(|c| sheet.names[c].clone()).collect();
    let gaps = if options.missing { MissingPolicy::Keep } else { MissingPolicy::NotImputed };
    let choice = if target.is_some() { TargetChoice::Asked } else { TargetChoice::None };
    let mut words = columns.missing().clone();
    words.words.extend(options.missing_words.iter().cloned());
    let reading = Arc::new(Columns::clone(columns).with_missing(words));
    let treatment =
        LabelTreatment { unknown: options.labels != LabelRule::Known, missing: options.labels == LabelRule::Optional };
    let layout = TableLayout { columns: reading, places, target, choice, ignored };
    let mut table = sheet.table(layout, gaps, treatment, control)?;
    // Additional words for missing values of this table do not belong to the model.
    table.data.columns = Some(Arc::clone(columns));
    Ok(table)
}

#[cfg(test)]
mod tests;
