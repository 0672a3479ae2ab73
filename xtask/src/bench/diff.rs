//! `cargo xtask bench-diff A B`: two files of raw lines side by side.

use super::means::median;
use super::record::Record;
use crate::failure::{Outcome, fail};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Raw lines of the older run
    before: PathBuf,
    /// Raw lines of the newer run
    after: PathBuf,
}

/// What is compared of one cell.
#[derive(Clone, Debug, PartialEq)]
struct Summary {
    seconds: f64,
    iterations: Option<u64>,
    objective: Option<f64>,
    flaw: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let (before, after) = (summaries(&Record::read(&arguments.before)?), summaries(&Record::read(&arguments.after)?));
    let (lines, losses) = compare(&before, &after);
    println!("{}", lines.join("\n"));
    if losses.is_empty() { Ok(()) } else { fail(format!("lost:\n  {}", losses.join("\n  "))) }
}

/// The newest run of every cell in the file.
fn summaries(records: &[Record]) -> BTreeMap<String, Summary> {
    let key = |r: &Record| format!("{} | table {} {} {} {}", r.program, r.table, r.problem, r.vary, r.variant);
    let mut runs: BTreeMap<String, u64> = BTreeMap::new();
    for record in records {
        let newest = runs.entry(key(record)).or_default();
        *newest = record.run.max(*newest);
    }
    let newest = |name: &str, run: u64| records.iter().filter(|r| r.run == run && key(r) == name).collect::<Vec<_>>();
    runs.iter().map(|(name, run)| (name.clone(), summary(&newest(name, *run)))).collect()
}

fn summary(records: &[&Record]) -> Summary {
    let mut seconds: Vec<f64> = records.iter().map(|record| record.wall_seconds).collect();
    let measured = records.last().and_then(|record| record.measured.clone()).unwrap_or_default();
    let ours = |record: &&Record| record.program == super::run::OURS;
    let flaw = records.iter().find_map(|record| if ours(record) { record.flaw() } else { record.error.clone() });
    Summary { seconds: median(&mut seconds), iterations: measured.iterations, objective: measured.objective, flaw }
}

/// Lines for a person, and the cells that were good before and are not now.
fn compare(before: &BTreeMap<String, Summary>, after: &BTreeMap<String, Summary>) -> (Vec<String>, Vec<String>) {
    let mut lines =
        vec![format!("{:>9} {:>9} {:>6}  {:>22}  {:>9}  cell", "before s", "after s", "ratio", "iterations", "objective")];
    let mut losses = Vec::new();
    for (name, old) in before {
        let Some(new) = after.get(name) else {
            lines.push(format!("{:>9.3} {:>9} {:>6}  {:>22}  {:>9}  {name}", old.seconds, "-", "-", "-", "-"));
            continue;
        };
        let count = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let iterations = if old.iterations == new.iterations {
            count(new.iterations)
        } else {
            format!("{} -> {}", count(old.iterations), count(new.iterations))
        };
        let change = old.objective.zip(new.objective).map_or_else(
            || "-".to_owned(),
            |(a, b)| if a == b { "same".to_owned() } else { format!("{:+.1e}", (b - a) / a.abs().max(f64::MIN_POSITIVE)) },
        );
        let ratio = new.seconds / old.seconds;
        lines.push(format!("{:>9.3} {:>9.3} {ratio:>6.2}  {iterations:>22}  {change:>9}  {name}", old.seconds, new.seconds));
        if let (None, Some(flaw)) = (&old.flaw, &new.flaw) {
            losses.push(format!("{name}: {flaw}"));
        }
    }
    lines.extend(after.keys().filter(|name| !before.contains_key(*name)).map(|name| format!("new: {name}")));
    (lines, losses)
}

#[cfg(test)]
mod tests {
    use super::{Summary, compare};
    use std::collections::BTreeMap;

    #[test]
    fn differences_and_losses() {
        let one = |seconds, iterations, flaw: Option<&str>| {
            let summary = Summary { seconds, iterations: Some(iterations), objective: Some(-2.0), flaw: flaw.map(str::to_owned) };
            BTreeMap::from([("cell".to_owned(), summary)])
        };
        let (lines, losses) = compare(&one(2.0, 100, None), &one(1.0, 90, None));
        assert!(lines[1].contains("0.50") && lines[1].contains("100 -> 90") && lines[1].contains("same"), "{}", lines[1]);
        assert!(losses.is_empty());
        let (_, losses) = compare(&one(2.0, 100, None), &one(1.0, 90, Some("KKT")));
        assert_eq!(losses, ["cell: KKT"]);
        let (lines, _) = compare(&BTreeMap::new(), &one(1.0, 1, None));
        assert_eq!(lines[1], "new: cell");
    }
}
