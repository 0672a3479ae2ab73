//! The cells of a table with the names of its columns.

use super::body::Body;
use super::build::{self, LabelTreatment, MissingCells, MissingPolicy};
use super::cells::Cells;
use super::decimal;
use super::encoding::{TextEncoding, decode};
use super::error::{TableError, listed};
use super::format::{Columnar, ForeignFormat};
use super::header::{self, Header};
use super::infer::Field;
use super::options::{KeptColumn, Table, TableOptions, TargetChoice};
use super::{columnar, words};
use crate::dataset::{ColumnKind, Columns, Dataset, MissingWords};
use crate::run::RunControl;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The columns of a table that become samples and labels.
pub(super) struct TableLayout {
    /// The columns of features and the target.
    pub(super) columns: Arc<Columns>,
    /// The position of each column of features in the table.
    pub(super) places: Vec<usize>,
    /// The position of the target.
    pub(super) target: Option<usize>,
    /// The origin of the target.
    pub(super) choice: TargetChoice,
    /// The names of unused columns.
    pub(super) ignored: Vec<String>,
}

/// The cells of a table, with the names of its columns.
pub(super) struct Sheet {
    cells: Cells,
    /// The rows after the header.
    pub(super) rows: Range<usize>,
    pub(super) names: Vec<String>,
    /// The delimiter; none in a columnar file.
    delimiter: Option<u8>,
    has_header: bool,
    is_doubtful: bool,
    encoding: Option<TextEncoding>,
    /// Number of lines before the first row.
    skipped: u64,
    decimal_comma: bool,
    /// The columns that are returned as text, as they stand in the file.
    kept: Vec<KeptColumn>,
    /// The columns of a columnar file that are the index of a data frame.
    levels: Vec<usize>,
}

impl Sheet {
    pub(super) fn of(
        bytes: &[u8],
        options: &TableOptions,
        known: Option<&Columns>,
        control: &RunControl,
    ) -> Result<Self, TableError> {
        if let Some(format) = ForeignFormat::of(bytes) {
            return Err(TableError::Foreign(format));
        }
        let (mut encoding, mut skipped, mut levels) = (None, 0, Vec::new());
        let (mut cells, delimiter) = if let Some(file) = Columnar::of(bytes) {
            // Unused columns may contain anything and are not decoded.
            let leaves_out = |names: &[String], index: &[usize]| {
                levels = index.to_vec();
                left_out(names, index, options, known)
            };
            (columnar::cells(file, bytes, leaves_out, control)?, None)
        } else {
            let (text, found) = decode(bytes)?;
            let body = Body::of(&text, options.delimiter, options.skip_rows);
            (encoding, skipped) = (found, body.line - 1);
            (text_cells(&body, known, control)?, Some(body.delimiter))
        };
        if cells.rows() == 0 {
            return Err(TableError::Empty);
        }
        let found = if known.is_some_and(|known| names_columns(&cells, known)) {
            Header { is_there: true, is_doubtful: false }
        } else {
            header::find(&cells)
        };
        let has_header = delimiter.is_none() || options.header.unwrap_or(found.is_there);
        let is_doubtful = found.is_doubtful && delimiter.is_some() && options.header.is_none();
        let names = column_names(&cells, has_header)?;
        let rows = usize::from(has_header)..cells.rows();
        if rows.is_empty() {
            return Err(TableError::Empty);
        }
        check_repeats(&cells, rows.clone())?;
        let kept = kept_columns(&cells, &rows, &names, options);
        let with_commas = match (options.decimal_comma, delimiter) {
            (Some(false), _) | (None, None | Some(b',')) => Vec::new(),
            (asked, _) => {
                let columns: Vec<usize> = (0..names.len()).filter(|&c| takes_numbers(&names, c, options, known)).collect();
                decimal::columns(&cells, &rows, &columns, asked.is_some())
            }
        };
        with_commas.iter().for_each(|&c| cells.write_points(c, rows.clone()));
        let decimal_comma = !with_commas.is_empty();
        Ok(Self { cells, rows, names, delimiter, has_header, is_doubtful, encoding, skipped, decimal_comma, kept, levels })
    }

    /// The column with this name, or with this number from 1.
    pub(super) fn place(&self, name: &str) -> Result<usize, TableError> {
        place(&self.names, name).ok_or_else(|| TableError::Unknown { name: name.to_owned(), known: self.listed() })
    }

