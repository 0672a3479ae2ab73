//! Sixteen kernel values at a time from a row of any form. Codes whose table does not fit in two
//! registers are decoded a stretch at a time.

use super::{CodeTable, FEW, FEW_CODES, MANY_CODES, RowSlice, Stretch, VALUES};
use std::arch::x86_64::*;

/// The addresses of a row, and the table of its codes in registers.
#[derive(Clone, Copy)]
pub(crate) struct Source<'r> {
    values: *const f32,
    codes: *const u8,
    table: Option<&'r CodeTable>,
    first: __m512,
    second: __m512,
}

impl<'r> Source<'r> {
    /// The source that reads `row`. Masked loads within its length read nothing beyond it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) fn of(row: &RowSlice<'r>) -> Self {
        let zero = _mm512_setzero_ps();
        let nothing = Self { values: std::ptr::null(), codes: std::ptr::null(), table: None, first: zero, second: zero };
        match row {
            RowSlice::Values(values) => Self { values: values.as_ptr(), ..nothing },
            RowSlice::Codes(codes, table) => {
                let values = table.values().as_ptr();
                // SAFETY: a table has 256 entries.
                let (first, second) = unsafe { (_mm512_loadu_ps(values), _mm512_loadu_ps(values.add(16))) };
                Self { codes: codes.as_ptr(), table: Some(table), first, second, ..nothing }
            }
        }
    }

    /// Decodes the entries from `from` to `to`, at most [`CHUNK`], if codes are many. The following
    /// requests must lie within them.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM` and at least `to` entries; `stretch` lives until the next call.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) unsafe fn enter<const FORM: u8>(&mut self, stretch: &mut Stretch, from: usize, to: usize) {
        if let (MANY_CODES, Some(table)) = (FORM, self.table) {
            let values = stretch.buffer();
            // SAFETY: the row has these codes.
            unsafe { decode(table, std::slice::from_raw_parts(self.codes.add(from), to - from), &mut values[..to - from]) };
            // Entry `from` is the first of the stretch.
            self.values = values.as_ptr().wrapping_sub(from);
        }
    }

    /// The values from `k` on in the lanes of `live`, and 0 in the others.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM`, and the lanes of `live` lie inside it and, if codes are many,
    /// inside the entered stretch.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) unsafe fn some<const FORM: u8>(&self, k: usize, live: __mmask16) -> __m512 {
        // SAFETY: masked loads touch the lanes of `live` only, which the caller vouches for.
        unsafe {
            if FORM == FEW_CODES {
                self.decoded(_mm_maskz_loadu_epi8(live, self.codes.add(k).cast()))
            } else {
                _mm512_maskz_loadu_ps(live, self.values.wrapping_add(k))
            }
        }
    }

    /// The sixteen values from `k` on.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM` and at least `k + 16` entries. If codes are many, these lie in
    /// the entered stretch.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) unsafe fn sixteen<const FORM: u8>(&self, k: usize) -> __m512 {
        // SAFETY: the caller's row has these sixteen entries.
        unsafe {
            if FORM == FEW_CODES {
                self.decoded(_mm_loadu_si128(self.codes.add(k).cast()))
            } else {
                _mm512_loadu_ps(self.values.wrapping_add(k))
            }
        }
    }

    /// Prefetches the entries at `k`, which may be beyond the row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) fn prefetch<const FORM: u8>(&self, k: usize) {
        let address: *const i8 =
            if FORM == VALUES { self.values.wrapping_add(k).cast() } else { self.codes.wrapping_add(k).cast() };
        // A prefetch of any address is allowed.
        _mm_prefetch::<_MM_HINT_T0>(address);
    }

    /// The values of sixteen codes, for tables of few values.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn decoded(&self, codes: __m128i) -> __m512 {
        let clamped = _mm_min_epu8(codes, _mm_set1_epi8(FEW as i8 - 1));
        _mm512_permutex2var_ps(self.first, _mm512_cvtepu8_epi32(clamped), self.second)
    }
}

/// See [`CodeTable::decode`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn decode(table: &CodeTable, codes: &[u8], out: &mut [f32]) {
    // SAFETY: as for this function, and VBMI is there.
    unsafe {
        if table.few {
            looked_up(table, codes, out);
        } else if std::arch::is_x86_feature_detected!("avx512vbmi") {
            woven(table, codes, out);
        } else {
            gathered(table, codes, out);
        }
    }
}

