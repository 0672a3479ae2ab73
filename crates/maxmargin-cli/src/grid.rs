//! `grid`: cross-validation for many values of C over the same kernel values, each from the solution before.

use crate::args::{GridArgs, KernelName, SvmArgs};
use crate::cv::{folds_file, plan, tell_of_cold_starts, write_folds};
use crate::failure::{Done, Failure};
use crate::format;
use crate::notes::Notes;
use crate::output::show;
use crate::places::{Content, Places};
use crate::problem::{Asked, Prepared, failed};
use crate::progress::Bar;
use crate::report::{Align, End, Seconds, Setup, Validated, columns, data_line, setup_line, words};
use crate::threads::Threads;
use maxmargin::core::{Needs, Status};
use maxmargin::cv::{Best, CertificateReport, CvReport, metrics_of};
use maxmargin::data::ClassLabels;
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct Point {
    c: f64,
    #[serde(flatten)]
    found: Validated,
    /// Of all threads together.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct GridDocument {
    #[serde(flatten)]
    setup: Setup,
    k: usize,
    fold_plan: String,
    /// The worst of all points.
    status: Status,
    points: Vec<Point>,
    /// The C of best score (highest accuracy, lowest mean squared error); of equals the smallest.
    best_c: Option<f64>,
    /// Fraction of samples in the largest class: the accuracy of guessing it always.
    majority: Option<f64>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &GridArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let run = &args.svm.run;
    let mut notes = Notes::new(run.quiet);
    let seeding = args.folds.seeding.seeding;
    let asked = Asked { seeding, ..Asked::new("grid", &args.svm, None, &args.data) };
    let svm = asked.svm()?;
    let asked_needs = asked.needs()?;
    let mut places = Places::new(args.write.force);
    places.reads(folds_file(&args.folds));
    places.reads([&args.data.source]);
    places.reads(args.svm.problem.weights.as_deref());
    let folds_output = args.folds.write_folds.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let threads = Threads::new(run.threads)?;
    let input = asked.load(&args.data, (begun, &threads), &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds, asked.needs()?, &input, &args.data.options)?;
    write_folds(folds_output, &plan)?;
    let Prepared { svm, classes, setup } = asked.prepare(svm, &input, (begun, &threads), &mut notes)?;
    let costs = &args.c.0;
    let reports = {
        let bar = Bar::new(run.quiet, input.data.labels.len(), costs.len());
        svm.grid_watched(&input.data, &plan, costs, &bar).map_err(|e| failed(&input, &e))?
    };
    if let Some(report) = reports.first() {
        tell_of_cold_starts(&asked, report, &notes);
    }
    let point = |(report, c): (&CvReport, &f64)| {
        let seconds = Validated::seconds(report);
        let seconds = [seconds.seed, seconds.solve, seconds.certify].into_iter().flatten().sum();
        Point { c: *c, found: Validated::new(report, &input.data.labels, &setup, run.json), seconds }
    };
    let points: Vec<Point> = reports.iter().zip(costs).map(point).collect();
    let complete = warn(&points, costs.len(), &mut notes);
    let converged = points.iter().filter(|p| p.found.solved.status == Status::Converged);
    let best = converged.reduce(|a, b| if better(asked_needs, &b.found, &a.found) { b } else { a });
    let rows = input.data.labels.len();
    let majority = classes.as_ref().map(largest);
    match (best, majority) {
        (Some(best), Some(majority)) if best.found.correct <= majority.1 => {
            notes.warn(no_better(best, majority, rows, asked.args));
        }
        (Some(best), None) if best.found.scores.get("r2").is_some_and(|r2| *r2 <= 0.0) => {
            notes.warn(format!("no C beats always saying the mean of the targets; try {}", tries(asked.args).join(", ")));
        }
        _ => {}
    }
    let sum = |of: fn(Seconds) -> Option<f64>| Some(reports.iter().filter_map(|report| of(Validated::seconds(report))).sum());
    let document = GridDocument {
        setup,
        k: plan.folds(),
        fold_plan,
        status: points.iter().map(|p| p.found.solved.status).reduce(Status::worse).unwrap_or(Status::Interrupted),
        best_c: best.map(|p| p.c),
        majority: majority.map(|majority| majority.1 as f64 / rows as f64),
        points,
        seconds: Seconds {
            read: input.seconds,
            kernel: sum(|s| s.kernel),
            seed: sum(|s| s.seed),
            solve: sum(|s| s.solve),
            certify: sum(|s| s.certify),
            total: begun.elapsed().as_secs_f64(),
        },
        end: End::now(&threads, &notes),
    };
    show(&document, run.json.is_some(), text, None)?;
    Ok(if complete { Done::Finished } else { Done::Stopped })
}

