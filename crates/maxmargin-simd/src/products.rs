//! Dot products of a few rows with a panel of columns, in `f32` or `f64`, all sums in registers.
//!
//! The bits of a dot product depend only on the two samples, not on the block it is computed in: every product is a chain of
//! multiply-adds over the features in ascending order, in pieces of [`PIECE`] whose sums are added in order. Multiply-adds are
//! fused on every level but the portable one.

#[cfg(target_arch = "x86_64")]
#[path = "products_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "products_avx512.rs"]
mod avx512;

use crate::level::{Level, level};
use std::ops::{AddAssign, Mul};

/// Rows in one group, at most.
pub const GROUP: usize = 12;

/// Features summed in one chain: longer chains would lose accuracy.
pub const PIECE: usize = 512;

/// `f32` or `f64`: what products are computed in.
pub trait Real: Copy + Default + Send + Sync + AddAssign + Mul<Output = Self> + 'static {
    /// Samples in one panel: two cache lines of one feature, so that the sums of a group fit the registers.
    const PANEL: usize;

    /// [`products`] on the level in use, lengths checked.
    #[doc(hidden)]
    fn dispatch(rows: &[Self], count: usize, panel: &[Self], out: &mut [Self], stride: usize);
}

macro_rules! real {
    ($real:ty, $panel:literal, $name:ident) => {
        impl Real for $real {
            const PANEL: usize = $panel;

            fn dispatch(rows: &[Self], count: usize, panel: &[Self], out: &mut [Self], stride: usize) {
                match level() {
                    // SAFETY: `level` found these instructions on this machine; `products` checked all lengths.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { avx512::$name(rows, count, panel, out, stride) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { avx2::$name(rows, count, panel, out, stride) },
                    _ => portable(rows, count, panel, out, stride),
                }
            }
        }
    };
}
real!(f32, 32, products32);
real!(f64, 16, products64);

/// `out[r * stride + j] = Σ_k rows[k * count + r] panel[k * PANEL + j]` for up to [`GROUP`] rows and the [`Real::PANEL`] samples of
/// one panel.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], or a slice is too short.
pub fn products<T: Real>(rows: &[T], count: usize, panel: &[T], out: &mut [T], stride: usize) {
    let depth = rows.len() / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows.len() == depth * count, "{depth} × {count} row elements");
    assert!(panel.len() == depth * T::PANEL, "a panel of {} values for {depth} features", panel.len());
    assert!(out.len() >= (count - 1) * stride + T::PANEL, "room for {} products", out.len());
    T::dispatch(rows, count, panel, out, stride);
}

/// [`products`] in plain Rust.
fn portable<T: Real>(rows: &[T], count: usize, panel: &[T], out: &mut [T], stride: usize) {
    for r in 0..count {
        let out = &mut out[r * stride..][..T::PANEL];
        out.fill(T::default());
        for (rows, panel) in rows.chunks(PIECE * count).zip(panel.chunks(PIECE * T::PANEL)) {
            let mut sums = [T::default(); 32];
            for (&v, columns) in rows[r..].iter().step_by(count).zip(panel.chunks_exact(T::PANEL)) {
                sums.iter_mut().zip(columns).for_each(|(sum, &w)| *sum += v * w);
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: every level must be exact.
    fn check<T: Real + From<i8> + PartialEq + std::fmt::Debug>() {
        for (count, depth) in (1..=GROUP).flat_map(|c| [1, 22, 512, 1100].map(|d| (c, d))) {
            let at = |r: usize, k: usize| ((r * 37 + k * 101) % 13) as i8 - 6;
            let panel: Vec<T> = (0..depth * T::PANEL).map(|e| T::from(at(e % T::PANEL + 50, e / T::PANEL))).collect();
            let rows: Vec<T> = (0..depth * count).map(|e| T::from(at(e % count, e / count))).collect();
            let stride = T::PANEL + 8;
            let mut out = vec![T::from(7); count * stride];
            products(&rows, count, &panel, &mut out, stride);
            let mut plain = vec![T::from(7); count * stride];
            portable(&rows, count, &panel, &mut plain, stride);
            assert_eq!(out, plain, "{count} rows, depth {depth}");
            let mut want = T::default();
            (0..depth).for_each(|k| want += T::from(at(count - 1, k)) * T::from(at(53, k)));
            assert_eq!(out[(count - 1) * stride + 3], want);
            assert!(out[T::PANEL..stride].iter().all(|v| *v == T::from(7)), "nothing between the rows is written");
        }
    }

    #[test]
    fn every_group() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn bits_do_not_depend_on_the_block() {
        let depth = 700;
        let value = |r: usize, k: usize| ((r * 7919 + k * 104_729) % 1000) as f32 * 0.001 - 0.4;
        let panel: Vec<f32> = (0..depth * 32).map(|e| value(e % 32 + 9, e / 32)).collect();
        let mut alone = [0.0; 32];
        let one: Vec<f32> = (0..depth).map(|k| value(4, k)).collect();
        products(&one, 1, &panel, &mut alone, 32);
        for count in 5..=GROUP {
            let rows: Vec<f32> = (0..depth * count).map(|e| value(e % count, e / count)).collect();
            let mut out = vec![0.0; count * 32];
            products(&rows, count, &panel, &mut out, 32);
            assert_eq!(out[4 * 32..5 * 32], alone);
        }
    }
}
