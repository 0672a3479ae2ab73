//! LIBLINEAR's `predict`.

use super::arguments::{PredictRequest, own_options_usage};
use super::data;
use super::exit::{Exit, print};
use super::svm_predict::{accuracy, errors};
use maxmargin::data::libsvm::IndexBase;
use maxmargin::data::number::format_g;
use maxmargin::model::liblinear::read_model;
use std::ffi::OsString;

const USAGE: &str = concat!(
    "Usage: predict [options] test_file model_file output_file
options:
-b probability_estimates   whether to write probabilities, 0 or 1 (default 0); for logistic regression
-q                         quiet: print nothing
",
    own_options_usage!()
);

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let request = PredictRequest::new(words, USAGE, "unknown option")?;
    let (wants, quiet, par) = (request.probabilities, request.quiet, request.threads.par());
    let model = read_model(&data::bytes(request.model, "model")?).map_err(|error| request.unreadable(&error))?;
    if wants && !model.is_logistic() {
        return Err(Exit::Error("probability output is only supported for logistic regression".to_owned()));
    }
    let data = data::read(request.test, IndexBase::One, par)?;
    let decisions = model.decision_values(&data.samples, par);
    let rows = || decisions.chunks_exact(model.weights.len());
    let predicted: Vec<f64> = rows().map(|row| model.label(row)).collect();
    request.output.write(|out| {
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
