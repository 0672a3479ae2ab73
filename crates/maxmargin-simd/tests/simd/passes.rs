//! The SMO passes: every dispatch level compared with a plain loop, bit for bit.

use crate::{answers, at_each_level};
use maxmargin_simd::moves::{Between, moved};
use maxmargin_simd::passes::{
    Along, Diagonal, Extremes, PairUpdate, Partner, PartnerSelection, add_and_scan, bit, conjugate_and_scan, scan, second_order,
    update_and_scan,
};
use maxmargin_simd::row::{CodeTable, RowSlice};
use maxmargin_simd::sums::{add_scaled, dot};
use proptest::prelude::*;
/// A problem for the passes: gradient, two rows and two sets.
#[derive(Debug, Clone)]
struct State {
    f: Vec<f64>,
    ki: Vec<f32>,
    kj: Vec<f32>,
    diagonal: Vec<f64>,
    up: Vec<u8>,
    low: Vec<u8>,
}

fn states() -> impl Strategy<Value = State> {
    let element = (-3..4_i32, -1.0..1.0_f64, -1.0..1.0_f32, -1.0..1.0_f32, 0.5..2.0_f64);
    prop::collection::vec((element, any::<bool>(), any::<bool>()), 1..if cfg!(miri) { 60 } else { 1400 }).prop_map(|elements| {
        let n = elements.len();
        let (mut up, mut low) = (vec![0_u8; n.div_ceil(8)], vec![0_u8; n.div_ceil(8)]);
        let mut state = State { f: vec![], ki: vec![], kj: vec![], diagonal: vec![], up: vec![], low: vec![] };
        for (k, ((coarse, fine, ki, kj, d), is_up, is_low)) in elements.into_iter().enumerate() {
            // Half of the values are from a coarse grid, so that ties occur.
            state.f.push(if k % 2 == 0 { f64::from(coarse) } else { fine });
            state.ki.push(ki);
            state.kj.push(if k % 2 == 0 { ki } else { kj });
            state.diagonal.push(d);
            up[k / 8] |= u8::from(is_up) << (k % 8);
            low[k / 8] |= u8::from(is_low) << (k % 8);
        }
        (state.up, state.low) = (up, low);
        state
    })
}

