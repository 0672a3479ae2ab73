//! Limits of a path in time and memory, ties, and slow samples.

use crate::common::{Form, artificial, assert_exact, gram};
use maxmargin_core::{RunControl, Status};
use maxmargin_data::Par;
use maxmargin_kernel::{FnGram, Gram};
use maxmargin_path::{Added, Path, PathConfig, PathError, polish};
use std::ops::ControlFlow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A Gram matrix that counts the exact values it computes.
struct Counted<G> {
    inner: G,
    values: AtomicU64,
}

impl<G: Gram> Gram for Counted<G> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn diagonal(&self) -> &[f64] {
        self.inner.diagonal()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        self.inner.fill(rows, columns, out);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.values.fetch_add((rows.len() * columns.len()) as u64, Ordering::Relaxed);
        self.inner.fill_exact(rows, columns, out);
    }

    fn indefiniteness(&self) -> f64 {
        self.inner.indefiniteness()
    }
}

fn counted(n: usize, gamma: f64) -> (Counted<impl Gram>, Vec<f64>) {
    let (points, labels) = artificial(n, 5);
    (Counted { inner: gram(&points, Form::Rbf(gamma)), values: AtomicU64::new(0) }, labels)
}

/// The number of values between two checks: a piece of work is 2²⁴ operations, a value counts as
/// 64.
const PIECE: u64 = (1 << 24) / 64;

