//! What a descent from the best combination tells.

use super::choice::Choice;
use super::document::{CellDocument, Parameters};
use crate::format;
use maxmargin::cv::descend::Ended;
use maxmargin::{Descent, DescentPoint};
use serde::Serialize;

/// A combination and its smooth loss.
#[derive(Clone, Debug, Serialize)]
struct Weighed {
    #[serde(flatten)]
    parameters: Parameters,
    loss: f64,
}

/// A point on the way.
#[derive(Clone, Debug, Serialize)]
struct Point {
    c: f64,
    gamma: f64,
    loss: f64,
    by_log_c: f64,
    by_log_gamma: f64,
}

/// A descent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DescentDocument {
    /// The best combination of the others, where it began.
    from: Weighed,
    /// The one of least loss.
    found: Weighed,
    /// Losses that were computed.
    evaluations: usize,
    ended: &'static str,
    iterations: u64,
    points: Vec<Point>,
    /// Where the combination that it found is among the cells, unless it is the one where it began.
    #[serde(skip)]
    pub(super) added: Option<usize>,
}

impl DescentDocument {
    pub(super) fn new(descent: &Descent, cells: &[&CellDocument]) -> Self {
        let weighed = |at: usize, loss: f64| Weighed { parameters: cells[at].parameters(), loss };
        let point = |point: &DescentPoint| {
            let [by_log_c, by_log_gamma] = point.gradient;
            Point { c: point.c, gamma: point.gamma, loss: point.loss, by_log_c, by_log_gamma }
        };
        Self {
            from: weighed(descent.from, descent.loss_from()),
            found: weighed(descent.at, descent.loss_at()),
            evaluations: descent.points.len(),
            ended: match descent.ended {
                Ended::Flat => "flat",
                Ended::Short => "short",
                Ended::Evaluations => "evaluations",
            },
            iterations: descent.iterations,
            points: descent.points.iter().map(point).collect(),
            added: (descent.at != descent.from).then_some(descent.at),
        }
    }

    /// The cells that the ranges asked for, without the one that a descent added.
    pub(super) fn others<'c>(own: Option<&Self>, cells: impl Iterator<Item = &'c CellDocument>) -> Vec<&'c CellDocument> {
        let added = own.and_then(|own| own.added);
        cells.enumerate().filter(|(at, _)| Some(*at) != added).map(|(_, cell)| cell).collect()
    }

    /// For people.
    pub(super) fn lines(&self, choice: &Choice) -> [String; 2] {
        let of = |weighed: &Weighed| {
            let score = choice.text(weighed.parameters.score);
            format!("{}; loss {:.6}, {} {score}", weighed.parameters.text(), weighed.loss, choice.column())
        };
        let why = match self.ended {
            "flat" => "the gradient is flat",
            "short" => "no step of 1 % leads down",
            _ => "no more are made",
        };
        let count = format::count(self.evaluations as u64);
        [format!("descent from: {}", of(&self.from)), format!("descent to: {}; {count} evaluations, {why}", of(&self.found))]
    }
}
