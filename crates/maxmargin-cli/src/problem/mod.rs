//! From options and data to an estimator, with warnings about the data and the line that announces
//! the training.

pub(crate) mod folds;
pub(crate) mod groups;
mod labels;
mod targets;
mod updatable;
mod warnings;
pub(crate) mod weights;

use crate::console::failure::Failure;
use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::files::input::request::DataRequest;
use crate::files::input::{self, GapRule, Input, Requirements, scale_failure};
use crate::machine::memory;
use crate::machine::threads::Threads;
use crate::report::{
    DataDocument, FormulationDocument, KernelDocument, SCHEMA, SampleWeights, Setup, multiclass_text, scale_name,
};
use labels::check_labels;
pub(crate) use labels::label_failure;
use maxmargin::core::{Alternative, BiasTerm, Loss, Refused, Status, TargetKind};
use maxmargin::cv::Seeding;
use maxmargin::data::quote::quoted;
use maxmargin::data::{ClassLabels, FeatureRanges, Impute};
use maxmargin::kernel::{Gamma, Kernel};
use maxmargin::model::{ModelError, Rule};
use maxmargin::{Error, LinearObjective, PreparedData, Svm, TrainOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};
pub(crate) use targets::{BoundedSamples, cost_of_tube, warn_of_small_cost};
use warnings::{warn_of_kernel, warn_of_rare, warn_of_targets};
use weights::Weight;

/// The problem that a command asks for.
#[derive(Clone, Debug)]
pub(crate) struct ProblemRequest {
    pub(crate) command: &'static str,
    /// The options of the training, without those that need the data: weights, limits, threads.
    pub(crate) options: TrainOptions,
    /// The objective of a linear machine that is no C-SVC, whose options `options` has otherwise.
    pub(crate) objective: Option<LinearObjective>,
    /// None for a search, which tries several.
    pub(crate) c: Option<f64>,
    /// True if the formulation was named: labels that look like values are then meant as classes.
    pub(crate) formulation_is_named: bool,
    /// Factors of C for classes.
    pub(crate) class_weights: Vec<Weight>,
    /// A file with a factor of C for each row.
    pub(crate) sample_weights: Option<PathBuf>,
    /// The limit on the bytes of that file.
    pub(crate) max_size: Option<u64>,
    pub(crate) max_machines: u64,
    pub(crate) time_limit: Option<Duration>,
    /// Memory for kernel rows, in bytes; by the machine if none.
    pub(crate) memory: Option<u64>,
}

/// The start and the threads of a command.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'a> {
    /// Start of the time limit.
    pub(crate) begun: Instant,
    pub(crate) threads: &'a Threads,
}

/// A problem with its data.
pub(crate) struct PreparedProblem<'i> {
    pub(crate) svm: Svm,
    pub(crate) data: PreparedData<'i>,
    /// The classes, if the formulation has any.
    pub(crate) classes: Option<ClassLabels>,
    pub(crate) setup: Setup,
}

impl ProblemRequest {
    /// Returns the request with this start of folds.
    pub(crate) fn seeded(mut self, seeding: Seeding) -> Self {
        self.options.seeding = seeding;
        self
    }

    /// Returns the request of a model that can be updated, if `updatable` is true.
    pub(crate) fn updatable(mut self, updatable: bool) -> Self {
        self.options.keep_support_vectors = updatable;
        self
    }

    /// Refuses parts of a model or a report that linear machines beyond the duals do not have.
    ///
    /// # Errors
    ///
    /// Names the first option of `asked` that is true.
    pub(crate) fn check_objective(&self, asked: &[(bool, &str)]) -> Result<(), Failure> {
        match asked.iter().find(|asked| asked.0 && self.objective.is_some()) {
            Some((_, option)) => {
                let what = "logistic regression, --penalty l1 and --classes crammer-singer have none; leave it out";
                Err(Failure::Usage(format!("{option}: {what}")))
            }
            None => Ok(()),
        }
    }

    /// Returns the estimator of these options.
    ///
    /// # Errors
    ///
    /// If options contradict each other.
    pub(crate) fn svm(&self) -> Result<Svm, Failure> {
        let svm = Svm::from(self.options.clone());
        self.check_weights(self.options.formulation)?;
        self.check_updatable(&svm)?;
        svm.check().map_err(|error| refused(&error))?;
        Ok(svm)
    }

