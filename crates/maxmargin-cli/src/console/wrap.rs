//! Long lines on terminals, broken between words.

use std::io::IsTerminal;

/// Columns of a terminal that everybody has.
pub(crate) const TERMINAL: usize = 80;

/// Returns a message for this stream. On terminals long lines are broken between words, and the
/// rest of a line is indented. Rows of tables and commands stay as they are: commands are copied.
pub(crate) fn wrapped_message(stream: &impl IsTerminal, text: &str) -> String {
    if stream.is_terminal() { text.split_inclusive('\n').map(wrapped).collect() } else { text.to_owned() }
}

/// Returns a report for this stream, as [`wrapped_message`]. Indented lines, such as those of code,
/// stay as they are.
pub(crate) fn wrapped_report(stream: &impl IsTerminal, text: &str) -> String {
    if stream.is_terminal() { text.split_inclusive('\n').map(wrapped_unless_indented).collect() } else { text.to_owned() }
}

fn wrapped_unless_indented(line: &str) -> String {
    if line.starts_with(' ') { line.to_owned() } else { wrapped(line) }
}

fn wrapped(line: &str) -> String {
    let is_kept = line.trim().contains("  ") || line.contains(": maxmargin ");
    if line.chars().count() <= TERMINAL || is_kept {
        return line.to_owned();
    }
    maxmargin_plot::wrapped(line, TERMINAL, |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let words = "word ".repeat(40);
        let text = format!("warning: {}\n", words.trim_end());
        let found = wrapped(&text);
        assert!(found.lines().all(|line| line.chars().count() <= TERMINAL) && found.lines().count() == 3, "{found}");
        assert!(found.lines().skip(1).all(|line| line.starts_with("  word")) && found.ends_with("word\n"));
        assert_eq!(wrapped(&format!("  {text}")).lines().nth(1).map(|line| &line[..8]), Some("    word"));
        assert_eq!(found.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        let row = format!(" status  {words}\n");
        let command = format!("mend them, or try: maxmargin train {words}");
        let path = "p/".repeat(60);
        assert_eq!([&row, &command, &path].map(|text| wrapped(text)), [row.clone(), command.clone(), path.clone()]);
        let code = format!("  {words}");
        assert_eq!(wrapped_unless_indented(&code), code);
    }
}
