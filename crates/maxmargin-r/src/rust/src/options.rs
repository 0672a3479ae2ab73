//! The estimator of the library, built from a list of R with LIBSVM's numbers.

use crate::value::element;
use maxmargin::Svm;
use maxmargin::cv::Probability;
use maxmargin::data::Par;
use maxmargin::libsvm::{Parameters, Shape};
use savvy::{ListSexp, RealSexp, savvy_err};

/// Bytes of a megabyte, the unit of LIBSVM's cache.
const MEGABYTE: f64 = 1_048_576.0;

/// Least memory of stored kernel rows, in bytes. LIBSVM's default cache is for slower programs.
const MEMORY: u64 = 2 << 30;

/// Returns the parameters of a training.
fn parameters(list: &ListSexp) -> savvy::Result<Parameters> {
    Ok(Parameters {
        svm_type: element(list, "type")?,
        kernel_type: element(list, "kernel")?,
        degree: element(list, "degree")?,
        gamma: element(list, "gamma")?,
        coef0: element(list, "coef0")?,
        cache_size: element(list, "cachesize")?,
        eps: element(list, "tolerance")?,
        c: element(list, "cost")?,
        // Weights have labels of this workspace's order, and are set below.
        weights: Vec::new(),
        nu: element(list, "nu")?,
        p: element(list, "epsilon")?,
        shrinking: i32::from(element::<bool>(list, "shrinking")?),
        probability: i32::from(element::<bool>(list, "probability")?),
    })
}

/// Returns the estimator of a list, for samples with these labels.
pub(crate) fn svm(list: &ListSexp, labels: &[f64]) -> savvy::Result<Svm> {
    let parameters = parameters(list)?;
    parameters.check(labels).map_err(|fault| savvy_err!("{fault}"))?;
    let Shape { formulation, kernel, goal } = parameters.shape();
    let memory = MEMORY.max((parameters.cache_size * MEGABYTE) as u64);
    let mut svm = Svm::of(formulation).kernel(kernel).goal(goal).shrinking(parameters.shrinking == 1);
    svm = svm.threads(Par::Pool).memory(memory).seed(1);
    if parameters.probability == 1 {
        svm = svm.probability(Probability::Platt);
    }
    // Class weights apply to C-SVC only, as in LIBSVM.
    let weights = element::<RealSexp>(list, "class_weights")?;
    for (label, &weight) in weights.iter().enumerate().filter(|weight| *weight.1 != 1.0 && parameters.svm_type == 0) {
        svm = svm.class_weight(label as f64, weight);
    }
    let weights = element::<RealSexp>(list, "case_weights")?;
    if !weights.is_empty() {
        svm = svm.sample_weights(weights.to_vec());
    }
    svm.check()?;
    Ok(svm)
}
