//! Steps by eliminations beside steps of the whole chunk.

use super::*;
use crate::inner_solver::least_squares::LeastSquares;
use crate::inner_solver::pairs::Extremes;
use crate::working_set::chunk::ChunkSolver;
use maxmargin_testkit::generate::rng;
use rand::RngExt;

/// A chunk of samples in the plane at its start: most are far from both bounds, one of eight is
/// at a bound or near to one. The larger the `force`, the further the solution.
fn chunk(m: usize, force: f64) -> Chunk {
    let mut rng = rng(1);
    let mut draw = || rng.random::<f64>();
    let points: Vec<[f64; 2]> = (0..m).map(|_| [4.0 * draw(), 4.0 * draw()]).collect();
    let value = |a: &[f64; 2], b: &[f64; 2]| (-(a[0] - b[0]).powi(2) - (a[1] - b[1]).powi(2)).exp();
    let mut kernel: Vec<f64> = points.iter().flat_map(|a| points.iter().map(move |b| value(a, b))).collect();
    (0..m).for_each(|i| kernel[i * m + i] += 0.1);
    let beta: Vec<f64> = (0..m)
        .map(|i| [0.0, 1.0, 0.01][i / 8 % 3])
        .enumerate()
        .map(|(i, edge)| if i % 8 == 0 { edge } else { 0.3 + 0.4 * draw() })
        .collect();
    let f = (0..m).map(|_| force * (draw() - 0.5)).collect();
    Chunk { kernel, beta, f, low: vec![0.0; m], high: vec![1.0; m], ..Chunk::default() }
}

const CAPS: Caps = Caps { begin: 0.1, end: 1e-7, lift: 1e-12 };

fn whole(chunk: &Chunk) -> WeightedStep {
    Weighted::new(chunk).solve(CAPS, &mut System::new(chunk), &mut || true).expect("positive definite")
}

/// Compares two settled steps: errors at bounds may have the wrong sign by a share of the cap.
fn assert_same(found: &WeightedStep, known: &WeightedStep) {
    assert!(found.settled && known.settled);
    for (k, (a, b)) in found.delta.iter().zip(&known.delta).enumerate() {
        assert!((a - b).abs() < 1e-5, "sample {k}: {a} and {b}");
    }
    assert!(found.delta.iter().sum::<f64>().abs() < 1e-9);
    assert!(found.product.iter().zip(&known.product).all(|(a, b)| (a - b).abs() < 1e-6));
}

#[test]
fn an_elimination_takes_the_step_of_the_whole() {
    let chunk = chunk(160, 0.02);
    let sorted = Sorted::of(&chunk);
    assert!(sorted.inner.len() > 120 && sorted.others.len() >= 20);
    let step = step_of(&chunk, sorted, CAPS, &mut || true).expect("a step");
    assert_same(&step, &whole(&chunk));
    assert!(step.delta.iter().any(|delta| delta.abs() > 0.01));
}

#[test]
fn samples_that_meet_a_bound_come_back() {
    let chunk = chunk(160, 0.08);
    let known = whole(&chunk);
    let sorted = Sorted::of(&chunk);
    let meets = |k: &usize| [chunk.low[*k], chunk.high[*k]].contains(&(chunk.beta[*k] + known.delta[*k]));
    let met = sorted.inner.iter().filter(|k| meets(k)).count();
    assert!(met > 0 && met * BACK <= sorted.others.len(), "{met} meet a bound");
    let elimination = Elimination::of(&chunk, sorted, CAPS, &mut || true).expect("positive definite");
    let Some(Outcome::Step(step)) = elimination.solve(CAPS, &mut || true) else { panic!("no step") };
    assert_same(&step, &known);
}

#[test]
fn many_samples_that_meet_a_bound_are_not_eliminated_again() {
    let chunk = chunk(160, 1.5);
    let sorted = Sorted::of(&chunk);
    let elimination = Elimination::of(&chunk, sorted.clone(), CAPS, &mut || true).expect("positive definite");
    let Some(Outcome::Left(left)) = elimination.solve(CAPS, &mut || true) else { panic!("a step") };
    assert!(left.inner.len() < sorted.inner.len() && left.inner.len() + left.others.len() == chunk.len());
    if let Some(step) = step_of(&chunk, sorted, CAPS, &mut || true) {
        assert_same(&step, &whole(&chunk));
    }
}

#[test]
fn a_large_chunk_is_solved_by_few_steps() {
    let mut chunk = chunk(FEWEST, 0.05);
    assert!(Sorted::of_large(&chunk).is_some());
    let (given, before) = (chunk.f.clone(), chunk.beta.clone());
    let mut counted = 0;
    LeastSquares.solve(&mut chunk, 1e-6, &mut || {
        counted += 1;
        counted < 500
    });
    let extremes = Extremes::of(&chunk);
    assert!(extremes.violation() <= 1e-6 && counted < 500, "{extremes:?} after {counted}");
    let change: Vec<f64> = chunk.beta.iter().zip(&before).map(|(b, old)| b - old).collect();
    assert!(change.iter().sum::<f64>().abs() < 1e-9);
    let product = chunk.multiply(&change);
    assert!((0..chunk.len()).all(|k| (given[k] + product[k] - chunk.f[k]).abs() < 1e-9));
}

#[test]
fn an_elimination_ends_with_the_run() {
    let chunk = chunk(FEWEST, 0.02);
    let sorted = Sorted::of_large(&chunk).expect("most samples are inner ones");
    assert!(step_of(&chunk, sorted, CAPS, &mut || false).is_none());
}
