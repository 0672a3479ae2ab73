//! Nanoseconds per kernel value of predictions on one thread: decision values, labels, and a single
//! row.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Expansion, Kernel, Predictor};
use std::time::Instant;

/// Rows of random numbers, or of zeros and ones.
fn table(rows: usize, features: usize, bits: bool, state: &mut u64) -> Samples {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let value = |u: f64| if bits { f64::from(u < 0.11) } else { u - 0.5 };
    Samples::from_dense(rows, features, (0..rows * features).map(|_| value(next())).collect()).expect("finite values")
}

/// The best of three times, in nanoseconds.
fn best(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9
    };
    (0..3).map(time).fold(f64::INFINITY, f64::min)
}

/// Support vectors and coefficients of a machine for each pair of classes.
fn pairs(vectors: usize, classes: usize) -> Vec<(Vec<u32>, Vec<f64>)> {
    let class = |k: u32| k as usize % classes;
    let pairs = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
    let terms = |(a, b): (usize, usize)| {
        let ids: Vec<u32> = (0..vectors as u32).filter(|k| [a, b].contains(&class(*k))).collect();
        let coef = |k: &u32| if class(*k) == b { 1.0 } else { -1.0 } * (1.0 + f64::from(k % 7));
        let coefs = ids.iter().map(coef).collect();
        (ids, coefs)
    };
    pairs.map(terms).collect()
}

fn main() {
    println!("vectors features classes: decision values, labels (computed again); ns a kernel value; one row, µs");
    for (vectors, features, classes, bits) in [
        (12, 2, 2, false),
        (427, 22, 2, false),
        (5000, 22, 2, false),
        (3650, 16, 26, false),
        (3694, 123, 2, true),
        (1796, 780, 2, false),
    ] {
        let mut state = 1;
        let (support, queries) = (table(vectors, features, bits, &mut state), table(4096, features, bits, &mut state));
        let terms = pairs(vectors, classes);
        let expansions: Vec<Expansion> = terms.iter().map(|(support, coef)| Expansion { support, coef, bias: 0.1 }).collect();
        let kernel = Kernel::rbf(4.0 / features as f64);
        let predictor = Predictor::new(&kernel, &support, &expansions).expect("a valid kernel");
        let positive = |values: &[f64], bounds: &[f64]| {
            let mut all = values.iter().zip(bounds);
            all.all(|(value, bound)| *bound == 0.0 || value.abs() > *bound).then(|| f64::from(values[0] >= 0.0))
        };
        let mut recomputed = 0;
        let values = best(|| drop(predictor.decision_table(&queries, Par::Seq)));
        let labels = best(|| recomputed = predictor.labels(&queries, Par::Seq, positive).map_or(0, |labels| labels.recomputed));
        let one = queries.select(&[0]);
        let single = best(|| (0..100).for_each(|_| drop(predictor.decision_table(&one, Par::Seq)))) / 100.0;
        let each = (vectors * queries.len()) as f64;
        let (count, single) = (queries.len(), single / 1e3);
        println!(
            "{vectors} {features} {classes}: {:.2}, {:.2} ({recomputed} of {count}); {single:.1}",
            values / each,
            labels / each
        );
    }
}
