//! The document of `explain`, and its summary.

use super::{Work, largest};
use crate::console::format;
use crate::report::{Align, DataDocument, End, MachineName, MachineNames, SCHEMA, columns, fields, label_text};
use maxmargin::data::classes::pairs;
use maxmargin::explain::Explanation;
use serde::Serialize;

/// Columns in the report.
const SHOWN: usize = 10;

/// The time of each phase.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Seconds {
    #[serde(rename = "read_seconds")]
    pub(super) read: f64,
    #[serde(rename = "explain_seconds")]
    pub(super) explain: f64,
    #[serde(rename = "total_seconds")]
    pub(super) total: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct ExplainDocument {
    schema: u32,
    command: &'static str,
    data: DataDocument,
    model: String,
    /// The data set that absent columns have their values from.
    background: Option<BackgroundDocument>,
    /// The names of the columns, in the order of all values.
    columns: Vec<String>,
    machines: Vec<MachineDocument>,
    /// The mean of |contribution| over all rows and machines, for each column.
    mean_magnitudes: Vec<f64>,
    contributions: Vec<ContributionsDocument>,
    /// The largest |sum of contributions − (decision value − base)|.
    efficiency_error: f64,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

#[derive(Debug, Serialize)]
struct BackgroundDocument {
    name: String,
    rows: usize,
}

#[derive(Debug, Serialize)]
struct MachineDocument {
    #[serde(flatten)]
    name: MachineName,
    /// The value before any column is known.
    base: f64,
}

/// The contributions of the columns to one decision value.
#[derive(Debug, Serialize)]
struct ContributionsDocument {
    /// The row, from 1.
    row: usize,
    machine: usize,
    decision: f64,
    values: Vec<f64>,
    /// Columns × columns.
    interactions: Option<Vec<Vec<f64>>>,
}

impl ExplainDocument {
    /// Describes an explanation; `values` adds those of every row.
    pub(super) fn new(work: &Work, found: &Explanation, names: Vec<String>, values: bool, seconds: Seconds, end: End) -> Self {
        let (model, input) = (work.model, &work.input);
        let data = DataDocument::for_target(&input.name, &input.data, model.decision_rule().target_kind());
        let data = if input.is_labelled { data } else { DataDocument { classes: Vec::new(), target: None, ..data } };
        let background = work.background.as_ref();
        let machine_names = MachineNames::of(model);
        let machine = |m: usize| MachineDocument { name: machine_names.name(m), base: found.base(m) };
        Self {
            schema: SCHEMA,
            command: "explain",
            data,
            model: work.model_name.clone(),
            background: background.map(|input| BackgroundDocument { rows: input.data.samples.len(), name: input.name.clone() }),
            columns: names,
            machines: (0..found.machines()).map(machine).collect(),
            mean_magnitudes: found.mean_magnitudes(),
            contributions: if values { contributions(found, &work.rows) } else { Vec::new() },
            efficiency_error: found.efficiency_error(),
            seconds,
            end,
        }
    }

    /// The summary: the largest contributions, and how exactly all add up.
    pub(super) fn text(&self, found: &Explanation, is_table: bool) -> String {
        let what = if is_table { "column" } else { "feature" };
        let mut lines = Vec::new();
        if let [machine] = &self.machines[..] {
            lines.push(("base value", self.base_text(machine)));
            lines.extend((found.rows() == 1).then(|| ("decision value", format::short(found.decision(0, 0)))));
        }
        let error = format::bound(self.efficiency_error);
        lines.push(("efficiency error", format!("{error} = |sum of contributions − (decision value − base)| at most")));
        let [read, explain] = [self.seconds.read, self.seconds.explain].map(format::seconds);
        lines.push(("time", format!("read {read}, explain {explain}")));
        let count = |number: usize| format::count(number as u64);
        let machines = if self.machines.len() > 1 { format!(", {} machines", count(self.machines.len())) } else { String::new() };
        format!(
            "{}: {} of {} rows{machines}\n\n{}{}\n{}",
            self.data.name,
            count(found.rows()),
            count(self.data.rows),
            self.largest_table(found, what),
            pairs_table(found, &self.columns),
            fields(&lines)
        )
    }

    /// Returns a table of the largest contributions: of one decision value with their signs, of
    /// several the means of their magnitudes.
    fn largest_table(&self, found: &Explanation, what: &'static str) -> String {
        let is_single = found.rows() == 1 && found.machines() == 1;
        let values = if is_single { found.values(0, 0) } else { &self.mean_magnitudes };
        let all: f64 = self.mean_magnitudes.iter().sum();
        let share = |magnitude: f64| if all > 0.0 { format::share(magnitude / all) } else { String::new() };
        let row = |p: &usize| vec![self.columns[*p].clone(), format::short(values[*p]), share(self.mean_magnitudes[*p])];
        let rows: Vec<Vec<String>> = largest(values).iter().take(SHOWN).map(row).collect();
        let head = if is_single { "contribution" } else { "mean |contribution|" };
        let header = [(what, Align::Left), (head, Align::Right), ("share", Align::Right)];
        let more = self.columns.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("and {more} more {what}s\n") } else { String::new() };
        columns(&header, &rows) + &more
    }

    /// `-0.0231 (mean of 100 rows of train.csv); contributions above 0 speak for class 1`
    fn base_text(&self, machine: &MachineDocument) -> String {
        let from = self.background.as_ref().map_or_else(
            || "no column takes part".to_owned(),
            |background| format!("mean of {} rows of {}", format::count(background.rows as u64), background.name),
        );
        let positive =
            machine.name.positive().map(|label| format!("; contributions above 0 speak for class {}", label_text(label)));
        format!("{} ({from}){}", format::short(machine.base), positive.unwrap_or_default())
    }
}

