//! The predictions of all rows as text: lines as LIBSVM writes them, or a table for a table.

use super::conformal::ConformalPredictions;
use crate::args::PredictArgs;
use crate::console::{format, label_names};
use crate::files::input::WrittenTable;
use crate::report::{each_once, free_names, label_text, machine_names, write_fields};
use maxmargin::data::number::write_shortest;
use maxmargin::model::{DecisionRule, Model};
use std::io::{self, Write};

/// The columns of the output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Columns<'a> {
    Labels,
    /// The decision value of each machine.
    Decisions,
    /// The value of each level, ascending.
    Levels(&'a [f64]),
    /// The label and the probability of each class.
    Probabilities,
    /// The label and the numbers of its conformal prediction.
    Conformal(&'a ConformalPredictions),
}

impl<'a> Columns<'a> {
    /// Returns the columns that the options ask for. A regression has no probabilities.
    pub(super) fn of(args: &PredictArgs, predictions: &Predictions<'a>, conformal: Option<&'a ConformalPredictions>) -> Self {
        let model = predictions.model;
        let has_classes = model.decision_rule() != DecisionRule::Value;
        if let Some(conformal) = conformal {
            return Self::Conformal(conformal);
        }
        match (args.probability && has_classes, args.decision) {
            (true, _) => Self::Probabilities,
            (false, true) => Self::Decisions,
            (false, false) if !model.levels().is_empty() => Self::Levels(predictions.levels),
            (false, false) => Self::Labels,
        }
    }
}

/// The predictions of a model for all rows of a data set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predictions<'a> {
    pub(super) model: &'a Model,
    /// The label of each row.
    pub(super) labels: &'a [f64],
    /// The decision value of each machine, row after row.
    pub(super) decisions: &'a [f64],
    /// The probability of each outcome, row after row.
    pub(super) probabilities: &'a [f64],
    /// The values of several levels without crossings, row after row; empty for one level.
    pub(super) levels: &'a [f64],
}

impl Predictions<'_> {
    /// Writes a table where the data is a table, and lines otherwise.
    pub(super) fn write(self, columns: Columns, table: Option<&WrittenTable>, out: &mut dyn Write) -> io::Result<()> {
        match (table, columns) {
            (Some(table), _) => self.write_table(columns, table, out),
            (None, Columns::Labels) => write_labels(self.labels, out),
            (None, Columns::Decisions) => {
                self.decisions.chunks_exact(self.model.machines().len()).try_for_each(|row| write_numbers(row, out))
            }
            (None, Columns::Levels(values)) => {
                values.chunks_exact(self.model.levels().len()).try_for_each(|row| write_numbers(row, out))
            }
            (None, Columns::Probabilities) => self.write_probabilities(out),
            (None, Columns::Conformal(conformal)) => self.write_conformal(conformal, out),
        }
    }

    /// Writes LIBSVM's format: a line with the outcomes, then the label and the probabilities of
    /// each row.
    fn write_probabilities(self, out: &mut dyn Write) -> io::Result<()> {
        if self.model.decision_rule() == DecisionRule::Inlier {
            out.write_all(b"label normal outlier\n")?;
        } else {
            let labels: Vec<String> = self.model.outcomes().iter().map(|label| label_names::for_file(*label)).collect();
            writeln!(out, "labels {}", labels.join(" "))?;
        }
        for (label, row) in self.labels.iter().zip(self.probabilities.chunks_exact(self.model.outcomes().len())) {
            write!(out, "{} ", label_names::for_file(*label))?;
            write_numbers(row, out)?;
        }
        Ok(())
    }

    /// Writes a line of names, then the label and the numbers of each row's conformal prediction.
    fn write_conformal(self, conformal: &ConformalPredictions, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "label {}", conformal.names.join(" "))?;
        for (label, row) in self.labels.iter().zip(conformal.numbers.chunks_exact(conformal.names.len())) {
            write!(out, "{} ", label_names::for_file(*label))?;
            write_numbers(row, out)?;
        }
        Ok(())
    }

    /// Writes a header, then the kept columns, the label and the numbers of each row.
    fn write_table(self, columns: Columns, table: &WrittenTable, out: &mut dyn Write) -> io::Result<()> {
        let (names, numbers) = match columns {
            Columns::Labels => (Vec::new(), &[][..]),
            Columns::Decisions => (self.decision_names(), self.decisions),
            Columns::Levels(values) => (self.level_names(), values),
            Columns::Probabilities => (self.probability_names(), self.probabilities),
            Columns::Conformal(found) => (found.names.clone(), &found.numbers[..]),
        };
        let kept = each_once(&table.kept);
        // A kept column may be the true label.
        let computed = free_names(["label".to_owned()].into_iter().chain(names.iter().cloned()), "predicted_", &kept);
        let header: Vec<&str> = kept.iter().map(|column| &column.name).chain(&computed).map(String::as_str).collect();
        write_fields(&header, table.delimiter, out)?;
        for (row, label) in self.labels.iter().enumerate() {
            let numbers = &numbers[row * names.len()..][..names.len()];
            let label = label_text(*label);
            let numbers: Vec<String> = numbers.iter().map(|value| format::exact(*value)).collect();
            let kept = kept.iter().map(|column| &column.fields[row][..]);
            let fields: Vec<&str> = kept.chain([&label[..]]).chain(numbers.iter().map(|number| &number[..])).collect();
            write_fields(&fields, table.delimiter, out)?;
        }
        Ok(())
    }

    /// Returns `decision` for one machine, and for several the labels that each of them separates.
    fn decision_names(self) -> Vec<String> {
        let name = |name: String| if name.is_empty() { "decision".to_owned() } else { format!("decision_{name}") };
        machine_names(self.model).into_iter().map(name).collect()
    }

    /// Returns a name for each level, such as `quantile_0.9`.
    fn level_names(self) -> Vec<String> {
        let formulation = self.model.record().map_or("level", |record| record.formulation.name());
        self.model.levels().iter().map(|level| format!("{formulation}_{}", format::exact(*level))).collect()
    }

    /// Returns a name for each outcome.
    fn probability_names(self) -> Vec<String> {
        if self.model.decision_rule() == DecisionRule::Inlier {
            return ["probability_normal", "probability_outlier"].map(str::to_owned).to_vec();
        }
        self.model.outcomes().iter().map(|label| format!("probability_{}", label_text(*label))).collect()
    }
}

/// Writes one label per row.
fn write_labels(labels: &[f64], mut out: &mut dyn Write) -> io::Result<()> {
    for label in labels {
        if label_names::word_of(*label).is_some() {
            writeln!(out, "{}", label_names::for_file(*label))?;
        } else {
            write_shortest(&mut out, *label)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Writes numbers with blanks between them, and the end of the line.
fn write_numbers(row: &[f64], mut out: &mut dyn Write) -> io::Result<()> {
    for (at, &value) in row.iter().enumerate() {
        out.write_all(if at > 0 { b" " } else { b"" })?;
        write_shortest(&mut out, value)?;
    }
    out.write_all(b"\n")
}