    /// Returns the kind of target of the formulation.
    pub(crate) fn target_kind(&self) -> TargetKind {
        self.options.formulation.target_kind()
    }

    /// Reads the data, and refuses so many classes that they need too many machines. The time limit
    /// counts from `begun`.
    pub(crate) fn load(&self, data: &DataRequest, run: RunContext<'_>, notes: &mut Notes) -> Result<Input, Failure> {
        let until = self.time_limit.map(|limit| run.begun + limit);
        let impute = self.options.impute;
        let one_class = self.target_kind() == TargetKind::Nothing;
        let wanted = Requirements { gaps: GapRule::Imputed(impute), one_class, ..Requirements::default() };
        let input = input::load_until(until, &data.source, &data.options, &wanted, run.threads.par(), notes)?;
        if let (Some(way), None) = (impute, &input.data.columns) {
            let what = "only tables have missing values, and this is LIBSVM's format; leave it out";
            return Err(Failure::Usage(format!("--impute {way}: {what}")));
        }
        let needs = self.target_kind();
        if let (TargetKind::Values, Some(target)) = (needs, input.data.columns.as_ref().and_then(|columns| columns.target()))
            && let Some(word) = target.names.first()
        {
            let (target, word) = (quoted(&target.name, 40), quoted(word, 40));
            let what = format!(
                "column {target}: the target has words, such as `{word}`, and a regression predicts numbers; pass --target"
            );
            return Err(Failure::input(&input.name, what));
        }
        if needs != TargetKind::Classes {
            return Ok(input);
        }
        input.data.columns.as_deref().into_iter().for_each(label_names::remember);
        check_labels(&input)?;
        let classes = ClassLabels::new(&input.data.labels).map_err(|e| label_failure(&input, &e))?;
        self.check_classes(&input, &classes)?;
        Ok(input)
    }

    /// Refuses labels that look like values unless the formulation is named, and more machines than
    /// `--max-machines`.
    fn check_classes(&self, input: &Input, classes: &ClassLabels) -> Result<(), Failure> {
        let (count, most) = (classes.count() as u64, self.max_machines);
        let multiclass = self.options.multiclass;
        let machines = u64::try_from(multiclass.machines(classes.count())).unwrap_or(u64::MAX);
        self.check_updatable_classes(classes)?;
        let has_words = input.data.columns.as_ref().is_some_and(|columns| !columns.labels().is_empty());
        let values = Some(classes).filter(|_| !has_words && !self.formulation_is_named);
        if let Some(why) = values.and_then(targets::as_values) {
            let other = input.likelier_target.as_ref().map(|other| format::shell(&quoted(&other.column, usize::MAX)));
            let other = other.map(|other| format!("--target {other} to predict that column, ")).unwrap_or_default();
            let column = input.data.columns.as_ref().and_then(|columns| columns.target());
            let column = column.map(|target| format!("{}: ", input::column_name(&target.name))).unwrap_or_default();
            let what = format!(
                "{column}{why} look like values to predict; as classes they need {} machines; pass {other}--formulation epsilon-svr for a regression, \
                 or --formulation c-svc for classes",
                format::count(machines),
            );
            return Err(Failure::input(&input.name, what));
        }
        if machines <= most {
            return Ok(());
        }
        let what = format!(
            "{} different labels need {} machines, {}, more than {}; pass --formulation epsilon-svr for a regression, or --max-machines {machines} \
             for classes",
            format::count(count),
            format::count(machines),
            multiclass_text(multiclass, None),
            format::count(most),
        );
        Err(Failure::input(&input.name, what))
    }

