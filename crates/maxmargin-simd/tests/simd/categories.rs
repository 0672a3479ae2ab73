//! Common categories: the results of a plain loop at every level, and no writes beyond the sums.

use crate::at_each_level;
use maxmargin_simd::bits::{GROUP, PANEL};
use maxmargin_simd::categories::{MOST, are_faster, products};

/// Categories below `kinds`, by a fixed rule.
fn categories(count: usize, kinds: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|k| ((k * k + seed * k) / 7 % kinds) as u8).collect()
}

#[test]
fn counts_are_those_of_a_plain_loop() {
    for groups in [1, 2, 14, 100, MOST] {
        for count in [1, 3, GROUP] {
            // With one kind all categories are equal, and counts are largest.
            for kinds in [1, 2, 200] {
                let (rows, panel) = (categories(groups * count, kinds, 3), categories(groups * PANEL, kinds, 5));
                let stride = PANEL + 3;
                at_each_level(|level| {
                    let mut out = vec![-7; (count - 1) * stride + PANEL + 2];
                    products(&rows, count, &panel, &mut out, stride);
                    for (at, &found) in out.iter().enumerate() {
                        let (r, j) = (at / stride, at % stride);
                        let equal = (0..groups).filter(|k| r < count && rows[r * groups + k] == panel[k * PANEL + j % PANEL]);
                        let expected = if j < PANEL && r < count { equal.count() as i32 } else { -7 };
                        assert_eq!(found, expected, "{level:?}, {groups} groups, row {r} of {count}, sample {j}");
                    }
                });
            }
        }
    }
}

#[test]
fn few_groups_are_faster_than_many_words() {
    at_each_level(|level| {
        assert!(are_faster(14, 20) && !are_faster(60, 2), "{level:?}");
        assert!(!are_faster(MOST + 1, 1000), "more groups than a count of a byte allows");
    });
}

#[test]
#[should_panic(expected = "a panel of 31 categories in 1 groups")]
fn one_sample_less_is_refused() {
    products(&[1], 1, &[1; PANEL - 1], &mut [0; PANEL], PANEL);
}

#[test]
#[should_panic(expected = "room for 31 sums")]
fn one_sum_less_is_refused() {
    products(&[1], 1, &[1; PANEL], &mut [0; PANEL - 1], PANEL);
}
