//! Random scripts of updates: the result is exact and does not depend on the order.

use crate::common::{Dice, Form, artificial, assert_exact, assert_optimal, gram};
use maxmargin_core::Status;
use maxmargin_data::RunControl;
use maxmargin_path::{Added, Mode, Path, PathConfig};
use proptest::prelude::*;

fn added(ids: &[usize], upper: f64) -> Vec<Added> {
    ids.iter().map(|&id| Added { id, upper }).collect()
}

fn form_of(kind: usize) -> Form {
    [Form::Rbf(1.0), Form::Linear, Form::Poly, Form::Rbf(0.01), Form::Rbf(50.0)][kind % 5]
}

/// Returns points on a coarse lattice: plenty of duplicates, ties and affine dependencies.
fn lattice(n: usize, dice: &mut Dice) -> (Vec<[f64; 2]>, Vec<f64>) {
    let side = 2 + dice.below(5);
    let point = |dice: &mut Dice| [dice.below(side) as f64, dice.below(side) as f64];
    (0..n).map(|_| (point(dice), if dice.roll() < 0.5 { 1.0 } else { -1.0 })).unzip()
}

/// Runs one random script and returns the number of exchanges; panics if a step is not exact.
fn script(seed: u64, n: usize, steps: usize, ties: bool) -> usize {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (points, labels) = if ties { lattice(n, &mut dice) } else { artificial(n, seed) };
    let form = form_of(dice.below(5));
    let gram = gram(&points, form);
    let mode = if dice.roll() < 0.25 { Mode::Single } else { Mode::Multiple };
    // Sometimes the memory holds little more than the factor.
    let memory = if dice.roll() < 0.25 { 16 * (n * n) as u64 } else { 1 << 24 };
    let mut path = Path::new(&gram, &labels, PathConfig::default().with_mode(mode).with_memory(memory)).expect("labels");
    let mut c = 10_f64.powf(3.0 * dice.roll() - 1.0);
    let mut exchanges = 0;
    for step in 0..steps {
        let inside = path.ids();
        let update = match dice.below(10) {
            0 => {
                c = 10_f64.powf(3.0 * dice.roll() - 1.0);
                path.set_c(c)
            }
            1 if !inside.is_empty() => {
                let weight = [0.0, 0.5, 1.0, 3.0][dice.below(4)];
                path.set_weight(inside[dice.below(inside.len())], c * weight)
            }
            2 if step % 7 == 0 => {
                // Only one class is left.
                let gone: Vec<usize> = inside.iter().copied().filter(|&i| labels[i] > 0.0).collect();
                path.change(&[], &gone)
            }
            _ => {
                let (p, q) = (0.3 * dice.roll(), 0.3 * dice.roll());
                let (mut add, mut remove) = (Vec::new(), Vec::new());
                for id in 0..n {
                    let known = path.alpha(id).is_some();
                    if !known && dice.roll() < p {
                        add.push(Added { id, upper: c });
                    } else if known && dice.roll() < q {
                        remove.push(id);
                    }
                }
                path.change(&add, &remove)
            }
        };
        let update = update.expect("a valid request");
        assert_exact(&path, &gram, &update, &format!("seed {seed} {form:?} {mode:?} C={c} step {step}"));
        exchanges += update.exchanges;
        assert!(update.zero_steps <= 64 + 8 * (path.len() + n), "seed {seed} step {step}: {update:?}");
    }
    assert_optimal(&path, &gram, &format!("seed {seed} {form:?} C={c}"));
    exchanges
}

