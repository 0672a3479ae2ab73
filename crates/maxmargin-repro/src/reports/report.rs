//! The report of a paper: tables in Markdown, one plot for each table, and the circumstances. It is
//! never written by hand.

use crate::cells::record::{Measured, Record};
use crate::cells::row::Row;
use crate::cells::settings::label;
use crate::claims::claim::{Evidence, PAPERS};
use crate::claims::page::brief;
use crate::columns::markdown::{among, markdown};
use crate::pictures::{bars, lines, overview};
use crate::specs::spec::Spec;
use crate::specs::table::Table;
use crate::tables::rows::measured;
use crate::tables::{choice, commands, significance};
use crate::workspace::failure::{Context, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Renders the records to `target` and its plots beside it. Returns the text.
pub(crate) fn render(spec: &Spec, records: &[Record], target: &Path) -> Outcome<String> {
    let name = target.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
    let mut text =
        format!("# {}\n\n<!-- Written by `cargo xtask bench {} --render`. Do not edit. -->\n\n", spec.title, spec.name);
    text += &first_page(spec, records)?;
    let (mut leads, mut tables, mut figures) = (String::new(), String::new(), String::new());
    if let Some(group) = overview::group(spec, records)? {
        let file = format!("{name}-overview.svg");
        let picture = target.with_file_name(&file);
        fs::write(&picture, overview::picture(&[group]).document()).context(picture.display())?;
        let _ = write!(leads, "![Seconds of LIBSVM and of maxmargin on the same files]({file})\n\n");
    }
    for table in &spec.tables {
        let rows = rows_of(spec, table, records)?;
        if rows.is_empty() {
            continue;
        }
        let picture = picture(&name, table, &rows, target)?;
        match (table.lead, table.is_figure()) {
            (true, _) if picture.is_empty() => {}
            (true, _) => leads.extend(["*", &table.heading(), "*\n\n", &picture]),
            (false, true) => figures.extend(["### ", &table.heading(), "\n\n", &picture]),
            (false, false) => {}
        }
        if !table.is_figure() {
            tables += &section(spec, table, &rows);
            tables += if table.lead { "" } else { &picture };
        }
    }
    text += &leads;
    text += &tables;
    text += &statistics(spec, records)?;
    if !figures.is_empty() {
        text += &folded("More figures", &figures);
    }
    text += "## How it was measured\n\n";
    if has_claims(spec) {
        text += &remarks(spec);
    }
    text += &notes(spec, records);
    text += &circumstances(records);
    fs::write(target, &text).context(target.display())?;
    Ok(text)
}

fn has_claims(spec: &Spec) -> bool {
    PAPERS.contains(&spec.name.as_str())
}

fn remarks(spec: &Spec) -> String {
    spec.remarks.iter().flat_map(|remark| [remark.as_str(), "\n\n"]).collect()
}

/// Returns the introduction: the claims of the paper and their verdicts where there is a paper, and
/// otherwise the spec's remarks.
fn first_page(spec: &Spec, records: &[Record]) -> Outcome<String> {
    if !has_claims(spec) {
        return Ok(remarks(spec));
    }
    let evidence = Evidence::of(&spec.name, records.to_vec())?;
    let list = brief(&evidence)?;
    Ok(format!("What the paper claims, and whether it holds here ([all papers](README.md), with the rules):\n\n{list}\n"))
}

/// Returns a table: its visible part, the folded rest, and the command of each row.
fn section(spec: &Spec, table: &Table, rows: &[Row]) -> String {
    let mut text = format!("## {}\n\n{}\n\n", table.heading(), revisions(rows));
    if let Some(brief) = &table.brief {
        let shown: Vec<Row> = rows.iter().filter(|row| row.counted().is_some() && brief.shows(&row.cell)).cloned().collect();
        if !shown.is_empty() {
            text += &among(table.peer_names(), &brief.columns, &shown, rows);
            text += "\n";
        }
    }
    let used = |problem: &str| spec.problem(problem).ok()?.set.get("c").and_then(serde_json::Value::as_f64);
    let all =
        if table.choice { choice::markdown(rows, used) } else { markdown(table.peer_names(), spec.columns_of(table), rows) };
    text += &folded(if table.choice { "What every value gave" } else { "All columns of all rows" }, &format!("{all}\n"));
    text + &commands::list(spec, table, rows)
}

/// The revisions in a line of a report.
const REVISIONS: usize = 4;

/// Returns the revisions that the rows were measured at, the oldest first.
fn revisions(rows: &[Row]) -> String {
    let runs: BTreeMap<u64, &String> = rows.iter().flat_map(|row| &row.ours.revisions).map(|(run, name)| (*run, name)).collect();
    let mut names: Vec<String> = Vec::new();
    for name in runs.values().map(|name| format!("`{name}`")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lines: Vec<String> = names.chunks(REVISIONS).map(|names| names.join(", ")).collect();
    format!("Measured at {}{}.", if names.len() > 1 { "revisions " } else { "revision " }, lines.join(",\n"))
}

/// Returns a part that the reader unfolds.
fn folded(summary: &str, text: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n{text}</details>\n\n")
}

/// Returns the section on the spec's statistics, where it has some and their table was measured.
pub(crate) fn statistics(spec: &Spec, records: &[Record]) -> Outcome<String> {
    let Some(statistics) = &spec.statistics else { return Ok(String::new()) };
    let tested = spec.tables.iter().find(|table| table.number == statistics.table && table.from.is_empty());
    let rows = tested.map_or_else(|| Ok(Vec::new()), |table| measured(spec, table, records))?;
    if rows.is_empty() { Ok(String::new()) } else { significance::section(statistics, &rows) }
}

/// Returns the rows of a table, or of all tables that it shows, for its own problems if it names
/// some.
fn rows_of(spec: &Spec, table: &Table, records: &[Record]) -> Outcome<Vec<Row>> {
    if table.from.is_empty() {
        return measured(spec, table, records);
    }
    let mut all = Vec::new();
    for drawn in spec.tables.iter().filter(|drawn| table.from.contains(&drawn.number) && drawn.from.is_empty()) {
        all.extend(measured(spec, drawn, records)?);
    }
    all.retain(|row| table.problems.is_empty() || table.problems.contains(&row.cell.problem));
    Ok(all)
}

/// Draws the table's plot beside the report. Returns the line that shows it.
fn picture(name: &str, table: &Table, rows: &[Row], target: &Path) -> Outcome<String> {
    let kind = if table.from.is_empty() { "table" } else { "figure" };
    let part = table.part.as_ref().map_or(String::new(), |part| format!("-{part}"));
    let file = format!("{name}-{kind}{}{part}.svg", table.number);
    let place = target.with_file_name(&file);
    let alternative = match &table.plot {
        Some(plot) => {
            lines::draw(&place, table, plot, rows)?;
            lines::caption(plot)
        }
        None if table.bars => {
            bars::draw(&place, rows, &format!("{}: iterations of each start", table.title))?;
            "Iterations relative to the first variant".to_owned()
        }
        None => return Ok(String::new()),
    };
    Ok(format!("![{alternative}]({file})\n\n"))
}

fn notes(spec: &Spec, records: &[Record]) -> String {
    let measured = |name: &str| records.iter().any(|record| record.problem == name);
    let mut text = String::from("### The data\n\n");
    for problem in spec.problems.iter().filter(|problem| measured(&problem.name)) {
        let note = problem.note.as_deref().map_or(String::new(), |note| format!("; {note}"));
        let hash =
            records.iter().filter(|record| record.problem == problem.name).find_map(|record| record.data_sha256.as_deref());
        let hash = hash.map_or(String::new(), |hash| format!(" (sha256 {}…)", &hash[..12.min(hash.len())]));
        let set = label(&problem.set);
        let set = if set.is_empty() { set } else { format!(", {set}") };
        let _ = writeln!(text, "- {}: `{}`{hash}{set}{note}.", problem.name, problem.data);
    }
    text
}

fn circumstances(records: &[Record]) -> String {
    let machines: BTreeSet<_> = records.iter().map(|record| &record.machine).collect();
    let mut text = String::from("\n### Circumstances\n\n");
    let any = |of: fn(&Measured) -> Option<f64>| records.iter().any(|record| record.measured.as_ref().and_then(of).is_some());
    if records.iter().any(|record| record.settings.contains_key("bound")) {
        text += "Seconds are processor time of the trainings alone (wall-clock time where the system does not tell), from the first kernel value to the\n\
                 solution: reading files, judging and testing are not in them. The raw lines stand beside this report; `cargo xtask bench` made them and it.\n\n";
    } else if any(|measured| measured.process_seconds) {
        text += "Seconds are wall-clock time, the median over the repeats; the judgement of the results is not in them. The raw lines stand\n\
                 beside this report; `cargo xtask bench` made them and it.\n\n";
    } else {
        text += "Seconds are wall-clock time of whole processes, reading the file and judging the result included; the median over the repeats.\n\
                 Iterations are sums over the folds, and a model of all data is counted apart. A row without figures here did not meet its\n\
                 certificate. The raw lines stand beside this report; `cargo xtask bench` made them and it.\n\n";
    }
    if any(|measured| measured.update_seconds) {
        text += "Milliseconds of an update are those of the update alone, not of the process: the median of all updates of a row. Counts are\n\
                 means over the updates.\n\n";
    }
    for machine in machines {
        let _ = writeln!(
            text,
            "- {}, {} cores, {} GiB, {}; {}; revision {}",
            machine.cpu, machine.cores, machine.memory_gib, machine.os, machine.rustc, machine.revision
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Record, Spec, render};
    use crate::workspace::tools::root;
    use std::fs;

    /// Committed reports and pictures are those of the committed raw lines.
    #[test]
    fn reports_are_those_of_their_raw_lines() {
        let folder = root().join("docs/reproduction");
        let scratch = tempfile::tempdir().expect("folder");
        let mut reports = 0;
        for entry in fs::read_dir(folder.join("raw")).expect("raw lines") {
            let raw = entry.expect("entry").path();
            let paper = raw.file_stem().expect("name").to_string_lossy().into_owned();
            let records = Record::read(&raw).expect("records");
            let text = render(&Spec::load(&paper).expect("spec"), &records, &scratch.path().join(format!("{paper}.md")));
            let committed = fs::read_to_string(folder.join(format!("{paper}.md"))).expect("report");
            // Not compared by a macro, which would print both.
            assert!(text.expect("report") == committed, "run: cargo xtask bench {paper} --render");
            reports += 1;
        }
        let pictures = fs::read_dir(scratch.path()).expect("scratch").map(|entry| entry.expect("entry").path());
        for drawn in pictures.filter(|path| path.extension().is_some_and(|ending| ending == "svg")) {
            let name = drawn.file_name().expect("name");
            let committed = fs::read(folder.join(name)).unwrap_or_default();
            assert!(fs::read(&drawn).expect("picture") == committed, "{}: run: cargo xtask bench --render", name.display());
        }
        assert!(reports > 0);
    }
}
