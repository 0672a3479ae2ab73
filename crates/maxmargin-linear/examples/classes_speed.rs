//! Times the machine of all classes on a file in LIBSVM format: `classes_speed FILE C GAP METHOD
//! THREADS`, with the method `hybrid`, `newton` or `descent`.
#![allow(clippy::print_stdout, missing_docs)]

use maxmargin_core::{CrammerSinger, Goal, Stop};
use maxmargin_data::libsvm::{self, ReadOptions};
use maxmargin_data::{Par, RunControl};
use maxmargin_linear::{Config, Matrix, Method, solve_crammer_singer};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    rayon::ThreadPoolBuilder::new().num_threads(args[4].parse().unwrap()).build_global().unwrap();
    let (par, control) = (Par::Pool, RunControl::unlimited());
    let data = libsvm::parse(&std::fs::read(&args[0]).unwrap(), &ReadOptions::default(), par, &control).unwrap();
    let mut labels = data.labels.clone();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    let class = data.labels.iter().map(|label| labels.partition_point(|one| one < label)).collect();
    let problem = CrammerSinger::new(labels.len(), class, vec![args[1].parse().unwrap(); data.labels.len()]).unwrap();
    let matrix = Matrix::new(&data.samples, None, par);
    let method = match args[3].as_str() {
        "newton" => Method::Newton,
        "descent" => Method::Descent,
        _ => Method::Hybrid,
    };
    let begun = Instant::now();
    let stop = Stop::when(Goal::Gap(args[2].parse().unwrap()));
    let found = solve_crammer_singer(&matrix, &problem, &Config { method, par, ..Config::default() }, &stop, &control).unwrap();
    let gap = (found.certificate.primal - found.certificate.dual) / found.certificate.primal;
    println!(
        "{:.2} s, {:?}, gap {gap:.1e}, dual {}, {:?}",
        begun.elapsed().as_secs_f64(),
        found.status,
        found.certificate.dual,
        found.work
    );
}
