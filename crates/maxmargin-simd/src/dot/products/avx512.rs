//! Products with AVX-512: a panel is two vectors, and a group of 12 rows has 24 sums.

use super::{PIECE, PanelColumns};
use std::arch::x86_64::*;

macro_rules! products {
    ($name:ident, $group:ident, $real:ty, $lanes:literal, $zero:ident, $load:ident, $store:ident, $splat:ident, $fma:ident, $add:ident) => {
        /// See [`super::products`].
        ///
        /// # Safety
        ///
        /// Requires AVX-512 F; `1 ≤ count ≤ 12`; `rows` holds `depth × count` elements, `panel`
        /// `PANEL` values of each of its features, which are below `depth`; `out` at least `(count
        /// − 1) × stride + PANEL`.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        pub(super) unsafe fn $name(rows: &[$real], count: usize, panel: &PanelColumns<$real>, out: &mut [$real], stride: usize) {
            // SAFETY: the caller's promises, passed on.
            unsafe {
                match count {
                    1 => $group::<1>(rows, panel, out, stride),
                    2 => $group::<2>(rows, panel, out, stride),
                    3 => $group::<3>(rows, panel, out, stride),
                    4 => $group::<4>(rows, panel, out, stride),
                    5 => $group::<5>(rows, panel, out, stride),
                    6 => $group::<6>(rows, panel, out, stride),
                    7 => $group::<7>(rows, panel, out, stride),
                    8 => $group::<8>(rows, panel, out, stride),
                    9 => $group::<9>(rows, panel, out, stride),
                    10 => $group::<10>(rows, panel, out, stride),
                    11 => $group::<11>(rows, panel, out, stride),
                    _ => $group::<12>(rows, panel, out, stride),
                }
            }
        }

        /// Multiplies `R` rows with one panel.
        ///
        /// # Safety
        ///
        /// As above with `count = R`.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        unsafe fn $group<const R: usize>(rows: &[$real], panel: &PanelColumns<$real>, out: &mut [$real], stride: usize) {
            let (row, mut column) = (rows.as_ptr(), panel.values.as_ptr());
            let depth = rows.len() / R;
            let (mut done, mut limit) = (0, PIECE);
            loop {
                let end = panel.piece_end(done, limit, depth);
                let mut low = [$zero(); R];
                let mut high = [$zero(); R];
                for at in done..end {
                    // SAFETY: one step reads R elements of `rows`, those of a feature that they
                    // have, and the next feature of `panel`.
                    unsafe {
                        let row = row.add(panel.features.map_or(at, |features| *features.get_unchecked(at) as usize) * R);
                        let first = $load(column);
                        let second = $load(column.add($lanes));
                        for r in 0..R {
                            let x = $splat(*row.add(r));
                            low[r] = $fma(x, first, low[r]);
                            high[r] = $fma(x, second, high[r]);
                        }
                        column = column.add(2 * $lanes);
                    }
                }
                for r in 0..R {
                    // SAFETY: `out` holds `(R − 1) × stride + PANEL` products.
                    unsafe {
                        let to = out.as_mut_ptr().add(r * stride);
                        let (mut first, mut second) = (low[r], high[r]);
                        if limit > PIECE {
                            first = $add($load(to), first);
                            second = $add($load(to.add($lanes)), second);
                        }
                        $store(to, first);
                        $store(to.add($lanes), second);
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
    group32,
    f32,
    16,
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps
);
products!(
    products64,
    group64,
    f64,
    8,
    _mm512_setzero_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd,
    _mm512_add_pd
);
