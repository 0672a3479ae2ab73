//! Faults of tables, worded by options, and the command that reads the table in spite of them.

use super::names::column_name;
use super::{GapRule, Requirements, time_limit_failure};
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::name_list::joined;
use crate::console::notes::Notes;
use maxmargin::data::quote::quoted;
use maxmargin::data::table::{self, ColumnProblem, TableError, ValueProblem};
use maxmargin::data::{Columns, Table};

/// A column of numbers has a mark for missing values if at least this share of it are numbers.
const NEARLY_ALL: f64 = 0.9;

/// Most columns whose faults are listed one by one.
const LISTED: usize = 20;

/// Warns of columns that are left out, and prints the command that trains without them.
pub(super) fn warn(name: &str, table: &Table, columns: &Columns, notes: &mut Notes) {
    for fault in table.faults.iter().take(LISTED) {
        notes.warn(format!("{name}: {}: left out", fault_line(fault)));
    }
    let more = table.faults.len().saturating_sub(LISTED);
    if more > 0 {
        notes.warn(format!("{name}: {more} more columns cannot be used: left out"));
    }
    let has_gaps = table.data.samples.features() > columns.width();
    let options = remedies(&table.faults, has_gaps);
    if !options.is_empty() {
        notes.note(&format!("to train on it: maxmargin train {} {} -o MODEL", format::shell(name), options.join(" ")));
    }
}

/// Returns the failure of several columns: a line for each, and the command with the options that
/// help.
fn columns_failure(name: &str, faults: &[TableError], wanted: &Requirements) -> Failure {
    let imputes = matches!(wanted.gaps, GapRule::Imputed(None));
    let options = remedies(faults, imputes && faults.iter().any(is_gap));
    let more = faults.len().saturating_sub(LISTED);
    let advice = if options.is_empty() {
        format!("mend them, or {}", filling(wanted))
    } else {
        let command: Vec<String> = std::iter::once(format::own_command()).chain(options).collect();
        format!("mend them, or try: {}", command.join(" "))
    };
    Failure::List {
        message: format!("{name}: {} columns cannot be used as they are", faults.len()),
        lines: faults.iter().take(LISTED).map(fault_line).chain((more > 0).then(|| format!("and {more} more"))).collect(),
        advice,
    }
}

/// Returns the place of a fault in its file, and the fault.
fn fault_line(fault: &TableError) -> String {
    let line = fault.line().map(|line| format!("line {line}, ")).unwrap_or_default();
    let column = fault.column_name().map(|column| format!("{}: ", column_name(column))).unwrap_or_default();
    format!("{line}{column}{}", fault.reason())
}

fn is_gap(fault: &TableError) -> bool {
    use ColumnProblem::Gaps;
    use ValueProblem::Missing;
    matches!(fault, TableError::Column { problem: Gaps { .. }, .. } | TableError::Value { problem: Missing { .. }, .. })
}

