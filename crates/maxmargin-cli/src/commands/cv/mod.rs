//! `cv`: k-fold cross-validation with a certificate for every fold, also used by `loo`.

mod document;
mod importance;
mod page;

use super::suspects::SuspectsDocument;
use crate::args::{CvArgs, RunArgs, SuspectArgs};
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::label_names;
use crate::console::name_list::names;
use crate::console::notes::Notes;
use crate::console::progress::{Bar, Phase};
use crate::files::input::Input;
use crate::files::input::request::DataRequest;
use crate::files::output::{Output, show};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::threads::{self, Threads};
use crate::problem::folds::{LEAVE_ONE_OUT, folds_file, plan, write_folds};
use crate::problem::groups::{training_groups, with_groups};
use crate::problem::{BoundedSamples, PreparedProblem, ProblemRequest, RunContext, cost_of_tube, failed, warn_of_small_cost};
use crate::report::advice;
use crate::report::missing_classes::warn_of_report;
use crate::report::{
    CvResults, End, Seconds, cost_text, coverage_text, data_line, fields, kernel_rows, setup_line, warn_of_conformal, work_text,
};
use document::{CvDocument, folds_text};
use importance::ImportanceDocument;
use maxmargin::core::{Status, TargetKind};
use maxmargin::cv::{ConformalOptions, CvReport, FoldPlan, FoldReport, Importance, ImportanceOptions};
use maxmargin::data::RunControl;
use maxmargin::data::number::write_shortest;
use maxmargin::{Error, LinearObjective, PreparedData, Svm, cross_validate_linear};
use std::path::Path;
use std::time::Instant;

/// The files that a cross-validation writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CvFiles<'a> {
    /// Predictions and decision values.
    pub(crate) decisions: Option<&'a Path>,
    /// The rows by the margin of their label.
    pub(crate) suspects: Option<&'a Path>,
    /// The page.
    pub(crate) report: Option<&'a Path>,
}

impl CvFiles<'_> {
    /// Returns whether a file is made of decision values.
    fn read_decisions(self) -> bool {
        self.decisions.is_some() || self.suspects.is_some() || self.report.is_some()
    }
}

/// The folds of a cross-validation.
pub(crate) struct NamedPlan {
    pub(crate) plan: FoldPlan,
    pub(crate) name: String,
    /// The conformal predictions whose coverage is reported.
    pub(crate) conformal: Option<ConformalOptions>,
    /// The permutations of each column whose importance is reported.
    pub(crate) importance: Option<ImportanceOptions>,
}

pub(crate) fn run(args: &CvArgs) -> Result<Outcome, Failure> {
    let seeding = args.folds.seeding.seeding;
    let request = args.svm.request("cv", Some(args.cost.c), &args.data.options)?.seeded(seeding);
    let folds = args.folds.request(&args.data.options);
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads(folds_file(args.folds.folds.as_ref()));
    paths.reads([&args.data.source]);
    let groups = args.conformal.conformal_groups.as_deref();
    paths.reads(args.svm.problem.weights.as_deref());
    paths.reads(groups);
    let folds_output = args.folds.write_folds.as_deref().map(|path| paths.output(path, Content::Text)).transpose()?;
    let suspects = args.suspects.suspects.as_deref();
    let files = CvFiles { decisions: args.output.as_deref(), suspects, report: args.report.as_deref() };
    let data = with_groups(with_columns(args.data.request(), &args.suspects), [args.folds.source_of_groups(), groups]);
    validate(&request, &args.svm.run, &data, paths, files, |input, notes| {
        let (plan, name) = plan(&folds, request.target_kind(), input, notes)?;
        write_folds(folds_output, &plan)?;
        let groups = training_groups(groups, args.data.options.max_size, input)?;
        let conformal = args.conformal.request(&name, groups);
        let seed = args.data.options.seed;
        let of = |repeats: u64| ImportanceOptions { repeats: repeats as usize, seed, ..ImportanceOptions::default() };
        Ok(NamedPlan { plan, name, conformal, importance: args.importance.map(of) })
    })
}

/// Returns the request with the columns that are copied to the list of doubtful labels.
pub(crate) fn with_columns(mut data: DataRequest, suspects: &SuspectArgs) -> DataRequest {
    data.options.table.keep = names(&suspects.id);
    data
}

