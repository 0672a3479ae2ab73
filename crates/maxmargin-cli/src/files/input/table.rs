//! Tables as data: the format of a file, notes about its columns, and errors worded by options.

use super::names::{SHOWN, column_name};
use super::read_columns::{ReadColumns, leaves_out_faulty, read_columns};
use super::request::{FileFormat, ReadRequest, TableRequest};
use super::{Input, Requirements, faults, unnamed};
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::notes::Notes;
use maxmargin::data::quote::quoted;
use maxmargin::data::table::{self, ColumnKind, Columnar, ForeignFormat, KeptColumn, LikelierTarget, Look, TargetChoice};
use maxmargin::data::{Columns, Dataset, RunControl, Table};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Odd columns that are named in warnings one by one.
const WARNED: usize = 5;

/// Names of columns in one note.
const LISTED: usize = 10;

/// A data set, with the information that only a table has.
pub(super) struct TableInput {
    pub(super) data: Dataset,
    pub(super) is_labelled: bool,
    pub(super) lines: Vec<u64>,
    pub(super) unlabelled: usize,
    pub(super) written: Option<WrittenTable>,
    pub(super) likelier_target: Option<LikelierTarget>,
}

impl TableInput {
    /// Returns data of another format, all of whose rows have labels.
    pub(super) fn of(data: Dataset) -> Self {
        Self { data, is_labelled: true, lines: Vec::new(), unlabelled: 0, written: None, likelier_target: None }
    }

    /// Returns the input of this name, which took the time since `begun` to read.
    pub(super) fn input(self, name: String, begun: Instant) -> Input {
        let Self { data, is_labelled, lines, unlabelled, written, likelier_target } = self;
        Input { name, data, seconds: begun.elapsed().as_secs_f64(), is_labelled, lines, unlabelled, written, likelier_target }
    }
}

/// The parts of a table that predictions of its rows are written with.
#[derive(Debug)]
pub(crate) struct WrittenTable {
    pub(crate) delimiter: char,
    pub(crate) kept: Vec<KeptColumn>,
    /// The columns with the group of each row, each with what it was asked for by.
    pub(crate) groups: Vec<(String, KeptColumn)>,
}

/// Returns the format of a file: as given, by its first lines, or by its name where they fit
/// several formats.
pub(super) fn format_of(source: &str, bytes: &[u8], args: &TableRequest, notes: &Notes) -> FileFormat {
    // The magic bytes of columnar files are unambiguous.
    if let Some(columnar) = Columnar::of(bytes) {
        return match columnar {
            Columnar::Parquet => FileFormat::Parquet,
            Columnar::Arrow => FileFormat::Arrow,
        };
    }
    // The table's error says what the file is.
    if ForeignFormat::of(bytes).is_some() {
        return FileFormat::Csv;
    }
    if let Some(asked) = args.format {
        return asked;
    }
    let name = source.to_ascii_lowercase();
    let plain = maxmargin::data::compress::ENDINGS.into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let called = match plain.rsplit_once('.').map(|(_, end)| end) {
        Some("tsv" | "tab") => Some(FileFormat::Tsv),
        Some("csv") => Some(FileFormat::Csv),
        Some("libsvm" | "svm" | "svmlight") => Some(FileFormat::Libsvm),
        _ => None,
    };
    let (found, doubt) = match (table::look(bytes), called) {
        (Look::Table, Some(FileFormat::Tsv)) => (FileFormat::Tsv, None),
        (Look::Table, Some(FileFormat::Libsvm)) => {
            (FileFormat::Csv, Some("this is a table, whatever its name says; --format libsvm reads it as LIBSVM's format"))
        }
        (Look::Table, _) => (FileFormat::Csv, None),
        (Look::Libsvm, Some(FileFormat::Csv | FileFormat::Tsv)) => {
            (FileFormat::Libsvm, Some("this is LIBSVM's format, whatever its name says; --format csv reads it as a table"))
        }
        (Look::Either, Some(called @ (FileFormat::Csv | FileFormat::Tsv))) => {
            (called, Some("read as a table, as its name says; --format libsvm reads it as LIBSVM's format"))
        }
        _ => (FileFormat::Libsvm, None),
    };
    doubt.into_iter().for_each(|doubt| notes.note(&format!("{source}: {doubt}")));
    found
}

