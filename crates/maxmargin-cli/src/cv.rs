//! `cv`: k-fold cross-validation with a certificate for every fold.

use crate::args::{CvArgs, FoldArgs, Folds};
use crate::failure::{Done, Failure, reason};
use crate::folds::{self, Run, Setting};
use crate::input::{self, Input};
use crate::multiclass;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::problem;
use crate::report::cv_report;
use crate::solver::Solver;
use crate::threads::Threads;
use maxmargin::CSvcSolver;
use maxmargin::cv::{FoldPlan, PlanError};
use std::time::Instant;

pub(crate) fn run(args: &CvArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    if args.run.json && args.output.as_deref().is_some_and(|p| p.as_os_str() == "-") {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a file".to_owned()));
    }
    let output = args.output.as_deref().map(Output::open).transpose()?;
    let folds_output = args.folds.write_folds.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(args.run.threads)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let solver = Solver::of(&args.solver, args.kernel.kernel, false, args.data.options.seed)?;
    let other = matches!(solver, Solver::Kernel(CSvcSolver::Irwls { .. }));
    if let Some(labels) = multiclass::asked(&solver, other, &input)? {
        return multiclass::cross_validate(args, &solver, &input, labels, &threads, begun, (output, folds_output), notes);
    }
    let prepared = problem::prepare(&args.kernel, &args.problem, &input, &mut notes)?;
    let (plan, plan_name) = plan(&args.folds, &input, args.data.options.seed)?;
    if let Some(output) = folds_output {
        output.write(|out| out.write_all(plan.to_text().as_bytes()))?;
    }
    let setting = Setting {
        input: &input,
        prepared: &prepared,
        plan: &plan,
        plan_name,
        seeding: args.folds.seeding,
        kernel: &args.kernel,
        problem: &args.problem,
        linear: if let Solver::Linear(linear) = solver { Some(linear) } else { None },
        run: &args.run,
        seed: args.data.options.seed,
        threads: &threads,
        begun,
    };
    let Run { document, decisions } = folds::cross_validate(&setting, &mut notes)?;
    finish(&setting, output, args.run.json, &decisions, || cv_report(&document), &document)
}

/// Writes decisions and report; the exit code tells whether every fold converged.
pub(crate) fn finish(
    setting: &Setting,
    output: Option<Output>,
    json: bool,
    decisions: &[f64],
    report: impl FnOnce() -> String,
    document: &crate::report::CvDocument,
) -> Result<Done, Failure> {
    if let Some(output) = output {
        folds::write_decisions(setting, output, decisions)?;
    }
    if json {
        print_json(document)?;
    } else {
        print(&report())?;
    }
    Ok(if document.status == maxmargin::core::Status::Converged { Done::Finished } else { Done::Stopped })
}

/// The folds that the options ask for, and what to call them.
pub(crate) fn plan(args: &FoldArgs, input: &Input, seed: u64) -> Result<(FoldPlan, String), Failure> {
    let (labels, k) = (&input.data.labels, args.k);
    let plan = match &args.folds {
        Folds::Stratified => FoldPlan::stratified(labels, k, seed),
        Folds::Contiguous => FoldPlan::contiguous(labels.len(), k),
        Folds::Shuffled => FoldPlan::shuffled(labels.len(), k, seed),
        Folds::Groups => {
            let what = "no row has a group; write `label qid:GROUP index:value …`, or choose other folds";
            let groups = input.data.groups.as_ref().ok_or_else(|| Failure::input(&input.name, what))?;
            FoldPlan::groups(groups, k)
        }
        Folds::File(path) => return file_plan(path, labels.len()),
    };
    let name = match &args.folds {
        Folds::Stratified => "stratified",
        Folds::Contiguous => "contiguous",
        Folds::Shuffled => "shuffled",
        _ => "groups",
    };
    Ok((plan.map_err(|e| Failure::input(&input.name, e))?, name.to_owned()))
}

fn file_plan(path: &std::path::Path, samples: usize) -> Result<(FoldPlan, String), Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| {
        let what =
            format!("cannot read the folds: {}; --folds takes stratified, contiguous, shuffled, groups or a file", reason(&e));
        Failure::input(&name, what)
    })?;
    let plan = FoldPlan::from_text(&text, samples).map_err(|e| match e {
        PlanError::Line { line, found } => Failure::input(
            format!("{name}:{line}"),
            format!("`{found}` is not a fold number; a folds file holds one number (from 0) for each row"),
        ),
        other => Failure::input(&name, other),
    })?;
    Ok((plan, name))
}
