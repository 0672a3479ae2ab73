//! `verify`: certifies a model file against its training data, recomputing everything.

use crate::args::VerifyArgs;
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::files::input::request::ReadRequest;
use crate::files::input::{self, Input, MaxSize, Requirements};
use crate::files::model_file;
use crate::files::output::show;
use crate::machine::threads::Threads;
use crate::problem::weights::Weight;
use crate::report::{
    DataDocument, End, MachineDocument, MachineNames, STATIONARY, SampleWeights, Seconds, Setup, SolutionDocument, Work, advice,
    fields, fixed_labels_text, machines_table,
};
use maxmargin::core::{Formulation, Goal, Loss, Status};
use maxmargin::cv::{CertificateReport, Check, Claim, MachineReport, MachineVerdict, TrainingData, Verdict, VerifyError, verify};
use maxmargin::data::Par;
use maxmargin::model::{Model, Record};
use maxmargin::{LinearRecord, verify_linear};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct VerifyDocument {
    #[serde(flatten)]
    setup: Setup,
    model: String,
    /// True if no check failed.
    matches: bool,
    /// Names of the checks that could not be made, which `matches` does not cover.
    not_checked: Vec<&'static str>,
    /// True if every recomputed certificate meets the goal.
    tolerance_met: bool,
    checks: Vec<Check>,
    /// The recomputed solution.
    #[serde(flatten)]
    solved: SolutionDocument,
    /// The worst certificate in the file.
    stored: Option<CertificateReport>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let threads = Threads::new(args.run.threads)?;
    let model = model_file::load(&args.model, MaxSize::of(args.options.max_size))?;
    let input = training_data(&args.model, args.data.as_deref(), &args.options.request(), &model, threads.par(), &mut notes)?;
    let claimed = args.formulation.with_c(args.c.unwrap_or(1.0)).map_err(Failure::Usage)?;
    if args.formulation.tau.len() > 1 {
        return Err(Failure::Usage("--tau: a model that does not say how it was trained has one level".to_owned()));
    }
    // A formulation without C is claimed by its name.
    let says = args.c.is_some() || (claimed.c().is_none() && args.formulation.nu.is_some());
    let weights = args.weight.iter().map(weight).collect::<Result<_, _>>()?;
    let claim = says.then_some(Claim { formulation: claimed, weights });
    if claim.is_none() && !args.weight.is_empty() {
        return Err(Failure::Usage("--weight without -c: both are for models that do not say how they were trained".to_owned()));
    }
    let record = LinearRecord::of(&model).map_err(|error| Failure::input(args.model.display().to_string(), error))?;
    let verdict = match &record {
        Some(_) if claim.is_some() => return Err(failed(args, &input, &VerifyError::Claim)),
        Some(record) => {
            let goal = args.eps.map(|eps| record.goal.at_most(eps));
            let verdict = verify_linear(&model, record, &input.data, goal, threads.par());
            verdict.map_err(|error| Failure::input(&input.name, error))?
        }
        None => {
            let verdict = verify(&model, &input.data, claim.as_ref(), goal(&model, args.eps), threads.par());
            verdict.map_err(|error| failed(args, &input, &error))?
        }
    };
    let document = VerifyDocument {
        setup: match &record {
            Some(record) => linear_setup(&model, record, &input, verdict.goal),
            None => setup(&model, &input, claim.as_ref(), verdict.goal),
        },
        model: args.model.display().to_string(),
        matches: verdict.matches(),
        not_checked: verdict.unchecked().map(|check| check.what).collect(),
        tolerance_met: verdict.met(),
        solved: solved(&model, &input, &verdict),
        stored: verdict.stored.map(|c| CertificateReport::new(&c, verdict.claimed)),
        checks: verdict.checks,
        seconds: Seconds { read: input.seconds, total: begun.elapsed().as_secs_f64(), ..Seconds::default() },
        end: End::now(&threads, &mut notes),
    };
    show(&document, args.run.json, report, None)?;
    Ok(match (document.matches, document.tolerance_met) {
        (false, _) => Outcome::Refuted,
        (true, false) => Outcome::Stopped,
        (true, true) => Outcome::Finished,
    })
}

