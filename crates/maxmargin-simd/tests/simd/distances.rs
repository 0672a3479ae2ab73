//! Values of small distances: every level compared with a plain loop.

use crate::at_each_level;
use maxmargin_simd::distances::{DISTANCES, Distances};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 128 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_looked_up_is_what_stands_there(
        entries in prop::collection::vec((any::<i32>(), 0..DISTANCES), 0..100),
        row in any::<i32>(),
        widest in 0..DISTANCES,
    ) {
        let values: [f64; DISTANCES] = std::array::from_fn(|distance| (distance as f64 * 0.37).cos());
        let distance = |wish: usize| wish % (widest + 1);
        // Terms may wrap, but distances do not.
        let (columns, sums): (Vec<i32>, Vec<i32>) = entries
            .iter()
            .map(|&(sum, wish)| ((distance(wish) as i32).wrapping_sub(row).wrapping_add(sum.wrapping_mul(2)), sum))
            .unzip();
        let expected: Vec<f64> = entries.iter().map(|&(_, wish)| values[distance(wish)]).collect();
        let table = Distances::new(values, widest);
        at_each_level(|level| {
            let mut out = vec![f64::NAN; entries.len()];
            table.look_up(row, &columns, &sums, &mut out);
            assert_eq!(out, expected, "{level:?}");
        });
    }
}

#[test]
#[should_panic(expected = "one length")]
fn one_sum_less_is_refused() {
    Distances::new([0.0; DISTANCES], 3).look_up(0, &[0; 9], &[0; 8], &mut [0.0; 9]);
}
