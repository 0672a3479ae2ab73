//! `cv` of several classes.

use super::document::{Counts, MulticlassCvDocument, cv_report};
use super::{announce, linear_svm, problem_of, solve};
use crate::args::{CvArgs, Gamma, Seeding};
use crate::cv::plan;
use crate::failure::{Done, Failure};
use crate::folds::engine_seeding;
use crate::input::Input;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::problem::{self, PreparedClasses};
use crate::progress::Bar;
use crate::report::{DataDocument, End};
use crate::solver::Solver;
use crate::threads::Threads;
use crate::{format, memory};
use maxmargin::core::{Status, Stop};
use maxmargin::cv::{
    CvConfig, CvProgress, CvWatch, FoldPlan, LinearStart, MulticlassCvReport, Order, cross_validate_linear_multiclass,
    cross_validate_multiclass,
};
use maxmargin::data::ClassLabels;
use maxmargin::data::scale::Scaler;
use maxmargin::kernel::KernelGram;
use maxmargin::{CSvcSolver, Multiclass, SvmError};
use std::borrow::Cow;
use std::time::Instant;

/// What a cross-validation works on.
struct Run<'a> {
    args: &'a CvArgs,
    solver: &'a Solver,
    input: &'a Input,
    prepared: &'a PreparedClasses,
    plan: &'a FoldPlan,
    stop: Stop,
    threads: &'a Threads,
}

