//! Warnings: said once on standard error, and repeated in the JSON document.

use crate::progress::Phase;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// What the command was told: one process is one command.
static QUIET: AtomicBool = AtomicBool::new(false);

/// A line on standard error. Where that cannot be written there is nobody to tell.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Something that is good to know, for those who have no [`Notes`] at hand.
pub(crate) fn say_unless_quiet(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        tell(text);
    }
}

/// Collects warnings and prints them as they come; `quiet` hides what is only good to know, never a
/// warning.
#[derive(Debug)]
pub(crate) struct Notes {
    quiet: bool,
    warnings: Vec<String>,
}

impl Notes {
    pub(crate) fn new(quiet: bool) -> Self {
        QUIET.store(quiet, Ordering::Relaxed);
        Self { quiet, warnings: Vec::new() }
    }

    /// Something that the user should act on.
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.warnings.contains(&text) {
            return;
        }
        tell(&format!("warning: {text}"));
        self.warnings.push(text);
    }

    /// Something that is good to know.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            tell(text);
        }
    }

    /// Shows what is being done while the result is held.
    pub(crate) fn phase(&self, what: String) -> Phase {
        Phase::new(self.quiet, what)
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
