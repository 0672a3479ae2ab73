//! Powers of slices are those of single values at every level.

use crate::{answers, stream};
use maxmargin_simd::power::Power;

/// Slices of any length have the bits of single values, for each pair of number types.
#[test]
fn slices_have_the_bits_of_single_values() {
    let mut next = stream(7);
    for degree in [0, 1, 2, 3, 4, 5, 7, 10, 31] {
        for len in [0, 1, 3, 8, 63, 64, 65, 200] {
            let power = Power { gamma: next(), coef0: next() - 0.5, degree, base: (degree % 2).into() };
            let dots: Vec<f64> = (0..len).map(|_| 4.0 * next() - 2.0).collect();
            let dots32: Vec<f32> = dots.iter().map(|&dot| dot as f32).collect();
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let bits32 = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let want = [dots.clone(), dots32.iter().map(|&dot| f64::from(dot)).collect()]
                .map(|dots: Vec<f64>| dots.iter().map(|&dot| power.of(dot)).collect::<Vec<f64>>());
            let rounded = [0, 1].map(|k| want[k].iter().map(|&value| value as f32).collect::<Vec<f32>>());
            let found = answers(|| {
                let (mut single, mut double) = ([vec![0.0_f32; len], vec![0.0; len]], [vec![0.0_f64; len], vec![0.0; len]]);
                power.fill(&dots, &mut single[0]);
                power.fill(&dots32, &mut single[1]);
                power.fill(&dots, &mut double[0]);
                power.fill(&dots32, &mut double[1]);
                (single.map(|values| bits32(&values)), double.map(|values| bits(&values)))
            });
            for (single, double) in found {
                assert_eq!((single, double), ([0, 1].map(|k| bits32(&rounded[k])), [0, 1].map(|k| bits(&want[k]))));
            }
        }
    }
}

/// Powers of small integers are exact.
#[test]
fn powers_of_integers_are_exact() {
    let of = |base: f64, degree| Power { gamma: 1.0, coef0: 0.0, degree, base: 0.0 }.of(base);
    assert_eq!((0..8).map(|d| of(-3.0, d)).collect::<Vec<_>>(), [1.0, -3.0, 9.0, -27.0, 81.0, -243.0, 729.0, -2187.0]);
    assert_eq!((of(2.0, 1000), of(0.0, 0), of(2.0, 2000)), (2.0_f64.powi(1000), 1.0, f64::INFINITY));
}
