//! Blanks between fields: before quotes, and as delimiters.

use std::borrow::Cow;

/// Removes blanks before quotes. Where blanks delimit fields, each run of blanks becomes one.
pub(super) fn without_blanks(text: &str, delimiter: u8) -> Cow<'_, str> {
    let is_blank = |byte: u8| byte == b' ' || (byte == b'\t' && delimiter != b'\t');
    if delimiter != b' ' && !text.as_bytes().windows(2).any(|pair| is_blank(pair[0]) && pair[1] == b'"') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let (mut rest, mut begins, mut at_start) = (text, true, true);
    while let Some(next) = rest.bytes().next() {
        let blanks = rest.bytes().take_while(|&byte| is_blank(byte)).count();
        let after = rest[blanks..].bytes().next();
        if delimiter == b' ' && blanks > 0 {
            // Blanks at both ends of a line delimit nothing.
            let is_inside = !at_start && !matches!(after, None | Some(b'\r' | b'\n'));
            kept.push_str(if is_inside { " " } else { "" });
            (rest, begins) = (&rest[blanks..], true);
        } else if begins && after == Some(b'"') {
            let end = quoted_end(&rest[blanks..]).unwrap_or(rest.len() - blanks);
            let is_field = blanks == 0
                || rest[blanks + end..]
                    .trim_start_matches([' ', '\t'])
                    .bytes()
                    .next()
                    .is_none_or(|byte| byte == delimiter || is_blank(byte) || matches!(byte, b'\r' | b'\n'));
            let from = if is_field { blanks } else { 0 };
            kept.push_str(&rest[from..blanks + end]);
            (rest, begins, at_start) = (&rest[blanks + end..], false, false);
        } else {
            let is_end = matches!(next, b'\r' | b'\n');
            begins = next == delimiter || is_end;
            at_start = is_end;
            let length = rest.chars().next().map_or(0, char::len_utf8);
            kept.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    Cow::Owned(kept)
}

/// The length of a quoted field with its quotes; none if it never ends.
fn quoted_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(quote) = bytes[at..].iter().position(|byte| *byte == b'"') {
        at += quote + 1;
        if bytes.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_before_quotes_are_removed() {
        let cases = [
            ("1, \"5.5\",x\n", "1,\"5.5\",x\n"),
            ("1,\t \"a, \"\"b\"\"\" ,x\n  \"c\",2\n", "1,\"a, \"\"b\"\"\" ,x\n\"c\",2\n"),
            ("a, \"b\" c\n", "a, \"b\" c\n"),
            ("12 \"inch,2\n", "12 \"inch,2\n"),
            ("1, \"x\n", "1,\"x\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_blanks(text, b','), expected, "{text:?}");
        }
        assert_eq!(without_blanks("  1   2\t3 \r\n\n 4 \"a  b\" 5", b' '), "1 2 3\r\n\n4 \"a  b\" 5");
    }
}
