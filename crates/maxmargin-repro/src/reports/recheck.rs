//! `cargo xtask bench --recheck N`: random cells of the reports, measured again by their printed
//! commands, and their counts compared with those of the reports.

use crate::cells::counts::differences;
use crate::cells::machine::HostMachine;
use crate::cells::record::{Measured, OURS, Record};
use crate::cells::row::Row;
use crate::run::arguments::Arguments;
use crate::run::measure::{bench_binary, single};
use crate::specs::spec::Spec;
use crate::tables::commands::{command, words};
use crate::tables::rows::{newest, rows};
use crate::workspace::failure::{Context, Outcome, fail};
use clap::{Args, FromArgMatches};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A cell that a report shows, with the line of it.
struct Candidate<'a> {
    spec: &'a Spec,
    row: Row,
    line: &'a Record,
}

/// Measures `count` random cells of these reports again. Prints each difference of counts.
///
/// # Errors
///
/// If counts differ, or if nothing can be measured.
pub(crate) fn recheck(papers: &[(Spec, Vec<Record>)], arguments: &Arguments, count: usize) -> Outcome<()> {
    let seed = arguments.seed.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()));
    let mut candidates = Vec::new();
    for (spec, records) in papers {
        candidates.extend(candidates_of(spec, records, arguments)?);
    }
    shuffle(&mut candidates, seed);
    let all = candidates.len();
    println!("seed {seed}: {} of {all} cells that took at most {} s\n", count.min(all), arguments.limit);
    let bench = bench_binary(arguments)?;
    let machine = HostMachine::here();
    let mut results = Vec::new();
    for candidate in &candidates {
        if results.len() == count {
            break;
        }
        let Some(now) = candidate.measure(arguments, &machine, &bench)? else { continue };
        let comparison = Comparison::of(candidate.line, &now);
        let Record { wall_seconds, machine, .. } = candidate.line;
        let printed = command(candidate.spec, &candidate.row, &candidate.row.cell.shown);
        println!("[{}/{}] {printed}", results.len() + 1, count.min(all));
        println!("    line of {}, {wall_seconds:.1} s: {}", machine.revision, comparison.text());
        results.push(comparison);
    }
    summary(&results)
}

/// Prints the number of cells with other counts as the last line, and fails where there are some.
fn summary(results: &[Comparison]) -> Outcome<()> {
    let of = |kind: fn(&Comparison) -> bool| results.iter().filter(|result| kind(result)).count();
    let other = of(|result| matches!(result, Comparison::Differs(_)));
    let cut = of(|result| matches!(result, Comparison::CutOff));
    let cut = if cut == 0 { String::new() } else { format!(", {cut} cut off by their limit of time") };
    println!("{} cells, {other} with other counts{cut}", results.len());
    match (results.len(), other) {
        (0, _) => fail("no cell was measured: no file of their data, or none that took so few seconds (--limit)"),
        (_, 0) => Ok(()),
        _ => fail("the reports show other counts than the program has: measure these cells anew, by the commands above"),
    }
}

/// Returns the cells of a report that can be measured again and took at most the seconds of the
/// arguments.
///
/// Left out are lines that another program trained, that show no figures, and that a limit of time
/// ended: their counts depend on the clock.
fn candidates_of<'a>(spec: &'a Spec, records: &'a [Record], arguments: &Arguments) -> Outcome<Vec<Candidate<'a>>> {
    let named = spec.named(&arguments.table, &arguments.figure, arguments.statistics)?;
    let tables: Vec<_> = named.into_iter().filter(|table| table.from.is_empty()).collect();
    if arguments.paper.is_some() {
        arguments.extent().check(&tables)?;
    }
    let mut found = Vec::new();
    for table in tables {
        for row in rows(spec, table, records)? {
            let counted = row.counted().is_some_and(|measured| !measured.cut_off());
            let slow = row.ours.seconds > arguments.limit;
            if !counted || slow || spec.program_of(&row.cell).is_some() || !arguments.extent().names(&row.cell) {
                continue;
            }
            let lines = newest(records, |record| record.program == OURS && record.is_of(&row.cell));
            let line = lines.last().filter(|line| !line.is_of_other_program());
            found.extend(line.map(|line| Candidate { spec, row, line }));
        }
    }
    Ok(found)
}