/// `cv` for these problems; the outputs (predictions, folds) are open already.
#[expect(clippy::too_many_arguments, reason = "what `cv` has made so far")]
pub(crate) fn cross_validate(
    args: &CvArgs,
    solver: &Solver,
    input: &Input,
    labels: ClassLabels,
    threads: &Threads,
    begun: Instant,
    (output, folds_output): (Option<Output>, Option<Output>),
    mut notes: Notes,
) -> Result<Done, Failure> {
    let prepared = problem::prepare_classes(&args.kernel, &args.problem, input, labels, &mut notes)?;
    let seed = args.data.options.seed;
    let (plan, plan_name) = plan(&args.folds, input, seed)?;
    if let Some(output) = folds_output {
        output.write(|out| out.write_all(plan.to_text().as_bytes()))?;
    }
    announce(input, &prepared, solver, seed, threads, &mut notes);
    let stop = Stop { tol: args.run.eps, max_iter: args.run.max_iter, max_time: args.run.time_limit };
    let run = Run { args, solver, input, prepared: &prepared, plan: &plan, stop, threads };
    let bar = Bar::new(args.run.quiet);
    let watch = |progress: &CvProgress| bar.cv_tick(progress);
    let found = run.run(&watch, &mut notes);
    bar.finish();
    let (report, seeding) = found?;
    if report.status() != Status::Converged {
        let open = report.folds.iter().filter(|f| f.status != Status::Converged).count();
        let remedy = crate::advice::remedy(report.status(), &args.run);
        notes.warn(format!("{open} of {} folds have machines that did not converge; {remedy}", report.folds.len()));
    }
    let classes = prepared.labels.labels();
    let predicted: Vec<f64> = report.elected.iter().map(|&class| classes[class as usize]).collect();
    if let Some(output) = output {
        output.write(|out| {
            for (label, predicted) in input.data.labels.iter().zip(&predicted) {
                writeln!(out, "{} {}", format::exact(*label), format::exact(*predicted))?;
            }
            Ok(())
        })?;
    }
    let document = MulticlassCvDocument {
        data: DataDocument::new(&input.name, &input.data),
        kernel: prepared.document.clone(),
        solver: solver.name(),
        linear: if let Solver::Linear(linear) = solver { Some(linear.document(None)) } else { None },
        l2: if let Solver::L2(l2) = solver { Some(l2.document()) } else { None },
        c: args.problem.c,
        weights: prepared.weights.clone(),
        eps: args.run.eps,
        scale: problem::scale_name(&args.problem),
        k: plan.folds(),
        fold_plan: plan_name,
        seeding,
        seed,
        status: report.status(),
        confusion: Counts::of(classes, &input.data.labels, &predicted),
        folds: report.folds,
        pairs: report.pairs,
        accuracy: report.accuracy,
        correct: report.correct,
        iterations: report.iterations,
        total_iterations: report.total_iterations,
        rows_computed: report.rows_computed,
        read_seconds: input.seconds,
        kernel_seconds: report.kernel_seconds,
        seed_seconds: report.seed_seconds,
        solve_seconds: report.solve_seconds,
        certify_seconds: report.certify_seconds,
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else {
        print(&cv_report(&document))?;
    }
    Ok(if document.status == Status::Converged { Done::Finished } else { Done::Stopped })
}

impl Run<'_> {
    /// The report, and how folds were started.
    fn run(&self, watch: &dyn CvWatch, notes: &mut Notes) -> Result<(MulticlassCvReport, String), Failure> {
        let (seeding, scale) = (self.args.folds.seeding, self.args.problem.scale);
        let engine = matches!(self.solver, Solver::Kernel(CSvcSolver::Smo) | Solver::Linear(_));
        if scale.is_some() || !engine {
            if seeding != Seeding::Full && seeding != Seeding::Cold {
                let what = "--seeding: folds that are scaled by themselves, IRWLS and solvers on the simplex start cold";
                return Err(Failure::Usage(what.to_owned()));
            }
            if seeding == Seeding::Full && scale.is_some() {
                notes.say(
                    "the training sets of the folds are scaled by themselves: every fold has a kernel of its own and starts cold",
                );
            }
            return Ok((self.apart(watch)?, "cold".to_owned()));
        }
        let name = format!("{seeding:?}").to_lowercase();
        let (failed, seed) = (|e: &dyn std::fmt::Display| Failure::input(&self.input.name, e), self.args.data.options.seed);
        let problem = self.problem();
        if let Solver::Linear(linear) = self.solver {
            let start = match seeding {
                Seeding::Full => LinearStart::Full(None),
                Seeding::Cold => LinearStart::Cold,
                _ => return Err(Failure::Usage(crate::linear::SEEDINGS.to_owned())),
            };
            let cv = linear_svm(linear, &problem, seed).cv();
            let (samples, upper) = (&self.input.data.samples, problem.upper());
            let report = cross_validate_linear_multiclass(self.plan, problem.labels, &upper, samples, &cv, start, watch);
            return Ok((report.map_err(|e| failed(&e))?, name));
        }
        let order = Order::by_class(self.plan, problem.labels);
        let gram = KernelGram::new(&problem.samples.select(order.original()), self.prepared.kernel.clone());
        let gram = gram.map_err(|e| failed(&crate::folds::in_file_order(e, &order)))?;
        let config = CvConfig { seeding: engine_seeding(seeding), stop: self.stop };
        let upper = order.sort(&problem.upper());
        let (labels, par) = (problem.labels, self.threads.par());
        let report = cross_validate_multiclass(self.plan, labels, &order, &upper, &gram, self.memory(), &config, par, watch);
        Ok((report.map_err(|e| failed(&e))?, name))
    }

    fn problem(&self) -> Multiclass<'_> {
        let samples = &self.input.data.samples;
        problem_of(&self.args.problem, self.stop, self.input, samples, self.prepared, self.threads)
    }

    fn memory(&self) -> u64 {
        self.args.run.memory.unwrap_or_else(memory::default_budget)
    }

    /// Every fold from its training rows alone.
    fn apart(&self, watch: &dyn CvWatch) -> Result<MulticlassCvReport, Failure> {
        let data = &self.input.data.samples;
        let samples_of = |_: usize, train: &[usize]| match self.args.problem.scale {
            None => Ok(Cow::Borrowed(data)),
            Some(name) => {
                let scaler = Scaler::fit_rows(data, train.iter().copied(), problem::scale_method(name));
                scaler.apply(data).map(Cow::Owned).map_err(|e| Ended::Here(Failure::input(&self.input.name, e)))
            }
        };
        let train = |part: &Multiclass| {
            let kernel = match self.args.kernel.gamma {
                // The width follows the samples, as these follow the fold.
                Gamma::Scale => problem::kernel_of(&self.args.kernel, part.samples).map_or(self.prepared.kernel.clone(), |k| k.0),
                _ => self.prepared.kernel.clone(),
            };
            solve(self.solver, part, &kernel, self.memory(), self.args.data.options.seed, watch)
        };
        let report = self.problem().cross_validate(self.plan, samples_of, train);
        report.map_err(|ended| match ended {
            Ended::Here(failure) => failure,
            Ended::Library(error) => Failure::input(&self.input.name, error),
        })
    }
}

/// Why a fold was not trained.
enum Ended {
    Here(Failure),
    Library(SvmError),
}

impl From<SvmError> for Ended {
    fn from(error: SvmError) -> Self {
        Self::Library(error)
    }
}