/// The mask of the first `len` of sixteen lanes.
fn live(at: usize, len: usize) -> __mmask16 {
    if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 }
}

/// Decodes codes for a table of few values.
///
/// # Safety
///
/// As [`decode`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn looked_up(table: &CodeTable, codes: &[u8], out: &mut [f32]) {
    let source = Source::of(&RowSlice::Codes(codes, table));
    for at in (0..out.len()).step_by(16) {
        let live = live(at, out.len());
        // SAFETY: the mask keeps loads and stores below the length.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, source.some::<FEW_CODES>(at, live)) };
    }
}

/// Decodes any codes by gathering.
///
/// # Safety
///
/// As [`decode`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn gathered(table: &CodeTable, codes: &[u8], out: &mut [f32]) {
    for at in (0..out.len()).step_by(16) {
        let live = live(at, out.len());
        // SAFETY: the mask keeps loads and stores below the length, and a code is below 256, the
        // entries of a table.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(live, codes.as_ptr().add(at).cast()));
            let values = _mm512_i32gather_ps::<4>(codes, table.values.as_ptr().cast());
            _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, values);
        }
    }
}

/// Decodes any codes. The bytes of the values are looked up in registers, for 64 codes at once, and
/// then interleaved.
///
/// # Safety
///
/// As [`decode`], and the machine has VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn woven(table: &CodeTable, codes: &[u8], out: &mut [f32]) {
    // SAFETY: a plane has 4 × 64 bytes.
    let part = |byte: usize, quarter: usize| unsafe { _mm512_loadu_si512(table.planes[byte].as_ptr().add(64 * quarter).cast()) };
    let planes: [[__m512i; 4]; 4] = std::array::from_fn(|byte| std::array::from_fn(|quarter| part(byte, quarter)));
    // Interleaving works within quarters of a vector. Groups of four codes are permuted first, so
    // that the result is in order.
    let betas = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for at in (0..out.len()).step_by(64) {
        let left = out.len() - at;
        let live: __mmask64 = if left >= 64 { !0 } else { (1 << left) - 1 };
        // SAFETY: the mask keeps loads below the length.
        let codes = unsafe { _mm512_maskz_loadu_epi8(live, codes.as_ptr().add(at).cast()) };
        let codes = _mm512_permutexvar_epi32(betas, codes);
        let upper = _mm512_movepi8_mask(codes);
        let [a, b, c, d]: [__m512i; 4] = std::array::from_fn(|byte| {
            let low = _mm512_permutex2var_epi8(planes[byte][0], codes, planes[byte][1]);
            let high = _mm512_permutex2var_epi8(planes[byte][2], codes, planes[byte][3]);
            _mm512_mask_blend_epi8(upper, low, high)
        });
        let (first, second) = (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b));
        let (third, fourth) = (_mm512_unpacklo_epi8(c, d), _mm512_unpackhi_epi8(c, d));
        let values = [
            _mm512_unpacklo_epi16(first, third),
            _mm512_unpackhi_epi16(first, third),
            _mm512_unpacklo_epi16(second, fourth),
            _mm512_unpackhi_epi16(second, fourth),
        ];
        for (part, values) in values.into_iter().enumerate() {
            let live = (live >> (16 * part)) as __mmask16;
            // SAFETY: the mask keeps stores below the length; nothing is written where it is empty.
            unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr().wrapping_add(at + 16 * part), live, _mm512_castsi512_ps(values)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeTable, gathered, woven};
    use crate::dispatch::level::{Level, level};

    /// Both decoders, with and without VBMI, give the same values.
    #[test]
    fn gathered_and_woven_values_are_those_of_the_table() {
        if level() != Level::Avx512 || !std::arch::is_x86_feature_detected!("avx512vbmi") {
            return;
        }
        let table = CodeTable::new(|code| f32::from(code).cos() * 1e9);
        for len in 0..300 {
            let codes: Vec<u8> = (0..len).map(|k| (k * k * 31 + 7 * k) as u8).collect();
            let expected: Vec<f32> = codes.iter().map(|code| table.value(*code)).collect();
            let (mut one, mut other) = (vec![f32::NAN; len], vec![f32::NAN; len]);
            // SAFETY: the machine has AVX-512 and VBMI, and lengths are equal.
            unsafe {
                gathered(&table, &codes, &mut one);
                woven(&table, &codes, &mut other);
            }
            assert_eq!((&one, &other), (&expected, &expected));
        }
    }
}
