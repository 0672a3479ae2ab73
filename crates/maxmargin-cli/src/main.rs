//! The command line program `maxmargin`: exact support vector machine training, cross-validation
//! and certified models.

mod advice;
mod args;
mod beside;
mod calibrate;
mod convert;
mod cv;
mod doctor;
mod dropin;
mod failure;
mod folds;
mod format;
mod grid;
mod info;
mod input;
mod interrupt;
mod links;
mod lock;
mod loo;
mod manual;
mod memory;
mod missing;
mod model_io;
mod names;
mod notes;
mod output;
mod places;
mod predict;
mod problem;
mod progress;
mod report;
mod scale;
mod search;
mod threads;
mod train;
mod update;
mod vectors;
mod verify;
mod version;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(failure) = vectors::hold_back() {
        return failure::exit_code(Err(failure));
    }
    if let Some((program, words)) = dropin::Program::called(std::env::args_os()) {
        return program.run(&words);
    }
    let cli = Cli::parse();
    interrupt::install();
    failure::leave_caught_panics_unsaid();
    let done = match &cli.command {
        Command::Search(args) => search::run(args),
        Command::Train(args) => train::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Cv(args) => cv::run(args),
        Command::Loo(args) => loo::run(args),
        Command::Grid(args) => grid::run(args),
        Command::Update(args) => update::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Info(args) => info::run(args),
        Command::Scale(args) => scale::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Links(args) => links::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    };
    failure::exit_code(done)
}
