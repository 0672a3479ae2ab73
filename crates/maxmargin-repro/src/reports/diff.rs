//! `cargo xtask bench-diff A B`: two files of raw lines side by side.

use crate::cells::record::Record;
use crate::cells::row::Figures;
use crate::numbers::groups::grouped;
use crate::tables::rows::figures;
use crate::workspace::failure::{Outcome, fail};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options of `cargo xtask bench-diff`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Raw lines of the older run
    before: PathBuf,
    /// Raw lines of the newer run
    after: PathBuf,
}

/// Runs `cargo xtask bench-diff`.
///
/// # Errors
///
/// When a measurement fails or a file cannot be read or written.
pub fn run(arguments: &Arguments) -> Outcome<()> {
    let (before, after) = (summaries(&Record::read(&arguments.before)?), summaries(&Record::read(&arguments.after)?));
    let (lines, losses) = compare(&before, &after);
    println!("{}", lines.join("\n"));
    if losses.is_empty() { Ok(()) } else { fail(format!("lost:\n  {}", losses.join("\n  "))) }
}

/// The newest run of every cell in the file.
fn summaries(records: &[Record]) -> BTreeMap<String, Figures> {
    let key = |r: &Record| format!("{} | table {} {} {} {}", r.program, r.table, r.problem, r.vary, r.variant);
    let cells = grouped(records.iter().cloned(), key).into_iter();
    cells.filter_map(|cell| Some((key(&cell[0]), figures(&cell, |_| true)?))).collect()
}

/// Lines for a person, and the cells that were good before and are not now.
fn compare(before: &BTreeMap<String, Figures>, after: &BTreeMap<String, Figures>) -> (Vec<String>, Vec<String>) {
    let mut lines =
        vec![format!("{:>9} {:>9} {:>6}  {:>22}  {:>9}  cell", "before s", "after s", "ratio", "iterations", "objective")];
    let mut losses = Vec::new();
    for (name, old) in before {
        let Some(new) = after.get(name) else {
            lines.push(format!("{:>9.3} {:>9} {:>6}  {:>22}  {:>9}  {name}", old.seconds, "-", "-", "-", "-"));
            continue;
        };
        let count = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let iterations = if old.measured.iterations == new.measured.iterations {
            count(new.measured.iterations)
        } else {
            format!("{} -> {}", count(old.measured.iterations), count(new.measured.iterations))
        };
        let change = old.measured.objective.zip(new.measured.objective).map_or_else(
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
    use super::compare;
    use crate::cells::record::Measured;
    use crate::cells::row::Figures;
    use std::collections::BTreeMap;

    #[test]
    fn differences_and_losses() {
        let one = |seconds, iterations, flaw: Option<&str>| {
            let measured = Measured { iterations: Some(iterations), objective: Some(-2.0), ..Measured::default() };
            let figures = Figures { seconds, measured, flaw: flaw.map(str::to_owned), ..Figures::default() };
            BTreeMap::from([("cell".to_owned(), figures)])
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
