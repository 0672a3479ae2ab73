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
        let plot = format!("{name}-table{}.svg", table.number);
        plot::draw(&target.with_file_name(&plot), &rows, &format!("{}: iterations relative to a cold start", table.title))?;
        let _ = writeln!(text, "![Iterations relative to a cold start]({plot})\n");
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

fn markdown(rows: &[Row], peer: &str) -> String {
    let mut text = format!(
        "| data | setting | variant | paper, s | here, s | {peer} here, s | {peer} / here | paper, iterations | here | here / paper | \
         {peer} here | paper, accuracy | here | kernel rows | worst KKT |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for row in rows {
        let (ours, peer) = (counted(&row.ours), row.peer.as_ref().and_then(counted));
        let iterations = ours.and_then(|o| o.measured.iterations);
        let cells = [
            row.cell.problem.clone(),
            row.cell.vary.clone(),
            row.cell.variant.clone(),
            show(row.printed.seconds, seconds),
            show(ours.map(|o| o.seconds), seconds),
            show(peer.map(|p| p.seconds), seconds),
            show(ours.zip(peer).map(|(o, p)| p.seconds / o.seconds), |x| format!("{x:.1}")),
            show(row.printed.iterations, |x| group(x as u64)),
            show(iterations, group),
            show(iterations.zip(row.printed.iterations).map(|(o, p)| o as f64 / p), |x| format!("{x:.3}")),
            show(peer.and_then(|p| p.measured.iterations), group),
            show(row.printed.accuracy, |x| format!("{x:.2}")),
            show(ours.and_then(|o| o.measured.accuracy), |x| format!("{x:.2}")),
            show(ours.and_then(|o| o.measured.rows_computed), group),
            row.ours.flaw.clone().unwrap_or_else(|| show(row.ours.measured.kkt, |x| format!("{x:.1e}"))).replace('|', "/"),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
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
             Iterations and kernel rows are sums over the folds. A row without figures here did not meet its certificate.\n\n";
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
    value.map_or_else(|| "–".to_owned(), how)
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
