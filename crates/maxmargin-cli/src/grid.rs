//! `grid`: cross-validation of a linear SVM for many values of C, each from the solution before.

use crate::args::{GridArgs, KernelName};
use crate::failure::{Done, Failure};
use crate::input;
use crate::linear::{self, LinearDocument};
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::progress::Bar;
use crate::report::{Align, DataDocument, End, columns, data_line, status_name};
use crate::solver::Solver;
use crate::threads::Threads;
use crate::{cv, format, interrupt, problem};
use maxmargin::core::{Dual, Status, Stop};
use maxmargin::cv::{CvProgress, CvReport, LinearStart, Pool, cross_validate_linear};
use maxmargin::linear::warm;
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct Point {
    c: f64,
    accuracy: f64,
    correct: usize,
    status: Status,
    /// Largest KKT violation of all folds.
    kkt: f64,
    /// Largest relative duality gap of all folds.
    relative_gap: f64,
    /// Coordinate and Newton steps of the folds and of the model of all data.
    iterations: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct GridDocument {
    data: DataDocument,
    linear: LinearDocument,
    weights: [f64; 2],
    eps: f64,
    k: usize,
    fold_plan: String,
    seed: u64,
    points: Vec<Point>,
    /// The C of highest accuracy; of equals the smallest.
    best_c: Option<f64>,
    read_seconds: f64,
    total_seconds: f64,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &GridArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    if args.kernel != KernelName::Linear {
        return Err(Failure::Usage("grid: only --kernel linear for now; use cv for one setting of a kernel".to_owned()));
    }
    let Solver::Linear(linear) = Solver::of(&args.solver, args.kernel, false, args.data.options.seed)? else {
        return Err(Failure::Usage("grid: this solver works on kernels; use cv".to_owned()));
    };
    let mut notes = Notes::new(args.run.quiet);
    let folds_output = args.folds.write_folds.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(args.run.threads)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let labels = problem::classes(&input, &mut notes)?;
    let weights = problem::two_weights(&args.weight, &labels)?;
    let (plan, plan_name) = cv::plan(&args.folds, &input, args.data.options.seed)?;
    if let Some(output) = folds_output {
        output.write(|out| out.write_all(plan.to_text().as_bytes()))?;
    }
    linear::announce(&input, &input.data.samples, &threads, &mut notes);
    let failed = |e: &dyn std::fmt::Display| Failure::input(&input.name, e);
    let mut points = Vec::new();
    let mut before: Option<(Dual, Vec<f64>)> = None;
    for &c in &args.c.0 {
        let left = args.run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let stop = Stop { tol: args.run.eps, max_iter: args.run.max_iter, max_time: left };
        let svm = linear.svm(c, weights, stop, args.data.options.seed, threads.par());
        let dual = svm.dual(&labels, c).map_err(|e| failed(&e))?;
        let start = before.as_ref().map(|(old, alpha)| warm::along_c(old, alpha, &dual));
        let pool = Pool { labels: labels.signs.clone(), upper: problem::upper_bounds(&labels, c, weights) };
        let bar = Bar::new(args.run.quiet);
        let watch = |progress: &CvProgress| bar.cv_tick(progress);
        let start = LinearStart::Full(start.as_deref());
        let report = cross_validate_linear(&plan, &pool, &input.data.samples, &svm.cv(), start, &watch);
        bar.finish();
        let mut report = report.map_err(|e| failed(&e))?;
        points.push(point(c, &report));
        before = report.full.take().map(|full| (dual, full.alpha));
        if interrupt::requested() || args.run.time_limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
    }
    if points.len() < args.c.0.len() {
        notes.warn(format!("{} of {} values of C were not reached", args.c.0.len() - points.len(), args.c.0.len()));
    }
    let unfinished: Vec<String> = points
        .iter()
        .filter(|p| p.status != Status::Converged)
        .map(|p| format!("C = {} ({})", format::exact(p.c), status_name(p.status)))
        .collect();
    if !unfinished.is_empty() {
        notes.warn(format!("not converged: {}; --max-iter, --time-limit or a looser --eps", unfinished.join(", ")));
    }
    let complete = unfinished.is_empty() && points.len() == args.c.0.len();
    let best = points.iter().filter(|p| p.status == Status::Converged).reduce(|a, b| if b.correct > a.correct { b } else { a });
    let document = GridDocument {
        data: DataDocument::new(&input.name, &input.data),
        linear: linear.document(None),
        weights,
        eps: args.run.eps,
        k: plan.folds(),
        fold_plan: plan_name,
        seed: args.data.options.seed,
        best_c: best.map(|p| p.c),
        points,
        read_seconds: input.seconds,
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(&threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else {
        print(&text(&document))?;
    }
    Ok(if complete { Done::Finished } else { Done::Stopped })
}

fn point(c: f64, report: &CvReport) -> Point {
    let worst = |of: fn(&maxmargin::cv::FoldReport) -> f64| report.folds.iter().map(of).fold(0.0, f64::max);
    Point {
        c,
        accuracy: report.accuracy,
        correct: report.correct,
        status: report.status(),
        kkt: worst(|f| f.certificate.kkt),
        relative_gap: worst(|f| f.certificate.relative_gap),
        iterations: report.total_iterations,
        seconds: report.total_seconds,
    }
}

fn text(d: &GridDocument) -> String {
    let header = [
        ("C", Align::Right),
        ("accuracy, %", Align::Right),
        ("status", Align::Left),
        ("worst KKT", Align::Right),
        ("worst gap", Align::Right),
        ("iterations", Align::Right),
        ("seconds", Align::Right),
    ];
    let rows: Vec<Vec<String>> = d
        .points
        .iter()
        .map(|p| {
            vec![
                format::exact(p.c),
                format!("{:.4}", 100.0 * p.accuracy),
                status_name(p.status).to_owned(),
                format::short(p.kkt),
                format::short(p.relative_gap),
                format::count(p.iterations),
                format!("{:.3}", p.seconds),
            ]
        })
        .collect();
    let best = d.best_c.map_or_else(|| "none converged".to_owned(), format::exact);
    format!(
        "{}{}, {} {} folds\n{}best C: {best}; {} in all, peak memory {}\n",
        data_line(&d.data),
        d.linear.text(),
        d.k,
        d.fold_plan,
        columns(&header, &rows),
        format::seconds(d.total_seconds),
        format::bytes(d.end.peak_rss_bytes)
    )
}
