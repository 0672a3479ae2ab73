//! Transposed copies between separate rows.

use crate::dispatch::lengths::holds;
use crate::dispatch::level::{Level, level};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Copies `out[r][to + c] = sources[c][from + r]` for every row `r` of `out` and every source `c`.
///
/// # Panics
///
/// When a source ends before `from + out.len()` or a row of `out` before `to + sources.len()`.
pub fn transpose(sources: &[&[f32]], from: usize, out: &mut [&mut [f32]], to: usize) {
    let (rows, columns) = (out.len(), sources.len());
    assert!(sources.iter().all(|s| holds(s.len(), from, rows)), "sources of less than {from} + {rows} values");
    assert!(out.iter().all(|o| holds(o.len(), to, columns)), "rows of less than {to} + {columns} values");
    #[cfg(target_arch = "x86_64")]
    if let level @ (Level::Avx512 | Level::Avx2) = level() {
        for (c, sources) in sources.chunks(16).enumerate() {
            for (r, out) in out.chunks_mut(16).enumerate() {
                let (from, to) = (from + 16 * r, to + 16 * c);
                if let (Ok(sources), Ok(out)) = (<&[&[f32]; 16]>::try_from(sources), <&mut [&mut [f32]; 16]>::try_from(&mut *out))
                {
                    // SAFETY: the level has these instructions; lengths were compared above.
                    unsafe {
                        match level {
                            Level::Avx512 => avx512::transpose16(sources, from, out, to),
                            _ => avx2::transpose16(sources, from, out, to),
                        }
                    }
                } else {
                    portable(sources, from, out, to);
                }
            }
        }
        return;
    }
    portable(sources, from, out, to);
}

/// Copies in pieces whose cache lines stay in the cache.
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
