//! Gaussians: accuracy against the standard library in f64, the same bits at every level.

use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::level::{Level, levels};
use proptest::prelude::*;

fn ulps32(a: f32, b: f64) -> f64 {
    let ulp = f64::from(f32::from_bits((b as f32).to_bits() + 1)) - f64::from(b as f32);
    (f64::from(a) - b).abs() / ulp
}

/// exp(−γ d²) with the product rounded once in twice the precision.
fn reference(gamma: f64, squared: f64) -> f64 {
    let product = gamma * squared;
    let rest = gamma.mul_add(squared, -product);
    (-product).exp() * (1.0 - rest)
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn whole_range_f32() {
    for gamma in [1.0, 0.5, 7.8125, 1.0 / 3.0, 1e-3, 123.456, 1e-30, 9.9e29] {
        let g = Gaussian::new(gamma);
        let squared: Vec<f32> = (0..200_000).map(|k| (f64::from(k) * 0.0005 / gamma) as f32).collect();
        let (zeros, mut out) = (vec![0.0; squared.len()], vec![0.0; squared.len()]);
        g.fill32(0.0, &squared, &zeros, &mut out);
        for (&x, &k) in squared.iter().zip(&out) {
            let want = reference(gamma, f64::from(x));
            if want < f64::from(f32::MIN_POSITIVE) * 2.0 {
                assert!(f64::from(k) <= f64::from(f32::MIN_POSITIVE) * 2.0, "gamma {gamma} x {x}: {k} {want}");
            } else {
                assert!(ulps32(k, want) <= 1.0, "gamma {gamma} x {x}: {k} {want}");
            }
        }
    }
}

/// Values close to 1 keep the digits of the distance: the error is relative to `1 − exp`, not to
/// `exp`.
#[test]
#[cfg_attr(miri, ignore = "long")]
fn whole_range_less_one() {
    for gamma in [1.0, 7.8125, 1.0 / 3.0, 2.0_f64.powi(-15), 1e-12, 9.9e29] {
        let g = Gaussian::new(gamma).less_one();
        let squared: Vec<f32> = (0..200_000).map(|k| ((f64::from(k) * 0.002).powi(3) / gamma) as f32).collect();
        let (zeros, mut out) = (vec![0.0; squared.len()], vec![0.0; squared.len()]);
        g.fill32(0.0, &squared, &zeros, &mut out);
        for (&x, &k) in squared.iter().zip(&out) {
            let want = (-gamma * f64::from(x)).exp_m1();
            assert!((f64::from(k) - want).abs() <= 2.0 * f64::from(f32::EPSILON) * want.abs(), "gamma {gamma} x {x}: {k} {want}");
        }
        assert_eq!((out[0], g.one32(f32::MAX)), (0.0, -1.0));
    }
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn whole_range_f64() {
    for gamma in [1.0, 0.5, 7.8125, 1.0 / 3.0, 1e-3, 123.456] {
        let g = Gaussian::new(gamma);
        let squared: Vec<f64> = (0..200_000).map(|k| f64::from(k) * 0.004 / gamma).collect();
        let (zeros, mut out) = (vec![0.0; squared.len()], vec![0.0; squared.len()]);
        g.fill64(0.0, &squared, &zeros, &mut out);
        for (&x, &k) in squared.iter().zip(&out) {
            let want = reference(gamma, x);
            if want < f64::MIN_POSITIVE * 4.0 {
                assert!(k <= f64::MIN_POSITIVE * 4.0, "gamma {gamma} x {x}: {k} {want}");
            } else {
                assert!((k - want).abs() <= 2.0 * f64::EPSILON * want, "gamma {gamma} x {x}: {k} {want}");
            }
        }
    }
}

#[test]
fn ends_of_the_range() {
    for level in levels() {
        for gamma in [1e-300, 1e-40, 1.0, 1e40, 1e300, f64::MAX] {
            let g = Gaussian::at(gamma, level);
            let (mut narrow, mut wide) = ([9.0f32; 3], [9.0f64; 3]);
            g.fill32(0.0, &[0.0, -1.0, 1e30], &[0.0, 0.0, 0.0], &mut narrow);
            g.fill64(0.0, &[0.0, -1.0, 1e200], &[0.0, 0.0, 0.0], &mut wide);
            assert_eq!(narrow[..2], [1.0, 1.0], "gamma {gamma}");
            assert_eq!(wide[..2], [1.0, 1.0], "gamma {gamma}");
            if gamma >= 1e-20 {
                assert_eq!((narrow[2], wide[2]), (0.0, 0.0), "gamma {gamma}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_level_returns_the_same_bits(
        log_gamma in -20.0f64..8.0,
        values in prop::collection::vec((0.0f64..40.0, -1.0f64..1.0), 0..70),
        norm in 0.0f64..40.0,
    ) {
        let gamma = log_gamma.exp2();
        let norms: Vec<f64> = values.iter().map(|v| v.0).collect();
        let dots: Vec<f64> = values.iter().map(|v| v.1 * (v.0 * norm).sqrt()).collect();
        let norms32: Vec<f32> = norms.iter().map(|&v| v as f32).collect();
        let dots32: Vec<f32> = dots.iter().map(|&v| v as f32).collect();
        let run = |level, less_one| {
            let g = Gaussian::at(gamma, level);
            let g = if less_one { g.less_one() } else { g };
            let len = norms.len();
            let (mut a, mut b, mut c, mut d) = (vec![0.0f32; len], vec![0.0f32; len], vec![0.0f64; len], vec![0.0f64; len]);
            g.fill32(norm as f32, &norms32, &dots32, &mut a);
            g.fill32_from64(norm, &norms, &dots, &mut b);
            g.fill64(norm, &norms, &dots, &mut c);
            g.fill64_from32(norm as f32, &norms32, &dots32, &mut d);
            (a, b, c, d)
        };
        let expected = run(Level::Portable, false);
        for (j, &k) in expected.2.iter().enumerate() {
            let squared = (-2.0f64).mul_add(dots[j], norm + norms[j]).max(0.0);
            let want = reference(gamma, squared);
            prop_assert!((k - want).abs() <= 2.0 * f64::EPSILON * want + 1e-307);
        }
        for level in levels() {
            prop_assert_eq!(run(level, false), expected.clone());
            prop_assert_eq!(run(level, true), run(Level::Portable, true));
        }
    }

    #[test]
    fn integers_have_exact_distances(
        values in prop::collection::vec((0i32..1 << 30, any::<i32>()), 0..40),
        norm in any::<i32>(),
    ) {
        let dots: Vec<i32> = values.iter().map(|v| v.1).collect();
        let norms: Vec<i32> = values.iter().map(|v| v.0.wrapping_sub(norm).wrapping_add(v.1.wrapping_mul(2))).collect();
        for level in levels() {
            let g = Gaussian::at(1e-8, level);
            let (mut narrow, mut wide) = (vec![0.0; values.len()], vec![0.0; values.len()]);
            g.fill32_from_integers(norm, &norms, &dots, &mut narrow);
            g.fill64_from_integers(norm, &norms, &dots, &mut wide);
            for (j, v) in values.iter().enumerate() {
                prop_assert_eq!(narrow[j].to_bits(), g.one32(v.0 as f32).to_bits());
                prop_assert_eq!(wide[j].to_bits(), g.one64(f64::from(v.0)).to_bits());
            }
        }
    }

    #[test]
    fn one_unit_in_the_last_place(log_gamma in -20.0f64..8.0, log_x in -40.0f64..6.4) {
        let gamma = log_gamma.exp2();
        let x = (log_x.exp2() / gamma) as f32;
        let want = reference(gamma, f64::from(x));
        prop_assume!(want > 2.0 * f64::from(f32::MIN_POSITIVE));
        prop_assert!(ulps32(Gaussian::new(gamma).one32(x), want) <= 1.0);
    }
}

/// Norms below 2²⁴ are exact in `f32`; an odd sum of two of them above 2²⁴ is not.
#[test]
fn exact_norms_whose_sum_is_not_a_single() {
    let (norm, norms, dots) = (16_000_001.0_f32, [16_000_000.0_f32; 37], [15_500_000.0_f32; 37]);
    for level in levels() {
        let g = Gaussian::at(1e-6, level);
        let (mut from32, mut from64) = ([0.0; 37], [0.0; 37]);
        g.fill64_from32(norm, &norms, &dots, &mut from32);
        g.fill64(f64::from(norm), &norms.map(f64::from), &dots.map(f64::from), &mut from64);
        assert_eq!(from32, from64, "{level:?}");
        assert!((from32[0] - f64::exp(-1.000_001)).abs() < 1e-15, "{level:?}: {}", from32[0]);
    }
}

/// Several rows at once have the bits of one row after the other.
#[test]
fn rows_are_filled_like_single_rows() {
    for level in levels() {
        let g = Gaussian::at(0.7, level);
        for len in [1_usize, 5, 16, 33] {
            let dots: Vec<f32> = (0..3 * len).map(|k| (k * 13 % 29) as f32 * 0.1 - 1.0).collect();
            let (norms, row_norms): (Vec<f32>, _) = ((0..len).map(|k| (k % 7) as f32 * 0.5 + 2.0).collect(), [1.0_f32, 2.5, 3.0]);
            let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
            let whole = |values: &[f32]| values.iter().map(|v| (v * 3.0) as i32).collect::<Vec<i32>>();
            let (mut one, mut all) = (vec![9.0_f32; 3 * len], vec![8.0_f32; 3 * len]);
            let (mut one64, mut all64) = (vec![9.0_f64; 3 * len], vec![8.0_f64; 3 * len]);
            let (mut of_integers, mut all_of_integers) = (one.clone(), all.clone());
            g.rows32(&row_norms, &norms, &dots, &mut all);
            g.rows64(&wide(&row_norms), &wide(&norms), &wide(&dots), &mut all64);
            g.rows32_from_integers(&whole(&row_norms), &whole(&norms), &whole(&dots), &mut all_of_integers);
            for (r, norm) in row_norms.iter().enumerate() {
                let row = r * len..(r + 1) * len;
                g.fill32(*norm, &norms, &dots[row.clone()], &mut one[row.clone()]);
                g.fill64(f64::from(*norm), &wide(&norms), &wide(&dots[row.clone()]), &mut one64[row.clone()]);
                let (norm, dots) = (whole(&[*norm])[0], whole(&dots[row.clone()]));
                g.fill32_from_integers(norm, &whole(&norms), &dots, &mut of_integers[row]);
            }
            assert_eq!((one, one64, of_integers), (all, all64, all_of_integers), "{level:?} {len}");
        }
    }
}
