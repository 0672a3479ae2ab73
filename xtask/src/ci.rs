//! `cargo xtask ci`: what must hold before a change is merged, in the order in which it fails
//! fastest.

use crate::r;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{WITHOUT_PYTHON, cargo, target_directory};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

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
    Step { name, arguments, needs: None, set: None, runs }
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
    },
    Step {
        name: "advisories",
        // RustSec's list is fetched.
        arguments: &["deny", "check", "advisories"],
        needs: Some(Tool::Subcommand("deny")),
        set: None,
        runs: Runs::Whole,
    },
    step(
        "lints",
        &["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"],
        Runs::Always,
    ),
    step("tests", &["test", "--workspace", "--all-features", "--locked"], Runs::Always),
    step("python", &["xtask", "python", "--in-workspace"], Runs::Whole),
    Step { name: "r", arguments: &["xtask", "r", "--in-workspace"], needs: Some(Tool::R), set: None, runs: Runs::Whole },
    Step {
        name: "documentation",
        arguments: &["doc", "--no-deps", "--all-features", "--locked"],
        needs: None,
        set: Some(("RUSTDOCFLAGS", "-D warnings")),
        runs: Runs::Whole,
    },
    // Rustdoc's pages were built by the step before.
    step("site", &["xtask", "docs", "--no-rustdoc"], Runs::Deep),
    step("trust", &["xtask", "trust", "fuzz", "differential", "load", "crash", "full"], Runs::Whole),
    step("quick table", &["xtask", "bench", "alpha-seeding", "--table", "1", "--quick", "--dev"], Runs::Whole),
];

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let skips = target_directory()?.join("skips.txt");
    fs::create_dir_all(skips.parent().unwrap_or(Path::new("."))).context("the target folder")?;
    fs::write(&skips, "").context(format_args!("{}", skips.display()))?;
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    let most = match (arguments.quick, arguments.deep) {
        (true, _) => Runs::Always,
        (false, true) => Runs::Deep,
        (false, false) => Runs::Whole,
    };
    for step in STEPS.iter().filter(|step| step.runs <= most) {
        println!("\n==> {}: cargo {}", step.name, step.arguments.join(" "));
        if let Some(missing) = step.needs.filter(|needed| !needed.is_there()) {
            let what = format!("left out: {}", missing.how());
            println!("{what}");
            lines.push(format!("{:<14} {what}", step.name));
            continue;
        }
        let start = Instant::now();
        let mut command: Command = cargo();
        command.args(step.arguments).envs(WITHOUT_PYTHON).envs(step.set).env("MAXMARGIN_SKIPS", &skips);
        if arguments.deep {
            command.env("PROPTEST_CASES", DEEP);
            command.args((step.name == "trust").then_some("--deep"));
        }
        let status = command.status().context("cannot start cargo")?;
        let seconds = start.elapsed().as_secs();
        lines.push(format!("{:<14} {:<7} {seconds:>5} s", step.name, if status.success() { "ok" } else { "FAILED" }));
        if !status.success() {
            failed.push(step.name);
            if !arguments.keep_going {
                break;
            }
        }
    }
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
