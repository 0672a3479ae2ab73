//! A single training of the L2-SVM on the simplex.

use crate::cell::{Bound, Cell, Failure, KernelName, Solver};
use crate::measured::{Measured, Simplex};
use crate::{input, machine};
use maxmargin::core::{Silent, Stop};
use maxmargin::data::{BinaryLabels, Par, Samples};
use maxmargin::frankwolfe::{
    Finish, FrankWolfeConfig, Method, POINTS, Rule, Sampling, decision, l2_svm, ordinary, random_start, solve_certified,
};
use maxmargin::kernel::{Kernel, KernelGram, OffsetGram, Rows, decision_values};
use std::time::{Duration, Instant};

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let begun = Instant::now();
    let data = input::load(&cell.data, par)?;
    let test = cell.test.as_ref().map(|test| input::load(test, par)).transpose()?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let labels = BinaryLabels::new(&data.labels)?;
    let n = labels.signs.len();
    let gamma = if cell.mean_width { mean_gamma(cell.kernel, &data.samples) } else { cell.gamma };
    let kernel = cell.kernel_of(gamma)?;
    let plain = KernelGram::new(&data.samples, kernel.clone())?;
    let gram = OffsetGram::new(&plain, 1.0);
    let rows = Rows::new(&gram, cell.memory.unwrap_or_else(machine::budget), par);
    let dual = l2_svm((0..n).collect(), labels.signs.clone(), cell.c)?;
    let stop = Stop { max_time: cell.time_limit_seconds.map(Duration::from_secs_f64), ..Stop::at(cell.tol) };
    let kernel_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let solving = Instant::now();
    let start = random_start(&dual, &rows, POINTS, cell.seed)?;
    let (outcome, certificate) = solve_certified(&dual, &rows, start, &config(cell, par), &stop, &mut Silent)?;
    let solve_seconds = solving.elapsed().as_secs_f64();
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let solution = &outcome.solution;
    let accuracy = match &test {
        Some(test) => Some(accuracy(&data.samples, &kernel, &decision(&dual, &solution.alpha, 1.0), &labels, test, par)?),
        None => None,
    };
    let steps = outcome.steps;
    Ok(Measured {
        iterations: Some(solution.work.iterations),
        rows_computed: solution.work.rows_computed,
        accuracy,
        objective: certificate.dual,
        kkt: certificate.kkt,
        relative_gap: certificate.relative_gap(),
        support_vectors: solution.alpha.iter().filter(|a| **a > 0.0).count(),
        status: format!("{:?}", solution.status),
        read_seconds,
        kernel_seconds,
        solve_seconds,
        total_seconds,
        kernel_bytes: rows.work().peak_bytes,
        simplex: Some(Simplex {
            core_set: outcome.core_set,
            evidence: format!("{:?}", outcome.evidence),
            toward_steps: steps.toward,
            away_steps: steps.away,
            swap_steps: steps.swap,
            drop_steps: steps.drop,
            rounds: steps.rounds,
            samples: steps.samples,
            ordinary_objective: ordinary(&dual, solution).map(|l2| -l2.objective),
            gamma,
        }),
        ..Measured::default()
    })
}

fn config<'p>(cell: &Cell, par: Par<'p>) -> FrankWolfeConfig<'p> {
    let method = match cell.solver {
        Solver::Cvm => Method::Cvm,
        Solver::Fw => Method::Fw,
        Solver::Mfw => Method::Mfw,
        Solver::Swap => Method::Swap,
        // No other name leads here.
        _ => Method::Pairwise,
    };
    let rule = match cell.bound {
        Bound::RelativeGap => Rule::RelativeGap,
        Bound::Radius => Rule::Radius,
        Bound::Violation => Rule::Violation,
    };
    let finish = if cell.sampled_stop { Finish::Sample } else { Finish::Scan };
    let sampling = cell.sample.map(|candidates| Sampling { candidates, seed: cell.seed, finish });
    FrankWolfeConfig { rule, sampling, par, ..FrankWolfeConfig::of(method) }
}

/// γ from the mean squared distance of two samples, `2 (mean ‖x‖² − ‖mean x‖²)`.
fn mean_gamma(kernel: KernelName, samples: &Samples) -> f64 {
    let mut mean = vec![0.0; samples.features()];
    let mut norms = 0.0;
    for i in 0..samples.len() {
        samples.row(i).for_each(|k, v| {
            mean[k] += v;
            norms += v * v;
        });
    }
    let n = samples.len() as f64;
    let distance = 2.0 * (norms / n - mean.iter().map(|m| (m / n) * (m / n)).sum::<f64>());
    if kernel == KernelName::Rbf { 0.5 / distance } else { 1.0 / distance }
}

/// Percent of the test samples whose label the decision function gives.
fn accuracy(
    samples: &Samples,
    kernel: &Kernel,
    decision: &maxmargin::frankwolfe::Decision,
    labels: &BinaryLabels,
    test: &maxmargin::data::Dataset,
    par: Par,
) -> Result<f64, Failure> {
    let used: Vec<usize> = (0..decision.coef.len()).filter(|&k| decision.coef[k] != 0.0).collect();
    let coef: Vec<f64> = used.iter().map(|&k| decision.coef[k]).collect();
    let values = decision_values(kernel, &samples.select(&used), &coef, decision.bias, &test.samples, par)?;
    let right = values.iter().zip(&test.labels).filter(|(v, y)| labels.label(**v) == **y).count();
    Ok(100.0 * right as f64 / test.labels.len() as f64)
}