/// After a cancellation at the k-th check no kernel value is computed, and between two checks at
/// most a piece.
#[test]
fn every_part_of_a_path_ends_when_it_is_told() {
    let n = 900;
    let (gram, labels) = counted(n, 30.0);
    let values = || gram.values.load(Ordering::Relaxed);
    let ids: Vec<usize> = (0..n).collect();
    let add: Vec<Added> = ids.iter().map(|&id| Added { id, upper: 10.0 }).collect();
    let mut asked_in_all = 0;
    // The finish from an empty model, the walk from an empty model, and a walk along C.
    for what in 0..3 {
        let whole = AtomicU64::new(0);
        for most in [0, 1, 3, 10, u64::MAX] {
            let (looks, at, widest) = (AtomicU64::new(0), AtomicU64::new(values()), AtomicU64::new(0));
            let control = RunControl::new(|_| {
                let now = values();
                widest.fetch_max(now - at.swap(now, Ordering::Relaxed), Ordering::Relaxed);
                let may_continue = looks.fetch_add(1, Ordering::Relaxed) < most;
                if may_continue { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            // Little memory: columns are computed again and again.
            let config = PathConfig::default().with_memory(20 * (n * n) as u64);
            let fresh = Path::new(&gram, &labels, config.clone()).expect("labels");
            let result = match what {
                0 => fresh.control(&control).adopt(&ids, &[10.0; 900], &[0.0; 900]),
                1 => fresh.control(&control).change(&add, &[]),
                _ => {
                    let mut whole = fresh;
                    whole.change(&add, &[]).expect("new samples");
                    let mut path = whole.control(&control);
                    at.store(values(), Ordering::Relaxed);
                    path.set_c(1.0)
                }
            };
            drop(control);
            let (looks, at, widest) = (looks.into_inner(), at.into_inner(), widest.into_inner());
            assert!(widest <= 2 * PIECE, "{what}: {widest} values between two questions");
            if most == u64::MAX {
                result.expect("nobody ended it");
                whole.store(looks, Ordering::Relaxed);
                asked_in_all += looks;
            } else if let Err(error) = result {
                assert_eq!((error, looks), (PathError::Interrupted, most + 1), "{what}");
                assert_eq!(at, values(), "{what}: nothing is computed after the no");
            } else {
                assert!(looks <= most, "{what}: {looks} questions, and the no was not heard");
            }
        }
    }
    assert!(asked_in_all > 20, "{asked_in_all} questions: the problem is too small to show anything");
}

#[test]
fn a_path_that_was_called_off_says_so_for_ever() {
    let (gram, labels) = counted(900, 30.0);
    let add: Vec<Added> = (0..900).map(|id| Added { id, upper: 10.0 }).collect();
    let never = RunControl::new(|_| ControlFlow::Break(()));
    let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels").control(&never);
    assert_eq!(path.change(&add, &[]), Err(PathError::Interrupted));
    assert_eq!(path.set_c(1.0), Err(PathError::Interrupted));
    assert_eq!(path.resume(None), Err(PathError::Interrupted));
    assert_eq!(path.finish(), Err(PathError::Interrupted));
    assert_eq!(path.solution().status, maxmargin_core::Status::Interrupted);
    let dual = path.dual().expect("samples");
    assert_eq!(polish(&dual, &gram, &[0.0; 900], 1 << 30, &never), Err(PathError::Interrupted));
}

/// The budget covers columns and factor together. If the factor alone needs more, there is one
/// error before any column is computed.
#[test]
fn the_budget_holds_factor_and_columns() {
    let n = 300;
    let (gram, labels) = counted(n, 30.0);
    let ids: Vec<usize> = (0..n).collect();
    let upper = vec![10.0; n];
    let (whole, update) = Path::from_solution(&gram, &labels, &ids, &upper, &vec![0.0; n], PathConfig::default()).expect("fits");
    let alpha = whole.solution().alpha;
    let free = whole.margin().len();
    assert!(free > 100, "{free} samples in the margin");
    let all = update.bytes;
    let mut columns = 0;
    for budget in [all, all / 2, 14 * (free * free) as u64] {
        let config = PathConfig::default().with_memory(budget);
        let (mut path, update) = Path::from_solution(&gram, &labels, &ids, &upper, &alpha, config).expect("the factor fits");
        assert_exact(&path, &gram, &update, "within a budget");
        let later = path.change(&[], &[ids[0], ids[7], ids[19]]).expect("members");
        assert_exact(&path, &gram, &later, "removed within a budget");
        // Columns under computation come on top: an eighth of the budget, or eight.
        let room = budget + (budget / 8).max(8 * 8 * n as u64);
        assert!(later.bytes <= room && path.bytes() <= room, "{} of {budget}", later.bytes);
        let needed = update.columns + later.columns;
        assert!(needed >= columns, "less memory, less work: {needed} columns, {columns} before");
        columns = needed;
    }
    let before = gram.values.load(Ordering::Relaxed);
    let config = PathConfig::default().with_memory(Path::memory_of(free) - 1);
    let refused = Path::from_solution(&gram, &labels, &ids, &upper, &alpha, config).expect_err("no room");
    assert!(matches!(refused, PathError::Memory { margin, .. } if margin == free), "{refused}");
    // Only the residuals were computed: they show which samples are free.
    assert!(gram.values.load(Ordering::Relaxed) - before <= (n * n) as u64);
    let config = PathConfig::default().with_memory(1000);
    let add: Vec<Added> = ids.iter().map(|&id| Added { id, upper: 10.0 }).collect();
    let mut path = Path::new(&gram, &labels, config).expect("labels");
    assert!(matches!(path.change(&add, &[]), Err(PathError::Memory { .. })));
    assert!(matches!(path.resume(None), Err(PathError::Memory { .. })), "the model is none");
}

/// Eighty corners of a regular polygon against its centre: all meet the margin together and join it
/// one after the other, while the path does not move. The path still reaches its end and leaves no
/// work to the finish.
#[test]
fn a_tie_of_many_is_walked_through() {
    let n = 80;
    let point = move |i: usize| {
        let turn = std::f64::consts::TAU * i as f64 / n as f64;
        if i < n { (turn.cos(), turn.sin()) } else { (0.0, 0.0) }
    };
    let gram = FnGram::new(n + 1, move |i, j| {
        let ((a, b), (c, d)) = (point(i), point(j));
        (-20.0 * ((a - c).powi(2) + (b - d).powi(2))).exp()
    });
    let labels: Vec<f64> = (0..=n).map(|i| if i < n { 1.0 } else { -1.0 }).collect();
    let add: Vec<Added> = (0..=n).map(|id| Added { id, upper: if id < n { 1e-3 } else { 1e3 } }).collect();
    let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
    path.change(&add, &[]).expect("new samples");
    let bounds: Vec<(usize, f64)> = (0..n).map(|id| (id, 10.0)).collect();
    let update = path.set_weights(&bounds).expect("members");
    assert_exact(&path, &gram, &update, "ties");
    assert!(update.zero_steps > n / 2, "{update:?}");
    assert_eq!((update.travelled, update.repairs), (1.0, 0), "{update:?}");
}

/// A sample whose residual moves 10⁻¹¹ times as fast as the coefficients is still an event of its
/// own, not work for the finish.
#[test]
fn a_slow_sample_is_not_passed_by() {
    // p and q are free and hold the bias at half of C_e. u and v are opposite points whose C grows
    // from 10³ to 10⁴, at the bound all the way. That moves the residual of e by 10⁻¹¹ · 2 · 9,000.
    // It begins half of that inside its margin, at C.
    let (near, coupling) = (1e-3, 1e-8);
    let points =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, near, 0.0], [0.0, 0.0, -near, 0.0], [0.0, 0.0, coupling, 1.0]];
    let gram = FnGram::new(5, move |i, j| {
        let (a, b): ([f64; 4], [f64; 4]) = (points[i], points[j]);
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    });
    let way = near * coupling * 2.0 * 9000.0;
    // r_e = C_e + C_e/2 − 1 + the part of u and v = −way/2 at the beginning.
    let at_bound = (1.0 - near * coupling * 2000.0 - 0.5 * way) / 1.5;
    let upper = [10.0, 10.0, 1e3, 1e3, at_bound];
    let labels = [1.0, -1.0, 1.0, -1.0, 1.0];
    let add: Vec<Added> = upper.iter().enumerate().map(|(id, &upper)| Added { id, upper }).collect();
    let mut path = Path::new(&gram, &labels, PathConfig::default()).expect("labels");
    let begun = path.change(&add, &[]).expect("new samples");
    assert_eq!((begun.margin, begun.bounded), (2, 3), "{begun:?}");
    let update = path.set_weights(&[(2, 1e4), (3, 1e4)]).expect("members");
    assert_exact(&path, &gram, &update, "slow");
    assert_eq!((update.breakpoints, update.repairs, update.margin), (1, 0, 3), "{update:?}");
}

/// Once, an α within 10⁻¹² of such a C counted as 0, and the residuals were those of the point
/// before: the status was converged at α = 0.
#[test]
fn a_bound_far_above_every_alpha_leaves_the_solution() {
    let points = [0.0, 1.0];
    let gram = FnGram::new(2, move |i, j| points[i] * points[j]);
    for c in [1e10, 1e13, 1e15, 1e100, 1e300] {
        let mut path = Path::new(&gram, &[-1.0, 1.0], PathConfig::default()).expect("labels");
        path.change(&[Added { id: 0, upper: 10.0 }, Added { id: 1, upper: 10.0 }], &[]).expect("a path");
        let update = path.set_c(c).expect("a path");
        let certificate = path.certify(Par::Seq).expect("two samples");
        assert_eq!(update.status == Status::Converged, certificate.holds(1e-8), "{c:e}: {update:?} {certificate:?}");
        assert_eq!((update.status, path.alpha(0), path.alpha(1)), (Status::Converged, Some(2.0), Some(2.0)), "{c:e}");
    }
}
