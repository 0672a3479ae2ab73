//! Runs the cross-validation engine on a prepared problem and documents what it did.

use crate::args::{KernelArgs, ProblemArgs, RunArgs, Seeding};
use crate::failure::Failure;
use crate::input::Input;
use crate::linear::{self, Linear};
use crate::notes::Notes;
use crate::output::Output;
use crate::problem::{self, Prepared};
use crate::progress::Bar;
use crate::report::{Confusion, CvDocument, DataDocument, End};
use crate::threads::Threads;
use crate::{advice, format, memory, scaled_folds};
use maxmargin::core::{Certificate, Status, Stop};
use maxmargin::cv::{self, CvConfig, CvProgress, CvReport, FoldPlan, Order, Pool};
use maxmargin::data::Samples;
use maxmargin::data::number::write_shortest;
use maxmargin::kernel::{KernelError, KernelGram, Rows};
use std::time::Instant;

/// Everything that a cross-validation needs.
pub(crate) struct Setting<'a> {
    pub(crate) input: &'a Input,
    pub(crate) prepared: &'a Prepared,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) plan_name: String,
    pub(crate) seeding: Seeding,
    pub(crate) kernel: &'a KernelArgs,
    pub(crate) problem: &'a ProblemArgs,
    /// The linear solver, where the options lead to one.
    pub(crate) linear: Option<Linear>,
    pub(crate) run: &'a RunArgs,
    pub(crate) seed: u64,
    pub(crate) threads: &'a Threads,
    pub(crate) begun: Instant,
}

/// What came out.
pub(crate) struct Run {
    pub(crate) document: CvDocument,
    /// Decision value of every row by the model that did not see it.
    pub(crate) decisions: Vec<f64>,
}

impl Setting<'_> {
    pub(crate) fn stop(&self) -> Stop {
        Stop { tol: self.run.eps, max_iter: self.run.max_iter, max_time: self.run.time_limit }
    }

    pub(crate) fn budget(&self) -> u64 {
        self.run.memory.unwrap_or_else(memory::default_budget)
    }

    pub(crate) fn failure(&self, error: impl std::fmt::Display) -> Failure {
        Failure::input(&self.input.name, error)
    }
}

/// Cross-validates; a scaling is fitted to the training rows of each fold.
pub(crate) fn cross_validate(setting: &Setting, notes: &mut Notes) -> Result<Run, Failure> {
    let bar = Bar::new(setting.run.quiet);
    let report = match (&setting.linear, setting.problem.scale) {
        (Some(linear), _) => linear::cross_validate(setting, linear, &bar, notes),
        (None, Some(name)) => scaled_folds::run(setting, name, &bar, notes),
        (None, None) => shared_kernel(setting, &setting.input.data.samples, &bar, notes),
    };
    bar.finish();
    let report = report?;
    if report.status() != Status::Converged {
        warn(&report, setting.run, notes);
    }
    let decisions = report.decisions.clone();
    Ok(Run { document: document(setting, report, notes), decisions })
}

/// One kernel for all folds: `samples` in the order of the data, scaled already.
pub(crate) fn shared_kernel(setting: &Setting, samples: &Samples, bar: &Bar, notes: &mut Notes) -> Result<CvReport, Failure> {
    let Setting { input, prepared, plan, threads, .. } = setting;
    let order = Order::new(plan, &prepared.labels.signs);
    let sorted = samples.select(order.original());
    let gram = KernelGram::new(&sorted, prepared.kernel.clone()).map_err(|e| setting.failure(in_file_order(e, &order)))?;
    problem::warn_of_scale(&sorted, &prepared.kernel, &gram, input.data.index_base, setting.seed, notes);
    notes.say(&problem::start_line(input, prepared, &gram, setting.budget(), threads));
    let rows = Rows::new(&gram, setting.budget(), threads.par());
    let pool = Pool { labels: order.sort(&prepared.labels.signs), upper: order.sort(&prepared.upper) };
    let config = CvConfig { seeding: engine_seeding(setting.seeding), stop: setting.stop() };
    let watch = |progress: &CvProgress| bar.cv_tick(progress);
    cv::cross_validate(&order, &pool, &rows, &config, threads.par(), &watch).map_err(|e| setting.failure(e))
}