/// Cross-validates by a plan that is made from the data, and writes the requested files.
pub(crate) fn validate(
    request: &ProblemRequest,
    run: &RunArgs,
    data: &DataRequest,
    mut paths: OutputPaths,
    files: CvFiles<'_>,
    plan: impl FnOnce(&Input, &mut Notes) -> Result<NamedPlan, Failure>,
) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(run.quiet);
    check_files(request, run, files)?;
    let svm = request.svm()?;
    let mut open = |path: Option<&Path>| path.map(|path| paths.output(path, Content::Text)).transpose();
    let (output, page, suspects_output) = (open(files.decisions)?, open(files.report)?, open(files.suspects)?);
    let threads = Threads::new(run.threads)?;
    let context = RunContext { begun, threads: &threads };
    let input = request.load(data, context, &mut notes)?;
    let NamedPlan { plan, name: fold_plan, conformal, importance } = plan(&input, &mut notes)?;
    let PreparedProblem { svm, data, setup, .. } = request.prepare(svm, &input, context, &mut notes)?;
    request.check_objective(&[(conformal.is_some(), "--conformal"), (importance.is_some(), "--importance")])?;
    // Labels and scores alone need no table of all decision values.
    let svm = svm.keep_decisions(files.read_decisions() || conformal.is_some() || importance.is_some());
    let checked = conformal.iter().try_for_each(|options| svm.check_conformal(&data, options, &plan));
    let reports = checked.and_then(|()| {
        let bar = Bar::new(run.quiet);
        cross_validate(request.objective, &svm, &data, &plan, importance.as_ref(), &bar.control())
    });
    let (report, importance) = reports.map_err(|e| failed(&input, &e))?;
    tell_of_cold_starts(request.options.seeding.name(), report.seeding, &notes);
    warn(&report, &svm, run, &mut notes);
    warn_of_cost(&svm, &input.data.labels, &report, &mut notes);
    warn_of_report(report.folds.iter(), &report.missing_classes(), setup.labels().len(), &mut notes);
    if let Some(output) = output {
        let _writing = Phase::new(run.quiet, format!("writing {}", output.name()));
        write_decisions(&input.data.labels, &report, output)?;
    }
    let suspects = match (suspects_output, files.suspects) {
        (Some(output), Some(path)) => Some(SuspectsDocument::write(&input, svm.options().multiclass, &report, path, output)?),
        _ => None,
    };
    let conformal = conformal.map_or(Ok(None), |options| svm.conformal_coverage(&data, &options, &plan, &report));
    let conformal = conformal.map_err(|e| failed(&input, &e))?;
    let found = CvResults::new(&report, &input.data.labels, &setup, run.detail());
    warn_of_conformal(None, conformal.as_ref(), &mut notes);
    let document = CvDocument {
        setup,
        k: plan.folds(),
        fold_plan,
        found,
        suspects,
        conformal,
        importance: importance.map(|found| ImportanceDocument::new(&input, found)),
        seconds: Seconds { read: input.seconds, total: begun.elapsed().as_secs_f64(), ..CvResults::seconds(&report) },
        end: End::now(&threads, &mut notes),
    };
    if let Some(page) = page {
        page.write(|out| out.write_all(page::html(&document, &report, &input.data.labels).as_bytes()))?;
    }
    show(&document, run.json.is_some(), |document| text(document, run.verbose), None)?;
    Ok(if report.status() == Status::Converged { Outcome::Finished } else { Outcome::Stopped })
}

/// Cross-validates, and computes the importance of columns if it is requested.
fn cross_validate(
    objective: Option<LinearObjective>,
    svm: &Svm,
    data: &PreparedData,
    plan: &FoldPlan,
    importance: Option<&ImportanceOptions>,
    control: &RunControl,
) -> Result<(CvReport, Option<Importance>), Error> {
    match (objective, importance) {
        (Some(objective), _) => Ok((cross_validate_linear(objective, svm, data, plan, control)?, None)),
        (None, None) => Ok((svm.cross_validate_with(data, plan, control)?, None)),
        (None, Some(options)) => svm.cross_validate_with_importance(data, plan, options, control),
    }
}

/// Warns of a C that is small for the targets of a regression.
fn warn_of_cost(svm: &Svm, labels: &[f64], report: &CvReport, notes: &mut Notes) {
    let Some(c) = cost_of_tube(svm.formulation()) else { return };
    let sum = |of: fn(&FoldReport) -> usize| report.folds.iter().map(of).sum();
    let at = BoundedSamples { bounded: sum(|fold| fold.bounded), samples: sum(|fold| fold.train) };
    // Each repeat predicts all rows again.
    let truth: Vec<f64> = labels.iter().copied().cycle().take(report.predicted.len()).collect();
    warn_of_small_cost(c, at, &truth, &report.predicted, notes);
}

