//! Ten folds with progress on the way; a fold that is done costs no second look.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use maxmargin::prelude::*;
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Generator::TwoGaussians.generate(1000, None, 1)?;
    let plan = FoldPlan::stratified(&data.labels, 10, 1)?;
    let mut told = 0;
    let control = RunControl::new(|progress| {
        // Every twentieth of a second: print only what is new.
        if told < progress.done {
            told = progress.done;
            println!("{} of {} folds, violation {:.1e}", progress.done, progress.total, progress.violation);
        }
        ControlFlow::Continue(()) // `Break(())` ends the run with what is known
    });
    let report = Svm::rbf(0.5).c(100.0).threads(Par::Pool).cross_validate_with(&data, &plan, &control)?;
    for fold in &report.folds {
        println!(
            "fold {}: {} of {} correct, {} iterations",
            fold.fold,
            fold.correct.unwrap_or_default(),
            fold.test,
            fold.iterations
        );
    }
    println!(
        "{} of {} correct, every fold certified: {}",
        report.correct,
        report.samples_counted,
        report.folds.iter().all(|f| f.certificate.holds)
    );
    Ok(())
}
