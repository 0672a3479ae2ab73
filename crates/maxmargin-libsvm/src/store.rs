//! Model files.

use crate::c::{self, Node, copied, nodes, sigmoids, slice};
use crate::fill::{Content, made};
use crate::output::print_error;
use crate::panic_guard::catch_panic;
use maxmargin::data::number::format_g;
use maxmargin::kernel::KernelKind;
use maxmargin::libsvm::{Parameters, TrainedModel};
use maxmargin::model::libsvm::kernel_lines;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;
use std::path::PathBuf;
use std::ptr;

const TYPES: [&str; 5] = ["c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"];

/// Returns the path of a C string; `None` if it is null.
///
/// # Safety
///
/// `name` is null or a string of C.
unsafe fn path(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: not null, and a string by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
    }
    #[cfg(not(unix))]
    {
        name.to_str().ok().map(PathBuf::from)
    }
}

/// Writes LIBSVM's text of a model. Returns 0, or −1 if that fails.
///
/// # Safety
///
/// `model_file_name` is a string of C, `model` points to a model whose arrays are as long as
/// `svm.h` says and whose support vectors end with index −1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_save_model(model_file_name: *const c_char, model: *const c::SvmModel) -> c_int {
    catch_panic(-1, || {
        // SAFETY: the caller's promise.
        let (Some(path), Some(model)) = (unsafe { path(model_file_name) }, unsafe { model.as_ref() }) else { return -1 };
        // SAFETY: likewise.
        let Some(text) = (unsafe { text(model) }) else { return -1 };
        if std::fs::write(path, text).is_ok() { 0 } else { -1 }
    })
}

/// Returns LIBSVM's text of a model; `None` if LIBSVM does not have its type.
///
/// # Safety
///
/// As [`svm_save_model`].
unsafe fn text(model: &c::SvmModel) -> Option<String> {
    let c::Parameter { svm_type, kernel_type, degree, gamma, coef0, .. } = model.param;
    let kernel = Parameters { kernel_type, degree, gamma, coef0, ..Parameters::default() }.shape().kernel;
    let mut text = format!("svm_type {}\n{}", TYPES.get(usize::try_from(svm_type).ok()?)?, kernel_lines(&kernel).ok()?);
    let pairs = model.nr_class * (model.nr_class - 1) / 2;
    // SAFETY: arrays are as long as `svm.h` says, by the caller's promise: as many values as pairs,
    // ten marks, labels and sizes as classes.
    let (numbers, labels, sizes) = unsafe {
        let numbers =
            [("rho", slice(model.rho, pairs)), ("probA", slice(model.probA, pairs)), ("probB", slice(model.probB, pairs))];
        (numbers, slice(model.label, model.nr_class), slice(model.nSV, model.nr_class))
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "nr_class {}\ntotal_sv {}", model.nr_class, model.l);
    let mut line = |name: &str, values: Vec<String>| {
        let _ = writeln!(text, "{name}{}{}", if values.is_empty() { "" } else { " " }, values.join(" "));
    };
    let exact = |values: &[f64]| values.iter().map(|value| format_g(*value, 17)).collect::<Vec<_>>();
    let whole = |values: &[c_int]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    for (at, (name, values)) in numbers.into_iter().enumerate() {
        // Every model has ρ, and labels follow it. A constant model has empty lines of sigmoids.
        let is_given = [true, !model.probA.is_null(), !model.probB.is_null()][at];
        if is_given && (at == 0 || !values.is_empty() || model.nr_class == 1) {
            line(name, exact(values));
        }
        if at == 0 && !labels.is_empty() {
            line("label", whole(labels));
        }
    }
    // SAFETY: as above.
    let marks = unsafe { slice(model.prob_density_marks, 10) };
    if !marks.is_empty() {
        line("prob_density_marks", exact(marks));
    }
    if !sizes.is_empty() {
        line("nr_sv", whole(sizes));
    }
    text += "SV\n";
    // SAFETY: as above.
    let (vectors, columns) = unsafe {
        let columns = slice(model.sv_coef.cast_const(), model.nr_class - 1);
        (slice(model.SV.cast_const(), model.l), columns.iter().map(|column| slice(*column, model.l)).collect::<Vec<_>>())
    };
    for (at, vector) in vectors.iter().enumerate() {
        columns.iter().for_each(|column| text = std::mem::take(&mut text) + &format_g(column[at], 17) + " ");
        // SAFETY: as above.
        let row = unsafe { nodes(*vector) };
        let row = if kernel_type == 4 { &row[..row.len().min(1)] } else { row };
        for node in row {
            let _ = write!(text, "{}:{} ", node.index, format_g(node.value, 17));
        }
        text.push('\n');
    }
    Some(text)
}

