//! The project's automation: `cargo xtask datasets | tidy | ci | docs | python | r | peers | wheel
//! | bench | bench-diff | grids | probabilities | liblinear | simulate | trust | release`. Links no
//! solver, so that it builds fast.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that talks to a person")]

mod ci;
mod datasets;
mod docs;
mod peers;
mod python;
mod r;
mod release;
mod tidy;
mod trust;
mod wheel;

use clap::{Parser, Subcommand};
use maxmargin_repro::{BenchArguments, DiffArguments, GridArguments, LiblinearArguments, SearchArguments, SimulateArguments};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation of the maxmargin workspace", max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fetch, verify and unpack the data sets of datasets/manifest.toml
    Datasets(datasets::Arguments),
    /// Check the rules that the compiler does not: layers, circles of imports, sizes, comments,
    /// names, printing, unsafe code, paths, blanks
    Tidy(tidy::Arguments),
    /// Everything that must hold before a change is merged
    Ci(ci::Arguments),
    /// Build the site: the guide, the references of all interfaces, the evidence
    Docs(docs::Arguments),
    /// Build, lint and test the Python package, where there is Python with pip
    Python(python::Arguments),
    /// Build and test the R package, where there is R: `R CMD check` of its source package
    R(r::Arguments),
    /// Measure the Python package beside scikit-learn and scikit-learn-intelex, and write the page
    /// of it
    Peers(peers::Arguments),
    /// Build the Python package as a wheel and a source distribution, check both, and try the wheel
    /// in a fresh environment
    Wheel(wheel::Arguments),
    /// Measure the tables of a paper and render them
    Bench(Box<BenchArguments>),
    /// Measure whole searches of C and gamma beside loops of svm-train, and write the page of it
    Grids(GridArguments),
    /// Measure trainings with probabilities beside LIBSVM's `-b 1`
    Probabilities(SearchArguments),
    /// Measure trainings beside all of LIBLINEAR's solvers at equal gap, and write the page of it
    Liblinear(LiblinearArguments),
    /// Compare two files of raw measurements
    BenchDiff(DiffArguments),
    /// Show how long a search would take on many machines, from the costs of its units
    Simulate(SimulateArguments),
    /// Try the built program under load, killed, and without room
    Trust(trust::Arguments),
    /// Make the files of a release, or check whether one could be made
    Release(release::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Datasets(arguments) => datasets::run(&arguments),
        Command::Tidy(arguments) => tidy::run(&arguments),
        Command::Ci(arguments) => ci::run(&arguments),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Python(arguments) => python::run(&arguments),
        Command::R(arguments) => r::run(&arguments),
        Command::Peers(arguments) => peers::run(&arguments),
        Command::Wheel(arguments) => wheel::run(&arguments),
        Command::Bench(arguments) => maxmargin_repro::bench(&arguments),
        Command::Grids(arguments) => maxmargin_repro::grids(&arguments),
        Command::Probabilities(arguments) => maxmargin_repro::probabilities(&arguments),
        Command::Liblinear(arguments) => maxmargin_repro::liblinear(&arguments),
        Command::BenchDiff(arguments) => maxmargin_repro::bench_diff(&arguments),
        Command::Simulate(arguments) => maxmargin_repro::simulate(&arguments),
        Command::Trust(arguments) => trust::run(&arguments),
        Command::Release(arguments) => release::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
