//! `cargo xtask ci`: what must hold before a change is merged, in the order in which it fails
//! fastest.

use crate::r;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{WITHOUT_PYTHON, cargo, target_directory};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs, thread};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out the packages of Python and R, the documentation and the quick table
    #[arg(long)]
    quick: bool,
    /// Go on after a step that fails
    #[arg(long)]
    keep_going: bool,
    /// Ten thousand cases of every property test, and the hours of `cargo xtask trust`: for nights,
    /// not for changes
    #[arg(long)]
    deep: bool,
}

/// Cases of each property test with [`Arguments::deep`].
const DEEP: &str = "10000";

struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    /// A tool that does not come with Rust. Without it the step is left out, with a message.
    needs: Option<Tool>,
    /// Extra environment.
    set: Option<(&'static str, &'static str)>,
    runs: Runs,
    /// Runs beside the steps after it: these do not keep all processors busy. Its output is shown
    /// at its end.
    beside: bool,
}

/// The runs that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Runs {
    /// Every run.
    Always,
    /// Runs without `--quick`.
    Whole,
    /// Runs with `--deep`: the workflow of the pages makes the site after every change.
    Deep,
}

/// A program that is there or not.
#[derive(Clone, Copy)]
enum Tool {
    /// A subcommand of cargo.
    Subcommand(&'static str),
    /// R, with the packages that tests need.
    R,
}

impl Tool {
    fn is_there(self) -> bool {
        match self {
            Tool::Subcommand(name) => cargo().args([name, "--version"]).output().is_ok_and(|output| output.status.success()),
            Tool::R => r::installed(),
        }
    }

    fn how(self) -> String {
        match self {
            Tool::Subcommand(name) => format!("cargo install --locked cargo-{name}"),
            Tool::R => r::INSTALL.to_owned(),
        }
    }
}

const fn step(name: &'static str, arguments: &'static [&'static str], runs: Runs) -> Step {
    Step { name, arguments, needs: None, set: None, runs, beside: false }
}

/// Lints and tests are built with the packages of Python and R, so that their steps compile no
/// dependency again for other features. The quick table runs on the test profile's build: counts
/// do not depend on it, and a release build would double the time.
const STEPS: &[Step] = &[
    step("format", &["fmt", "--all", "--check"], Runs::Always),
    step("tidy", &["xtask", "tidy"], Runs::Always),
    Step {
        name: "dependencies",
        // These checks need no network.
        arguments: &["deny", "check", "licenses", "bans", "sources"],
        needs: Some(Tool::Subcommand("deny")),
        set: None,
        runs: Runs::Always,
        beside: false,
    },
    Step {
        name: "advisories",
        // RustSec's list is fetched.
        arguments: &["deny", "check", "advisories"],
        needs: Some(Tool::Subcommand("deny")),
        set: None,
        runs: Runs::Whole,
        beside: false,
    },
    step(
        "lints",
        &["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"],
        Runs::Always,
    ),
    step("build", &["test", "--workspace", "--all-features", "--locked", "--no-run"], Runs::Always),
    Step { beside: true, ..step("python", &["xtask", "python", "--in-workspace"], Runs::Whole) },
    Step {
        set: Some(("RUSTDOCFLAGS", "-D warnings")),
        beside: true,
        ..step("documentation", &["doc", "--workspace", "--no-deps", "--all-features", "--locked"], Runs::Whole)
    },
    step("tests", &["test", "--workspace", "--all-features", "--locked"], Runs::Always),
    Step { needs: Some(Tool::R), ..step("r", &["xtask", "r", "--in-workspace"], Runs::Whole) },
    step("trust", &["xtask", "trust", "fuzz", "differential", "load", "crash", "full"], Runs::Whole),
    // Madelon's exact paths take longer than all other cells.
    step(
        "quick table",
        &[
            "xtask",
            "bench",
            "alpha-seeding",
            "--table",
            "1",
            "--only",
            "Heart",
            "--only",
            "Heart scaled",
            "--only",
            "two-gaussians",
            "--quick",
            "--dev",
        ],
        Runs::Whole,
    ),
    // Rustdoc's pages were built by a step before.
    step("site", &["xtask", "docs", "--no-rustdoc"], Runs::Deep),
];

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let skips = target_directory()?.join("skips.txt");
    fs::create_dir_all(skips.parent().unwrap_or(Path::new("."))).context("the target folder")?;
    fs::write(&skips, "").context(format_args!("{}", skips.display()))?;
    let most = match (arguments.quick, arguments.deep) {
        (true, _) => Runs::Always,
        (false, true) => Runs::Deep,
        (false, false) => Runs::Whole,
    };
    let steps: Vec<&Step> = STEPS.iter().filter(|step| step.runs <= most).collect();
    let run = StepRun { skips: &skips, deep: arguments.deep };
    let results = run.all(&steps, arguments.keep_going)?;
    let lines: Vec<String> = results.iter().map(|result| result.line.clone()).collect();
    let failed: Vec<&str> = results.iter().filter(|result| !result.passed).map(|result| result.name).collect();
    println!("\n{}", lines.join("\n"));
    let missing = skipped(&skips)?;
    if failed.is_empty() && !missing.is_empty() && nothing_may_be_missing() {
        fail(format!(
            "ci: CI is set, and tests skipped for want of {}: `cargo xtask datasets NAME` or --mirror DIR fetches data, packages libsvm-tools and liblinear-tools are the programs, python3-venv is Python's pip",
            missing.join(", ")
        ))
    } else if failed.is_empty() {
        Ok(())
    } else {
        fail(format!(
            "ci: {} failed (a cargo subcommand that is missing: rustup component add clippy rustfmt)",
            failed.join(", ")
        ))
    }
}

/// The result of a step.
struct StepResult {
    name: &'static str,
    /// The line that is shown of it at the end.
    line: String,
    passed: bool,
}

/// The settings that all steps of a run share.
#[derive(Clone, Copy)]
struct StepRun<'a> {
    skips: &'a Path,
    deep: bool,
}

