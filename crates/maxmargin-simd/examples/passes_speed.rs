//! Microseconds of the passes of an iteration, with values and with codes, at each level:
//! `passes_speed [VARIABLES] [ROWS]`.
#![allow(clippy::print_stdout, reason = "an example")]

use maxmargin_simd::level::{levels, restrict};
use maxmargin_simd::passes::{Along, Diagonal, PairUpdate, PartnerSelection, conjugate_and_scan, second_order, update_and_scan};
use maxmargin_simd::row::{CodeTable, RowSlice};
use std::time::Instant;

/// The number at this position of the command line.
fn given(place: usize) -> Option<usize> {
    std::env::args().nth(place).map(|word| word.parse().expect("a number"))
}

fn main() {
    // More rows than fit in any cache.
    let (n, rows) = (given(1).unwrap_or(26_000), given(2).unwrap_or(2000));
    let codes: Vec<Vec<u8>> = (0..rows).map(|r| (0..n).map(|k| ((k * 7 + r * 13) % 29) as u8).collect()).collect();
    let few = CodeTable::new(|code| if code > 30 { 0.0 } else { (-0.05 * f32::from(code)).exp() });
    let many = CodeTable::new(|code| (-0.05 * f32::from(code)).exp());
    let values: Vec<Vec<f32>> = codes.iter().map(|row| row.iter().map(|&code| many.value(code)).collect()).collect();
    let set = vec![0b1011_0111_u8; n.div_ceil(8)];
    for level in levels() {
        restrict(level);
        let time = |name: &str, row: &dyn Fn(usize) -> RowSlice<'static>| {
            for conjugate in [false, true] {
                let (mut f, mut q) = (vec![0.5; n], vec![0.1; n]);
                let (mut update, mut select) = (0.0, 0.0);
                for step in 0..1500 {
                    let (i, j) = (step * 37 % rows, step * 91 % rows);
                    let begun = Instant::now();
                    let along = conjugate.then_some(Along { q: &q, qi: 0.0, scale: 0.1 });
                    let selection = PartnerSelection { diagonal: Diagonal::Constant(1.0), along, kii: 1.0, fi: -1.0, tau: 1e-12 };
                    std::hint::black_box(second_order(&f, row(i), &selection, &set));
                    select += begun.elapsed().as_secs_f64();
                    let begun = Instant::now();
                    std::hint::black_box(if conjugate {
                        conjugate_and_scan(
                            &mut f,
                            &mut q,
                            PairUpdate { ki: row(i), kj: row(j), beta: 0.5, delta: 1e-3 },
                            &set,
                            &set,
                        )
                    } else {
                        update_and_scan(&mut f, row(i), row(j), 1e-3, &set, &set)
                    });
                    update += begun.elapsed().as_secs_f64();
                }
                let steps = if conjugate { ", conjugate steps" } else { "" };
                println!(
                    "{level:?} {name}{steps}: select {:.2} µs, update {:.2} µs",
                    select / 1500.0 * 1e6,
                    update / 1500.0 * 1e6
                );
            }
        };
        let values: &'static [Vec<f32>] = Box::leak(values.clone().into_boxed_slice());
        let codes: &'static [Vec<u8>] = Box::leak(codes.clone().into_boxed_slice());
        let [few, many]: [&'static CodeTable; 2] = [&few, &many].map(|table| &*Box::leak(Box::new(table.clone())));
        time("values", &|r| RowSlice::Values(&values[r]));
        time("few codes", &|r| RowSlice::Codes(&codes[r], few));
        time("many codes", &|r| RowSlice::Codes(&codes[r], many));
    }
}
