//! Byte products: exact, and no writes between the rows.

use crate::at_each_level;
use maxmargin_simd::bytes::{GROUP, PANEL, column_products, position, products};

#[test]
fn byte_products_are_exact_at_every_level() {
    let counts = if cfg!(miri) { GROUP..=GROUP } else { 1..=GROUP };
    for (count, depth) in counts.flat_map(|c| [0, 4, 8, 124].map(|d| (c, d))) {
        if cfg!(miri) && depth > 8 {
            continue;
        }
        let at = |r: usize, k: usize| ((r * 37 + k * 101) % 256) as u8;
        let mut panel = vec![0_u8; depth * PANEL];
        (0..PANEL).for_each(|j| (0..depth).for_each(|k| panel[position(j, k)] = at(j + 50, k)));
        let mut rows = vec![[0_i8; 4]; depth / 4 * count];
        (0..count).for_each(|r| (0..depth).for_each(|k| rows[k / 4 * count + r][k % 4] = at(r, k) as i8));
        at_each_level(|level| {
            let mut out = vec![7; count * 40];
            products(&rows, count, &panel, &mut out, 40);
            let column: Vec<u8> = (0..depth).map(|k| at(5 + 50, k)).collect();
            let mut alone = vec![7; count];
            column_products(&rows, count, &column, &mut alone);
            (0..count).for_each(|r| assert_eq!(alone[r], out[r * 40 + 5], "{level:?}, {count} rows, depth {depth}"));
            for r in 0..count {
                for j in 0..PANEL {
                    let want: i32 = (0..depth).map(|k| i32::from(at(r, k) as i8) * i32::from(at(j + 50, k))).sum();
                    assert_eq!(out[r * 40 + j], want, "{level:?}, {count} rows, depth {depth}");
                }
                assert!(out[r * 40 + PANEL..r * 40 + 40].iter().all(|&v| v == 7), "{level:?}");
            }
        });
    }
}

/// The largest products, −128 · 255, in every position: sums of two of them do not fit in 16 bits.
#[test]
fn the_greatest_byte_products_do_not_saturate() {
    let (rows, panel) = (vec![[-128_i8; 4]; 8 * 5], vec![255_u8; 8 * 4 * PANEL]);
    at_each_level(|level| {
        let mut out = vec![0; 5 * PANEL];
        products(&rows, 5, &panel, &mut out, PANEL);
        assert!(out.iter().all(|&v| v == -128 * 255 * 32), "{level:?}: {}", out[0]);
    });
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn sums_of_byte_products_wrap_at_32_bits() {
    let steps = 17_000;
    let (rows, panel) = (vec![[-128_i8; 4]; steps], vec![255_u8; steps * 4 * PANEL]);
    let want = (-128_i64 * 255 * 4 * steps as i64) as i32;
    assert!(want > 0, "the sum passes −2³¹");
    at_each_level(|level| {
        let mut out = vec![0; PANEL];
        products(&rows, 1, &panel, &mut out, PANEL);
        assert!(out.iter().all(|&v| v == want), "{level:?}: {}", out[0]);
    });
}
