//! Products of rows with panels: their bits depend only on the two samples.

use crate::{answers, at_each_level, stream};
use maxmargin_simd::level::Level;
use maxmargin_simd::products::{Features, GROUP, PIECE, PORTABLE_FUSES, PanelColumns, Real, column_products, products};

/// A value of the type under test.
trait Number: Real + PartialEq + std::fmt::Debug {
    fn from(value: f64) -> Self;
    fn bits(self) -> u64;
    /// The multiply-add of a level.
    fn chain(self, factor: Self, sum: Self, fused: bool) -> Self;
}

macro_rules! number {
    ($real:ty) => {
        impl Number for $real {
            fn from(value: f64) -> Self {
                value as $real
            }

            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }

            fn chain(self, factor: Self, sum: Self, fused: bool) -> Self {
                if fused { self.mul_add(factor, sum) } else { self * factor + sum }
            }
        }
    };
}
number!(f32);
number!(f64);

/// Runs `products` for `count` rows at distances of `stride`, in an array filled with 7.
fn run<T: Number>(rows: &[T], count: usize, features: Option<&[u32]>, panel: &[T], stride: usize) -> Vec<T> {
    let mut out = vec![<T as Number>::from(7.0); count * stride];
    products(rows, count, &PanelColumns { features: features.map(Features::new), values: panel }, &mut out, stride);
    out
}

/// The documented definition: chains of multiply-adds in ascending order, in pieces whose sums are
/// added in order.
fn defined<T: Number>(row: impl Fn(usize) -> T, column: impl Fn(usize) -> T, depth: usize, fused: bool) -> T {
    let mut whole: Option<T> = None;
    for start in (0..depth).step_by(PIECE) {
        let mut sum = T::default();
        (start..depth.min(start + PIECE)).for_each(|k| sum = row(k).chain(column(k), sum, fused));
        whole = Some(whole.map_or(sum, |mut whole| {
            whole += sum;
            whole
        }));
    }
    whole.unwrap_or_default()
}

/// Every group size, depths around the length of a piece, and values of 0, of both signs and of all
/// sizes, so that each rounding has an effect.
fn same_bits<T: Number>() {
    let counts = if cfg!(miri) { 5..=7 } else { 1..=GROUP };
    for (count, depth) in counts.flat_map(|c| [0, 1, 22, PIECE, PIECE + 1, 1100].map(|d| (c, d))) {
        if cfg!(miri) && depth > 3 {
            continue;
        }
        let mut next = stream((count * 10_000 + depth) as u64);
        let mut value = || if next() < 0.1 { T::default() } else { <T as Number>::from((next() - 0.5) * (30.0 * next()).exp()) };
        let panel: Vec<T> = (0..depth * T::PANEL).map(|_| value()).collect();
        let rows: Vec<T> = (0..depth * count).map(|_| value()).collect();
        let stride = T::PANEL + 8;
        at_each_level(|level| {
            let fused = level > Level::Portable || PORTABLE_FUSES;
            let out = run(&rows, count, None, &panel, stride);
            for j in [0, T::PANEL - 1] {
                let column: Vec<T> = panel[j.min(panel.len())..].iter().step_by(T::PANEL).copied().collect();
                let mut alone = vec![<T as Number>::from(7.0); count];
                column_products(&rows, count, &column, &mut alone);
                (0..count).for_each(|r| assert_eq!(alone[r].bits(), out[r * stride + j].bits(), "{level:?} {count} {depth}"));
            }
            for r in 0..count {
                for j in 0..T::PANEL {
                    let want = defined(|k| rows[k * count + r], |k| panel[k * T::PANEL + j], depth, fused);
                    let found = out[r * stride + j];
                    assert_eq!(found.bits(), want.bits(), "{level:?}, {count} rows, depth {depth}: {found:?} for {want:?}");
                }
                let between = &out[r * stride + T::PANEL..(r + 1) * stride];
                assert!(between.iter().all(|v| *v == <T as Number>::from(7.0)), "nothing between the rows is written");
            }
        });
    }
}

/// All levels with fused multiply-adds give the same bits; a portable level without them rounds
/// twice.
#[test]
fn products_have_the_bits_that_are_documented_at_every_level() {
    same_bits::<f32>();
    same_bits::<f64>();
}

/// A negative product that underflows gives −0 if it is rounded once. Adding the first piece to 0
/// would lose the sign.
#[test]
fn the_sign_of_a_zero_is_the_same_at_every_level_that_fuses() {
    let (rows, panel) = (vec![1e-30_f32], vec![-1e-30_f32; 32]);
    let bits = answers(|| run(&rows, 1, None, &panel, 32)[0].to_bits());
    let fused = &bits[usize::from(!PORTABLE_FUSES)..];
    assert!(fused.iter().all(|&b| b == (-0.0_f32).to_bits()), "{bits:x?}");
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn bits_do_not_depend_on_the_block() {
    let depth = 700;
    let value = |r: usize, k: usize| ((r * 7919 + k * 104_729) % 1000) as f32 * 0.001 - 0.4;
    let panel: Vec<f32> = (0..depth * 32).map(|e| value(e % 32 + 9, e / 32)).collect();
    let one: Vec<f32> = (0..depth).map(|k| value(4, k)).collect();
    at_each_level(|level| {
        let alone = run(&one, 1, None, &panel, 32);
        for count in 5..=GROUP {
            let rows: Vec<f32> = (0..depth * count).map(|e| value(e % count, e / count)).collect();
            assert_eq!(run(&rows, count, None, &panel, 32)[4 * 32..5 * 32], alone, "{level:?}");
        }
    });
}

/// Panels that omit features of none of their samples, from no features to all of them, with pieces
/// that have none, some or all.
#[test]
#[cfg_attr(miri, ignore = "long")]
fn features_left_out_change_nothing() {
    fn check<T: Number>() {
        for (depth, kept) in [(0, 1), (1, 1), (22, 3), (116, 2), (PIECE, 5), (1100, 1), (1100, 4), (1700, 700), (1700, 5000)] {
            let features: Vec<u32> = (0..depth as u32).filter(|k| (k + 1) % kept == 0).collect();
            let mut next = stream(depth as u64);
            let mut value = || <T as Number>::from(next() - 0.5);
            let listed: Vec<T> = (0..features.len() * T::PANEL).map(|_| value()).collect();
            let mut whole = vec![T::default(); depth * T::PANEL];
            for (&k, values) in features.iter().zip(listed.chunks_exact(T::PANEL)) {
                whole[k as usize * T::PANEL..][..T::PANEL].copy_from_slice(values);
            }
            let rows: Vec<T> = (0..depth * GROUP).map(|_| value()).collect();
            at_each_level(|level| {
                for count in 1..=GROUP {
                    let rows = &rows[..depth * count];
                    let found = run(rows, count, Some(&features), &listed, T::PANEL);
                    assert_eq!(found, run(rows, count, None, &whole, T::PANEL), "{level:?}, {count} rows, {depth} by {kept}");
                }
            });
        }
    }
    check::<f32>();
    check::<f64>();
}