    /// Checks options and data against each other, prints warnings and the announcement, and
    /// returns the estimator.
    pub(crate) fn prepare<'i>(
        &self,
        svm: Svm,
        input: &'i Input,
        run: RunContext<'_>,
        notes: &mut Notes,
    ) -> Result<PreparedProblem<'i>, Failure> {
        let TrainOptions { kernel, gamma, scale, impute, multiclass, seed, .. } = self.options.clone();
        let gamma = gamma.unwrap_or(Gamma::Auto);
        if kernel == Kernel::Precomputed && input.data.index_base != 0 {
            let what = "no row has `0:serial`; a precomputed kernel has rows `label 0:serial 1:K(x,x1) 2:K(x,x2) …`";
            return Err(Failure::input(&input.name, what));
        }
        let needs = svm.formulation().target_kind();
        let classes = classes_of(input, needs, notes)?;
        let svm = self.weighted(svm, classes.as_ref())?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| svm.weights_of(classes)).map_err(|e| refused(&e))?;
        let data = svm.prepare(&input.data).map_err(|e| failed(input, &e))?;
        let kernel = kernel.resolved(gamma, data.samples()).map_err(|e| Failure::input(&input.name, e))?;
        let solved_by = svm.resolved_solver();
        let goal = svm.resolved_goal();
        let sample_weights = self.weights_of_samples(input)?;
        let setup = Setup {
            schema: SCHEMA,
            command: self.command,
            data: DataDocument::for_target(&input.name, &input.data, needs),
            kernel: match self.c {
                Some(_) => KernelDocument::by_rule(&kernel, gamma),
                None => KernelDocument::searched(&kernel, gamma),
            },
            formulation: FormulationDocument::new(svm.formulation(), self.c)
                .with_levels(&svm.options().levels)
                .with_objective(self.objective),
            solver: solved_by.name().to_owned(),
            multiclass: classes.as_ref().map(|classes| Rule::of(classes, multiclass).multiclass),
            weights,
            sample_weights: sample_weights.as_deref().map(SampleWeights::of),
            eps: goal.kkt(),
            gap: goal.gap(),
            scale: scale.map(scale_name),
            impute: impute.map(Impute::name),
            seed: Some(seed),
        };
        let memory = self.memory.unwrap_or_else(memory::default_budget);
        let start = Announcement { input, data: &data, classes: classes.as_ref(), setup: &setup, threads: run.threads };
        if solved_by.is_linear() {
            start.over_features(notes)?;
        } else {
            start.over_kernel(&kernel, seed, memory, notes)?;
        }
        let svm = sample_weights.into_iter().fold(svm, Svm::sample_weights);
        let left = self.time_limit.map(|limit| limit.saturating_sub(run.begun.elapsed()));
        let svm = left.into_iter().fold(svm.memory(memory).threads(run.threads.par()), Svm::max_time);
        Ok(PreparedProblem { svm, data, classes, setup })
    }
}

/// Returns the classes of the data, if the formulation has any. Warns of rare classes, and of
/// values that look like classes.
fn classes_of(input: &Input, needs: TargetKind, notes: &mut Notes) -> Result<Option<ClassLabels>, Failure> {
    match needs {
        TargetKind::Classes => {
            let classes = ClassLabels::new(&input.data.labels).map_err(|e| label_failure(input, &e))?;
            warn_of_rare(&classes, notes);
            return Ok(Some(classes));
        }
        TargetKind::Values => warn_of_targets(&input.data.labels, notes),
        TargetKind::Nothing => {}
    }
    Ok(None)
}

/// The training that is about to start, for its announcement and warnings.
struct Announcement<'a> {
    input: &'a Input,
    data: &'a PreparedData<'a>,
    classes: Option<&'a ClassLabels>,
    setup: &'a Setup,
    threads: &'a Threads,
}

