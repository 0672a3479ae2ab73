//! Common bits: the results of a plain loop at every level, and no writes beyond the sums.

use crate::at_each_level;
use maxmargin_simd::bits::{GROUP, PANEL, column_products, differences, products};
use maxmargin_simd::codes::{distance_codes, dot_codes};

fn words(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn counts_are_those_of_a_plain_loop() {
    // More words than the counts in a byte allow.
    for depth in [1, 2, 5, 31, 32, 70] {
        for count in [1, 3, GROUP] {
            for full in [false, true] {
                let fill = |n, seed| if full { vec![u64::MAX; n] } else { words(n, seed) };
                let (rows, panel) = (fill(depth * count, 1), fill(depth * PANEL, 2));
                let stride = PANEL + 3;
                at_each_level(|level| {
                    let mut out = vec![-7; (count - 1) * stride + PANEL + 2];
                    products(&rows, count, &panel, &mut out, stride);
                    let column: Vec<u64> = panel.iter().skip(5).step_by(PANEL).copied().collect();
                    let mut alone = vec![-7; count];
                    column_products(&rows, count, &column, &mut alone);
                    (0..count).for_each(|r| assert_eq!(alone[r], out[r * stride + 5], "{level:?}, {depth} words"));
                    for (at, &found) in out.iter().enumerate() {
                        let (r, j) = (at / stride, at % stride);
                        let common = |k: usize| (rows[k * count + r] & panel[k * PANEL + j]).count_ones() as i32;
                        let expected = if j < PANEL && r < count { (0..depth).map(common).sum() } else { -7 };
                        assert_eq!(found, expected, "{level:?}, {depth} words, row {r} of {count}, sample {j}");
                    }
                });
            }
        }
    }
}

#[test]
fn differences_are_those_of_a_plain_loop() {
    for depth in [1, 2, 5, 31] {
        let (row, rows) = (words(depth, 3), words(depth * 40, 4));
        let among: Vec<u32> = (0..40).rev().chain([7, 7]).collect();
        at_each_level(|level| {
            let mut found = vec![77; among.len()];
            differences(&row, &rows, &among, &mut found);
            for (&at, found) in among.iter().zip(found) {
                let other = &rows[at as usize * depth..][..depth];
                let expected: u32 = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(found, expected, "{level:?}, {depth} words, row {at}");
            }
        });
    }
    let missing = std::panic::catch_unwind(|| differences(&[1], &[1, 2], &[2], &mut [0]));
    assert!(missing.is_err(), "a row that does not exist");
}

#[test]
fn codes_end_at_255() {
    for len in [0, 1, 7, 33, 100] {
        let sums: Vec<i32> = (0..len).map(|k| k * 5 - 40).collect();
        let columns: Vec<i32> = (0..len).map(|k| 300 - 2 * k).collect();
        at_each_level(|level| {
            let (mut distances, mut dots) = (vec![0; len as usize], vec![0; len as usize]);
            distance_codes(11, &columns, &sums, &mut distances);
            dot_codes(-200, &columns, &sums, &mut dots);
            for k in 0..len as usize {
                assert_eq!(i32::from(distances[k]), (11 + columns[k] - 2 * sums[k]).clamp(0, 255), "{level:?}");
                assert_eq!(i32::from(dots[k]), (columns[k] + sums[k] - 200).clamp(0, 255), "{level:?}");
            }
        });
    }
}
