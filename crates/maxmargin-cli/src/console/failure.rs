//! How a command ends: exit codes and the one line that explains a failure.

use crate::console::interrupt;
use crate::console::stderr::print_line;
use maxmargin::data::table::decodes_columns;
use std::fmt;
use std::process::ExitCode;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Exit code 0.
    Finished,
    /// Exit code 1: the answer is no (verify found a mismatch); everything has been said.
    Refuted,
    /// Exit code 3: stopped before convergence; the result is written.
    Stopped,
    /// Exit code 130: interrupted, and nothing was written; everything has been said.
    Abandoned,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Exit code 1.
    Input(String),
    /// Exit code 2.
    Usage(String),
    /// Exit code 0, silently: whoever read our output has seen enough.
    ClosedPipe,
}

impl Failure {
    /// Bad input: `place` is the file (with line and column if known), `what` what is wrong with it
    /// and what to do.
    pub(crate) fn input(place: impl fmt::Display, what: impl fmt::Display) -> Self {
        Self::Input(format!("{place}: {what}"))
    }

    /// A failed write; a closed pipe is not an error.
    pub(crate) fn write(place: impl fmt::Display, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            std::io::ErrorKind::StorageFull => Self::input(place, "the disk is full, nothing was written; free some space"),
            _ => Self::input(place, format!("cannot write: {}", reason(error))),
        }
    }
}

/// What the operating system says, without its error number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Says nothing of panics that become an error: those of the libraries for Parquet and Arrow at a
/// damaged file.
pub(crate) fn hide_caught_panics() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !decodes_columns() {
            say(panic);
        }
    }));
}

/// Prints the failure, if there is one, and returns the exit code.
pub(crate) fn exit_code(result: Result<Done, Failure>) -> ExitCode {
    match result {
        Ok(Done::Finished) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Ok(Done::Refuted) => ExitCode::from(1),
        Ok(Done::Stopped) => ExitCode::from(3),
        Ok(Done::Abandoned) => ExitCode::from(interrupt::INTERRUPTED),
        Err(Failure::Input(message)) => {
            print_line(&format!("error: {}", one_line(&message)));
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            print_line(&format!("error: {}", one_line(&message)));
            ExitCode::from(2)
        }
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
