//! The command line program `maxmargin`: exact support vector machine training, cross-validation
//! and certified models.
//!
//! In reading order: [`args`] declares the command line. [`commands`] has one module per command.
//! A command that trains builds a [`problem`] from options and data, which [`files`] reads, and
//! describes the result with [`report`]. [`console`] has messages, progress and Ctrl-C, [`machine`]
//! the memory and the threads. [`dropin`] replaces the programs of LIBSVM and LIBLINEAR.

mod args;
mod commands;
mod console;
mod dropin;
mod files;
mod machine;
mod problem;
mod report;

use console::{failure, interrupt};
use machine::simd_level;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(failure) = simd_level::limit_by_environment() {
        return failure::exit_code(Err(failure));
    }
    if let Some((program, arguments)) = dropin::Program::from_command_line(std::env::args_os()) {
        return program.run(&arguments);
    }
    let cli = args::parse();
    interrupt::install();
    failure::hide_caught_panics();
    failure::exit_code(commands::run(&cli.command))
}
