//! Items of Markdown lists, broken between words.

/// The most columns of a line.
const COLUMNS: usize = 118;

/// Returns an item of a list, `- text` with spaces before it, in whole lines that belong to it.
pub(crate) fn wrapped_item(line: &str) -> String {
    maxmargin_plot::wrapped(line, COLUMNS, |word| !begins_a_block(word)) + "\n"
}

/// Returns whether a line that begins with the word is no longer a line of its paragraph.
fn begins_a_block(word: &str) -> bool {
    let numbered = word.ends_with(['.', ')']) && word[..word.len() - 1].chars().all(|c| c.is_ascii_digit());
    word.starts_with(['>', '-', '+', '*', '#', '=', '|', '~']) || numbered
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, wrapped_item};

    #[test]
    fn items_go_on_below_their_text() {
        let text = format!("  - {}", "word ".repeat(60).trim_end());
        let wrapped = wrapped_item(&text);
        let lines: Vec<&str> = wrapped.lines().collect();
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= COLUMNS), "{wrapped}");
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"), "{wrapped}");
        assert_eq!(wrapped_item("- short"), "- short\n");
    }

    #[test]
    fn no_line_begins_with_a_mark_of_its_own() {
        for mark in [">", "- ", "+", "1.", "#"] {
            let text = format!("- {} {mark} 1138", "x".repeat(COLUMNS - 3));
            let wrapped = wrapped_item(&text);
            assert!(wrapped.lines().skip(1).all(|line| !line.trim_start().starts_with(mark.trim())), "{wrapped}");
        }
    }
}
