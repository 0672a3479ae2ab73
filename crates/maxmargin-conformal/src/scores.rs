//! Scores of rows by the machines of folds that did not see them, and the predictions that follow.

use crate::error::ConformalError;
use crate::level::Level;

/// The prediction of one fold's machine for a row: a range that the score widens, and the unit of
/// the score there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The lower end of the range.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The factor of scores: 1, or a predicted spread.
    pub unit: f64,
}

impl Band {
    /// Returns the band of a prediction without a range, whose score is its absolute error.
    pub fn around(prediction: f64) -> Self {
        Self { lower: prediction, upper: prediction, unit: 1.0 }
    }

    /// Returns the score of a truth: how far, in units, it is outside of the range; below 0 inside.
    /// This is the absolute error of a prediction without a range.
    pub fn score(self, truth: f64) -> f64 {
        (self.lower - truth).max(truth - self.upper) / self.unit
    }
}

/// An interval. Bounds are infinite if there are too few scores for the level. An interval of a
/// band may be empty: its lower bound is then above its upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl Interval {
    /// Returns true if a value is within the bounds.
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}

/// The scores of rows, each by the machine of the fold that held the row out. A greater score is a
/// worse fit.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossScores {
    /// For each category and each fold, its scores, ascending.
    sorted: Vec<Vec<Vec<f64>>>,
}

impl CrossScores {
    /// Sorts scores by the fold of each row. With categories, predictions count the scores of one
    /// category only (Mondrian).
    ///
    /// # Errors
    ///
    /// When lengths differ, a score is NaN, or there are none.
    pub fn new(folds: &[u32], scores: &[f64], categories: Option<&[u32]>) -> Result<Self, ConformalError> {
        let named = categories.map_or(scores.len(), <[u32]>::len);
        if folds.len() != scores.len() || named != scores.len() {
            return Err(ConformalError::Lengths { folds: folds.len(), scores: scores.len(), categories: named });
        }
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(ConformalError::Score { row });
        }
        let count = |of: &[u32]| of.iter().max().map_or(0, |most| *most as usize + 1);
        let (folds_count, categories_count) = (count(folds), categories.map_or(1, count));
        if scores.is_empty() {
            return Err(ConformalError::NoScores);
        }
        let mut sorted = vec![vec![Vec::new(); folds_count]; categories_count];
        for (row, (&fold, &score)) in folds.iter().zip(scores).enumerate() {
            sorted[categories.map_or(0, |of| of[row] as usize)][fold as usize].push(score);
        }
        sorted.iter_mut().flatten().for_each(|scores| scores.sort_unstable_by(f64::total_cmp));
        Ok(Self { sorted })
    }

    /// The number of folds.
    pub fn folds(&self) -> usize {
        self.sorted[0].len()
    }

    /// The number of scores of a category; 0 if there is no such category.
    pub fn count(&self, category: usize) -> usize {
        self.sorted.get(category).map_or(0, |folds| folds.iter().map(Vec::len).sum())
    }

    /// The interval of a new row in a category, from the band that each fold's machine predicts for
    /// it: CV+, and jackknife+ with one fold for each row (Barber et al. 2021, equations 6 and 11).
    /// A category with too few rows has infinite bounds.
    ///
    /// The lower bound is the `⌊α(n+1)⌋`-th smallest of `lower − unit·score` over the `n` rows of
    /// the category, each with the band of its fold; the upper bound the `⌈(1−α)(n+1)⌉`-th smallest
    /// of `upper + unit·score`.
    ///
    /// # Panics
    ///
    /// When there is not one band for each fold.
    pub fn interval(&self, category: usize, bands: &[Band], level: Level) -> Interval {
        assert_eq!(bands.len(), self.folds(), "a band for each fold");
        let n = self.count(category);
        let rank = level.rank(n);
        if rank == 0 {
            return Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        }
        let scores = || self.sorted[category].iter().zip(bands);
        let ends = |end: fn(Band, f64) -> f64| -> Vec<f64> {
            scores().flat_map(|(scores, band)| scores.iter().map(move |score| end(*band, *score))).collect()
        };
        let mut lower = ends(|band, score| band.lower - band.unit * score);
        let mut upper = ends(|band, score| band.upper + band.unit * score);
        Interval { lower: smallest(&mut lower, rank), upper: smallest(&mut upper, n + 1 - rank) }
    }

    /// The p-value of a new row in a category, from its score by each fold's machine: the share of
    /// scores that are at least the new one, counting the row itself (Vovk 2015). Scores of a
    /// category without rows have the p-value 1.
    ///
    /// # Panics
    ///
    /// When there is not one score for each fold.
    pub fn p_value(&self, category: usize, scores: &[f64]) -> f64 {
        self.at_least(category, scores) as f64 / (self.count(category) as f64 + 1.0)
    }

    /// Returns true if the p-value of a new row is above α: the category belongs to its prediction.
    ///
    /// # Panics
    ///
    /// As [`CrossScores::p_value`].
    pub fn includes(&self, category: usize, scores: &[f64], level: Level) -> bool {
        self.at_least(category, scores) > level.rank(self.count(category))
    }

    /// The number of scores of a category that are at least the new row's, plus 1 for the row. A
    /// score that is no number is at most every other, so that it excludes nothing.
    fn at_least(&self, category: usize, scores: &[f64]) -> usize {
        assert_eq!(scores.len(), self.folds(), "a score by each fold");
        let Some(folds) = self.sorted.get(category) else { return 1 };
        let above = |(known, score): (&Vec<f64>, &f64)| known.len() - known.partition_point(|known| known < score);
        1 + folds.iter().zip(scores).map(above).sum::<usize>()
    }
}

/// Returns for each fold and each category the greatest score that conforms to the scores of all
/// *other* folds: a row of the fold with at most this score is covered. Infinite where there are
/// too few scores for the level.
///
/// Each row is thus compared with scores that took no part in its own. Lists are as in
/// [`CrossScores::new`].
///
/// # Errors
///
/// As [`CrossScores::new`].
pub fn held_out_thresholds(
    folds: &[u32],
    scores: &[f64],
    categories: Option<&[u32]>,
    level: Level,
) -> Result<Vec<Vec<f64>>, ConformalError> {
    let known = CrossScores::new(folds, scores, categories)?;
    let mut found = vec![Vec::with_capacity(known.sorted.len()); known.folds()];
    for of_folds in &known.sorted {
        let mut all: Vec<(f64, usize)> = Vec::new();
        for (fold, scores) in of_folds.iter().enumerate() {
            all.extend(scores.iter().map(|score| (*score, fold)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places = vec![Vec::new(); of_folds.len()];
        all.iter().enumerate().for_each(|(at, (_, fold))| places[*fold].push(at));
        for (own, found) in places.iter().zip(&mut found) {
            let others = all.len() - own.len();
            let rank = level.rank(others);
            // The place of the rank among the others: every own place up to it moves it by one.
            let place = own.iter().fold(others - rank, |place, own| place + usize::from(*own <= place));
            found.push(if rank == 0 { f64::INFINITY } else { all[place].0 });
        }
    }
    Ok(found)
}

/// The value of a rank, from 1.
fn smallest(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}
