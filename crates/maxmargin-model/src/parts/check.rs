//! Validity checks of the parts of a model.

use crate::decision::{DecisionRule, Multiclass};
use crate::error::ModelError;
use crate::parts::Machine;
use crate::parts::Parts;
use crate::parts::{MachineRecord, Record};
use maxmargin_core::{Level, TargetKind, levels};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Encoder, Samples};
use maxmargin_kernel::Kernel;

/// The greatest width of a matrix.
const MOST_FEATURES: u64 = u32::MAX as u64;

/// The greatest length of a solver's name.
const NAME: usize = 64;

/// The greatest number of vectors without features that no machine uses. Texts of other programs
/// may have some.
const UNUSED: usize = 1 << 16;

/// Checks everything except the kernel's parameters, which [`Kernel::checked`] checks.
pub(crate) fn check(parts: &Parts) -> Result<(), ModelError> {
    check_classes(parts.decision_rule, &parts.classes)?;
    check_decision_rule(parts)?;
    check_levels(parts)?;
    let needed = parts.multiclass.machines(parts.classes.len()).max(parts.levels.len() as u128);
    if parts.machines.len() as u128 != needed {
        let reason = format!("{} for {} classes, which need {needed}", parts.machines.len(), parts.classes.len());
        return Err(ModelError::invalid("number of machines", reason));
    }
    for (p, machine) in parts.machines.iter().enumerate() {
        check_machine(p, machine, parts.support.len())?;
    }
    check_support(parts)?;
    check_calibration(parts)?;
    check_threshold(parts)?;
    check_tie_order(&parts.tie_order, parts.classes.len())?;
    check_index_base(parts.index_base)?;
    if parts.kernel == Kernel::Precomputed {
        check_serials(&parts.support)?;
    }
    if let Some(scaler) = &parts.scaler {
        check_scaler(scaler, &parts.support)?;
    }
    if let Some(encoder) = &parts.encoder {
        check_encoder(encoder, parts)?;
    }
    parts.record.as_ref().map_or(Ok(()), |record| check_record(record, parts))
}

/// Checks that levels ascend, and that the model predicts values and has no calibration, which is
/// of one machine.
fn check_levels(parts: &Parts) -> Result<(), ModelError> {
    if let Err(reason) = levels::check(&parts.levels) {
        return Err(ModelError::invalid("list of levels", reason));
    }
    let (rule, calibrations) = (parts.decision_rule, parts.calibration.len());
    if !parts.levels.is_empty() && (rule != DecisionRule::Value || calibrations > 0) {
        let reason = format!("{} for a model that decides by {rule:?}, with {calibrations} calibrations", parts.levels.len());
        return Err(ModelError::invalid("list of levels", reason));
    }
    Ok(())
}

fn check_classes(decision_rule: DecisionRule, classes: &[f64]) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("list of classes", reason));
    if decision_rule.target_kind() != TargetKind::Classes {
        return if classes.is_empty() {
            Ok(())
        } else {
            invalid(format!("{} labels for a decision rule without classes", classes.len()))
        };
    }
    if classes.len() < 2 {
        return invalid(format!("it needs two labels or more and has {}", classes.len()));
    }
    if let Some(label) = classes.iter().find(|label| !label.is_finite()) {
        return invalid(format!("a label is {label}"));
    }
    let mut sorted = classes.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.iter().zip(&sorted[1..]).find(|(a, b)| a == b) {
        Some((twice, _)) => invalid(format!("it has {twice} twice")),
        None => Ok(()),
    }
}

/// Checks that the decision rule fits the multiclass scheme. Two classes are always one-vs-one.
fn check_decision_rule(parts: &Parts) -> Result<(), ModelError> {
    let (decision_rule, multiclass) = (parts.decision_rule, parts.multiclass);
    let fits = match decision_rule {
        DecisionRule::Vote | DecisionRule::Value | DecisionRule::Inlier | DecisionRule::Threshold => {
            multiclass == Multiclass::OneVsOne
        }
        DecisionRule::Argmax => multiclass == Multiclass::OneVsRest,
        DecisionRule::Coupled => !parts.calibration.is_empty(),
    };
    if decision_rule == DecisionRule::Threshold && parts.threshold.is_none() {
        return Err(ModelError::invalid("decision rule", "it predicts by a threshold, and the model has none"));
    }
    if !fits || (multiclass == Multiclass::OneVsRest && parts.classes.len() < 3) {
        let (classes, calibrations) = (parts.classes.len(), parts.calibration.len());
        let reason = format!("{decision_rule:?} for {classes} classes, {multiclass:?}, with {calibrations} calibrations");
        return Err(ModelError::invalid("decision rule", reason));
    }
    Ok(())
}

