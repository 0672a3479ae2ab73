//! Labels as text of messages.

use maxmargin_data::number::write_shortest;
use maxmargin_data::quote::quoted;

/// A label with the fewest digits that are exact.
pub(crate) fn label_in_words(label: f64) -> String {
    let mut text = Vec::new();
    write_shortest(&mut text, label).expect("memory takes everything");
    String::from_utf8(text).expect("numbers are ASCII")
}

/// The name of a label: 0, 1, 2, … stand for `names`, which a table with words has.
pub(crate) fn label_name(label: f64, names: &[String]) -> String {
    const SHOWN: usize = 40;
    let name = names.get(label as usize).filter(|_| label >= 0.0 && label.fract() == 0.0);
    name.map_or_else(|| label_in_words(label), |name| quoted(name, SHOWN))
}

/// The first labels of a list by their names, and the number of the others.
pub(crate) fn labels_in_words(labels: &[f64], names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| label_name(*label, names)).collect();
    let more = labels.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}
