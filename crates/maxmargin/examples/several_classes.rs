//! Four classes, two bananas cut in two, one of them weighted: one machine for each pair, a count
//! of what is taken for what, a test that the model did not see.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use maxmargin::metrics::Confusion;
use maxmargin::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut data = Generator::Banana.generate(600, None, 1)?;
    for (i, label) in data.labels.iter_mut().enumerate() {
        let mut point = vec![0.0; data.samples.features()];
        data.samples.row(i).for_each(|j, value| point[j] = value);
        *label = 2.0 * *label + point[0].signum(); // any numbers are labels
    }
    let (train, test): (Vec<usize>, Vec<usize>) = (0..600).partition(|i| i % 5 != 0);
    let (train, test) = (data.select(&train), data.select(&test));

    let fitted = Svm::rbf(0.5).c(10.0).class_weight(3.0, 2.0).threads(Par::Pool).fit(&train)?;
    println!("{} machines, {} support vectors", fitted.machines.len(), fitted.model.support_vectors());
    println!("worst KKT violation {:.1e}, certified: {}", fitted.certificate.kkt, fitted.certificate.holds);

    let predicted = fitted.predict(&test.samples)?;
    let classes = fitted.model.classes();
    let counts = Confusion::of(classes, &test.labels, &predicted);
    println!("{} of {} correct", counts.correct(), counts.known());
    for (class, row) in classes.iter().zip(&counts.counts) {
        println!("{class:>3}: {row:?}");
    }
    Ok(())
}