/// Checks that there is one calibration for each machine, of a kind that fits the decision rule, or
/// none.
fn check_calibration(parts: &Parts) -> Result<(), ModelError> {
    let (found, machines) = (parts.calibration.len(), parts.machines.len());
    if found != 0 && found != machines {
        return Err(ModelError::invalid("calibration", format!("{found} calibrations for {machines} machines")));
    }
    if let Some(other) = parts.calibration.iter().find(|calibration| !calibration.fits(parts.decision_rule)) {
        return Err(ModelError::invalid(
            "calibration",
            format!("{} for a model that decides by {:?}", other.name(), parts.decision_rule),
        ));
    }
    parts.calibration.iter().try_for_each(|calibration| calibration.clone().checked().map(|_| ()))
}

/// Checks that a threshold is finite and that there are two classes.
fn check_threshold(parts: &Parts) -> Result<(), ModelError> {
    match parts.threshold {
        Some(threshold) if !threshold.is_finite() || parts.classes.len() != 2 => Err(ModelError::invalid(
            "threshold",
            format!("{threshold} for {} classes; it must be a finite number and needs two classes", parts.classes.len()),
        )),
        _ => Ok(()),
    }
}

/// Checks that `order` is empty or has every class once.
pub(crate) fn check_tie_order(order: &[u32], classes: usize) -> Result<(), ModelError> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if order.is_empty() || (sorted.len() == classes && sorted.iter().enumerate().all(|(at, &class)| class as usize == at)) {
        return Ok(());
    }
    Err(ModelError::invalid("order of ties", format!("it does not have each of {classes} classes once")))
}

/// Checks the size of the matrix of support vectors. Feature numbers have 32 bits. Vectors without
/// features take no bytes of a file, so that their number is bounded by the number of coefficients,
/// except for a few.
fn check_support(parts: &Parts) -> Result<(), ModelError> {
    let (rows, features) = (parts.support.len(), parts.support.features());
    let terms: usize = parts.machines.iter().map(|machine| machine.support.len()).sum();
    if features as u64 > MOST_FEATURES || (features == 0 && rows > terms.saturating_add(UNUSED)) {
        let reason = format!("{rows} vectors of {features} features for {terms} coefficients");
        return Err(ModelError::invalid("matrix of support vectors", reason));
    }
    Ok(())
}

pub(crate) fn check_machine(p: usize, machine: &Machine, vectors: usize) -> Result<(), ModelError> {
    let Machine { support, coef, bias } = machine;
    if coef.len() != support.len() {
        let reason = format!("machine {p} has {} for {} support vectors", coef.len(), support.len());
        return Err(ModelError::invalid("number of coefficients", reason));
    }
    if !support.is_sorted_by(|a, b| a < b) || support.last().is_some_and(|&k| k as usize >= vectors) {
        let reason = format!("that of machine {p} does not ascend below {vectors}, the number of vectors");
        return Err(ModelError::invalid("list of support vectors", reason));
    }
    match coef.iter().chain([bias]).find(|value| !value.is_finite()) {
        Some(value) => Err(ModelError::invalid("a coefficient or bias", format!("machine {p} has {value}"))),
        None => Ok(()),
    }
}

pub(crate) fn check_index_base(index_base: u32) -> Result<(), ModelError> {
    if index_base > 1 { Err(ModelError::invalid("index base", format!("it is {index_base}"))) } else { Ok(()) }
}

pub(crate) fn check_scaler(scaler: &Scaler, support: &Samples) -> Result<(), ModelError> {
    if scaler.features() == support.features() {
        return Ok(());
    }
    let reason = format!("it scales {} features, the model has {}", scaler.features(), support.features());
    Err(ModelError::invalid("scaler", reason))
}

/// Checks that the columns of a table yield the features of the vectors, and that every class has a
/// name if any has one.
pub(crate) fn check_encoder(encoder: &Encoder, parts: &Parts) -> Result<(), ModelError> {
    let (columns, features) = (encoder.columns(), parts.support.features());
    let invalid = |reason: String| Err(ModelError::invalid("list of columns", reason));
    if columns.width() != features || parts.kernel == Kernel::Precomputed {
        return invalid(format!("they yield {} features, the model has {features}", columns.width()));
    }
    let names = columns.labels().len();
    let is_named = |label: &f64| label.fract() == 0.0 && *label >= 0.0 && (*label as usize) < names;
    if names > 0 && parts.decision_rule.target_kind() == TargetKind::Classes && !parts.classes.iter().all(is_named) {
        return invalid(format!("{names} words for the labels {:?}", parts.classes));
    }
    Ok(())
}

/// Checks that the support vectors of a precomputed kernel are serial numbers.
pub(crate) fn check_serials(support: &Samples) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("serial numbers", reason));
    if support.features() != 1 && !support.is_empty() {
        return invalid(format!("{} columns instead of 1", support.features()));
    }
    for i in 0..support.len() {
        let serial = support.row(i).entries().first().map_or(0.0, |e| e.1);
        if serial < 1.0 || serial.fract() != 0.0 || serial > f64::from(u32::MAX) {
            return invalid(format!("support vector {i} has {serial}"));
        }
    }
    Ok(())
}

