//! Eight kernel values at a time from a row of any form.

use super::{FEW_CODES, Row, Table, VALUES};
use std::arch::x86_64::*;

/// Where a row is, and what its codes stand for.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    values: *const f32,
    codes: *const u8,
    table: *const f32,
}

impl Source {
    pub(crate) fn of(row: &Row) -> Self {
        match row {
            Row::Values(values) => Self { values: values.as_ptr(), codes: std::ptr::null(), table: std::ptr::null() },
            Row::Codes(codes, table) => Self { values: std::ptr::null(), codes: codes.as_ptr(), table: table.values().as_ptr() },
        }
    }

    /// The eight values from `k` on, in two halves.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM` and at least `k + 8` entries.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn eight<const FORM: u8>(&self, k: usize) -> (__m128, __m128) {
        // SAFETY: the caller's row has these eight entries; a code is below 256, the entries of a table.
        unsafe {
            if FORM == VALUES {
                (_mm_loadu_ps(self.values.add(k)), _mm_loadu_ps(self.values.add(k + 4)))
            } else if FORM == FEW_CODES {
                let values = few(self.table, _mm_loadl_epi64(self.codes.add(k).cast()));
                (_mm256_castps256_ps128(values), _mm256_extractf128_ps::<1>(values))
            } else {
                // Gathers of this generation of processors are slower than loads one by one.
                let codes = self.codes.add(k).cast::<u64>().read_unaligned().to_le_bytes();
                let at = |code: u8| *self.table.add(usize::from(code));
                let [a, b, c, d, e, f, g, h] = codes;
                (_mm_setr_ps(at(a), at(b), at(c), at(d)), _mm_setr_ps(at(e), at(f), at(g), at(h)))
            }
        }
    }
}

/// What the eight codes in the low half stand for, all from 31 on for the same: four parts of the table in registers, chosen by two bits.
///
/// # Safety
///
/// The table has 32 entries.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn few(table: *const f32, codes: __m128i) -> __m256 {
    let codes = _mm256_cvtepu8_epi32(_mm_min_epu8(codes, _mm_set1_epi8(31)));
    // SAFETY: 4 × 8 entries.
    let part = |p: usize| unsafe { _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.add(8 * p)), codes) };
    let eighths = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(codes));
    let halves = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(codes));
    let low = _mm256_blendv_ps(part(0), part(1), eighths);
    let high = _mm256_blendv_ps(part(2), part(3), eighths);
    _mm256_blendv_ps(low, high, halves)
}

/// Writes what `codes` stand for.
///
/// # Safety
///
/// Needs AVX2 and slices of one length.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn decode(table: &Table, codes: &[u8], out: &mut [f32]) {
    let full = codes.len() / 8 * 8;
    if table.few {
        for k in (0..full).step_by(8) {
            // SAFETY: k + 8 ≤ full bounds both accesses; a table has 256 entries.
            unsafe {
                _mm256_storeu_ps(
                    out.as_mut_ptr().add(k),
                    few(table.values.as_ptr(), _mm_loadl_epi64(codes.as_ptr().add(k).cast())),
                );
            };
        }
    }
    let from = if table.few { full } else { 0 };
    out[from..].iter_mut().zip(&codes[from..]).for_each(|(out, &code)| *out = table.value(code));
}
