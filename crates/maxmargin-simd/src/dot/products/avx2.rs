//! Products with AVX2: half a panel is two vectors, and six rows of a group have 12 sums.

use super::vectors::products;
use super::{Features, PIECE, PanelColumns};
use std::arch::x86_64::*;

#[rustfmt::skip]
products!(
    products32, block32, f32, "avx2,fma", 8, 2, [1 2 3 4 5] 6,
    _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps
);
#[rustfmt::skip]
products!(
    products64, block64, f64, "avx2,fma", 4, 2, [1 2 3 4 5] 6,
    _mm256_setzero_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd
);
