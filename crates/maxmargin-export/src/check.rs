//! Checks of a program against the model that it describes, on rows of data.

use crate::bound::bounds;
use crate::error::ExportError;
use crate::onnx::{Elements, Graph, Tensor, inputs_of};
use crate::program::{Outcome, Program};
use maxmargin_core::levels;
use maxmargin_data::{Par, Samples};
use maxmargin_model::{DecisionRule, Model};
use std::borrow::Cow;

/// The largest number of intermediate values that the interpreter of graphs has for a batch.
const BATCH: usize = 1 << 22;

/// The outcome of a check in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checked {
    /// The number of rows.
    pub rows: usize,
    /// The number of rows whose label is another one; `None` for a regression.
    pub other_labels: Option<usize>,
    /// The largest difference of a decision value, divided by 1 or by its size if that is more.
    pub decisions: f64,
    /// The largest difference of a probability; 0 without probabilities.
    pub probabilities: f64,
    /// The largest difference of a bound of an interval, like that of decision values; 0 without
    /// intervals.
    pub intervals: f64,
}

/// The outcome of a check in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SingleChecked {
    /// The number of rows.
    pub rows: usize,
    /// The number of rows whose label single precision could turn.
    pub open: usize,
    /// The largest bound on the error of a decision value.
    pub bound: f64,
}

/// Runs a graph in double precision on rows, by a plain interpreter of its operators, and compares
/// the results with those of the model, and with its `intervals` (lower and upper bound of each
/// row) if the program has them. `None` if the graph is in single precision.
///
/// # Errors
///
/// When the rows do not suit the model.
pub fn check(
    model: &Model,
    program: &Program,
    graph: &Graph,
    samples: &Samples,
    intervals: &[[f64; 2]],
    par: Par,
) -> Result<Option<Checked>, ExportError> {
    let samples = &*known_features(program, samples);
    let expected = model.decision_values(samples, par)?;
    let labels: Vec<f64> = expected.chunks_exact(program.machines()).map(|row| model.label(row)).collect();
    let probabilities = if program.outcomes() > 0 { model.probabilities_of(&expected, par)? } else { Vec::new() };
    let mut found = Checked { rows: samples.len(), ..Checked::default() };
    let step = (BATCH / program.numbers().max(1)).clamp(1, 256);
    let machines = program.machines();
    for begin in (0..samples.len()).step_by(step) {
        let rows: Vec<usize> = (begin..samples.len().min(begin + step)).collect();
        let inputs = inputs_of(&program.inputs, model.columns(), samples, &rows);
        let Some(outputs) = graph.run(inputs) else { return Ok(None) };
        let of = |name: &str| graph.outputs.iter().position(|port| port.name == name).map(|at| &outputs[at]);
        let own = &expected[begin * machines..(begin + rows.len()) * machines];
        if let Some(values) = of("decision").and_then(numbers) {
            found.decisions = found.decisions.max(difference(values, own, true));
        }
        if let Some(values) = of("value").and_then(numbers) {
            let own: Vec<f64> = own.chunks_exact(machines).flat_map(levels::rearranged).collect();
            found.decisions = found.decisions.max(difference(values, &own, true));
        }
        if let Some(values) = of("probabilities").and_then(numbers) {
            let count = program.outcomes();
            let own = &probabilities[begin * count..(begin + rows.len()) * count];
            found.probabilities = found.probabilities.max(difference(values, own, false));
        }
        for (name, side) in [("lower", 0), ("upper", 1)] {
            let own: Vec<f64> = intervals.iter().skip(begin).take(rows.len()).map(|bounds| bounds[side]).collect();
            if let Some(values) = of(name).and_then(numbers) {
                found.intervals = found.intervals.max(difference(values, &own, true));
            }
        }
        if let Some(label) = of("label") {
            let own = &labels[begin..begin + rows.len()];
            let is_other = |(at, own): &(usize, &f64)| !is_label(program, model, label, *at, **own);
            let other = own.iter().enumerate().filter(is_other).count();
            found.other_labels = Some(found.other_labels.unwrap_or(0) + other);
        }
    }
    Ok(Some(found))
}

