//! The available real sets: a part to train on and a part to predict.

use crate::comparisons::differential::{Error, rounded};
use maxmargin::data::Dataset;
use maxmargin_testkit::outside::dataset;

/// The files in `MAXMARGIN_DATA`: from 2 to 26 classes, sparse and dense, scaled and unscaled.
const SETS: [&str; 16] = [
    "heart_scale",
    "diabetes_scale",
    "banana",
    "a1a",
    "a9a",
    "w1a",
    "w8a",
    "ijcnn1",
    "splice",
    "madelon",
    "letter.scale",
    "pendigits",
    "usps",
    "shuttle",
    "mnist",
    "reuters",
];

/// The largest number of training rows, and of test rows.
const ROWS: usize = 400;

/// Returns every available set, with rows evenly spread over the file, alternately for training and
/// test.
pub(super) fn sets() -> Result<Vec<(&'static str, [Dataset; 2])>, Error> {
    let mut found = Vec::new();
    for name in SETS {
        let Some(data) = dataset(name) else { continue };
        let all = data.labels.len();
        let kept = all.min(2 * ROWS);
        let part = |odd: usize| (odd..kept).step_by(2).map(|k| k * all / kept).collect::<Vec<_>>();
        let part = |odd: usize| rounded(&data.select(&part(odd)));
        found.push((name, [part(0)?, part(1)?]));
    }
    Ok(found)
}
