//! The groups of rows of which each has a conformal promise by itself.

use crate::run::refusal::ConformalProblem;
use serde::{Deserialize, Serialize};

/// The group of each row of a training set. Groups are words of the caller and no features: the
/// promise holds for the rows of each of them by themselves (Mondrian).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConformalGroups {
    /// Ascending, each once.
    names: Vec<String>,
    /// An index into `names` for each row.
    of: Vec<u32>,
}

impl ConformalGroups {
    /// Returns the groups of rows by one word for each row.
    ///
    /// # Errors
    ///
    /// When a word is empty.
    pub fn new(words: &[impl AsRef<str>]) -> Result<Self, ConformalProblem> {
        if let Some(row) = words.iter().position(|word| word.as_ref().is_empty()) {
            return Err(ConformalProblem::NoGroup { row });
        }
        let mut names: Vec<String> = words.iter().map(|word| word.as_ref().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        let of = places(&names, words)?;
        Ok(Self { names, of })
    }

    /// The names of the groups, ascending.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The group of each row, as an index into the names.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Returns the groups of some rows, over all names.
    pub(crate) fn select(&self, rows: &[u64]) -> Self {
        Self { names: self.names.clone(), of: rows.iter().map(|row| self.of[*row as usize]).collect() }
    }

    /// Returns the group of each new row, as an index into the names.
    ///
    /// # Errors
    ///
    /// When a word is none of the names.
    pub(crate) fn places(&self, words: &[impl AsRef<str>]) -> Result<Vec<u32>, ConformalProblem> {
        places(&self.names, words)
    }

    /// Returns true if there is a name for each of `rows` rows, and a row for each name.
    pub(crate) fn is_sound(&self, rows: usize) -> bool {
        let mut used = vec![false; self.names.len()];
        let exist = self.of.iter().all(|of| used.get_mut(*of as usize).map(|used| *used = true).is_some());
        let is_ascending = self.names.is_sorted_by(|a, b| a < b) && self.names.iter().all(|name| !name.is_empty());
        self.of.len() == rows && exist && is_ascending && used.iter().all(|used| *used)
    }
}

/// Returns the index of each word among ascending names.
fn places(names: &[String], words: &[impl AsRef<str>]) -> Result<Vec<u32>, ConformalProblem> {
    let place = |(row, word): (usize, &_)| {
        let word: &str = AsRef::as_ref(word);
        let found = names.binary_search_by(|name| name[..].cmp(word));
        found.map(|place| place as u32).map_err(|_| ConformalProblem::unknown_group(row, word, names))
    };
    words.iter().enumerate().map(place).collect()
}
