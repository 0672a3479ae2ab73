//! Properties of solutions of problems of any shape: certified, and one machine however the problem
//! is written.

use maxmargin_core::{Certificate, Dual, Solution, Start, Status, Stop, certify};
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Rows};
use maxmargin_smo::{Shrinking, SmoConfig, solve};
use maxmargin_testkit::{cases, strategies::any_problem};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Three threads, for as long as the tests run.
static POOL: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool"));

fn gram(samples: &Samples, log_gamma: f64) -> KernelGram {
    KernelGram::new(samples, Kernel::rbf(10_f64.powf(log_gamma)), &RunControl::unlimited()).expect("a kernel")
}

fn run(dual: &Dual, gram: &dyn Gram, start: Start, tol: f64, config: &SmoConfig) -> Solution {
    let rows = Rows::new(gram, 1 << 24, config.par);
    solve(dual, &rows, start, config, &Stop { max_iter: Some(1_000_000), ..Stop::at(tol) }, &RunControl::unlimited())
        .expect("a problem for SMO")
}

/// The solution from zero and its certificate.
fn certified(dual: &Dual, gram: &dyn Gram, tol: f64, config: &SmoConfig) -> (Solution, Certificate) {
    let solution = run(dual, gram, Start::zero(dual).expect("feasible"), tol, config);
    let certificate = certify(dual, gram, &solution, Par::Seq);
    (solution, certificate)
}

/// `y α` of every row.
fn signed(dual: &Dual, solution: &Solution) -> Vec<f64> {
    let mut beta = vec![0.0; dual.len()];
    dual.ids().iter().enumerate().for_each(|(k, &i)| beta[i] = dual.sign()[k] * solution.alpha[k]);
    beta
}

/// Asserts that two machines are one, as far as their gaps tell.
///
/// The dual falls from α to the optimum by at least `½‖w − w*‖²`, and by at most the gap. So
/// `‖w − w'‖` is at most the sum of `√(2 gap)` of both. `βᵀKβ` of the difference has a rounding
/// error of at most `n ε (Σ|β|)²` for values of at most 1.
fn assert_one_machine(gram: &dyn Gram, a: (&[f64], &Certificate), b: (&[f64], &Certificate)) -> Result<(), TestCaseError> {
    let n = gram.len();
    let (mut k, rows) = (vec![0.0; n * n], (0..n).collect::<Vec<_>>());
    gram.fill_exact(&rows, 0..n, &mut k);
    let off: Vec<f64> = a.0.iter().zip(b.0).map(|(a, b)| a - b).collect();
    let square: f64 = (0..n * n).map(|at| off[at / n] * off[at % n] * k[at]).sum();
    let mass: f64 = a.0.iter().chain(b.0).map(|v| v.abs()).sum();
    let rounding = 4.0 * n as f64 * f64::EPSILON * mass * mass;
    let gaps: f64 = [a.1, b.1].iter().map(|c| (2.0 * (c.gap().max(0.0) + c.rounding.gap)).sqrt()).sum();
    prop_assert!(square <= gaps * gaps + rounding, "{square} is more than {gaps} squared");
    Ok(())
}

proptest! {
    #![proptest_config(cases(96))]

    /// A converged solution has a certificate at the tolerance, also by active variables.
    #[test]
    fn solutions_are_certified_at_their_tolerance(
        (samples, labels, upper) in any_problem(), log_gamma in -1.0..1.0_f64, digits in 1_i32..7,
    ) {
        let (gram, tol) = (gram(&samples, log_gamma), 10_f64.powi(-digits));
        let dual = Dual::c_svc((0..labels.len()).collect(), labels, upper).expect("two classes");
        let active = SmoConfig { shrinking: Shrinking { from: 2, long_from: 2, first: 3, ..Shrinking::NEVER }, ..SmoConfig::default() };
        for config in [SmoConfig::default(), active] {
            let (solution, certificate) = certified(&dual, &gram, tol, &config);
            prop_assert_eq!(solution.status, Status::Converged);
            prop_assert!(certificate.holds(tol), "{:?}", certificate);
        }
    }

    /// Neither the order of variables nor the name of the classes changes the machine.
    #[test]
    fn order_and_names_of_classes_do_not_matter(
        (samples, labels, upper) in any_problem(), log_gamma in -1.0..1.0_f64, seed in any::<u64>(),
    ) {
        let (gram, n) = (gram(&samples, log_gamma), labels.len());
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&k| (k as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let taken = |values: &[f64]| order.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        let dual = Dual::c_svc((0..n).collect(), labels.clone(), upper.clone()).expect("two classes");
        let permuted = Dual::c_svc(order.clone(), taken(&labels), taken(&upper)).expect("two classes");
        let swapped = Dual::c_svc((0..n).collect(), labels.iter().map(|y| -y).collect(), upper).expect("two classes");
        let of = |dual: &Dual| {
            let (solution, certificate) = certified(dual, &gram, 1e-6, &SmoConfig::default());
            (signed(dual, &solution), certificate)
        };
        let (plain, certificate) = of(&dual);
        let (other, its) = of(&permuted);
        assert_one_machine(&gram, (&plain, &certificate), (&other, &its))?;
        let (other, its) = of(&swapped);
        let other: Vec<f64> = other.iter().map(|b| -b).collect();
        assert_one_machine(&gram, (&plain, &certificate), (&other, &its))?;
    }

    /// A solution needs no iteration at a tolerance that it meets, and its bits stay.
    #[test]
    fn a_solution_is_its_own_start(
        (samples, labels, upper) in any_problem(), log_gamma in -1.0..1.0_f64, digits in 1_i32..7,
    ) {
        let (gram, tol) = (gram(&samples, log_gamma), 10_f64.powi(-digits));
        let dual = Dual::c_svc((0..labels.len()).collect(), labels, upper).expect("two classes");
        let (solution, _) = certified(&dual, &gram, tol, &SmoConfig::default());
        let start = Start::checked(&dual, solution.alpha.clone()).expect("a solution is a start");
        let again = run(&dual, &gram, start, 2.0 * tol, &SmoConfig::default());
        prop_assert_eq!((again.status, again.work.iterations), (Status::Converged, 0));
        prop_assert_eq!(again.alpha, solution.alpha);
    }

    /// Threads change no bit, with all variables and with active ones.
    #[test]
    fn threads_change_no_bit((samples, labels, upper) in any_problem(), log_gamma in -1.0..1.0_f64) {
        let gram = gram(&samples, log_gamma);
        let dual = Dual::c_svc((0..labels.len()).collect(), labels, upper).expect("two classes");
        for shrinking in [Shrinking::NEVER, Shrinking { from: 2, long_from: 2, first: 3, ..Shrinking::NEVER }] {
            let go = |par| {
                let start = Start::zero(&dual).expect("feasible");
                run(&dual, &gram, start, 1e-5, &SmoConfig { par, shrinking, ..SmoConfig::default() })
            };
            let (alone, together) = (go(Par::Seq), POOL.install(|| go(Par::Pool)));
            prop_assert_eq!(alone.bias.to_bits(), together.bias.to_bits());
            prop_assert_eq!((alone.alpha, alone.gradient), (together.alpha, together.gradient));
            prop_assert_eq!(alone.work.iterations, together.work.iterations);
        }
    }
}