/// Returns the columnar format, if it is one.
fn columnar(format: FileFormat) -> Option<Columnar> {
    match format {
        FileFormat::Parquet => Some(Columnar::Parquet),
        FileFormat::Arrow => Some(Columnar::Arrow),
        FileFormat::Libsvm | FileFormat::Csv | FileFormat::Tsv => None,
    }
}

/// Refuses options that do not apply to this format.
pub(super) fn check_options(format: FileFormat, wanted: &Requirements, args: &TableRequest) -> Result<(), Failure> {
    if let (FileFormat::Libsvm, Some(option)) = (format, args.of_tables()) {
        let what = "is for tables, and this is LIBSVM's format (pass --format csv if it is a table)";
        return Err(Failure::Usage(format!("{option}: it {what}")));
    }
    if let (Some(columnar), Some(option)) = (columnar(format), args.of_text()) {
        return Err(Failure::Usage(format!("{option}: a file of {columnar} tells it by itself; leave it out")));
    }
    let Some(columns) = wanted.columns() else { return Ok(()) };
    let is_category = |name: &String| {
        let known = columns.features().iter().find(|column| column.name == *name);
        known.is_some_and(|column| column.kind.name() == "category")
    };
    if let Some(other) = args.category.iter().find(|name| !is_category(name)) {
        let other = quoted(other, SHOWN);
        return Err(Failure::Usage(format!("--category {other}: the model was not trained with it as a category; leave it out")));
    }
    if wanted.known_labels && args.no_target {
        return Err(Failure::Usage(
            "--no-target: this needs the labels that the model was trained with; leave it out".to_owned(),
        ));
    }
    Ok(())
}

/// Reads a table, by the columns of a model if there is one, and prints notes on how it was read.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    format: FileFormat,
    args: &ReadRequest,
    until: Option<Instant>,
    wanted: &Requirements,
    notes: &mut Notes,
) -> Result<TableInput, Failure> {
    let own = &args.table;
    let columnar = columnar(format);
    if let Some(asked) = columnar.filter(|asked| Columnar::of(bytes) != Some(*asked)) {
        return Err(Failure::input(name, format!("this is no file of {asked}; leave --format out, or name its own")));
    }
    args.warn_of_unused_cache(name, "a table", notes);
    let control = RunControl::unlimited().limit_time(until.map(|until| until.saturating_duration_since(Instant::now())));
    let known = wanted.columns().map(|columns| Arc::new(columns.clone()));
    let ReadColumns { mut table, groups } = read_columns(name, own, format, wanted, notes, |options| match &known {
        Some(columns) => table::read_like(bytes, columns, options, &control),
        None => unnamed::read(bytes, options, wanted, &control),
    })?;
    if let Some(columns) = &table.data.columns {
        note_format(name, columns, &table, columnar, known.is_some(), notes);
        note_cells(name, &table, notes);
        if leaves_out_faulty(wanted) {
            faults::warn(name, &table, columns, notes);
        }
        if known.is_none() {
            warn_of_spellings(name, columns, notes);
        }
        table.likelier_target.iter().for_each(|other| warn_of_target(name, other, &table, notes));
        if wanted.one_class && columns.target().is_none() {
            note_one_class(name, columns, notes);
        }
    }
    if let Some(model) = wanted.model.filter(|_| known.is_none()) {
        unnamed::take_numbers(name, model, &mut table)?;
    } else {
        warn_of_columns(name, &table.data, known.is_none(), notes);
    }
    let Table { data, is_labelled, lines, unlabelled, delimiter, mut kept, likelier_target, .. } = table;
    let groups = groups.into_iter().zip(kept.split_off(own.keep.len())).collect();
    let written = Some(WrittenTable { delimiter: delimiter.unwrap_or(','), kept, groups });
    Ok(TableInput { data, is_labelled, lines, unlabelled: unlabelled.rows, written, likelier_target })
}

