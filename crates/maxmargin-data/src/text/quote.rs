//! Quotations of file contents in messages: short, and without line breaks.

/// Returns the first `most` characters of `text`, and `…` if there are more. Control characters
/// become `�`, because a corrupted file must not break the line of a message or control a terminal.
pub fn quoted(text: &str, most: usize) -> String {
    let mut quoted: String =
        text.chars().take(most).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if text.chars().nth(most).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_short_and_of_one_line() {
        assert_eq!(quoted("1:2", 4), "1:2");
        assert_eq!(quoted("äöüß", 4), "äöüß");
        assert_eq!(quoted("äöüßx", 4), "äöüß…");
        assert_eq!(quoted("1\r\n\u{1b}[2J\u{9b}", 40), "1\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}");
    }
}
