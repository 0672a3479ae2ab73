//! SIR on problems of five to eight samples, worked out from algorithm 3 by hand.

use super::super::Seeding;
use super::super::worked::Worked;
use super::{Replacement, adjust, replaced};

/// R = {0, 1, 2}, T = {3, 4, 5}, S = {6, 7}. Sample 3 is the most similar to both 0 and 1 of their
/// label, and sample 5 of all.
const THREE_LEAVE: Worked<8> = Worked {
    kernel: [
        [1.0, 0.0, 0.0, 0.5, 0.25, 0.75, 0.125, 0.0],
        [0.0, 1.0, 0.0, 0.75, 0.125, 0.875, 0.0, 0.25],
        [0.0, 0.0, 1.0, 0.5, 0.5, 0.25, 0.0, 0.5],
        [0.5, 0.75, 0.5, 1.0, 0.0, 0.0, 0.25, 0.0],
        [0.25, 0.125, 0.5, 0.0, 1.0, 0.0, 0.0, 0.125],
        [0.75, 0.875, 0.25, 0.0, 0.0, 1.0, 0.5, 0.0],
        [0.125, 0.0, 0.0, 0.25, 0.0, 0.5, 1.0, 0.0],
        [0.0, 0.25, 0.5, 0.0, 0.125, 0.0, 0.0, 1.0],
    ],
    labels: [1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0],
    c: 4.0,
    alpha: [3.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 3.0],
    bias: 0.0,
    before: &[3, 4, 5],
    hidden: &[0, 1, 2],
};

/// R = {0, 1, 2}, T = {3, 4, 5, 6}, S = {7}. Sample 0 has kernel values of 0 with its label, and
/// there is one sample of T with the label of 1 and 2.
const ONE_OF_THEIR_LABEL: Worked<8> = Worked {
    kernel: [
        [1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.25],
        [0.0, 1.0, 0.0, 0.25, 0.125, 0.75, 0.5, 0.0],
        [0.0, 0.0, 1.0, 0.75, 0.875, 0.25, 0.5, 0.0],
        [0.5, 0.25, 0.75, 1.0, 0.0, 0.0, 0.0, 0.5],
        [0.0, 0.125, 0.875, 0.0, 1.0, 0.0, 0.0, 0.125],
        [0.0, 0.75, 0.25, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 0.25],
        [0.25, 0.0, 0.0, 0.5, 0.125, 0.0, 0.25, 1.0],
    ],
    labels: [1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
    c: 4.0,
    alpha: [2.0, 3.0, 1.5, 0.0, 0.0, 0.0, 0.0, 2.5],
    bias: 0.0,
    before: &[3, 4, 5, 6],
    hidden: &[0, 1, 2],
};

fn after_replacement<const N: usize>(worked: &Worked<N>, replacement: Replacement, alpha: [f64; N]) {
    worked.with(|from, fold| {
        let draft = super::StartDraft::new(from, fold);
        let beta = replaced(replacement, &draft, &fold.entering(from), fold).expect("no limit");
        worked.assert_point(&beta, alpha);
    });
}

/// Sample 0 takes 3 (K = ½ against ¼; 5 has the other label). Sample 1 would take 3 as well, but 3
/// is used: it takes 4. Sample 2 takes 5. Then yᵀα = 3 + 1 − 2 + 1 − 3 = 0.
#[test]
fn each_sample_that_enters_replaces_one_that_leaves() {
    let expected = [0.0, 0.0, 0.0, 3.0, 1.0, 2.0, 1.0, 3.0];
    for replacement in [Replacement::Similar, Replacement::Always] {
        after_replacement(&THREE_LEAVE, replacement, expected);
    }
    for seeding in [Seeding::Sir, Seeding::SirAll] {
        THREE_LEAVE.assert_start(seeding, expected);
    }
}

/// As printed: 0 is similar to no sample of its label (K = 0). Sample 1 takes 3, and 2 finds no
/// sample of its label. yᵀα = −3 + 2.5, so each of the four samples that enter moves by ½/4.
#[test]
fn as_printed_a_sample_without_a_similar_one_is_not_replaced() {
    let alpha = [0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 2.5];
    after_replacement(&ONE_OF_THEIR_LABEL, Replacement::Similar, alpha);
    ONE_OF_THEIR_LABEL.assert_start(Seeding::Sir, [0.0, 0.0, 0.0, 2.875, 0.125, 0.125, 0.125, 2.5]);
}

/// Where every sample is replaced, 0 takes the first of its label, 4. Sample 1 takes 3. Sample 2
/// takes 6 of the other label (K = ½ against ¼; 4 is used). yᵀα = 2 − 3 + 1.5 + 2.5 = 3. A shift
/// of −¾ moves 3, 4 and 6, but not 5, which is at 0: −¾ is left. Of that, 3 takes ¼ to its bound,
/// and 4 and 6 as much.
#[test]
fn where_all_are_replaced_the_other_label_serves_and_the_shift_restores_the_balance() {
    let alpha = [0.0, 0.0, 0.0, 3.0, 2.0, 0.0, 1.5, 2.5];
    after_replacement(&ONE_OF_THEIR_LABEL, Replacement::Always, alpha);
    ONE_OF_THEIR_LABEL.assert_start(Seeding::SirAll, [0.0, 0.0, 0.0, 4.0, 1.0, 0.0, 0.5, 2.5]);
}

/// R = {0}, T = {1} of the other label, S = {2, 3, 4}: 1 takes α = 1, and yᵀα = −2. A shift of 1
/// returns 1 to 0. The rest, 1, goes to the free samples 2 and 4 of S: ½ each, of which 4 has room
/// for ¼; 2 takes the other ¼ as well. Sample 3, at C, stays.
#[test]
fn samples_that_stay_take_what_those_that_enter_cannot() {
    let worked = Worked {
        kernel: [
            [1.0, 0.5, 0.0, 0.25, 0.0],
            [0.5, 1.0, 0.25, 0.0, 0.0],
            [0.0, 0.25, 1.0, 0.0, 0.5],
            [0.25, 0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.5, 0.0, 1.0],
        ],
        labels: [1.0, -1.0, -1.0, -1.0, 1.0],
        c: 1.0,
        alpha: [1.0, 0.0, 0.75, 1.0, 0.75],
        bias: 0.0,
        before: &[1],
        hidden: &[0],
    };
    after_replacement(&worked, Replacement::Always, [0.0, 1.0, 0.75, 1.0, 0.75]);
    worked.assert_start(Seeding::SirAll, [0.0, 0.0, 0.0, 1.0, 1.0]);
    // The printed algorithm does not replace 0, and yᵀα = −1: T has no room, S takes all.
    after_replacement(&worked, Replacement::Similar, [0.0, 0.0, 0.75, 1.0, 0.75]);
    worked.assert_start(Seeding::Sir, [0.0, 0.0, 0.0, 1.0, 1.0]);
    // The shift alone, from a point of its own.
    worked.with(|from, fold| {
        let draft = super::StartDraft::new(from, fold);
        let adjusted = adjust(draft, vec![0.0, -0.5, -0.75, -1.0, 1.0], &[1]).expect("no limit").expect("a start");
        worked.assert_draft(&adjusted, [0.0, 0.0, 0.0, 1.0, 1.0]);
    });
}