/// Refuses files that do not go together, or that the formulation has nothing for.
fn check_files(request: &ProblemRequest, run: &RunArgs, files: CvFiles<'_>) -> Result<(), Failure> {
    for (option, path) in [("-o", files.decisions), ("--suspects", files.suspects)] {
        if run.json.is_some() && path.is_some_and(|path| path.as_os_str() == "-") {
            return Err(Failure::Usage(format!("--json and {option} -: both write to standard output; name a file")));
        }
    }
    if files.suspects.is_some() && request.target_kind() != TargetKind::Classes {
        let what = "it ranks the labels of classes, and this formulation has none; leave it out";
        return Err(Failure::Usage(format!("--suspects: {what}")));
    }
    Ok(())
}

/// Notes that the folds could not be seeded: folds that scale differently share no kernel.
pub(crate) fn tell_of_cold_starts(requested: &str, seeding: &str, notes: &Notes) {
    if seeding != requested {
        notes.note(
            "scaling or encoding differs between the training sets, so that no fold could start from the solution of another: \
             it took longer, and the result is the same",
        );
    }
}

/// Warns of folds that did not converge, with the worst of them and advice.
fn warn(report: &CvReport, svm: &Svm, run: &RunArgs, notes: &mut Notes) {
    let open: Vec<_> = report.folds.iter().filter(|f| f.status != Status::Converged).collect();
    if let Some(worst) = open.iter().max_by(|a, b| a.certificate.kkt.total_cmp(&b.certificate.kkt)) {
        let what = advice::unfinished(report.status(), &worst.certificate, svm, run.limits());
        let (open, all) = (open.len(), report.folds.len());
        notes.warn(format!("{open} of {all} folds did not converge; the worst (fold {}): {what}", worst.fold));
    }
}

/// Writes `label predicted` and the decision values of all machines, one line per row in the order
/// of the data, and all rows again for each repeat.
fn write_decisions(labels: &[f64], report: &CvReport, output: Output) -> Result<(), Failure> {
    output.write(|mut out| {
        for ((label, predicted), decisions) in
            labels.iter().cycle().zip(&report.predicted).zip(report.decisions.chunks_exact(report.machines))
        {
            write!(out, "{} {}", label_names::for_file(*label), label_names::for_file(*predicted))?;
            for decision in decisions {
                out.write_all(b" ")?;
                write_shortest(&mut out, *decision)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

fn text(d: &CvDocument, verbose: bool) -> String {
    let CvDocument { setup, found, seconds, .. } = d;
    let loo = d.fold_plan == LEAVE_ONE_OUT;
    let what = if loo { d.fold_plan.clone() } else { folds_text(d.k, &d.fold_plan, found.rounds) };
    let head = format!(
        "{}{}{}, {}, scaling {}; {what}, seeding {}, {}\n\n",
        data_line(&setup.data),
        setup_line(setup),
        setup.formulation.c.map_or_else(String::new, |_| format!("; C {}", cost_text(setup))),
        setup.goal_text(),
        setup.scale.unwrap_or("none"),
        found.seeding(),
        threads::text(d.end.threads),
    );
    let mut lines = found.summary(setup, verbose, format::percent);
    if loo {
        let (moved, all) = (format::count(found.moved() as u64), format::count(d.k as u64));
        lines.push(("trainings", format!("{moved} of {all} took more than one iteration")));
    }
    lines.extend(d.suspects.as_ref().map(|found| ("suspects", found.text())));
    lines.extend(d.conformal.as_ref().map(|found| ("conformal", coverage_text(found))));
    lines.extend(d.importance.as_ref().map(|found| ("importance", found.text())));
    lines.extend(work_text(&found.solved.work).map(|text| ("work", text)));
    if !setup.over_features() {
        lines.push(("kernel rows", kernel_rows(found.solved.rows_computed, setup.data.rows, found.solved.kernel_bytes)));
    }
    lines.push(("time", format::seconds(seconds.total)));
    if verbose {
        let parts = [seconds.kernel, seconds.seed, seconds.solve, seconds.certify];
        let [kernel, seed, solve, certify] = parts.map(|part| format::seconds(part.unwrap_or(0.0)));
        let read = format::seconds(seconds.read);
        let text = format!("read {read}, kernel {kernel}, seed {seed}, solve {solve}, certify {certify}");
        lines.push(("thread time", text));
    }
    lines.push(("peak memory", format::bytes(d.end.peak_rss_bytes)));
    let spread = if loo { String::new() } else { found.spread_table() };
    let confusion = found.confusion_table(&setup.labels());
    let space = if confusion.is_empty() { "" } else { "\n" };
    let importance = d.importance.as_ref().map_or_else(String::new, |found| found.table() + "\n");
    head + &found.folds_table(!loo) + &spread + &found.levels_table() + &importance + &confusion + space + &fields(&lines)
}
