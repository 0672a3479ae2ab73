//! ATO on two problems of six samples. Their paths are those of Karasuyama and Takeuchi (2009) in
//! rational numbers, computed apart from this program; the tests list their breakpoints.

use super::super::Seeding;
use super::super::worked::Worked;
use super::{StartDraft, follow, start};

/// A problem with R = {0}, T = {5} and S = {1, 2, 3, 4}. The kernel is `x·z`, and 1 more on the
/// diagonal.
fn worked(points: [[f64; 2]; 6], labels: [f64; 6], c: f64, alpha: [f64; 6], bias: f64) -> Worked<6> {
    let dot = |i: usize, j: usize| points[i][0] * points[j][0] + points[i][1] * points[j][1];
    let kernel = std::array::from_fn(|i| std::array::from_fn(|j| dot(i, j) + f64::from(i == j)));
    Worked { kernel, labels, c, alpha, bias, before: &[5], hidden: &[0] }
}

/// Sample 0 leaves from C. Of S, 1 is at 0 and the others are free.
fn bounded_leaves() -> Worked<6> {
    let points = [[-1.0, -1.0], [2.0, 2.0], [0.0, -1.0], [0.0, 0.0], [-1.0, -2.0], [0.0, 2.0]];
    let alpha = [1.0, 0.0, 1.0 / 6.0, 1.0 / 3.0, 0.5, 0.0];
    worked(points, [1.0, -1.0, -1.0, -1.0, -1.0, 1.0], 1.0, alpha, -2.0 / 3.0)
}

/// Sample 0 leaves from the margin. Of S, 1 and 4 are at C and the others are free.
fn free_leaves() -> Worked<6> {
    let points = [[0.0, -1.0], [-1.0, -2.0], [1.0, 0.0], [-1.0, -2.0], [2.0, 0.0], [-1.0, -2.0]];
    let alpha = [1.0 / 3.0, 0.5, 13.0 / 30.0, 7.0 / 30.0, 0.5, 0.0];
    worked(points, [-1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 0.5, alpha, -13.0 / 15.0)
}

/// Asserts α after each number of breakpoints, and at the end of the path.
fn assert_path(worked: &Worked<6>, breakpoints: &[[f64; 6]], end: [f64; 6]) {
    for (passed, alpha) in (1..).zip(breakpoints.iter().chain([&end])) {
        worked.with(|from, fold| {
            let (mut draft, mut beta) = (StartDraft::new(from, fold), from.beta.clone());
            follow(from, fold, passed, &mut draft, &mut beta).expect("a path");
            worked.assert_point(&beta, *alpha);
            assert_eq!(draft.breakpoints, passed.min(breakpoints.len()) as u64);
        });
    }
    worked.assert_start(Seeding::Ato, end);
}

/// 1 meets the margin at η = 1/9, 5 at 5/11; 2 falls to 0 at 9/14 and 4 at 8/9.
#[test]
fn the_path_from_a_bound_has_four_breakpoints() {
    let breakpoints = [
        [8.0 / 9.0, 0.0, 1.0 / 6.0, 4.0 / 9.0, 7.0 / 18.0, 1.0 / 9.0],
        [6.0 / 11.0, 2.0 / 11.0, 1.0 / 22.0, 6.0 / 11.0, 5.0 / 22.0, 5.0 / 11.0],
        [5.0 / 14.0, 3.0 / 14.0, 0.0, 0.5, 1.0 / 7.0, 0.5],
        [1.0 / 9.0, 11.0 / 45.0, 0.0, 19.0 / 45.0, 0.0, 5.0 / 9.0],
    ];
    assert_path(&bounded_leaves(), &breakpoints, [0.0, 2.0 / 7.0, 0.0, 2.0 / 7.0, 0.0, 4.0 / 7.0]);
}

/// 5 meets the margin at η = 14/47, 2 rises to C at 1/2, and 4 leaves C at 19/22.
#[test]
fn the_path_from_the_margin_has_three_breakpoints() {
    let breakpoints = [
        [11.0 / 47.0, 0.5, 22.0 / 47.0, 7.0 / 47.0, 0.5, 7.0 / 47.0],
        [1.0 / 6.0, 0.5, 0.5, 1.0 / 6.0, 0.5, 1.0 / 6.0],
        [1.0 / 22.0, 0.5, 0.5, 5.0 / 22.0, 0.5, 5.0 / 22.0],
    ];
    assert_path(&free_leaves(), &breakpoints, [0.0, 0.5, 0.5, 7.0 / 29.0, 14.0 / 29.0, 7.0 / 29.0]);
}

/// After the first breakpoint 11/47 of sample 0 are left. They go to the free samples 2, 3 and 5 of
/// its label, 11/141 each. Sample 2 has room for 3/94 and ends at C; 3 and 5 share the rest.
#[test]
fn at_the_limit_the_rest_is_dropped_and_the_balance_restored() {
    free_leaves().with(|from, fold| {
        let draft = start(from, fold, 1).expect("a path").expect("a start");
        free_leaves().assert_draft(&draft, [0.0, 0.5, 0.5, 0.25, 0.5, 0.25]);
        assert_eq!(draft.breakpoints, 1);
    });
}

/// Without a breakpoint, ⅓ of sample 0 goes to 2 and 3, which are free: ⅙ each. Sample 2 has room
/// for 1/15.
#[test]
fn without_a_path_the_shared_samples_take_all() {
    free_leaves().with(|from, fold| {
        let draft = start(from, fold, 0).expect("a path").expect("a start");
        free_leaves().assert_draft(&draft, [0.0, 0.5, 0.5, 0.5, 0.5, 0.0]);
        assert_eq!(draft.breakpoints, 0);
    });
}
