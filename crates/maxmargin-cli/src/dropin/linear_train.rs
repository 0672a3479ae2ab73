//! LIBLINEAR's `train`.

use super::arguments::{
    Arguments, OwnOptions, atof, atoi, fold_count, letter, own_options_usage, unknown_option, weighted_label,
};
use super::data;
use super::exit::{Exit, print};
use super::svm_train::{certified, g, result};
use crate::console::stderr::print_line;
use crate::files::output::Output;
use maxmargin::cv::CvError;
use maxmargin::data::Dataset;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::liblinear::{
    Parameters, Training, cross_validate, end_of_search, search, start_of_search, train, widths_of_search,
};
use maxmargin::libsvm::{Classes, Folds, LibsvmRun, Rand, squares};
use maxmargin::model::ModelError;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

const USAGE: &str = concat!(
    "Usage: train [options] training_set_file [model_file]
options:
-s type          which machine (default 1)
    classes
        0  logistic regression, L2 regularisation (primal)
        1  squared hinge loss, L2 regularisation (dual)
        2  squared hinge loss, L2 regularisation (primal)
        3  hinge loss, L2 regularisation (dual)
        4  all classes at once, Crammer and Singer (dual)
        5  squared hinge loss, L1 regularisation
        6  logistic regression, L1 regularisation
        7  logistic regression, L2 regularisation (dual)
    values
       11  squared loss beyond the width, L2 regularisation (primal)
       12  squared loss beyond the width, L2 regularisation (dual)
       13  loss beyond the width, L2 regularisation (dual)
    one class
       21  one-class SVM (dual)
-c cost          C (default 1)
-p epsilon       width within which errors of values cost nothing (default 0.1)
-n nu            nu of the one-class SVM (default 0.5)
-e epsilon       tolerance: a relative gap of 1e-6 at the default of the machine, in proportion to it
                 (default 0.01 for 0, 2, 5, 6 and 21, 0.0001 for 11, 0.1 for the others)
-B bias          if bias >= 0, every sample has one more feature of this value (default -1)
-R               do not regularise the bias; needs -B 1; for 0, 2, 5, 6 and 11
-wi weight       C of class i is weight*C (default 1)
-v n             n-fold cross-validation
-C               search for C by cross-validation; for 0 and 2, and for 11 with p
-q               quiet: print nothing on the way
",
    own_options_usage!()
);

/// The parsed command line.
struct LinearTrainRequest {
    parameters: Parameters,
    folds: Option<usize>,
    search: bool,
    c_given: Option<f64>,
    p_given: Option<f64>,
    quiet: bool,
    ours: OwnOptions,
    data: OsString,
    model: PathBuf,
}

fn request(words: &[OsString]) -> Result<LinearTrainRequest, Exit> {
    let words = Arguments::new(words, USAGE);
    let (mut parameters, mut folds, mut search, mut quiet) = (Parameters::default(), None, false, false);
    let (mut c_given, mut p_given, mut s_given) = (None, None, false);
    let mut ours = OwnOptions::default();
    let files = words.options("qCR", Some(&mut ours), |word, value| {
        match letter(word) {
            Some('s') => (parameters.solver, s_given) = (atoi(value), true),
            Some('c') => (parameters.c, c_given) = (atof(value), Some(atof(value))),
            Some('p') => (parameters.p, p_given) = (atof(value), Some(atof(value))),
            Some('n') => parameters.nu = atof(value),
            Some('e') => parameters.eps = Some(atof(value)),
            Some('B') => parameters.bias = atof(value),
            Some('R') => parameters.regularised = false,
            Some('C') => search = true,
            Some('q') => quiet = true,
            Some('v') => folds = Some(fold_count(value)?),
            Some('w') => parameters.weights.push((weighted_label(word)?, atof(value))),
            other => return Err(unknown_option("unknown option", other)),
        }
        Ok(())
    })?;
    let (data, model) = words.training_files(files)?;
    if search {
        if !s_given {
            print_line("Solver not specified. Using -s 2");
            parameters.solver = 2;
        } else if !matches!(parameters.solver, 0 | 2 | 11) {
            let what = "Warm-start parameter search only available for -s 0, -s 2 and -s 11";
            return Err(words.usage(what.to_owned()));
        }
    }
    Ok(LinearTrainRequest { parameters, folds, search, c_given, p_given, quiet, ours, data, model })
}

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let request = request(words)?;
    let threads = request.ours.threads()?;
    let read = if request.parameters.has_classes() { data::read_classes } else { data::read };
    let data = read(&request.data, IndexBase::One, threads.par())?;
    request.parameters.check().map_err(Exit::parameter)?;
    let run = LibsvmRun { par: threads.par(), memory: request.ours.budget(None), seed: request.ours.seed };
    match request.folds {
        _ if request.search => search_c(&request, &data, &run),
        Some(folds) => validate(&request, data, folds, &run),
        None => learn(&request, data, &run),
    }
}

