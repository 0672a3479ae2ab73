//! The command line and the Python lines that train a cell again.

use super::cell::CellDocument;
use crate::args::{DataArgs, GridArgs};
use crate::console::format;
use crate::console::name_list::{joined, names};
use crate::problem::weights::Weight;
use crate::report::Setup;
use clap::ValueEnum;
use maxmargin::Solver;
use maxmargin::core::{BiasTerm, Level, Loss};
use maxmargin::kernel::KernelKind;
use maxmargin::model::Multiclass;
use serde::Serialize;
use std::fmt::Display;
use std::path::Path;

/// How to train a cell without a search.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Reproduction {
    /// The command line; None for one gamma per feature, or without a cell.
    pub(super) train_command: Option<String>,
    /// Lines of Python; None also where its estimators lack an option.
    pub(super) python: Option<String>,
}

impl Reproduction {
    /// Describes the training of a cell. `is_numeric` is false for a table with words, and
    /// `left_out` a column of a table that is no feature.
    pub(super) fn of(args: &GridArgs, cell: &CellDocument, setup: &Setup, is_numeric: bool, left_out: Option<&str>) -> Self {
        let python = if is_numeric { python(args, cell, setup) } else { None };
        Self { train_command: Some(train_command(args, cell, setup.scale, left_out)), python }
    }
}

/// The words of a command line.
struct Words(Vec<String>);

impl Words {
    fn option(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.0.extend([name.to_owned(), format::shell(&value.to_string())]);
        }
    }

    fn flag(&mut self, name: &str, is_on: bool) {
        self.0.extend(is_on.then(|| name.to_owned()));
    }

    fn number(&mut self, name: &str, value: Option<f64>) {
        self.option(name, value.map(format::exact));
    }

    /// Adds the options of reading the data, without the column `left_out`.
    fn data(&mut self, data: &DataArgs, left_out: Option<&str>) {
        let options = &data.options;
        self.option("--rows", options.rows);
        self.option("--features", options.features);
        self.option("--seed", Some(options.seed).filter(|seed| *seed != 1));
        self.flag("--zero-based", options.zero_based);
        self.flag("--sort", options.sort);
        let table = &options.table;
        self.option("--format", table.format.as_ref().map(name));
        let delimiter = |byte: u8| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
        self.option("--delimiter", table.delimiter.map(delimiter));
        self.option("--skip-rows", table.skip_rows);
        self.option("--decimal", table.decimal.as_ref().map(name));
        self.option("--header", table.header.as_ref().map(name));
        self.option("--target", table.target.as_ref());
        self.flag("--no-target", table.no_target);
        let mut drop = names(&table.drop);
        drop.extend(left_out.filter(|name| !drop.iter().any(|dropped| dropped == name)).map(str::to_owned));
        for (option, values) in [("--drop", drop), ("--category", names(&table.category)), ("--missing", names(&table.missing))] {
            self.option(option, Some(joined(&values)).filter(|_| !values.is_empty()));
        }
    }

    /// Adds the options of the problem but C and gamma.
    fn problem(&mut self, args: &GridArgs) {
        let problem = &args.problem;
        self.option("--formulation", problem.formulation.formulation.map(|kind| kind.name));
        self.number("--epsilon", problem.formulation.epsilon);
        let levels: Vec<String> = problem.formulation.tau.iter().map(|level| format::exact(*level)).collect();
        self.option("--tau", Some(levels.join(",")).filter(|levels| !levels.is_empty()));
        self.number("--nu", problem.formulation.nu);
        for weight in &problem.weight {
            self.option("--weight", Some(weight.text()));
        }
        self.option("--weights", problem.weights.as_deref().map(Path::display));
        self.option("--classes", (problem.multiclass() == Multiclass::OneVsRest).then_some("one-vs-rest"));
        self.option("--max-machines", Some(problem.max_machines).filter(|most| *most != 10_000));
        self.option("--impute", problem.impute.map(maxmargin::data::Impute::name));
    }

    /// Adds the options of the solver and of its end.
    fn solver(&mut self, args: &GridArgs) {
        let solver = &args.solver;
        self.option("--solver", Some(solver.solver).filter(|solver| *solver != Solver::Auto).map(Solver::name));
        self.option("--loss", solver.svm_loss().map(|loss| if loss == Loss::SquaredHinge { "squared" } else { "hinge" }));
        self.flag("--no-shrinking", solver.no_shrinking);
        self.option("--equal-rows", Some(&solver.equal_rows).filter(|how| *how != "joined"));
        self.option(
            "--bias",
            solver.bias.map(|bias| match bias {
                BiasTerm::Free => "free".to_owned(),
                BiasTerm::None => "none".to_owned(),
                BiasTerm::Feature(value) => format::exact(value),
            }),
        );
        self.number("--eps", args.run.eps);
        self.number("--gap", args.run.gap);
        self.option("--max-iter", args.run.max_iter);
        self.option("--probability", args.probability.probability.map(maxmargin::cv::Probability::name));
        self.option("--threshold", args.probability.threshold.map(maxmargin::metrics::Metric::name));
        self.option("--decide", args.probability.decide.as_ref().map(name));
    }
}

