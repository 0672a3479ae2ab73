//! The step from the options of the command line to requests, which know no parser of options.

use super::groups::{DataArgs, DataOptions, FoldArgs, KernelArgs, ProblemArgs, SolverArgs, SvmArgs};
use super::objective::objective;
use super::values::{LossName, ScaleName, SchemeName};
use crate::console::failure::Failure;
use crate::files::input::request::{DataRequest, ReadRequest};
use crate::problem::ProblemRequest;
use crate::problem::folds::{FoldRequest, Folds};
use maxmargin::core::{BiasTerm, Goal, Loss};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::kernel::Kernel;
use maxmargin::model::Multiclass;
use maxmargin::{LinearObjective, Solver, TrainOptions};

impl DataArgs {
    pub(crate) fn request(&self) -> DataRequest {
        DataRequest { source: self.source.clone(), options: self.options.request() }
    }
}

impl DataOptions {
    pub(crate) fn request(&self) -> ReadRequest {
        ReadRequest {
            rows: self.rows,
            features: self.features,
            seed: self.seed,
            zero_based: self.zero_based,
            sort: self.sort,
            max_size: self.max_size,
            cache: self.cache.clone(),
            table: self.table.request(),
            content: None,
        }
    }
}

impl FoldArgs {
    /// Returns the file or column that the groups of the folds are read from.
    pub(crate) fn source_of_groups(&self) -> Option<&str> {
        self.folds.as_ref().and_then(Folds::source_of_groups)
    }

    /// Returns the folds for data that is read with these options.
    pub(crate) fn request(&self, data: &DataOptions) -> FoldRequest {
        FoldRequest {
            k: self.k,
            loo: self.loo,
            folds: self.folds.clone(),
            fold_gap: self.fold_gap,
            window: self.window,
            repeat: self.repeat,
            seed: data.seed,
            max_size: data.max_size,
        }
    }
}

impl ScaleName {
    /// Returns the scaling method.
    pub(crate) fn method(self) -> ScaleMethod {
        match self {
            Self::Minmax => ScaleMethod::MinMax { lower: -1.0, upper: 1.0 },
            Self::Standard => ScaleMethod::Standard,
        }
    }
}

impl KernelArgs {
    /// Returns the kernel. The rule of its width is applied once there is data.
    pub(super) fn kernel(&self) -> Kernel {
        self.kernel.kernel(1.0, self.coef0, self.degree)
    }
}

impl ProblemArgs {
    /// Returns the multiclass scheme of the decisions.
    pub(crate) fn multiclass(&self) -> Multiclass {
        match self.classes {
            SchemeName::Machines(multiclass) => multiclass,
            SchemeName::CrammerSinger => Multiclass::OneVsRest,
        }
    }
}

impl SolverArgs {
    /// Returns the loss, if it is one of support vector machines.
    pub(crate) fn svm_loss(&self) -> Option<Loss> {
        match self.loss {
            Some(LossName::Svm(loss)) => Some(loss),
            _ => None,
        }
    }
}

impl SvmArgs {
    /// Returns the options of a training with this C.
    ///
    /// # Errors
    ///
    /// If an option is for another formulation or another kernel.
    pub(crate) fn train_options(&self, c: f64, seed: u64) -> Result<TrainOptions, Failure> {
        let Self { kernel, problem, solver, run } = self;
        if kernel.kernel() == Kernel::Precomputed && problem.scale.is_some() {
            return Err(Failure::Usage("--scale: a precomputed kernel has no features to scale".to_owned()));
        }
        let options = TrainOptions {
            kernel: kernel.kernel(),
            gamma: Some(kernel.gamma),
            formulation: problem.formulation.with_c(c).map_err(Failure::Usage)?,
            levels: problem.formulation.levels().map_err(Failure::Usage)?,
            loss: solver.svm_loss(),
            bias_term: solver.bias,
            multiclass: problem.multiclass(),
            scale: problem.scale.map(ScaleName::method),
            impute: problem.impute,
            solver: solver.solver,
            shrinking: !solver.no_shrinking,
            merge_equal_rows: solver.equal_rows == "joined",
            goal: Goal::of(run.eps, run.gap),
            max_iter: run.max_iter,
            seed,
            ..TrainOptions::default()
        };
        let Some(objective) = objective(self).map_err(Failure::Usage)? else { return Ok(options) };
        let usual = if objective == LinearObjective::CrammerSinger { BiasTerm::None } else { BiasTerm::Free };
        // The options of a C-SVC over features, whose objective is another.
        Ok(TrainOptions {
            loss: Some(Loss::Hinge),
            bias_term: Some(solver.bias.unwrap_or(usual)),
            multiclass: Multiclass::OneVsRest,
            solver: Solver::Linear,
            ..options
        })
    }

