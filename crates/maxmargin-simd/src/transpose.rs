//! Transposed copies between rows that lie apart.

use crate::level::{Level, level};

#[cfg(target_arch = "x86_64")]
#[path = "transpose_avx512.rs"]
mod avx512;

/// `out[r][to + c] = sources[c][from + r]` for every row `r` of `out` and every source `c`.
///
/// # Panics
///
/// When a source ends before `from + out.len()` or a row of `out` before `to + sources.len()`.
pub fn transpose(sources: &[&[f32]], from: usize, out: &mut [&mut [f32]], to: usize) {
    let (rows, columns) = (out.len(), sources.len());
    assert!(sources.iter().all(|s| s.len() >= from + rows), "sources of less than {} values", from + rows);
    assert!(out.iter().all(|o| o.len() >= to + columns), "rows of less than {} values", to + columns);
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 {
        for (c, sources) in sources.chunks(16).enumerate() {
            for (r, out) in out.chunks_mut(16).enumerate() {
                let (from, to) = (from + 16 * r, to + 16 * c);
                if let (Ok(sources), Ok(out)) = (<&[&[f32]; 16]>::try_from(sources), <&mut [&mut [f32]; 16]>::try_from(&mut *out))
                {
                    // SAFETY: the level says AVX-512; lengths were compared above.
                    unsafe { avx512::transpose16(sources, from, out, to) };
                } else {
                    portable(sources, from, out, to);
                }
            }
        }
        return;
    }
    portable(sources, from, out, to);
}

/// In pieces whose lines stay in cache.
fn portable(sources: &[&[f32]], from: usize, out: &mut [&mut [f32]], to: usize) {
    for (c, sources) in sources.chunks(16).enumerate() {
        for (r, out) in out.chunks_mut(16).enumerate() {
            for (r, out) in out.iter_mut().enumerate().map(|(k, out)| (16 * r + k, out)) {
                for (out, source) in out[to + 16 * c..].iter_mut().zip(sources) {
                    *out = source[from + r];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape() {
        let data: Vec<Vec<f32>> = (0..40u16).map(|c| (0..60u16).map(|r| f32::from(c * 100 + r)).collect()).collect();
        for (rows, columns, from, to) in
            [(16, 16, 0, 0), (33, 40, 7, 5), (1, 17, 59, 0), (47, 1, 3, 2), (0, 4, 0, 0), (32, 32, 28, 1)]
        {
            let sources: Vec<&[f32]> = data[..columns].iter().map(Vec::as_slice).collect();
            let mut target = vec![vec![-1.0f32; to + columns]; rows];
            let mut out: Vec<&mut [f32]> = target.iter_mut().map(Vec::as_mut_slice).collect();
            transpose(&sources, from, &mut out, to);
            for (r, row) in target.iter().enumerate() {
                assert!(row[..to].iter().all(|&v| v == -1.0));
                assert!((0..columns).all(|c| row[to + c] == data[c][from + r]), "{rows} × {columns}, row {r}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "sources of less than 5 values")]
    fn short_sources_are_refused() {
        transpose(&[&[0.0; 4]], 4, &mut [&mut [0.0; 4]], 0);
    }
}
