//! Names of the columns that are explained, and their values in a row.

use crate::console::format;
use crate::report::feature_names;
use maxmargin::data::Samples;
use maxmargin::data::quote::quoted;
use maxmargin::data::table::ColumnKind;
use maxmargin::model::Model;

/// Characters of a word in a picture.
const SHOWN: usize = 30;

/// Returns the names of the columns of a table, or the numbers of the features as files have them.
pub(super) fn column_names(model: &Model, count: usize) -> Vec<String> {
    feature_names(model.columns(), model.parts().index_base as usize, count)
}

/// Returns the value of a column in a row, as the data has it.
pub(super) fn value_text(model: &Model, samples: &Samples, row: usize, column: usize) -> String {
    let entries = samples.row(row).entries();
    let value = |feature: usize| entries.iter().find(|entry| entry.0 == feature).map_or(0.0, |entry| entry.1);
    let Some(columns) = model.columns() else { return format::short(value(column)) };
    if value(columns.gap(column)) != 0.0 {
        return "missing".to_owned();
    }
    let features = columns.features_of(column);
    match &columns.features()[column].kind {
        ColumnKind::Number => format::short(value(features.start)),
        ColumnKind::Boolean => (value(features.start) != 0.0).to_string(),
        ColumnKind::Category(words) => {
            let word = features.clone().find(|j| value(*j) != 0.0).and_then(|j| words.get(j - features.start));
            word.map_or_else(|| "another word".to_owned(), |word| quoted(word, SHOWN))
        }
    }
}
