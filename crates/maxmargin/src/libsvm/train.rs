//! A training like `svm-train`, and the figures in its output.

use super::classes::Classes;
use super::parameters::{Parameters, Shape};
use super::trained_model::TrainedModel;
use crate::Svm;
use maxmargin_core::{Formulation, Status};
use maxmargin_cv::{CertificateReport, CvError, Fitted, Probability};
use maxmargin_data::classes::pairs;
use maxmargin_data::number::format_g;
use maxmargin_data::{Dataset, LabelError, Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, ModelError, Record, Rule};
use std::fmt::Write;

/// The settings that LIBSVM has no parameters for.
#[derive(Clone, Copy, Debug)]
pub struct LibsvmRun {
    /// The threads.
    pub par: Par,
    /// The limit of stored kernel rows, in bytes.
    pub memory: u64,
    /// The seed of random orders.
    pub seed: u64,
}

impl Default for LibsvmRun {
    /// The calling thread, 2 GiB, seed 1.
    fn default() -> Self {
        Self { par: Par::Seq, memory: 2 << 30, seed: 1 }
    }
}

/// The data of a training, with LIBSVM's classes.
#[derive(Clone, Debug)]
pub struct LibsvmProblem {
    /// The data; for classification its labels are [`Classes::rank`].
    pub(crate) data: Dataset,
    /// The labels as they were given.
    pub(crate) given: Vec<f64>,
    pub(crate) classes: Option<Classes>,
}

impl LibsvmProblem {
    /// Returns the problem of these samples. Labels are classes if the parameters are for
    /// classification.
    ///
    /// # Errors
    ///
    /// As [`Classes::new`].
    pub fn new(mut data: Dataset, parameters: &Parameters) -> Result<Self, LabelError> {
        let given = data.labels.clone();
        let classes = parameters.has_classes().then(|| Classes::new(&given)).transpose()?;
        if let Some(classes) = &classes {
            data.labels = classes.of.iter().map(|&class| classes.rank(class)).collect();
        }
        Ok(Self { data, given, classes })
    }

    /// The labels as they were given.
    pub fn labels(&self) -> &[f64] {
        &self.given
    }

    /// The classes; `None` for regression and one class.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// The labels that have a weight but no sample.
    pub fn unknown_weights<'p>(&'p self, parameters: &'p Parameters) -> impl Iterator<Item = i32> + 'p {
        let known = move |label: &i32| self.classes.as_ref().is_none_or(|classes| classes.labels.contains(label));
        parameters.weights.iter().map(|weight| weight.0).filter(move |label| !known(label))
    }

    /// Returns the estimator for this problem, with class weights by [`Classes::rank`].
    pub(crate) fn svm(&self, parameters: &Parameters, run: &LibsvmRun) -> Svm {
        let Shape { formulation, kernel, goal } = parameters.shape();
        let svm = Svm::of(formulation).kernel(kernel).goal(goal).shrinking(parameters.shrinking == 1);
        let svm = svm.threads(run.par).memory(run.memory).seed(run.seed);
        let svm = if parameters.probability == 1 { svm.probability(Probability::Platt) } else { svm };
        // Class weights apply to C-SVC only, as in LIBSVM.
        let classes = self.classes.iter().filter(|_| parameters.svm_type == 0);
        let weighted = classes.flat_map(|classes| (0..classes.labels.len()).map(move |class| (classes, class)));
        weighted.fold(svm, |svm, (classes, class)| {
            let weight = parameters.weight(classes.labels[class]);
            if weight == 1.0 { svm } else { svm.class_weight(classes.rank(class), weight) }
        })
    }
}

/// The figure that LIBSVM prints in addition to the objective and ρ. It depends on the type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// The equivalent ν of a C-SVC or an ε-SVR.
    Nu(f64),
    /// The equivalent C of a ν-SVC.
    C(f64),
    /// The width ε of a ν-SVR.
    Epsilon(f64),
    /// No figure: one class, and classes with different C.
    Nothing,
}

/// The training of one machine, with LIBSVM's signs.
#[derive(Clone, Debug, PartialEq)]
pub struct LibsvmMachine {
    /// The row of the data and `y α` of each support vector, with rows ascending.
    pub terms: Vec<(usize, f64)>,
    /// The offset ρ, which decision values subtract.
    pub rho: f64,
    /// The dual objective, minimised.
    pub objective: f64,
    /// The additional figure of LIBSVM's output.
    pub figure: Figure,
    /// The number of iterations of this workspace's solver.
    pub iterations: u64,
    /// The number of support vectors.
    pub support_vectors: usize,
    /// The number of bounded support vectors.
    pub bounded: usize,
    /// True if the training met its goal.
    pub converged: bool,
}

/// The result of a training.
#[derive(Clone, Debug)]
pub struct Training {
    /// The labels in LIBSVM's order; empty for regression and one class.
    pub labels: Vec<i32>,
    /// The trained model.
    pub learned: TrainedModel,
    /// One for each pair of classes, in LIBSVM's order; none where there is one class only.
    pub machines: Vec<LibsvmMachine>,
    /// The worst certificate; none where nothing was solved.
    pub certificate: Option<CertificateReport>,
    /// Why there are no probabilities although they were asked for.
    pub missing: Option<&'static str>,
    lacks_margin: bool,
}

