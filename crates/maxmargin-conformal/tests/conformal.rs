//! Coverage by exchangeability, counted exactly on small sets, and orders that must hold.

use maxmargin_conformal::{
    Band, CrossScores, Interval, Level, Penalty, adaptive_score, adjusted, discoveries, held_out_thresholds,
};
use proptest::prelude::*;

fn level(alpha: f64) -> Level {
    Level::new(alpha).expect("a level")
}

/// A prediction from the values without some. It is the same for any order of the values, and has
/// no rounding, so that ties stay ties.
fn predicted_without(values: &[f64], out: &[usize]) -> f64 {
    (0..values.len()).filter(|i| !out.contains(i)).map(|i| values[i]).sum::<f64>() / 8.0
}

/// The jackknife+ interval for value `new` from all others, whose scores are those of its category.
fn jackknife(values: &[f64], categories: Option<&[u32]>, new: usize, level: Level) -> Interval {
    let others: Vec<usize> = (0..values.len()).filter(|i| *i != new).collect();
    let bands: Vec<Band> = others.iter().map(|&i| Band::around(predicted_without(values, &[new, i]))).collect();
    let scores: Vec<f64> = others.iter().zip(&bands).map(|(&i, band)| band.score(values[i])).collect();
    let folds: Vec<u32> = (0..others.len() as u32).collect();
    let of: Option<Vec<u32>> = categories.map(|of| others.iter().map(|&i| of[i]).collect());
    let category = categories.map_or(0, |of| of[new] as usize);
    CrossScores::new(&folds, &scores, of.as_deref()).expect("scores").interval(category, &bands, level)
}