    /// Returns the request of a command on data that is read with these options. `c` is none for a
    /// search, which tries several.
    ///
    /// # Errors
    ///
    /// As [`SvmArgs::train_options`].
    pub(crate) fn request(&self, command: &'static str, c: Option<f64>, data: &DataOptions) -> Result<ProblemRequest, Failure> {
        let options = self.train_options(c.unwrap_or(1.0), data.seed)?;
        let objective = objective(self).map_err(Failure::Usage)?;
        if objective.is_some() && (c.is_none() || command == "loo") {
            let what = "logistic regression, --penalty l1 and --classes crammer-singer are for train and cv; try cv for each C";
            return Err(Failure::Usage(format!("{command}: {what}")));
        }
        Ok(ProblemRequest {
            command,
            options,
            objective,
            c,
            formulation_is_named: self.problem.formulation.formulation.is_some(),
            class_weights: self.problem.weight.clone(),
            sample_weights: self.problem.weights.clone(),
            max_size: data.max_size,
            max_machines: self.problem.max_machines,
            time_limit: self.run.time_limit,
            memory: self.run.memory,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use clap::{CommandFactory, Parser};
    use maxmargin::TrainOptions;
    use maxmargin::kernel::Gamma;
    use std::collections::{BTreeMap, BTreeSet};

    /// Without options, a training has the defaults of the library, but for the kernel.
    #[test]
    fn options_have_the_defaults_of_the_library() {
        let cli = Cli::try_parse_from(["maxmargin", "train", "data"]).expect("no option is required");
        let Command::Train(args) = cli.command else { panic!("another command") };
        let options = args.svm.train_options(args.cost.c, args.data.options.seed).expect("valid options");
        assert_eq!((options.kernel.name(), options.gamma), ("rbf", Some(Gamma::Auto)));
        let library = TrainOptions::default();
        let other = TrainOptions { kernel: library.kernel.clone(), gamma: None, ..options };
        assert_eq!(format!("{other:?}"), format!("{library:?}"));
        let cli = Cli::try_parse_from(["maxmargin", "cv", "data"]).expect("no option is required");
        let Command::Cv(args) = cli.command else { panic!("another command") };
        assert_eq!(args.folds.seeding.seeding, library.seeding);
    }

    /// Returns the documentation of each field of [`TrainOptions`], from its source.
    fn field_documentation() -> BTreeMap<String, String> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../maxmargin-cv/src/study/options.rs");
        let source = std::fs::read_to_string(path).expect("the source of the options");
        let (_, rest) = source.split_once("pub struct TrainOptions {").expect("the options");
        let (fields, _) = rest.split_once("\n}\n").expect("their end");
        let (mut found, mut text) = (BTreeMap::new(), String::new());
        for line in fields.lines().map(str::trim) {
            if let Some(more) = line.strip_prefix("///") {
                text.push_str(more);
            } else if let Some((name, _)) = line.strip_prefix("pub ").and_then(|field| field.split_once(':')) {
                found.insert(name.to_owned(), std::mem::take(&mut text).to_lowercase());
            }
        }
        found
    }

    /// An option has the words of the library's field in the help, and every field has an option.
    #[test]
    fn help_has_the_words_of_the_library() {
        let fields = field_documentation();
        let mut command = Cli::command();
        command.build();
        let mut compared = BTreeSet::new();
        for (field, subcommand, option, words) in [
            ("kernel", "train", "kernel", "kernel function"),
            ("gamma", "train", "gamma", "width"),
            ("formulation", "train", "formulation", "formulation"),
            ("loss", "train", "loss", "loss"),
            ("bias_term", "train", "bias", "bias"),
            ("weights", "train", "weight", "factor of c for one class"),
            ("class_weights", "train", "weight", "each training set"),
            ("sample_weights", "train", "weights", "factor of c for each sample"),
            ("multiclass", "train", "classes", "multiclass scheme"),
            ("scale", "train", "scale", "the features"),
            ("impute", "train", "impute", "missing"),
            ("solver", "train", "solver", "solver"),
            ("keep_support_vectors", "train", "updatable", "add and remove samples"),
            ("shrinking", "train", "no_shrinking", "shrinking"),
            ("merge_equal_rows", "train", "equal_rows", "one variable"),
            ("goal", "train", "eps", "kkt violation"),
            ("max_iter", "train", "max_iter", "iterations of one training"),
            ("max_time", "train", "time_limit", "after this long"),
            ("memory", "train", "memory", "budget for kernel values"),
            ("par", "train", "threads", "threads"),
            ("seeding", "cv", "seeding", "start"),
            ("seed", "train", "seed", "seed of"),
            ("calibration", "train", "probability", "probabilities"),
            ("conformal", "train", "conformal", "intervals"),
            ("levels", "train", "tau", "several"),
        ] {
            let arguments = command.find_subcommand(subcommand).expect("a command").get_arguments();
            let help = arguments.filter(|argument| argument.get_id() == option).filter_map(|argument| argument.get_help());
            let help = help.last().unwrap_or_else(|| panic!("--{option} has help")).to_string().to_lowercase();
            let documented = fields.get(field).unwrap_or_else(|| panic!("there is no field {field}"));
            for text in [&help, documented] {
                assert!(text.contains(words), "{field}: `{words}` is not in `{text}`");
            }
            compared.insert(field);
        }
        // Feature weights are for the library's callers; decision values are kept where a file
        // needs them.
        let others: Vec<&String> = fields.keys().filter(|field| !compared.contains(field.as_str())).collect();
        assert_eq!(others, ["feature_weights", "keep_decisions"]);
    }

    /// A default that the help names is the library's default.
    #[test]
    fn help_names_the_defaults_of_the_library() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("cv").expect("a command").render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let library = TrainOptions::default();
        let c = library.formulation.c().expect("C-SVC");
        let eps = library.resolved_goal().kkt().expect("a KKT violation");
        for says in [
            format!("nu-svc and one-class have none [default: {c}]"),
            format!("[default without --gap: {eps};"),
            format!("[default: {}]", library.solver.name()),
            format!("[default: {}]", library.seeding.name()),
            format!("shuffled folds [default: {}]", library.seed),
        ] {
            assert!(help.contains(&says), "{says}: {help}");
        }
    }
}
