//! The text form of plans, one line for each sample.

use super::{FoldPlan, PlanError};
use maxmargin_data::quote::quoted;
use std::fmt::Write;

/// The mark before the number of a fold that leaves a sample out without testing it.
const ASIDE: char = '!';

/// The line of a sample that every fold trains on.
const NOWHERE: &str = "-";

/// An entry of a line: a fold that does not train on the sample.
struct Word {
    fold: u32,
    sample: usize,
    tested: bool,
}

impl FoldPlan {
    /// Reads the text of [`FoldPlan::to_text`]. Lines that are empty or begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// When a line has another form, the number of lines is not `samples`, or a fold below the
    /// greatest number is empty; as [`FoldPlan::from_tests`].
    pub fn from_text(text: &str, samples: usize) -> Result<Self, PlanError> {
        let mut words = Vec::new();
        let mut found = 0;
        let lines = text.lines().map(str::trim).enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = || PlanError::Line { line: at + 1, found: quoted(line, 40) };
            if line != NOWHERE {
                for word in line.split_whitespace() {
                    let number = word.strip_prefix(ASIDE);
                    // The number of folds is at most the number of entries, which bounds the
                    // memory.
                    let fold = number.unwrap_or(word).parse().ok().filter(|&fold: &u32| (fold as usize) < text.len());
                    words.push(Word { fold: fold.ok_or_else(wrong)?, sample: found, tested: number.is_none() });
                }
            }
            found += 1;
        }
        if found != samples {
            return Err(PlanError::Length { found, samples });
        }
        if words.len() == samples && words.iter().enumerate().all(|(sample, word)| word.sample == sample && word.tested) {
            return Self::from_folds(&words.iter().map(|word| word.fold).collect::<Vec<_>>());
        }
        // The sort is stable, so that samples ascend in each fold.
        words.sort_by_key(|word| word.fold);
        let lists: Vec<&[Word]> = words.chunk_by(|a, b| a.fold == b.fold).collect();
        if let Some(fold) = (0..lists.len()).find(|&fold| lists[fold][0].fold as usize != fold) {
            return Err(PlanError::EmptyFold { fold, greatest: words.last().map_or(0, |word| word.fold as usize) });
        }
        let of = |words: &'_ [Word], tested: bool| -> Vec<usize> {
            words.iter().filter(|word| word.tested == tested).map(|word| word.sample).collect()
        };
        Self::from_tests(samples, lists.iter().map(|words| (of(words, true), of(words, false))))
    }

    /// One line for each sample: the number, from 0, of the fold that tests it. A sample that
    /// several folds test has all of their numbers, with blanks between; `!3` says that fold 3
    /// neither tests nor trains on it, `-` that every fold trains on it.
    pub fn to_text(&self) -> String {
        let mut lines = vec![String::new(); self.samples];
        for fold in 0..self.folds() {
            let tested = self.test.of(fold).iter().map(|sample| (sample, ""));
            let marked = self.aside.of(fold).iter().map(|sample| (sample, "!"));
            for (&sample, mark) in tested.chain(marked) {
                let line = &mut lines[sample];
                let space = if line.is_empty() { "" } else { " " };
                let _ = write!(line, "{space}{mark}{fold}");
            }
        }
        let line = |line: &String| if line.is_empty() { NOWHERE } else { line }.to_owned() + "\n";
        lines.iter().map(line).collect()
    }
}
