//! Conformal predictions in reports.

use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use maxmargin::conformal::ConformalScore;
use maxmargin::cv::{ClassCoverage, ConformalCoverage, ConformalReport, GroupCoverage};
use maxmargin::data::quote::quoted;

/// Characters of a group's name in a line.
const SHOWN: usize = 40;

/// Groups with too few rows that are named one by one.
const WARNED: usize = 5;

/// `cv+ at 0.1: held-out coverage 90.10 %, mean width 1.2; from 10 folds, 1,234 iterations, 0.52 s`
pub(crate) fn conformal_text(report: &ConformalReport) -> String {
    let (iterations, seconds) = (format::count(report.run.iterations), format::seconds(report.run.seconds));
    let run = format!("{} folds, {iterations} iterations, {seconds}", report.run.folds);
    match &report.coverage {
        None => format!("none: {}; from {run}", report.missing.unwrap_or("no fold has a solution")),
        Some(found) => format!("{}; from {run}", coverage_text(found)),
    }
}

/// `cv+ at 0.1: held-out coverage 90.10 %, mean width 1.2`
pub(crate) fn coverage_text(found: &ConformalCoverage) -> String {
    let own = match (found.per_class, found.groups.is_empty()) {
        (false, true) => "",
        (true, true) => ", each class by itself",
        (false, false) => ", each group by itself",
        (true, false) => ", each class in each group by itself",
    };
    let scores = score_text(found.score);
    let least = |a: &&ClassCoverage, b: &&ClassCoverage| a.coverage.total_cmp(&b.coverage);
    let least = found.classes.iter().filter(|class| class.rows > 0).min_by(least);
    let of_class = |class: &ClassCoverage| {
        format!(", least {} of class {}", format::percent(class.coverage), label_names::display(class.label))
    };
    let least_group = found.groups.iter().min_by(|a, b| a.coverage.total_cmp(&b.coverage));
    let of_group =
        |group: &GroupCoverage| format!(", least {} of group {}", format::percent(group.coverage), quoted(&group.group, SHOWN));
    let parts = [
        found.width.map(|width| format!(", mean width {}", format::short(width))),
        found.size.map(|size| format!(", mean size {}", format::short(size))),
        least.map(of_class),
        least_group.map(of_group),
    ];
    let (level, coverage) = (format::short(found.level), format::percent(found.coverage));
    let parts: String = parts.into_iter().flatten().collect();
    format!("{}{scores} at {level}{own}: held-out coverage {coverage}{parts}", found.method)
}

/// ` by aps`, or nothing for plain scores.
pub(crate) fn score_text(score: ConformalScore) -> String {
    if score == ConformalScore::Plain { String::new() } else { format!(" by {score}") }
}

/// Warns of conformal predictions that are missing or promise less than it seems.
pub(crate) fn warn_of_conformal(missing: Option<&str>, found: Option<&ConformalCoverage>, notes: &mut Notes) {
    if let Some(why) = missing {
        notes.warn(format!("the model has no conformal predictions: {why}"));
    }
    let Some(found) = found else { return };
    if let Some(caveat) = found.exchangeable.caveat() {
        notes.warn(caveat);
    }
    warn_of_small_groups(found, notes);
    let is_one_group = found.groups.is_empty();
    if is_one_group && found.classes.is_empty() && found.width.is_none() && found.method != "cross-conformal" {
        notes.warn(format!(
            "{} rows are too few for the level {}: intervals are infinite; use a greater level or more rows",
            found.rows,
            format::short(found.level)
        ));
    }
}

/// Warns of groups whose predictions say nothing at this level.
fn warn_of_small_groups(found: &ConformalCoverage, notes: &mut Notes) {
    let small = || found.groups.iter().filter(|group| !group.has_enough_rows);
    for group in small().take(WARNED) {
        let what = match (found.classes.is_empty(), found.per_class) {
            (true, _) => "its intervals or p-values say nothing",
            (false, false) => "its sets have all classes",
            (false, true) => "classes with too few rows there are in all of its sets",
        };
        notes.warn(format!(
            "group {} has {} rows, too few for the level {}: {what}; use a greater level, more rows, or join groups",
            quoted(&group.group, SHOWN),
            group.rows,
            format::short(found.level),
        ));
    }
    if small().count() > WARNED {
        notes.warn(format!("{} more groups have too few rows for the level", small().count() - WARNED));
    }
    let open: Vec<&GroupCoverage> = found.groups.iter().filter(|of| of.has_enough_rows && !of.is_estimated).collect();
    if !open.is_empty() {
        let names: Vec<String> = open.iter().take(WARNED).map(|of| quoted(&of.group, SHOWN)).collect();
        notes.warn(format!(
            "{} of {} groups ({}{}) have too few rows outside the fold that tests them, so that their held-out coverage says nothing; \
             use folds that divide groups, as by default",
            open.len(),
            found.groups.len(),
            names.join(", "),
            if open.len() > WARNED { ", …" } else { "" },
        ));
    }
}
