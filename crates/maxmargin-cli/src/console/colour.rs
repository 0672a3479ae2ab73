//! Colours on terminals; none where `NO_COLOR` is set (no-color.org).

use std::io::IsTerminal;

/// A bold colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Yellow,
    Green,
}

impl Colour {
    /// Returns the text in this colour.
    pub(crate) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
        };
        format!("\x1b[1;{code}m{text}\x1b[0m")
    }
}

/// Returns whether text for this stream has colours.
pub(crate) fn is_wanted(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
