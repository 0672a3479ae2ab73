//! Transposed copies.

use crate::at_each_level;
use maxmargin_simd::transpose::transpose;

#[test]
fn every_shape_is_transposed_at_every_level() {
    let data: Vec<Vec<f32>> = (0..40_u16).map(|c| (0..60_u16).map(|r| f32::from(c * 100 + r)).collect()).collect();
    let shapes = [(16, 16, 0, 0), (33, 40, 7, 5), (1, 17, 59, 0), (47, 1, 3, 2), (0, 4, 0, 0), (4, 0, 60, 3), (32, 32, 28, 1)];
    for (rows, columns, from, to) in shapes {
        at_each_level(|level| {
            let sources: Vec<&[f32]> = data[..columns].iter().map(Vec::as_slice).collect();
            let mut target = vec![vec![-1.0_f32; to + columns + 2]; rows];
            let mut out: Vec<&mut [f32]> = target.iter_mut().map(Vec::as_mut_slice).collect();
            transpose(&sources, from, &mut out, to);
            for (r, row) in target.iter().enumerate() {
                let around = row[..to].iter().chain(&row[to + columns..]);
                assert!(around.into_iter().all(|&v| v == -1.0), "{level:?}: something else was written");
                assert!((0..columns).all(|c| row[to + c] == data[c][from + r]), "{level:?}, {rows} × {columns}, row {r}");
            }
        });
    }
}