impl Training {
    /// Returns the warning of a training whose ν is so small that decision values mean nothing
    /// ([`Formulation::lacks_margin`]).
    pub fn margin_warning(&self) -> Option<&'static str> {
        self.lacks_margin.then_some("WARNING: no margin is left at this nu, and decision values mean nothing; use a larger -n")
    }

    /// Returns LIBSVM's output of the training.
    pub fn console_text(&self) -> String {
        let mut text = self
            .learned
            .model()
            .and_then(Model::error_scale)
            .map_or_else(String::new, |scale| error_distribution_text(scale, " "));
        for machine in &self.machines {
            // Writing to a string does not fail.
            let _ = writeln!(text, "*\noptimization finished, #iter = {}", machine.iterations);
            let _ = match machine.figure {
                Figure::Nu(nu) => writeln!(text, "nu = {nu:.6}"),
                Figure::C(c) => writeln!(text, "C = {c:.6}"),
                Figure::Epsilon(epsilon) => writeln!(text, "epsilon = {epsilon:.6}"),
                Figure::Nothing => Ok(()),
            };
            let _ = writeln!(text, "obj = {:.6}, rho = {:.6}", machine.objective, machine.rho);
            let _ = writeln!(text, "nSV = {}, nBSV = {}", machine.support_vectors, machine.bounded);
        }
        match self.labels.len() {
            0 => {}
            1 => text += "WARNING: training data in only one class. See README for details.\nTotal nSV = 0\n",
            _ => {
                let _ = writeln!(text, "Total nSV = {}", self.support_vectors());
            }
        }
        text
    }

    /// The number of different support vectors.
    pub fn support_vectors(&self) -> usize {
        self.learned.model().map_or(0, Model::len)
    }
}

/// Returns LIBSVM's lines on the error distribution of a regression. `svm-train` has a blank before
/// the scale, `svm-predict` has none.
pub fn error_distribution_text(scale: f64, blank: &str) -> String {
    let scale = format_g(scale, 6);
    format!(
        "Prob. model for test data: target value = predicted value + z,\n\
         z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={blank}{scale}\n"
    )
}

/// Trains as `svm-train`. The parameters must have passed [`Parameters::check`].
///
/// # Errors
///
/// When there are no rows, or a solver does not support a parameter or a kernel value.
pub fn train(problem: &LibsvmProblem, parameters: &Parameters, run: &LibsvmRun) -> Result<Training, CvError> {
    let labels = problem.classes.as_ref().map_or_else(Vec::new, |classes| classes.labels.clone());
    if let [label] = labels[..] {
        let probability = parameters.probability == 1;
        let learned =
            TrainedModel::Constant { label, svm_type: parameters.svm_type, kernel: parameters.shape().kernel, probability };
        return Ok(Training { labels, learned, machines: Vec::new(), certificate: None, missing: None, lacks_margin: false });
    }
    let fitted = problem.svm(parameters, run).fit(&problem.data)?;
    let model = with_vectors(&fitted, problem)?;
    let machines =
        (0..fitted.machines.len()).map(|p| machine(p, &fitted, &model, problem, parameters)).collect::<Result<_, _>>()?;
    let missing = fitted.calibration.as_ref().and_then(|report| report.missing);
    let lacks_margin = fitted.model.record().is_some_and(Record::lacks_margin);
    Ok(Training {
        labels,
        learned: TrainedModel::Model(Box::new(model)),
        machines,
        certificate: Some(fitted.certificate),
        missing,
        lacks_margin,
    })
}

/// Returns the model with support vectors in place of the weights that linear solvers store.
/// `samples` are its training samples. Other models are returned as they are.
///
/// # Errors
///
/// When the samples are not those of the training.
pub fn with_support_vectors(model: &Model, samples: &Samples) -> Result<Model, ModelError> {
    let model = &*model.uncentred()?;
    let Some(record) = model.record().filter(|_| model.folded()) else { return Ok(model.clone()) };
    let terms = |p: usize| -> Vec<(usize, f64)> {
        let training = &record.machines[p];
        let coef = training.folded.iter().flatten();
        training.rows.iter().map(|&row| row as usize).zip(coef.copied()).collect()
    };
    let machines: Vec<_> = model.machines().iter().enumerate().map(|(p, machine)| (terms(p), machine.bias)).collect();
    let parts = model.parts();
    let decision_rule = if parts.classes.is_empty() { parts.decision_rule } else { parts.multiclass.decision_rule() };
    let rule = Rule { decision_rule, classes: parts.classes.clone(), multiclass: parts.multiclass, levels: parts.levels.clone() };
    let made = Model::from_machines(Kernel::Linear, samples, rule, &machines)?;
    let made = made.with_calibration(parts.calibration.clone())?;
    let mut parts = made.with_index_base(parts.index_base)?.into_parts();
    let mut record = record.clone();
    record.machines.iter_mut().for_each(|machine| machine.folded = None);
    parts.record = Some(record);
    Model::new(parts)
}

