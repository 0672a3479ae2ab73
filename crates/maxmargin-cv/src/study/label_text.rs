//! Labels as text of messages.

use maxmargin_data::number::write_shortest;

/// A label with the fewest digits that are exact.
pub(crate) fn label_in_words(label: f64) -> String {
    let mut text = Vec::new();
    write_shortest(&mut text, label).expect("memory takes everything");
    String::from_utf8(text).expect("numbers are ASCII")
}

/// The first labels of a list, and the number of the others.
pub(crate) fn labels_in_words(labels: &[f64]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| label_in_words(*label)).collect();
    let more = labels.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}
