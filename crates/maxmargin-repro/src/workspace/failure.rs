//! The error of all commands: a sentence for the person who ran it.

use std::fmt;

/// An error: what happened, where, and what to do about it.
#[derive(Debug)]
pub struct Failure(String);

/// The result of a command or a step of one.
pub type Outcome<T> = Result<T, Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a failed [`Outcome`] with this message.
///
/// # Errors
///
/// Always.
pub fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Failure(message.into()))
}

/// Adds the place to an error.
pub trait Context<T> {
    /// Puts the place in front of the error's message.
    ///
    /// # Errors
    ///
    /// When the result is one.
    fn context(self, place: impl fmt::Display) -> Outcome<T>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, place: impl fmt::Display) -> Outcome<T> {
        self.map_err(|error| Failure(format!("{place}: {error}")))
    }
}