/// The same error with the row's number in the file.
pub(crate) fn in_file_order(error: KernelError, order: &Order) -> KernelError {
    let original = |row: usize| order.original().get(row.wrapping_sub(1)).map_or(row, |i| i + 1);
    match error {
        KernelError::Precomputed { row, reason } => KernelError::Precomputed { row: original(row), reason },
        KernelError::TooLarge { row, value } => KernelError::TooLarge { row: original(row), value },
        other => other,
    }
}

pub(crate) fn engine_seeding(name: Seeding) -> cv::Seeding {
    match name {
        Seeding::Cold => cv::Seeding::Cold,
        Seeding::Avg => cv::Seeding::Avg,
        Seeding::Top => cv::Seeding::Top,
        Seeding::Sir => cv::Seeding::Sir,
        Seeding::Mir => cv::Seeding::Mir,
        Seeding::Ato => cv::Seeding::Ato,
        Seeding::Dec => cv::Seeding::Dec,
        Seeding::Full => cv::Seeding::Full,
    }
}

/// Says how many folds fell short, how far the worst is off, and what to do.
fn warn(report: &CvReport, run: &RunArgs, notes: &mut Notes) {
    let open = report.folds.iter().filter(|f| f.status != Status::Converged).count();
    let worst = report.folds.iter().max_by(|a, b| a.certificate.kkt.total_cmp(&b.certificate.kkt));
    if let Some(worst) = worst {
        let c = worst.certificate;
        let certificate = Certificate { primal: c.primal, dual: c.dual, kkt: c.kkt, infeasible: 0.0 };
        let what = advice::unfinished(report.status(), &certificate, run);
        notes.warn(format!("{open} of {} folds did not converge; the worst (fold {}): {what}", report.folds.len(), worst.fold));
    }
}

fn document(setting: &Setting, report: CvReport, notes: &Notes) -> CvDocument {
    let Setting { input, prepared, .. } = setting;
    let (seed_seconds, solve_seconds) = CvDocument::split(&report);
    let (negative, positive) = (prepared.labels.negative, prepared.labels.positive);
    CvDocument {
        data: DataDocument::new(&input.name, &input.data),
        kernel: prepared.document.clone(),
        c: setting.problem.c,
        linear: setting.linear.map(|l| l.document(None)),
        weights: prepared.weights,
        eps: setting.run.eps,
        scale: problem::scale_name(setting.problem),
        k: setting.plan.folds(),
        fold_plan: setting.plan_name.clone(),
        seeding: format!("{:?}", setting.seeding).to_lowercase(),
        seed: setting.seed,
        status: report.status(),
        confusion: Confusion::count(&input.data.labels, &report.decisions, negative, positive),
        folds: report.folds,
        full: report.full,
        accuracy: report.accuracy,
        correct: report.correct,
        iterations: report.iterations,
        seed_steps: report.seed_steps,
        total_iterations: report.total_iterations,
        rows_computed: report.rows_computed,
        kernel_bytes: report.kernel_bytes,
        read_seconds: input.seconds,
        kernel_seconds: report.kernel_seconds,
        seed_seconds,
        solve_seconds,
        certify_seconds: report.certify_seconds,
        total_seconds: setting.begun.elapsed().as_secs_f64(),
        end: End::now(setting.threads, notes),
    }
}

/// `label predicted decision`, one line per row in the order of the data.
pub(crate) fn write_decisions(setting: &Setting, output: Output, decisions: &[f64]) -> Result<(), Failure> {
    let labels = &setting.prepared.labels;
    output.write(|out| {
        for (label, &decision) in setting.input.data.labels.iter().zip(decisions) {
            let [label, predicted] = [*label, labels.label(decision)].map(format::exact);
            write!(out, "{label} {predicted} ")?;
            write_shortest(&mut &mut *out, decision)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}
