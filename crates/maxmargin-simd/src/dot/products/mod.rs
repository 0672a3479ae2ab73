//! Dot products of a few rows with a panel of columns, in `f32` or `f64`, all sums in registers.
//!
//! The bits of a dot product depend only on the two samples, not on its block. Every product is a
//! chain of multiply-adds over the features in ascending order, in pieces of [`PIECE`] features
//! whose sums are added in order. A panel may omit features that none of its columns has: they
//! would add 0, which can change only the sign of a product that is 0. Multiply-adds are fused at
//! every level of a processor with this instruction ([`PORTABLE_FUSES`]), so that all levels return
//! the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod vectors;

mod features;

pub use features::{Features, PanelFeatures};

use crate::dispatch::lengths::room;
use crate::dispatch::level::{Level, level};
use std::ops::AddAssign;

/// Largest number of rows in a group.
pub const GROUP: usize = 12;

/// Number of features in one chain; longer chains would lose accuracy.
pub const PIECE: usize = 512;

/// The portable form fuses multiply-adds if every processor of the target has the instruction. On
/// x86-64 without it, each would be a function call and take a hundred times as long.
pub const PORTABLE_FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// The number type of products: `f32` or `f64`.
pub trait Real: Copy + Default + Send + Sync + AddAssign + 'static {
    /// Number of samples in a panel: two cache lines per feature, so that the sums of a group fit
    /// in the registers.
    const PANEL: usize;

    /// Computes `self · factor + sum`, rounded once if [`PORTABLE_FUSES`].
    #[doc(hidden)]
    #[must_use]
    fn add_product(self, factor: Self, sum: Self) -> Self;

    /// [`products`] on the level in use. It checks the lengths itself, because the method is
    /// public.
    #[doc(hidden)]
    fn dispatch(rows: &[Self], count: usize, panel: &PanelColumns<Self>, out: &mut [Self], stride: usize);

    /// [`column_products`] on the level in use.
    #[doc(hidden)]
    fn dispatch_column(rows: &[Self], count: usize, column: &[Self], out: &mut [Self]);
}

/// The columns of a panel: some samples, feature-major.
#[derive(Clone, Copy, Debug)]
pub struct PanelColumns<'a, T> {
    /// The features of the panel; without a list it has all features of the rows.
    pub features: Option<Features<'a>>,
    /// The values: sample `j` has the value `values[k * PANEL + j]` of the `k`-th of these
    /// features.
    pub values: &'a [T],
}

impl<T> PanelColumns<'_, T> {
    /// Number of features of the panel, for rows with `depth` features.
    fn count(&self, depth: usize) -> usize {
        self.features.map_or(depth, |features| features.list().len())
    }

    /// The end of a piece: the number of the panel's features below `limit`, searched from `done`
    /// on.
    #[inline(always)]
    fn piece_end(&self, done: usize, limit: usize, depth: usize) -> usize {
        match self.features {
            None => limit.min(depth),
            Some(features) if limit >= depth => features.list().len(),
            Some(features) => done + features.list()[done..].partition_point(|&k| (k as usize) < limit),
        }
    }
}

macro_rules! real {
    ($real:ty, $panel:literal, $name:ident) => {
        impl Real for $real {
            const PANEL: usize = $panel;

            #[inline(always)]
            fn add_product(self, factor: Self, sum: Self) -> Self {
                if PORTABLE_FUSES { self.mul_add(factor, sum) } else { self * factor + sum }
            }

            fn dispatch(rows: &[Self], count: usize, panel: &PanelColumns<Self>, out: &mut [Self], stride: usize) {
                check(rows.len(), count, panel, out.len(), stride);
                match level() {
                    // SAFETY: `level` found these instructions on this machine; `check` compared
                    // all lengths.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { avx512::$name(rows, count, panel, out, stride) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { avx2::$name(rows, count, panel, out, stride) },
                    _ => portable(rows, count, panel, out, stride),
                }
            }

            fn dispatch_column(rows: &[Self], count: usize, column: &[Self], out: &mut [Self]) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn fused(rows: &[$real], count: usize, column: &[$real], out: &mut [$real]) {
                    chains(rows, count, column, out, |x, y, sum| x.mul_add(y, sum));
                }
                match level() {
                    // SAFETY: `level` found AVX2 and FMA on this machine (AVX-512 is above them).
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 | Level::Avx2 => unsafe { fused(rows, count, column, out) },
                    _ => chains(rows, count, column, out, <$real>::add_product),
                }
            }
        }
    };
}
real!(f32, 32, products32);
real!(f64, 16, products64);

