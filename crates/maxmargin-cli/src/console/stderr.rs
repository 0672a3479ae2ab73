//! Lines on standard error.

use super::colour::{self, Colour};
use super::wrap::wrapped_message;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The `--quiet` of the command: one process runs one command.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints a line on standard error. A failure to do so is ignored.
pub(crate) fn print_line(text: &str) {
    let mut err = io::stderr().lock();
    let is_coloured = colour::is_wanted(&err);
    let _ = writeln!(err, "{}", with_coloured_head(&wrapped_message(&err, text), is_coloured));
}

/// Colours `error:` and `warning:` at the beginning of a line.
fn with_coloured_head(text: &str, is_coloured: bool) -> String {
    let head = [("error:", Colour::Red), ("warning:", Colour::Yellow)].into_iter().find(|(head, _)| text.starts_with(head));
    match head {
        Some((head, colour)) if is_coloured => format!("{}{}", colour.paint(head), &text[head.len()..]),
        _ => text.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_faults_have_colours_on_a_terminal() {
        let text = "warning: the features have different scales";
        assert_eq!(with_coloured_head(text, true), "\x1b[1;33mwarning:\x1b[0m the features have different scales");
        assert_eq!(with_coloured_head("error: no", true), "\x1b[1;31merror:\x1b[0m no");
        assert_eq!(with_coloured_head(text, false), text);
        assert_eq!(with_coloured_head("a warning: no", true), "a warning: no");
    }
}