/// Prints notes on everything that was detected and could be meant otherwise.
fn note_format(name: &str, columns: &Columns, table: &Table, columnar: Option<Columnar>, is_known: bool, notes: &mut Notes) {
    let listed = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name, SHOWN)).collect();
        let more = names.len().saturating_sub(LISTED);
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    };
    if is_known {
        if !table.ignored.is_empty() {
            notes.note(&format!("{name}: columns that the model does not know are left out: {}", listed(&table.ignored)));
        }
        if let Some(target) = columns.target().filter(|_| !table.is_labelled) {
            let target = quoted(&target.name, SHOWN);
            // Otherwise the target was dropped or is empty, which `note_cells` reports.
            if table.target == TargetChoice::None && !table.ignored.contains(&target) {
                notes.note(&format!("{name}: there is no column {target}, so that there is nothing to compare predictions with"));
            }
        }
        for unknown in &table.unknown {
            notes.warn(format!(
                "{name}:{}: {}: `{}` was not in the training data; {} of {} rows have such a word, and none of the known ones counts for them",
                unknown.line,
                column_name(&unknown.column),
                quoted(&unknown.example, SHOWN),
                unknown.rows,
                table.lines.len(),
            ));
        }
        return;
    }
    let of_kind = |kind: &str| columns.features().iter().filter(|column| column.kind.name() == kind).count();
    let kinds: Vec<String> = [("number", "of numbers"), ("boolean", "of truths"), ("category", "of words")]
        .into_iter()
        .map(|(kind, words)| (of_kind(kind), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let header = if table.has_header { "a header" } else { "no header" };
    let what = match (columnar, table.delimiter) {
        (Some(columnar), _) => format!("a table of {columnar}"),
        (None, Some(delimiter)) => format!("a table with {} and {header}", table::delimiter_in_words(delimiter)),
        (None, None) => format!("a table with {header}"),
    };
    let target = match (columns.target(), table.target) {
        (Some(target), TargetChoice::Last) => {
            format!("the target is the last column, {} (--target NAME takes another)", quoted(&target.name, SHOWN))
        }
        (Some(target), _) => format!("the target is {}", quoted(&target.name, SHOWN)),
        (None, _) => "no target".to_owned(),
    };
    notes.note(&format!("{name}: {what}{}; columns {}; {target}", text_properties(table), kinds.join(", ")));
}

/// Returns the properties of a text that most tables do not have: lines before the table, decimal
/// commas, an encoding.
fn text_properties(table: &Table) -> String {
    let lines = match table.skipped_lines {
        0 => String::new(),
        1 => ", after one line that is left out (--skip-rows 0 takes it in)".to_owned(),
        lines => format!(", after {lines} lines that are left out (--skip-rows 0 takes them in)"),
    };
    let commas = if table.decimal_mark == ',' { ", decimal commas" } else { "" };
    let encoding = table.encoding.map(|encoding| format!(", in {}", encoding.name())).unwrap_or_default();
    format!("{commas}{encoding}{lines}")
}

/// Warns that another column looks more like the target than the one that was taken.
fn warn_of_target(name: &str, other: &LikelierTarget, table: &Table, notes: &mut Notes) {
    let columns = table.data.columns.as_deref();
    let taken = columns.and_then(Columns::target).map(|target| column_name(&target.name)).unwrap_or_default();
    let why = if table.target == TargetChoice::Name { "for its name" } else { "because it is the last" };
    let kind = if other.has_words { "words" } else { "whole numbers" };
    notes.warn(format!(
        "{name}: {taken} was taken for the target {why}, and {} looks more like it: {} different {kind}, where {taken} has {} \
         different numbers; pass --target {} to predict it, or --target with the name of {taken}",
        column_name(&other.column),
        other.different,
        other.of_taken,
        format::shell(&quoted(&other.column, usize::MAX)),
    ));
}

/// Prints notes on words for missing values, on columns that mix words and numbers, and on a
/// doubtful header.
fn note_cells(name: &str, table: &Table, notes: &Notes) {
    if table.header_is_doubtful {
        notes.note(&format!(
            "{name}: line 1 has numbers and is taken for {} (--header {} if it is not)",
            if table.has_header { "a header, for it differs from the rows below" } else { "a row, and could be a header" },
            if table.has_header { "no" } else { "yes" },
        ));
    }
    let rows = table.lines.len();
    if let Some(index) = &table.index {
        let why =
            if table.delimiter.is_none() { "is the index of a data frame" } else { "has no name and counts or names the rows" };
        notes.note(&format!("{name}: {} {why}: it is left out", column_name(index)));
    }
    let words = |words: &[String]| words.iter().map(|word| format!("`{}`", quoted(word, SHOWN))).collect::<Vec<_>>().join(", ");
    for column in table.missing.iter().take(WARNED) {
        let (missing, shown) = (column.rows, words(&column.words));
        notes.note(&format!("{name}: {}: {missing} of {rows} cells are missing ({shown})", column_name(&column.column)));
    }
    if table.missing.len() > WARNED {
        notes.note(&format!("{name}: {} more columns have words for missing values", table.missing.len() - WARNED));
    }
    for column in table.mixed.iter().take(WARNED) {
        notes.note(&format!(
            "{name}: {}: {} of {} values are numbers and the others words, so that each different value is a category",
            column_name(&column.column),
            column.numbers,
            column.filled,
        ));
    }
    let without = table.unlabelled.rows;
    if without > 0 {
        let shown = words(&table.unlabelled.words);
        let shown = if shown.is_empty() { shown } else { format!(" ({shown})") };
        let compared = match rows - without {
            0 => "there is nothing to compare predictions with".to_owned(),
            others => format!("predictions are compared with the labels of the other {others}"),
        };
        notes.note(&format!("{name}: {without} of {rows} rows have no label{shown}: {compared}"));
    }
}

/// Warns of labels and categories that differ in capitals or blanks alone.
fn warn_of_spellings(name: &str, columns: &Columns, notes: &mut Notes) {
    let target = columns.target().map(|target| (&target.name, &target.names, "labels"));
    let categories = columns.features().iter().filter_map(|column| match &column.kind {
        ColumnKind::Category(words) => Some((&column.name, words, "categories")),
        _ => None,
    });
    for (column, words, what) in target.into_iter().chain(categories) {
        let plain = |word: &String| word.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let mut spellings: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        words.iter().for_each(|word| spellings.entry(plain(word)).or_default().push(word));
        if let Some(alike) = spellings.into_values().find(|words| words.len() > 1) {
            let alike: Vec<String> = alike.iter().take(WARNED).map(|word| format!("`{}`", quoted(word, SHOWN))).collect();
            notes.warn(format!(
                "{name}: {}: {} are different {what}, though only their spelling differs; write them alike if they mean the same",
                column_name(column),
                alike.join(" and "),
            ));
        }
    }
}

/// Says that no column was taken for the target.
fn note_one_class(name: &str, columns: &Columns, notes: &Notes) {
    let is_target = |column: &&maxmargin::data::table::Column| {
        ["target", "label", "class", "y"].iter().any(|known| column.name.eq_ignore_ascii_case(known))
    };
    let example = columns.features().iter().find(is_target).map_or_else(
        || "--target NAME keeps one out".to_owned(),
        |column| format!("{} among them; --target {} keeps it out", column_name(&column.name), format::shell(&column.name)),
    );
    notes.note(&format!("{name}: one class has no target: all columns are features ({example})"));
}

/// Says which columns are no features, and which tell nothing.
///
/// The columns of a model cannot be left out, and a single row of them is the same in every row.
fn warn_of_columns(name: &str, data: &Dataset, may_drop: bool, notes: &mut Notes) {
    if !may_drop && data.labels.len() == 1 {
        return;
    }
    let advice = if may_drop { " (--drop leaves columns out)" } else { "" };
    let columns = table::describe(data);
    let odd: Vec<(&str, &String)> = columns.iter().filter_map(|column| Some((&column.name[..], column.odd.as_ref()?))).collect();
    for (column, what) in odd.iter().take(WARNED) {
        notes.warn(format!("{name}: {}: {what}{advice}", column_name(column)));
    }
    if odd.len() > WARNED {
        notes.warn(format!("{name}: {} more columns are odd: `maxmargin info` tells of all", odd.len() - WARNED));
    }
}