fn plain_scan(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    let mut found = Extremes::NONE;
    for (k, &value) in f.iter().enumerate() {
        if bit(up, k) && value < found.min_up {
            (found.min_up, found.argmin_up) = (value, k);
        }
        if bit(low, k) && value > found.max_low {
            (found.max_low, found.argmax_low) = (value, k);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn update_and_scan_is_the_plain_loop(state in states(), delta in -10.0..10.0_f64) {
        let mut expected = state.f.clone();
        for (k, f) in expected.iter_mut().enumerate() {
            *f += delta * (f64::from(state.ki[k]) - f64::from(state.kj[k]));
        }
        let extremes = plain_scan(&expected, &state.up, &state.low);
        at_each_level(|level| {
            let mut f = state.f.clone();
            let found = update_and_scan(&mut f, RowSlice::Values(&state.ki), RowSlice::Values(&state.kj), delta, &state.up, &state.low);
            assert_eq!(f, expected, "{level:?}");
            assert_eq!(found, extremes, "{level:?}");
            assert_eq!(scan(&f, &state.up, &state.low), extremes, "{level:?}");
            let zeros = vec![0.0; f.len()];
            let (mut one, mut pair) = (state.f.clone(), state.f.clone());
            let alone = add_and_scan(&mut one, RowSlice::Values(&state.ki), delta, &state.up, &state.low);
            assert_eq!(alone, update_and_scan(&mut pair, RowSlice::Values(&state.ki), RowSlice::Values(&zeros), delta, &state.up, &state.low), "{level:?}");
            assert_eq!(one, pair, "{level:?}");
        });
    }

    /// Steps with a part of the last direction, compared with plain loops, bit for bit.
    #[test]
    fn turned_updates_are_the_plain_loop(state in states(), beta in -2.0..2.0_f64, delta in -10.0..10.0_f64) {
        let before: Vec<f64> = state.diagonal.iter().map(|d| d - 1.0).collect();
        let (mut f, mut q) = (state.f.clone(), before.clone());
        for k in 0..f.len() {
            q[k] = (f64::from(state.ki[k]) - f64::from(state.kj[k])) + beta * q[k];
            f[k] += delta * q[k];
        }
        let extremes = plain_scan(&f, &state.up, &state.low);
        at_each_level(|level| {
            let (mut found, mut along) = (state.f.clone(), before.clone());
            let update = PairUpdate { ki: RowSlice::Values(&state.ki), kj: RowSlice::Values(&state.kj), beta, delta };
            assert_eq!(conjugate_and_scan(&mut found, &mut along, update, &state.up, &state.low), extremes, "{level:?}");
            assert_eq!((found, along), (f.clone(), q.clone()), "{level:?}");
        });
    }

    #[test]
    fn second_order_finds_the_greatest_gain(
        state in states(), each in any::<bool>(), fi in -4.0..4.0_f64, scale in prop::option::of(0.0..3.0_f64), qi in -1.0..1.0_f64,
    ) {
        let diagonal = if each { Diagonal::Each(&state.diagonal) } else { Diagonal::Constant(1.0) };
        let q: Vec<f64> = state.kj.iter().map(|k| f64::from(*k)).collect();
        let along = scale.map(|scale| Along { q: &q, qi, scale });
        let (kii, tau) = (1.0, 1e-12);
        let gain = |k: usize| {
            let kjj = if each { state.diagonal[k] } else { 1.0 };
            let b = state.f[k] - fi;
            let less = scale.map_or(0.0, |scale| scale * ((q[k] - qi) * (q[k] - qi)));
            b * b / ((kii + kjj) - 2.0 * f64::from(state.ki[k]) - less).max(tau)
        };
        let best = (0..state.f.len()).filter(|&k| bit(&state.low, k) && state.f[k] > fi).map(gain).fold(f64::NEG_INFINITY, f64::max);
        let found = answers(|| second_order(&state.f, RowSlice::Values(&state.ki), &PartnerSelection { diagonal, along, kii, fi, tau }, &state.low));
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
        if best == f64::NEG_INFINITY {
            prop_assert_eq!(found[0], Partner::NONE);
        } else {
            // Fractions are compared by cross multiplication, so the winner may miss the maximum by
            // rounding.
            prop_assert!(found[0].gain >= best * (1.0 - 1e-14));
            prop_assert_eq!(found[0].gain, gain(found[0].index));
        }
    }

    /// One-byte codes, with tables that fit in registers and others, have the bits of their values.
    #[test]
    fn codes_are_what_they_stand_for(state in states(), few in any::<bool>(), delta in -10.0..10.0_f64, fi in -4.0..4.0_f64) {
        let table = CodeTable::new(|code| if few && code >= 31 { 0.0 } else { (-0.1 * f32::from(code)).exp() });
        let code = |value: &f32| (value.abs() * 255.0) as u8;
        let [ci, cj] = [&state.ki, &state.kj].map(|row| row.iter().map(code).collect::<Vec<u8>>());
        let decoded = |codes: &[u8]| codes.iter().map(|&code| table.value(code)).collect::<Vec<f32>>();
        let (ki, kj) = (decoded(&ci), decoded(&cj));
        let run = |rows: [RowSlice; 2]| {
            let (mut both, mut alone) = (state.f.clone(), state.f.clone());
            let pair = update_and_scan(&mut both, rows[0], rows[1], delta, &state.up, &state.low);
            let single = add_and_scan(&mut alone, rows[0], delta, &state.up, &state.low);
            let (mut turned, mut q) = (state.f.clone(), state.diagonal.clone());
            let beta = conjugate_and_scan(&mut turned, &mut q, PairUpdate { ki: rows[0], kj: rows[1], beta: -0.3, delta }, &state.up, &state.low);
            let partners = [None, Some(Along { q: &state.diagonal, qi: 1.0, scale: 0.4 })].map(|along| {
                let selection = PartnerSelection { diagonal: Diagonal::Constant(1.0), along, kii: 1.0, fi, tau: 1e-12 };
                second_order(&state.f, rows[0], &selection, &state.low)
            });
            (both, alone, turned, q, [pair, single, beta], partners)
        };
        let expected = run([RowSlice::Values(&ki), RowSlice::Values(&kj)]);
        at_each_level(|level| {
            let found = run([RowSlice::Codes(&ci, &table), RowSlice::Codes(&cj, &table)]);
            assert_eq!(found, expected, "{level:?}");
            let mut values = vec![f32::NAN; ci.len()];
            table.decode(&ci, &mut values);
            assert_eq!(values, ki, "{level:?}");
            // Longer than one decoded stretch, and not a multiple of it.
            let long = |row: &[u8]| row.iter().copied().cycle().take(1200 + row.len()).collect::<Vec<u8>>();
            let codes = long(&ci);
            let (plain, f) = (decoded(&codes), (0..codes.len()).map(|k| (k as f64 * 0.37).sin()).collect::<Vec<f64>>());
            let (coded, plain) = (RowSlice::Codes(&codes, &table), RowSlice::Values(&plain));
            assert_eq!(coded.dot(&f).to_bits(), plain.dot(&f).to_bits(), "{level:?}");
            let add = |row: RowSlice| {
                let mut sums = f.clone();
                row.add_to(&mut sums, delta);
                sums
            };
            assert_eq!(add(coded), add(plain), "{level:?}");
            assert_eq!(coded.to_vec(), plain.to_vec(), "{level:?}");
        });
    }

    #[test]
    fn sums_are_the_same_at_every_level(state in states(), factor in -3.0..3.0_f64) {
        let expected: Vec<f64> = state.f.iter().zip(&state.ki).map(|(f, k)| f + factor * f64::from(*k)).collect();
        let plain: f64 = state.f.iter().zip(&state.ki).map(|(f, k)| f * f64::from(*k)).sum();
        at_each_level(|level| {
            let mut f = state.f.clone();
            add_scaled(&mut f, factor, &state.ki);
            assert_eq!(f, expected, "{level:?}");
        });
        let dots = answers(|| dot(&state.f, &state.ki));
        prop_assert!(dots.iter().all(|d| d.to_bits() == dots[0].to_bits()));
        let scale: f64 = state.f.iter().zip(&state.ki).map(|(f, k)| (f * f64::from(*k)).abs()).sum();
        prop_assert!((dots[0] - plain).abs() <= 1e-13 * scale);
    }

    #[test]
    fn moves_stay_between_bounds_or_say_so(state in states(), beta in -2.0..2.0_f64, step in -0.5..0.5_f64, nth in 1_usize..9) {
        let p: Vec<f64> = state.ki.iter().map(|k| f64::from(*k)).collect();
        let at: Vec<f64> = state.kj.iter().map(|k| f64::from(*k)).collect();
        let turned: Vec<f64> = p.iter().map(|p| beta * p).collect();
        let ends: Vec<f64> = at.iter().zip(&turned).map(|(at, p)| at + step * p).collect();
        // Results at a bound count as outside. Every second one of these is at the lower bound.
        let most: Vec<f64> = ends.iter().enumerate().map(|(k, end)| if k % nth == 0 { *end } else { 3.0 }).collect();
        let least: Vec<f64> = ends.iter().enumerate().map(|(k, end)| if k % (2 * nth) == nth { *end } else { -3.0 }).collect();
        let outside = (0..p.len()).filter(|k| k % nth == 0 || k % (2 * nth) == nth).count();
        at_each_level(|level| {
            let (mut to, mut p) = (vec![f64::NAN; p.len()], p.clone());
            assert_eq!(moved(Between { at: &at, least: &least, most: &most }, &mut p, beta, step, &mut to), outside, "{level:?}");
            assert!((&to, &p) == (&ends, &turned), "{level:?}");
        });
    }
}
