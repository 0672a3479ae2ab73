//! Prints the processor time that blocks, full matrices and exact products of a LIBSVM file take, summed over threads: `gram_speed FILE GAMMA [THREADS] [PARTS]`.
#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use maxmargin_data::{Asking, Par, Samples};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Pages, Rows, apply_exact, decision_values};

/// Seconds that the threads of this process have run (Linux; 0 elsewhere): unlike the time on the wall it does not grow when
/// other programs compete for the processors.
struct Clock(f64);

impl Clock {
    fn now() -> Self {
        let run = |path: std::path::PathBuf| -> Option<f64> {
            std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse::<f64>().ok()
        };
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        Self(tasks.filter_map(|task| run(task.path())).sum::<f64>() * 1e-9)
    }

    fn seconds(&self) -> f64 {
        Self::now().0 - self.0
    }
}

/// The rows of a file, parsed without checks.
fn read(path: &str) -> Samples {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let (mut offsets, mut indices, mut values, mut features) = (vec![0], Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        for cell in line.split_ascii_whitespace().skip(1) {
            let (k, v) = cell.split_once(':').expect("index:value");
            let k: u32 = k.parse().expect("an index");
            features = features.max(k as usize);
            indices.push(k - 1);
            values.push(v.parse().expect("a number"));
        }
        offsets.push(indices.len());
    }
    Samples::from_sparse(features, offsets, indices, values).expect("valid rows")
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let samples = read(&args[1]);
    let gamma: f64 = args[2].parse().expect("gamma");
    let threads: usize = args.get(3).map_or(2, |t| t.parse().expect("threads"));
    let parts = args.get(4).map_or("cfap", String::as_str);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a pool");
    let par = Par::Pool;
    let start = Clock::now();
    let gram = KernelGram::new(&samples, Kernel::Rbf { gamma }).expect("a kernel");
    let n = gram.len();
    println!("{} × {}, prepared in {:.3} s, {} MB", n, samples.features(), start.seconds(), gram.bytes() >> 20);
    if parts.contains('f') {
        for q in [1, 2, 8, 32, 64, 256] {
            let mut best = f64::MAX;
            for repeat in 0..5 {
                let rows = Rows::new(&gram, u64::MAX, par);
                let ids: Vec<usize> = (0..q).map(|r| (r * 7919 + repeat * 31) % n).collect();
                let start = Clock::now();
                rows.fetch(&ids);
                best = best.min(start.seconds());
            }
            println!("fetch {q:4} rows: {:8.1} µs, {:6.2} G entries/s", best * 1e6, (q * n) as f64 / best / 1e9);
        }
        let rows = Rows::new(&gram, u64::MAX, par);
        rows.fetch(&[0]);
        let start = Clock::now();
        let sum: f64 = (0..1_000_000).map(|k| rows.row(0).at(k % n)).sum();
        println!("hit: {:.1} ns ({sum})", start.seconds() * 1e3);
    }
    if parts.contains('c') {
        let pages = Pages::new();
        for _ in 0..2 {
            let rows = Rows::with_pages(&gram, u64::MAX, par, pages.clone());
            let start = Clock::now();
            rows.complete(&Asking::nobody()).expect("nobody calls it off");
            println!("complete: {:.3} s, {} MB", start.seconds(), rows.work().bytes >> 20);
        }
    }
    if parts.contains('a') {
        let ids: Vec<usize> = (0..n).filter(|i| i % 4 != 0).collect();
        for h in [1, 11] {
            let coef: Vec<f64> = (0..ids.len() * h).map(|k| (k % 17) as f64 - 8.0).collect();
            let start = Clock::now();
            let f = apply_exact(&gram, &ids, &coef, h, 0..n, par);
            println!("apply_exact, {} ids, h = {h}: {:.3} s ({:e})", ids.len(), start.seconds(), f[0]);
        }
    }
    if parts.contains('p') {
        let support: Vec<usize> = (0..n).step_by(2).collect();
        let coef = vec![1.0; support.len()];
        let start = Clock::now();
        let values =
            decision_values(&Kernel::Rbf { gamma }, &samples.select(&support), &coef, 0.0, &samples, par).expect("valid");
        println!("decision values, {} support vectors, {n} queries: {:.3} s ({:e})", support.len(), start.seconds(), values[0]);
    }
}
