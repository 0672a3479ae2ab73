//! LIBLINEAR's `predict`.

use super::arguments::{Arguments, OwnOptions, atoi, letter, own_options_usage};
use super::data;
use super::exit::{Exit, print};
use super::svm_predict::{accuracy, errors};
use crate::files::model_file::reason_of;
use crate::files::output::Output;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::data::number::format_g;
use maxmargin::model::liblinear::read_model;
use std::ffi::OsString;
use std::path::Path;

const USAGE: &str = concat!(
    "Usage: predict [options] test_file model_file output_file
options:
-b probability_estimates   whether to write probabilities, 0 or 1 (default 0); for logistic regression
-q                         quiet: print nothing
",
    own_options_usage!()
);

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let words = Arguments::new(words, USAGE);
    let (mut wants, mut quiet, mut ours) = (false, false, OwnOptions::default());
    let files = words.options("q", Some(&mut ours), |word, value| {
        match letter(word) {
            Some('b') => wants = atoi(value) != 0,
            Some('q') => quiet = true,
            other => return Err(format!("unknown option: -{}", other.map_or_else(String::new, String::from))),
        }
        Ok(())
    })?;
    let [test, model, output, ..] = files else { return Err(words.usage(None)) };
    let threads = ours.threads()?;
    data::check_opens(test, "input")?;
    let unwritable = |_| Exit::Error(format!("can't open output file {}", output.to_string_lossy()));
    let output = Output::open(Path::new(output)).map_err(unwritable)?;
    let name = model.to_string_lossy();
    let model = read_model(&data::bytes(model, "model")?)
        .map_err(|error| Exit::Error(format!("can't open model file {name} ({})", reason_of(&error))))?;
    if wants && !model.is_logistic() {
        return Err(Exit::Error("probability output is only supported for logistic regression".to_owned()));
    }
    let data = data::read(test, IndexBase::One, threads.par())?;
    let decisions = model.decision_values(&data.samples, threads.par());
    let rows = || decisions.chunks_exact(model.weights.len());
    let predicted: Vec<f64> = rows().map(|row| model.label(row)).collect();
    output.write(|out| {
        if wants {
            write!(out, "labels")?;
            model.labels.iter().try_for_each(|label| write!(out, " {label}"))?;
            writeln!(out)?;
        }
        for (row, label) in rows().zip(&predicted) {
            write!(out, "{}", format_g(*label, if wants { 6 } else { 17 }))?;
            let shares = if wants { model.probabilities(row) } else { Vec::new() };
            shares.iter().try_for_each(|share| write!(out, " {}", format_g(*share, 6)))?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    if quiet {
        return Ok(());
    }
    if model.is_regression() {
        return print(&errors(&data.labels, &predicted));
    }
    print(&format!("{}\n", accuracy(&data.labels, &predicted)))
}
