//! Nanoseconds per exact value of a small squared distance at each level: looked up among few and
//! many values, and computed.
#![allow(clippy::print_stdout, reason = "an example")]

use maxmargin_simd::distances::{DISTANCES, Distances};
use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::level::{levels, restrict};
use std::time::Instant;

/// Number of values of a tile, and of repetitions.
const COUNT: usize = 1024;
const TIMES: usize = 100_000;

fn main() {
    let columns: Vec<i32> = (0..COUNT as i32).map(|k| 12 + k * 7 % 3).collect();
    let sums: Vec<i32> = (0..COUNT as i32).map(|k| k * k * 5 % 11).collect();
    for level in levels() {
        restrict(level);
        let gaussian = Gaussian::new(0.5);
        let mut values = [0.0; DISTANCES];
        let all: [i32; DISTANCES] = std::array::from_fn(|distance| distance as i32);
        gaussian.fill64_from_integers(0, &all, &[0; DISTANCES], &mut values);
        let (few, many) = (Distances::new(values, 28), Distances::new(values, DISTANCES - 1));
        let mut out = vec![0.0; COUNT];
        let mut time = |name: &str, fill: &dyn Fn(&mut [f64])| {
            let begun = Instant::now();
            for _ in 0..TIMES {
                fill(std::hint::black_box(&mut out));
            }
            println!("{level:?} {name}: {:.3} ns", begun.elapsed().as_secs_f64() / (TIMES * COUNT) as f64 * 1e9);
        };
        time("few distances", &|out| few.look_up(14, &columns, &sums, out));
        time("many distances", &|out| many.look_up(14, &columns, &sums, out));
        time("exponentials", &|out| gaussian.fill64_from_integers(14, &columns, &sums, out));
    }
}
