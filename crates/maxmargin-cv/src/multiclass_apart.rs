//! Cross-validation of any number of classes whose folds are trained one by one, each from nothing but its training rows: where samples are scaled by
//! what a training set shows, and for every solver.

use crate::engine::CvError;
use crate::multiclass::{MulticlassCvReport, check_folds};
use crate::plan::FoldPlan;
use crate::report::CertificateReport;
use maxmargin_core::Status;
use maxmargin_data::ClassLabels;
use std::time::Instant;

/// What came of one fold.
#[derive(Clone, Debug)]
pub struct JudgedFold {
    /// Status, iterations and certificate of every machine.
    pub machines: Vec<(Status, u64, CertificateReport)>,
    /// Decision values of the test rows, row-major, one for every pair of classes.
    pub decisions: Vec<f64>,
    /// Different training samples with α > 0 in some machine.
    pub support_vectors: usize,
    /// Kernel rows computed.
    pub rows_computed: u64,
}

/// Cross-validates by `train(fold, training rows, test rows)`, rows being positions in the data, as in `plan` and `labels`.
///
/// # Errors
///
/// When a class has samples in one fold only, and the first error of `train`.
///
/// # Panics
///
/// When a fold has not one decision value for every test row and pair.
pub fn cross_validate_multiclass_apart<E: From<CvError>>(
    plan: &FoldPlan,
    labels: &ClassLabels,
    mut train: impl FnMut(usize, &[usize], &[usize]) -> Result<JudgedFold, E>,
) -> Result<MulticlassCvReport, E> {
    let begun = Instant::now();
    check_folds(plan, labels)?;
    let mut report = MulticlassCvReport::empty(plan);
    for fold in 0..plan.folds() {
        let tested = |i: &usize| plan.fold_of()[*i] as usize == fold;
        let (test, rows): (Vec<usize>, Vec<usize>) = (0..plan.len()).partition(tested);
        let solving = Instant::now();
        let judged = train(fold, &rows, &test)?;
        report.solve_seconds += solving.elapsed().as_secs_f64();
        for (status, iterations, certificate) in judged.machines {
            report.judge(fold, status, iterations, certificate);
            report.iterations += iterations;
        }
        report.rows_computed += judged.rows_computed;
        report.folds[fold].support_vectors = Some(judged.support_vectors);
        assert_eq!(judged.decisions.len(), test.len() * labels.pairs(), "decision values of fold {fold}");
        for (&i, decisions) in test.iter().zip(judged.decisions.chunks_exact(labels.pairs())) {
            report.vote(fold, i, labels.of()[i], labels.count(), decisions);
        }
    }
    report.total_iterations = report.iterations;
    Ok(report.finish(begun))
}