impl StepRun<'_> {
    /// Runs the steps in their order, those that run beside others one after the other. Ends after
    /// one that fails, unless it is to go on.
    fn all(self, steps: &[&Step], keep_going: bool) -> Outcome<Vec<StepResult>> {
        let first = steps.iter().position(|step| step.beside).unwrap_or(steps.len());
        let mut results = self.in_order(steps[..first].iter().copied(), keep_going, false)?;
        if !keep_going && results.iter().any(|result| !result.passed) {
            return Ok(results);
        }
        let (beside, others): (Vec<&Step>, Vec<&Step>) = steps[first..].iter().copied().partition(|step| step.beside);
        let (others, beside) = thread::scope(|scope| {
            let beside = scope.spawn(|| self.in_order(beside.into_iter(), keep_going, true));
            let others = self.in_order(others.into_iter(), keep_going, false);
            (others, beside.join().expect("a step that panics is a fault of this program"))
        });
        results.extend(beside?);
        results.extend(others?);
        Ok(results)
    }

    fn in_order<'s>(self, steps: impl Iterator<Item = &'s Step>, keep_going: bool, quietly: bool) -> Outcome<Vec<StepResult>> {
        let mut results = Vec::new();
        for step in steps {
            let result = self.one(step, quietly)?;
            let ends = !result.passed && !keep_going;
            results.push(result);
            if ends {
                break;
            }
        }
        Ok(results)
    }

    /// Runs a step. Its output is shown at once, or quietly at its end.
    fn one(self, step: &Step, quietly: bool) -> Outcome<StepResult> {
        let begun = format!("\n==> {}: cargo {}", step.name, step.arguments.join(" "));
        if let Some(missing) = step.needs.filter(|needed| !needed.is_there()) {
            let what = format!("left out: {}", missing.how());
            println!("{begun}\n{what}");
            return Ok(StepResult { name: step.name, line: format!("{:<14} {what}", step.name), passed: true });
        }
        let start = Instant::now();
        let mut command: Command = cargo();
        command.args(step.arguments).envs(WITHOUT_PYTHON).envs(step.set).env("MAXMARGIN_SKIPS", self.skips);
        if self.deep {
            command.env("PROPTEST_CASES", DEEP);
            command.args((step.name == "trust").then_some("--deep"));
        }
        let passed = if quietly {
            let output = command.output().context("cannot start cargo")?;
            let [text, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
            println!("{begun}\n{text}{errors}");
            output.status.success()
        } else {
            println!("{begun}");
            command.status().context("cannot start cargo")?.success()
        };
        let seconds = start.elapsed().as_secs();
        let line = format!("{:<14} {:<7} {seconds:>5} s", step.name, if passed { "ok" } else { "FAILED" });
        Ok(StepResult { name: step.name, line, passed })
    }
}

/// Shows the tests that were skipped. Returns the missing data and programs.
fn skipped(record: &Path) -> Outcome<Vec<String>> {
    let text = fs::read_to_string(record).context(format_args!("{}", record.display()))?;
    let lines: BTreeSet<&str> = text.lines().collect();
    for line in &lines {
        println!("skipped, no {line}");
    }
    let missing: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(':').next()).collect();
    Ok(missing.into_iter().map(str::to_owned).collect())
}

/// Returns whether this is continuous integration, whose services set `CI=true`.
fn nothing_may_be_missing() -> bool {
    env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}
