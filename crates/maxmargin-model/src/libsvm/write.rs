//! Writes LIBSVM's model text.

use crate::error::ModelError;
use crate::model::Model;
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
    let (name, degree, gamma, coef0) = match parts.kernel {
        Kernel::Linear => ("linear", None, None, None),
        Kernel::Rbf { gamma } => ("rbf", None, Some(gamma), None),
        Kernel::Poly { gamma, coef0, degree } => ("polynomial", Some(f64::from(degree)), Some(gamma), Some(coef0)),
        Kernel::Sigmoid { gamma, coef0 } => ("sigmoid", None, Some(gamma), Some(coef0)),
        Kernel::Precomputed => ("precomputed", None, None, None),
        _ => return Err(ModelError::Unsupported(format!("kernel {:?}", parts.kernel))),
    };
    writeln!(text, "svm_type c_svc\nkernel_type {name}")?;
    for (name, value) in [("degree", degree), ("gamma", gamma), ("coef0", coef0)] {
        if let Some(value) = value {
            field(&mut text, name, value)?;
        }
    }
    let (positive, negative) = (integer(parts.positive)?, integer(parts.negative)?);
    writeln!(text, "nr_class 2\ntotal_sv {}", model.len())?;
    field(&mut text, "rho", 0.0 - parts.bias)?;
    let of_positive = parts.coef.iter().filter(|c| **c > 0.0).count();
    writeln!(text, "label {positive} {negative}\nnr_sv {of_positive} {}\nSV", model.len() - of_positive)?;
    for want_positive in [true, false] {
        for (i, &coef) in parts.coef.iter().enumerate().filter(|(_, c)| (**c > 0.0) == want_positive) {
            support_vector(&mut text, model, i, coef)?;
        }
        out.write_all(&text)?;
        text.clear();
    }
    Ok(())
}

fn field(text: &mut Vec<u8>, name: &str, value: f64) -> io::Result<()> {
    write!(text, "{name} ")?;
    write_shortest(text, value)?;
    text.push(b'\n');
    Ok(())
}

fn support_vector(text: &mut Vec<u8>, model: &Model, i: usize, coef: f64) -> io::Result<()> {
    let parts = model.parts();
    write_shortest(text, coef)?;
    text.push(b' ');
    // A precomputed kernel's column 0 is written `0:serial` whatever the file's numbering was.
    let base = if parts.kernel == Kernel::Precomputed { 0 } else { u64::from(parts.index_base) };
    for (column, value) in parts.support.row(i).entries() {
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