fn learn(request: &LinearTrainRequest, data: Dataset, run: &LibsvmRun) -> Result<(), Exit> {
    let unsaved = |_| Exit::Error(format!("can't save model to file {}", request.model.display()));
    let output = Output::open(&request.model).map_err(unsaved)?;
    warn_of_unknown_weights(&request.parameters, &data)?;
    let widest = data::widest(&data);
    let trained = train(data, &request.parameters, run).map_err(|error| match error {
        CvError::Model(ModelError::TooWide { .. }) => Exit::Error(data::at_row(&request.data, widest, &error)),
        _ => Exit::parameter(error),
    })?;
    if !request.quiet {
        print(&story(&trained))?;
    }
    if request.ours.certificate {
        print(&trained.machines.iter().map(|machine| certified(&machine.certificate)).collect::<String>())?;
    }
    if trained.machines.iter().any(|machine| !machine.converged) {
        print_line("\nWARNING: the solver stopped before it reached the tolerance");
    }
    Ok(output.write(|out| trained.model.write(out))?)
}

/// Warns of weights for labels that the data does not have. LIBLINEAR repeats it for every fold.
fn warn_of_unknown_weights(parameters: &Parameters, data: &Dataset) -> Result<(), Exit> {
    if parameters.has_classes() {
        let classes = Classes::new(&data.labels).map_err(Exit::parameter)?;
        for (label, _) in parameters.weights.iter().filter(|weight| !classes.labels.contains(&weight.0)) {
            print_line(&format!("WARNING: class label {label} specified in weight is not found"));
        }
    }
    Ok(())
}

/// Returns the lines that LIBLINEAR's solvers print at the end.
fn story(trained: &Training) -> String {
    let mut text = String::new();
    for machine in &trained.machines {
        let _ = writeln!(text, "*\noptimization finished, #iter = {}", machine.iterations);
        let _ = writeln!(text, "Objective value = {:.6}", machine.objective);
        if let Some(count) = machine.support_vectors {
            let _ = writeln!(text, "nSV = {count}");
        }
        if let Some(weights) = machine.nonzeros {
            let _ = writeln!(text, "#nonzeros/#features = {}/{}", weights.nonzeros, weights.all);
        }
    }
    if let Some(rho) = trained.model.rho {
        let _ = writeln!(text, "rho = {rho:.6}");
    }
    text
}

/// Returns LIBLINEAR's folds: shuffled, not stratified.
fn folds(rows: usize, count: usize) -> Folds {
    if count > rows {
        print_line("WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)");
    }
    Folds::new(rows, count, None, &mut Rand::default().draws())
}

/// Cross-validates and prints the accuracy or the errors.
fn validate(request: &LinearTrainRequest, data: Dataset, count: usize, run: &LibsvmRun) -> Result<(), Exit> {
    warn_of_unknown_weights(&request.parameters, &data)?;
    let truth = data.labels.clone();
    let predicted = cross_validate(data, &request.parameters, &folds(truth.len(), count), run).map_err(Exit::parameter)?;
    print(&result(&truth, &predicted, request.parameters.is_regression()))
}

fn search_c(request: &LinearTrainRequest, data: &Dataset, run: &LibsvmRun) -> Result<(), Exit> {
    warn_of_unknown_weights(&request.parameters, data)?;
    let (truth, count) = (data.labels.clone(), request.folds.unwrap_or(5));
    print(&format!("Doing parameter search with {count}-fold cross validation.\n"))?;
    let folds = folds(truth.len(), count);
    let values = if request.parameters.is_regression() {
        let widths = widths_of_search(&truth, request.p_given);
        widths.into_iter().map(|p| Parameters { p, ..request.parameters.clone() }).collect()
    } else {
        vec![request.parameters.clone()]
    };
    let mut best: Option<(f64, f64, f64)> = None;
    for parameters in &values {
        let start = request.c_given.unwrap_or_else(|| start_of_search(data, parameters));
        let costs = std::iter::successors(Some(start), |c| Some(2.0 * c)).take_while(|c| *c <= end_of_search(parameters));
        let costs: Vec<f64> = costs.collect();
        if costs.is_empty() {
            continue;
        }
        let found = search(data.clone(), parameters, &costs, &folds, run).map_err(Exit::parameter)?;
        let p = parameters.p;
        for (&c, predicted) in costs.iter().zip(&found) {
            // The largest score is the best: of a regression the negated error.
            let (score, said) = if parameters.is_regression() {
                let error = squares(&truth, predicted).0;
                (-error, format!("log2c={:7.2}\tp={p:7.2}\tMean squared error={}\n", c.log2(), g(error)))
            } else {
                let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
                let rate = right as f64 / truth.len() as f64;
                (rate, format!("log2c={:7.2}\trate={}\n", c.log2(), g(100.0 * rate)))
            };
            if !request.quiet {
                print(&said)?;
            }
            if best.is_none_or(|best| score > best.2) {
                best = Some((c, p, score));
            }
        }
    }
    let none = || Exit::parameter(format!("no C up to {} to try", g(end_of_search(&request.parameters))));
    let (c, p, score) = best.ok_or_else(none)?;
    print(&if request.parameters.is_regression() {
        format!("Best C = {} Best p = {}  CV MSE = {}\n", g(c), g(p), g(-score))
    } else {
        format!("Best C = {}  CV accuracy = {}%\n", g(c), g(100.0 * score))
    })
}
