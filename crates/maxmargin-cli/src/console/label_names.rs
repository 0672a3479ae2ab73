//! What labels are called: the words of a table's target, where it has some, and the numbers
//! themselves otherwise.

use crate::console::format;
use maxmargin::data::Columns;
use maxmargin::data::quote::quoted;
use std::sync::OnceLock;

/// Characters of a name in a table or message.
const SHOWN: usize = 40;

/// The words that stand for 0, 1, 2, …: one process is one command, and one command has one target.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers what the labels of these columns are called.
pub(crate) fn know(columns: &Columns) {
    if !columns.labels().is_empty() {
        let _ = NAMES.set(columns.labels().to_vec());
    }
}

/// The word that a label stands for, where there are words.
pub(crate) fn word(label: f64) -> Option<&'static str> {
    let names = NAMES.get()?;
    let is_place = label.fract() == 0.0 && label >= 0.0;
    names.get(label as usize).filter(|_| is_place).map(String::as_str)
}

/// The label that a word stands for, where there are words; that of a number otherwise.
pub(crate) fn label(word: &str) -> Option<f64> {
    match NAMES.get() {
        Some(names) => names.iter().position(|name| name == word).map(|place| place as f64),
        None => word.parse().ok().filter(|label: &f64| label.is_finite()),
    }
}

/// A label for people.
pub(crate) fn shown(label: f64) -> String {
    word(label).map_or_else(|| format::exact(label), |word| quoted(word, SHOWN))
}

/// A label in a file of one line a row: in quotes, doubled inside, where a word has blanks or
/// quotes.
pub(crate) fn written(label: f64) -> String {
    let Some(word) = word(label) else { return format::exact(label) };
    let plain = quoted(word, usize::MAX);
    if plain.is_empty() || plain.contains(|c: char| c.is_whitespace() || c == '"') {
        format!("\"{}\"", plain.replace('"', "\"\""))
    } else {
        plain
    }
}
