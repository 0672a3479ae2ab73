//! The columns of a table that can be used, and the faults of the others.

use super::error::TableError;
use super::infer::{self, Field, MixedColumn};
use super::options::{LabelRule, TableOptions};
use super::problem::{ColumnProblem, ValueProblem};
use super::sheet::Sheet;
use crate::dataset::{Column, ColumnKind, MissingWords, Target};

/// The columns that can be used.
pub(super) struct Usable {
    /// The position of each feature column in the table.
    pub(super) places: Vec<usize>,
    pub(super) features: Vec<Column>,
    pub(super) target_column: Option<Target>,
    pub(super) mixed: Vec<MixedColumn>,
    /// The faults of the other columns.
    pub(super) faults: Vec<TableError>,
}

impl Usable {
    /// Detects the kinds of the columns at `places` and of the target.
    ///
    /// # Errors
    ///
    /// All faults, unless the options leave faulty columns out and there are others.
    pub(super) fn of(
        sheet: &Sheet,
        options: &TableOptions,
        places: Vec<usize>,
        target: Option<usize>,
        words: &MissingWords,
    ) -> Result<Self, TableError> {
        let mut usable =
            Self { places: Vec::new(), features: Vec::new(), target_column: None, mixed: Vec::new(), faults: Vec::new() };
        for place in places {
            let field = sheet.field(place, words);
            let kind = infer::kind(field, sheet.rows.clone(), &mut usable.mixed);
            let gap = |kind| if options.missing { Ok(kind) } else { without_gaps(field, sheet, kind) };
            match kind.and_then(gap) {
                Ok(kind) => {
                    usable.places.push(place);
                    usable.features.push(Column { name: sheet.names[place].clone(), kind });
                }
                Err(fault) => usable.faults.push(fault),
            }
        }
        if let Some(target) = target {
            let takes_unlabelled = options.labels == LabelRule::Optional;
            match infer::target(sheet.field(target, words), sheet.rows.clone(), takes_unlabelled) {
                Ok(target) => usable.target_column = Some(target),
                Err(fault) => usable.faults.push(fault),
            }
        }
        let is_refused = !options.leave_out_faulty || usable.features.is_empty();
        if let Some(odd) = odd_rows(&usable.faults, sheet, words).filter(|_| is_refused) {
            return Err(odd);
        }
        match usable.faults.len() {
            0 => Ok(usable),
            1 if is_refused => Err(usable.faults.swap_remove(0)),
            _ if is_refused => {
                let faults = usable.faults.into_iter().map(|fault| with_count(fault, sheet, words)).collect();
                Err(TableError::Columns { faults })
            }
            _ => Ok(usable),
        }
    }
}

/// Most rows at an end of a table that are said not to be like the others.
const ODD: usize = 3;

/// The error of a few rows that cause the faults of several columns: a second line of the header,
/// or totals and remarks below the table.
fn odd_rows(faults: &[TableError], sheet: &Sheet, words: &MissingWords) -> Option<TableError> {
    let mut odd: Vec<usize> = Vec::new();
    let (mut columns, mut example) = (0, None);
    for fault in faults {
        let TableError::Value { column, problem: ValueProblem::Word { value, .. }, .. } = fault else { continue };
        let field = sheet.field(sheet.place(column).ok()?, words);
        odd.extend(field.words_among_numbers(sheet.rows.clone()).take(ODD + 1));
        columns += 1;
        example.get_or_insert_with(|| value.clone());
    }
    odd.sort_unstable();
    odd.dedup();
    let (first, last, example) = (*odd.first()?, *odd.last()?, example?);
    let line = |row: usize| sheet.field(0, words).cells.line(row);
    let error = |is_first: bool| TableError::OddRows { line: line(first), last: line(last), example, is_first };
    if odd.len() > ODD || sheet.rows.len() < 3 * ODD {
        None
    } else if last == sheet.rows.start && sheet.rows.start > 0 && columns > 1 {
        Some(error(true))
    } else {
        // A typing error is in one field; a total has gaps or words in others.
        let has_gap = |row: &usize| (0..sheet.names.len()).any(|c| sheet.field(c, words).cells.at(*row, c).is_empty());
        let is_end = last + 1 == sheet.rows.end && last - first < ODD && (columns > 1 || odd.iter().all(has_gap));
        is_end.then(|| error(false))
    }
}

/// Refuses the first missing value of a column of this kind.
fn without_gaps(field: Field, sheet: &Sheet, kind: ColumnKind) -> Result<ColumnKind, TableError> {
    let gap = field.gaps(sheet.rows.clone(), &kind).next();
    match gap {
        None => Ok(kind),
        Some(row) => {
            let value = field.cells.at(row, field.column).to_owned();
            Err(TableError::value(field.cells.line(row), field.name, ValueProblem::Missing { value }))
        }
    }
}

/// The fault of a column in a list: with the number of missing values.
fn with_count(fault: TableError, sheet: &Sheet, words: &MissingWords) -> TableError {
    let TableError::Value { line, column, problem: ValueProblem::Missing { .. } } = &fault else { return fault };
    let Ok(place) = sheet.place(column) else { return fault };
    let field = sheet.field(place, words);
    let Ok(kind) = infer::kind(field, sheet.rows.clone(), &mut Vec::new()) else { return fault };
    let missing = field.gaps(sheet.rows.clone(), &kind).count();
    TableError::column(column, ColumnProblem::Gaps { missing, rows: sheet.rows.len(), line: *line })
}