/// Returns a class and its claimed factor of C.
fn weight(weight: &Weight) -> Result<(f64, f64), Failure> {
    match weight {
        Weight::Of { label, factor } => {
            let known = label_names::label(label)
                .ok_or_else(|| Failure::Usage(format!("--weight {label}=…: no class has this label")))?;
            Ok((known, *factor))
        }
        Weight::Balanced => Err(Failure::Usage("--weight balanced: give the factor of each class, LABEL=W".to_owned())),
    }
}

/// Returns the requested goal: a KKT violation or a gap, as the solver of the model uses.
fn goal(model: &Model, eps: Option<f64>) -> Option<Goal> {
    eps.map(|eps| model.record().map_or(Goal::Kkt(eps), |record| record.goal().at_most(eps)))
}

/// Returns the named data, or the data that the model keeps.
pub(crate) fn training_data(
    path: &Path,
    data: Option<&str>,
    options: &ReadRequest,
    model: &Model,
    par: Par,
    notes: &mut Notes,
) -> Result<Input, Failure> {
    let name = path.display().to_string();
    if let Some(data) = data {
        return input::load_from(data, options, &Requirements::training(model), par, notes);
    }
    let begun = Instant::now();
    let Some(kept) = TrainingData::of(model).map_err(|e| Failure::input(&name, e))? else {
        return Err(Failure::Usage(format!("{name} does not keep its training data; name it behind the model")));
    };
    let (name, seconds) = (format!("the data in {name}"), begun.elapsed().as_secs_f64());
    Ok(Input {
        name,
        data: kept.data,
        seconds,
        is_labelled: true,
        lines: Vec::new(),
        unlabelled: 0,
        written: None,
        likelier_target: None,
    })
}

fn failed(args: &VerifyArgs, input: &Input, error: &VerifyError) -> Failure {
    let model = args.model.display();
    match error {
        VerifyError::NoClaim => {
            let what = "the model does not say with which C it was trained; add -c C (and --weight LABEL=W, --eps)";
            Failure::Usage(format!("{model}: {what}"))
        }
        VerifyError::Claim => Failure::Usage("-c and --weight are for models that do not say; this one does".to_owned()),
        VerifyError::Label { .. } => Failure::Usage(format!("--weight: {error}")),
        _ => Failure::input(&input.name, error),
    }
}

/// Describes the problem by the model's record, or by the claim.
fn setup(model: &Model, input: &Input, claim: Option<&Claim>, goal: Goal) -> Setup {
    let claimed = |label: &f64| claim.and_then(|claim| claim.weights.iter().rev().find(|(l, _)| l == label)).map_or(1.0, |w| w.1);
    let problem = match model.record() {
        Some(r) => (r.formulation, r.weights.clone()),
        None => (claim.map_or(Formulation::c_svc(1.0), |claim| claim.formulation), model.classes().iter().map(claimed).collect()),
    };
    Setup::of_model(
        "verify",
        DataDocument::for_target(&input.name, &input.data, problem.0.target_kind()),
        model,
        problem.0,
        problem.1,
        goal,
    )
}

/// Describes the problem of a linear machine by its record.
fn linear_setup(model: &Model, record: &LinearRecord, input: &Input, goal: Goal) -> Setup {
    let (c, bias_term) = (record.c, record.bias_term);
    let formulation = Formulation::Svc { c, loss: Loss::Hinge, bias_term };
    let data = DataDocument::for_target(&input.name, &input.data, formulation.target_kind());
    let setup = Setup::of_model("verify", data, model, formulation, record.weights.clone(), goal);
    let sample_weights = record.sample_weights.as_deref().map(SampleWeights::of);
    Setup { formulation: setup.formulation.with_objective(Some(record.objective)), sample_weights, ..setup }
}

