//! The names of labels: the words of a table's target if it has any, otherwise the numbers.

use crate::console::format;
use maxmargin::data::Columns;
use maxmargin::data::quote::quoted;
use std::sync::OnceLock;

/// Characters of a name in a table or message.
const SHOWN: usize = 40;

/// The words for the labels 0, 1, 2, …. A process runs one command, which has one target.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

/// Stores the names of the labels of these columns.
pub(crate) fn remember(columns: &Columns) {
    if !columns.labels().is_empty() {
        let _ = NAMES.set(columns.labels().to_vec());
    }
}

/// Returns the word for a label, if there are words.
pub(crate) fn word_of(label: f64) -> Option<&'static str> {
    let names = NAMES.get()?;
    let is_place = label.fract() == 0.0 && label >= 0.0;
    names.get(label as usize).filter(|_| is_place).map(String::as_str)
}

/// Returns the label of a word if there are words, otherwise that of a number.
pub(crate) fn label(word: &str) -> Option<f64> {
    match NAMES.get() {
        Some(names) => names.iter().position(|name| name == word).map(|place| place as f64),
        None => word.parse().ok().filter(|label: &f64| label.is_finite()),
    }
}

/// Returns a label for messages and reports: the beginning of a word, and all of it where another
/// label begins like that.
pub(crate) fn display(label: f64) -> String {
    word_of(label).map_or_else(|| format::exact(label), |word| shown(word, NAMES.get().map_or(&[], Vec::as_slice)))
}

fn shown(word: &str, names: &[String]) -> String {
    let Some((end, _)) = word.char_indices().nth(SHOWN) else { return quoted(word, SHOWN) };
    let is_alone = names.iter().filter(|name| name.starts_with(&word[..end])).count() <= 1;
    quoted(word, if is_alone { SHOWN } else { usize::MAX })
}

/// Returns a label for output files. A word with blanks or quotes is quoted, with inner quotes
/// doubled.
pub(crate) fn for_file(label: f64) -> String {
    word_of(label).map_or_else(|| format::exact(label), field)
}

fn field(word: &str) -> String {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"') {
        format!("\"{}\"", word.replace('"', "\"\""))
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    //! Words of classes in reports and files.

    use super::*;

    #[test]
    fn words_that_begin_alike_are_shown_whole() {
        let long = "Customer has cancelled the contract within the first year: ";
        let names = [format!("{long}yes"), format!("{long}no"), format!("No {long}")];
        assert_eq!(shown(&names[0], &names), names[0]);
        assert_eq!(shown(&names[2], &names), format!("{}…", &names[2][..SHOWN]));
    }

    #[test]
    fn words_in_files_are_themselves() {
        for (word, expected) in [("a", "a"), ("a b", "\"a b\""), ("a\"b", "\"a\"\"b\""), ("l1\nl2", "\"l1\nl2\""), ("", "\"\"")] {
            assert_eq!(field(word), expected);
        }
    }
}
