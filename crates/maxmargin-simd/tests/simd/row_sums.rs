//! Sums of rows with factors: the results of a plain loop, bit for bit.

use crate::at_each_level;
use maxmargin_simd::row_sums::{BLOCK, PartialSum, RowTerm, add_sums_of_rows};
use proptest::prelude::*;

/// A number between −0.4 and 0.6.
fn number(k: usize) -> f64 {
    ((k * 7919) % 1009) as f64 / 1009.0 - 0.4
}

proptest! {
    #[test]
    fn sums_are_those_of_a_plain_loop(blocks in 1_usize..12, from in 0_usize..40, left in 0_usize..BLOCK, of in 0_usize..20) {
        let width = blocks * BLOCK;
        let end = width - left;
        let columns = from.min(end)..end;
        let rows: Vec<Vec<f64>> = (0..5).map(|r| (0..width).map(|c| number(r * width + c)).collect()).collect();
        let term = |k: usize| RowTerm { row: &rows[k % 5], factor: number(k) };
        let terms: [Vec<RowTerm>; 3] = [(0..of).map(term).collect(), (7..9).map(term).collect(), (3..3 + of / 2).map(term).collect()];
        let points = [1, 0, 1];
        let parts: Vec<PartialSum> = points.iter().zip(&terms).map(|(&point, terms)| PartialSum { point, terms }).collect();
        let before: Vec<f64> = (0..2 * columns.len()).map(|k| number(k + 11)).collect();
        let mut expected = before.clone();
        for (point, terms) in points.iter().zip(&terms) {
            for c in columns.clone() {
                let sum = terms.iter().fold(0.0, |sum, term| sum + term.factor * term.row[c]);
                expected[point * columns.len() + c - columns.start] += sum;
            }
        }
        at_each_level(|level| {
            let mut found = before.clone();
            add_sums_of_rows(columns.clone(), &parts, &mut found);
            assert!(found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{level:?} {columns:?}");
        });
    }
}
