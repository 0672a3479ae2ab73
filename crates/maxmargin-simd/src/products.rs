//! Dot products of a few rows with a panel of columns, in `f32` or `f64`, all sums in registers.
//!
//! The bits of a dot product depend only on the two samples, not on the block it is computed in: every product is a chain of
//! multiply-adds over the features in ascending order, in pieces of [`PIECE`] whose sums are added in order. Multiply-adds are
//! fused at every level of a processor that can ([`PORTABLE_FUSES`]): all of them then return the same bits.

#[cfg(target_arch = "x86_64")]
#[path = "products_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "products_avx512.rs"]
mod avx512;

use crate::lengths::room;
use crate::level::{Level, level};
use std::ops::AddAssign;

/// Rows in one group, at most.
pub const GROUP: usize = 12;

/// Features summed in one chain: longer chains would lose accuracy.
pub const PIECE: usize = 512;

/// Whether the portable form fuses multiply-adds: wherever every processor of the target has the instruction. x86-64 without it would take a
/// call for each, a hundred times as long.
pub const PORTABLE_FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// `f32` or `f64`: what products are computed in.
pub trait Real: Copy + Default + Send + Sync + AddAssign + 'static {
    /// Samples in one panel: two cache lines of one feature, so that the sums of a group fit the registers.
    const PANEL: usize;

    /// `self · factor + sum`, rounded once if [`PORTABLE_FUSES`].
    #[doc(hidden)]
    #[must_use]
    fn add_product(self, factor: Self, sum: Self) -> Self;

    /// [`products`] on the level in use. Whoever calls it, it checks the lengths itself.
    #[doc(hidden)]
    fn dispatch(rows: &[Self], count: usize, panel: &[Self], out: &mut [Self], stride: usize);
}

macro_rules! real {
    ($real:ty, $panel:literal, $name:ident) => {
        impl Real for $real {
            const PANEL: usize = $panel;

            #[inline(always)]
            fn add_product(self, factor: Self, sum: Self) -> Self {
                if PORTABLE_FUSES { self.mul_add(factor, sum) } else { self * factor + sum }
            }

            fn dispatch(rows: &[Self], count: usize, panel: &[Self], out: &mut [Self], stride: usize) {
                check(rows.len(), count, panel.len(), out.len(), stride, Self::PANEL);
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

/// `out[r * stride + j] = Σ_k rows[k * count + r] panel[k * PANEL + j]` for up to [`GROUP`] rows and the [`Real::PANEL`] samples of
/// one panel.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], or a slice is too short.
pub fn products<T: Real>(rows: &[T], count: usize, panel: &[T], out: &mut [T], stride: usize) {
    T::dispatch(rows, count, panel, out, stride);
}

/// Panics unless the lengths are those of [`products`] with panels of `width` samples.
fn check(rows: usize, count: usize, panel: usize, out: usize, stride: usize, width: usize) {
    let depth = rows / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows == depth * count, "{depth} × {count} row elements");
    assert!(depth.checked_mul(width) == Some(panel), "a panel of {panel} values for {depth} features");
    assert!(room(out, count, stride, width), "room for {out} products");
}

/// [`products`] in plain Rust.
fn portable<T: Real>(rows: &[T], count: usize, panel: &[T], out: &mut [T], stride: usize) {
    for r in 0..count {
        let out = &mut out[r * stride..][..T::PANEL];
        // As the vector forms do, the first piece is stored and not added to 0: of two zeros the sign counts too.
        out.fill(T::default());
        for (piece, (rows, panel)) in rows.chunks(PIECE * count).zip(panel.chunks(PIECE * T::PANEL)).enumerate() {
            let mut sums = [T::default(); 32];
            for (&v, columns) in rows[r..].iter().step_by(count).zip(panel.chunks_exact(T::PANEL)) {
                sums.iter_mut().zip(columns).for_each(|(sum, &w)| *sum = v.add_product(w, *sum));
            }
            if piece == 0 {
                out.copy_from_slice(&sums[..T::PANEL]);
            } else {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}
