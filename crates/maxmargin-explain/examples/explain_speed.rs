//! Seconds of explanations of made-up machines: `explain_speed ROWS BACKGROUND FEATURES VECTORS
//! [ones]`. A background of 0 rows: functional values. `ones`: features are 0 or 1, one in nine of
//! them 1.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_explain::Explain;
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Rule};
use std::time::Instant;

/// A row-major matrix from a seed.
fn made(rows: usize, features: usize, ones: bool, seed: u64) -> Samples {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let values = (0..rows * features).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let value = (state >> 11) as f64 / (1_u64 << 53) as f64;
        if ones { f64::from(u8::from(value < 1.0 / 9.0)) } else { 2.0 * value - 1.0 }
    });
    Samples::from_dense(rows, features, values.collect()).expect("finite values")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| given.get(at).map_or(Ok(usual), |text| text.parse());
    let (rows, background, features, vectors) = (number(0, 200)?, number(1, 100)?, number(2, 13)?, number(3, 130)?);
    let ones = given.get(4).is_some_and(|word| word == "ones");
    let support = made(vectors, features, ones, 1);
    let coef = (0..vectors).map(|i| (i, if i % 2 == 0 { 1.0 } else { -1.0 }));
    let machine = (coef.collect(), 0.1);
    let model = Model::from_machines(Kernel::rbf(1.0 / features as f64), &support, Rule::VALUE, &[machine])?;
    let queries = made(rows, features, ones, 2);
    let others = (background > 0).then(|| made(background, features, ones, 3));
    let begun = Instant::now();
    let found = Explain::default().rows(&model, &queries, others.as_ref(), Par::Pool, &RunControl::unlimited())?;
    println!("{:.2} s, efficiency error {:.1e}", begun.elapsed().as_secs_f64(), found.efficiency_error());
    Ok(())
}
