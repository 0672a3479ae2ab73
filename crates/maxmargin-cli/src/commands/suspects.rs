//! The rows of a cross-validation by the margin of their label: probably wrong labels first.

use crate::console::failure::Failure;
use crate::console::format;
use crate::files::input::Input;
use crate::files::output::Output;
use crate::report::{delimiter_of, each_once, free_names, label_text, write_fields};
use maxmargin::cv::{CvReport, Suspect, suspects};
use maxmargin::data::table::KeptColumn;
use maxmargin::model::Multiclass;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The list of doubtful labels.
#[derive(Debug, Serialize)]
pub(super) struct SuspectsDocument {
    /// The file of the list.
    file: String,
    /// Rows whose label has a margin below 0.
    below_zero: usize,
    /// Rows that are equal to a row with another label.
    contradicting: usize,
}

impl SuspectsDocument {
    /// Ranks the rows of a cross-validation, and writes them.
    pub(super) fn write(
        input: &Input,
        multiclass: Multiclass,
        report: &CvReport,
        path: &Path,
        output: Output,
    ) -> Result<Self, Failure> {
        let ranked = suspects(&input.data, multiclass, &report.decisions).map_err(|error| Failure::input(&input.name, error))?;
        let kept = input.written.as_ref().map_or(&[][..], |table| &table.kept[..]);
        let file = output.name().to_owned();
        output.write(|out| write_table(&ranked, input, report, kept, delimiter_of(path), out))?;
        let count = |is: fn(&&Suspect) -> bool| ranked.iter().filter(is).count();
        Ok(Self {
            file,
            below_zero: count(|suspect| suspect.margin < 0.0),
            contradicting: count(|suspect| !suspect.contradicting.is_empty()),
        })
    }

    /// `49 rows with a margin below 0, 2 equal to a row with another label: suspects.csv`
    pub(super) fn text(&self) -> String {
        let count = |number: usize| format::count(number as u64);
        format!(
            "{} rows with a margin below 0, {} equal to a row with another label: {}",
            count(self.below_zero),
            count(self.contradicting),
            self.file
        )
    }
}

/// Writes a line for each row: its place in the list, its number in the data from 1, the kept
/// columns, its label, the predicted label of the first round that tested it, the margin, the equal
/// rows with another label, and its leverage if rows were left out one by one.
fn write_table(
    ranked: &[Suspect],
    input: &Input,
    report: &CvReport,
    kept: &[KeptColumn],
    delimiter: char,
    out: &mut dyn Write,
) -> io::Result<()> {
    let kept = each_once(kept);
    let labels = &input.data.labels;
    let leverage = |row: usize| report.leverage.iter().skip(row).step_by(labels.len()).copied().find(|of| !of.is_nan());
    let has_leverage = ranked.iter().any(|suspect| leverage(suspect.row).is_some());
    let computed = ["rank", "row", "label", "predicted", "margin", "contradicting"].into_iter();
    let computed = computed.chain(has_leverage.then_some("leverage")).map(str::to_owned);
    let mut header = free_names(computed, "computed_", &kept);
    // Rank and row are the first columns.
    header.splice(2..2, kept.iter().map(|column| column.name.clone()));
    write_fields(&header.iter().map(|name| &name[..]).collect::<Vec<_>>(), delimiter, out)?;
    for (rank, suspect) in ranked.iter().enumerate() {
        let rounds = report.predicted.iter().skip(suspect.row).step_by(labels.len());
        let predicted = rounds.copied().find(|label| !label.is_nan()).map(label_text).unwrap_or_default();
        let others: Vec<String> = suspect.contradicting.iter().map(|row| (row + 1).to_string()).collect();
        let mut line = vec![(rank + 1).to_string(), (suspect.row + 1).to_string()];
        line.extend(kept.iter().map(|column| column.fields[suspect.row].clone()));
        line.extend([label_text(labels[suspect.row]), predicted, format::exact(suspect.margin), others.join(" ")]);
        line.extend(has_leverage.then(|| leverage(suspect.row).map(format::exact).unwrap_or_default()));
        write_fields(&line.iter().map(|field| &field[..]).collect::<Vec<_>>(), delimiter, out)?;
    }
    Ok(())
}
