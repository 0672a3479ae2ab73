//! Products per nanosecond of each pass at each level, which determine the choice of kernel blocks;
//! nanoseconds of the product of two rows of zeros and ones, by bits and by categories.
#![allow(clippy::print_stdout, reason = "an example")]

use maxmargin_simd::level::{levels, restrict};
use maxmargin_simd::{bits, bytes, categories, products};
use std::time::Instant;

const DEPTH: usize = 512;

/// Words and groups of a row of Adult: 123 one-hot features of 14 attributes.
const WORDS: usize = 2;
const GROUPS: usize = 14;

/// Products per nanosecond of one call of `pass`, the best of many.
fn rate(count: usize, mut pass: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..200 {
        let begun = Instant::now();
        (0..20).for_each(|_| pass());
        best = best.min(begun.elapsed().as_secs_f64() / 20.0);
    }
    (count * DEPTH * 32) as f64 / best / 1e9
}

fn main() {
    let (panel, rows) = (vec![1_u8; DEPTH * 32], vec![[1_i8; 4]; DEPTH / 4 * 12]);
    let (panel32, rows32) = (vec![1.0_f32; DEPTH * 32], vec![1.0_f32; DEPTH * 12]);
    let half: Vec<u32> = (0..DEPTH as u32).step_by(2).collect();
    let whole = products::PanelColumns { features: None, values: &panel32 };
    let listed = products::PanelColumns { features: Some(products::Features::new(&half)), values: &panel32[..half.len() * 32] };
    let (mut sums, mut sums32) = (vec![0; 12 * 32], vec![0.0; 12 * 32]);
    for level in levels() {
        restrict(level);
        let of_bytes = rate(12, || bytes::products(&rows, 12, &panel, &mut sums, 32));
        let of_singles = rate(12, || products::products(&rows32, 12, &whole, &mut sums32, 32));
        let of_listed = rate(12, || products::products(&rows32, 12, &listed, &mut sums32, 32));
        println!(
            "{level:?}: {of_bytes:.1} byte products, {of_singles:.1} of f32 a nanosecond, {of_listed:.1} of which half are with features left out"
        );
        let (row_bits, panel_bits) = (vec![0x5555_u64; WORDS * 12], vec![0x3333_u64; WORDS * 32]);
        let (row_kinds, panel_kinds) = (vec![3_u8; GROUPS * 12], vec![3_u8; GROUPS * 32]);
        let of_bits = DEPTH as f64 / rate(12, || bits::products(&row_bits, 12, &panel_bits, &mut sums, 32));
        let of_categories = DEPTH as f64 / rate(12, || categories::products(&row_kinds, 12, &panel_kinds, &mut sums, 32));
        println!("{level:?}: {of_bits:.2} ns for {WORDS} words of bits, {of_categories:.2} ns for {GROUPS} categories");
    }
}
