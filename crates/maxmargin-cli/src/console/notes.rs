//! Warnings, printed once on standard error and repeated in the JSON document.

use super::progress::Phase;
use super::stderr::{print_line, set_quiet};

/// Collects warnings and prints them at once. `quiet` hides notes, never warnings.
#[derive(Debug)]
pub(crate) struct Notes {
    quiet: bool,
    warnings: Vec<String>,
}

impl Notes {
    pub(crate) fn new(quiet: bool) -> Self {
        set_quiet(quiet);
        Self { quiet, warnings: Vec::new() }
    }

    /// Warns of something that the user should act on; each text once.
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.warnings.contains(&text) {
            return;
        }
        print_line(&format!("warning: {text}"));
        self.warnings.push(text);
    }

    /// Prints a note.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            print_line(text);
        }
    }

    /// Shows a spinner until the result is dropped.
    pub(crate) fn phase(&self, what: String) -> Phase {
        Phase::new(self.quiet, what)
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