/// Sorts by a hash of the seed and the name: the same draw whatever other cells there are.
fn shuffle(candidates: &mut [Candidate], seed: u64) {
    candidates.sort_by_cached_key(|candidate| {
        Sha256::digest(format!("{seed} {} {}", candidate.spec.name, candidate.row.cell.name())).to_vec()
    });
}

impl Candidate<'_> {
    /// Measures the cell as its printed command would, with more time. Returns none where a file is
    /// missing.
    fn measure(&self, arguments: &Arguments, machine: &HostMachine, bench: &Path) -> Outcome<Option<Record>> {
        let words = words(self.spec, &self.row, &self.row.cell.shown);
        let matches = Arguments::augment_args(clap::Command::new("bench")).try_get_matches_from(words).context("command")?;
        let printed = Arguments::from_arg_matches(&matches).context("command")?;
        // Other programs on the same file do not matter here.
        let printed = Arguments { data: arguments.data.clone(), peers: false, ..printed };
        single(self.spec, &printed, machine, bench, &self.row.cell)
    }
}

/// A line of a report and the cell as it is measured today.
#[derive(Debug, PartialEq, Eq)]
enum Comparison {
    Same,
    /// The limit of time ended the measurement of today.
    CutOff,
    Differs(Vec<String>),
}

impl Comparison {
    fn of(line: &Record, now: &Record) -> Self {
        if now.measured.as_ref().is_some_and(Measured::cut_off) {
            return Self::CutOff;
        }
        let mut lines = Vec::new();
        if line.settings != now.settings {
            let changed = now.settings.iter().filter(|(key, value)| line.settings.get(*key) != Some(value));
            lines.extend(changed.map(|(key, value)| format!("setting {key}: {value} today")));
            let gone = line.settings.keys().filter(|key| !now.settings.contains_key(*key));
            lines.extend(gone.map(|key| format!("setting {key}: none today")));
        }
        if line.data_sha256 != now.data_sha256 {
            lines.push("data: another file".into());
        }
        lines.extend(now.flaw().map(|flaw| format!("does not count: {flaw}")));
        if let (Some(before), Some(now)) = (&line.measured, &now.measured) {
            lines.extend(differences(before, now));
        }
        if lines.is_empty() { Self::Same } else { Self::Differs(lines) }
    }

