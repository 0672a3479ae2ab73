//! `cargo xtask probabilities`: trainings with probabilities, by LIBSVM's programs and by ours
//! under their names, scored on test samples.

use super::page::{self, Bench, Page, footnote, text_of};
use crate::cells::machine::HostMachine;
use crate::numbers::format::{seconds, times};
use crate::specs::problem::{Problem, Test};
use crate::workspace::failure::{Context, Outcome, fail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The page of this command.
const PAGE: Page = Page("probabilities");

/// The least probability: LIBSVM's own are no smaller.
const LEAST: f64 = 1e-7;

/// One training by both programs.
#[derive(Serialize, Deserialize)]
struct Record {
    problem: String,
    rows: usize,
    tested: usize,
    c: f64,
    gamma: f64,
    theirs: ProgramFigures,
    ours: ProgramFigures,
    machine: HostMachine,
}

/// Seconds and scores of one program.
#[derive(Serialize, Deserialize)]
struct ProgramFigures {
    /// Seconds of the training with `-b 1`.
    seconds: f64,
    /// Seconds of the same training without.
    plain: f64,
    /// The mean of `−ln p` of the true class.
    log_loss: f64,
    /// Percent of samples with the right label.
    accuracy: f64,
    /// Samples whose predicted label is not that of the greatest probability.
    contradicted: usize,
}

/// Runs `cargo xtask probabilities`.
///
/// # Errors
///
/// If a measurement fails or a file cannot be read or written.
pub fn run(arguments: &page::SearchArguments) -> Outcome<()> {
    PAGE.update(arguments, &page::SVM_TRAIN, measure)
}

fn measure(bench: &Bench, problem: &Problem) -> Outcome<Option<Record>> {
    let number = |name: &str| problem.set.get(name).and_then(Value::as_f64);
    let (Some(c), Some(gamma), Some(Test::File(name))) = (number("c"), number("gamma"), &problem.test) else {
        return fail(format!("{}: it needs c, gamma and a file of test samples", problem.name));
    };
    let Some(data) = bench.inputs.of(problem)? else { return Ok(None) };
    let Some(test) = bench.inputs.test_of(problem, &Test::File(name.clone()))? else { return Ok(None) };
    let truth = labels(&text_of(&test)?)?;
    let folder = bench.inputs.write(&format!("{}.none", problem.name), "")?;
    let of = |program: &[&str], who: &str| -> Outcome<ProgramFigures> {
        let (model, out) = (folder.with_extension(format!("{who}.model")), folder.with_extension(format!("{who}.out")));
        let named = |name: &str| if program.is_empty() { bench.theirs(name) } else { name.to_owned() };
        let train = |probabilities: &str| {
            let (c, gamma) = (c.to_string(), gamma.to_string());
            let options = ["-q", "-m", "8000", "-b", probabilities, "-c", &c, "-g", &gamma];
            timed(program, &named("svm-train"), &options, &[&data.path, &model])
        };
        let (plain, seconds) = (train("0")?, train("1")?);
        timed(program, &named("svm-predict"), &["-b", "1"], &[&test, &model, &out])?;
        let (log_loss, accuracy, contradicted) = scores(&text_of(&out)?, &truth)?;
        Ok(ProgramFigures { seconds, plain, log_loss, accuracy, contradicted })
    };
    let ours = bench.ours.to_string_lossy();
    Ok(Some(Record {
        problem: problem.name.clone(),
        rows: text_of(&data.path)?.lines().count(),
        tested: truth.len(),
        c,
        gamma,
        ours: of(&[&ours], "ours")?,
        theirs: of(&[], "theirs")?,
        machine: bench.machine.clone(),
    }))
}

/// Returns the seconds of LIBSVM's program of this name, or of ours under the name.
fn timed(program: &[&str], name: &str, options: &[&str], files: &[&Path]) -> Outcome<f64> {
    let words: Vec<&str> = program.iter().copied().chain([name]).collect();
    let begun = Instant::now();
    let mut command = Command::new(words[0]);
    let output = command.args(&words[1..]).args(options).args(files).stdin(Stdio::null()).output().context(name)?;
    let taken = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        return fail(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(taken)
}

fn labels(text: &str) -> Outcome<Vec<f64>> {
    let first = |line: &str| line.split_whitespace().next()?.parse().ok();
    match text.lines().map(first).collect() {
        Some(labels) => Ok(labels),
        None => fail("a line of the test samples has no label"),
    }
}

/// Returns log loss, percent of right labels and the number of labels that contradict their
/// probabilities, from the output of `svm-predict -b 1`.
fn scores(text: &str, truth: &[f64]) -> Outcome<(f64, f64, usize)> {
    let numbers = |line: &str| -> Option<Vec<f64>> { line.split_whitespace().map(|word| word.parse().ok()).collect() };
    let mut lines = text.lines();
    let Some(classes) = lines.next().and_then(|line| line.strip_prefix("labels")).and_then(numbers) else {
        return fail("svm-predict -b 1 wrote no line of labels");
    };
    let lines: Vec<&str> = lines.collect();
    if lines.len() != truth.len() {
        return fail(format!("svm-predict -b 1 wrote {} lines for {} samples", lines.len(), truth.len()));
    }
    let (mut loss, mut right, mut contradicted, count) = (0.0, 0_usize, 0, truth.len());
    for (line, label) in lines.into_iter().zip(truth) {
        let Some((predicted, shares)) = numbers(line).and_then(|row| Some((*row.first()?, row[1..].to_vec()))) else {
            return fail(format!("svm-predict -b 1 wrote `{line}`"));
        };
        let of = |wanted: f64| classes.iter().zip(&shares).find(|(class, _)| **class == wanted).map_or(0.0, |(_, share)| *share);
        loss -= of(*label).max(LEAST).ln();
        right += usize::from(predicted == *label);
        contradicted += usize::from(shares.iter().any(|share| *share > of(predicted)));
    }
    Ok((loss / count as f64, 100.0 * right as f64 / count as f64, contradicted))
}

impl page::Record for Record {
    fn problem(&self) -> &str {
        &self.problem
    }

    fn line(&self) -> String {
        let Self { problem, theirs, ours, .. } = self;
        format!(
            "| {problem} | {} | {} | **{}** | {:.1} / {:.1} | {:.4} | {:.4} | {:.2} / {:.2} | {} / {} |",
            seconds(theirs.seconds),
            seconds(ours.seconds),
            times(theirs.seconds / ours.seconds),
            theirs.seconds / theirs.plain,
            ours.seconds / ours.plain,
            theirs.log_loss,
            ours.log_loss,
            theirs.accuracy,
            ours.accuracy,
            theirs.contradicted,
            ours.contradicted,
        )
    }

    fn head() -> String {
        "# Probabilities beside LIBSVM\n\n\
             `svm-train -b 1` and `svm-predict -b 1` of LIBSVM, and `maxmargin svm-train` and `maxmargin svm-predict` with the same options, on two threads: whole processes on the \
             same files. Both fit sigmoids to decisions of five folds; LIBSVM draws its folds anew in each run, and trains each from nothing. Probabilities are judged on test samples: \
             log loss is the mean of −ln p of the true class (at least 1e-7). A label contradicts its probabilities where another class has a greater one; LIBSVM's programs predict the class of \
             the greatest probability with `-b 1`, and so do ours.\n\n\
             | data | LIBSVM, s | here, s | ratio | `-b 1` to `-b 0`: LIBSVM / here | log loss, LIBSVM | here | accuracy, LIBSVM / here | contradicted |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned()
    }

    fn note(&self) -> String {
        let what = format!("{} rows, C = {}, γ = {}, {} test samples", self.rows, self.c, self.gamma, self.tested);
        footnote(&self.problem, &what, &self.machine, &[])
    }

    const SOURCE: &'static str =
        "Measured by `cargo xtask probabilities`; [probabilities.jsonl](probabilities.jsonl) has a line for each.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_was_measured() {
        assert!(PAGE.is_true::<Record>());
    }

    #[test]
    fn what_is_written_is_judged() {
        let text = "labels 1 -1\n1 0.75 0.25\n-1 0.5 0.5\n1 0.25 0.75\n";
        let (loss, accuracy, contradicted) = scores(text, &[1.0, -1.0, -1.0]).expect("three lines");
        assert!((loss - (0.75_f64 * 0.5 * 0.75).ln() / -3.0).abs() < 1e-15);
        assert_eq!((accuracy, contradicted), (200.0 / 3.0, 1));
        assert!(scores(text, &[1.0; 2]).is_err() && scores(text, &[1.0; 4]).is_err() && scores("1 0.5 0.5\n", &[1.0]).is_err());
        assert_eq!(labels("+1 1:2\n-1\n").expect("labels"), [1.0, -1.0]);
    }
}
