//! AVG on problems of four to seven samples, worked out by hand.

use super::super::Seeding;
use super::super::worked::Worked;

/// 1 on the diagonal, ½ beside it.
fn kernel<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| [1.0, 0.5].get(i.abs_diff(j)).copied().unwrap_or(0.0)))
}

/// δ = 1.5 leaves, and 1, 2, 3, 5 are free: ⅜ each. Sample 1 has room for ¼ and ends at C, sample 2
/// (label −1) has room for ¼ and ends at 0. The ¼ that is left goes to 3 and 5, ⅛ each. Sample 4
/// (at C) and 6 (at 0) stay.
#[test]
fn free_samples_share_and_those_at_a_bound_pass_on_the_rest() {
    let worked = Worked {
        kernel: kernel(),
        labels: [1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0],
        c: 2.0,
        alpha: [1.5, 1.75, 0.25, 0.5, 2.0, 1.5, 0.0],
        bias: 0.0,
        before: &[],
        hidden: &[0],
    };
    worked.assert_start(Seeding::Avg, [0.0, 2.0, 0.0, 1.0, 2.0, 1.0, 0.0]);
}

/// δ = ½ of sample 0 goes to 2 and 3 (¼ each), which takes 2 to C. Then δ = −½ of sample 1 finds 3
/// free alone.
#[test]
fn samples_leave_one_after_the_other() {
    let worked = Worked {
        kernel: kernel(),
        labels: [1.0, -1.0, 1.0, -1.0],
        c: 2.0,
        alpha: [0.5, 0.5, 1.75, 1.75],
        bias: 0.0,
        before: &[],
        hidden: &[0, 1],
    };
    worked.assert_start(Seeding::Avg, [0.0, 0.0, 2.0, 2.0]);
}

/// No sample is free. All have a share of ¼: 2, 3 and 4 move, 1 is at C. The ¼ that is left is
/// shared by the three.
#[test]
fn without_a_free_sample_all_share() {
    let worked = Worked {
        kernel: kernel(),
        labels: [1.0, 1.0, -1.0, -1.0, 1.0],
        c: 1.0,
        alpha: [1.0, 1.0, 1.0, 1.0, 0.0],
        bias: 0.0,
        before: &[],
        hidden: &[0],
    };
    worked.assert_start(Seeding::Avg, [0.0, 1.0, 2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0]);
}
