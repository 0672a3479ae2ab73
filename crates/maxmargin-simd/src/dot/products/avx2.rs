//! Products with AVX2: half a panel is two vectors, and six rows of a group have 12 sums.

use super::{PIECE, PanelColumns};
use std::arch::x86_64::*;

/// Number of rows whose sums fit in the registers.
const ROWS: usize = 6;

macro_rules! products {
    ($name:ident, $block:ident, $real:ty, $lanes:literal, $zero:ident, $load:ident, $store:ident, $splat:ident, $fma:ident, $add:ident) => {
        /// See [`super::products`].
        ///
        /// # Safety
        ///
        /// Requires AVX2 and FMA; `1 ≤ count ≤ 12`; `rows` holds `depth × count` elements, `panel`
        /// `PANEL` values of each of its features, which are below `depth`; `out` at least `(count
        /// − 1) × stride + PANEL`.
        #[target_feature(enable = "avx2,fma")]
        pub(super) unsafe fn $name(rows: &[$real], count: usize, panel: &PanelColumns<$real>, out: &mut [$real], stride: usize) {
            for first in (0..count).step_by(ROWS) {
                for half in 0..2 {
                    // SAFETY: the caller's promises; rows `first …` exist, and so does each half of
                    // the panel.
                    unsafe {
                        let out = out.as_mut_ptr().add(first * stride + half * 2 * $lanes);
                        match count - first {
                            1 => $block::<1>(rows, count, first, panel, half, out, stride),
                            2 => $block::<2>(rows, count, first, panel, half, out, stride),
                            3 => $block::<3>(rows, count, first, panel, half, out, stride),
                            4 => $block::<4>(rows, count, first, panel, half, out, stride),
                            5 => $block::<5>(rows, count, first, panel, half, out, stride),
                            _ => $block::<6>(rows, count, first, panel, half, out, stride),
                        }
                    }
                }
            }
        }

        /// Multiplies rows `first … first + R − 1` with half a panel.
        ///
        /// # Safety
        ///
        /// As above; `out` points at the product of row `first` and the first sample of the half.
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn $block<const R: usize>(
            rows: &[$real],
            count: usize,
            first: usize,
            panel: &PanelColumns<$real>,
            half: usize,
            out: *mut $real,
            stride: usize,
        ) {
            let depth = rows.len() / count;
            let (mut done, mut limit) = (0, PIECE);
            loop {
                let end = panel.piece_end(done, limit, depth);
                let mut low = [$zero(); R];
                let mut high = [$zero(); R];
                for at in done..end {
                    // SAFETY: `rows` has the feature k < depth, `panel` four vectors of its feature
                    // `at`.
                    unsafe {
                        let k = panel.features.map_or(at, |features| *features.get_unchecked(at) as usize);
                        let row = rows.as_ptr().add(k * count + first);
                        let column = panel.values.as_ptr().add((2 * at + half) * 2 * $lanes);
                        let (one, two) = ($load(column), $load(column.add($lanes)));
                        for r in 0..R {
                            let x = $splat(*row.add(r));
                            low[r] = $fma(x, one, low[r]);
                            high[r] = $fma(x, two, high[r]);
                        }
                    }
                }
                for r in 0..R {
                    // SAFETY: the caller's `out` has room for `R` rows of half a panel, `stride`
                    // apart.
                    unsafe {
                        let to = out.add(r * stride);
                        let (mut one, mut two) = (low[r], high[r]);
                        if limit > PIECE {
                            one = $add($load(to), one);
                            two = $add($load(to.add($lanes)), two);
                        }
                        $store(to, one);
                        $store(to.add($lanes), two);
                    }
                }
                if limit >= depth {
                    break;
                }
                (done, limit) = (end, limit + PIECE);
            }
        }
    };
}

products!(
    products32,
    block32,
    f32,
    8,
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps
);
products!(
    products64,
    block64,
    f64,
    4,
    _mm256_setzero_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd,
    _mm256_add_pd
);
