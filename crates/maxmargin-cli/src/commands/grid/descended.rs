//! The output of a descent from the best cell.

use super::cell::{CellDocument, Parameters};
use super::choice::Choice;
use crate::console::format;
use maxmargin::DescentEnd;
use maxmargin::PreparedData;
use maxmargin::data::Samples;
use maxmargin::{Descent, DescentPoint};
use serde::Serialize;

/// A cell and its smooth loss.
#[derive(Clone, Debug, Serialize)]
struct CellLoss {
    #[serde(flatten)]
    parameters: Parameters,
    loss: f64,
}

/// A point of the descent.
#[derive(Clone, Debug, Serialize)]
struct Point {
    c: f64,
    gamma: f64,
    loss: f64,
    by_log_c: f64,
    by_log_gamma: f64,
}

/// A feature and its γ.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Width {
    /// Its name in a table, or its number.
    feature: String,
    gamma: f64,
}

/// Largest relative change of a kernel value by a feature that could be left out.
const NEGLIGIBLE: f64 = 0.01;

/// Most features that are shown, at either end.
const SHOWN: usize = 10;

/// A descent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DescentDocument {
    /// The cell where it started.
    from: CellLoss,
    /// The cell with the smallest loss.
    found: CellLoss,
    /// The number of evaluations of the loss.
    evaluations: usize,
    ended: &'static str,
    iterations: u64,
    points: Vec<Point>,
    /// γ of each feature at the smallest loss, in their order; None if all features share one.
    features: Option<Vec<Width>>,
    /// The features that could be left out: over the range of their values, none changes a kernel
    /// value by more than [`NEGLIGIBLE`]. None if all features share one γ.
    negligible: Option<Vec<String>>,
    /// The index of the cell that it found, unless it is the start.
    #[serde(skip)]
    pub(super) added: Option<usize>,
}

/// Returns the greatest value of each feature less the smallest.
fn spans(samples: &Samples) -> Vec<f64> {
    let width = samples.features();
    let (mut least, mut most, mut seen) = (vec![0.0_f64; width], vec![0.0_f64; width], vec![0; width]);
    for row in 0..samples.len() {
        samples.row(row).for_each(|j, value| {
            let is_first = seen[j] == 0;
            least[j] = if is_first { value } else { least[j].min(value) };
            most[j] = if is_first { value } else { most[j].max(value) };
            seen[j] += 1;
        });
    }
    // Rows that leave a sparse feature out have the value 0.
    let span = |j: usize| if seen[j] < samples.len() { most[j].max(0.0) - least[j].min(0.0) } else { most[j] - least[j] };
    (0..width).map(span).collect()
}

impl DescentDocument {
    pub(super) fn new(descent: &Descent, cells: &[&CellDocument], prepared: &PreparedData) -> Self {
        let data = prepared.data();
        let name = |j: usize| match &data.columns {
            Some(columns) => columns.feature_name(j).unwrap_or_default(),
            None => (j + data.index_base as usize).to_string(),
        };
        let width = |(j, gamma): (usize, &f64)| Width { feature: name(j), gamma: *gamma };
        let weighed = |at: usize, loss: f64| CellLoss { parameters: cells[at].parameters(), loss };
        let point = |point: &DescentPoint| {
            let [by_log_c, by_log_gamma] = point.gradient;
            Point { c: point.c, gamma: point.gamma, loss: point.loss, by_log_c, by_log_gamma }
        };
        Self {
            from: weighed(descent.from, descent.loss_from()),
            found: weighed(descent.at, descent.loss_at()),
            evaluations: descent.points.len(),
            ended: match descent.ended {
                DescentEnd::Flat => "flat",
                DescentEnd::Short => "short",
                DescentEnd::Evaluations => "evaluations",
            },
            iterations: descent.iterations,
            points: descent.points.iter().map(point).collect(),
            features: descent.widths.as_ref().map(|widths| widths.iter().enumerate().map(width).collect()),
            negligible: descent.widths.as_ref().map(|widths| {
                // exp(-gamma span²) is the least factor of a kernel value by the feature.
                let is_negligible = |(span, gamma): (f64, &f64)| -(-gamma * span * span).exp_m1() <= NEGLIGIBLE;
                let all = spans(prepared.samples()).into_iter().zip(widths).map(is_negligible).enumerate();
                all.filter(|(_, is_negligible)| *is_negligible).map(|(j, _)| name(j)).collect()
            }),
            added: (descent.at != descent.from).then_some(descent.at),
        }
    }

    /// Returns the cells of the ranges, without the one that the descent added.
    pub(super) fn others<'c>(own: Option<&Self>, cells: impl Iterator<Item = &'c CellDocument>) -> Vec<&'c CellDocument> {
        let added = own.and_then(|own| own.added);
        cells.enumerate().filter(|(at, _)| Some(*at) != added).map(|(_, cell)| cell).collect()
    }

    /// Returns lines for the report.
    pub(super) fn lines(&self, choice: &Choice) -> Vec<String> {
        let of = |weighed: &CellLoss| {
            let (loss, score) = (format::long(weighed.loss), choice.text(weighed.parameters.score));
            format!("{}; loss {loss}, {score}", weighed.parameters.text())
        };
        let why = match self.ended {
            "flat" => "the gradient is flat",
            "short" => "no step of 1 % decreases the loss",
            _ => "the limit of evaluations",
        };
        let count = format::count(self.evaluations as u64);
        let mut lines = vec![
            format!("descent from: {}", of(&self.from)),
            format!("descent to: {}; {count} evaluations, {why}", of(&self.found)),
        ];
        if let Some(widths) = &self.features {
            let mut sorted: Vec<&Width> = widths.iter().collect();
            sorted.sort_by(|a, b| b.gamma.total_cmp(&a.gamma));
            let shown = |widths: &[&Width]| -> String {
                widths
                    .iter()
                    .map(|width| format!("{} {}", width.feature, format::computed(width.gamma)))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            // A feature is never listed twice.
            let (greatest, others) = sorted.split_at(SHOWN.min(sorted.len()));
            lines.push(format!("largest gamma of features: {}", shown(greatest)));
            if !others.is_empty() {
                lines.push(format!("smallest: {}", shown(&others[others.len().saturating_sub(SHOWN)..])));
            }
        }
        if let Some(names) = self.negligible.as_ref().filter(|names| !names.is_empty()) {
            let more = names.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let share = format::percent(NEGLIGIBLE);
            lines.push(format!("could be left out: {shown}{more} (none changes a kernel value by more than {share})"));
        }
        lines
    }
}
