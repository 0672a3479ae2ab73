//! The conversion of a training into a model of C.

use crate::c::{self, copied, sigmoids};
use maxmargin::libsvm::{LibsvmProblem, Training};
use maxmargin::model::Calibration;
use std::ffi::c_int;
use std::ptr;

/// The content of a model of C. Support vectors are grouped by class, and in the order of the data
/// within a class.
pub(crate) struct Content {
    /// The labels of the classes; empty for regression and one class.
    pub(crate) labels: Vec<c_int>,
    /// The number of support vectors of each class.
    pub(crate) sizes: Vec<c_int>,
    /// The columns of coefficients, one less than classes.
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) rho: Vec<f64>,
    /// The row of each support vector in the training data.
    pub(crate) rows: Vec<usize>,
}

impl Content {
    fn of(problem: &LibsvmProblem, trained: &Training) -> Self {
        let classes = trained.labels.len();
        let class_of = |row: usize| problem.classes().map_or(0, |known| known.of[row]);
        let mut rows: Vec<usize> = trained.machines.iter().flat_map(|machine| &machine.terms).map(|term| term.0).collect();
        rows.sort_by_key(|&row| (class_of(row), row));
        rows.dedup();
        let mut sizes = vec![0; classes];
        if classes > 0 {
            rows.iter().for_each(|&row| sizes[class_of(row)] += 1);
        }
        let mut place = vec![0; rows.iter().max().map_or(0, |row| row + 1)];
        rows.iter().enumerate().for_each(|(at, &row)| place[row] = at);
        let mut columns = vec![vec![0.0; rows.len()]; classes.max(2) - 1];
        let pairs = maxmargin::data::classes::pairs(classes.max(2));
        for ((a, b), machine) in pairs.zip(&trained.machines) {
            for &(row, coef) in &machine.terms {
                // A vector of the earlier class has this pair in the column of the later class, and
                // vice versa.
                let column = if class_of(row) == a { b - 1 } else { a };
                columns[column][place[row]] = coef;
            }
        }
        let rho = trained.machines.iter().map(|machine| machine.rho).collect();
        Self { labels: trained.labels.clone(), sizes, columns, rho, rows }
    }
}

/// Returns the model of a training. Its support vectors are rows of `prob`.
pub(crate) fn filled(
    prob: &c::SvmProblem,
    param: &c::Parameter,
    problem: &LibsvmProblem,
    trained: &Training,
) -> *mut c::SvmModel {
    let content = Content::of(problem, trained);
    // SAFETY: `prob` was read before, so that it has `l` rows, and `rows` are less than `l`.
    let all = unsafe { c::slice(prob.x.cast_const(), prob.l) };
    let vectors: Vec<*mut c::Node> = content.rows.iter().map(|&row| all[row]).collect();
    let indices: Vec<c_int> = content.rows.iter().map(|&row| row as c_int + 1).collect();
    let model = made(*param, &content, &vectors);
    let (platt, scale, marks) = trained.learned.model().map_or_else(Default::default, |model| numbers_of(model.calibration()));
    // With more than two classes, positive values select the later class here and the earlier in
    // LIBSVM, so that `b` changes its sign.
    let sign = if trained.machines.len() > 1 { -1.0 } else { 1.0 };
    let (a, b): (Vec<f64>, Vec<f64>) = platt.iter().map(|&(a, b)| (a, sign * b)).chain(scale.map(|scale| (scale, 0.0))).unzip();
    let lone = trained.learned.model().is_none() && trained.learned.is_probability_model();
    let model = c::SvmModel {
        probA: sigmoids(&a, lone),
        probB: if scale.is_some() { ptr::null_mut() } else { sigmoids(&b, lone) },
        prob_density_marks: copied(&marks),
        ..model
    };
    copied(&[c::SvmModel { sv_indices: copied(&indices), free_sv: 0, ..model }])
}

/// Returns the numbers of calibrations: sigmoids, the scale of a regression, the marks of one
/// class.
fn numbers_of(calibration: &[Calibration]) -> (Vec<(f64, f64)>, Option<f64>, Vec<f64>) {
    let (mut sigmoids, mut scale, mut marks) = (Vec::new(), None, Vec::new());
    for one in calibration {
        match one {
            Calibration::Sigmoid { a, b } => sigmoids.push((*a, *b)),
            Calibration::Laplace { scale: own } => scale = Some(*own),
            Calibration::Marks(own) => marks.clone_from(own),
            // LIBSVM's parameters cannot request other calibrations.
            _ => {}
        }
    }
    (sigmoids, scale, marks)
}

/// Returns a model with this content, without indices and probabilities.
pub(crate) fn made(param: c::Parameter, content: &Content, vectors: &[*mut c::Node]) -> c::SvmModel {
    let columns: Vec<*mut f64> = content.columns.iter().map(|column| copied(column)).collect();
    c::SvmModel {
        param,
        nr_class: if content.labels.is_empty() { 2 } else { content.labels.len() as c_int },
        l: vectors.len() as c_int,
        SV: copied(vectors),
        sv_coef: copied(&columns),
        rho: copied(&content.rho),
        probA: ptr::null_mut(),
        probB: ptr::null_mut(),
        prob_density_marks: ptr::null_mut(),
        sv_indices: ptr::null_mut(),
        label: copied(&content.labels),
        nSV: copied(&content.sizes),
        free_sv: 1,
    }
}
