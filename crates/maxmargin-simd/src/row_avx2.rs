//! Four kernel values at a time from a row of any form.

use super::{Row, VALUES};
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

    /// The four values from `k` on.
    ///
    /// # Safety
    ///
    /// The row has the form `FORM` and at least `k + 4` entries.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn four<const FORM: u8>(&self, k: usize) -> __m128 {
        // SAFETY: the caller's row has these four entries; a code is below 256, the entries of a table.
        unsafe {
            if FORM == VALUES {
                _mm_loadu_ps(self.values.add(k))
            } else {
                let codes = _mm_cvtsi32_si128(self.codes.add(k).cast::<i32>().read_unaligned());
                _mm_i32gather_ps::<4>(self.table, _mm_cvtepu8_epi32(codes))
            }
        }
    }
}
