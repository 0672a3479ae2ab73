//! Times the methods on a file in LIBSVM format: `linear_speed FILE C eps METHOD THREADS [b]`.
//!
//! Environment: `LOSS` is `hinge` (default), `squared` or `regression`; `CLASS` is one class
//! against the rest, or `all` for each class against the rest; `GAP` is a relative gap; `FROM` is
//! another C whose solution is the start.
#![allow(clippy::print_stdout, missing_docs)]

use maxmargin_core::warm::along_c;
use maxmargin_core::{Dual, EqualityConstraint, Goal, Start, Stop};
use maxmargin_data::libsvm::{self, ReadOptions};
use maxmargin_data::{Par, RunControl};
use maxmargin_linear::{Config, LinearWork, Matrix, Method, solve};
use std::time::Instant;

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn problem(labels: &[f64], class: f64, c: f64, balance: EqualityConstraint) -> Dual {
    let n = labels.len();
    let ids: Vec<usize> = (0..n).collect();
    match environment("LOSS").as_deref() {
        Some("regression") => {
            let linear = labels.iter().map(|y| 0.1 - y).chain(labels.iter().map(|y| 0.1 + y)).collect();
            let signs = (0..2 * n).map(|k| if k < n { 1.0 } else { -1.0 }).collect();
            Dual::new(ids.repeat(2), signs, linear, vec![c; 2 * n], 0.0, balance).unwrap()
        }
        loss => {
            let (upper, ridge) = if loss == Some("squared") { (f64::INFINITY, 0.5 / c) } else { (c, 0.0) };
            let signs = labels.iter().map(|&y| if y == class { 1.0 } else { -1.0 }).collect();
            Dual::new(ids, signs, vec![-1.0; n], vec![upper; n], ridge, balance).unwrap()
        }
    }
}

/// The classes that `CLASS` names; the last one by default.
fn chosen_classes(labels: &[f64]) -> Vec<f64> {
    let mut classes = labels.to_vec();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    match environment("CLASS").as_deref() {
        Some("all") => classes,
        Some(class) => vec![class.parse().unwrap()],
        None => vec![*classes.last().unwrap()],
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    rayon::ThreadPoolBuilder::new().num_threads(args[4].parse().unwrap()).build_global().unwrap();
    let par = Par::Pool;
    let data = libsvm::parse(&std::fs::read(&args[0]).unwrap(), &ReadOptions::default(), par, &RunControl::unlimited()).unwrap();
    let labels = data.labels;
    let classes = chosen_classes(&labels);
    let c: f64 = args[1].parse().unwrap();
    let balance = if args.len() > 5 { EqualityConstraint::Sum(0.0) } else { EqualityConstraint::Free };
    let begun = Instant::now();
    let matrix = Matrix::new(&data.samples, None, par);
    let built = begun.elapsed().as_secs_f64();
    let methods: Vec<Method> = match args[3].as_str() {
        "descent" => vec![Method::Descent],
        "avsf" => vec![Method::Avsf],
        "newton" => vec![Method::Newton],
        "hybrid" => vec![Method::Hybrid],
        _ => vec![Method::Descent, Method::Avsf, Method::Newton, Method::Hybrid],
    };
    for method in methods {
        let begun = Instant::now();
        let gap = environment("GAP").map(|g| g.parse().unwrap());
        let config = Config { method, par, ..Config::default() };
        let stop = Stop {
            max_time: Some(std::time::Duration::from_secs(100)),
            ..Stop::when(Goal::of(args[2].parse().ok(), gap).unwrap())
        };
        let found = par.map(classes.len(), |at| {
            let dual = problem(&labels, classes[at], c, balance);
            let zero = |dual: &Dual| Start::zero(dual).unwrap();
            let start = environment("FROM").map(|from| {
                let other = problem(&labels, classes[at], from.parse().unwrap(), balance);
                let found = solve(&matrix, &other, zero(&other), &config, &stop, &RunControl::unlimited()).unwrap();
                Start::checked(&dual, along_c(&other, &found.solution.alpha, &dual)).unwrap()
            });
            let begun = Instant::now();
            let found =
                solve(&matrix, &dual, start.unwrap_or_else(|| zero(&dual)), &config, &stop, &RunControl::unlimited()).unwrap();
            if environment("FROM").is_some() {
                println!("from there {:.3} s", begun.elapsed().as_secs_f64());
            }
            found
        });
        let mut work = LinearWork::default();
        found.iter().for_each(|found| work += found.work);
        let most = |figure: &dyn Fn(usize) -> f64| (0..found.len()).map(figure).fold(f64::NEG_INFINITY, f64::max);
        println!(
            "{:?} C {c} build {built:.3} solve {:.3} s, kkt {:.2e} gap {:.2e} dual {:.9} {:?} {:?}",
            method,
            begun.elapsed().as_secs_f64(),
            most(&|at| found[at].certificate.kkt),
            most(&|at| found[at].certificate.relative_gap()),
            found.iter().map(|found| found.certificate.dual).sum::<f64>(),
            found.iter().map(|found| found.solution.status).max_by_key(|status| format!("{status:?}") != "Converged"),
            work
        );
    }
}
