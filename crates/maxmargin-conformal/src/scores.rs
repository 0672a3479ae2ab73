//! Scores of rows by the machines of folds that did not see them, and the predictions that follow.

use crate::error::ConformalError;
use crate::level::Level;
use std::collections::BTreeMap;

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
    folds: usize,
    /// The folds with scores of each category, ascending. Folds and categories without scores have
    /// no entry, so that memory is in proportion to the rows.
    categories: BTreeMap<u32, Vec<FoldScores>>,
}

/// The scores of one category and one fold.
#[derive(Clone, Debug, PartialEq)]
struct FoldScores {
    fold: usize,
    /// The scores, ascending.
    sorted: Vec<f64>,
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
        let Some(&last) = folds.iter().max() else { return Err(ConformalError::NoScores) };
        let mut order: Vec<(u32, u32, f64)> =
            (0..scores.len()).map(|row| (categories.map_or(0, |of| of[row]), folds[row], scores[row])).collect();
        order.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut categories = BTreeMap::<u32, Vec<FoldScores>>::new();
        for run in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (category, fold, _) = run[0];
            let sorted = run.iter().map(|row| row.2).collect();
            categories.entry(category).or_default().push(FoldScores { fold: fold as usize, sorted });
        }
        Ok(Self { folds: last as usize + 1, categories })
    }

    /// The number of folds: one more than the greatest number of a fold with a score.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// The number of scores of a category; 0 if there is no such category.
    pub fn count(&self, category: usize) -> usize {
        self.of(category).iter().map(|fold| fold.sorted.len()).sum()
    }

    /// The folds with scores of a category, ascending.
    fn of(&self, category: usize) -> &[FoldScores] {
        let known = u32::try_from(category).ok().and_then(|category| self.categories.get(&category));
        known.map_or(&[], Vec::as_slice)
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
        let ends = |end: fn(Band, f64) -> f64| -> Vec<f64> {
            let folds = self.of(category).iter();
            folds.flat_map(|of| of.sorted.iter().map(|score| end(bands[of.fold], *score))).collect()
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
        let above = |of: &FoldScores| of.sorted.len() - of.sorted.partition_point(|known| *known < scores[of.fold]);
        1 + self.of(category).iter().map(above).sum::<usize>()
    }
}

/// For each fold and each category the greatest score that conforms to the scores of all *other*
/// folds ([`held_out_thresholds`]).
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutThresholds(BTreeMap<u32, CategoryThresholds>);

/// The thresholds of one category.
#[derive(Clone, Debug, PartialEq)]
struct CategoryThresholds {
    /// The threshold of folds without scores of the category.
    without_scores: f64,
    /// The threshold of each fold with scores, by ascending fold.
    of_folds: Vec<(usize, f64)>,
}

impl HeldOutThresholds {
    /// The threshold of a fold and a category: a row of the fold with at most this score is
    /// covered. Infinite if there are too few scores for the level, as in a category without rows.
    pub fn threshold(&self, fold: usize, category: usize) -> f64 {
        let known = u32::try_from(category).ok().and_then(|category| self.0.get(&category));
        known.map_or(f64::INFINITY, |of| {
            let at = of.of_folds.binary_search_by_key(&fold, |one| one.0);
            at.map_or(of.without_scores, |at| of.of_folds[at].1)
        })
    }
}

/// Returns for each fold and each category the greatest score that conforms to the scores of all
/// *other* folds.
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
) -> Result<HeldOutThresholds, ConformalError> {
    let known = CrossScores::new(folds, scores, categories)?;
    let of = known.categories.iter().map(|(category, folds)| (*category, CategoryThresholds::of(folds, level)));
    Ok(HeldOutThresholds(of.collect()))
}

impl CategoryThresholds {
    fn of(folds: &[FoldScores], level: Level) -> Self {
        let mut all: Vec<(f64, usize)> = Vec::new();
        for (at, fold) in folds.iter().enumerate() {
            all.extend(fold.sorted.iter().map(|score| (*score, at)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places = vec![Vec::new(); folds.len()];
        all.iter().enumerate().for_each(|(place, (_, at))| places[*at].push(place));
        let threshold = |own: &[usize]| {
            let others = all.len() - own.len();
            let rank = level.rank(others);
            // The place of the rank among the others: every own place up to it moves it by one.
            let place = own.iter().fold(others - rank, |place, own| place + usize::from(*own <= place));
            if rank == 0 { f64::INFINITY } else { all[place].0 }
        };
        let of_folds = folds.iter().zip(&places).map(|(fold, own)| (fold.fold, threshold(own))).collect();
        Self { without_scores: threshold(&[]), of_folds }
    }
}

/// The value of a rank, from 1.
fn smallest(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank - 1, f64::total_cmp).1
}
