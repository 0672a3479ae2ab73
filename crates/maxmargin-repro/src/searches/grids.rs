//! `cargo xtask grids`: whole searches of C and gamma as processes, beside a loop of `svm-train -v`
//! over some of the same cells, on LIBSVM's own folds.

use super::page::{self, Bench, Page, footnote, text_of};
use crate::cells::machine::HostMachine;
use crate::numbers::format::{seconds, times};
use crate::run::{folds, peer, process};
use crate::specs::problem::Problem;
use crate::workspace::failure::{Context, Outcome, fail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The page of this command.
const PAGE: Page = Page("grids");

/// Folds of every search.
const FOLDS: usize = 5;

/// Values of C times values of γ of the default grid.
pub(crate) const CELLS: usize = 110;

/// The project's goal for the ratio.
const GOAL: f64 = 100.0;

/// Options of `cargo xtask grids`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    common: page::SearchArguments,
    /// LIBSVM computes every N-th cell; the time of all is extrapolated
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    share: u16,
    /// Time limit of a cell of LIBSVM, which counts as its seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    limit: u64,
}

/// One search of ours and cells of LIBSVM on the same data.
#[derive(Serialize, Deserialize)]
struct Record {
    problem: String,
    note: Option<String>,
    /// Half of the tube's width, for a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    rows: usize,
    cells: usize,
    seconds: f64,
    peak_bytes: u64,
    /// Cells that LIBSVM computed, in the order of ours.
    peer: Vec<Cell>,
    /// LIBSVM computed every `share`-th of our cells.
    share: u16,
    limit: u64,
    machine: HostMachine,
}

/// A cell that both programs computed.
#[derive(Serialize, Deserialize)]
struct Cell {
    c: f64,
    gamma: f64,
    seconds: f64,
    /// Accuracy in percent, or the mean squared error; none where the time limit ended it.
    theirs: Option<f64>,
    ours: f64,
}

impl Record {
    /// Returns LIBSVM's seconds for all cells, extrapolated from those that it computed.
    fn whole(&self) -> f64 {
        self.peer.iter().map(|cell| cell.seconds).sum::<f64>() * self.cells as f64 / self.peer.len().max(1) as f64
    }

    fn ended(&self) -> usize {
        self.peer.iter().filter(|cell| cell.theirs.is_none()).count()
    }

    fn is_regression(&self) -> bool {
        self.epsilon.is_some()
    }

    /// Returns the largest difference of a cell's score: in samples, or relative to the mean
    /// square.
    fn apart(&self) -> f64 {
        let of = |cell: &Cell| {
            let apart = cell.theirs.map_or(0.0, |theirs| (theirs - cell.ours).abs());
            if self.is_regression() { apart / cell.ours.abs() } else { (apart / 100.0 * self.rows as f64).round() }
        };
        self.peer.iter().map(of).fold(0.0, f64::max)
    }
}

/// A search for a classifier over the usual cells.
pub(crate) struct Search {
    pub(crate) data: String,
    pub(crate) libsvm_seconds: f64,
    pub(crate) seconds: f64,
    pub(crate) machine: HostMachine,
}

/// Returns the searches for a classifier over the usual cells.
pub(crate) fn searches() -> Outcome<Vec<Search>> {
    let records: Vec<Record> = PAGE.records()?;
    let usual = records.iter().filter(|record| record.cells == CELLS && !record.is_regression());
    Ok(usual
        .map(|record| Search {
            data: record.problem.clone(),
            libsvm_seconds: record.whole(),
            seconds: record.seconds,
            machine: record.machine.clone(),
        })
        .collect())
}

/// Returns the processors of all searches.
pub(crate) fn processors() -> Outcome<BTreeSet<String>> {
    Ok(PAGE.records::<Record>()?.into_iter().map(|record| record.machine.cpu).collect())
}

/// Runs `cargo xtask grids`.
///
/// # Errors
///
/// If a measurement fails or a file cannot be read or written.
pub fn run(arguments: &Arguments) -> Outcome<()> {
    PAGE.update(&arguments.common, &page::SVM_TRAIN, |bench, problem| measure(bench, problem, arguments))
}