/// Checks a record against parts that passed all other checks.
pub(crate) fn check_record(record: &Record, parts: &Parts) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("training record", reason));
    let (machines, classes) = (parts.machines.len(), parts.classes.len());
    if record.machines.len() != machines || record.weights.len() != classes || record.given_weights.len() != classes {
        let (trained, weights, given) = (record.machines.len(), record.weights.len(), record.given_weights.len());
        return invalid(format!(
            "{trained} trainings, {weights} weights and {given} given weights for {machines} machines of {classes} classes"
        ));
    }
    for (p, (training, machine)) in record.machines.iter().zip(&parts.machines).enumerate() {
        if let Err(reason) = check_training(training, machine, parts, record.rows) {
            return invalid(format!("machine {p}: {reason}"));
        }
    }
    let is_folded = |training: &MachineRecord| training.folded.is_some();
    if record.machines.iter().any(is_folded) && !record.machines.iter().all(is_folded) {
        return invalid("some machines keep weights alone, others support vectors".to_owned());
    }
    if record.rows < classes as u64 || record.features > MOST_FEATURES {
        return invalid(format!("{} rows of {} features for {classes} classes", record.rows, record.features));
    }
    let width = parts.support.features() as u64;
    // A table with missing values has additional features that mark them.
    let inputs = parts.encoder.as_ref().map_or(width, |encoder| encoder.inputs() as u64);
    if parts.kernel != Kernel::Precomputed && record.features != width && record.features != inputs {
        return invalid(format!("{} features, the support vectors have {width}", record.features));
    }
    check_goal(record, parts).or_else(invalid)?;
    check_weights(record).or_else(invalid)?;
    // Reports print the name: it must not contain control characters or be very long.
    if record.solver.len() > NAME || !record.solver.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return invalid(format!("the name of the solver must have at most {NAME} printable ASCII characters"));
    }
    Ok(())
}

/// Checks the formulation and the requested tolerances.
fn check_goal(record: &Record, parts: &Parts) -> Result<(), String> {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    // The KKT tolerance is infinite if the goal is a duality gap alone.
    let has_goal = positive(record.eps) || (record.eps == f64::INFINITY && record.gap.is_some());
    let formulation = record.formulation;
    if let Some(value) = formulation.bias_term().feature().filter(|value| !value.is_finite()) {
        return Err(format!("the value of the bias feature is {value}"));
    }
    if !parts.levels.is_empty() && formulation.level().map(Level::tau) != Some(parts.levels[levels::central(&parts.levels)]) {
        return Err(format!("{} at another level than the central one of {:?}", formulation.name(), parts.levels));
    }
    if formulation.check().is_err() || !has_goal || record.gap.is_some_and(|gap| !positive(gap)) {
        let c = formulation.c().unwrap_or(1.0);
        let tau = formulation.level().map(Level::tau);
        let others = [("nu", formulation.nu()), ("epsilon", formulation.epsilon()), ("tau", tau)];
        let others: String = others.iter().filter_map(|(name, value)| Some(format!("{name} = {}, ", (*value)?))).collect();
        return Err(format!("C = {c}, {others}eps = {}, gap = {:?}", record.eps, record.gap));
    }
    if formulation.target_kind() != parts.decision_rule.target_kind() {
        return Err(format!("{} for a model that decides by {:?}", formulation.name(), parts.decision_rule));
    }
    Ok(())
}

/// Checks the weights of classes and of samples.
fn check_weights(record: &Record) -> Result<(), String> {
    if let Some(weight) =
        record.weights.iter().chain(&record.given_weights).find(|weight| !(**weight >= 0.0 && weight.is_finite()))
    {
        return Err(format!("the weight of a class is {weight}"));
    }
    if let Some(weights) = &record.sample_weights {
        let wrong = weights.iter().find(|weight| !(**weight >= 0.0 && weight.is_finite()));
        if weights.len() as u64 != record.rows || wrong.is_some() {
            return Err(format!("{} weights for {} rows; an invalid weight: {wrong:?}", weights.len(), record.rows));
        }
    }
    Ok(())
}

fn check_training(training: &MachineRecord, machine: &Machine, parts: &Parts, rows: u64) -> Result<(), String> {
    let vectors = training.folded.as_ref().map_or(machine.coef.len(), Vec::len);
    if training.rows.len() != vectors {
        return Err(format!("{} rows for {vectors} support vectors", training.rows.len()));
    }
    if !training.rows.is_sorted_by(|a, b| a < b) || training.rows.last().is_some_and(|&row| row >= rows) {
        return Err(format!("the rows of the support vectors do not ascend below {rows}"));
    }
    if training.bounded > vectors as u64 {
        return Err(format!("{} of {vectors} support vectors at their bound", training.bounded));
    }
    let Some(folded) = &training.folded else { return Ok(()) };
    if parts.kernel != Kernel::Linear || machine.coef != [1.0] {
        return Err("only a linear machine can keep weights alone".to_owned());
    }
    folded.iter().find(|value| !value.is_finite()).map_or(Ok(()), |value| Err(format!("a coefficient is {value}")))
}
