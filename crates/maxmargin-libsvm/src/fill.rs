//! A model of C from what was trained.

use crate::c::{self, copied, sigmoids};
use maxmargin::libsvm::{Problem, Training};
use maxmargin::model::Calibration;
use std::ffi::c_int;
use std::ptr;

/// What a model of C holds, in its order: support vectors by class, inside a class as the data has
/// them.
pub(crate) struct Content {
    /// Labels of the classes; none for values and one class.
    pub(crate) labels: Vec<c_int>,
    /// Support vectors of each class.
    pub(crate) sizes: Vec<c_int>,
    /// A column of coefficients for each class but one.
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) rho: Vec<f64>,
    /// Row of the training data of each support vector.
    pub(crate) rows: Vec<usize>,
}

impl Content {
    fn of(problem: &Problem, trained: &Training) -> Self {
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
                // Those of the earlier class keep the pair in the column of the later, and the
                // other way round.
                let column = if class_of(row) == a { b - 1 } else { a };
                columns[column][place[row]] = coef;
            }
        }
        let rho = trained.machines.iter().map(|machine| machine.rho).collect();
        Self { labels: trained.labels.clone(), sizes, columns, rho, rows }
    }
}

/// The model of a training: its support vectors are rows of `prob`.
pub(crate) fn filled(prob: &c::Problem, param: &c::Parameter, problem: &Problem, trained: &Training) -> *mut c::Model {
    let content = Content::of(problem, trained);
    // SAFETY: the problem has been read: it has `l` rows, and `rows` are among them.
    let all = unsafe { c::slice(prob.x.cast_const(), prob.l) };
    let vectors: Vec<*mut c::Node> = content.rows.iter().map(|&row| all[row]).collect();
    let indices: Vec<c_int> = content.rows.iter().map(|&row| row as c_int + 1).collect();
    let model = made(*param, &content, &vectors);
    let (platt, scale, marks) = trained.learned.model().map_or_else(Default::default, |model| numbers_of(model.calibration()));
    // Of several classes our machines speak for the later, LIBSVM's for the earlier: then the sign
    // of what is added changes.
    let sign = if trained.machines.len() > 1 { -1.0 } else { 1.0 };
    let (a, b): (Vec<f64>, Vec<f64>) = platt.iter().map(|&(a, b)| (a, sign * b)).chain(scale.map(|scale| (scale, 0.0))).unzip();
    let lone = trained.learned.model().is_none() && trained.learned.is_probability_model();
    let model = c::Model {
        probA: sigmoids(&a, lone),
        probB: if scale.is_some() { ptr::null_mut() } else { sigmoids(&b, lone) },
        prob_density_marks: copied(&marks),
        ..model
    };
    copied(&[c::Model { sv_indices: copied(&indices), free_sv: 0, ..model }])
}

/// The numbers of calibrations: sigmoids, the scale of a regression, the marks of one class.
fn numbers_of(calibration: &[Calibration]) -> (Vec<(f64, f64)>, Option<f64>, Vec<f64>) {
    let (mut sigmoids, mut scale, mut marks) = (Vec::new(), None, Vec::new());
    for one in calibration {
        match one {
            Calibration::Sigmoid { a, b } => sigmoids.push((*a, *b)),
            Calibration::Laplace { scale: own } => scale = Some(*own),
            Calibration::Marks(own) => marks.clone_from(own),
            // LIBSVM has no room for others, and its parameters ask for none.
            _ => {}
        }
    }
    (sigmoids, scale, marks)
}

/// A model with this content, without indices and probabilities.
pub(crate) fn made(param: c::Parameter, content: &Content, vectors: &[*mut c::Node]) -> c::Model {
    let columns: Vec<*mut f64> = content.columns.iter().map(|column| copied(column)).collect();
    c::Model {
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
