//! Products with AVX-512: a panel is two vectors, and a group of 12 rows has 24 sums.

use super::vectors::products;
use super::{Features, PIECE, PanelColumns};
use std::arch::x86_64::*;

#[rustfmt::skip]
products!(
    products32, block32, f32, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", 16, 1, [1 2 3 4 5 6 7 8 9 10 11] 12,
    _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps
);
#[rustfmt::skip]
products!(
    products64, block64, f64, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", 8, 1, [1 2 3 4 5 6 7 8 9 10 11] 12,
    _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd
);
