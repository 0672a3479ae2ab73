//! What messages quote of a file: never more than fits a line, and nothing that breaks it.

/// The first `most` characters of `text` (and `…` where there are more), each control character as
/// `�`: a damaged file must not end the line of a message, nor steer a terminal.
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
