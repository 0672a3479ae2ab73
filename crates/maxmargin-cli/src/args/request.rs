//! The step from the options of the command line to requests, which know no parser of options.

use super::groups::{DataArgs, DataOptions, FoldArgs, KernelArgs, SvmArgs};
use super::values::{KernelName, ScaleName};
use crate::console::failure::Failure;
use crate::files::input::request::{DataRequest, ReadRequest};
use crate::problem::ProblemRequest;
use crate::problem::folds::FoldRequest;
use maxmargin::TrainOptions;
use maxmargin::core::Goal;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::kernel::Kernel;

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
        }
    }
}

impl FoldArgs {
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
    fn kernel(&self) -> Kernel {
        match self.kernel {
            KernelName::Linear => Kernel::Linear,
            KernelName::Rbf => Kernel::rbf(1.0),
            KernelName::Poly => Kernel::poly(1.0, self.coef0, self.degree),
            KernelName::Sigmoid => Kernel::sigmoid(1.0, self.coef0),
            KernelName::Precomputed => Kernel::Precomputed,
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
        if kernel.kernel == KernelName::Precomputed && problem.scale.is_some() {
            return Err(Failure::Usage("--scale: a precomputed kernel has no features to scale".to_owned()));
        }
        Ok(TrainOptions {
            kernel: kernel.kernel(),
            gamma: Some(kernel.gamma),
            formulation: problem.formulation.with_c(c).map_err(Failure::Usage)?,
            loss: solver.loss,
            bias_term: solver.bias,
            multiclass: problem.classes,
            scale: problem.scale.map(ScaleName::method),
            impute: problem.impute,
            solver: solver.solver,
            shrinking: !solver.no_shrinking,
            merge_equal_rows: solver.equal_rows == "joined",
            goal: Goal::of(run.eps, run.gap),
            max_iter: run.max_iter,
            seed,
            ..TrainOptions::default()
        })
    }

    /// Returns the request of a command. `c` is none for a search, which tries several.
    ///
    /// # Errors
    ///
    /// As [`SvmArgs::train_options`].
    pub(crate) fn request(&self, command: &'static str, c: Option<f64>, seed: u64) -> Result<ProblemRequest, Failure> {
        Ok(ProblemRequest {
            command,
            options: self.train_options(c.unwrap_or(1.0), seed)?,
            c,
            formulation_is_named: self.problem.formulation.formulation.is_some(),
            class_weights: self.problem.weight.clone(),
            sample_weights: self.problem.weights.clone(),
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