/// Returns the options with which a table is read in spite of these faults.
fn remedies(faults: &[TableError], imputes: bool) -> Vec<String> {
    let (mut drop, mut category, mut missing, mut decimal) = (Vec::new(), Vec::new(), Vec::new(), false);
    for fault in faults {
        let name = fault.column_name().unwrap_or_default().to_owned();
        match fault {
            TableError::Value { problem: ValueProblem::Comma(_), .. } => decimal = true,
            // As categories, numbers would lose their order.
            TableError::Value { problem: ValueProblem::Unit(_) | ValueProblem::Formatted { .. }, .. } => drop.push(name),
            TableError::Value { problem: ValueProblem::NotFinite(value), .. } => missing.push(value.clone()),
            TableError::Value { problem: ValueProblem::Word { value, numbers, filled, .. }, .. } => {
                let is_mark = *numbers as f64 >= NEARLY_ALL * *filled as f64;
                if is_mark { missing.push(value.clone()) } else { category.push(name) }
            }
            TableError::Column { problem: ColumnProblem::Labels { .. } | ColumnProblem::Gaps { .. }, .. }
            | TableError::Value { .. } => {}
            _ => drop.push(name),
        }
    }
    let listed =
        |option: &str, names: Vec<String>| (!names.is_empty()).then(|| format!("{option} {}", format::shell(&joined(&names))));
    [
        listed("--drop", drop),
        listed("--category", category),
        listed("--missing", missing),
        decimal.then(|| "--decimal comma".to_owned()),
        imputes.then(|| "--impute median".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns `FILE:LINE: column …: fault; remedy`, with the options that help.
pub(super) fn failure(name: &str, error: &TableError, wanted: &Requirements) -> Failure {
    match error {
        TableError::Cancelled => return time_limit_failure(name),
        TableError::Columns { faults } => return columns_failure(name, faults, wanted),
        _ => {}
    }
    let place = error.line().map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
    let column = error.column_name().map(|column| format!("{}: ", column_name(column))).unwrap_or_default();
    let advice = advice(error, wanted).map(|advice| format!("; {advice}")).unwrap_or_default();
    Failure::input(place, format!("{column}{}{advice}", error.reason()))
}

/// Returns what to do about a table, in options of the command line.
fn advice(error: &TableError, wanted: &Requirements) -> Option<String> {
    match error {
        TableError::Value { column, problem, .. } => value_advice(&shell(column), problem, wanted),
        TableError::Column { column, problem } => column_advice(&shell(column), problem, wanted),
        TableError::NoFeatures => Some("pass --delimiter if the fields are separated by something else".to_owned()),
        TableError::Ragged { delimiter, .. } => {
            let delimiter = table::delimiter_in_words(*delimiter);
            Some(format!("mend the row, quote fields that hold {delimiter}, or pass --delimiter or --skip-rows"))
        }
        TableError::OddRows { line, is_first: true, .. } => {
            Some(format!("remove it, or pass --skip-rows {} if it is the last line of the header", line - 1))
        }
        TableError::NotBuiltFor { file } => Some(format!(
            "build it with them (cargo install maxmargin-cli --features {}), or save the table as CSV",
            file.feature()
        )),
        other => other.advice(),
    }
}

/// Returns what to do about a value of a column.
fn value_advice(column: &str, problem: &ValueProblem, wanted: &Requirements) -> Option<String> {
    Some(match problem {
        ValueProblem::Missing { value } if matches!(wanted.gaps, GapRule::Imputed(_)) => {
            let word =
                if value.is_empty() { String::new() } else { format!(", or --category {column} if this is a word of its own") };
            format!("fill it in, pass --drop, or --impute median, mean or most-frequent{word}")
        }
        ValueProblem::Missing { .. } => format!("fill it in, or {}", filling(wanted)),
        ValueProblem::Word { value, is_first_row, .. } => {
            let header = if *is_first_row { ", or --header yes if this line holds names" } else { "" };
            let missing = shell(value);
            format!(
                "mend it, or pass --missing {missing} if it stands for a missing value, --category {column} if the column holds \
                 categories, --drop {column}{header}"
            )
        }
        ValueProblem::OtherKind { value, .. } => {
            format!("mend it, leave it empty, or pass --missing {} if it stands for a missing value", shell(value))
        }
        ValueProblem::NoLabel { value } if !value.is_empty() => {
            let usual = problem.advice().unwrap_or_default();
            format!("{usual}; --category {column} if this is a class of its own")
        }
        ValueProblem::Comma(_) => {
            "write numbers with a point, or pass --decimal comma if this is no thousands separator".to_owned()
        }
        ValueProblem::Formatted { .. } => {
            format!("write it so (in a spreadsheet: take the format of numbers away, and export again), or --drop {column}")
        }
        ValueProblem::Unit(_) => {
            format!("write the numbers without it, or pass --category {column} if these are categories, or --drop {column}")
        }
        ValueProblem::NotImputed { .. } => "fill it in, or train with --impute".to_owned(),
        other => other.advice()?.to_owned(),
    })
}

/// Returns what to do about missing values, which not every command fills in.
fn filling(wanted: &Requirements) -> &'static str {
    match (wanted.gaps, wanted.model) {
        (GapRule::Imputed(_) | GapRule::Described, _) => "pass --impute median, mean or most-frequent",
        (GapRule::Refused, Some(_)) => "take a model that fills gaps in: one of train TABLE --impute median",
        (GapRule::Refused, None) => "pass --drop; train, cv, grid and search fill gaps in by --impute median",
    }
}

/// Returns what to do about a whole column.
fn column_advice(column: &str, problem: &ColumnProblem, wanted: &Requirements) -> Option<String> {
    match problem {
        ColumnProblem::Unfit(_) => Some(format!("make one of them, or --drop {column}")),
        ColumnProblem::Nothing | ColumnProblem::Identifiers { .. } => Some(format!("--drop {column}")),
        ColumnProblem::Dates { .. } => {
            Some(format!("make a number of it, such as days, or --drop {column}, or --category {column}"))
        }
        ColumnProblem::TooMany { .. } => Some(format!("--drop {column}, or put rare ones together")),
        ColumnProblem::Labels { .. } => Some("pass --target".to_owned()),
        ColumnProblem::Gaps { .. } => Some(filling(wanted).to_owned()),
        other => other.advice().map(str::to_owned),
    }
}

/// Quotes a value of an option with names for a shell, whole: an option with a part of it would not
/// be found.
fn shell(value: &str) -> String {
    format::shell(&joined(&[quoted(value, usize::MAX)]))
}
