//! `svm-train`.

use super::arguments::{
    Arguments, OwnOptions, atof, atoi, fold_count, letter, own_options_usage, unknown_option, weighted_label,
};
use super::data;
use super::exit::{Exit, print};
use crate::console::format;
use crate::console::stderr::print_line;
use crate::files::output::Output;
use maxmargin::cv::CertificateReport;
use maxmargin::data::Dataset;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::data::number::format_g;
use maxmargin::libsvm::{Folds, LibsvmProblem, LibsvmRun, Parameters, Rand, cross_validate, squares, train};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

const USAGE: &str = concat!(
    "Usage: svm-train [options] training_set_file [model_file]
options:
-s svm_type     which machine (default 0)
                0 C-SVC (classes), 1 nu-SVC (classes), 2 one-class SVM, 3 epsilon-SVR (regression), 4 nu-SVR (regression)
-t kernel_type  which kernel (default 2)
                0 linear: u'*v
                1 polynomial: (gamma*u'*v + coef0)^degree
                2 radial basis function: exp(-gamma*|u-v|^2)
                3 sigmoid: tanh(gamma*u'*v + coef0)
                4 precomputed: kernel values in training_set_file
-d degree       degree of the polynomial (default 3)
-g gamma        gamma of the kernel (default 1/num_features)
-r coef0        coef0 of the kernel (default 0)
-c cost         C of C-SVC, epsilon-SVR and nu-SVR (default 1)
-n nu           nu of nu-SVC, one-class SVM and nu-SVR (default 0.5)
-p epsilon      width of epsilon-SVR within which errors cost nothing (default 0.1)
-m cachesize    memory for kernel values in MB (default: as --memory)
-e epsilon      tolerance of the stopping criterion (default 0.001)
-h shrinking    whether to shrink, 0 or 1 (default 1)
-b probability  whether the model gives probabilities, 0 or 1 (default 0)
-wi weight      C of class i is weight*C, for C-SVC (default 1)
-v n            n-fold cross-validation
-q              quiet: print nothing on the way
",
    own_options_usage!()
);

/// The parsed command line.
#[derive(Debug)]
struct SvmTrainRequest {
    parameters: Parameters,
    /// Megabytes of `-m`, if given.
    cache: Option<f64>,
    folds: Option<usize>,
    quiet: bool,
    ours: OwnOptions,
    data: OsString,
    model: PathBuf,
}

fn request(words: &[OsString]) -> Result<SvmTrainRequest, Exit> {
    let words = Arguments::new(words, USAGE);
    let (mut parameters, mut cache, mut folds, mut quiet) = (Parameters::default(), None, None, false);
    let mut ours = OwnOptions::default();
    let files = words.options("q", Some(&mut ours), |word, value| {
        match letter(word) {
            Some('s') => parameters.svm_type = atoi(value),
            Some('t') => parameters.kernel_type = atoi(value),
            Some('d') => parameters.degree = atoi(value),
            Some('g') => parameters.gamma = atof(value),
            Some('r') => parameters.coef0 = atof(value),
            Some('n') => parameters.nu = atof(value),
            Some('m') => (parameters.cache_size, cache) = (atof(value), Some(atof(value))),
            Some('c') => parameters.c = atof(value),
            Some('e') => parameters.eps = atof(value),
            Some('p') => parameters.p = atof(value),
            Some('h') => parameters.shrinking = atoi(value),
            Some('b') => parameters.probability = atoi(value),
            Some('q') => quiet = true,
            Some('v') => folds = Some(fold_count(value)?),
            Some('w') => parameters.weights.push((weighted_label(word)?, atof(value))),
            other => return Err(unknown_option("Unknown option", other)),
        }
        Ok(())
    })?;
    let (data, model) = words.training_files(files)?;
    Ok(SvmTrainRequest { parameters, cache, folds, quiet, ours, data, model })
}

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let request = request(words)?;
    let threads = request.ours.threads()?;
    let read = if request.parameters.has_classes() { data::read_classes } else { data::read };
    let data = read(&request.data, IndexBase::Auto, threads.par())?;
    let parameters = request.parameters.clone().resolved(data::greatest(&data));
    if parameters.kernel_type == 4 {
        data::check_serials(&data)?;
    }
    parameters.check(&data.labels).map_err(Exit::parameter)?;
    let run = LibsvmRun { par: threads.par(), memory: request.ours.budget(request.cache), seed: request.ours.seed };
    match request.folds {
        Some(folds) => validate(&request, data, &parameters, folds, &run),
        None => learn(&request, data, &parameters, &run),
    }
}

fn learn(request: &SvmTrainRequest, data: Dataset, parameters: &Parameters, run: &LibsvmRun) -> Result<(), Exit> {
    let unsaved = || Exit::Error(format!("can't save model to file {}", request.model.display()));
    let output = Output::open(&request.model).map_err(|_| unsaved())?;
    let problem = LibsvmProblem::new(data, parameters).map_err(Exit::parameter)?;
    let trained = train(&problem, parameters, run).map_err(Exit::parameter)?;
    warn_of_weights(&problem, parameters);
    if !request.quiet {
        print(&trained.console_text())?;
    }
    if let (true, Some(certificate)) = (request.ours.certificate, &trained.certificate) {
        print(&certified(certificate))?;
    }
    if trained.missing.is_some() && parameters.svm_type == 2 {
        print_line("WARNING: number of positive or negative decision values <5; too few to do a probability estimation.");
    }
    if trained.machines.iter().any(|machine| !machine.converged) {
        print_line("\nWARNING: the solver stopped before it reached the tolerance");
    }
    if let Some(warning) = trained.margin_warning() {
        print_line(&format!("\n{warning}"));
    }
    let written = output.write(|out| trained.learned.write(out).map_err(io::Error::other));
    Ok(written?)
}

/// Returns the line of `--certificate`: the worst certificate of the machines.
pub(super) fn certified(certificate: &CertificateReport) -> String {
    format!(
        "certificate: primal = {}, dual = {}, relative gap = {}, KKT violation = {}{}\n",
        format_g(certificate.primal, 12),
        format_g(certificate.dual, 12),
        format::known_by(format::short, certificate.relative_gap),
        format::short(certificate.kkt),
        if certificate.holds { "" } else { " (not what was requested)" }
    )
}

fn warn_of_weights(problem: &LibsvmProblem, parameters: &Parameters) {
    for label in problem.unknown_weights(parameters) {
        print_line(&format!("WARNING: class label {label} specified in weight is not found"));
    }
}

fn validate(
    request: &SvmTrainRequest,
    data: Dataset,
    parameters: &Parameters,
    folds: usize,
    run: &LibsvmRun,
) -> Result<(), Exit> {
    let problem = LibsvmProblem::new(data, parameters).map_err(Exit::parameter)?;
    let rows = problem.labels().len();
    if folds > rows {
        print_line(&format!(
            "WARNING: # folds ({folds}) > # data ({rows}). Will use # folds = # data instead (i.e., leave-one-out cross validation)"
        ));
    }
    let folds = Folds::new(rows, folds, problem.classes(), &mut Rand::default().draws());
    let validated = cross_validate(&problem, parameters, &folds, run).map_err(Exit::parameter)?;
    warn_of_weights(&problem, parameters);
    if !request.quiet {
        print(&validated.console_text(problem.classes().is_some()))?;
    }
    if let (true, Some(certificate)) =
        (request.ours.certificate, validated.report.as_ref().and_then(|report| report.certificate()))
    {
        print(&certified(&certificate))?;
    }
    print(&result(problem.labels(), &validated.predicted, matches!(parameters.svm_type, 3 | 4)))
}

/// Returns the lines about a cross-validation.
pub(super) fn result(truth: &[f64], predicted: &[f64], values: bool) -> String {
    if values {
        let (error, correlation) = squares(truth, predicted);
        return format!(
            "Cross Validation Mean squared error = {}\nCross Validation Squared correlation coefficient = {}\n",
            g(error),
            g(correlation)
        );
    }
    let correct = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
    format!("Cross Validation Accuracy = {}%\n", g(100.0 * correct as f64 / truth.len() as f64))
}

/// Formats like C's `%g`, where 0 / 0 is `-nan`.
pub(super) fn g(value: f64) -> String {
    if value.is_nan() { "-nan".to_owned() } else { format_g(value, 6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<SvmTrainRequest, Exit> {
        request(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_are_read_as_libsvm_reads_them() {
        let request = of("-s 3 -gamma 0.25 -w-1 2 -w1 3x -q -v 5 some/where/data.txt").expect("a command line");
        assert_eq!(
            (request.parameters.svm_type, request.parameters.gamma, request.folds, request.quiet),
            (3, 0.25, Some(5), true)
        );
        assert_eq!(request.parameters.weights, [(-1, 2.0), (1, 3.0)]);
        assert_eq!(request.model, PathBuf::from("data.txt.model"));
        assert_eq!(of("data m extra").expect("a command line").model, PathBuf::from("m"));
    }

    #[test]
    fn wrong_command_lines_get_the_usage() {
        let wrong = |line: &str| match of(line) {
            Err(Exit::Usage { wrong, .. }) => wrong,
            _ => panic!("{line}: no usage"),
        };
        assert_eq!(wrong(""), None);
        assert_eq!(wrong("-q"), None);
        assert_eq!(wrong("-x 1 data").as_deref(), Some("Unknown option: -x"));
        assert_eq!(wrong("- data").as_deref(), Some("Unknown option: -"));
        assert_eq!(wrong("-v 1 data").as_deref(), Some("n-fold cross validation: n must >= 2"));
        assert_eq!(wrong("--what 1 data").as_deref(), Some("Unknown option: --what"));
    }
}
