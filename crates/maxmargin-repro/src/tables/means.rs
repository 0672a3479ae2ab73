//! Rows that differ in one setting alone, such as the seed, as one row with means.

use crate::cells::record::Measured;
use crate::cells::row::{Figures, Row};
use crate::cells::settings::Settings;
use crate::numbers::groups::grouped;
use crate::numbers::statistics::{median, spread};
use serde_json::json;

/// Merges rows that differ in the setting `over` alone into one with means and the largest gap.
pub(crate) fn merge(rows: Vec<Row>, over: &str) -> Vec<Row> {
    let place = |row: &Row| {
        let mut rest: Settings = row.cell.settings.clone();
        rest.remove(over);
        (row.cell.table, row.cell.problem.clone(), row.cell.variant.clone(), rest)
    };
    grouped(rows, place).into_iter().filter_map(mean).collect()
}

/// Returns the mean row of a group, none of an empty one.
fn mean(group: Vec<Row>) -> Option<Row> {
    let of = |value: fn(&Measured) -> Option<f64>| group.iter().filter_map(|row| value(&row.ours.measured)).collect::<Vec<f64>>();
    let whole = |value| spread(&of(value)).0.map(|mean| mean.round() as u64);
    let (accuracy, accuracy_std) = spread(&of(|m| m.accuracy));
    // Processor seconds where they are known: other processes may use the machine as well.
    let (train_seconds, train_seconds_std) = spread(&of(|m| m.number("cpu_seconds").or(m.train_seconds)));
    let mut gaps = of(|m| m.relative_gap);
    let gap_median = median(&mut gaps);
    let more = json!({
        "accuracy_std": accuracy_std,
        "accuracy_ddag": spread(&of(|m| m.number("accuracy_ddag"))).0,
        "train_seconds_std": train_seconds_std,
        "core_set": spread(&of(|m| m.number("core_set"))).0,
        "support_vectors": spread(&of(|m| m.number("support_vectors"))).0,
        "gap_median": gap_median,
        "runs": group.len(),
        "cut_runs": group.iter().filter(|row| row.ours.measured.cut_off()).count(),
    });
    let iterations = whole(|m| m.iterations.map(|n| n as f64));
    let rows_computed = whole(|m| m.rows_computed.map(|n| n as f64));
    let seconds = group.iter().map(|row| row.ours.seconds).sum::<f64>() / group.len() as f64;
    let flaw = group.iter().find_map(|row| row.ours.flaw.clone());
    let revisions = group.iter().flat_map(|row| row.ours.revisions.clone()).collect();
    let first = group.into_iter().next()?;
    let mut all = first.ours.measured.more;
    all.extend(more.as_object().cloned().unwrap_or_default());
    let relative_gap = gaps.last().copied();
    let rest = Measured { more: all, ..first.ours.measured };
    let measured = Measured { iterations, rows_computed, accuracy, relative_gap, train_seconds, ..rest };
    Some(Row { ours: Figures { seconds, measured, flaw, revisions, ..first.ours }, ..first })
}
