//! `cargo xtask ci`: what must hold before a change is merged, in the order in which it fails fastest.

use crate::failure::{Context, Outcome, fail};
use crate::tools::cargo;
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out the documentation and the quick table
    #[arg(long)]
    quick: bool,
    /// Go on after a step that fails
    #[arg(long)]
    keep_going: bool,
}

struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Extra environment.
    set: Option<(&'static str, &'static str)>,
    in_quick: bool,
}

const fn step(name: &'static str, arguments: &'static [&'static str], in_quick: bool) -> Step {
    Step { name, arguments, set: None, in_quick }
}

/// The quick table runs on the test profile's build: counts do not depend on it, and a release build would double the time.
const STEPS: &[Step] = &[
    step("format", &["fmt", "--all", "--check"], true),
    step("tidy", &["xtask", "tidy"], true),
    step("lints", &["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"], true),
    step("tests", &["test", "--workspace", "--all-features", "--locked"], true),
    Step {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps", "--all-features", "--locked"],
        set: Some(("RUSTDOCFLAGS", "-D warnings")),
        in_quick: false,
    },
    step("quick table", &["xtask", "bench", "alpha-seeding", "--table", "1", "--quick", "--dev"], false),
];

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for step in STEPS.iter().filter(|step| step.in_quick || !arguments.quick) {
        println!("\n==> {}: cargo {}", step.name, step.arguments.join(" "));
        let start = Instant::now();
        let mut command: Command = cargo();
        command.args(step.arguments).envs(step.set);
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
    if failed.is_empty() {
        Ok(())
    } else {
        fail(format!(
            "ci: {} failed (a cargo subcommand that is missing: rustup component add clippy rustfmt)",
            failed.join(", ")
        ))
    }
}
