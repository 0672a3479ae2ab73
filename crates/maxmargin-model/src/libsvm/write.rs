//! Writes LIBSVM's model text.

use crate::error::ModelError;
use crate::model::Model;
use crate::multiclass::MulticlassModel;
use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_data::number::write_shortest;
use maxmargin_kernel::Kernel;
use std::io::{self, Write};

/// Writes `model` as LIBSVM's model text: the positive class first, support vectors grouped by class.
///
/// # Errors
///
/// When a label is not an integer of 32 bits, and those of `out`.
pub fn write_model(model: &Model, out: &mut impl Write) -> Result<(), ModelError> {
    let parts = model.parts();
    let mut text = Vec::new();
    kernel(&mut text, &parts.kernel)?;
    let (positive, negative) = (integer(parts.positive)?, integer(parts.negative)?);
    writeln!(text, "nr_class 2\ntotal_sv {}", model.len())?;
    field(&mut text, "rho", 0.0 - parts.bias)?;
    let of_positive = parts.coef.iter().filter(|c| **c > 0.0).count();
    writeln!(text, "label {positive} {negative}\nnr_sv {of_positive} {}\nSV", model.len() - of_positive)?;
    for want_positive in [true, false] {
        for (i, &coef) in parts.coef.iter().enumerate().filter(|(_, c)| (**c > 0.0) == want_positive) {
            support_vector(&mut text, &[coef], (&parts.kernel, parts.index_base), &parts.support, i)?;
        }
        out.write_all(&text)?;
        text.clear();
    }
    Ok(())
}

/// Writes a multi-class model as LIBSVM's model text, support vectors grouped by class.
///
/// # Errors
///
/// When a label is not an integer of 32 bits, when a vector is used by machines that share no class (LIBSVM has no room for that), and
/// those of `out`.
pub fn write_multiclass(model: &MulticlassModel, out: &mut impl Write) -> Result<(), ModelError> {
    let parts = model.parts();
    let classes = parts.classes.len();
    let labels = parts.classes.iter().map(|&label| integer(label)).collect::<Result<Vec<i32>, _>>()?;
    let mut table = vec![0.0; parts.support.len() * (classes - 1)];
    let of = classes_of(model)?;
    for ((a, b), machine) in pairs(classes).zip(&parts.machines) {
        for (&k, &coef) in machine.support.iter().zip(&machine.coef) {
            let column = if of[k as usize] == a { b - 1 } else { a };
            // There a positive decision is for the earlier class.
            table[k as usize * (classes - 1) + column] = 0.0 - coef;
        }
    }
    let mut text = Vec::new();
    kernel(&mut text, &parts.kernel)?;
    writeln!(text, "nr_class {classes}\ntotal_sv {}", parts.support.len())?;
    text.extend_from_slice(b"rho");
    for machine in &parts.machines {
        text.push(b' ');
        write_shortest(&mut text, machine.bias)?;
    }
    text.extend_from_slice(b"\nlabel");
    labels.iter().try_for_each(|label| write!(text, " {label}"))?;
    text.extend_from_slice(b"\nnr_sv");
    (0..classes).try_for_each(|class| write!(text, " {}", of.iter().filter(|c| **c == class).count()))?;
    text.extend_from_slice(b"\nSV\n");
    for class in 0..classes {
        for k in (0..of.len()).filter(|&k| of[k] == class) {
            let coef = &table[k * (classes - 1)..(k + 1) * (classes - 1)];
            support_vector(&mut text, coef, (&parts.kernel, parts.index_base), &parts.support, k)?;
        }
        out.write_all(&text)?;
        text.clear();
    }
    Ok(())
}

/// A class for each vector that is in every pair that uses it: the one that its coefficients speak for, if they agree.
fn classes_of(model: &MulticlassModel) -> Result<Vec<usize>, ModelError> {
    let parts = model.parts();
    let mut used: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); parts.support.len()];
    for ((a, b), machine) in pairs(parts.classes.len()).zip(&parts.machines) {
        machine.support.iter().zip(&machine.coef).for_each(|(&k, &coef)| used[k as usize].push((a, b, coef)));
    }
    let class_of = |used: &Vec<(usize, usize, f64)>| {
        let Some(&(a, b, coef)) = used.first() else { return Some(0) };
        let both = if coef > 0.0 { [b, a] } else { [a, b] };
        let fits = |class: &usize| used.iter().all(|(a, b, _)| a == class || b == class);
        both.into_iter().find(fits)
    };
    let found: Option<Vec<usize>> = used.iter().map(class_of).collect();
    found.ok_or_else(|| ModelError::Unsupported("LIBSVM's text for vectors that pairs without a common class use".to_owned()))
}

fn kernel(text: &mut Vec<u8>, kernel: &Kernel) -> Result<(), ModelError> {
    let (name, degree, gamma, coef0) = match *kernel {
        Kernel::Linear => ("linear", None, None, None),
        Kernel::Rbf { gamma } => ("rbf", None, Some(gamma), None),
        Kernel::Poly { gamma, coef0, degree } => ("polynomial", Some(f64::from(degree)), Some(gamma), Some(coef0)),
        Kernel::Sigmoid { gamma, coef0 } => ("sigmoid", None, Some(gamma), Some(coef0)),
        Kernel::Precomputed => ("precomputed", None, None, None),
        _ => return Err(ModelError::Unsupported(format!("kernel {kernel:?}"))),
    };
    writeln!(text, "svm_type c_svc\nkernel_type {name}")?;
    for (name, value) in [("degree", degree), ("gamma", gamma), ("coef0", coef0)] {
        if let Some(value) = value {
            field(text, name, value)?;
        }
    }
    Ok(())
}

fn field(text: &mut Vec<u8>, name: &str, value: f64) -> io::Result<()> {
    write!(text, "{name} ")?;
    write_shortest(text, value)?;
    text.push(b'\n');
    Ok(())
}

fn support_vector(
    text: &mut Vec<u8>,
    coef: &[f64],
    (kernel, index_base): (&Kernel, u32),
    support: &Samples,
    i: usize,
) -> io::Result<()> {
    for &coef in coef {
        write_shortest(text, coef)?;
        text.push(b' ');
    }
    // A precomputed kernel's column 0 is written `0:serial` whatever the file's numbering was.
    let base = if *kernel == Kernel::Precomputed { 0 } else { u64::from(index_base) };
    for (column, value) in support.row(i).entries() {
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
