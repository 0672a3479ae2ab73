//! What numbers must be to be a model.

use crate::decision::{DecisionRule, Multiclass};
use crate::error::ModelError;
use crate::parts::Machine;
use crate::parts::Parts;
use crate::parts::{MachineRecord, Record};
use maxmargin_core::TargetKind;
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Encoder, Samples};
use maxmargin_kernel::Kernel;

/// The greatest width of a matrix.
const MOST_FEATURES: u64 = u32::MAX as u64;

/// Longest name of a solver.
const NAME: usize = 64;

/// Support vectors without features that no machine uses, at most: text of other programs may have
/// some.
const UNUSED: usize = 1 << 16;

/// Everything but the kernel's parameters, which [`Kernel::checked`] judges.
pub(crate) fn check(parts: &Parts) -> Result<(), ModelError> {
    check_classes(parts.decision_rule, &parts.classes)?;
    check_scheme(parts)?;
    let wanted = parts.multiclass.machines(parts.classes.len());
    if parts.machines.len() as u128 != wanted {
        let reason = format!("{} for {} classes, which need {wanted}", parts.machines.len(), parts.classes.len());
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

fn check_classes(decision_rule: DecisionRule, classes: &[f64]) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("list of classes", reason));
    if decision_rule.target_kind() != TargetKind::Classes {
        return if classes.is_empty() { Ok(()) } else { invalid(format!("{} labels for a rule that knows none", classes.len())) };
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

/// The rule is one for the machines that there are; two classes are a pair in any case.
fn check_scheme(parts: &Parts) -> Result<(), ModelError> {
    let (decision_rule, multiclass) = (parts.decision_rule, parts.multiclass);
    let fits = match decision_rule {
        DecisionRule::Vote | DecisionRule::Value | DecisionRule::Inlier | DecisionRule::Threshold => {
            multiclass == Multiclass::OneVsOne
        }
        DecisionRule::Argmax => multiclass == Multiclass::OneVsRest,
        DecisionRule::Coupled => !parts.calibration.is_empty(),
    };
    if decision_rule == DecisionRule::Threshold && parts.threshold.is_none() {
        return Err(ModelError::invalid("rule", "labels of a threshold, and the model has none"));
    }
    if !fits || (multiclass == Multiclass::OneVsRest && parts.classes.len() < 3) {
        let (classes, calibrations) = (parts.classes.len(), parts.calibration.len());
        let reason =
            format!("{decision_rule:?} for {classes} classes in the multiclass {multiclass:?}, {calibrations} calibrations");
        return Err(ModelError::invalid("rule", reason));
    }
    Ok(())
}

/// One for each machine, of the kind that its rule has, or none.
fn check_calibration(parts: &Parts) -> Result<(), ModelError> {
    let (found, machines) = (parts.calibration.len(), parts.machines.len());
    if found != 0 && found != machines {
        return Err(ModelError::invalid("calibration", format!("{found} of them for {machines} machines")));
    }
    if let Some(other) = parts.calibration.iter().find(|calibration| !calibration.fits(parts.decision_rule)) {
        return Err(ModelError::invalid(
            "calibration",
            format!("{} for a model that decides by {:?}", other.name(), parts.decision_rule),
        ));
    }
    parts.calibration.iter().try_for_each(|calibration| calibration.clone().checked().map(|_| ()))
}

/// A number, and two classes to be told apart by it.
fn check_threshold(parts: &Parts) -> Result<(), ModelError> {
    match parts.threshold {
        Some(threshold) if !threshold.is_finite() || parts.classes.len() != 2 => Err(ModelError::invalid(
            "threshold",
            format!("{threshold} for {} classes: it needs two, and a number", parts.classes.len()),
        )),
        _ => Ok(()),
    }
}

/// Every class once, or nothing.
pub(crate) fn check_tie_order(order: &[u32], classes: usize) -> Result<(), ModelError> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if order.is_empty() || (sorted.len() == classes && sorted.iter().enumerate().all(|(at, &class)| class as usize == at)) {
        return Ok(());
    }
    Err(ModelError::invalid("order of ties", format!("it does not have each of {classes} classes once")))
}

/// Features have numbers of 32 bits. Vectors of no features take no bytes of a file, so that terms
/// must account for all but a few.
fn check_support(parts: &Parts) -> Result<(), ModelError> {
    let (rows, features) = (parts.support.len(), parts.support.features());
    let terms: usize = parts.machines.iter().map(|machine| machine.support.len()).sum();
    if features as u64 > MOST_FEATURES || (features == 0 && rows > terms.saturating_add(UNUSED)) {
        let reason = format!("{rows} vectors of {features} features for {terms} coefficients");
        return Err(ModelError::invalid("matrix of support vectors", reason));
    }
    Ok(())
}

fn check_machine(p: usize, machine: &Machine, vectors: usize) -> Result<(), ModelError> {
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

/// Columns make the features of the vectors, and what labels stand for are the classes.
pub(crate) fn check_encoder(encoder: &Encoder, parts: &Parts) -> Result<(), ModelError> {
    let (columns, features) = (encoder.columns(), parts.support.features());
    let invalid = |reason: String| Err(ModelError::invalid("list of columns", reason));
    if columns.width() != features || parts.kernel == Kernel::Precomputed {
        return invalid(format!("they make {} features, the model has {features}", columns.width()));
    }
    let names = columns.labels().len();
    let is_named = |label: &f64| label.fract() == 0.0 && *label >= 0.0 && (*label as usize) < names;
    if names > 0 && parts.decision_rule.target_kind() == TargetKind::Classes && !parts.classes.iter().all(is_named) {
        return invalid(format!("{names} words for the labels {:?}", parts.classes));
    }
    Ok(())
}

/// A precomputed kernel knows its support vectors by serial number alone.
fn check_serials(support: &Samples) -> Result<(), ModelError> {
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

/// `parts` are those of a model that is valid but for its record.
pub(crate) fn check_record(record: &Record, parts: &Parts) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("training record", reason));
    let (machines, classes) = (parts.machines.len(), parts.classes.len());
    if record.machines.len() != machines || record.weights.len() != classes {
        let (trained, weights) = (record.machines.len(), record.weights.len());
        return invalid(format!("{trained} trainings and {weights} weights for {machines} machines of {classes} classes"));
    }
    for (p, (training, machine)) in record.machines.iter().zip(&parts.machines).enumerate() {
        if let Err(reason) = check_training(training, machine, parts, record.rows) {
            return invalid(format!("machine {p}: {reason}"));
        }
    }
    let is_folded = |training: &MachineRecord| training.folded.is_some();
    if record.machines.iter().any(is_folded) && !record.machines.iter().all(is_folded) {
        return invalid("some machines keep weights alone and some support vectors".to_owned());
    }
    if record.rows < classes as u64 || record.features > MOST_FEATURES {
        return invalid(format!("{} rows of {} features for {classes} classes", record.rows, record.features));
    }
    let width = parts.support.features() as u64;
    // Tables with gaps have features that tell of them.
    let inputs = parts.encoder.as_ref().map_or(width, |encoder| encoder.inputs() as u64);
    if parts.kernel != Kernel::Precomputed && record.features != width && record.features != inputs {
        return invalid(format!("{} features, the support vectors have {width}", record.features));
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    // Whoever asks for a gap alone asks for no violation.
    let asked = positive(record.eps) || (record.eps == f64::INFINITY && record.gap.is_some());
    let formulation = record.formulation;
    if formulation.check().is_err() || !asked || record.gap.is_some_and(|gap| !positive(gap)) {
        let c = formulation.c().unwrap_or(1.0);
        let others = [("nu", formulation.nu()), ("epsilon", formulation.epsilon())];
        let others: String = others.iter().filter_map(|(name, value)| Some(format!("{name} = {}, ", (*value)?))).collect();
        return invalid(format!("C = {c}, {others}eps = {}, gap = {:?}", record.eps, record.gap));
    }
    if formulation.target_kind() != parts.decision_rule.target_kind() {
        return invalid(format!("{} for a model that decides by {:?}", formulation.name(), parts.decision_rule));
    }
    if let Some(weight) = record.weights.iter().find(|weight| !(**weight >= 0.0 && weight.is_finite())) {
        return invalid(format!("the weight of a class is {weight}"));
    }
    if let Some(weights) = &record.sample_weights {
        let wrong = weights.iter().find(|weight| !(**weight >= 0.0 && weight.is_finite()));
        if weights.len() as u64 != record.rows || wrong.is_some() {
            return invalid(format!("{} weights of {} rows, one of them {wrong:?}", weights.len(), record.rows));
        }
    }
    if let Some(value) = formulation.bias_term().feature().filter(|value| !value.is_finite()) {
        return invalid(format!("the value of the bias feature is {value}"));
    }
    // Reports print it: a file must not bring control characters or pages.
    if record.solver.len() > NAME || !record.solver.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return invalid(format!("the name of the solver is not {NAME} plain characters or fewer"));
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
        return Err("only a linear machine can keep its weights alone".to_owned());
    }
    folded.iter().find(|value| !value.is_finite()).map_or(Ok(()), |value| Err(format!("a coefficient is {value}")))
}
