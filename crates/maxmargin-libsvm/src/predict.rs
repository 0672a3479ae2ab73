//! Prediction, which reads the structure of C in place.

use crate::c::{self, Node, nodes, slice};
use crate::panic_guard::catch_panic;
use maxmargin::data::classes::pairs;
use maxmargin::kernel::Kernel;
use maxmargin::libsvm::Parameters;
use maxmargin::model::{Calibration, Multiclass, likeliest_in_order};
use std::cmp::Ordering;
use std::ffi::c_double;

/// Returns the dot product and the squared distance of two rows whose indices ascend.
fn compared(x: &[Node], z: &[Node]) -> (f64, f64) {
    let (mut dot, mut distance, mut i, mut j) = (0.0, 0.0, 0, 0);
    while i < x.len() && j < z.len() {
        match x[i].index.cmp(&z[j].index) {
            Ordering::Equal => {
                dot += x[i].value * z[j].value;
                distance += (x[i].value - z[j].value).powi(2);
                (i, j) = (i + 1, j + 1);
            }
            Ordering::Less => {
                distance += x[i].value * x[i].value;
                i += 1;
            }
            Ordering::Greater => {
                distance += z[j].value * z[j].value;
                j += 1;
            }
        }
    }
    let rest = x[i..].iter().chain(&z[j..]);
    (dot, distance + rest.map(|node| node.value * node.value).sum::<f64>())
}

/// Returns the kernel value of a row and a support vector.
fn value(kernel: &Kernel, vector: &[Node], x: &[Node]) -> f64 {
    match kernel {
        // Node `serial` of the row has the kernel value, because node 0 has the serial number of
        // the row. Missing values are 0.
        Kernel::Precomputed => {
            let serial = vector.first().map_or(0.0, |node| node.value);
            x.get(serial as usize).map_or(0.0, |node| node.value)
        }
        other => {
            let (dot, distance) = compared(x, vector);
            // A distance kernel uses the norm of the difference, which has no cancellation.
            if other.is_distance() { other.of_dot(0.0, distance, 0.0) } else { other.of_dot(dot, 0.0, 0.0) }
        }
    }
}

/// Returns the decision values of a row, and the predicted label or value.
///
/// # Safety
///
/// The model's arrays are as long as `svm.h` says, its support vectors and `x` end with index −1.
unsafe fn evaluate(model: &c::SvmModel, x: *const Node) -> (Vec<f64>, f64) {
    let parameters = Parameters {
        kernel_type: model.param.kernel_type,
        degree: model.param.degree,
        gamma: model.param.gamma,
        coef0: model.param.coef0,
        ..Parameters::default()
    };
    let kernel = parameters.shape().kernel;
    // SAFETY: the caller's promise.
    let (x, vectors) = unsafe { (nodes(x), slice(model.SV.cast_const(), model.l)) };
    // SAFETY: likewise.
    let values: Vec<f64> = vectors.iter().map(|vector| value(&kernel, unsafe { nodes(*vector) }, x)).collect();
    // SAFETY: likewise.
    let columns: Vec<&[f64]> = unsafe {
        let columns = slice(model.sv_coef.cast_const(), model.nr_class - 1);
        columns.iter().map(|column| slice(*column, model.l)).collect()
    };
    if matches!(model.param.svm_type, 2..=4) {
        // SAFETY: one value of ρ.
        let rho = unsafe { slice(model.rho, 1) }.first().copied().unwrap_or(0.0);
        let coef = columns.first().copied().unwrap_or_default();
        let sum = coef.iter().zip(&values).map(|(coef, value)| coef * value).sum::<f64>() - rho;
        let inlier = if sum > 0.0 { 1.0 } else { -1.0 };
        return (vec![sum], if model.param.svm_type == 2 { inlier } else { sum });
    }
    let count = usize::try_from(model.nr_class).unwrap_or(0);
    // SAFETY: as many values as pairs, labels and sizes as classes.
    let (rho, labels, sizes) = unsafe {
        let pairs = count * count.saturating_sub(1) / 2;
        (slice(model.rho, pairs as _), slice(model.label, model.nr_class), slice(model.nSV, model.nr_class))
    };
    let ends = sizes.iter().scan(0, |end, &size| {
        *end += usize::try_from(size).unwrap_or(0);
        Some(*end)
    });
    let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let part = |class: usize, column: usize| {
        let range = starts[class]..starts[class + 1];
        columns[column][range.clone()].iter().zip(&values[range]).map(|(coef, value)| coef * value)
    };
    let mut votes = vec![0_u32; count];
    let mut decisions = Vec::with_capacity(rho.len());
    for ((a, b), rho) in pairs(count).zip(rho) {
        let decision = part(a, b - 1).chain(part(b, a)).sum::<f64>() - rho;
        votes[if decision > 0.0 { a } else { b }] += 1;
        decisions.push(decision);
    }
    let best = (1..count).fold(0, |best, class| if votes[class] > votes[best] { class } else { best });
    (decisions, labels.get(best).map_or(f64::NAN, |label| f64::from(*label)))
}