/// Reads LIBSVM's text. Returns a model, which `svm_free_and_destroy_model` frees. If the file is
/// not a model, returns null and prints a line on standard error.
///
/// # Safety
///
/// `model_file_name` is a string of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_load_model(model_file_name: *const c_char) -> *mut c::SvmModel {
    catch_panic(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let Some(bytes) = (unsafe { path(model_file_name) }).and_then(|path| std::fs::read(path).ok()) else {
            return ptr::null_mut();
        };
        // This reader makes all checks; the rest only copies the numbers into the structure of C.
        let checked = TrainedModel::read(&bytes).map_err(|error| error.to_string());
        let laid = checked.and_then(|_| {
            let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string())?;
            laid_out(text).ok_or_else(|| "it is not LIBSVM's text, or its lists do not have the lengths of its header".to_owned())
        });
        laid.unwrap_or_else(|what| {
            print_error(&format!("ERROR: model file: {what}"));
            ptr::null_mut()
        })
    })
}

fn numbers<T: std::str::FromStr>(line: &str) -> Option<Vec<T>> {
    line.split_ascii_whitespace().skip(1).map(|word| word.parse().ok()).collect()
}

/// Returns the structure of C for the text of a model.
fn laid_out(text: &str) -> Option<*mut c::SvmModel> {
    let head: Vec<&str> = text.lines().take_while(|line| line.trim() != "SV").collect();
    let line = |name: &str| head.iter().copied().find(|line| line.split_ascii_whitespace().next() == Some(name));
    let word = |name: &str| line(name)?.split_ascii_whitespace().nth(1);
    let number = |name: &str| word(name).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
    let list = |name: &str| line(name).map_or(Some(Vec::new()), numbers::<f64>);
    let place = |names: &[&str], name: &str| names.iter().position(|known| Some(*known) == word(name)).map(|at| at as c_int);
    let svm_type = place(&TYPES, "svm_type")?;
    let kernel_type = KernelKind::with_libsvm_name(word("kernel_type")?)?.libsvm_number?;
    let classes: usize = word("nr_class")?.parse().ok()?;
    let total: usize = word("total_sv")?.parse().ok()?;
    let pairs = classes * classes.checked_sub(1)? / 2;
    let labels: Vec<c_int> = line("label").map_or(Some(Vec::new()), numbers)?;
    let sizes: Vec<c_int> = line("nr_sv").map_or(Some(Vec::new()), numbers)?;
    let (rho, a, b, marks) = (list("rho")?, list("probA")?, list("probB")?, list("prob_density_marks")?);
    let is_classes = svm_type < 2;
    let fits = |values: &[f64], count: usize| values.is_empty() || values.len() == count;
    let sums = sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(usize::try_from(*size).ok()?))?;
    let right = if is_classes { labels.len() == classes && sizes.len() == classes && sums == total } else { classes == 2 };
    if !right || rho.len() != pairs || !fits(&a, pairs) || !fits(&b, pairs) || !fits(&marks, 10) {
        return None;
    }
    let (mut columns, mut all, mut starts) = (vec![Vec::new(); classes - 1], Vec::new(), Vec::new());
    for row in text.lines().skip(head.len() + 1).filter(|line| !line.trim().is_empty()) {
        let mut words = row.split_ascii_whitespace();
        for column in &mut columns {
            column.push(words.next()?.parse().ok()?);
        }
        starts.push(all.len());
        for word in words {
            let (index, value) = word.split_once(':')?;
            all.push(Node { index: index.parse().ok()?, value: value.parse().ok()? });
        }
        all.push(Node { index: -1, value: 0.0 });
    }
    if starts.len() != total {
        return None;
    }
    let kept = copied(&all);
    // SAFETY: every start is an index into the new array.
    let vectors: Vec<*mut Node> = starts.iter().map(|&at| unsafe { kept.add(at) }).collect();
    // SAFETY: zeros are valid numbers and null pointers.
    let blank: c::Parameter = unsafe { std::mem::zeroed() };
    let param = c::Parameter {
        svm_type,
        kernel_type,
        degree: number("degree") as c_int,
        gamma: number("gamma"),
        coef0: number("coef0"),
        ..blank
    };
    let (labels, sizes) = if is_classes { (labels, sizes) } else { (Vec::new(), Vec::new()) };
    let model = made(param, &Content { labels, sizes, columns, rho, rows: Vec::new() }, &vectors);
    let is_given = |name: &str| classes == 1 && line(name).is_some();
    let (a, b) = (sigmoids(&a, is_given("probA")), sigmoids(&b, is_given("probB")));
    let model = c::SvmModel { probA: a, probB: b, prob_density_marks: copied(&marks), ..model };
    Some(copied(&[model]))
}
