//! One-byte codes from raw sums of byte products.
//!
//! The loops are plain Rust that is compiled once per dispatch level.

use crate::dispatch::level::{Level, level};

/// Computes the distance codes `out_k = min(row + columns_k − 2 sums_k, 255)`. Distances must not
/// be negative.
///
/// # Panics
///
/// When the slices differ in length.
pub fn distance_codes(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    codes::<-2>(row, columns, sums, out);
}

/// Computes the product codes `out_k = min(row + columns_k + sums_k, 255)`. Products must not be
/// negative.
///
/// # Panics
///
/// When the slices differ in length.
pub fn dot_codes(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    codes::<1>(row, columns, sums, out);
}

fn codes<const FACTOR: i32>(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    assert!(columns.len() == out.len() && sums.len() == out.len(), "one length");
    match level() {
        // SAFETY: `level` found these instructions on this machine.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { codes_avx512::<FACTOR>(row, columns, sums, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { codes_avx2::<FACTOR>(row, columns, sums, out) },
        _ => plain::<FACTOR>(row, columns, sums, out),
    }
}

#[inline(always)]
fn plain<const FACTOR: i32>(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    for ((out, column), sum) in out.iter_mut().zip(columns).zip(sums) {
        let value = row.wrapping_add(*column).wrapping_add(sum.wrapping_mul(FACTOR));
        *out = value.clamp(0, 255) as u8;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn codes_avx512<const FACTOR: i32>(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    plain::<FACTOR>(row, columns, sums, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn codes_avx2<const FACTOR: i32>(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    plain::<FACTOR>(row, columns, sums, out);
}