impl Announcement<'_> {
    fn over_features(&self, notes: &mut Notes) -> Result<(), Failure> {
        self.warn_of_ranges(notes)?;
        let values = format::count(self.data.samples().non_zeros() as u64);
        notes.note(&format!("{}, {values} values; linear, {}", self.what(), self.threads.text()));
        Ok(())
    }

    fn over_kernel(&self, kernel: &Kernel, seed: u64, budget: u64, notes: &mut Notes) -> Result<(), Failure> {
        let entries: Vec<f64> = self.entries();
        let all = 4 * entries.iter().sum::<f64>() as u64;
        let abreast = if entries.len() > 1 { self.threads.count() as u64 } else { 1 };
        let fits = 4.0 * entries.iter().fold(0.0, |most: f64, n| most.max(*n)) <= (budget / abreast) as f64;
        if *kernel != Kernel::Precomputed {
            let ranges = self.warn_of_ranges(notes)?;
            // Equal rows have a constant kernel matrix, whatever gamma is.
            if ranges.widest.is_some() {
                self.data.diagnose(kernel, seed).iter().for_each(|found| warn_of_kernel(found, notes));
            }
        }
        let cached = if fits {
            String::new()
        } else {
            let [all, budget] = [all, budget].map(format::bytes);
            format!("; the kernel matrix ({all}) exceeds the memory budget ({budget}): rows are cached")
        };
        notes.note(&format!("{}; {}, {}{cached}", self.what(), self.setup.kernel.sentence(), self.threads.text()));
        Ok(())
    }

    /// Returns `a9a: 32,561 rows, 123 features`, and for several classes the number of machines.
    fn what(&self) -> String {
        let samples = self.data.samples();
        let (rows, features) = (samples.len() as u64, samples.features() as u64);
        let machines = match (self.entries().len(), self.classes.map(ClassLabels::count)) {
            (_, None) | (1, _) => String::new(),
            (machines, Some(count)) => format!(", {count} classes, {machines} machines"),
        };
        let (rows, features) = (format::counted(rows, "row"), format::counted(features, "feature"));
        format!("{}: {rows}, {features}{machines}", self.input.name)
    }

    /// Returns the number of kernel values of each machine.
    fn entries(&self) -> Vec<f64> {
        let samples = self.data.samples().len();
        let Some(classes) = self.classes else { return vec![(samples as f64).powi(2)] };
        let sizes = classes.sizes();
        let rows = |(earlier, later): (Option<usize>, usize)| earlier.map_or(samples, |earlier| sizes[earlier] + sizes[later]);
        let sides = self.setup.multiclass.unwrap_or_default().sides(sizes.len());
        sides.into_iter().map(|sides| (rows(sides) as f64).powi(2)).collect()
    }

    /// Warns of features that differ in scale or not at all, and returns their ranges.
    fn warn_of_ranges(&self, notes: &mut Notes) -> Result<FeatureRanges, Failure> {
        let ranges = self.data.ranges().map_err(|e| failed(self.input, &e))?;
        if let Some(warning) = ranges.warning(|feature| self.input.feature_name(feature)) {
            notes.warn(format!("{warning} (--scale minmax)"));
        }
        if ranges.widest.is_none() {
            notes.warn("all rows have the same features: no machine can tell them apart".to_owned());
        }
        Ok(ranges)
    }
}

/// Returns the usage error for options that contradict each other.
fn refused(error: &Error) -> Failure {
    match error {
        Error::Refused(refused) => Failure::Usage(refusal(refused)),
        other => Failure::Usage(other.to_string()),
    }
}

/// Returns the text of a solver's refusal, with the options of the command line.
fn refusal(refused: &Refused) -> String {
    format!("--solver {}: {}", refused.solver, refused.worded(option_of))
}

/// Returns the option that an alternative stands for.
fn option_of(alternative: &Alternative) -> String {
    match alternative {
        Alternative::LinearKernel => "--kernel linear".to_owned(),
        Alternative::LinearKernelWithoutBias => "--kernel linear with --bias none".to_owned(),
        Alternative::BiasTerm(BiasTerm::Free) => "--bias free".to_owned(),
        Alternative::BiasTerm(BiasTerm::None) => "--bias none".to_owned(),
        Alternative::BiasTerm(BiasTerm::Feature(value)) => format!("--bias {value} for one more feature"),
        Alternative::Loss(Loss::Hinge) => "--loss hinge".to_owned(),
        Alternative::Loss(Loss::SquaredHinge) => "--loss squared".to_owned(),
        Alternative::Kkt(violation) => format!("--eps {violation:e}"),
        Alternative::Solver(name) => format!("--solver {name}"),
        other => other.to_string(),
    }
}

/// Returns the failure of a training or cross-validation that could not start.
pub(crate) fn failed(input: &Input, error: &Error) -> Failure {
    match error {
        Error::Seeding { seeding, why } => Failure::Usage(format!("--seeding {}: {why}; use cold or full", seeding.name())),
        Error::Search { option, why } => Failure::Usage(format!("--{option}: {why}")),
        Error::Refused(refused) => Failure::input(&input.name, refusal(refused)),
        Error::Conformal(problem) => {
            Failure::input(&input.name, format!("conformal prediction: {}", problem.worded(label_names::display)))
        }
        Error::Scale(error) | Error::Model(ModelError::Scale(error)) => scale_failure(input, error),
        Error::Alone { label } => {
            let what = "has one row: a threshold is chosen by rows that a training did not see, and needs two of each class";
            Failure::input(&input.name, format!("class {} {what}", label_names::display(*label)))
        }
        Error::Ended(status) => {
            let interrupted = *status == Status::Interrupted;
            let what = if interrupted { "interrupted" } else { "the limit came" };
            let message = format!("{what} before any solution was certified: nothing was written");
            Failure::Ended { interrupted, message }
        }
        other => Failure::input(&input.name, other),
    }
}
