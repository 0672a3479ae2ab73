//! Linear classifiers by the options of an [`Svm`]: prepared data and folds.

use super::{LinearClassifier, LinearMachineReport, LinearObjective, TrainingSet};
use crate::Svm;
use crate::svm::TrainingInput;
use maxmargin_core::{Formulation, RunControl};
use maxmargin_cv::{CertificateReport, CvError, CvReport, Fitted, FoldPlan, MachineReport, Study};
use maxmargin_data::Preparation;
use std::time::Instant;

/// Trains the linear classifier of `objective` by the options of `svm`: its C, bias, weights,
/// preparation, goal, limits, threads and seed. The formulation of `svm` is C-SVC, with one machine
/// for each class against the rest.
///
/// # Errors
///
/// As [`Svm::fit`] and [`LinearClassifier::fit`].
pub fn fit_linear<'d>(
    objective: LinearObjective,
    svm: &Svm,
    data: impl Into<TrainingInput<'d>>,
    control: &RunControl,
) -> Result<Fitted, CvError> {
    svm.study(data.into(), |study| train(objective, study, control))
}

/// Cross-validates the linear classifier of `objective` by the options of `svm`, as
/// [`fit_linear`] trains it. Every fold begins from zero, and its preparation is fitted to its
/// training rows.
///
/// # Errors
///
/// As [`Svm::cross_validate`] and [`LinearClassifier::fit`].
pub fn cross_validate_linear<'d>(
    objective: LinearObjective,
    svm: &Svm,
    data: impl Into<TrainingInput<'d>>,
    plan: &FoldPlan,
    control: &RunControl,
) -> Result<CvReport, CvError> {
    let fold = |study: &Study, control: &RunControl| train(objective, study, control);
    svm.study(data.into(), |study| study.cross_validate_by(plan, &fold, control))
}

fn train(objective: LinearObjective, study: &Study, control: &RunControl) -> Result<Fitted, CvError> {
    let begun = Instant::now();
    let (options, formulation) = (study.options, study.formulation);
    let (Some(classes), Formulation::Svc { c, bias_term, .. }) = (study.classes, formulation) else {
        return Err(CvError::Classes(formulation.name()));
    };
    let prepared = options.prepare(study.data)?;
    let classifier = LinearClassifier {
        bias_term,
        sample_weights: study.sample_weights.map(<[f64]>::to_vec),
        stop: study.stop,
        seed: options.seed,
        par: options.par,
        ..LinearClassifier::of(objective, c)
    };
    let set = TrainingSet { data: study.data, samples: prepared.samples(), classes, weights: study.weights };
    let fitted = classifier.fit_classes(&set, control)?;
    let Preparation { encoder, scaler } = prepared.preparation().clone();
    let model = match encoder {
        Some(encoder) => fitted.model.with_encoder(encoder)?,
        None => fitted.model,
    };
    let model = match scaler {
        Some(scaler) => model.with_scaler(scaler)?,
        None => model,
    };
    let goal = classifier.stop.goal;
    let seconds = begun.elapsed().as_secs_f64();
    let all_classes = objective == LinearObjective::CrammerSinger;
    let machine = |(p, of): (usize, &LinearMachineReport)| MachineReport {
        // The machine of all classes is none of those that decide.
        machine: if all_classes { classes.count() } else { p },
        train: set.samples.len(),
        status: of.status,
        iterations: if of.work.steps > 0 { of.work.steps } else { of.work.newton_steps },
        rows_computed: 0,
        seed_steps: 0,
        breakpoints: 0,
        seed_seconds: 0.0,
        solve_seconds: seconds / fitted.machines.len() as f64,
        objective: -of.certificate.dual,
        bias: model.machines().get(p).filter(|_| !all_classes).map_or(0.0, |machine| machine.bias),
        support_vectors: of.nonzeros,
        bounded: 0,
        certificate: CertificateReport::new(&of.certificate, goal.met(&of.certificate)),
    };
    let machines = fitted.machines.iter().enumerate().map(machine).collect();
    Ok(Fitted::of(model, machines, seconds, options.par))
}
