//! TOP on problems worked out by hand.

use super::super::Seeding;
use super::super::worked::Worked;

/// The identity but for the first row and column.
fn kernel<const N: usize>(row: [f64; N]) -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == 0 || j == 0 { row[i.max(j)] } else { f64::from(i == j) }))
}

/// δ = 1.5 leaves. By falling K: sample 3 takes ¼ (to C), 1 takes ½ (label −1, to 0), 4 (label −1,
/// at 0) has no room. Of 2 and 5, which are equally similar, 2 takes the ¾ that is left. Samples 5
/// to 7 stay.
#[test]
fn the_most_similar_samples_take_in_turn() {
    let worked = Worked {
        kernel: kernel([1.0, 0.75, 0.25, 0.9375, 0.5, 0.25, 0.0, 0.125]),
        labels: [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0],
        c: 2.0,
        alpha: [1.5, 0.5, 0.0, 1.75, 0.0, 1.0, 2.0, 1.75],
        bias: 0.0,
        before: &[],
        hidden: &[0],
    };
    worked.assert_start(Seeding::Top, [0.0, 0.0, 0.75, 2.0, 0.0, 1.0, 2.0, 1.75]);
}

/// δ = 8 leaves. The 24 most similar samples, 3 to 26, take ¼ each, in more than one batch. Sample
/// 2 is the next one and takes the 2 that are left; 1 and 27 are further and stay.
#[test]
fn the_order_holds_beyond_the_first_batch() {
    let row: [f64; 28] = std::array::from_fn(|i| match i {
        0 => 1.0,
        1 | 2 => i as f64 / 64.0,
        27 => 0.0,
        _ => (3 + 7 * i % 29) as f64 / 32.0,
    });
    let worked = Worked {
        kernel: kernel(row),
        labels: std::array::from_fn(|i| if i < 3 { 1.0 } else { -1.0 }),
        c: 8.0,
        alpha: std::array::from_fn(|i| match i {
            0 => 8.0,
            1 | 2 => 0.0,
            27 => 2.0,
            _ => 0.25,
        }),
        bias: 0.0,
        before: &[],
        hidden: &[0],
    };
    worked.assert_start(Seeding::Top, std::array::from_fn(|i| if i == 2 || i == 27 { 2.0 } else { 0.0 }));
}
