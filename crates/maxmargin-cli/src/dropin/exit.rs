//! Exit codes: 0, or 1 with a usage on standard output or a line on standard error.

use crate::console::failure::Failure;
use crate::console::stderr::print_line;
use std::io::{self, Write};
use std::process::ExitCode;

/// The reason why a program ends early.
#[derive(Debug)]
pub(super) enum Exit {
    /// The usage, after the fault of the command line.
    Usage { wrong: Option<String>, usage: &'static str },
    /// A line on standard error.
    Error(String),
    /// A line on standard error, with this exit code.
    Code(String, u8),
    /// The reader of our output closed the pipe.
    ClosedPipe,
}

impl Exit {
    /// The message of a refused parameter.
    pub(super) fn parameter(what: impl std::fmt::Display) -> Self {
        Self::Error(format!("ERROR: {what}"))
    }

    /// Prints the reason and returns the exit code.
    pub(super) fn report(self) -> ExitCode {
        match self {
            Self::ClosedPipe => ExitCode::SUCCESS,
            Self::Usage { wrong, usage } => {
                wrong.iter().for_each(|line| print_line(line));
                let _ = io::stdout().lock().write_all(usage.as_bytes());
                ExitCode::from(1)
            }
            Self::Error(line) => Self::Code(line, 1).report(),
            Self::Code(line, code) => {
                print_line(&line);
                ExitCode::from(code)
            }
        }
    }
}

impl From<Failure> for Exit {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(what)
            | Failure::Usage(what)
            | Failure::List { message: what, .. }
            | Failure::Ended { message: what, .. } => Self::Error(what),
            Failure::ClosedPipe => Self::ClosedPipe,
        }
    }
}

/// Prints to standard output and flushes it.
pub(super) fn print(text: &str) -> Result<(), Exit> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::write("standard output", &error).into())
}
