//! Lines on standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The `--quiet` of the command: one process runs one command.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints a line on standard error. A failure to do so is ignored.
pub(crate) fn print_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Sets `--quiet` for the whole process.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Prints a note unless `--quiet`, for callers without [`Notes`](super::notes::Notes).
pub(crate) fn note_unless_quiet(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        print_line(text);
    }
}
