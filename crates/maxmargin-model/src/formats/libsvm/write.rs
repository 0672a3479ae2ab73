//! Writes LIBSVM's model text.

use super::Kind;
use super::layout::Layout;
use crate::calibration::Calibration;
use crate::decision::{DecisionRule, LEVELS, Multiclass, THRESHOLD};
use crate::error::{ModelError, Unsupported};
use crate::model::Model;
use crate::parts::Parts;
use maxmargin_data::classes::pairs;
use maxmargin_data::number::{shortest, write_shortest};
use maxmargin_kernel::Kernel;
use std::io::{self, Write};

/// Writes `model` as LIBSVM's model text. The support vectors of a classifier are grouped by class.
/// Labels have the order of [`Model::label_order`], by which LIBSVM decides ties.
///
/// # Errors
///
/// When a label is not an integer of 32 bits, the model predicts by a threshold or has several
/// levels, or machines
/// without a common class share a vector (LIBSVM cannot store that), and when `out` fails.
pub fn write_model(model: &Model, out: &mut impl Write) -> Result<(), ModelError> {
    let model = &*model.uncentred()?;
    let parts = model.parts();
    if parts.multiclass == Multiclass::OneVsRest {
        return Err(ModelError::text("LIBSVM", "machines of each class against the rest", None));
    }
    if parts.decision_rule == DecisionRule::Threshold {
        return Err(ModelError::text("LIBSVM", THRESHOLD, Some("train without one")));
    }
    if !parts.levels.is_empty() {
        return Err(ModelError::text("LIBSVM", LEVELS, Some("train one level")));
    }
    if parts.classes.is_empty() {
        return write_single_machine(model, out);
    }
    let layout = Layout::of(model);
    let users = users_of(parts);
    let of = classes_of(&users)?;
    let mut text = Vec::new();
    kernel(&mut text, Kind::of(model), &parts.kernel)?;
    write!(text, "nr_class {}\ntotal_sv {}\nrho", layout.order.len(), parts.support.len())?;
    for &(machine, sign) in &layout.machines {
        text.push(b' ');
        // `0.0 −` instead of `−` prevents a negative zero in rho.
        write_shortest(&mut text, 0.0 - sign * parts.machines[machine].bias)?;
    }
    text.extend_from_slice(b"\nlabel");
    for &class in &layout.order {
        write!(text, " {}", integer(parts.classes[class])?)?;
    }
    sigmoids(&mut text, &parts.calibration, &layout)?;
    text.extend_from_slice(b"\nnr_sv");
    let mut sizes = vec![0_usize; layout.order.len()];
    of.iter().for_each(|&class| sizes[class] += 1);
    layout.order.iter().try_for_each(|&class| write!(text, " {}", sizes[class]))?;
    text.extend_from_slice(b"\nSV\n");
    let mut coefs = vec![0.0; layout.order.len() - 1];
    for &class in &layout.order {
        for k in (0..of.len()).filter(|&k| of[k] == class) {
            coefs.fill(0.0);
            for &User { pair: (a, b), coef } in &users[k] {
                let (own, other) = (layout.places[class], layout.places[if a == class { b } else { a }]);
                // `0.0 +` prevents a negative zero.
                coefs[if own < other { other - 1 } else { other }] = 0.0 + layout.sign(a, b) * coef;
            }
            support_vector(&mut text, &coefs, parts, k)?;
        }
        out.write_all(&text)?;
        text.clear();
    }
    Ok(())
}

/// Writes the single machine of a regression or of a one-class model. LIBSVM writes `nr_class 2`.
fn write_single_machine(model: &Model, out: &mut impl Write) -> Result<(), ModelError> {
    let parts = model.parts();
    let machine = &parts.machines[0];
    let mut text = Vec::new();
    kernel(&mut text, Kind::of(model), &parts.kernel)?;
    write!(text, "nr_class 2\ntotal_sv {}\nrho ", parts.support.len())?;
    write_shortest(&mut text, 0.0 - machine.bias)?;
    match parts.calibration.first() {
        Some(Calibration::Laplace { scale }) => numbers(&mut text, "probA", std::iter::once(*scale))?,
        Some(Calibration::Marks(marks)) => numbers(&mut text, "prob_density_marks", marks.iter().copied())?,
        _ => {}
    }
    text.extend_from_slice(b"\nSV\n");
    let mut coefs = vec![0.0; parts.support.len()];
    machine.support.iter().zip(&machine.coef).for_each(|(&k, &coef)| coefs[k as usize] = coef);
    for (k, coef) in coefs.iter().enumerate() {
        support_vector(&mut text, &[*coef], parts, k)?;
        out.write_all(&text)?;
        text.clear();
    }
    out.write_all(&text)?;
    Ok(())
}

