//! How these programs end: 0, or 1 with a usage on standard output or a line on standard error.

use crate::console::failure::Failure;
use crate::console::stderr::print_line;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a program ends before its work is done.
#[derive(Debug)]
pub(super) enum Exit {
    /// The usage, and before it what is wrong with the command line.
    Usage { wrong: Option<String>, usage: &'static str },
    /// A line on standard error.
    Error(String),
    /// The same with an exit code that is not 1.
    Code(String, u8),
    /// Whoever read our output has seen enough.
    ClosedPipe,
}

impl Exit {
    /// In the words in which parameters are refused.
    pub(super) fn parameter(what: impl std::fmt::Display) -> Self {
        Self::Error(format!("ERROR: {what}"))
    }

    /// Says why, and returns the exit code.
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
            Failure::Input(what) | Failure::Usage(what) => Self::Error(what),
            Failure::ClosedPipe => Self::ClosedPipe,
        }
    }
}

/// Writes to standard output at once.
pub(super) fn print(text: &str) -> Result<(), Exit> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::write("standard output", &error).into())
}