/// Computes `out[r * stride + j] = Σ_k rows[k * count + r] x_jk` for up to [`GROUP`] rows and the
/// [`Real::PANEL`] samples of one panel.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], a slice is too short, or the panel has a feature beyond
/// those of the rows.
pub fn products<T: Real>(rows: &[T], count: usize, panel: &PanelColumns<T>, out: &mut [T], stride: usize) {
    T::dispatch(rows, count, panel, out, stride);
}

/// Computes `out[r] = Σ_k rows[k * count + r] column[k]` for up to [`GROUP`] rows: the products of
/// a panel of one sample, with the bits of [`products`].
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], or the lengths do not match.
pub fn column_products<T: Real>(rows: &[T], count: usize, column: &[T], out: &mut [T]) {
    assert!((1..=GROUP).contains(&count) && out.len() == count, "{count} rows, {} products", out.len());
    assert!(column.len().checked_mul(count) == Some(rows.len()), "{} row elements of {} features", rows.len(), column.len());
    T::dispatch_column(rows, count, column, out);
}

/// The chains of [`column_products`], by a multiply-add.
#[inline(always)]
fn chains<T: Real>(rows: &[T], count: usize, column: &[T], out: &mut [T], add: impl Fn(T, T, T) -> T + Copy) {
    macro_rules! by_count {
        ($($count:literal)*) => {
            match count {
                $($count => chains_of::<T, $count>(rows, column, out, add),)*
                _ => unreachable!("the caller checked the number of rows"),
            }
        };
    }
    by_count!(1 2 3 4 5 6 7 8 9 10 11 12);
}

/// [`chains`] of `R` rows, whose sums are in registers.
#[inline(always)]
fn chains_of<T: Real, const R: usize>(rows: &[T], column: &[T], out: &mut [T], add: impl Fn(T, T, T) -> T) {
    let mut whole = [T::default(); R];
    for (piece, (rows, column)) in rows.chunks(R * PIECE).zip(column.chunks(PIECE)).enumerate() {
        let mut sums = [T::default(); R];
        for (row, &x) in rows.as_chunks::<R>().0.iter().zip(column) {
            sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum = add(v, x, *sum));
        }
        // The first piece is not added to 0, which would change the sign of −0.
        if piece == 0 {
            whole = sums;
        } else {
            whole.iter_mut().zip(sums).for_each(|(whole, sum)| *whole += sum);
        }
    }
    out.copy_from_slice(&whole);
}

/// Panics unless the lengths suit [`products`] and the features those of the rows.
fn check<T: Real>(rows: usize, count: usize, panel: &PanelColumns<T>, out: usize, stride: usize) {
    let depth = rows / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows == depth * count, "{depth} × {count} row elements");
    let (features, values) = (panel.count(depth), panel.values.len());
    assert!(features.checked_mul(T::PANEL) == Some(values), "a panel of {values} values for {features} features");
    let end = panel.features.map_or(0, Features::end);
    assert!(end <= depth, "feature {end} of {depth}");
    assert!(room(out, count, stride, T::PANEL), "room for {out} products");
}

/// [`products`] in plain Rust.
fn portable<T: Real>(rows: &[T], count: usize, panel: &PanelColumns<T>, out: &mut [T], stride: usize) {
    let depth = rows.len() / count;
    for r in 0..count {
        let out = &mut out[r * stride..][..T::PANEL];
        let (mut done, mut limit) = (0, PIECE);
        loop {
            let end = panel.piece_end(done, limit, depth);
            let mut sums = [T::default(); 32];
            for (k, columns) in (done..end).zip(panel.values[done * T::PANEL..].chunks_exact(T::PANEL)) {
                let k = panel.features.map_or(k, |features| features.list()[k] as usize);
                let v = rows[k * count + r];
                sums.iter_mut().zip(columns).for_each(|(sum, &w)| *sum = v.add_product(w, *sum));
            }
            // Like in the vector forms, the first piece is stored instead of added to 0, which
            // would change the sign of −0.
            if limit == PIECE {
                out.copy_from_slice(&sums[..T::PANEL]);
            } else {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
            }
            if limit >= depth {
                break;
            }
            (done, limit) = (end, limit + PIECE);
        }
    }
}