/// Returns the name of a value on the command line.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns whether a kernel has a constant term.
fn has_constant(kernel: &str) -> bool {
    KernelKind::named(kernel).is_some_and(|kind| kind.has("coef0"))
}

/// Returns the command line of the training.
fn train_command(args: &GridArgs, cell: &CellDocument, scale: Option<&str>, left_out: Option<&str>) -> String {
    let mut words = Words(vec!["maxmargin".to_owned(), "train".to_owned(), format::shell(&args.data.source)]);
    words.data(&args.data, left_out);
    words.option("--scale", scale);
    words.option("--kernel", Some(cell.kernel).filter(|kernel| *kernel != "rbf"));
    words.option("-d", cell.degree);
    words.number("-c", cell.c);
    words.number("-g", cell.gamma);
    words.number("-r", Some(args.search.coef0).filter(|constant| *constant != 0.0 && has_constant(cell.kernel)));
    words.problem(args);
    words.solver(args);
    words.option("-o", args.output.as_deref().map(Path::display));
    words.0.join(" ")
}

/// Returns Python that trains the same machine of samples `X` and labels `y`; None where its
/// estimators lack an option.
fn python(args: &GridArgs, cell: &CellDocument, setup: &Setup) -> Option<String> {
    let formulation = args.problem.formulation.with_c(1.0).ok()?;
    let levels: Vec<String> = args.problem.formulation.levels().ok()?.into_iter().map(format::exact).collect();
    let lacks = args.problem.weights.is_some()
        || args.problem.impute.is_some()
        || (args.problem.multiclass() == Multiclass::OneVsRest && setup.labels().len() > 2)
        || args.solver.svm_loss() == Some(Loss::SquaredHinge)
        || args.solver.bias.is_some_and(|bias| bias != BiasTerm::Free)
        || setup.gap.is_some()
        || !args.probability.calibration_options().is_nothing();
    let class = match formulation.name() {
        "c-svc" => "SVC",
        "nu-svc" => "NuSVC",
        "epsilon-svr" => "SVR",
        "nu-svr" => "NuSVR",
        "quantile" => "QuantileSVR",
        "expectile" => "ExpectileSVR",
        "one-class" => "OneClassSVM",
        _ => return None,
    };
    let of_solver = ["auto", "smo", "irwls"].contains(&args.solver.solver.name());
    if lacks || !of_solver {
        return None;
    }
    let mut parameters = Vec::new();
    let mut number = |name: &str, value: Option<f64>| {
        parameters.extend(value.map(|value| format!("{name}={}", format::exact(value))));
    };
    number("C", cell.c);
    number("nu", formulation.nu());
    number("epsilon", formulation.epsilon());
    // The parameter of the class has the name of the formulation.
    number(formulation.name(), formulation.level().map(Level::tau).filter(|_| levels.is_empty()));
    number("gamma", cell.gamma);
    number("coef0", Some(args.search.coef0).filter(|constant| *constant != 0.0 && has_constant(cell.kernel)));
    number("tol", args.run.eps);
    parameters.extend((!levels.is_empty()).then(|| format!("{}=[{}]", formulation.name(), levels.join(", "))));
    parameters.extend(Some(cell.kernel).filter(|kernel| *kernel != "rbf").map(|kernel| format!("kernel=\"{kernel}\"")));
    parameters.extend(cell.degree.map(|degree| format!("degree={degree}")));
    parameters.extend(class_weight(&args.problem.weight));
    let estimator = format!("{class}({})", parameters.join(", "));
    let scaler = match setup.scale {
        None => return Some(format!("from maxmargin import {class}\nmodel = {estimator}.fit(X, y)")),
        Some("minmax") => ("MinMaxScaler", "(-1, 1)"),
        Some("standard") => ("StandardScaler", ""),
        Some(_) => return None,
    };
    Some(format!(
        "from maxmargin import {class}\nfrom sklearn.pipeline import make_pipeline\nfrom sklearn.preprocessing import {0}\n\
         model = make_pipeline({0}({1}), {estimator}).fit(X, y)",
        scaler.0, scaler.1
    ))
}

/// Returns the factors of C as a parameter.
fn class_weight(weights: &[Weight]) -> Option<String> {
    let one = |weight: &Weight| match weight {
        Weight::Balanced => None,
        Weight::Of { label, factor } => {
            let label = label.parse::<f64>().map_or_else(|_| format!("{label:?}"), format::exact);
            Some(format!("{label}: {}", format::exact(*factor)))
        }
    };
    match weights {
        [] => None,
        _ if weights.contains(&Weight::Balanced) => Some("class_weight=\"balanced\"".to_owned()),
        _ => Some(format!("class_weight={{{}}}", weights.iter().filter_map(one).collect::<Vec<_>>().join(", "))),
    }
}
