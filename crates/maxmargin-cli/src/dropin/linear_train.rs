//! LIBLINEAR's `train`.

use super::data;
use super::ended::{Ended, print};
use super::svm_train::{certified, g, result};
use super::words::{Ours, Words, atof, atoi, letter, ours, weighted_label};
use crate::notes::tell;
use crate::output::Output;
use maxmargin::cv::CvError;
use maxmargin::data::Dataset;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::liblinear::{
    Parameters, Training, cross_validate, end_of_search, search, start_of_search, train, widths_of_search,
};
use maxmargin::libsvm::{Classes, Folds, Rand, Run, squares};
use maxmargin::model::ModelError;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

const USAGE: &str = concat!(
    "Usage: train [options] training_set_file [model_file]
options:
-s type          which machine (default 1)
    classes
        1  squared hinge loss, L2 regularisation (dual)
        2  squared hinge loss, L2 regularisation (primal)
        3  hinge loss, L2 regularisation (dual)
    values
       11  squared loss beyond the width, L2 regularisation (primal)
       12  squared loss beyond the width, L2 regularisation (dual)
       13  loss beyond the width, L2 regularisation (dual)
    one class
       21  one-class SVM (dual)
    0, 4, 5, 6 and 7 (logistic regression, Crammer and Singer, L1 regularisation) are not solved here
-c cost          C (default 1)
-p epsilon       width within which errors of values cost nothing (default 0.1)
-n nu            nu of the one-class SVM (default 0.5)
-e epsilon       tolerance: a relative gap of 1e-6 at the default of the machine, in proportion below it
                 (default 0.01 for 2 and 21, 0.0001 for 11, 0.1 for the others)
-B bias          if bias >= 0, every sample has one more feature of this value (default -1)
-R               do not regularise the bias; needs -B 1; for 2 and 11
-wi weight       C of class i is weight*C (default 1)
-v n             n-fold cross-validation
-C               search for C by cross-validation; for 2, and for 11 with p
-q               quiet: print nothing on the way
",
    ours!()
);

/// What the command line asks for.
struct Asked {
    parameters: Parameters,
    folds: Option<usize>,
    search: bool,
    c_given: Option<f64>,
    p_given: Option<f64>,
    quiet: bool,
    ours: Ours,
    data: OsString,
    model: PathBuf,
}

fn asked(words: &[OsString]) -> Result<Asked, Ended> {
    let words = Words::new(words, USAGE);
    let (mut parameters, mut folds, mut search, mut quiet) = (Parameters::default(), None, false, false);
    let (mut c_given, mut p_given, mut s_given) = (None, None, false);
    let mut ours = Ours::default();
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
            Some('v') => {
                let count = atoi(value);
                if count < 2 {
                    return Err("n-fold cross validation: n must >= 2".to_owned());
                }
                folds = Some(count as usize);
            }
            Some('w') => parameters.weights.push((weighted_label(word)?, atof(value))),
            other => return Err(format!("unknown option: -{}", other.map_or_else(String::new, String::from))),
        }
        Ok(())
    })?;
    let (data, model) = match files {
        [] => return Err(words.usage(None)),
        [data] => (data.clone(), data::default_model(data)),
        [data, model, ..] => (data.clone(), PathBuf::from(model)),
    };
    if search {
        if !s_given {
            tell("Solver not specified. Using -s 2");
            parameters.solver = 2;
        } else if !matches!(parameters.solver, 0 | 2 | 11) {
            let what = "Warm-start parameter search only available for -s 0, -s 2 and -s 11";
            return Err(words.usage(what.to_owned()));
        }
    }
    Ok(Asked { parameters, folds, search, c_given, p_given, quiet, ours, data, model })
}

pub(super) fn run(words: &[OsString]) -> Result<(), Ended> {
    let asked = asked(words)?;
    let threads = asked.ours.threads()?;
    let read = if asked.parameters.has_classes() { data::read_classes } else { data::read };
    let data = read(&asked.data, IndexBase::One, threads.par())?;
    asked.parameters.check().map_err(Ended::parameter)?;
    let run = Run { par: threads.par(), memory: asked.ours.budget(None), seed: asked.ours.seed };
    match asked.folds {
        _ if asked.search => search_c(&asked, &data, &run),
        Some(folds) => validate(&asked, data, folds, &run),
        None => learn(&asked, data, &run),
    }
}

