//! `grid`: cross-validation for many values of C over the same kernel values, each from the solution before.

use crate::args::GridArgs;
use crate::cv::{plan, tell_of_cold_starts, write_folds};
use crate::failure::{Done, Failure};
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::problem::{Asked, Prepared, failed};
use crate::progress::Bar;
use crate::report::{Align, End, Seconds, Setup, Validated, columns, data_line, setup_line, words};
use crate::threads::Threads;
use crate::{format, input};
use maxmargin::core::Status;
use maxmargin::cv::{CertificateReport, CvReport};
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
    /// The C of highest accuracy; of equals the smallest.
    best_c: Option<f64>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &GridArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let run = &args.svm.run;
    let mut notes = Notes::new(run.quiet);
    let asked = Asked {
        command: "grid",
        args: &args.svm,
        c: None,
        seeding: args.folds.seeding.seeding,
        seed: args.data.options.seed,
        updatable: false,
    };
    let svm = asked.svm()?;
    let folds_output = args.folds.write_folds.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(run.threads)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds, &input, args.data.options.seed)?;
    write_folds(folds_output, &plan)?;
    let Prepared { svm, classes, setup } = asked.prepare(svm, &input, (begun, &threads), &mut notes)?;
    let costs = &args.c.0;
    let reports = {
        let bar = Bar::new(run.quiet);
        svm.grid_watched(&input.data, &plan, costs, &bar).map_err(|e| failed(&input, &e))?
    };
    if let Some(report) = reports.first() {
        tell_of_cold_starts(&asked, report, &notes);
    }
    let point = |(report, c): (&CvReport, &f64)| {
        let seconds = Validated::seconds(report);
        let seconds = [seconds.seed, seconds.solve, seconds.certify].into_iter().flatten().sum();
        Point { c: *c, found: Validated::new(report, &input.data.labels, classes.labels(), run.json), seconds }
    };
    let points: Vec<Point> = reports.iter().zip(costs).map(point).collect();
    let complete = warn(&points, costs.len(), &mut notes);
    let converged = points.iter().filter(|p| p.found.solved.status == Status::Converged);
    let best = converged.reduce(|a, b| if b.found.correct > a.found.correct { b } else { a });
    let sum = |of: fn(Seconds) -> Option<f64>| Some(reports.iter().filter_map(|report| of(Validated::seconds(report))).sum());
    let document = GridDocument {
        setup,
        k: plan.folds(),
        fold_plan,
        status: points.iter().map(|p| p.found.solved.status).reduce(Status::worse).unwrap_or(Status::Interrupted),
        best_c: best.map(|p| p.c),
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
    if run.json.is_some() {
        print_json(&document)?;
    } else {
        print(&text(&document))?;
    }
    Ok(if complete { Done::Finished } else { Done::Stopped })
}

/// Says what is missing; whether nothing is.
fn warn(points: &[Point], wanted: usize, notes: &mut Notes) -> bool {
    if points.len() < wanted {
        notes.warn(format!("{} of {wanted} values of C were not reached", wanted - points.len()));
    }
    let open = points.iter().filter(|p| p.found.solved.status != Status::Converged);
    let open: Vec<String> = open.map(|p| format!("C = {} ({})", format::exact(p.c), words(p.found.solved.status))).collect();
    if !open.is_empty() {
        notes.warn(format!("not converged: {}; --max-iter, --time-limit or a looser --eps", open.join(", ")));
    }
    open.is_empty() && points.len() == wanted
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
    let row = |p: &Point| {
        let certificates = p.found.certificates();
        let worst = |of: fn(&CertificateReport) -> f64| format::short(certificates.iter().map(of).fold(0.0, f64::max));
        vec![
            format::exact(p.c),
            format!("{:.4}", 100.0 * p.found.accuracy),
            words(p.found.solved.status).to_owned(),
            worst(|c| c.kkt),
            worst(|c| c.relative_gap),
            format::count(p.found.total_iterations),
            format!("{:.3}", p.seconds),
        ]
    };
    let best = d.best_c.map_or_else(|| "none converged".to_owned(), format::exact);
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