/// Returns a number from the environment, for long runs: the scripts, or the updates in a row.
fn wanted(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn two_hundred_fuzzed_scripts() {
    let scripts = 1..=wanted("MAXMARGIN_SCRIPTS", 200) as u64;
    let exchanges: usize = scripts.map(|seed| script(seed, 10 + (seed as usize * 7) % 40, 12, seed % 2 == 0)).sum();
    assert!(exchanges > 0, "no sample was an affine combination of others, and points of a lattice were among them");
}

#[test]
fn a_thousand_updates_in_a_row() {
    let updates = wanted("MAXMARGIN_UPDATES", 1000);
    script(9001, 60, updates, false);
    script(9002, 50, updates, true);
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(48))]

    /// Adding and then removing the same samples restores α and the bias.
    #[test]
    fn add_then_remove_is_nothing(seed in 1_u64..1_000_000, log_c in -1.0..2.0_f64, k in 1_usize..20, kind in 0_usize..2) {
        let (points, labels) = artificial(60, seed);
        let gram = gram(&points, [Form::Rbf(1.0), Form::Rbf(10.0)][kind]);
        let c = 10_f64.powf(log_c);
        let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
        path.change(&added(&(0..40).collect::<Vec<_>>(), c), &[]).expect("new");
        let before = path.solution();
        let guests: Vec<usize> = (40..40 + k).collect();
        path.change(&added(&guests, c), &[]).expect("new");
        let update = path.change(&[], &guests).expect("members");
        prop_assert_eq!(update.status, Status::Converged);
        let after = path.solution();
        for (a, b) in before.alpha.iter().zip(&after.alpha) {
            prop_assert!((a - b).abs() <= 1e-8 * c.max(1.0), "{} {}", a, b);
        }
        prop_assert!((before.bias - after.bias).abs() <= 1e-8, "{} {}", before.bias, after.bias);
    }

    /// The same members give the same decision function in any order, at once or one by one.
    #[test]
    fn the_order_does_not_matter(seed in 1_u64..1_000_000, kind in 0_usize..5, log_c in -1.0..2.0_f64) {
        let (points, labels) = artificial(40, seed);
        let gram = gram(&points, form_of(kind));
        let c = 10_f64.powf(log_c);
        let decide = |order: &[usize], chunk: usize, mode: Mode| {
            let mut path = Path::new(&gram, &labels, PathConfig::default().with_mode(mode)).expect("labels");
            for ids in order.chunks(chunk) {
                let update = path.change(&added(ids, c), &[]).expect("new");
                assert_exact(&path, &gram, &update, "order");
            }
            let (dual, solution) = (path.dual().expect("members"), path.solution());
            let point = maxmargin_core::AuditPoint { dual: &dual, alpha: &solution.alpha, bias: solution.bias, weights: None, known: None };
            (maxmargin_core::audit(&gram, &[point], maxmargin_data::Par::Seq, &RunControl::unlimited()).expect("unlimited").remove(0), solution.bias)
        };
        let forward: Vec<usize> = (0..40).collect();
        let mut shuffled = forward.clone();
        let mut dice = Dice(seed | 1);
        (1..40).rev().for_each(|i| shuffled.swap(i, dice.below(i + 1)));
        let reference = decide(&forward, 40, Mode::Multiple);
        for other in [decide(&shuffled, 7, Mode::Multiple), decide(&shuffled, 1, Mode::Single), decide(&forward, 13, Mode::Single)] {
            let (a, b) = (reference.0.certificate.dual, other.0.certificate.dual);
            prop_assert!((a - b).abs() <= 1e-8 * a.abs().max(1.0), "{} {}", a, b);
            for (a, b) in reference.0.sums.iter().map(|sum| sum + reference.1).zip(other.0.sums.iter().map(|sum| sum + other.1)) {
                prop_assert!((a - b).abs() <= 1e-5 * (1.0 + a.abs()), "{} {}", a, b);
            }
        }
    }

    /// A path from another solver's rough solution, with C moved there and back.
    #[test]
    fn rough_solutions_become_exact(seed in 1_u64..1_000_000, kind in 0_usize..5, tol in 1e-6..1e-2_f64) {
        let (points, labels) = artificial(50, seed);
        let gram = gram(&points, form_of(kind));
        let ids: Vec<usize> = (0..50).collect();
        let dual = maxmargin_core::Dual::c_svc(ids.clone(), labels.clone(), vec![4.0; 50]).expect("two classes");
        let rough = crate::common::pairwise(&dual, &gram, tol);
        let (mut path, update) = Path::from_solution(&gram, &labels, &ids, &[4.0; 50], &rough, PathConfig::default()).expect("valid");
        assert_exact(&path, &gram, &update, "polished");
        let before = path.solution();
        let update = path.scale_c(7.0).expect("valid");
        assert_exact(&path, &gram, &update, "larger C");
        let update = path.set_c(4.0).expect("valid");
        assert_exact(&path, &gram, &update, "the old C");
        prop_assert!((before.bias - path.bias()).abs() <= 1e-6, "{} {}", before.bias, path.bias());
    }
}