proptest! {
    /// For any values, at most the share 2α of them is outside of the interval of the
    /// others (Barber et al. 2021, theorem 1 and its proof by tournaments).
    #[test]
    fn jackknife_plus_misses_at_most_twice_the_level(
        values in proptest::collection::vec(-8_i8..8, 4..12),
        tenths in 1_u32..5,
    ) {
        let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let level = level(f64::from(tenths) / 10.0);
        let n = values.len();
        let missed = (0..n).filter(|&new| !jackknife(&values, None, new, level).contains(values[new])).count();
        prop_assert!(missed as f64 <= 2.0 * level.alpha() * n as f64, "{missed} of {n}");
    }

    /// The same holds for the values of each category by themselves, although predictions are from
    /// the values of all categories.
    #[test]
    fn every_category_misses_at_most_twice_the_level(
        rows in proptest::collection::vec((-8_i8..8, 0_u32..3), 4..18),
        tenths in 1_u32..5,
    ) {
        let (values, categories): (Vec<f64>, Vec<u32>) = rows.iter().map(|row| (f64::from(row.0), row.1)).unzip();
        let level = level(f64::from(tenths) / 10.0);
        for category in 0..3 {
            let own: Vec<usize> = (0..values.len()).filter(|&i| categories[i] == category).collect();
            let is_missed = |new: &&usize| !jackknife(&values, Some(&categories), **new, level).contains(values[**new]);
            let (missed, n) = (own.iter().filter(is_missed).count(), own.len());
            prop_assert!(missed as f64 <= 2.0 * level.alpha() * n as f64, "{missed} of {n}");
        }
    }

    /// Of n + 1 scores by one machine, exactly ⌊α(n+1)⌋ have no set if all differ, and no more if
    /// some are equal.
    #[test]
    fn one_machine_excludes_exactly_the_rank(
        scores in proptest::collection::vec(0_u16..400, 2..30),
        hundredths in 1_u32..100,
    ) {
        let level = level(f64::from(hundredths) / 100.0);
        let all: Vec<f64> = scores.iter().map(|s| f64::from(*s)).collect();
        let mut distinct = all.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let excluded = |new: usize| {
            let others: Vec<f64> = (0..all.len()).filter(|i| *i != new).map(|i| all[i]).collect();
            let known = CrossScores::new(&vec![0; others.len()], &others, None).expect("scores");
            let included = known.includes(0, &[all[new]], level);
            assert!(!included || known.p_value(0, &[all[new]]) > level.alpha() - 1e-12);
            !included
        };
        let missed = (0..all.len()).filter(|new| excluded(*new)).count();
        prop_assert!(missed <= level.rank(all.len() - 1));
        if distinct.len() == all.len() {
            prop_assert_eq!(missed, level.rank(all.len() - 1));
        }
    }

    /// From share 0 to share 1 the scores of all classes tile [0, 1], so that the score of a class
    /// drawn by its probability, with a uniform share, is uniform. A penalty moves tiles by ranks.
    #[test]
    fn adaptive_scores_tile_the_unit_interval(
        weights in proptest::collection::vec(0_u8..5, 2..8),
        free in 0_usize..4,
    ) {
        // Parts of 32 have no rounding, so that ties stay ties.
        let weights: Vec<f64> = weights.iter().map(|w| f64::from(*w) / 32.0).collect();
        let rest = 1.0 - weights.iter().sum::<f64>();
        let p: Vec<f64> = weights.iter().copied().chain([rest]).collect();
        let ends = |penalty, class| [0.0, 1.0].map(|share| adaptive_score(&p, class, penalty, share));
        let mut tiles: Vec<[f64; 2]> = (0..p.len()).map(|class| ends(Penalty::NONE, class)).collect();
        tiles.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let mut at = 0.0;
        for tile in &tiles {
            prop_assert_eq!(tile[0], at);
            at = tile[1];
        }
        prop_assert_eq!(at, 1.0);
        let penalty = Penalty { weight: 4.0, free };
        let mut moved: Vec<f64> = (0..p.len()).map(|class| ends(penalty, class)[0] - ends(Penalty::NONE, class)[0]).collect();
        moved.sort_by(f64::total_cmp);
        let expected: Vec<f64> = (1..=p.len()).map(|rank| 4.0 * rank.saturating_sub(free) as f64).collect();
        prop_assert_eq!(moved, expected);
    }

    /// Each category has its own coverage, whatever the others have.
    #[test]
    fn categories_do_not_touch_each_other(
        rows in proptest::collection::vec((0_u32..3, 0_u32..3, -20_i8..20), 3..40),
        new in -20_i8..20,
    ) {
        let (folds, categories): (Vec<u32>, Vec<u32>) = rows.iter().map(|r| (r.0, r.1)).unzip();
        let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.2)).collect();
        let all = CrossScores::new(&folds, &scores, Some(&categories)).expect("scores");
        for category in 0..3 {
            let own: Vec<usize> = (0..rows.len()).filter(|&i| categories[i] == category).collect();
            let at = category as usize;
            let new: Vec<f64> = vec![f64::from(new); all.folds()];
            if own.is_empty() {
                prop_assert_eq!(all.p_value(at, &new), 1.0);
                continue;
            }
            let at_least = own.iter().filter(|&&i| scores[i] >= new[0]).count();
            prop_assert_eq!(all.p_value(at, &new), (at_least + 1) as f64 / (own.len() + 1) as f64);
        }
    }

    /// A smaller level gives a wider interval and a larger set.
    #[test]
    fn predictions_grow_with_confidence(
        rows in proptest::collection::vec((0_u32..4, 0.0_f64..5.0), 4..40),
        predicted in proptest::collection::vec((-3.0_f64..3.0, 0.0_f64..2.0, 0.5_f64..2.0), 4),
    ) {
        let (folds, scores): (Vec<u32>, Vec<f64>) = rows.iter().copied().unzip();
        let known = CrossScores::new(&folds, &scores, None).expect("scores");
        let bands = predicted.iter().map(|&(at, width, unit)| Band { lower: at, upper: at + width, unit });
        let bands: Vec<Band> = bands.take(known.folds()).collect();
        let new: Vec<f64> = bands.iter().map(|band| band.upper).collect();
        let mut last: Option<(Interval, bool)> = None;
        for hundredths in (1..100).rev() {
            let level = level(f64::from(hundredths) / 100.0);
            let (interval, included) = (known.interval(0, &bands, level), known.includes(0, &new, level));
            if let Some((inner, was)) = last {
                prop_assert!(interval.lower <= inner.lower && inner.upper <= interval.upper);
                prop_assert!(included || !was);
            }
            last = Some((interval, included));
        }
    }

    /// A row is within the threshold of the other folds if and only if these include it.
    #[test]
    fn thresholds_are_those_of_the_other_folds(
        rows in proptest::collection::vec((0_u32..4, 0_u32..2, -9_i8..9), 4..40),
        hundredths in 1_u32..100,
    ) {
        let level = level(f64::from(hundredths) / 100.0);
        let (folds, categories): (Vec<u32>, Vec<u32>) = rows.iter().map(|r| (r.0, r.1)).unzip();
        let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.2)).collect();
        let found = held_out_thresholds(&folds, &scores, Some(&categories), level).expect("scores");
        for row in 0..rows.len() {
            let (fold, category) = (folds[row], categories[row]);
            let others = (0..rows.len()).filter(|&i| folds[i] != fold && categories[i] == category);
            let others: Vec<f64> = others.map(|i| scores[i]).collect();
            let included = CrossScores::new(&vec![0; others.len()], &others, None)
                .map_or(true, |others| others.includes(0, &[scores[row]], level));
            prop_assert_eq!(included, scores[row] <= found.threshold(fold as usize, category as usize));
        }
    }

    /// The step-up rule by its definition: the largest k with p_(k) ≤ k q / m.
    #[test]
    fn discoveries_are_those_of_the_step_up_rule(
        p in proptest::collection::vec(1_u32..=64, 1..20),
        rate in 1_u32..64,
    ) {
        let p: Vec<f64> = p.iter().map(|p| f64::from(*p) / 64.0).collect();
        let rate = f64::from(rate) / 64.0;
        let mut sorted = p.clone();
        sorted.sort_by(f64::total_cmp);
        let m = p.len() as f64;
        let k = (1..=p.len()).rev().find(|&k| sorted[k - 1] * m <= k as f64 * rate * (1.0 + 1e-14));
        let expected: Vec<bool> = p.iter().map(|p| k.is_some_and(|k| *p <= sorted[k - 1])).collect();
        let adjusted = adjusted(&p);
        // Adjusted values that equal the rate up to rounding may fall on either side.
        if adjusted.iter().all(|p| (p - rate).abs() > 1e-12) {
            prop_assert_eq!(discoveries(&p, rate), expected);
        }
        prop_assert!(adjusted.iter().zip(&p).all(|(adjusted, p)| adjusted >= p && *adjusted <= 1.0));
    }
}