/// Describes the recomputed solution.
fn solved(model: &Model, input: &Input, verdict: &Verdict) -> SolutionDocument {
    let judged = |one: &MachineVerdict| {
        let certificate = CertificateReport::new(&one.certificate, one.met).with_fixed_labels(one.fixed_labels.as_ref());
        MachineDocument::stored(model, one.machine, certificate, &input.data.labels)
    };
    let reports: Vec<MachineReport> = verdict.machines.iter().map(judged).collect();
    SolutionDocument {
        status: model.record().map_or(Status::Converged, Record::status),
        certificate: verdict
            .machines
            .iter()
            .zip(&reports)
            .find(|(one, _)| Some(one.certificate) == verdict.certificate)
            .map(|found| found.1.certificate),
        machines: MachineDocument::of(&MachineNames::of(model), &reports),
        iterations: reports.iter().fold(0, |sum, report| report.iterations.saturating_add(sum)),
        rows_computed: 0,
        kernel_bytes: 0,
        support_vectors: model.support_vectors(),
        work: Work::new(),
    }
}

fn report(d: &VerifyDocument) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for check in &d.checks {
        rows.push((check.what, format!("{}: {}", check.word(), check.detail)));
    }
    if let Some(c) = &d.solved.certificate {
        let problem = d.setup.gap.map_or_else(String::new, |gap| format!(" (tolerance {})", format::bound(gap)));
        rows.push(("primal objective", format::known_by(format::long, c.primal)));
        rows.push(("dual objective", format::long(c.dual)));
        rows.push(("duality gap", format::known_bound(c.relative_gap) + &problem));
        let tolerance = d.setup.eps.map_or_else(String::new, |eps| format!(" (tolerance {})", format::bound(eps)));
        rows.push(("KKT violation", format::bound(c.kkt) + &tolerance));
    }
    rows.push(("time", format::seconds(d.seconds.total)));
    let certificates: Vec<CertificateReport> = d.solved.machines.iter().map(|m| m.report.certificate).collect();
    let certified = MachineDocument::certified(&d.solved.machines);
    rows.extend(fixed_labels_text(&certified, "machine").map(|text| ("gap screening", text)));
    rows.extend(d.setup.formulation.lacks_margin(certificates.iter()).then(|| ("margin", advice::NO_MARGIN.to_owned())));
    let optimal = certificates.iter().all(|c| c.optimal);
    let stationary = certificates.iter().any(CertificateReport::is_stationary_only);
    let goal = Goal::of(d.setup.eps, d.setup.gap);
    let hidden = goal.is_some_and(|goal| certificates.iter().any(|c| c.hides(goal)));
    let stationary_verdict = format!("certified to the tolerance: {STATIONARY}");
    let verdict = match (d.matches, d.tolerance_met) {
        (true, true) if stationary => &stationary_verdict,
        (true, true) if optimal => "certified: an optimal solution of this problem, within the tolerance and the gap above",
        (true, true) => "certified to the tolerance, but the duality gap does not prove it optimal: pass a smaller --eps",
        (true, false) if hidden => {
            "genuine, but rounding in double precision hides whether it meets the tolerance: scale the data"
        }
        (true, false) => "genuine, but not solved to the tolerance",
        (false, _) => "REFUTED: the model is not what it says about this data",
    };
    let verdict = match &d.not_checked[..] {
        [] => verdict.to_owned(),
        unknown => format!("{verdict}; not checked: {}", unknown.join(", ")),
    };
    let machines = if d.solved.machines.len() > 1 { machines_table(&d.solved.machines) + "\n" } else { String::new() };
    format!("{} against {}\n{}{machines}{verdict}\n", d.model, d.setup.data.name, fields(&rows))
}
