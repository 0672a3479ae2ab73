//! Points of the plane (and blobs of any dimension).

use super::draw::Draw;

/// Class +1 is N((0, 0), I), class −1 is N((2, 0), 4 I).
pub(super) fn gauss_m(sign: f64, draw: &mut Draw) -> [f64; 2] {
    let (centre, deviation) = if sign > 0.0 { (0.0, 1.0) } else { (2.0, 2.0) };
    [centre + deviation * draw.normal(), deviation * draw.normal()]
}

/// Class +1 is N((∓2, 0), ¼ I) with equal probability, class −1 is N((0, 0), I).
pub(super) fn two_gaussians(sign: f64, draw: &mut Draw) -> [f64; 2] {
    if sign > 0.0 {
        let centre = if draw.below(2) == 0 { -2.0 } else { 2.0 };
        [centre + 0.5 * draw.normal(), 0.5 * draw.normal()]
    } else {
        [draw.normal(), draw.normal()]
    }
}

/// Half circles of radius 1: class +1 the upper one around (0, 0), class −1 the lower one around
/// (1, ½).
pub(super) fn banana(sign: f64, draw: &mut Draw) -> [f64; 2] {
    const NOISE: f64 = 0.25;
    let (x, y) = draw.direction();
    let (x, y) = if sign > 0.0 { (x, y.abs()) } else { (1.0 + x, 0.5 - y.abs()) };
    [x + NOISE * draw.normal(), y + NOISE * draw.normal()]
}

/// N(± 1.5 u, I) with u = (1, …, 1) / √d.
pub(super) fn blob(sign: f64, features: usize, draw: &mut Draw, values: &mut Vec<f64>) {
    let centre = sign * 1.5 / (features as f64).sqrt();
    values.extend((0..features).map(|_| centre + draw.normal()));
}
