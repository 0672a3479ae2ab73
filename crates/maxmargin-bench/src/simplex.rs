//! Trainings of the L2-SVM on the simplex: of two classes, or of each pair of classes.

use crate::cell::{Bound, Cell, Failure, KernelName, Solver};
use crate::measured::{Measured, Simplex, accuracy, worst};
use crate::{machine, split};
use maxmargin::core::{Certificate, Dual, Silent, Status, Stop, certify, certify_gradient};
use maxmargin::cv::{ClassOrder, PairProblem, PairRows, Quiet, train_pairs};
use maxmargin::data::{ClassLabels, Par, Samples};
use maxmargin::frankwolfe::{
    Evidence, Finish, FrankWolfeConfig, Method, Outcome, POINTS, Rule, Sampling, decision, l2_svm, ordinary, random_start, solve,
};
use maxmargin::kernel::{KernelGram, OffsetGram, Rows};
use maxmargin::model::MulticlassModel;
use std::time::{Duration, Instant};

/// The training of one pair.
struct Trained {
    dual: Dual,
    outcome: Outcome,
    certificate: Certificate,
    ids: Vec<usize>,
    train_seconds: f64,
    cpu_seconds: Option<f64>,
    certify_seconds: f64,
}

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let begun = Instant::now();
    let (data, test) = split::load(cell, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let labels = ClassLabels::new(&data.labels)?;
    let order = ClassOrder::new(&labels);
    // A problem of two classes stays in the order of its file: every so manyeth sample is then one of any kind.
    let two = labels.binary();
    let sorted = if two.is_some() { data.samples.clone() } else { data.samples.select(order.original()) };
    let gamma = if cell.mean_width { mean_gamma(cell.kernel, &data.samples) } else { cell.gamma };
    let kernel = cell.kernel_of(gamma)?;
    let plain = KernelGram::new(&sorted, kernel.clone())?;
    let gram = OffsetGram::new(&plain, 1.0);
    let budget = cell.memory.unwrap_or_else(machine::budget);
    let kernel_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let solving = Instant::now();
    let limit = cell.time_limit_seconds.map(Duration::from_secs_f64);
    let left = || Stop { max_time: limit.map(|most| most.saturating_sub(solving.elapsed())), ..Stop::at(cell.tol) };
    let trained: Vec<Trained> = if let Some(two) = two {
        let rows = Rows::new(&gram, budget, par);
        let ids: Vec<usize> = (0..two.signs.len()).collect();
        vec![train(cell, l2_svm(ids.clone(), two.signs, cell.c)?, ids, &rows, 0, &left(), par)?]
    } else {
        let rows = PairRows::Own { gram: &gram, budget, par };
        train_pairs(&order, rows, par, &Quiet, |problem: PairProblem, _| {
            let ids = problem.pair.ids().map(|id| order.original()[id]).collect();
            let dual = l2_svm(problem.ids, problem.pair.signs(), cell.c)?;
            train(cell, dual, ids, problem.rows, problem.index, &left(), problem.par)
        })?
    };
    let solve_seconds = solving.elapsed().as_secs_f64();
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let machines: Vec<_> = trained.iter().map(Trained::machine).collect();
    let model = MulticlassModel::from_machines(kernel, &data.samples, &labels, &machines)?;
    let accuracy = test.map(|test| accuracy(&model, &test, par)).transpose()?;
    let sum = |of: fn(&Trained) -> u64| trained.iter().map(of).sum();
    let certificates = || trained.iter().map(|t| t.certificate);
    let weakest = trained.iter().map(|t| t.outcome.evidence).max_by_key(|e| *e as usize);
    let status = trained.iter().map(|t| t.outcome.solution.status).reduce(Status::worse).unwrap_or(Status::Converged);
    Ok(Measured {
        iterations: Some(sum(|t| t.outcome.solution.work.iterations)),
        rows_computed: sum(|t| t.outcome.solution.work.rows_computed),
        accuracy,
        objective: certificates().map(|c| c.dual).sum(),
        kkt: worst(certificates().map(|c| c.kkt)),
        relative_gap: worst(certificates().map(|c| c.relative_gap())),
        support_vectors: model.parts().support.len(),
        status: format!("{status:?}"),
        read_seconds,
        kernel_seconds,
        solve_seconds,
        certify_seconds: trained.iter().map(|t| t.certify_seconds).sum(),
        total_seconds,
        simplex: Some(Simplex {
            train_rows: data.labels.len(),
            classes: labels.count(),
            train_seconds: trained.iter().map(|t| t.train_seconds).sum(),
            cpu_seconds: trained.iter().map(|t| t.cpu_seconds).sum(),
            core_set: trained.iter().map(|t| t.outcome.core_set).sum(),
            evidence: weakest.map_or_else(String::new, |evidence| format!("{evidence:?}")),
            toward_steps: sum(|t| t.outcome.steps.toward),
            away_steps: sum(|t| t.outcome.steps.away),
            swap_steps: sum(|t| t.outcome.steps.swap),
            drop_steps: sum(|t| t.outcome.steps.drop),
            rounds: sum(|t| t.outcome.steps.rounds),
            samples: sum(|t| t.outcome.steps.samples),
            ordinary_objective: match &trained[..] {
                [only] => ordinary(&only.dual, &only.outcome.solution).map(|l2| -l2.objective),
                _ => None,
            },
            gamma,
        }),
        ..Measured::default()
    })
}

/// The pair `index`: its own start and samples; what it gets to is judged outside the clock.
fn train(cell: &Cell, dual: Dual, ids: Vec<usize>, rows: &Rows, index: usize, stop: &Stop, par: Par) -> Result<Trained, Failure> {
    let (begun, cpu_begun) = (Instant::now(), machine::cpu_seconds());
    let seed = cell.seed.wrapping_add((index as u64) << 32);
    let start = random_start(&dual, rows, POINTS, seed)?;
    let outcome = solve(&dual, rows, start, &config(cell, seed, par), stop, &mut Silent)?;
    let train_seconds = begun.elapsed().as_secs_f64();
    let cpu_seconds = machine::cpu_seconds().zip(cpu_begun).map(|(now, begun)| now - begun);
    let solution = &outcome.solution;
    let certificate = if outcome.evidence == Evidence::FullScan {
        certify_gradient(&dual, &solution.alpha, solution.bias, &solution.gradient)
    } else {
        certify(&dual, rows.gram(), solution, par)
    };
    let certify_seconds = begun.elapsed().as_secs_f64() - train_seconds;
    Ok(Trained { dual, outcome, certificate, ids, train_seconds, cpu_seconds, certify_seconds })
}

impl Trained {
    /// (row of the data, coefficient), rows ascending, and the bias.
    fn machine(&self) -> (Vec<(usize, f64)>, f64) {
        let decision = decision(&self.dual, &self.outcome.solution.alpha, 1.0);
        let all = self.ids.iter().copied().zip(decision.coef);
        let mut terms: Vec<(usize, f64)> = all.filter(|(_, coef)| *coef != 0.0).collect();
        terms.sort_by_key(|term| term.0);
        (terms, decision.bias)
    }
}

fn config(cell: &Cell, seed: u64, par: Par) -> FrankWolfeConfig {
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
    let sampling = cell.sample.filter(|candidates| *candidates > 0).map(|candidates| {
        let usual = Sampling::of(candidates, seed, finish);
        Sampling { balanced: cell.sample_balanced, tries: cell.sample_tries.unwrap_or(usual.tries), ..usual }
    });
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