fn numbers(of: &Tensor) -> Option<&[f64]> {
    if let Elements::Double(values) = &of.elements { Some(values) } else { None }
}

fn difference(found: &[f64], expected: &[f64], relative: bool) -> f64 {
    let of = |(a, b): (&f64, &f64)| {
        if a == b {
            return 0.0;
        }
        let difference = (a - b).abs() / if relative { b.abs().max(1.0) } else { 1.0 };
        if difference.is_nan() { f64::INFINITY } else { difference }
    };
    found.iter().zip(expected).map(of).fold(0.0, f64::max)
}

/// Returns true if the label at this place is that of the model.
fn is_label(program: &Program, model: &Model, labels: &Tensor, at: usize, own: f64) -> bool {
    let classes = match &program.outcome {
        Outcome::Classes(classes) => classes,
        Outcome::Inlier => return matches!(&labels.elements, Elements::Int64(found) if found[at] as f64 == own),
        Outcome::Value => return true,
    };
    let Some(class) = model.classes().iter().position(|class| *class == own) else { return false };
    let expected = &classes.labels.texts()[class];
    match &labels.elements {
        Elements::Int64(found) => found[at].to_string() == *expected,
        Elements::Double(found) => found[at].to_string() == *expected,
        Elements::Text(found) => found[at] == *expected,
        Elements::Bool(_) => false,
    }
}

/// Bounds the error of single precision on rows, and counts rows whose label it could turn. Labels
/// by probabilities of three classes or more count as open.
///
/// # Errors
///
/// When the rows do not suit the model.
pub fn check_single(model: &Model, program: &Program, samples: &Samples, par: Par) -> Result<SingleChecked, ExportError> {
    let samples = &*known_features(program, samples);
    let rounded = rounded(samples)?;
    let own = model.decision_values(samples, par)?;
    let values = model.decision_values(&rounded, par)?;
    let features = model.prepared(&rounded)?;
    let machines = program.machines();
    let mut found = SingleChecked { rows: samples.len(), ..SingleChecked::default() };
    for (i, (own, values)) in own.chunks_exact(machines).zip(values.chunks_exact(machines)).enumerate() {
        let bounds = bounds(&program.functions, features.row(i));
        found.bound = bounds.iter().copied().fold(found.bound, f64::max);
        let is_certain = match (&program.outcome, model.decision_rule()) {
            (Outcome::Value, _) => bounds.iter().all(|bound| bound.is_finite()),
            // The label of two classes is a monotone function of the only decision value.
            (_, DecisionRule::Coupled) if machines == 1 => {
                model.label(&[values[0] - bounds[0]]) == model.label(&[values[0] + bounds[0]])
            }
            _ => model.is_certain(values, &bounds),
        };
        let is_open = !is_certain || (program.outcome != Outcome::Value && model.label(own) != model.label(values));
        found.open += usize::from(is_open);
    }
    Ok(found)
}

/// The rows without features that the program has no input for.
fn known_features<'s>(program: &Program, samples: &'s Samples) -> Cow<'s, Samples> {
    let inputs = &program.inputs;
    if inputs.columns.is_empty() && samples.features() > inputs.features {
        return Cow::Owned(samples.clone().with_features(inputs.features));
    }
    Cow::Borrowed(samples)
}

/// The rows with every value in single precision, as the graph gets them.
fn rounded(samples: &Samples) -> Result<Samples, ExportError> {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..samples.len() {
        samples.row(i).for_each(|j, value| {
            indices.push(j as u32);
            values.push(f64::from(value as f32));
        });
        offsets.push(indices.len());
    }
    Samples::from_sparse(samples.features(), offsets, indices, values).map_err(|error| ExportError::Rows(error.to_string()))
}