/// Writes `probA` and `probB` if the model has probabilities.
fn sigmoids(text: &mut Vec<u8>, calibration: &[Calibration], layout: &Layout) -> Result<(), ModelError> {
    let sigmoid = |one: &Calibration| match *one {
        Calibration::Sigmoid { a, b } => Ok((a, b)),
        _ => Err(ModelError::text("LIBSVM", "another calibration than Platt's", None)),
    };
    let all = calibration.iter().map(sigmoid).collect::<Result<Vec<_>, _>>()?;
    if !all.is_empty() {
        numbers(text, "probA", layout.machines.iter().map(|&(machine, _)| all[machine].0))?;
        numbers(text, "probB", layout.machines.iter().map(|&(machine, sign)| 0.0 + sign * all[machine].1))?;
    }
    Ok(())
}

/// Ends the line before and writes a line of numbers without its end.
fn numbers(text: &mut Vec<u8>, name: &str, values: impl Iterator<Item = f64>) -> io::Result<()> {
    write!(text, "\n{name}")?;
    for value in values {
        text.push(b' ');
        write_shortest(text, value)?;
    }
    Ok(())
}

/// A machine that uses a vector.
struct User {
    /// The two classes of the machine.
    pair: (usize, usize),
    /// The coefficient of the vector.
    coef: f64,
}

/// Returns the machines that use each vector.
fn users_of(parts: &Parts) -> Vec<Vec<User>> {
    let mut users: Vec<Vec<User>> = (0..parts.support.len()).map(|_| Vec::new()).collect();
    for (pair, machine) in pairs(parts.classes.len()).zip(&parts.machines) {
        machine.support.iter().zip(&machine.coef).for_each(|(&k, &coef)| users[k as usize].push(User { pair, coef }));
    }
    users
}

/// Returns a class for each vector: one that belongs to every pair that uses the vector. If both
/// classes do, the sign of the coefficient selects.
fn classes_of(users: &[Vec<User>]) -> Result<Vec<usize>, ModelError> {
    let class_of = |users: &Vec<User>| {
        let Some(&User { pair: (a, b), coef }) = users.first() else { return Some(0) };
        let both = if coef > 0.0 { [b, a] } else { [a, b] };
        both.into_iter().find(|class| users.iter().all(|user| user.pair.0 == *class || user.pair.1 == *class))
    };
    let found: Option<Vec<usize>> = users.iter().map(class_of).collect();
    found.ok_or_else(|| ModelError::text("LIBSVM", "vectors that pairs without a common class use", None))
}

fn kernel(text: &mut Vec<u8>, kind: Kind, kernel: &Kernel) -> Result<(), ModelError> {
    Ok(write!(text, "svm_type {}\n{}", kind.name(), kernel_lines(kernel)?)?)
}

/// Returns the header lines of a kernel: `kernel_type` and its parameters.
///
/// # Errors
///
/// When LIBSVM has no such kernel.
pub fn kernel_lines(kernel: &Kernel) -> Result<String, ModelError> {
    let name = kernel.kind().and_then(|kind| kind.libsvm_name);
    let name = name.ok_or_else(|| Unsupported::Kernel { program: "LIBSVM", kernel: kernel.name().to_owned() })?;
    let field = |name: &str| Some(format!("{name} {}\n", shortest(kernel.parameter(name)?)));
    let fields: String = ["degree", "gamma", "coef0"].into_iter().filter_map(field).collect();
    Ok(format!("kernel_type {name}\n{fields}"))
}

/// Writes a model as [`write_model`] does, for programs that prepare no samples.
///
/// # Errors
///
/// As [`write_model`], and when the model fills in or scales features: without that it would
/// predict differently.
pub(crate) fn write_alone(model: &Model, out: &mut impl Write) -> Result<(), ModelError> {
    let model = model.uncentred()?;
    let Parts { encoder, scaler, .. } = model.parts();
    let (property, alternative) = match (encoder, scaler) {
        (_, Some(_)) => ("a model that scales its features", "train on data that is scaled already (maxmargin scale)"),
        (Some(encoder), None) if !encoder.is_plain() => {
            ("a model of words or of gaps that are filled in", "train on a table of numbers without gaps")
        }
        _ => return write_model(&model, out),
    };
    Err(ModelError::text("LIBSVM", property, Some(alternative)))
}

fn support_vector(text: &mut Vec<u8>, coefs: &[f64], parts: &Parts, k: usize) -> io::Result<()> {
    for &coef in coefs {
        write_shortest(text, coef)?;
        text.push(b' ');
    }
    // Column 0 of a precomputed kernel is always written as `0:serial`, for either index base.
    let base = if parts.kernel == Kernel::Precomputed { 0 } else { u64::from(parts.index_base) };
    for (column, value) in parts.support.row(k).entries() {
        write!(text, "{}:", column as u64 + base)?;
        write_shortest(text, value)?;
        text.push(b' ');
    }
    text.push(b'\n');
    Ok(())
}

fn integer(label: f64) -> Result<i32, ModelError> {
    let fits = label.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&label);
    if fits { Ok(label as i32) } else { Err(ModelError::Label(label)) }
}
