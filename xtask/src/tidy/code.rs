//! Rust text with comments and literals blanked, so that a search finds code only.

/// The same lines as `source`, with every comment, string and character literal replaced by blanks.
pub(crate) fn only_code(source: &str) -> String {
    let text: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(&text, at);
        if end > at {
            out.extend(text[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// Returns the end of the comment or literal that begins at `at`, and `at` itself when none does.
fn literal_end(text: &[char], at: usize) -> usize {
    let next = text.get(at + 1).copied();
    match text[at] {
        '/' if next == Some('/') => text[at..].iter().position(|&c| c == '\n').map_or(text.len(), |n| at + n),
        '/' if next == Some('*') => block_end(text, at),
        '"' => quoted_end(text, at + 1, '"'),
        'r' if !joins(text, at) => raw_end(text, at),
        '\'' => character_end(text, at),
        _ => at,
    }
}

/// Returns whether the letter at `at` continues a word. `b` and `c` are the prefixes of byte and C
/// strings.
fn joins(text: &[char], at: usize) -> bool {
    let word = |i: usize| text[i].is_alphanumeric() || text[i] == '_';
    match at.checked_sub(1) {
        Some(before) if matches!(text[before], 'b' | 'c') => before > 0 && word(before - 1),
        Some(before) => word(before),
        None => false,
    }
}

fn block_end(text: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i < text.len() {
        match (text[i], text.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    text.len()
}

fn quoted_end(text: &[char], mut i: usize, quote: char) -> usize {
    while i < text.len() {
        match text[i] {
            '\\' => i += 2,
            c if c == quote => return i + 1,
            _ => i += 1,
        }
    }
    text.len()
}

fn raw_end(text: &[char], at: usize) -> usize {
    let hashes = text[at + 1..].iter().take_while(|&&c| c == '#').count();
    let open = at + 1 + hashes;
    if text.get(open) != Some(&'"') {
        return at;
    }
    let closes = |i: usize| text[i] == '"' && text[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    (open + 1..text.len()).find(|&i| closes(i)).map_or(text.len(), |i| i + 1 + hashes)
}

/// A lifetime is not a literal: a character literal closes after one character or an escape.
fn character_end(text: &[char], at: usize) -> usize {
    match (text.get(at + 1), text.get(at + 2)) {
        (Some('\\'), _) => quoted_end(text, at + 1, '\''),
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::only_code;

    fn check(source: &str, code: &str) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&only_code(source)), words(code), "{source}");
        assert_eq!(only_code(source).lines().count(), source.lines().count(), "lines stay: {source}");
    }

    #[test]
    fn comments_and_literals_vanish() {
        check("a // b\nc", "a\nc");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("x \" // y", 1)"#, "f( , 1)");
        check("f(r#\"a \" b\"#, br\"c\")", "f( , b )");
        check("x('a', '\\'', '\"', b'\\n')", "x( , , , b )");
        check("fn f<'a>(x: &'a str) -> &'static str { x }", "fn f<'a>(x: &'a str) -> &'static str { x }");
        check("let bar = \"a\nb\"; for x", "let bar = \n ; for x");
        check("\"open", "");
    }
}
