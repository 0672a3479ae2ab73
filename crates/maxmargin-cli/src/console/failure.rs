//! Exit codes, and the message that explains a failure.

use crate::console::interrupt;
use crate::console::stderr::print_line;
use maxmargin::data::table::decodes_columns;
use std::fmt;
use std::process::ExitCode;

/// The outcome of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Finished,
    /// Exit code 1: the answer is negative (verify found a mismatch) and already printed.
    Refuted,
    /// Exit code 3: stopped before convergence; the result is written.
    Stopped,
    /// Exit code 130: interrupted with nothing written; the message is already printed.
    Interrupted,
}

/// The reason why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Exit code 1.
    Input(String),
    /// Exit code 1: several faults, one a line, and what to do about all of them.
    List { message: String, lines: Vec<String>, advice: String },
    /// Exit code 2.
    Usage(String),
    /// Exit code 130 or 3: ended before there was a result, by the user or by a limit.
    Ended { interrupted: bool, message: String },
    /// Exit code 0, silently: the reader of our output closed the pipe.
    ClosedPipe,
}

impl Failure {
    /// Bad input at `place`, a file with line and column if known; `what` is the fault and what to
    /// do.
    pub(crate) fn input(place: impl fmt::Display, what: impl fmt::Display) -> Self {
        Self::Input(format!("{place}: {what}"))
    }

    /// A failed write of a whole file, or to standard output. A closed pipe is not an error.
    pub(crate) fn write(place: impl fmt::Display, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            std::io::ErrorKind::StorageFull => Self::input(place, "the disk is full, and this was not written; free some space"),
            _ => Self::input(place, format!("cannot write: {}", reason(error))),
        }
    }

    /// Adds that `file` was written before the failure. A user who repeats the command may apply it
    /// twice.
    #[must_use]
    pub(crate) fn after_writing(self, file: &str) -> Self {
        match self {
            Self::Input(message) => Self::Input(format!("{message} ({file} was written)")),
            other => other,
        }
    }
}

/// Returns the message of the operating system without its error number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Hides panics that are turned into errors: those of the Parquet and Arrow libraries on corrupted
/// files.
pub(crate) fn hide_caught_panics() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !decodes_columns() {
            say(panic);
        }
    }));
}

/// Prints the failure, if there is one, and returns the exit code.
pub(crate) fn exit_code(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(Outcome::Finished) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Ok(Outcome::Refuted) => ExitCode::from(1),
        Ok(Outcome::Stopped) => ExitCode::from(3),
        Ok(Outcome::Interrupted) => ExitCode::from(interrupt::INTERRUPTED),
        Err(Failure::Input(message)) => {
            print_line(&format!("error: {}", one_line(&message)));
            ExitCode::from(1)
        }
        Err(Failure::List { message, lines, advice }) => {
            print_line(&format!("error: {}:", one_line(&message)));
            lines.iter().for_each(|line| print_line(&format!("  {}", one_line(line))));
            print_line(&one_line(&advice));
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            print_line(&format!("error: {}", one_line(&message)));
            ExitCode::from(2)
        }
        Err(Failure::Ended { interrupted, message }) => {
            print_line(&format!("error: {}", one_line(&message)));
            ExitCode::from(if interrupted { interrupt::INTERRUPTED } else { 3 })
        }
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
