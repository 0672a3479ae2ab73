//! `svm-predict`.

use super::arguments::{PredictRequest, own_options_usage};
use super::data;
use super::exit::{Exit, print};
use super::svm_train::g;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::data::number::format_g;
use maxmargin::data::{Dataset, Samples};
use maxmargin::libsvm::{TrainedModel, error_distribution_text, squares};
use maxmargin::model::{DecisionRule, Model, ModelError, Unsupported};
use std::ffi::OsString;

const USAGE: &str = concat!(
    "Usage: svm-predict [options] test_file model_file output_file
options:
-b probability_estimates   whether to predict probabilities, 0 or 1 (default 0)
-q                         quiet: print nothing
",
    own_options_usage!()
);

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let request = PredictRequest::new(words, USAGE, "Unknown option")?;
    let (wants, quiet, par) = (request.probabilities, request.quiet, request.threads.par());
    let bytes = data::bytes(request.model, "model")?;
    let learned = TrainedModel::read(&bytes).map_err(|error| request.unreadable(&error))?;
    let has = learned.is_probability_model();
    if wants && !has {
        return Err(Exit::Error("Model does not support probabiliy estimates".to_owned()));
    }
    if has && !wants && !quiet {
        print("Model supports probability estimates, but disabled in prediction.\n")?;
    }
    let learned = if wants { learned } else { learned.by_votes().map_err(Exit::parameter)? };
    let base = learned.model().map_or(1, |model| model.parts().index_base);
    let data = data::read(request.test, if base == 0 { IndexBase::Zero } else { IndexBase::Auto }, par)?;
    let learned = if data.index_base < base { from_zero(learned).map_err(Exit::parameter)? } else { learned };
    let predicted = learned.predict(&data.samples, par).map_err(Exit::parameter)?;
    match &learned {
        TrainedModel::Constant { label, .. } if wants => {
            request.output.write(|out| {
                writeln!(out, "labels {label}")?;
                predicted.iter().try_for_each(|label| writeln!(out, "{} 1", format_g(*label, 6)))
            })?;
        }
        TrainedModel::Model(model) if wants && !model.outcomes().is_empty() => {
            let order = order_of(model);
            let all = model.probabilities(&data.samples, par).map_err(Exit::parameter)?;
            request.output.write(|out| {
                out.write_all(heading(model, &order).as_bytes())?;
                for (label, row) in predicted.iter().zip(all.chunks_exact(order.len())) {
                    write!(out, "{}", format_g(*label, 6))?;
                    order.iter().try_for_each(|&at| write!(out, " {}", format_g(row[at], 6)))?;
                    writeln!(out)?;
                }
                Ok(())
            })?;
        }
        _ => request.output.write(|out| predicted.iter().try_for_each(|value| writeln!(out, "{}", format_g(*value, 17))))?,
    }
    if let (true, false, Some(scale)) = (wants, quiet, learned.model().and_then(Model::error_scale)) {
        print(&error_distribution_text(scale, ""))?;
    }
    if quiet { Ok(()) } else { print(&scores_text(&learned, &data, &predicted)) }
}

/// Returns the outcome of each column of probabilities: in the order of the labels, or inlier first
/// for one class.
fn order_of(model: &Model) -> Vec<usize> {
    match model.decision_rule() {
        DecisionRule::Inlier => vec![0, 1],
        _ => model.label_order().iter().map(|&class| class as usize).collect(),
    }
}

/// Returns the header of probabilities.
fn heading(model: &Model, order: &[usize]) -> String {
    if model.decision_rule() == DecisionRule::Inlier {
        return "label normal outlier\n".to_owned();
    }
    let labels: Vec<String> = order.iter().map(|&at| format_g(model.outcomes()[at], 17)).collect();
    format!("labels {}\n", labels.join(" "))
}

/// Returns the accuracy, or the errors of a regression.
fn scores_text(learned: &TrainedModel, data: &Dataset, predicted: &[f64]) -> String {
    if learned.model().is_some_and(|model| model.decision_rule() == DecisionRule::Value) {
        return errors(&data.labels, predicted);
    }
    format!("{} (classification)\n", accuracy(&data.labels, predicted))
}

/// Returns the lines of both programs about predicted values.
pub(super) fn errors(truth: &[f64], predicted: &[f64]) -> String {
    let (error, correlation) = squares(truth, predicted);
    let (error, correlation) = (g(error), g(correlation));
    format!("Mean squared error = {error} (regression)\nSquared correlation coefficient = {correlation} (regression)\n")
}

/// Returns the line of both programs about predicted labels.
pub(super) fn accuracy(truth: &[f64], predicted: &[f64]) -> String {
    let (correct, total) = (truth.iter().zip(predicted).filter(|(a, b)| a == b).count(), predicted.len());
    format!("Accuracy = {}% ({correct}/{total})", g(100.0 * correct as f64 / total as f64))
}

/// Renumbers the features of a model from 0; its first feature is then unknown to it.
fn from_zero(learned: TrainedModel) -> Result<TrainedModel, ModelError> {
    let TrainedModel::Model(model) = learned else { return Ok(learned) };
    if model.parts().scaler.is_some() {
        return Err(Unsupported::IndexZero.into());
    }
    let mut parts = model.into_parts();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..parts.support.len() {
        parts.support.row(row).for_each(|column, value| {
            indices.push(column as u32 + 1);
            values.push(value);
        });
        offsets.push(indices.len());
    }
    let width = parts.support.features() + 1;
    let shifted = Samples::from_sparse(width, offsets, indices, values);
    let invalid = |error: maxmargin::data::SamplesError| ModelError::Invalid {
        what: "the matrix of support vectors",
        reason: error.to_string(),
    };
    parts.support = shifted.map_err(invalid)?.compact();
    (parts.index_base, parts.record) = (0, None);
    Ok(TrainedModel::Model(Box::new(Model::new(parts)?)))
}
