//! `cargo xtask peers`: the Python package, as it is released, beside scikit-learn and
//! scikit-learn-intelex.

use crate::python::{environment, succeed, tool};
use maxmargin_repro::HostMachine;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use std::path::Path;
use std::process::Command;

/// The packages that it is compared with, and the one that builds it.
const PACKAGES: [&str; 5] = ["maturin>=1.9,<2", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The suite of works as users have them, each beside its best peer
    #[arg(long)]
    suite: bool,
    /// Options of the measuring program (`--help` has them)
    #[arg(last = true)]
    options: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let Some(python) = environment("peers", &PACKAGES)? else { return fail("peers need Python 3.11 and what pip fetches") };
    let home = python.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    succeed(tool(&python, "maturin").args(["develop", "--release", "--locked"]).env("VIRTUAL_ENV", home))?;
    let machine = serde_json::to_string(&HostMachine::here()).context("the machine")?;
    let mut measure = Command::new(&python);
    measure.current_dir(maxmargin_repro::workspace::tools::root()).arg("crates/maxmargin-python/benchmarks/peers.py");
    measure.args(arguments.suite.then_some("--suite"));
    succeed(measure.args(["--machine", &machine]).args(&arguments.options))
}
