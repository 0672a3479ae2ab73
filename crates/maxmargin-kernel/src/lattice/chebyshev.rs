//! Series of Chebyshev polynomials: values, and the translation of Gaussians between two cells.

use std::f64::consts::PI;

/// Terms of a series in one feature.
pub(super) const TERMS: usize = 16;

/// The values of all polynomials at one place.
pub(super) type Polynomials = [f64; TERMS];

/// The coefficients of a Gaussian of two places, one in a source cell and one in a target cell: row
/// `l` has those of `T_l` of the source.
pub(super) type Translation = [Polynomials; TERMS];

/// The values of the Chebyshev polynomials at `t`.
pub(super) fn polynomials(t: f64) -> Polynomials {
    let mut values = [1.0; TERMS];
    values[1] = t;
    for k in 2..TERMS {
        values[k] = 2.0 * t * values[k - 1] - values[k - 2];
    }
    values
}

/// The coefficients of `exp(−z²)`, `z = side (apart + (t − s) / 2)`, for cells that are so many
/// cells apart, by interpolation in the zeros of the next polynomial. `side` is theirs times √γ.
pub(super) fn translation(apart: f64, side: f64) -> Translation {
    let nodes: Vec<Polynomials> = (0..TERMS).map(at_node).collect();
    let mut out = [[0.0; TERMS]; TERMS];
    for of_target in &nodes {
        // The coefficients of the polynomials of the source, with the target at a node.
        let mut of_polynomials = [0.0; TERMS];
        for of_source in &nodes {
            let z = side * (apart + 0.5 * (of_target[1] - of_source[1]));
            let value = (-z * z).exp();
            of_polynomials.iter_mut().zip(of_source).for_each(|(sum, polynomial)| *sum += value * polynomial);
        }
        for (l, (out, sum)) in out.iter_mut().zip(of_polynomials).enumerate() {
            let factor = weight(l) * sum;
            out.iter_mut().zip(of_target).enumerate().for_each(|(k, (out, polynomial))| *out += weight(k) * factor * polynomial);
        }
    }
    out
}

/// The values of the polynomials at a zero of the next one, `cos(π (2a + 1) k / 32)`. Coefficients
/// that vanish are sums of these values. They cancel only if equal cosines have the same bits.
fn at_node(a: usize) -> Polynomials {
    let quarter = |m: usize| if m == TERMS { 0.0 } else { (PI * m as f64 / (2 * TERMS) as f64).cos() };
    std::array::from_fn(|k| {
        let turn = (2 * a + 1) * k % (4 * TERMS);
        let half = turn.min(4 * TERMS - turn);
        if half <= TERMS { quarter(half) } else { -quarter(2 * TERMS - half) }
    })
}

/// The weight of a node in the coefficient of `T_k`.
fn weight(k: usize) -> f64 {
    if k == 0 { 1.0 / TERMS as f64 } else { 2.0 / TERMS as f64 }
}

/// Adds the effect of moments on the series of another cell, for the feature of the slowest index,
/// which becomes the fastest.
pub(super) fn add_translated(moments: &[f64], translation: &Translation, out: &mut [f64]) {
    let (out, _) = out.as_chunks_mut::<TERMS>();
    for (moments, coefs) in moments.chunks_exact(moments.len() / TERMS).zip(translation) {
        for (out, moment) in out.iter_mut().zip(moments) {
            out.iter_mut().zip(coefs).for_each(|(out, coef)| *out += moment * coef);
        }
    }
}