/// Returns the file of a problem's rows, that of LIBSVM's folds, and the number of rows; none where
/// no folder has the data.
fn files(bench: &Bench, problem: &Problem) -> Outcome<Option<(PathBuf, PathBuf, usize)>> {
    let Some(input) = bench.inputs.of(problem)? else { return Ok(None) };
    let text = text_of(&input.path)?;
    // Only data of the manifest are longer than `first`.
    let lines: Vec<&str> = text.lines().take(problem.first.unwrap_or(usize::MAX)).collect();
    let text = lines.join("\n") + "\n";
    let folds = folds::lines(&text, FOLDS, problem.recipe.is_none())?;
    let file = bench.inputs.write(&format!("{}.rows", problem.name), &text)?;
    Ok(Some((file, bench.inputs.write(&format!("{}.folds", problem.name), &folds)?, lines.len())))
}

fn measure(bench: &Bench, problem: &Problem, arguments: &Arguments) -> Outcome<Option<Record>> {
    let Some((file, folds, rows)) = files(bench, problem)? else { return Ok(None) };
    let epsilon = problem.set.get("epsilon").and_then(Value::as_f64);
    let begun = Instant::now();
    let mut search = Command::new(&bench.ours);
    search.arg("grid").arg(&file).args(["-k", "5", "--json", "--quiet", "--folds"]).arg(&folds);
    epsilon.iter().for_each(|epsilon| {
        search.args(["--formulation", "epsilon-svr", "--epsilon"]).arg(epsilon.to_string());
    });
    let output = search.stdin(Stdio::null()).output().context("maxmargin grid")?;
    let taken = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        return fail(format!("maxmargin grid {}: {}", file.display(), String::from_utf8_lossy(&output.stderr).trim()));
    }
    let found: Value = serde_json::from_slice(&output.stdout).context("maxmargin grid --json")?;
    let cells = found["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let mut peer = Vec::new();
    for cell in cells.iter().step_by(usize::from(arguments.share)) {
        let (Some(c), Some(gamma)) = (cell["c"].as_f64(), cell["gamma"].as_f64()) else { continue };
        let score = if epsilon.is_some() {
            cell["scores"]["mean_squared_error"].as_f64()
        } else {
            cell["accuracy"].as_f64().map(|a| 100.0 * a)
        };
        let Some(score) = score else { return fail(format!("a cell of {} has no score", problem.name)) };
        let program = bench.theirs("svm-train");
        let (seconds, theirs) = cross_validated(&program, &file, c, gamma, epsilon, arguments.limit)?;
        peer.push(Cell { c, gamma, seconds, theirs, ours: score });
    }
    Ok(Some(Record {
        problem: problem.name.clone(),
        note: problem.note.clone(),
        epsilon,
        rows,
        cells: cells.len(),
        seconds: taken,
        peak_bytes: found["peak_rss_bytes"].as_u64().unwrap_or(0),
        peer,
        share: arguments.share,
        limit: arguments.limit,
        machine: bench.machine.clone(),
    }))
}

/// Runs `svm-train -v` at one cell. Returns its seconds and its score, none after the time limit.
fn cross_validated(
    program: &str,
    file: &Path,
    c: f64,
    gamma: f64,
    epsilon: Option<f64>,
    limit: u64,
) -> Outcome<(f64, Option<f64>)> {
    let mut train = Command::new(program);
    train.args(["-q", "-m", "4000", "-v", "5", "-c", &c.to_string(), "-g", &gamma.to_string()]);
    epsilon.iter().for_each(|epsilon| {
        train.args(["-s", "3", "-p", &epsilon.to_string()]);
    });
    let (taken, output) = process::limited(train.arg(file), Duration::from_secs(limit))?;
    let Some(output) = output else { return Ok((taken, None)) };
    let text = output.or_else(fail).context(format_args!("at C {c}, gamma {gamma}"))?;
    let square =
        || text.lines().find_map(|line| line.strip_prefix("Cross Validation Mean squared error = ")?.trim().parse().ok());
    match peer::read(&text).accuracy.or_else(square) {
        Some(found) => Ok((taken, Some(found))),
        None => fail(format!("svm-train -v at C {c}, gamma {gamma}: {}", text.trim())),
    }
}