/// Every row and machine of an explanation, by row.
fn cells(found: &Explanation) -> impl Iterator<Item = (usize, usize)> {
    let machines = found.machines();
    (0..found.rows()).flat_map(move |i| (0..machines).map(move |m| (i, m)))
}

fn contributions(found: &Explanation, rows: &[usize]) -> Vec<ContributionsDocument> {
    let table = |pairs: &[f64]| pairs.chunks_exact(found.players()).map(<[f64]>::to_vec).collect();
    let one = |(i, m): (usize, usize)| ContributionsDocument {
        row: rows[i] + 1,
        machine: m,
        decision: found.decision(i, m),
        values: found.values(i, m).to_vec(),
        interactions: found.interactions(i, m).map(table),
    };
    cells(found).map(one).collect()
}

/// Returns a table of the pairs with the largest mean interaction; empty where none were computed.
fn pairs_table(found: &Explanation, names: &[String]) -> String {
    if found.interactions(0, 0).is_none() {
        return String::new();
    }
    let count = found.players();
    let share = 1.0 / (found.rows() * found.machines()).max(1) as f64;
    let mut sums = vec![0.0; count * count];
    for (i, m) in cells(found) {
        let pairs = found.interactions(i, m).unwrap_or_default();
        sums.iter_mut().zip(pairs).for_each(|(sum, value)| *sum += share * value.abs());
    }
    let pairs: Vec<(usize, usize)> = pairs(count).collect();
    let magnitudes: Vec<f64> = pairs.iter().map(|(p, q)| sums[p * count + q]).collect();
    let row = |at: usize| {
        let (p, q) = pairs[at];
        vec![names[p].clone(), names[q].clone(), format::short(magnitudes[at])]
    };
    let rows: Vec<Vec<String>> = largest(&magnitudes).into_iter().take(SHOWN).map(row).collect();
    format!("\n{}", columns(&[("pair", Align::Left), ("", Align::Left), ("mean |interaction|", Align::Right)], &rows))
}
