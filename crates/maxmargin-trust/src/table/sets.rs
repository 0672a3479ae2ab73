//! Real sets, as far as they are there: a part to train on and a part to predict.

use crate::differential::{Error, rounded};
use maxmargin::data::Dataset;
use maxmargin_testkit::outside::dataset;

/// Files in `MAXMARGIN_DATA`: classes from 2 to 26, sparse and dense, scaled and not.
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

/// Rows to train on, and rows to predict, at most.
const ROWS: usize = 400;

/// Every set that is there, rows evenly spread over the file, one to train on and one to predict in
/// turn.
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
