//! The commands of the program, one module each: options in, a report or a JSON document out.

mod calibrate;
mod convert;
mod cv;
mod doctor;
mod explain;
mod export;
mod grid;
mod info;
mod links;
mod loo;
mod manual;
mod predict;
mod scale;
mod search;
mod suspects;
mod train;
mod update;
mod verify;

use crate::args::Command;
use crate::console::failure::{Failure, Outcome};

/// Runs a command.
///
/// # Errors
///
/// If the command could not do its work.
pub(crate) fn run(command: &Command) -> Result<Outcome, Failure> {
    match command {
        Command::Search(args) => search::run(args),
        Command::Train(args) => train::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Cv(args) => cv::run(args),
        Command::Loo(args) => loo::run(args),
        Command::Grid(args) => grid::run(args),
        Command::Update(args) => update::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Info(args) => info::run(args),
        Command::Scale(args) => scale::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Export(args) => export::run(args),
        Command::Links(args) => links::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    }
}