fn learn(asked: &Asked, data: Dataset, run: &Run) -> Result<(), Ended> {
    let unsaved = |_| Ended::Error(format!("can't save model to file {}", asked.model.display()));
    let output = Output::open(&asked.model).map_err(unsaved)?;
    if asked.parameters.has_classes() {
        let classes = Classes::new(&data.labels).map_err(Ended::parameter)?;
        for (label, _) in asked.parameters.weights.iter().filter(|weight| !classes.labels.contains(&weight.0)) {
            tell(&format!("WARNING: class label {label} specified in weight is not found"));
        }
    }
    let widest = data::widest(&data);
    let trained = train(data, &asked.parameters, run).map_err(|error| match error {
        CvError::Model(ModelError::TooWide { .. }) => Ended::Error(data::at_row(&asked.data, widest, &error)),
        _ => Ended::parameter(error),
    })?;
    if !asked.quiet {
        print(&story(&trained))?;
    }
    if let (true, Some(certificate)) = (asked.ours.certificate, &trained.certificate) {
        print(&certified(certificate))?;
    }
    if trained.machines.iter().any(|machine| !machine.converged) {
        tell("\nWARNING: the solver stopped before it reached the tolerance");
    }
    Ok(output.write(|out| trained.model.write(out))?)
}

/// What LIBLINEAR's dual solvers say on their way, once it is known.
fn story(trained: &Training) -> String {
    let mut text = String::new();
    for machine in &trained.machines {
        let _ = writeln!(text, "*\noptimization finished, #iter = {}", machine.iterations);
        let _ = writeln!(text, "Objective value = {:.6}\nnSV = {}", machine.objective, machine.support_vectors);
    }
    if let Some(rho) = trained.model.rho {
        let _ = writeln!(text, "rho = {rho:.6}");
    }
    text
}

/// LIBLINEAR's folds: shuffled, whatever the classes.
fn folds(rows: usize, count: usize) -> Folds {
    if count > rows {
        tell("WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)");
    }
    Folds::new(rows, count, None, &mut Rand::default().draws())
}

/// Labels as classes are compared.
fn validate(asked: &Asked, data: Dataset, count: usize, run: &Run) -> Result<(), Ended> {
    let truth = data.labels.clone();
    let predicted = cross_validate(data, &asked.parameters, &folds(truth.len(), count), run).map_err(Ended::parameter)?;
    print(&result(&truth, &predicted, asked.parameters.is_regression()))
}

fn search_c(asked: &Asked, data: &Dataset, run: &Run) -> Result<(), Ended> {
    let (truth, count) = (data.labels.clone(), asked.folds.unwrap_or(5));
    print(&format!("Doing parameter search with {count}-fold cross validation.\n"))?;
    let folds = folds(truth.len(), count);
    let values = if asked.parameters.is_regression() {
        let widths = widths_of_search(&truth, asked.p_given);
        widths.into_iter().map(|p| Parameters { p, ..asked.parameters.clone() }).collect()
    } else {
        vec![asked.parameters.clone()]
    };
    let mut best: Option<(f64, f64, f64)> = None;
    for parameters in &values {
        let start = asked.c_given.unwrap_or_else(|| start_of_search(data, parameters));
        let costs = std::iter::successors(Some(start), |c| Some(2.0 * c)).take_while(|c| *c <= end_of_search(parameters));
        let costs: Vec<f64> = costs.collect();
        if costs.is_empty() {
            continue;
        }
        let found = search(data.clone(), parameters, &costs, &folds, run).map_err(Ended::parameter)?;
        let p = parameters.p;
        for (&c, predicted) in costs.iter().zip(&found) {
            // What is best is greatest: of values the error with its sign turned.
            let (score, said) = if parameters.is_regression() {
                let error = squares(&truth, predicted).0;
                (-error, format!("log2c={:7.2}\tp={p:7.2}\tMean squared error={}\n", c.log2(), g(error)))
            } else {
                let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
                let rate = right as f64 / truth.len() as f64;
                (rate, format!("log2c={:7.2}\trate={}\n", c.log2(), g(100.0 * rate)))
            };
            if !asked.quiet {
                print(&said)?;
            }
            if best.is_none_or(|best| score > best.2) {
                best = Some((c, p, score));
            }
        }
    }
    let none = || Ended::parameter(format!("no C up to {} to try", g(end_of_search(&asked.parameters))));
    let (c, p, score) = best.ok_or_else(none)?;
    print(&if asked.parameters.is_regression() {
        format!("Best C = {} Best p = {}  CV MSE = {}\n", g(c), g(p), g(-score))
    } else {
        format!("Best C = {}  CV accuracy = {}%\n", g(c), g(100.0 * score))
    })
}