/// Three samples span a plane: a sample that enters a margin of three replaces another, or goes to
/// its other bound.
#[test]
fn in_a_plane_margins_are_exchanged() {
    let mut exchanges = 0;
    for seed in 1..60 {
        let (points, labels) = artificial(40, seed);
        let gram = gram(&points, Form::Linear);
        let ids: Vec<usize> = (0..40).collect();
        let c = [0.3, 4.0, 50.0][seed as usize % 3];
        let dual = maxmargin_core::Dual::c_svc(ids.clone(), labels.clone(), vec![c; 40]).expect("two classes");
        let rough = crate::common::pairwise(&dual, &gram, 0.3);
        let (path, update) = Path::from_solution(&gram, &labels, &ids, &[c; 40], &rough, PathConfig::default()).expect("valid");
        assert_exact(&path, &gram, &update, "polished");
        assert_optimal(&path, &gram, "polished");
        exchanges += update.exchanges;
    }
    assert!(exchanges > 20, "{exchanges} exchanges");
}

#[test]
fn a_polish_counts_what_comes_into_the_margin_and_leaves_it() {
    let mut moved = 0;
    for seed in 1..60 {
        let (points, labels) = artificial(60, seed);
        let gram = gram(&points, form_of(seed as usize));
        let dual = maxmargin_core::Dual::c_svc((0..60).collect(), labels, vec![4.0; 60]).expect("two classes");
        let polish = |alpha: &[f64]| {
            maxmargin_path::polish(&dual, &gram, alpha, 1 << 24, &RunControl::unlimited()).expect("a C-SVC").solution
        };
        let solution = polish(&crate::common::pairwise(&dual, &gram, 1e-2));
        assert_eq!(solution.status, Status::Converged);
        moved += solution.work.iterations;
        assert_eq!(polish(&solution.alpha).work.iterations, 0, "seed {seed}: all are where they belong");
    }
    assert!(moved > 0, "nothing to do in any of them");
}

/// For a kernel that is not positive semidefinite, or not a number, no walk is guaranteed. The call
/// must still return, with a true status.
#[test]
fn impossible_kernels_end_in_a_status() {
    let mut dice = Dice(77);
    let (points, labels) = artificial(40, 5);
    for bad in 0..40 {
        let points = points.clone();
        let gram = maxmargin_kernel::FnGram::new(40, move |i, j| {
            let dot = points[i][0] * points[j][0] + points[i][1] * points[j][1];
            match bad % 4 {
                0 => (0.5 * dot - 1.0).tanh(),
                1 => -dot,
                2 if i != j && (i + j) % 7 == 0 => f64::NAN,
                3 => 1e200 * dot,
                _ => dot,
            }
        });
        let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
        for _ in 0..6 {
            let add: Vec<usize> = (0..40).filter(|&i| path.alpha(i).is_none() && dice.roll() < 0.4).collect();
            let remove: Vec<usize> = path.ids().into_iter().filter(|_| dice.roll() < 0.3).collect();
            let update = path.change(&added(&add, 2.0), &remove).expect("a valid request");
            assert!(matches!(update.status, Status::Converged | Status::Stalled), "{update:?}");
            if update.status == Status::Converged && bad % 4 < 2 && !path.is_empty() {
                let certificate = path.certify(maxmargin_data::Par::Seq).expect("samples");
                assert!(
                    certificate.kkt <= 2.0 * update.tolerance && certificate.infeasible <= 1e-9,
                    "{bad}: {certificate:?} {update:?}"
                );
            }
        }
    }
}