impl page::Record for Record {
    fn problem(&self) -> &str {
        &self.problem
    }

    fn line(&self) -> String {
        let (whole, at_least) = (self.whole(), if self.ended() > 0 { "≥ " } else { "" });
        let apart = if self.is_regression() {
            format!("{:.1e} of the mean square", self.apart())
        } else {
            format!("{} of {}", self.apart(), self.rows)
        };
        format!(
            "| {} | {} | {} | {} MiB | {} | {at_least}{} | {at_least}**{}** | {apart} |",
            self.problem,
            self.cells,
            seconds(self.seconds),
            self.peak_bytes >> 20,
            self.peer.len(),
            seconds(whole),
            times(whole / self.seconds),
        )
    }

    fn head() -> String {
        format!(
            "# Searches beside LIBSVM\n\n\
             `maxmargin grid DATA -k 5` on two threads: 11 values of C (2⁻⁵ to 2¹⁵) and 10 of γ (2⁻¹⁵ to 2³) in five folds, every cell at `--eps 0.001` and certified, \
             and `svm-train -v 5 -m 4000` at some of the cells, one after the other, as grid.py has it; both are whole processes that read the same text, on the folds that \
             LIBSVM draws. LIBSVM's time for all cells is reckoned from those that it was given: every so-manieth, in the order of ours. The project asks for a ratio of {GOAL}.\n\n\
             The last column is the cell that lies furthest from LIBSVM's: how many samples of all it tests otherwise. Where both stop at a violation of 0.001 a sample near the border may fall to either side; \
             where LIBSVM gives up after ten million iterations its answer is not that of the problem. Of several classes votes may be equal: LIBSVM's go to the class that its data shows first, ours to the least label, so that the same machines say otherwise (letter's first 4,000 rows by `-c 0.03125 -g 0.125 -e 0.00001`: biases within 7e-6, and 60 labels of the next 1,000 differ).\n\n\
             | data | cells | here, s | peak | LIBSVM's cells | LIBSVM, all, s | ratio | furthest cell |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
        )
    }

    fn note(&self) -> String {
        let ended = match self.ended() {
            0 => None,
            count => Some(format!("{count} of LIBSVM's cells ended after {} s", self.limit)),
        };
        let more: Vec<String> = self.note.clone().into_iter().chain(ended).collect();
        footnote(&self.problem, &format!("{} rows", self.rows), &self.machine, &more)
    }

    const SOURCE: &'static str =
        "Measured by `cargo xtask grids`; every cell of LIBSVM's is a line of [grids.jsonl](grids.jsonl).";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_was_measured() {
        assert!(PAGE.is_true::<Record>());
    }

    #[test]
    fn lines_say_what_was_found() {
        let cell = |seconds: f64, theirs: Option<f64>| Cell { c: 1.0, gamma: 0.5, seconds, theirs, ours: 90.0 };
        let record = Record {
            problem: "few".to_owned(),
            note: None,
            epsilon: None,
            rows: 200,
            cells: 6,
            seconds: 0.5,
            peak_bytes: 3 << 20,
            peer: vec![cell(4.0, Some(91.5)), cell(6.0, None)],
            share: 3,
            limit: 6,
            machine: HostMachine::here(),
        };
        assert_eq!((record.whole(), record.apart(), record.ended()), (30.0, 3.0, 1));
        let page = <Record as page::Record>::rendered(&[record]);
        assert!(page.contains("| few | 6 | 0.50 | 3 MiB | 2 | ≥ 30.0 | ≥ **60** | 3 of 200 |"), "{page}");
        assert!(page.contains("1 of LIBSVM's cells ended after 6 s"), "{page}");
    }
}
