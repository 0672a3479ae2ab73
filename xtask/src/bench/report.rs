//! The report: Markdown tables, one plot per table, and the circumstances. Written by this module only, never by hand.

use super::plot;
use super::record::Record;
use super::spec::Spec;
use super::table::{Figures, Row, rows};
use crate::failure::{Context, Outcome};
use crate::tools::root;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Renders the records to `target` and its plots beside it. Returns the text.
pub(crate) fn render(spec: &Spec, records: &[Record], target: &Path) -> Outcome<String> {
    let name = target.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
    let mut text = format!("# {}\n\n<!-- Written by `cargo xtask bench {name} --render`. Do not edit. -->\n\n", spec.title);
    for remark in &spec.remarks {
        let _ = writeln!(text, "{remark}\n");
    }
    for table in &spec.tables {
        let rows = rows(spec, table, records)?;
        if rows.is_empty() {
            continue;
        }
        let peer = table.peers.first().map_or("peer", |peer| peer.name.as_str());
        let _ = write!(text, "## Table {}: {}\n\n{}\n", table.number, table.title, markdown(&rows, peer));
        if table.variants.len() < 2 {
            continue;
        }
        let plot = format!("{name}-table{}.svg", table.number);
        plot::draw(&target.with_file_name(&plot), &rows, &format!("{}: iterations relative to the first variant", table.title))?;
        let _ = writeln!(text, "![Iterations relative to the first variant]({plot})\n");
    }
    text += &notes(spec, records);
    text += &circumstances(records);
    fs::write(target, &text).context(target.display())?;
    splice_readme(target, spec, records)?;
    Ok(text)
}

/// The README repeats one table between markers, so that nobody types it.
fn splice_readme(target: &Path, spec: &Spec, records: &[Record]) -> Outcome<()> {
    let readme = root().join("README.md");
    if target.parent() != Some(&root().join("docs/reproduction")) {
        return Ok(());
    }
    let text = fs::read_to_string(&readme).context(readme.display())?;
    let stem = target.file_stem().unwrap_or_default().to_string_lossy();
    for table in &spec.tables {
        let open = format!("<!-- {stem} table {} -->\n", table.number);
        let Some((before, rest)) = text.split_once(&open) else { continue };
        let Some((_, after)) = rest.split_once("<!-- end -->") else { continue };
        let peer = table.peers.first().map_or("peer", |peer| peer.name.as_str());
        let table = brief(&rows(spec, table, records)?, peer);
        let lead = "## Measured\n\nSeconds of whole processes, iterations summed over the folds;";
        let link = format!("[docs/reproduction/{stem}.md](docs/reproduction/{stem}.md) has the rest and the machine.");
        let new = format!("{before}{open}{lead} {link}\n\n{table}<!-- end -->{after}");
        return fs::write(&readme, new).context(readme.display());
    }
    Ok(())
}

/// A column of a table: its heading, and what it shows of a row.
type Column<'a> = (String, Box<dyn Fn(&Row) -> String + 'a>);

/// Columns in which no row has anything are left out.
fn markdown(rows: &[Row], peer: &str) -> String {
    let columns = columns(peer);
    let cells: Vec<Vec<String>> = rows.iter().map(|row| columns.iter().map(|column| column.1(row)).collect()).collect();
    let used: Vec<usize> = (0..columns.len()).filter(|&c| cells.iter().any(|row| row[c] != NOTHING)).collect();
    let line = |of: &dyn Fn(usize) -> String| format!("| {} |\n", used.iter().map(|&c| of(c)).collect::<Vec<_>>().join(" | "));
    let head = line(&|c| columns[c].0.clone()) + &line(&|c| if c < LEFT { "---" } else { "--:" }.to_owned());
    cells.iter().fold(head, |text, row| text + &line(&|c| row[c].clone()))
}

/// The first columns are words, the others numbers.
const LEFT: usize = 3;

/// What stands where there is no figure.
const NOTHING: &str = "–";