/// Returns the model with LIBSVM's labels and with support vectors.
fn with_vectors(fitted: &Fitted, problem: &LibsvmProblem) -> Result<Model, CvError> {
    let mut parts = with_support_vectors(&fitted.model, &problem.data.samples)?.into_parts();
    if let Some(classes) = &problem.classes {
        let ranked = parts.classes.iter().map(|rank| {
            let class = (0..classes.labels.len()).find(|&class| classes.rank(class) == *rank);
            class.map_or(*rank, |class| f64::from(classes.labels[class]))
        });
        parts.classes = ranked.collect();
        parts.tie_order = classes.ranks(&(0..classes.labels.len()).collect::<Vec<_>>());
    }
    Ok(Model::new(parts)?)
}

fn machine(
    p: usize,
    fitted: &Fitted,
    model: &Model,
    problem: &LibsvmProblem,
    parameters: &Parameters,
) -> Result<LibsvmMachine, CvError> {
    let report = &fitted.machines[p];
    let (own, rows) = (&model.machines()[p], model.record().map_or(&[][..], |record| &record.machines[p].rows));
    // With more than two classes, positive values select the later class here and the earlier in
    // LIBSVM.
    let sign = if model.machines().len() > 1 { -1.0 } else { 1.0 };
    let terms: Vec<(usize, f64)> = rows.iter().zip(&own.coef).map(|(&row, coef)| (row as usize, sign * coef)).collect();
    let sum: f64 = terms.iter().map(|term| term.1.abs()).sum();
    let rows = report.train as f64;
    let shape = parameters.shape();
    let mut objective = report.objective;
    let figure = match shape.formulation {
        Formulation::NuSvc { nu } => {
            // The coefficients were divided by the margin, whose inverse is the equivalent C of a
            // C-SVC.
            let c = sum / (nu * rows);
            objective *= c * c;
            Figure::C(c)
        }
        Formulation::Svr { c, .. } => Figure::Nu(sum / (c * rows)),
        Formulation::NuSvr { c, .. } => Figure::Epsilon(width(model, problem, &terms, c)?),
        Formulation::Svc { c, .. } if !weighted(p, problem, parameters) => {
            let price = c * weight_of(p, problem, parameters);
            Figure::Nu(sum / (price * rows))
        }
        _ => Figure::Nothing,
    };
    Ok(LibsvmMachine {
        terms,
        rho: 0.0 - sign * own.bias,
        objective,
        figure,
        iterations: report.iterations,
        support_vectors: report.support_vectors,
        bounded: report.bounded,
        converged: report.status == Status::Converged,
    })
}

/// Returns the factors of C for both classes of a machine.
fn factors(p: usize, problem: &LibsvmProblem, parameters: &Parameters) -> Option<(f64, f64)> {
    let labels = &problem.classes.as_ref()?.labels;
    let (a, b) = pairs(labels.len()).nth(p)?;
    Some((parameters.weight(labels[a]), parameters.weight(labels[b])))
}

fn weighted(p: usize, problem: &LibsvmProblem, parameters: &Parameters) -> bool {
    factors(p, problem, parameters).is_some_and(|(a, b)| a != b)
}

fn weight_of(p: usize, problem: &LibsvmProblem, parameters: &Parameters) -> f64 {
    factors(p, problem, parameters).map_or(1.0, |factors| factors.0)
}

/// The number of free support vectors that determine the width of a ν-SVR. They all have the same
/// error up to the tolerance.
const FREE_SAMPLES: usize = 200;

/// Returns the width ε of a ν-SVR, which is the error of the free support vectors. Without any, it
/// lies between the errors of the bounded support vectors and of the other rows.
fn width(model: &Model, problem: &LibsvmProblem, terms: &[(usize, f64)], c: f64) -> Result<f64, CvError> {
    let errors = |rows: &[usize]| -> Result<Vec<f64>, CvError> {
        let said = model.decision_values(&problem.data.samples.select(rows), Par::Seq)?;
        Ok(rows.iter().zip(said).map(|(&row, value)| (value - problem.given[row]).abs()).collect())
    };
    let free: Vec<usize> = terms.iter().filter(|term| term.1.abs() < c).map(|term| term.0).take(FREE_SAMPLES).collect();
    if !free.is_empty() {
        return Ok(errors(&free)?.iter().sum::<f64>() / free.len() as f64);
    }
    let bounded: Vec<usize> = terms.iter().map(|term| term.0).collect();
    let idle: Vec<usize> = (0..problem.given.len()).filter(|row| bounded.binary_search(row).is_err()).collect();
    let least = errors(&bounded)?.into_iter().fold(f64::INFINITY, f64::min);
    let most = errors(&idle)?.into_iter().fold(0.0, f64::max);
    Ok(if least.is_finite() { f64::midpoint(least, most) } else { most })
}
