//! Dot products of rows of zeros and ones: the number of bits that two rows have in common.
//!
//! AVX-512 with VPOPCNTDQ counts eight words at a time, AVX2 looks up half bytes in a table, and
//! portable code counts single words.

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

/// Computes `out[r * stride + j] = Σ_k popcount(rows[k, r] & panel[k, j])` for up to [`GROUP`] rows
/// and the [`PANEL`] samples of one panel. Word `k` of sample `j` is `panel[k * PANEL + j]`, word
/// `k` of row `r` is `rows[k * count + r]`.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], or a slice is too short.
pub fn products(rows: &[u64], count: usize, panel: &[u64], out: &mut [i32], stride: usize) {
    let words = rows.len() / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows.len() == words * count, "{words} × {count} words of rows");
    assert!(words.checked_mul(PANEL) == Some(panel.len()), "a panel of {} words for {words} of a row", panel.len());
    assert!(room(out.len(), count, stride, PANEL), "room for {} sums", out.len());
    match level() {
        // SAFETY: the machine has AVX-512 and VPOPCNTDQ, and all lengths were checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if std::arch::is_x86_feature_detected!("avx512vpopcntdq") => unsafe {
            avx512::products(rows, count, panel, out, stride);
        },
        // SAFETY: `level` found AVX2 on this machine (AVX-512 is above it), and all lengths were
        // checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { avx2::products(rows, count, panel, out, stride) },
        _ => plain(rows, count, panel, out, stride),
    }
}

/// Computes `out[r] = Σ_k popcount(rows[k * count + r] & column[k])`: [`products`] for a panel of
/// one sample, and any number of rows.
///
/// # Panics
///
/// When the lengths do not match.
pub fn column_products(rows: &[u64], count: usize, column: &[u64], out: &mut [i32]) {
    assert!(column.len().checked_mul(count) == Some(rows.len()) && out.len() == count, "{count} rows of {} words", column.len());
    #[cfg(target_arch = "x86_64")]
    if level() > Level::Portable && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine has the instruction.
        return unsafe { counted(rows, count, column, out) };
    }
    column_plain(rows, count, column, out);
}

/// [`column_products`] with an instruction that counts bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn counted(rows: &[u64], count: usize, column: &[u64], out: &mut [i32]) {
    column_plain(rows, count, column, out);
}

/// [`column_products`] in plain Rust.
#[inline(always)]
fn column_plain(rows: &[u64], count: usize, column: &[u64], out: &mut [i32]) {
    out.fill(0);
    for (row, word) in rows.chunks_exact(count.max(1)).zip(column) {
        out.iter_mut().zip(row).for_each(|(sum, bits)| *sum += (bits & word).count_ones() as i32);
    }
}

/// Counts the bits in which a row differs from others: `out[k] = Σ popcount(row ^ rows[among[k]])`.
/// `rows` holds the words of all rows, one row after the other.
///
/// # Panics
///
/// When a row of `among` does not exist, or there is not one result for each.
pub fn differences(row: &[u64], rows: &[u64], among: &[u32], out: &mut [u32]) {
    assert_eq!(among.len(), out.len(), "a result for each row");
    #[cfg(target_arch = "x86_64")]
    if level() > Level::Portable && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine has the instruction.
        return unsafe { differences_counted(row, rows, among, out) };
    }
    differences_plain(row, rows, among, out);
}

/// [`differences`] with an instruction that counts bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn differences_counted(row: &[u64], rows: &[u64], among: &[u32], out: &mut [u32]) {
    differences_plain(row, rows, among, out);
}

/// [`differences`] in plain Rust.
#[inline(always)]
fn differences_plain(row: &[u64], rows: &[u64], among: &[u32], out: &mut [u32]) {
    for (&at, out) in among.iter().zip(out) {
        let other = &rows[at as usize * row.len()..][..row.len()];
        *out = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
    }
}

/// [`products`] in plain Rust.
fn plain(rows: &[u64], count: usize, panel: &[u64], out: &mut [i32], stride: usize) {
    for r in 0..count {
        let mut sums = [0_u64; PANEL];
        for (word, columns) in rows[r..].iter().step_by(count).zip(panel.as_chunks::<PANEL>().0) {
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum += u64::from((word & column).count_ones());
            }
        }
        out[r * stride..][..PANEL].iter_mut().zip(&sums).for_each(|(out, sum)| *out = *sum as i32);
    }
}
