//! Vectors of results of [`Gaussian::one32`](super::Gaussian::one32) and
//! [`Gaussian::one64`](super::Gaussian::one64): the same operations for every level.

/// Defines `core32` and `core64` for vectors of one width. The names of the operations are those of
/// the level that the calling file imports, and its `kept*` functions keep lanes below a limit.
macro_rules! gaussian {
    ($features:literal, $float:ty, $double:ty) => {
        /// A vector of results of [`Gaussian::one32`].
        #[inline]
        #[target_feature(enable = $features)]
        fn core32(g: &Gaussian, squared: $float) -> $float {
            let x = max_ps(squared, setzero_ps());
            let hi = set1_ps(g.hi32);
            let rounded = fmadd_ps(x, hi, set1_ps(ROUND32));
            let n = sub_ps(rounded, set1_ps(ROUND32));
            let r = fmadd_ps(x, set1_ps(g.lo32), fmsub_ps(x, hi, n));
            let mut p = set1_ps(C32[5]);
            for c in C32[..5].iter().rev() {
                p = fmadd_ps(p, r, set1_ps(*c));
            }
            let one = set1_ps(1.0);
            let scale = slli_epi32::<23>(castps_si(rounded));
            if g.less_one {
                let scale = castsi_ps(add_epi32(castps_si(one), scale));
                let less = fmadd_ps(mul_ps(p, r), scale, sub_ps(scale, one));
                return below_or_minus_one(x, g.limit32, less);
            }
            p = fmadd_ps(p, r, one);
            below_or_zero32(x, g.limit32, castps_si(p), scale)
        }

        /// A vector of results of [`Gaussian::one64`].
        #[inline]
        #[target_feature(enable = $features)]
        fn core64(g: &Gaussian, squared: $double) -> $double {
            let x = max_pd(squared, setzero_pd());
            let hi = set1_pd(g.hi64);
            let rounded = fmadd_pd(x, hi, set1_pd(ROUND64));
            let n = sub_pd(rounded, set1_pd(ROUND64));
            let r = fmadd_pd(x, set1_pd(g.lo64), fmsub_pd(x, hi, n));
            let r2 = mul_pd(r, r);
            let (mut even, mut odd) = (set1_pd(C64[10]), set1_pd(C64[9]));
            for k in (0..4).rev() {
                even = fmadd_pd(even, r2, set1_pd(C64[2 * k + 2]));
                odd = fmadd_pd(odd, r2, set1_pd(C64[2 * k + 1]));
            }
            even = fmadd_pd(even, r2, set1_pd(C64[0]));
            let p = fmadd_pd(fmadd_pd(odd, r, even), r, set1_pd(1.0));
            below_or_zero64(x, g.limit64, castpd_si(p), slli_epi64::<52>(castpd_si(rounded)))
        }
    };
}

pub(super) use gaussian;
