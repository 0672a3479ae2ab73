//! Exact dot products of small integers: 64 byte products per instruction.
//!
//! A sample is held twice: as unsigned bytes `x − low` in a panel of columns and, when it is a row of a product, as signed bytes
//! `x − middle`. The caller undoes both shifts with sums that it knows.

#[cfg(target_arch = "x86_64")]
#[path = "bytes_avx512.rs"]
mod avx512;

/// Samples in one panel.
pub const PANEL: usize = 32;

/// Rows in one group, at most.
pub const GROUP: usize = 12;

/// Whether this machine multiplies bytes fast (AVX-512 VNNI), and the level in use allows it.
pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::level::{Level, level};
        level() == Level::Avx512 && std::arch::is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Where byte `k` of sample `j` of a panel is.
#[inline]
pub fn position(j: usize, k: usize) -> usize {
    (k / 4 * PANEL + j) * 4 + k % 4
}

/// `out[r * stride + j] = Σ_k rows[k, r] panel[k, j]` for up to [`GROUP`] rows and the [`PANEL`] samples of one panel.
///
/// `panel` holds `depth` bytes (a multiple of 4) of each sample at [`position`]; `rows` holds four consecutive signed bytes of row
/// `r` in its element `k / 4 * count + r`. Sums wrap at 32 bits.
///
/// # Panics
///
/// When `count` is 0 or above [`GROUP`], a slice is too short, or the machine cannot ([`available`]).
pub fn products(rows: &[[i8; 4]], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    let steps = rows.len() / count.max(1);
    assert!((1..=GROUP).contains(&count) && rows.len() == steps * count, "{steps} × {count} row elements");
    assert!(panel.len() == steps * 4 * PANEL, "a panel of {} bytes for {steps} steps", panel.len());
    assert!(out.len() >= (count - 1) * stride + PANEL, "room for {} sums", out.len());
    assert!(available(), "byte products on a machine without them");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the machine has AVX-512 and VNNI, and all lengths were checked.
    unsafe {
        avx512::products(rows, count, panel, out, stride);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group() {
        if !available() {
            return;
        }
        for (count, depth) in (1..=GROUP).flat_map(|c| [4, 8, 124].map(|d| (c, d))) {
            let at = |r: usize, k: usize| ((r * 37 + k * 101) % 256) as u8;
            let mut panel = vec![0u8; depth * PANEL];
            (0..PANEL).for_each(|j| (0..depth).for_each(|k| panel[position(j, k)] = at(j + 50, k)));
            let mut rows = vec![[0i8; 4]; depth / 4 * count];
            (0..count).for_each(|r| (0..depth).for_each(|k| rows[k / 4 * count + r][k % 4] = at(r, k) as i8));
            let mut out = vec![7; count * 40];
            products(&rows, count, &panel, &mut out, 40);
            for r in 0..count {
                for j in 0..PANEL {
                    let want: i32 = (0..depth).map(|k| i32::from(at(r, k) as i8) * i32::from(at(j + 50, k))).sum();
                    assert_eq!(out[r * 40 + j], want, "{count} rows, depth {depth}");
                }
                assert!(out[r * 40 + PANEL..r * 40 + 40].iter().all(|&v| v == 7));
            }
        }
    }
}