/// Whether a score is better than another.
fn better(needs: Needs, this: &Validated, other: &Validated) -> bool {
    let Some((this, other)) = this.score().zip(other.score()) else { return this.score().is_some() };
    match metrics_of(needs)[0].best() {
        Best::Highest => this > other,
        Best::Lowest => this < other,
    }
}

/// The label of the largest class, of equals the first, and its size.
fn largest(classes: &ClassLabels) -> (f64, usize) {
    let sizes = classes.sizes().iter().copied();
    classes.labels().iter().copied().zip(sizes).rev().max_by_key(|(_, size)| *size).unwrap_or_default()
}

/// What else there is to try.
fn tries(args: &SvmArgs) -> Vec<&'static str> {
    let mut tries = vec!["larger values of C (-c)"];
    tries.extend((args.kernel.kernel != KernelName::Linear).then_some("another width (-g)"));
    let can_scale = args.problem.scale.is_none() && args.kernel.kernel != KernelName::Precomputed;
    tries.extend(can_scale.then_some("scaled features (--scale minmax)"));
    tries
}

/// What to do when nothing was learnt.
fn no_better(best: &Point, (label, size): (f64, usize), rows: usize, args: &SvmArgs) -> String {
    let mut tries = tries(args);
    tries.extend(args.problem.weight.is_empty().then_some("a weight for the rare classes (--weight LABEL=W)"));
    format!(
        "no C beats the majority class: always guessing {} is right for {:.4} %, the best C for {:.4} %; try {}",
        format::exact(label),
        100.0 * size as f64 / rows as f64,
        100.0 * best.found.correct as f64 / rows as f64,
        tries.join(", "),
    )
}

/// Says what is missing; whether nothing is.
fn warn(points: &[Point], wanted: usize, notes: &mut Notes) -> bool {
    if points.len() < wanted {
        notes.warn(format!("{} of {wanted} values of C were not reached", wanted - points.len()));
    }
    let open = points.iter().filter(|p| p.found.solved.status != Status::Converged);
    let open: Vec<String> = open.map(|p| format!("C = {} ({})", format::exact(p.c), words(p.found.solved.status))).collect();
    if !open.is_empty() {
        notes.warn(format!("not converged: {}; --max-iter, --time-limit or a looser --eps or --gap", open.join(", ")));
    }
    open.is_empty() && points.len() == wanted
}

fn text(d: &GridDocument) -> String {
    let accuracy = d.setup.formulation.needs == Needs::Classes;
    let column = if accuracy { "accuracy, %" } else { d.points.first().map_or("score", |p| p.found.column()) };
    let header = [
        ("C", Align::Right),
        (column, Align::Right),
        ("status", Align::Left),
        ("worst KKT", Align::Right),
        ("worst gap", Align::Right),
        ("iterations", Align::Right),
        ("seconds", Align::Right),
    ];
    let row = |p: &Point| {
        let certificates = p.found.certificates();
        let worst = |of: fn(&CertificateReport) -> f64| format::short(certificates.iter().map(of).fold(0.0, f64::max));
        vec![
            format::exact(p.c),
            p.found.score_text(&p.found.scores, 4).trim_end_matches(" %").to_owned(),
            words(p.found.solved.status).to_owned(),
            worst(|c| c.kkt),
            worst(|c| c.relative_gap),
            format::count(p.found.total_iterations),
            format!("{:.3}", p.seconds),
        ]
    };
    let best = match d.best_c {
        None => "none converged".to_owned(),
        Some(c) => {
            let score = d.points.iter().find(|p| p.c == c).and_then(|p| p.found.score());
            match d.majority.filter(|majority| score.is_none_or(|accuracy| accuracy <= *majority)) {
                Some(majority) => format!("none beats the majority class ({:.4} %)", 100.0 * majority),
                None => format::exact(c),
            }
        }
    };
    format!(
        "{}{}; {} {} folds\n{}best C: {best}; {} in all, peak memory {}\n",
        data_line(&d.setup.data),
        setup_line(&d.setup),
        d.k,
        d.fold_plan,
        columns(&header, &d.points.iter().map(row).collect::<Vec<_>>()),
        format::seconds(d.seconds.total),
        format::bytes(d.end.peak_rss_bytes)
    )
}
