//! The report: Markdown tables, one plot per table, and the circumstances. Written by this module only, never by hand.

use super::columns::markdown;
use super::record::{Measured, Record};
use super::spec::{Spec, Table};
use super::table::{Row, measured, rows};
use super::{choice, command, lines, plot};
use crate::failure::{Context, Outcome};
use crate::tools::root;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Renders the records to `target` and its plots beside it. Returns the text.
pub(crate) fn render(spec: &Spec, records: &[Record], target: &Path) -> Outcome<String> {
    let name = target.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
    let mut text =
        format!("# {}\n\n<!-- Written by `cargo xtask bench {} --render`. Do not edit. -->\n\n", spec.title, spec.name);
    for remark in &spec.remarks {
        let _ = writeln!(text, "{remark}\n");
    }
    for table in &spec.tables {
        let rows = rows_of(spec, table, records)?;
        if rows.is_empty() {
            continue;
        }
        let kind = if table.is_figure() { "Figure" } else { "Table" };
        let _ = write!(text, "## {kind} {}: {}\n\n", table.number, table.title);
        if !table.is_figure() {
            let used = |problem: &str| spec.problem(problem).ok()?.set.get("c").and_then(serde_json::Value::as_f64);
            text += &if table.choice { choice::markdown(&rows, used) } else { markdown(table, spec.columns_of(table), &rows) };
            text += "\n";
            text += &command::list(spec, table, &rows);
        }
        text += &picture(&name, table, &rows, target)?;
    }
    text += &statistics(spec, records)?;
    text += &notes(spec, records);
    text += &circumstances(records);
    fs::write(target, &text).context(target.display())?;
    splice_readme(target, spec, records)?;
    Ok(text)
}

/// The section on the spec's statistics, where it has some and their table was measured.
pub(crate) fn statistics(spec: &Spec, records: &[Record]) -> Outcome<String> {
    let Some(statistics) = &spec.statistics else { return Ok(String::new()) };
    let tested = spec.tables.iter().find(|table| table.number == statistics.table && table.from.is_empty());
    let rows = tested.map_or_else(|| Ok(Vec::new()), |table| measured(spec, table, records))?;
    if rows.is_empty() { Ok(String::new()) } else { super::statistics::section(statistics, &rows) }
}

/// The rows of a table, or of all tables that another table or a figure shows, of its own problems if it names some.
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

/// Draws the table's plot beside the report; the line that shows it there.
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
            plot::draw(&place, rows, &format!("{}: iterations relative to the first variant", table.title))?;
            "Iterations relative to the first variant".to_owned()
        }
        None => return Ok(String::new()),
    };
    Ok(format!("![{alternative}]({file})\n\n"))
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
        let Some(brief) = &table.readme else { continue };
        let open = format!("<!-- {stem} table {} -->\n", table.number);
        let Some((before, rest)) = text.split_once(&open) else { continue };
        let Some((_, after)) = rest.split_once("<!-- end -->") else { continue };
        let mut shown = rows(spec, table, records)?;
        shown.retain(|row| row.counted().is_some() && brief.variants.contains(&row.cell.variant));
        let table = markdown(table, &brief.columns, &shown);
        let lead = "## Measured\n\nSeconds of whole processes, iterations summed over the folds;";
        let link = format!("[docs/reproduction/{stem}.md](docs/reproduction/{stem}.md) has the rest and the machine.");
        let new = format!("{before}{open}{lead} {link}\n\n{table}<!-- end -->{after}");
        return fs::write(&readme, new).context(readme.display());
    }
    Ok(())
}

fn notes(spec: &Spec, records: &[Record]) -> String {
    let measured = |name: &str| records.iter().any(|record| record.problem == name);
    let mut text = String::from("## The data\n\n");
    for problem in spec.problems.iter().filter(|problem| measured(&problem.name)) {
        let note = problem.note.as_deref().map_or(String::new(), |note| format!("; {note}"));
        let hash =
            records.iter().filter(|record| record.problem == problem.name).find_map(|record| record.data_sha256.as_deref());
        let hash = hash.map_or(String::new(), |hash| format!(" (sha256 {}…)", &hash[..12.min(hash.len())]));
        let set = super::cell::label(&problem.set);
        let set = if set.is_empty() { set } else { format!(", {set}") };
        let _ = writeln!(text, "- {}: `{}`{hash}{set}{note}.", problem.name, problem.data);
    }
    text
}

fn circumstances(records: &[Record]) -> String {
    let machines: BTreeSet<_> = records.iter().map(|record| &record.machine).collect();
    let mut text = String::from("\n## Circumstances\n\n");
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
    use super::{Record, Spec, render, root};
    use std::fs;

    /// What is under version control is what the raw lines say today.
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
        assert!(reports > 0);
    }
}