    pub(super) fn listed(&self) -> String {
        listed(self.names.iter().map(String::as_str))
    }

    /// The columns that number or name the rows: in a columnar file the levels of a pandas index,
    /// otherwise the first column, if it has no name below a header and holds different whole
    /// numbers or different words. That is an index of pandas, also after rows were drawn or
    /// sorted, or the row names of R.
    pub(super) fn index(&self) -> Vec<usize> {
        if !self.levels.is_empty() {
            return self.levels.clone();
        }
        if !self.has_header || !self.cells.at(0, 0).is_empty() || self.rows.len() < 2 {
            return Vec::new();
        }
        let fields: BTreeSet<&str> = self.rows.clone().map(|row| self.cells.at(row, 0)).collect();
        let is_whole = |field: &&str| words::number(field).is_some_and(|value| value.fract() == 0.0);
        let is_name = |field: &&str| !field.is_empty() && !words::looks_numeric(field);
        let is_index = fields.len() == self.rows.len() && (fields.iter().all(is_whole) || fields.iter().all(is_name));
        if is_index { vec![0] } else { Vec::new() }
    }

    /// The target column and its origin.
    pub(super) fn target(&self, options: &TableOptions, dropped: &[usize]) -> Result<(Option<usize>, TargetChoice), TableError> {
        if options.no_target {
            return Ok((None, TargetChoice::None));
        }
        if let Some(name) = &options.target {
            return Ok((Some(self.place(name)?), TargetChoice::Asked));
        }
        let left = || (0..self.names.len()).filter(|c| !dropped.contains(c));
        let called = |name: &str| left().find(|&c| self.names[c].eq_ignore_ascii_case(name));
        Ok(match header::TARGETS.into_iter().find_map(called) {
            Some(named) => (Some(named), TargetChoice::Name),
            None => (left().next_back(), TargetChoice::Last),
        })
    }

    pub(super) fn table(
        &self,
        layout: TableLayout,
        gaps: MissingPolicy,
        treatment: LabelTreatment,
        control: &RunControl,
    ) -> Result<Table, TableError> {
        let TableLayout { columns, places, target, choice, ignored } = layout;
        let rows = self.rows.clone();
        let (labels, unlabelled) = match target {
            Some(c) => {
                // Labels of another column are read like those of the model's target.
                let field =
                    Field { name: columns.target().map_or("", |target| &target.name), ..self.field(c, columns.missing()) };
                build::labels(field, rows.clone(), columns.labels(), treatment)?
            }
            None => (vec![0.0; rows.len()], MissingCells::new("")),
        };
        let built = build::samples(&self.cells, rows.clone(), &columns, &places, gaps, control)?;
        Ok(Table {
            kept: self.kept.clone(),
            is_labelled: target.is_some() && unlabelled.rows < rows.len(),
            data: Dataset {
                samples: built.samples,
                labels,
                groups: None,
                index_base: 1,
                sha256: [0; 32],
                columns: Some(columns),
            },
            delimiter: self.delimiter.map(char::from),
            has_header: self.has_header,
            header_is_doubtful: self.is_doubtful,
            encoding: self.encoding,
            skipped_lines: self.skipped,
            decimal_mark: if self.decimal_comma { ',' } else { '.' },
            likelier_target: None,
            faults: Vec::new(),
            unlabelled,
            target: choice,
            ignored,
            index: None,
            unknown: built.unknown,
            missing: built.missing,
            mixed: Vec::new(),
            lines: self.cells.lines(rows),
        })
    }

    /// The fields of a column that are not missing.
    pub(super) fn values<'a>(&'a self, column: usize, words: &'a MissingWords) -> impl Iterator<Item = &'a str> {
        let missing = words.of_words(&self.names[column]);
        self.rows.clone().map(move |row| self.cells.at(row, column)).filter(move |field| !missing.has(field))
    }

    /// A column with its words for missing values.
    pub(super) fn field<'a>(&'a self, column: usize, words: &'a MissingWords) -> Field<'a> {
        Field { cells: &self.cells, column, name: &self.names[column], words }
    }
}

/// The cells of a text. Empty columns at its end are none, unless a model may know them.
fn text_cells(body: &Body, known: Option<&Columns>, control: &RunControl) -> Result<Cells, TableError> {
    let mut cells = Cells::of(body, control)?;
    if known.is_none() {
        cells.remove_empty_end();
    }
    Ok(cells)
}

