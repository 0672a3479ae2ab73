//! Exact dot products of small integers: 64 byte products per instruction with AVX-512 VNNI,
//! sixteen with AVX2.
//!
//! A sample has two forms: unsigned bytes `x − low` in a panel of columns, and signed bytes `x −
//! middle` as a row of a product. The caller corrects both shifts with known sums.

use crate::dispatch::each::at_level;
use crate::dispatch::lengths::room;
use crate::dispatch::level::{Level, level};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Number of samples in a panel.
pub const PANEL: usize = 32;

/// Largest number of rows in a group.
pub const GROUP: usize = 12;

/// Returns whether the level in use is AVX-512 and the machine has byte products (VNNI).
fn vnni() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        level() == Level::Avx512 && std::arch::is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The position of byte `k` of sample `j` in a panel.
#[inline]
pub fn position(j: usize, k: usize) -> usize {
    (k / 4 * PANEL + j) * 4 + k % 4
}

/// Computes `out[r * stride + j] = Σ_k rows[k, r] panel[k, j]` for up to [`GROUP`] rows and the
/// [`PANEL`] samples of one panel.
///
/// `panel` contains `depth` bytes (a multiple of 4) of each sample at [`position`]. Element
/// `k / 4 * count + r` of `rows` contains four consecutive signed bytes of row `r`. Sums wrap at 32
/// bits.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], or a slice is too short.
pub fn products(rows: &[[i8; 4]], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    let steps = rows.len() / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows.len() == steps * count, "{steps} × {count} row elements");
    assert!(steps.checked_mul(4 * PANEL) == Some(panel.len()), "a panel of {} bytes for {steps} steps", panel.len());
    assert!(room(out.len(), count, stride, PANEL), "room for {} sums", out.len());
    match level() {
        // SAFETY: the machine has AVX-512 and VNNI, and all lengths were checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if vnni() => unsafe { avx512::products(rows, count, panel, out, stride) },
        // SAFETY: `level` found AVX2 on this machine (AVX-512 is above it), and all lengths were
        // checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { avx2::products(rows, count, panel, out, stride) },
        _ => portable(rows, count, panel, out, stride),
    }
}

/// Computes `out[r] = Σ_k rows[k, r] column[k]` for any number of rows: [`products`] for a panel of
/// one sample, whose bytes follow each other.
///
/// # Panics
///
/// When the lengths do not match.
pub fn column_products(rows: &[[i8; 4]], count: usize, column: &[u8], out: &mut [i32]) {
    let steps = column.len() / 4;
    assert!(steps.checked_mul(count) == Some(rows.len()) && out.len() == count, "{count} rows of {steps} steps");
    at_level!(column_plain[][](rows: &[[i8; 4]], count: usize, column: &[u8], out: &mut [i32]) -> ());
}

/// [`column_products`] in plain Rust.
#[inline(always)]
fn column_plain(rows: &[[i8; 4]], count: usize, column: &[u8], out: &mut [i32]) {
    out.fill(0);
    for (row, x) in rows.chunks_exact(count.max(1)).zip(column.as_chunks::<4>().0) {
        let x = x.map(i32::from);
        for (sum, v) in out.iter_mut().zip(row) {
            let product = |k: usize| i32::from(v[k]) * x[k];
            *sum = sum.wrapping_add(product(0) + product(1) + product(2) + product(3));
        }
    }
}

/// [`products`] in plain Rust.
fn portable(rows: &[[i8; 4]], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    for r in 0..count {
        let mut sums = [0_i32; PANEL];
        for (row, columns) in rows.iter().skip(r).step_by(count).zip(panel.as_chunks::<4>().0.chunks_exact(PANEL)) {
            for (sum, column) in sums.iter_mut().zip(columns) {
                let product = |k: usize| i32::from(row[k]) * i32::from(column[k]);
                *sum = sum.wrapping_add(product(0) + product(1) + product(2) + product(3));
            }
        }
        out[r * stride..][..PANEL].copy_from_slice(&sums);
    }
}
