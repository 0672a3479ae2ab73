//! Warnings: said once on standard error, and repeated in the JSON document.

use crate::progress::Phase;

/// Collects warnings; prints them as they come unless told to be quiet.
#[derive(Debug)]
pub(crate) struct Notes {
    quiet: bool,
    warnings: Vec<String>,
}

impl Notes {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, warnings: Vec::new() }
    }

    /// Something that the user should act on.
    #[expect(clippy::print_stderr, reason = "warnings go to standard error")]
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.warnings.contains(&text) {
            return;
        }
        if !self.quiet {
            eprintln!("warning: {text}");
        }
        self.warnings.push(text);
    }

    /// Something that is good to know.
    #[expect(clippy::print_stderr, reason = "the report on standard output stays one document")]
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
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
