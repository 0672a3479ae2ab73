//! Byte products with AVX2: bytes are widened to 16 bits, whose products and pairwise sums fit in
//! 32 bits.

use super::PANEL;
use std::arch::x86_64::*;

/// Number of rows whose sums fit in the registers together with half a panel.
const ROWS: usize = 4;

/// See [`super::products`].
///
/// # Safety
///
/// The machine has AVX2; `1 ≤ count ≤ 12`; `rows` holds `steps × count` elements, `panel` `steps ×
/// 128` bytes, `out` at least `(count − 1) × stride + 32`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn products(rows: &[[i8; 4]], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    for first in (0..count).step_by(ROWS) {
        for half in 0..2 {
            // SAFETY: the caller's promises; rows `first …` exist, and so does each half of the
            // panel.
            unsafe {
                let out = out.as_mut_ptr().add(first * stride + half * PANEL / 2);
                match count - first {
                    1 => block::<1>(rows, count, first, panel, half, out, stride),
                    2 => block::<2>(rows, count, first, panel, half, out, stride),
                    3 => block::<3>(rows, count, first, panel, half, out, stride),
                    _ => block::<4>(rows, count, first, panel, half, out, stride),
                }
            }
        }
    }
}

/// Rows `first … first + R − 1` against half of a panel.
///
/// # Safety
///
/// As for [`products`]; `out` points at the sum of row `first` and the first sample of the half.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn block<const R: usize>(
    rows: &[[i8; 4]],
    count: usize,
    first: usize,
    panel: &[u8],
    half: usize,
    out: *mut i32,
    stride: usize,
) {
    let low_bytes = _mm256_set1_epi16(0xff);
    let mut sums = [[_mm256_setzero_si256(); 2]; R];
    for k in 0..rows.len() / count {
        // SAFETY: k < steps; `rows` holds `steps × count` elements, `panel` `steps` times 128
        // bytes.
        unsafe {
            let row = rows.as_ptr().add(k * count + first);
            let column = panel.as_ptr().add((2 * k + half) * 2 * PANEL);
            let columns = [_mm256_loadu_si256(column.cast()), _mm256_loadu_si256(column.add(PANEL).cast())];
            // Bytes 0 and 2 of each sample, and bytes 1 and 3.
            let even = columns.map(|c| _mm256_and_si256(c, low_bytes));
            let odd = columns.map(|c| _mm256_srli_epi16::<8>(c));
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = _mm256_set1_epi32(row.add(r).cast::<i32>().read_unaligned());
                let (x_even, x_odd) = (_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(x)), _mm256_srai_epi16::<8>(x));
                for v in 0..2 {
                    let products = _mm256_add_epi32(_mm256_madd_epi16(even[v], x_even), _mm256_madd_epi16(odd[v], x_odd));
                    sums[v] = _mm256_add_epi32(sums[v], products);
                }
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        // SAFETY: the caller's `out` has room for `R` rows of half a panel, `stride` apart.
        unsafe {
            let to = out.add(r * stride);
            _mm256_storeu_si256(to.cast(), sums[0]);
            _mm256_storeu_si256(to.add(8).cast(), sums[1]);
        }
    }
}
