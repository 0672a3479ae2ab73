//! Dot products of a few rows with a panel of columns, in `f32` or `f64`, all sums in registers.
//!
//! The bits of a dot product depend only on the two samples, not on the block it is computed in:
//! every product is a chain of multiply-adds over the features in ascending order, in pieces of
//! [`PIECE`] whose sums are added in order. Features that no column of a panel has may be left out
//! of it: what they would add is 0 (so that only the sign of a product that is 0 may differ).
//! Multiply-adds are fused at every level of a processor that can ([`PORTABLE_FUSES`]): all of them
//! then return the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::dispatch::lengths::room;
use crate::dispatch::level::{Level, level};
use std::ops::AddAssign;

/// Rows in one group, at most.
pub const GROUP: usize = 12;

/// Features summed in one chain: longer chains would lose accuracy.
pub const PIECE: usize = 512;

/// Whether the portable form fuses multiply-adds: wherever every processor of the target has the
/// instruction. x86-64 without it would take a call for each, a hundred times as long.
pub const PORTABLE_FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// `f32` or `f64`: what products are computed in.
pub trait Real: Copy + Default + Send + Sync + AddAssign + 'static {
    /// Samples in one panel: two cache lines of one feature, so that the sums of a group fit the
    /// registers.
    const PANEL: usize;

    /// `self · factor + sum`, rounded once if [`PORTABLE_FUSES`].
    #[doc(hidden)]
    #[must_use]
    fn add_product(self, factor: Self, sum: Self) -> Self;

    /// [`products`] on the level in use. Whoever calls it, it checks the lengths itself.
    #[doc(hidden)]
    fn dispatch(rows: &[Self], count: usize, panel: &Columns<Self>, out: &mut [Self], stride: usize);
}

/// The columns of a panel: some samples side by side, feature by feature.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a, T> {
    /// The features that the panel has, ascending; all of the rows' where there is no list.
    pub features: Option<&'a [u32]>,
    /// Of the `k`-th of these features sample `j` has the value at `k * PANEL + j`.
    pub values: &'a [T],
}

impl<T> Columns<'_, T> {
    /// Features that the panel has, of `depth` that rows have.
    fn count(&self, depth: usize) -> usize {
        self.features.map_or(depth, <[u32]>::len)
    }

    /// The end of a piece that begins with the panel's feature `done` and has those of the rows
    /// below `limit`.
    #[inline(always)]
    fn piece_end(&self, done: usize, limit: usize, depth: usize) -> usize {
        match self.features {
            None => limit.min(depth),
            Some(features) if limit >= depth => features.len(),
            Some(features) => done + features[done..].partition_point(|&k| (k as usize) < limit),
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

            fn dispatch(rows: &[Self], count: usize, panel: &Columns<Self>, out: &mut [Self], stride: usize) {
                check(rows.len(), count, panel, out.len(), stride);
                match level() {
                    // SAFETY: `level` found these instructions on this machine; `check` compared all lengths.
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

/// `out[r * stride + j] = Σ_k rows[k * count + r] x_jk` for up to [`GROUP`] rows and the
/// [`Real::PANEL`] samples of one panel.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], a slice is too short, or the panel has a feature that the
/// rows do not have.
pub fn products<T: Real>(rows: &[T], count: usize, panel: &Columns<T>, out: &mut [T], stride: usize) {
    T::dispatch(rows, count, panel, out, stride);
}

/// Panics unless the lengths are those of [`products`], and the features those of the rows.
fn check<T: Real>(rows: usize, count: usize, panel: &Columns<T>, out: usize, stride: usize) {
    let depth = rows / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows == depth * count, "{depth} × {count} row elements");
    let (features, values) = (panel.count(depth), panel.values.len());
    assert!(features.checked_mul(T::PANEL) == Some(values), "a panel of {values} values for {features} features");
    let last = panel.features.map_or(0, |features| features.iter().fold(0, |last, &k| last.max(k as usize + 1)));
    assert!(last <= depth, "feature {last} of {depth}");
    assert!(room(out, count, stride, T::PANEL), "room for {out} products");
}

/// [`products`] in plain Rust.
fn portable<T: Real>(rows: &[T], count: usize, panel: &Columns<T>, out: &mut [T], stride: usize) {
    let depth = rows.len() / count;
    for r in 0..count {
        let out = &mut out[r * stride..][..T::PANEL];
        let (mut done, mut limit) = (0, PIECE);
        loop {
            let end = panel.piece_end(done, limit, depth);
            let mut sums = [T::default(); 32];
            for (k, columns) in (done..end).zip(panel.values[done * T::PANEL..].chunks_exact(T::PANEL)) {
                let k = panel.features.map_or(k, |features| features[k] as usize);
                let v = rows[k * count + r];
                sums.iter_mut().zip(columns).for_each(|(sum, &w)| *sum = v.add_product(w, *sum));
            }
            // As the vector forms do, the first piece is stored and not added to 0: of two zeros
            // the sign counts too.
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