/// Figure 5: with samples that all end at C, MID needs about 1/√m of SID's breakpoints.
#[test]
fn many_at_once_need_fewer_breakpoints() {
    let n = 300;
    let (points, labels) = artificial(n, 11);
    let gram = gram(&points, Form::Rbf(1.0));
    let m = 16;
    let everyone: Vec<usize> = (0..n).collect();
    let mut full = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
    let update = full.change(&added(&everyone, 1.0), &[]).expect("new");
    assert_exact(&full, &gram, &update, "all");
    let bounded: Vec<usize> = everyone.iter().copied().filter(|&i| full.alpha(i) == Some(1.0)).take(m).collect();
    assert_eq!(bounded.len(), m);
    let run = |mode| {
        let mut path = Path::restore(&gram, &labels, &full.save(), PathConfig::default().with_mode(mode)).expect("saved").0;
        let removed = path.change(&[], &bounded).expect("members");
        assert_exact(&path, &gram, &removed, "removed");
        let put_back = path.change(&added(&bounded, 1.0), &[]).expect("new");
        assert_exact(&path, &gram, &put_back, "added");
        (removed.breakpoints as f64, put_back.breakpoints as f64)
    };
    let (multiple, single) = (run(Mode::Multiple), run(Mode::Single));
    for ratio in [multiple.0 / single.0, multiple.1 / single.1] {
        assert!((0.1..0.55).contains(&ratio), "{multiple:?} {single:?}: theory says {}", 1.0 / (m as f64).sqrt());
    }
}

/// Without a margin, samples that enter with α = 0 still bound the bias.
#[test]
fn idle_samples_move_the_middle() {
    let (points, labels) = artificial(40, 89_228);
    let gram = gram(&points, Form::Rbf(0.01));
    let bias = |chunk: usize, mode: Mode| {
        let mut path = Path::new(&gram, &labels, PathConfig::default().with_mode(mode)).expect("labels");
        (0..40).collect::<Vec<usize>>().chunks(chunk).for_each(|ids| {
            path.change(&added(ids, 1.0), &[]).expect("new");
        });
        assert_eq!(path.margin(), [] as [usize; 0]);
        path.bias()
    };
    assert!((bias(40, Mode::Multiple) - bias(13, Mode::Single)).abs() <= 1e-9);
}

/// The only optimal model has no free sample, so its bias is an interval; a path may leave a sample
/// within rounding of its bound.
#[test]
fn rounding_at_a_bound_does_not_choose_the_bias() {
    let (points, labels) = artificial(40, 795_491);
    let gram = gram(&points, form_of(4));
    let c = 10_f64.powf(-0.456_728_732_739_076_4);
    let mut order: Vec<usize> = (0..40).collect();
    let bias = |order: &[usize], mode: Mode| {
        let mut path = Path::new(&gram, &labels, PathConfig::default().with_mode(mode)).expect("labels");
        order.chunks(if mode == Mode::Single { 1 } else { 40 }).for_each(|ids| {
            path.change(&added(ids, c), &[]).expect("new");
        });
        assert_eq!(path.margin(), [] as [usize; 0]);
        path.bias()
    };
    let at_once = bias(&order, Mode::Multiple);
    let mut dice = Dice(795_491);
    (1..40).rev().for_each(|i| order.swap(i, dice.below(i + 1)));
    assert!((at_once - bias(&order, Mode::Single)).abs() <= 1e-9);
}
