//! The one error of the automation: a sentence for the person who ran it.

use std::fmt;

/// What went wrong, where, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure(String);

pub(crate) type Outcome<T> = Result<T, Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A failed [`Outcome`] with this message.
pub(crate) fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Failure(message.into()))
}

/// Puts the place in front of a lower error.
pub(crate) trait Context<T> {
    fn context(self, place: impl fmt::Display) -> Outcome<T>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, place: impl fmt::Display) -> Outcome<T> {
        self.map_err(|error| Failure(format!("{place}: {error}")))
    }
}
