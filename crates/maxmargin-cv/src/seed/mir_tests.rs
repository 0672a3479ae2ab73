//! MIR on problems of seven samples, worked out from algorithm 2 by hand.

use super::super::Seeding;
use super::super::worked::Worked;
use super::{Residual, StartDraft, System};

/// X = {0, 3, 4, 5}, R = {0}, T = {1, 2, 6}, S = {3, 4, 5}. Samples 0 and 3 are free, 4 is at 0 and
/// 5 at C.
///
/// On X the kernel sums are −½, −½, 2 and 1, so f = ½, ½, 1, 0 and b = ½. The columns of A =
/// `[K_XT; 1ᵀ]` are (1, 1, 1, 2, 1), (1, 1, 1, −2, 1) and (−1, −1, 1, 0, 1), so that the
/// normal matrix is diag(8, 8, 4).
const ONE_LEAVES: Worked<7> = Worked {
    kernel: [
        [1.0, 1.0, 1.0, 0.0, 0.0, 0.25, -1.0],
        [1.0, 4.0, 1.0, 1.0, 1.0, 2.0, -1.0],
        [1.0, 1.0, 4.0, 1.0, 1.0, -2.0, 0.5],
        [0.0, 1.0, 1.0, 1.0, 0.0, 0.25, -1.0],
        [0.0, 1.0, 1.0, 0.0, 2.0, 1.0, 1.0],
        [0.25, 2.0, -2.0, 0.25, 1.0, 0.75, 0.0],
        [-1.0, -1.0, 0.5, -1.0, 1.0, 0.0, 4.0],
    ],
    labels: [-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0],
    c: 2.0,
    alpha: [1.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0],
    bias: -0.5,
    before: &[1, 2, 6],
    hidden: &[0],
};

/// [`ONE_LEAVES`] with the values of X and one sample of T.
fn with_column(t: usize, values: [f64; 4]) -> Worked<7> {
    let mut worked = ONE_LEAVES;
    for (i, value) in [0, 3, 4, 5].into_iter().zip(values) {
        (worked.kernel[i][t], worked.kernel[t][i]) = (value, value);
    }
    worked
}

/// Calls `work` with the system and its right-hand side (steps 1 and 2).
fn with_system(worked: &Worked<7>, work: impl FnOnce(&System, Residual)) {
    worked.with(|from, fold| {
        let (draft, targets) = (StartDraft::new(from, fold), fold.entering(from));
        assert_eq!((&targets[..], &draft.leaving()[..]), (&[1, 2, 6][..], &[0][..]));
        let system = System { draft: &draft, targets: &targets, unseen: from.hidden };
        let right = system.right_side(-from.bias).expect("no limit");
        work(&system, right);
    });
}

fn assert_near(values: &[f64], expected: [f64; 3], allowed: f64) {
    let off = values.iter().zip(expected).map(|(v, e)| (v - e).powi(2)).sum::<f64>().sqrt();
    assert!(off <= allowed && values.len() == 3, "{values:?} is not {expected:?}");
}

/// Δf = 0, 0, −½, ½ on X; `K_XR β_R` = −1, 0, 0, −¼ since `β_0` = −1. Samples outside X have no
/// row.
#[test]
fn the_right_side_moves_samples_at_a_bound_to_the_threshold() {
    with_system(&ONE_LEAVES, |_, right| {
        assert_eq!(right.samples, [-1.0, 0.0, 0.0, 0.0, -0.5, 0.25, 0.0]);
        assert_eq!(right.balance, -1.0);
    });
}

/// Aᵀ times the right side is (−2, −3, −½), so `β_T` = (−¼, −⅜, −⅛).
#[test]
fn entering_samples_solve_the_normal_equations() {
    with_system(&ONE_LEAVES, |system, right| {
        assert_eq!(system.transposed(&right).expect("no limit"), [-2.0, -3.0, -0.5]);
        assert_near(&system.least_squares(right).expect("no limit"), [-0.25, -0.375, -0.125], 1e-12);
    });
}

/// With 1 as the value of 5 and 6, the normal matrix is [8 0 2; 0 8 −2; 2 −2 5] and the right side
/// (−2, −3, −¼): `β_T` = (−7/32, −13/32, −⅛). The iteration may stop where the residual is
/// 10⁻³ of √13.0625, and the smallest eigenvalue is (13 − √41)/2, so `β_T` is off by at most
/// 1.1e-3.
#[test]
fn conjugate_gradients_solve_a_system_that_is_not_diagonal() {
    with_system(&with_column(6, [-1.0, -1.0, 1.0, 1.0]), |system, right| {
        assert_eq!(system.transposed(&right).expect("no limit"), [-2.0, -3.0, -0.25]);
        assert_near(&system.least_squares(right).expect("no limit"), [-7.0 / 32.0, -13.0 / 32.0, -0.125], 1.1e-3);
    });
}

/// Samples 1 and 2 with the same column: the normal matrix is singular. The pseudo-inverse
/// gives each half of what one of them would have.
#[test]
fn equal_samples_have_the_solution_of_least_norm() {
    with_system(&with_column(2, [1.0, 1.0, 1.0, 2.0]), |system, right| {
        assert_near(&system.least_squares(right).expect("no limit"), [-0.125, -0.125, -0.125], 1e-12);
    });
}

/// `β_T` = (−¼, −⅜, −⅛): the label of 6 is +1, so it is clipped to 0. Then yᵀα = −¼ − ⅜ − 1 + 2, or
/// ⅜. The shift of −⅛ moves 1 and 2, not 6 at its bound; the ⅛ that is left moves 1 and 2 by 1/16.
#[test]
fn the_start_is_clipped_and_shifted() {
    ONE_LEAVES.assert_start(Seeding::Mir, [0.0, 0.4375, 0.5625, 1.0, 0.0, 2.0, 0.0]);
}

/// With 2 as the value of 4 and 5, f = 3 at sample 4 and Δf = −2.5 there: Aᵀ times the right side
/// is (−4, −5, −2.5) and `β_T` = (−½, −⅝, −⅝), of which 6 is clipped to 0. Then yᵀα = −⅛, and each
/// of the three moves by 1/24.
#[test]
fn a_sample_that_is_clipped_to_0_takes_its_share_of_the_shift() {
    let mut worked = ONE_LEAVES;
    (worked.kernel[4][5], worked.kernel[5][4]) = (2.0, 2.0);
    worked.assert_start(Seeding::Mir, [0.0, 11.0 / 24.0, 14.0 / 24.0, 1.0, 0.0, 2.0, 1.0 / 24.0]);
}
