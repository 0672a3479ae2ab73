//! Sixteen kernel values at a time from a row of any form.

use super::{FEW, FEW_CODES, MANY_CODES, Row, Table, VALUES};
use std::arch::x86_64::*;

/// Where a row is, and what its codes stand for, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    values: *const f32,
    codes: *const u8,
    table: *const f32,
    first: __m512,
    second: __m512,
}

impl Source {
    /// The source that reads `row`; nothing is read past its end by masked loads that stay below it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) fn of(row: &Row) -> Self {
        let zero = _mm512_setzero_ps();
        let nothing =
            Self { values: std::ptr::null(), codes: std::ptr::null(), table: std::ptr::null(), first: zero, second: zero };
        match row {
            Row::Values(values) => Self { values: values.as_ptr(), ..nothing },
            Row::Codes(codes, table) => {
                let table = table.values().as_ptr();
                // SAFETY: a table has 256 entries.
                let (first, second) = unsafe { (_mm512_loadu_ps(table), _mm512_loadu_ps(table.add(16))) };
                Self { codes: codes.as_ptr(), table, first, second, ..nothing }
            }
        }
    }

    /// The values from `k` on in the lanes of `live`; 0 in the others.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM`, and the lanes of `live` lie inside it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) unsafe fn some<const FORM: u8>(&self, k: usize, live: __mmask16) -> __m512 {
        // SAFETY: masked loads touch the lanes of `live` only, which the caller vouches for.
        unsafe {
            if FORM == VALUES {
                _mm512_maskz_loadu_ps(live, self.values.add(k))
            } else {
                self.decoded::<FORM>(_mm_maskz_loadu_epi8(live, self.codes.add(k).cast()))
            }
        }
    }

    /// The sixteen values from `k` on.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM` and at least `k + 16` entries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) unsafe fn sixteen<const FORM: u8>(&self, k: usize) -> __m512 {
        // SAFETY: the caller's row has these sixteen entries.
        unsafe {
            if FORM == VALUES {
                _mm512_loadu_ps(self.values.add(k))
            } else {
                self.decoded::<FORM>(_mm_loadu_si128(self.codes.add(k).cast()))
            }
        }
    }

    /// Asks for what lies at `k`, wherever that is.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(crate) fn prefetch<const FORM: u8>(&self, k: usize) {
        let address: *const i8 =
            if FORM == VALUES { self.values.wrapping_add(k).cast() } else { self.codes.wrapping_add(k).cast() };
        // A prefetch may name any address.
        _mm_prefetch::<_MM_HINT_T0>(address);
    }

    /// What sixteen codes stand for.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn decoded<const FORM: u8>(&self, codes: __m128i) -> __m512 {
        if FORM == FEW_CODES {
            let clamped = _mm_min_epu8(codes, _mm_set1_epi8(FEW as i8 - 1));
            _mm512_permutex2var_ps(self.first, _mm512_cvtepu8_epi32(clamped), self.second)
        } else {
            debug_assert_eq!(FORM, MANY_CODES);
            // SAFETY: a code is below 256, the entries of a table.
            unsafe { _mm512_i32gather_ps::<4>(_mm512_cvtepu8_epi32(codes), self.table.cast()) }
        }
    }
}

/// See [`Table::decode`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn decode(table: &Table, codes: &[u8], out: &mut [f32]) {
    let row = Row::Codes(codes, table);
    // SAFETY: as for this function.
    unsafe { if table.few { decode_form::<FEW_CODES>(&row, out) } else { decode_form::<MANY_CODES>(&row, out) } }
}

/// # Safety
///
/// As [`decode`]; the row has the form `FORM`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn decode_form<const FORM: u8>(row: &Row, out: &mut [f32]) {
    let source = Source::of(row);
    let (len, mut at) = (out.len(), 0);
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        // SAFETY: the mask keeps loads and stores below `len`.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, source.some::<FORM>(at, live)) };
        at += 16;
    }
}
