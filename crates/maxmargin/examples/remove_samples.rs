//! A trained model gives up samples and takes in others, exactly: what it becomes is verified
//! against a training on what is left.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use maxmargin::cv::{Change, TrainingData, update, verify};
use maxmargin::prelude::*;
use std::ops::ControlFlow;

const MEMORY: u64 = 1 << 28;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Generator::TwoGaussians.generate(320, None, 1)?;
    let (first, later): (Vec<usize>, Vec<usize>) = (0..320).partition(|&i| i < 300);
    let (first, later) = (data.select(&first), data.select(&later));
    let svm = Svm::rbf(0.5).c(10.0).eps(1e-8);
    let fitted = svm.fit(&first)?;

    // Samples are known by numbers that never change: 1, 2, 3, … as they came.
    let kept = TrainingData::new(first);
    let change = Change { add: Some(&later), remove: &[1, 7, 200], c: None };
    let updated = update(&fitted.model, &kept, &change, MEMORY, Par::Seq, &|_| ControlFlow::Continue(()))?;
    let walked = updated.sum().map_or(0, |path| path.breakpoints);
    println!("{} samples, new numbers {:?}, {walked} breakpoints", updated.kept.data.samples.len(), updated.added);

    // Everything that the new model says is computed again from its data.
    let verdict = verify(&updated.model, &updated.kept.data, None, None, Par::Seq)?;
    for check in &verdict.checks {
        println!("{:<12} {}: {}", check.word(), check.what, check.detail);
    }
    println!("certified: {}", verdict.matches() && verdict.met());

    let anew = svm.fit(&updated.kept.data)?;
    println!("dual objective {:.9}, of a training on what is left {:.9}", updated.certificate.dual, anew.certificate.dual);
    Ok(())
}
