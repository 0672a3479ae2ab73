//! Dot products of rows of zeros and ones whose features fall into groups, with at most one 1 in
//! each: the number of groups in which two rows have the same category.
//!
//! One-hot columns are such features. A comparison of one byte then takes the place of counting the
//! bits of all columns of a group.

use super::bits::{GROUP, PANEL};
use crate::dispatch::lengths::room;
use crate::dispatch::level::{Level, level};

/// Largest number of groups: their count fits in a byte.
pub const MOST: usize = 255;

/// Returns whether this machine computes products faster by categories in `groups` groups than by
/// bits in `words` words. Both are exact.
pub fn are_faster(groups: usize, words: usize) -> bool {
    if level() == Level::Portable {
        return groups <= MOST && 0.4 * (groups as f64) < words as f64;
    }
    // Instructions for a sample: those of a group or of a word, and those of its sum.
    let by_categories = 3.0 * groups as f64 / PANEL as f64 + 0.6;
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 && std::arch::is_x86_feature_detected!("avx512vpopcntdq") {
        return groups <= MOST && by_categories < 0.5 * words as f64 + 0.2;
    }
    groups <= MOST && by_categories < 2.25 * words as f64 + 0.6
}

/// Computes `out[r * stride + j]`, the number of groups `k` with `rows[r * groups + k] == panel[k *
/// PANEL + j]`, for up to [`GROUP`] rows and the [`PANEL`] samples of one panel. A sample without a
/// category in a group needs a value there that no row has.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], there are more than [`MOST`] groups, or a slice is too
/// short.
pub fn products(rows: &[u8], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    let groups = rows.len() / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows.len() == groups * count, "{groups} × {count} categories of rows");
    assert!(groups <= MOST && panel.len() == groups * PANEL, "a panel of {} categories in {groups} groups", panel.len());
    assert!(room(out.len(), count, stride, PANEL), "room for {} sums", out.len());
    match level() {
        // SAFETY: `level` found AVX2 on this machine (AVX-512 is above it), and all lengths were
        // checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { avx2(rows, count, panel, out, stride) },
        _ => plain(rows, count, panel, out, stride),
    }
}

/// [`products`] in plain Rust.
fn plain(rows: &[u8], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    let groups = rows.len() / count;
    for r in 0..count {
        let mut sums = [0_u8; PANEL];
        for (row, columns) in rows[r * groups..][..groups].iter().zip(panel.as_chunks::<PANEL>().0) {
            sums.iter_mut().zip(columns).for_each(|(sum, column)| *sum += u8::from(row == column));
        }
        out[r * stride..][..PANEL].iter_mut().zip(sums).for_each(|(out, sum)| *out = i32::from(sum));
    }
}

/// # Safety
///
/// Requires AVX2; `rows` holds a whole number of categories for each of `count` rows, `panel` as
/// many for [`PANEL`] samples, and `out` has room for `count` lines of [`PANEL`] sums that begin
/// `stride` apart.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(rows: &[u8], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    let mut r = 0;
    while r < count {
        // SAFETY: rows up to count; the caller's lengths are enough for them.
        r += unsafe {
            match count - r {
                1 => rows_of::<1>(rows, count, r, panel, out, stride),
                2 => rows_of::<2>(rows, count, r, panel, out, stride),
                3 => rows_of::<3>(rows, count, r, panel, out, stride),
                _ => rows_of::<4>(rows, count, r, panel, out, stride),
            }
        };
    }
}

/// [`avx2`] for the `N` rows from `first` on, which share the loads of the panel; returns `N`.
///
/// # Safety
///
/// As [`avx2`], and there are `N` rows from `first` on.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn rows_of<const N: usize>(
    rows: &[u8],
    count: usize,
    first: usize,
    panel: &[u8],
    out: &mut [i32],
    stride: usize,
) -> usize {
    use std::arch::x86_64::*;
    const { assert!(PANEL == 32, "a panel is one vector of bytes") };
    let groups = rows.len() / count;
    let mut sums = [_mm256_setzero_si256(); N];
    for k in 0..groups {
        // SAFETY: k < groups, so that PANEL bytes from k PANEL on are in the panel.
        let columns = unsafe { _mm256_loadu_si256(panel.as_ptr().add(k * PANEL).cast()) };
        for (n, sum) in sums.iter_mut().enumerate() {
            // SAFETY: row first + n < count has `groups` categories.
            let row = unsafe { *rows.get_unchecked((first + n) * groups + k) };
            // All bits of an equal byte are set, which is −1.
            *sum = _mm256_sub_epi8(*sum, _mm256_cmpeq_epi8(_mm256_set1_epi8(row.cast_signed()), columns));
        }
    }
    for (n, sum) in sums.iter().enumerate() {
        let [low, high] = [_mm256_castsi256_si128(*sum), _mm256_extracti128_si256::<1>(*sum)];
        for (eight, bytes) in [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)].into_iter().enumerate() {
            // SAFETY: the caller's `out` has PANEL sums from (first + n) stride on.
            unsafe {
                let out = out.as_mut_ptr().add((first + n) * stride + 8 * eight);
                _mm256_storeu_si256(out.cast(), _mm256_cvtepu8_epi32(bytes));
            }
        }
    }
    N
}