/// Writes the decision values of a row to `dec_values`, one for each pair of classes or a single
/// one, and returns the predicted label or value.
///
/// # Safety
///
/// `model` is null or points to a model whose arrays are as long as `svm.h` says, `x` to nodes that
/// end with index −1; `dec_values` has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_predict_values(model: *const c::SvmModel, x: *const Node, dec_values: *mut c_double) -> c_double {
    catch_panic(f64::NAN, || {
        // SAFETY: the caller's promise.
        let Some(model) = (unsafe { model.as_ref() }) else { return f64::NAN };
        // SAFETY: likewise; there is room for as many values as the model has machines.
        unsafe {
            let (decisions, prediction) = evaluate(model, x);
            std::ptr::copy_nonoverlapping(decisions.as_ptr(), dec_values, decisions.len());
            prediction
        }
    })
}

/// Returns the predicted label or value of a row.
///
/// # Safety
///
/// `model` is null or points to a model whose arrays are as long as `svm.h` says, `x` to nodes that
/// end with index −1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_predict(model: *const c::SvmModel, x: *const Node) -> c_double {
    catch_panic(f64::NAN, || {
        // SAFETY: the caller's promise.
        unsafe { model.as_ref().map_or(f64::NAN, |model| evaluate(model, x).1) }
    })
}

/// Writes the probability of every class to `prob_estimates`, in the order of the model's labels,
/// and returns the most probable label. For one class, it writes the probabilities of inside and
/// outside. Without probabilities, and for regression, it predicts as [`svm_predict`].
///
/// # Safety
///
/// As [`svm_predict`]; `prob_estimates` has room for as many values as the model has classes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_predict_probability(
    model: *const c::SvmModel,
    x: *const Node,
    prob_estimates: *mut c_double,
) -> c_double {
    catch_panic(f64::NAN, || {
        // SAFETY: the caller's promise.
        let Some(model) = (unsafe { model.as_ref() }) else { return f64::NAN };
        // SAFETY: likewise.
        let (prediction, probabilities) = unsafe {
            let (decisions, prediction) = evaluate(model, x);
            (prediction, probabilities(model, &decisions))
        };
        let Some(probabilities) = probabilities else { return prediction };
        // SAFETY: there is room for as many values as the model has classes; of one class these are
        // two.
        unsafe { std::ptr::copy_nonoverlapping(probabilities.as_ptr(), prob_estimates, probabilities.len()) };
        if model.param.svm_type == 2 {
            return prediction;
        }
        let order: Vec<u32> = (0..probabilities.len() as u32).collect();
        let likeliest = likeliest_in_order(&order, &probabilities);
        // SAFETY: as many labels as classes.
        unsafe { slice(model.label, model.nr_class) }.get(likeliest).map_or(prediction, |label| f64::from(*label))
    })
}

/// Returns the probabilities from decision values with LIBSVM's signs, in the order of the model's
/// labels; `None` if the model has no probabilities.
///
/// # Safety
///
/// The model's arrays are as long as `svm.h` says.
unsafe fn probabilities(model: &c::SvmModel, decisions: &[f64]) -> Option<Vec<f64>> {
    let count = usize::try_from(model.nr_class).unwrap_or(0);
    if model.param.svm_type == 2 {
        // SAFETY: ten marks, or none.
        let marks = unsafe { slice(model.prob_density_marks, 10) };
        let calibration = Calibration::Marks(marks.to_vec()).checked().ok().filter(|_| !marks.is_empty())?;
        return Some(Multiclass::OneVsOne.probabilities(0, &[calibration], decisions));
    }
    if !matches!(model.param.svm_type, 0 | 1) || count < 1 {
        return None;
    }
    if count == 1 {
        return (!model.probA.is_null() && !model.probB.is_null()).then(|| vec![1.0]);
    }
    // SAFETY: as many values as pairs, or none.
    let (a, b) = unsafe { (slice(model.probA, decisions.len() as _), slice(model.probB, decisions.len() as _)) };
    if a.is_empty() || b.is_empty() {
        return None;
    }
    // Positive values select the later class of a pair here. For two classes this is LIBSVM's first
    // class; for more, every sign changes.
    let sign = if count == 2 { 1.0 } else { -1.0 };
    let calibration: Vec<Calibration> = a.iter().zip(b).map(|(&a, &b)| Calibration::Sigmoid { a, b: sign * b }).collect();
    let ours: Vec<f64> = decisions.iter().map(|decision| sign * decision).collect();
    let mut found = Multiclass::OneVsOne.probabilities(count, &calibration, &ours);
    if count == 2 {
        found.reverse();
    }
    Some(found)
}
