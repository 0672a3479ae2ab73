//! Times the methods on a file in LIBSVM format: `linear_speed FILE C eps METHOD THREADS [b]`.
#![allow(clippy::print_stdout, missing_docs)]

use maxmargin_core::{Dual, EqualityConstraint, Goal, Start, Stop};
use maxmargin_data::libsvm::{self, ReadOptions};
use maxmargin_data::{BinaryLabels, Par, RunControl};
use maxmargin_linear::{Config, Matrix, Method, solve};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    rayon::ThreadPoolBuilder::new().num_threads(args[4].parse().unwrap()).build_global().unwrap();
    let par = Par::Pool;
    let data = libsvm::parse(&std::fs::read(&args[0]).unwrap(), &ReadOptions::default(), par, &RunControl::unlimited()).unwrap();
    let labels = BinaryLabels::new(&data.labels).unwrap_or_else(|_| {
        BinaryLabels::new(&data.labels.iter().map(|l| if l % 2.0 == 0.0 { 1.0 } else { -1.0 }).collect::<Vec<_>>()).unwrap()
    });
    let n = labels.signs.len();
    let c: f64 = args[1].parse().unwrap();
    let balance = if args.len() > 5 { EqualityConstraint::Sum(0.0) } else { EqualityConstraint::Free };
    let dual = Dual::new((0..n).collect(), labels.signs.clone(), vec![-1.0; n], vec![c; n], 0.0, balance).unwrap();
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
        let gap = std::env::var("GAP").ok().map(|g| g.parse().unwrap());
        let config = Config { method, par, ..Config::default() };
        let stop = Stop {
            max_time: Some(std::time::Duration::from_secs(100)),
            ..Stop::when(Goal::of(Some(args[2].parse().unwrap()), gap).unwrap())
        };
        let found = solve(&matrix, &dual, Start::zero(&dual).unwrap(), &config, &stop, &RunControl::unlimited()).unwrap();
        println!(
            "{:?} build {built:.3} solve {:.3} s, kkt {:.2e} gap {:.2e} dual {:.9} {:?} {:?}",
            method,
            begun.elapsed().as_secs_f64(),
            found.certificate.kkt,
            found.certificate.relative_gap(),
            found.certificate.dual,
            found.solution.status,
            found.work
        );
    }
}