fn columns(peer: &str) -> Vec<Column<'_>> {
    let ours = |row: &Row| counted(&row.ours).map(|figures| figures.seconds);
    let theirs = |row: &Row| row.peer.as_ref().and_then(counted).map(|figures| figures.seconds);
    let iterations = |row: &Row| counted(&row.ours)?.measured.iterations;
    let column = |heading: &str, show: Box<dyn Fn(&Row) -> String>| (heading.to_owned(), show);
    vec![
        column("data", Box::new(|row| row.cell.problem.clone())),
        column("setting", Box::new(|row| row.cell.vary.clone())),
        column("variant", Box::new(|row| row.cell.variant.clone())),
        column("paper, s", Box::new(|row| show(row.printed.seconds, seconds))),
        column("here, s", Box::new(move |row| show(ours(row), seconds))),
        column(&format!("{peer} here, s"), Box::new(move |row| show(theirs(row), seconds))),
        column(
            &format!("{peer} / here"),
            Box::new(move |row| show(ours(row).zip(theirs(row)), |(o, p)| format!("{:.1}", p / o))),
        ),
        column("paper, iterations", Box::new(|row| show(row.printed.iterations, |x| group(x as u64)))),
        column("here", Box::new(move |row| show(iterations(row), group))),
        column(
            "here / paper",
            Box::new(move |row| show(iterations(row).zip(row.printed.iterations), |(o, p)| format!("{:.3}", o as f64 / p))),
        ),
        column("model of all data", Box::new(|row| show(counted(&row.ours).and_then(|o| o.measured.full_iterations), group))),
        column(
            &format!("{peer} here"),
            Box::new(|row| show(row.peer.as_ref().and_then(counted).and_then(|p| p.measured.iterations), group)),
        ),
        column("paper, accuracy", Box::new(|row| show(row.printed.accuracy, |x| format!("{x:.2}")))),
        column("here", Box::new(|row| show(counted(&row.ours).and_then(|o| o.measured.accuracy), |x| format!("{x:.2}")))),
        column("objective", Box::new(|row| show(objectives(row), |(ours, _)| format!("{ours:.6}")))),
        column(
            &format!("{peer}'s, relative"),
            Box::new(|row| show(objectives(row).and_then(|(o, p)| Some((p? - o) / o.abs())), |x| format!("{x:+.1e}"))),
        ),
        column("kernel rows", Box::new(|row| show(counted(&row.ours).and_then(|o| o.measured.rows_computed), group))),
        column(
            "peak, MiB",
            Box::new(|row| show(counted(&row.ours).and_then(|o| o.measured.peak_rss_bytes), |bytes| group(bytes >> 20))),
        ),
        column("worst KKT", Box::new(verdict)),
    ]
}

/// Objectives of ours and of the peer, where both solved the same problem: folds differ.
fn objectives(row: &Row) -> Option<(f64, Option<f64>)> {
    let setting = |name: &str| row.cell.settings.get(name).and_then(serde_json::Value::as_str);
    let same = setting("job") == Some("train") || setting("folds") == Some(super::run::LIBSVM_FOLDS);
    let ours = counted(&row.ours)?.measured.objective.filter(|_| same)?;
    Some((ours, row.peer.as_ref().and_then(counted).and_then(|p| p.measured.objective)))
}

fn verdict(row: &Row) -> String {
    row.ours.flaw.clone().unwrap_or_else(|| show(row.ours.measured.kkt, |x| format!("{x:.1e}"))).replace('|', "/")
}

/// The columns for a reader in a hurry.
fn brief(rows: &[Row], peer: &str) -> String {
    let mut text = format!(
        "| data | setting | seeds | paper, iterations | here | paper, s | {peer} here, s | here, s | worst KKT |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n"
    );
    for row in rows {
        let Some(ours) = counted(&row.ours) else { continue };
        let cells = [
            row.cell.problem.clone(),
            row.cell.vary.clone(),
            row.cell.variant.clone(),
            show(row.printed.iterations, |x| group(x as u64)),
            show(ours.measured.iterations, group),
            show(row.printed.seconds, seconds),
            show(row.peer.as_ref().and_then(counted).map(|p| p.seconds), seconds),
            seconds(ours.seconds),
            show(ours.measured.kkt, |x| format!("{x:.1e}")),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Only what meets its certificate counts.
fn counted(figures: &Figures) -> Option<&Figures> {
    figures.flaw.is_none().then_some(figures)
}

fn notes(spec: &Spec, records: &[Record]) -> String {
    let measured = |name: &str| records.iter().any(|record| record.problem == name);
    let mut text = String::from("## The data\n\n");
    for problem in spec.problems.iter().filter(|problem| measured(&problem.name)) {
        let note = problem.note.as_deref().map_or(String::new(), |note| format!("; {note}"));
        let hash =
            records.iter().filter(|record| record.problem == problem.name).find_map(|record| record.data_sha256.as_deref());
        let hash = hash.map_or(String::new(), |hash| format!(" (sha256 {}…)", &hash[..12.min(hash.len())]));
        let _ = writeln!(text, "- {}: `{}`{hash}, {}{note}.", problem.name, problem.data, super::cell::label(&problem.set));
    }
    text
}

fn circumstances(records: &[Record]) -> String {
    let machines: BTreeSet<_> = records.iter().map(|record| &record.machine).collect();
    let mut text = String::from("\n## Circumstances\n\n");
    text += "Seconds are wall-clock time of whole processes, reading the file and judging the result included; the median over the repeats.\n\
             Iterations are sums over the folds, and a model of all data is counted apart. A row without figures here did not meet its\n\
             certificate. The raw lines stand beside this report; `cargo xtask bench` made them and it.\n\n";
    for machine in machines {
        let _ = writeln!(
            text,
            "- {}, {} cores, {} GiB, {}; {}; revision {}",
            machine.cpu, machine.cores, machine.memory_gib, machine.os, machine.rustc, machine.revision
        );
    }
    text
}

fn show<T>(value: Option<T>, how: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), how)
}

fn seconds(x: f64) -> String {
    match x {
        x if x < 10.0 => format!("{x:.2}"),
        x if x < 100.0 => format!("{x:.1}"),
        x => group(x.round() as u64),
    }
}

/// `1234567` as `1,234,567`.
fn group(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{group, seconds};

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 1_234_567].map(group), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.004, 9.994, 57.01, 6783.4].map(seconds), ["0.00", "9.99", "57.0", "6,783"]);
    }
}
