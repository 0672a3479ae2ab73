//! Trains all pairs of a LIBSVM file: `one_vs_one_speed FILE C GAMMA THREADS GIGABYTES shared|own`.
#![expect(clippy::print_stdout, reason = "an example")]

use maxmargin_core::Stop;
use maxmargin_cv::{ClassOrder, PairRows, Quiet, train_c_svc};
use maxmargin_data::{ClassLabels, Par, ReadOptions, libsvm};
use maxmargin_kernel::{Kernel, KernelGram, Rows};
use maxmargin_smo::solve_certified;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, file, c, gamma, threads, gigabytes, how] = &args[..] else {
        return Err("FILE C GAMMA THREADS GIGABYTES shared|own".into());
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let par = Par::Pool;
    let data = libsvm::parse(&std::fs::read(file)?, &ReadOptions::default(), par)?;
    let labels = ClassLabels::new(&data.labels)?;
    let begun = Instant::now();
    let order = ClassOrder::new(&labels);
    let sorted = data.samples.select(order.original());
    let gram = KernelGram::new(&sorted, Kernel::Rbf { gamma: gamma.parse()? })?;
    let budget = (gigabytes.parse::<f64>()? * 1e9) as u64;
    let rows = Rows::new(&gram, budget, par);
    let source = if how == "shared" { PairRows::Shared(&rows) } else { PairRows::Own { gram: &gram, budget, par } };
    let upper = vec![c.parse()?; sorted.len()];
    let found = train_c_svc(&order, &upper, source, &Stop::at(1e-3), par, &Quiet, |dual, rows, start, par, stop, watch| {
        solve_certified(dual, rows, start, par, stop, watch).map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    let found = found.map_err(|e| e.to_string())?;
    let own: u64 = found.iter().map(|p| p.kernel.computed).sum();
    let iterations: u64 = found.iter().map(|p| p.solution.work.iterations).sum();
    let kkt = found.iter().map(|p| p.certificate.kkt).fold(0.0, f64::max);
    let work = rows.work();
    println!(
        "{} pairs, {iterations} iterations, KKT {kkt:.2e}, {:.2} s; shared: {} rows in {:.2} s, {:.1} GB; of pairs {own} rows",
        found.len(),
        begun.elapsed().as_secs_f64(),
        work.computed,
        work.time.as_secs_f64(),
        work.peak_bytes as f64 / 1e9,
    );
    Ok(())
}
