//! Tests of the factor: insertion, deletion, solutions.

use super::*;

fn kernel(i: usize, j: usize) -> f64 {
    let point = |i: usize| ((i * 37 % 23) as f64 / 7.0, (i * 17 % 29) as f64 / 9.0);
    let ((a, b), (c, d)) = (point(i), point(j));
    (-((a - c).powi(2) + (b - d).powi(2))).exp()
}

/// The largest residual of the bordered system for the samples `ids`.
fn residual(factor: &Factor, ids: &[usize]) -> f64 {
    let rhs: Vec<f64> = ids.iter().map(|&i| (i as f64).sin()).collect();
    let mut x = rhs.clone();
    let b = factor.solve(&mut x, 0.7);
    let rows = ids.iter().zip(&rhs).map(|(&i, r)| {
        let sum: f64 = ids.iter().zip(&x).map(|(&j, v)| kernel(i, j) * v).sum();
        (sum + b - r).abs()
    });
    rows.fold((x.iter().sum::<f64>() - 0.7).abs(), f64::max)
}

#[test]
fn insertions_and_deletions_keep_the_system_solved() {
    let mut factor = Factor::new(1.0);
    let mut ids: Vec<usize> = Vec::new();
    for round in 0..60_usize {
        if round % 3 == 2 {
            let k = round * 7 % ids.len();
            factor.remove(k);
            ids.remove(k);
        } else {
            assert!(factor.append(ids.iter().map(|&j| kernel(round, j)), 1.0));
            ids.push(round);
        }
        assert!(residual(&factor, &ids) < 1e-9, "round {round}: {}", residual(&factor, &ids));
    }
    let mut built = Factor::new(1.0);
    assert!(
        built
            .build(Mat::from_fn(ids.len(), ids.len(), |i, j| kernel(ids[i], ids[j])).as_mut(), Par::Seq, &RunControl::unlimited())
            .expect("not cancelled")
    );
    for (a, b) in built.rows.iter().zip(&factor.rows) {
        assert!((a.abs() - b.abs()).abs() < 1e-9);
    }
}

#[test]
fn many_are_appended_with_the_bits_of_one_after_the_other() {
    let fill = |factor: &mut Factor, known: usize| {
        (0..known).for_each(|j| assert!(factor.append((0..j).map(|i| kernel(i, j)), 1.0)));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    for (known, more) in [(0, 3), (5, 1), (7, 20), (23, 2 * TOGETHER), (2, ROUND + 3)] {
        let (mut each, mut all) = (Factor::new(1.0), Factor::new(1.0));
        fill(&mut each, known + more);
        fill(&mut all, known);
        assert_eq!(
            pool.install(|| all.append_all(more, |j, i| kernel(i, known + j), Par::Pool, &RunControl::unlimited())),
            Ok(more)
        );
        assert_eq!((&each.rows, &each.ones), (&all.rows, &all.ones));
    }
    // The third is the first once more.
    let (mut factor, ids) = (Factor::new(1.0), [0, 4, 9, 4, 11]);
    fill(&mut factor, 2);
    assert_eq!(
        factor.append_all(4, |j, i| kernel(if i < 2 { i } else { ids[i - 1] }, ids[j + 1]), Par::Seq, &RunControl::unlimited()),
        Ok(2)
    );
    assert_eq!(factor.len(), 4);
}

#[test]
fn a_duplicate_is_refused_and_named() {
    let mut factor = Factor::new(1.0);
    for i in 0..4 {
        assert!(factor.append((0..i).map(|j| kernel(i, j)), 1.0));
    }
    assert!(!factor.append((0..4).map(|j| kernel(2, j)), 1.0));
    let mut z = Vec::new();
    factor.combination(&mut z);
    for (k, v) in z.iter().enumerate() {
        assert!((v - f64::from(u8::from(k == 2))).abs() < 1e-12);
    }
    assert_eq!(Factor::new(1.0).build(Mat::from_fn(2, 2, |_, _| 1.0).as_mut(), Par::Seq, &RunControl::unlimited()), Ok(false));
}

#[test]
fn one_more_sample_than_the_rank_is_allowed() {
    // Linear kernel in one dimension: rank 1, yet two distinct points are affinely independent.
    let points = [1.0, 3.0, 2.0];
    let mut factor = Factor::new(1.0);
    assert!(factor.append(std::iter::empty(), 1.0));
    assert!(factor.append([3.0].into_iter(), 9.0));
    assert!(!factor.append(points[..2].iter().map(|p| 2.0 * p), 4.0));
    let mut z = Vec::new();
    factor.combination(&mut z);
    assert!((z[0] - 0.5).abs() < 1e-12 && (z[1] - 0.5).abs() < 1e-12);
}
