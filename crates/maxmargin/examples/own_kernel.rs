//! A kernel of one's own: fitted, validated, stored by its name, read back.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use maxmargin::data::Row;
use maxmargin::kernel::UserKernel;
use maxmargin::model::{decode, encode};
use maxmargin::prelude::*;

/// `exp(−½ ‖x − z‖₁)`
fn laplacian(x: Row, z: Row) -> f64 {
    let mut distance = 0.0;
    x.for_each_pair(z, |_, x, z| distance += f64::abs(x - z));
    f64::exp(-0.5 * distance)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Generator::Banana.generate(300, None, 1)?;
    let svm = Svm::c_svc(10.0).kernel(Kernel::user("laplacian 0.5", laplacian));

    let plan = FoldPlan::stratified(&data.labels, 5, 1)?;
    let report = svm.cross_validate(&data, &plan)?;
    println!("{} of {} correct in {} folds", report.correct, report.samples_counted, report.folds_counted);

    let fitted = svm.fit(&data)?;
    println!("{} support vectors, certified: {}", fitted.model.support_vectors(), fitted.certificate.holds);

    // A file has the kernel's name alone: who reads it brings the function.
    let bytes = encode(&fitted.model)?;
    UserKernel::new("laplacian 0.5", laplacian).register();
    let read = decode(&bytes)?;
    println!("the same predictions: {}", read.predict(&data.samples, Par::Seq)? == fitted.predict(&data.samples)?);
    Ok(())
}