    fn text(&self) -> String {
        match self {
            Self::Same => "the same counts".into(),
            Self::CutOff => "cut off by its limit of time, nothing to compare".into(),
            Self::Differs(lines) => format!("other counts\n        {}", lines.join("\n        ")),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Comparison, recheck};
    use crate::cells::record::Record;
    use crate::run::arguments::Arguments;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use clap::{Args, FromArgMatches};
    use serde_json::{Value, json};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn spec() -> Spec {
        let variants = r#"variant = [{ name = "cold" }, { name = "sir", set = { seeding = "sir" } }]"#;
        let table = format!("vary = [{{ k = 3 }}, {{ k = 5 }}]\n{variants}");
        Spec::made("data = \"two-gaussians\"\nset = { rows = 100 }", &table)
    }

    fn figures(iterations: u64) -> Value {
        json!({ "iterations": iterations, "kkt": 9e-4, "objective": -2.5, "status": "Converged" })
    }

    /// Writes a raw file with a line for every cell, and a program that always counts 100
    /// iterations. Returns the result of a recheck of so many cells.
    fn checked(folder: &Path, lines: impl Fn(usize, Record) -> Record, options: &[&str]) -> Result<(), String> {
        let raw = folder.join("made.jsonl");
        fs::write(&raw, "").expect("raw file");
        for (n, cell) in cells(&spec(), &spec().tables[0], Extent::default()).iter().enumerate() {
            lines(n, Record::made(cell, "a1", &figures(100))).append(&raw).expect("line");
        }
        let program = folder.join("bench");
        fs::write(&program, format!("#!/bin/sh\ncat >> {}/requests\necho '{}'\n", folder.display(), figures(100)))
            .expect("script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
        let program = program.display().to_string();
        let words = ["bench", "--bench-bin", &program].into_iter().chain(options.iter().copied());
        let matches = Arguments::augment_args(clap::Command::new("bench")).try_get_matches_from(words).expect("options");
        let arguments = Arguments::from_arg_matches(&matches).expect("options");
        let papers = [(spec(), Record::read(&raw).expect("raw file"))];
        recheck(&papers, &arguments, arguments.recheck.expect("--recheck")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn cells_of_a_raw_file_are_measured_again() {
        let folder = tempfile::tempdir().expect("folder");
        let of = |lines: &dyn Fn(usize, Record) -> Record, options: &[&str]| checked(folder.path(), lines, options);
        let same = |_: usize, line: Record| line;
        let requests = || fs::read_to_string(folder.path().join("requests")).unwrap_or_default().matches("\"job\"").count();
        of(&same, &["--recheck", "3", "--seed", "7"]).expect("the same counts");
        assert_eq!(requests(), 3);
        of(&same, &["--recheck", "9", "--variant", "sir"]).expect("the same counts");
        assert_eq!(requests(), 5, "two cells have the variant");
        // One of four lines has other counts: all four find it.
        let other = |n: usize, line: Record| {
            let measured = serde_json::from_value(figures(if n == 2 { 99 } else { 100 })).expect("figures");
            Record { measured: Some(measured), ..line }
        };
        assert!(of(&other, &["--recheck", "4"]).expect_err("other counts").contains("other counts"));
        // It is not drawn where it took too long, failed, or ended at its limit of time.
        let slow = |n: usize, line: Record| Record { wall_seconds: if n == 2 { 31.0 } else { 30.0 }, ..other(n, line) };
        of(&slow, &["--recheck", "4"]).expect("three cells");
        assert!(of(&slow, &["--recheck", "4", "--limit", "31"]).is_err());
        let failed = |n: usize, line: Record| Record { error: (n == 2).then(|| "killed".into()), ..other(n, line) };
        of(&failed, &["--recheck", "4"]).expect("three cells");
        let theirs = |n: usize, mut line: Record| {
            line.settings.extend((n == 2).then(|| ("method".to_owned(), json!("svm-train"))));
            other(n, line)
        };
        of(&theirs, &["--recheck", "4"]).expect("three cells");
        assert!(of(&same, &["--recheck", "4", "--limit", "0.5"]).expect_err("nothing to measure").contains("--limit"));
    }

    #[test]
    fn settings_and_limits_of_time() {
        let cell = cells(&spec(), &spec().tables[0], Extent::default()).remove(0);
        let line = Record::made(&cell, "a1", &figures(100));
        let mut other = line.clone();
        assert_eq!(Comparison::of(&line, &other), Comparison::Same);
        other.settings.insert("tol".into(), json!(0.1));
        other.settings.remove("rows");
        assert_eq!(
            Comparison::of(&line, &other),
            Comparison::Differs(vec!["setting tol: 0.1 today".into(), "setting rows: none today".into()])
        );
        let mut cut = figures(50);
        cut["status"] = json!("TimeLimit");
        assert_eq!(Comparison::of(&line, &Record::made(&cell, "a1", &cut)), Comparison::CutOff);
        let failed = Record { error: Some("killed".into()), measured: None, ..line.clone() };
        assert_eq!(Comparison::of(&line, &failed), Comparison::Differs(vec!["does not count: killed".into()]));
    }
}
