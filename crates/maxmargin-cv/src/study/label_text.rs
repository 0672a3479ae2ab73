//! Labels in messages.

use maxmargin_data::number::write_shortest;

/// A label in the fewest digits that are exact.
pub(crate) fn label_in_words(label: f64) -> String {
    let mut text = Vec::new();
    write_shortest(&mut text, label).expect("memory takes everything");
    String::from_utf8(text).expect("numbers are ASCII")
}

/// Some labels, and how many more there are.
pub(crate) fn labels_in_words(labels: &[f64]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| label_in_words(*label)).collect();
    let more = labels.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}