#[test]
fn too_few_scores_promise_nothing() {
    let known = CrossScores::new(&[0, 1], &[1.0, 2.0], None).expect("scores");
    let bands = [Band::around(0.0); 2];
    let all = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    assert_eq!(known.interval(0, &bands, level(0.1)), all);
    assert!(known.includes(0, &[1e300; 2], level(0.1)));
    assert_eq!(known.interval(0, &bands, level(0.34)), Interval { lower: -2.0, upper: 2.0 });
}

#[test]
fn bad_scores_are_refused() {
    assert!(CrossScores::new(&[0], &[1.0, 2.0], None).is_err());
    assert!(CrossScores::new(&[0, 0], &[1.0, f64::NAN], None).is_err());
    assert!(CrossScores::new(&[], &[], None).is_err());
    assert!(CrossScores::new(&[0], &[1.0], Some(&[0, 1])).is_err());
}

/// Numbers of folds and categories may be far apart; a table of all of them would not fit in any
/// memory.
#[test]
fn scores_take_memory_for_rows_and_not_for_numbers() {
    let known = CrossScores::new(&[u32::MAX], &[1.0], None).expect("scores");
    assert_eq!((known.folds(), known.count(0)), (u32::MAX as usize + 1, 1));
    let (folds, categories) = ([0, 1_000_000], [0, 1_000_000]);
    let known = CrossScores::new(&folds, &[1.0, 2.0], Some(&categories)).expect("scores");
    assert_eq!([0, 1, 1_000_000, usize::MAX].map(|category| known.count(category)), [1, 0, 1, 0]);
    let mut new = vec![0.0; known.folds()];
    new[1_000_000] = 3.0;
    assert_eq!([0, 1_000_000].map(|category| known.p_value(category, &new)), [1.0, 0.5]);
    let found = held_out_thresholds(&[0, u32::MAX], &[1.0, 2.0], None, level(0.5)).expect("scores");
    assert_eq!([0, u32::MAX as usize].map(|fold| found.threshold(fold, 0)), [2.0, 1.0]);
    // A fold without scores is compared with all of them, and a category without rows with none.
    assert_eq!((found.threshold(7, 0), found.threshold(0, 1)), (2.0, f64::INFINITY));
}
