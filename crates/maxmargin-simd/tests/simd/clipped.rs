//! Passes over clipped variables: the results of plain loops.

use crate::{answers, at_each_level};
use maxmargin_simd::clipped::{Advance, Block, Change, LANES, Variable, advance, split, sum_at};

/// Variables that are at either bound, between them, or cross one along the line. The last block is
/// not full.
fn examples() -> (Vec<Variable>, Vec<Block>) {
    let variable = |k: usize| {
        let at = |step: usize| ((k * step) % 23) as f64 / 23.0 - 0.5;
        let upper = if k.is_multiple_of(9) { f64::INFINITY } else { 1.0 + at(3) };
        let ridge = if k.is_multiple_of(4) { 0.25 } else { 0.0 };
        Variable { slack: 4.0 * at(7), fall: 2.0 * at(5), base: at(11), weight: 1.5, upper, ridge, p: 0.0 }
    };
    let variables: Vec<Variable> = (0..5 * LANES - 3).map(variable).collect();
    let mut blocks = vec![Block::default(); 5];
    variables.iter().enumerate().for_each(|(k, v)| blocks[k / LANES].set(k % LANES, v));
    (variables, blocks)
}

fn wish(v: &Variable, t: f64) -> f64 {
    v.base + v.weight * (v.slack - t * v.fall)
}

#[test]
fn a_split_sum_is_the_sum_at_every_share() {
    let (variables, blocks) = examples();
    at_each_level(|level| {
        let split = split(&blocks, 2.0);
        assert!(!split.crossing.is_empty() && split.crossing.len() < variables.len(), "{}", split.crossing.len());
        for t in [0.0, 0.3, 1.0, 2.0] {
            let expected: f64 = variables.iter().map(|v| v.fall * wish(v, t).clamp(0.0, v.upper)).sum();
            let crossing: f64 = split.crossing.iter().map(|c| c.fall * (c.wish - t * c.rate).clamp(0.0, c.upper)).sum();
            let found = split.constant - t * split.rate + crossing;
            assert!((found - expected).abs() < 1e-12, "{level:?} {t} {found} {expected}");
            assert!((sum_at(&blocks, t) - expected).abs() < 1e-12, "{level:?} {t}");
        }
    });
}

#[test]
fn a_pass_finds_what_is_free_and_what_changes() {
    at_each_level(|level| {
        let (mut variables, mut blocks) = examples();
        for (first, t) in [(0, 0.0), (100, 0.7)] {
            let found = advance(&mut blocks, t, first);
            let mut expected = Advance::default();
            for (k, v) in variables.iter_mut().enumerate() {
                v.slack -= t * v.fall;
                let p = wish(v, 0.0).clamp(0.0, v.upper);
                if p > 0.0 && p < v.upper {
                    expected.free.push(first + k);
                }
                if p != v.p {
                    expected.changes.push(Change { place: first + k, delta: p - v.p });
                }
                v.p = p;
                let gradient = v.ridge * p - v.slack;
                let inward = (p > 0.0 && gradient > 0.0) || (p < v.upper && gradient < 0.0);
                expected.violation = expected.violation.max(if inward { gradient.abs() } else { 0.0 });
                assert_eq!(blocks[k / LANES].get(k % LANES), *v, "{level:?} {k}");
            }
            assert!(!found.free.is_empty() && found.changes.len() > LANES && found.violation > 0.0);
            assert_eq!(found, expected, "{level:?} {t}");
        }
    });
}

#[test]
fn all_levels_have_the_same_bits() {
    let found = answers(|| {
        let (_, mut blocks) = examples();
        (sum_at(&blocks, 0.7).to_bits(), split(&blocks, 1.0), advance(&mut blocks, 0.4, 0))
    });
    found.iter().for_each(|of| assert_eq!(*of, found[0]));
}

#[test]
fn unused_places_change_nothing() {
    let mut blocks = [Block::default(); 2];
    assert_eq!(sum_at(&blocks, 0.5), 0.0);
    assert_eq!(split(&blocks, 1.0), maxmargin_simd::clipped::Split::default());
    assert_eq!(advance(&mut blocks, 0.5, 7), Advance::default());
}