/// Refuses rows that repeat the header, if there is one, as in files that were joined.
fn check_repeats(cells: &Cells, mut rows: Range<usize>) -> Result<(), TableError> {
    let is_word = |c: usize| !cells.at(0, c).is_empty() && !words::looks_numeric(cells.at(0, c));
    let has_words = rows.start > 0 && cells.width() > 1 && (0..cells.width()).any(is_word);
    match rows.find(|&row| has_words && cells.repeats(row, 0)) {
        Some(row) => Err(TableError::RepeatedHeader { line: cells.line(row) }),
        None => Ok(()),
    }
}

/// Returns whether the first row has names that a model knows: at least one that is not a number,
/// or all of them.
fn names_columns(cells: &Cells, known: &Columns) -> bool {
    let is_there = |name: &str| (0..cells.width()).any(|c| cells.at(0, c) == name);
    let names = || known.features().iter().map(|column| &column.name[..]);
    names().any(|name| words::number(name).is_none() && is_there(name)) || names().all(is_there)
}

/// The names of all columns, or their numbers where there are no names.
fn column_names(cells: &Cells, has_header: bool) -> Result<Vec<String>, TableError> {
    let numbered = |c: usize| format!("column {}", c + 1);
    let named = |c: usize| if has_header && !cells.at(0, c).is_empty() { cells.at(0, c).to_owned() } else { numbered(c) };
    let names: Vec<String> = (0..cells.width()).map(named).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TableError::Twice { line: cells.line(0), name: pair[0].clone() }),
        None => Ok(names),
    }
}

/// Marks the columns of a columnar file that nothing needs: with a model those that it does not
/// know and that are not its labels, otherwise those that are dropped, and the `index` of a data
/// frame unless it is asked for or has the name of a target.
fn left_out(names: &[String], index: &[usize], options: &TableOptions, known: Option<&Columns>) -> Vec<bool> {
    let of = |asked: &[String]| asked.iter().filter_map(|name| place(names, name)).collect::<Vec<usize>>();
    let (dropped, kept, categories) = (of(&options.drop), of(&options.keep), of(&options.categories));
    let target = options.target.as_ref().and_then(|name| place(names, name));
    let is_index = |c: usize| {
        let is_target = target == Some(c) || header::TARGETS.iter().any(|name| names[c].eq_ignore_ascii_case(name));
        index.contains(&c) && !is_target && !categories.contains(&c)
    };
    let is_unused = |c: usize| match known {
        Some(known) => !known.has(&names[c]) && target != Some(c),
        None => dropped.contains(&c) || is_index(c),
    };
    (0..names.len()).map(|c| is_unused(c) && !kept.contains(&c)).collect()
}

/// The columns that are returned as text.
fn kept_columns(cells: &Cells, rows: &Range<usize>, names: &[String], options: &TableOptions) -> Vec<KeptColumn> {
    let fields = |c: usize| rows.clone().map(|row| cells.at(row, c).to_owned()).collect();
    let places = options.keep.iter().filter_map(|name| place(names, name));
    places.map(|c| KeptColumn { name: names[c].clone(), fields: fields(c) }).collect()
}

/// Returns whether a column can hold numbers with decimal commas: it is neither one of categories
/// nor of text that is kept. Words stand as they are, whatever other rows of their file hold.
fn takes_numbers(names: &[String], c: usize, options: &TableOptions, known: Option<&Columns>) -> bool {
    let is_one_of = |of: &[String]| of.iter().any(|name| place(names, name) == Some(c));
    let Some(known) = known else { return !is_one_of(&options.categories) && !is_one_of(&options.keep) };
    let feature = known.features().iter().find(|column| column.name == names[c]);
    let is_target = match &options.target {
        Some(name) => place(names, name) == Some(c),
        None => known.target().is_some_and(|target| target.name == names[c]),
    };
    feature.map_or(is_target && known.labels().is_empty(), |column| !matches!(column.kind, ColumnKind::Category(_)))
}

/// The column with this name, or with this number from 1.
fn place(names: &[String], name: &str) -> Option<usize> {
    let numbered = || name.parse::<usize>().ok()?.checked_sub(1).filter(|c| *c < names.len());
    names.iter().position(|known| known == name).or_else(numbered)
}
