//! Rules about comments and prose: their width, and how a doc comment begins.

/// The most columns of a comment line, and of a line of prose in Markdown.
const COMMENT: usize = 100;
const MARKDOWN: usize = 120;

/// Words that begin no doc comment: its first sentence says what the item is or does.
const OPENINGS: [&str; 6] = ["What", "Who", "Whoever", "Whose", "That", "Those"];

/// The text behind the slashes of a line that is a comment and nothing else.
fn comment(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("//")?;
    Some(rest.strip_prefix(['/', '!']).unwrap_or(rest).trim_start())
}

/// The text of a line of a doc comment.
fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then_some(text)
}

/// Whether a line cannot be wrapped: it has a link, or is the row of a table.
fn keeps_its_width(text: &str) -> bool {
    text.trim_start().starts_with('|') || text.contains("](") || text.contains("://") || text.trim_start().starts_with('[')
}

/// The lines of a Rust file, from 1, whose comment is too wide.
pub(super) fn wide_comments(text: &str) -> Vec<usize> {
    let mut fenced = false;
    let mut wide = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let Some(words) = comment(line) else {
            fenced = false;
            continue;
        };
        fenced ^= words.starts_with("```");
        if !fenced && line.chars().count() > COMMENT && !keeps_its_width(words) {
            wide.push(n + 1);
        }
    }
    wide
}

/// The lines of a Markdown file, from 1, whose prose is too wide.
pub(super) fn wide_prose(text: &str) -> Vec<usize> {
    let mut fenced = false;
    let mut wide = Vec::new();
    for (n, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let html = line.trim_start().starts_with('<');
        if !fenced && !html && line.chars().count() > MARKDOWN && !keeps_its_width(line) {
            wide.push(n + 1);
        }
    }
    wide
}

/// The lines, from 1, where a doc comment begins with one of [`OPENINGS`], and the word.
pub(super) fn openings(text: &str) -> Vec<(usize, &'static str)> {
    let mut before = false;
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let words = doc(line);
        if let Some(words) = words.filter(|_| !before) {
            let first = words.split_whitespace().next().unwrap_or_default();
            let first = first.split(['\'', '’', ',']).next().unwrap_or_default();
            found.extend(OPENINGS.into_iter().find(|word| *word == first).map(|word| (n + 1, word)));
        }
        before = words.is_some();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{openings, wide_comments, wide_prose};

    #[test]
    fn comments_are_measured_in_characters() {
        let text = |words: &str| format!("let x = 1; {0}\n    // {words}\n", "x".repeat(120));
        assert_eq!(wide_comments(&text(&"é".repeat(93))), Vec::<usize>::new());
        assert_eq!(wide_comments(&text(&"é".repeat(94))), [2]);
        let long = "x".repeat(120);
        assert_eq!(wide_comments(&format!("/// | {long} |\n//! [a](b) {long}\n/// ```\n/// {long}\n/// ```\n// {long}\n")), [6]);
    }

    #[test]
    fn prose_is_measured_and_tables_are_not() {
        let long = "x".repeat(121);
        assert_eq!(wide_prose(&format!("{long}\n| {long} |\n```\n{long}\n```\n[{long}](y)\n- {long}\n")), [1, 7]);
    }

    #[test]
    fn the_first_word_of_a_doc_comment_counts() {
        let text = "//! What it is.\n\n/// Returns it.\n/// What else.\nfn f() {}\n    /// Who's there.\n// That is a comment.\n";
        assert_eq!(openings(text), [(1, "What"), (6, "Who")]);
        assert!(openings("/// Whatever.\n").is_empty());
    }
}
