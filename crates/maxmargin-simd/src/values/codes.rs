//! One-byte codes from raw sums of byte products.
//!
//! The loops are plain Rust that is compiled once per dispatch level.

use crate::dispatch::each::at_level;

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
    at_level!(plain [const FACTOR: i32] [FACTOR] (row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) -> ());
}

#[inline(always)]
fn plain<const FACTOR: i32>(row: i32, columns: &[i32], sums: &[i32], out: &mut [u8]) {
    for ((out, column), sum) in out.iter_mut().zip(columns).zip(sums) {
        let value = row.wrapping_add(*column).wrapping_add(sum.wrapping_mul(FACTOR));
        *out = value.clamp(0, 255) as u8;
    }
}
