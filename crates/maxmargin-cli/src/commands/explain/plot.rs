//! Pictures of contributions: bars of all rows, or of one.

use super::largest;
use super::names::value_text;
use crate::console::format;
use crate::files::input::Input;
use crate::report::label_text;
use maxmargin::explain::Explanation;
use maxmargin::model::Model;
use maxmargin_plot::{Bar, BarBlock, BarChart, BarLine, Svg};

/// Columns in a picture.
const SHOWN: usize = 20;

/// Blocks of machines beside each other.
const ACROSS: usize = 2;

/// Draws the mean magnitudes over all rows.
pub(super) fn all(found: &Explanation, names: &[String]) -> Svg {
    let magnitudes = found.mean_magnitudes();
    let line = |p: &usize| BarLine { name: names[*p].clone(), bars: vec![bar(magnitudes[*p], "f0")] };
    let block = BarBlock {
        title: String::new(),
        label: "mean |contribution|".to_owned(),
        reach: 0.0,
        lines: largest(&magnitudes).iter().take(SHOWN).map(line).collect(),
    };
    let rows = format::count(found.rows() as u64);
    let title = format!("Contributions to the decision values of {rows} rows");
    BarChart { title, legend: Vec::new(), across: 1, blocks: vec![block] }.draw()
}

/// Draws the contributions of the only row that was explained, which is this one of the data: a
/// block for each machine.
pub(super) fn row(found: &Explanation, names: &[String], model: &Model, input: &Input, row: usize) -> Svg {
    let block = |m: usize| {
        let values = found.values(0, m);
        let order = largest(values);
        let line = |p: &usize| {
            let name = format!("{} = {}", names[*p], value_text(model, &input.data.samples, row, *p));
            BarLine { name, bars: vec![signed(values[*p])] }
        };
        let mut lines: Vec<BarLine> = order.iter().take(SHOWN).map(line).collect();
        if let Some(rest) = order.get(SHOWN..).filter(|rest| !rest.is_empty()) {
            let sum = rest.iter().map(|p| values[*p]).sum();
            lines.push(BarLine { name: format!("{} others", rest.len()), bars: vec![signed(sum)] });
        }
        let [base, decision] = [found.base(m), found.decision(0, m)].map(format::short);
        let name = match model.sides(m).filter(|_| found.machines() > 1) {
            Some((Some(negative), positive)) => format!("{} or {}: ", label_text(negative), label_text(positive)),
            Some((None, positive)) => format!("{}: ", label_text(positive)),
            None => model.levels().get(m).map_or_else(String::new, |level| format!("tau {}: ", format::exact(*level))),
        };
        let title = format!("{name}from base {base} to {decision}");
        BarBlock { title, label: "contribution".to_owned(), reach: 0.0, lines }
    };
    let meaning = match model.sides(0).filter(|_| found.machines() == 1) {
        Some((Some(negative), positive)) => [positive, negative].map(|label| format!("for class {}", label_text(label))),
        _ => ["raises the decision value", "lowers it"].map(str::to_owned),
    };
    let legend = ["f0", "f1"].into_iter().zip(meaning).collect();
    let title = format!("Row {}: contributions to the decision value", row + 1);
    let across = ACROSS.min(found.machines());
    BarChart { title, legend, across, blocks: (0..found.machines()).map(block).collect() }.draw()
}

fn bar(length: f64, class: &'static str) -> Bar {
    Bar { length, class, figure: format::short(length) }
}

fn signed(length: f64) -> Bar {
    bar(length, if length < 0.0 { "f1" } else { "f0" })
}
