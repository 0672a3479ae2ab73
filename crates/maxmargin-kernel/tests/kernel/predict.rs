//! Predictions of prepared support vectors: values that depend on no other query, and labels in
//! `f32` that are those of `f64`.

use crate::common::{KINDS, Kind, kernels, samples, stream};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Expansion, Kernel, Labels, Predictor, fallbacks};
use proptest::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Terms and constants of expansions.
type Terms = Vec<(Vec<u32>, Vec<f64>, f64)>;

fn borrowed(terms: &Terms) -> Vec<Expansion<'_>> {
    terms.iter().map(|(support, coef, bias)| Expansion { support, coef, bias: *bias }).collect()
}

/// Machines for each pair of classes over `count` vectors of `classes` classes, with coefficients
/// of this size. Every ninth coefficient is 0.
fn pairs(count: usize, classes: usize, size: f64, seed: u64) -> Terms {
    let mut next = stream(seed);
    let mut terms = Vec::new();
    for a in 0..classes {
        for b in a + 1..classes {
            let support: Vec<u32> = (0..count as u32).filter(|k| [a, b].contains(&(*k as usize % classes))).collect();
            let sign = |k: u32| if k as usize % classes == b { size } else { -size };
            let coef = support.iter().map(|&k| if k % 9 == 8 { 0.0 } else { sign(k) * next() }).collect();
            terms.push((support, coef, size * 0.1 * (next() - 0.5)));
        }
    }
    terms
}

/// The number of machines above 0, which any of their signs changes; none where a sign is open.
fn above(values: &[f64], bounds: &[f64]) -> Option<f64> {
    let open = values.iter().zip(bounds).any(|(value, bound)| *bound != 0.0 && (value.abs() <= *bound || !value.is_finite()));
    (!open).then(|| values.iter().enumerate().map(|(p, value)| if *value >= 0.0 { (1_u64 << p) as f64 } else { 0.0 }).sum())
}

/// Checks labels and values of a predictor in every way of asking, and returns the labels.
fn consistent(predictor: &Predictor, queries: &Samples, what: &str) -> Labels {
    let table = predictor.decision_table(queries, Par::Seq).expect("values");
    let count = table.len() / queries.len().max(1);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for (size, step) in [(1, 7), (2, 31), (5, 13), (33, 40)] {
        for first in (0..queries.len()).step_by(step) {
            let ids: Vec<usize> = (first..queries.len().min(first + size)).rev().collect();
            let part = predictor.decision_table(&queries.select(&ids), Par::Seq).expect("values");
            for (row, &q) in ids.iter().enumerate() {
                let (found, want) = (&part[row * count..][..count], &table[q * count..][..count]);
                assert_eq!(bits(found), bits(want), "{what}: query {q} in a batch of {size}");
            }
        }
    }
    let seen = Mutex::new(Vec::new());
    let recording = |values: &[f64], bounds: &[f64]| {
        seen.lock().expect("no panic").push((values.to_vec(), bounds.to_vec()));
        above(values, bounds)
    };
    let labels = predictor.labels(queries, Par::Seq, recording).expect("labels");
    let exact: Vec<f64> = table.chunks(count).map(|row| above(row, &vec![0.0; count]).expect("exact")).collect();
    assert_eq!(labels.labels, exact, "{what}");
    if labels.in_singles {
        let seen = seen.into_inner().expect("no panic");
        for (q, ((values, bounds), exact)) in seen.iter().zip(table.chunks(count)).enumerate().take(queries.len()) {
            for ((value, bound), exact) in values.iter().zip(bounds).zip(exact) {
                let is_within = *bound == f64::INFINITY || (value - exact).abs() <= *bound;
                assert!(is_within, "{what}: query {q} has {value} ± {bound} for {exact}");
            }
        }
    }
    labels
}

#[test]
fn values_depend_on_no_other_query_and_labels_are_exact() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for kind in KINDS {
        let (support, queries) = (samples(kind, 230, 9, 2), samples(kind, 133, 9, 3));
        for kernel in kernels(kind, 9) {
            for classes in [2, 3, 8] {
                let terms = pairs(230, classes, 3.0, 5);
                let predictor = Predictor::new(&kernel, &support, &borrowed(&terms)).expect("valid");
                let what = format!("{kind:?} {kernel:?} {classes}");
                let labels = consistent(&predictor, &queries, &what);
                let threads = pool.install(|| predictor.labels(&queries, Par::Pool, above)).expect("labels");
                assert_eq!(labels, threads, "{what}");
                let of_panels = matches!(kernel, Kernel::Rbf { .. }) && kind != Kind::Sparse;
                assert_eq!(labels.in_singles, of_panels, "{what}");
                assert!(!of_panels || labels.recomputed <= queries.len() / 4, "{what}: {} recomputed", labels.recomputed);
            }
        }
    }
    assert_eq!(fallbacks(), []);
}

/// Queries of other forms and ranges than the support vectors: reals among integers, features that
/// no vector has, and values far away.
#[test]
fn queries_of_other_forms_have_the_values_of_their_own() {
    for kind in KINDS {
        let support = samples(kind, 100, 6, 2);
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut next = stream(9);
        for q in 0..70 {
            let mut row: Vec<f64> = (0..8).map(|_| (next() * 3.0).floor()).collect();
            match q % 6 {
                // Squares of these do not fit in 64 bits.
                5 => row.fill(3e9),
                0 => row[2] += 0.3,
                1 => row[7] = 0.0,
                2 => row[1] = 1e7,
                3 => row.truncate(6),
                _ => row.iter_mut().for_each(|v| *v = -*v),
            }
            row.resize(8, 0.0);
            rows.push(row);
        }
        let queries = Samples::from_rows(&rows).expect("finite values");
        for kernel in [Kernel::rbf(0.3), Kernel::rbf(1e-9), Kernel::poly(0.1, 1.0, 2)] {
            let terms = pairs(100, 3, 1.0, 4);
            let predictor = Predictor::new(&kernel, &support, &borrowed(&terms)).expect("valid");
            consistent(&predictor, &queries, &format!("{kind:?} {kernel:?}"));
            for (q, row) in predictor.decision_table(&queries, Par::Seq).expect("values").chunks(3).enumerate() {
                let entries = queries.row(q).entries();
                let at = |k: u32| crate::common::direct(&kernel, &support.row(k as usize).entries(), &entries);
                for (value, (support, coef, bias)) in row.iter().zip(&terms) {
                    let parts = support.iter().zip(coef).map(|(&k, c)| c * at(k));
                    let (want, size) = parts.fold((*bias, 0.0), |(sum, size), v: f64| (sum + v, size + v.abs()));
                    assert!((value - want).abs() <= 1e-9 * (1.0 + size), "{kind:?} {kernel:?} {q}: {value} {want}");
                }
            }
        }
    }
}

/// Decision values that are exactly 0, and coefficients whose terms cancel.
#[test]
fn ties_are_decided_in_double_precision() {
    let support = samples(Kind::Scaled, 40, 5, 1);
    let all: Vec<u32> = (0..40).collect();
    let coef: Vec<f64> = (0..40).map(|k| if k % 2 == 0 { 1e6 } else { -1e6 }).collect();
    let equal = support.select(&(0..40).map(|k| k / 2 * 2).collect::<Vec<_>>());
    let expansion = Expansion { support: &all, coef: &coef, bias: 0.0 };
    let predictor = Predictor::new(&Kernel::rbf(0.5), &equal, &[expansion]).expect("valid");
    let queries = samples(Kind::Scaled, 64, 5, 2);
    let labels = consistent(&predictor, &queries, "terms that cancel");
    assert_eq!((labels.recomputed, labels.in_singles), (64, true));
    let nothing = Expansion { coef: &[0.0; 40], ..expansion };
    let predictor = Predictor::new(&Kernel::rbf(0.5), &support, &[nothing]).expect("valid");
    assert_eq!(consistent(&predictor, &queries, "no terms").labels, [1.0; 64]);
}

/// Values in `f32` that leave every label open are given up, at the same query on any number of
/// threads.
#[test]
fn single_precision_is_given_up_where_it_decides_nothing() {
    let support = samples(Kind::Scaled, 2, 5, 1).select(&[0, 0]);
    let expansion = Expansion { support: &[0, 1], coef: &[1.0, -1.0], bias: 0.0 };
    let predictor = Predictor::new(&Kernel::rbf(0.5), &support, &[expansion]).expect("valid");
    let queries = samples(Kind::Scaled, 5000, 5, 2);
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let tried = AtomicUsize::new(0);
        let counting = |values: &[f64], bounds: &[f64]| {
            tried.fetch_add(usize::from(bounds[0] != 0.0), Ordering::Relaxed);
            above(values, bounds)
        };
        let labels = pool.install(|| predictor.labels(&queries, Par::Pool, counting)).expect("labels");
        assert_eq!((labels.recomputed, tried.into_inner()), (5000, 1024), "{threads} threads");
        assert_eq!(labels.labels, vec![1.0; 5000]);
    }
}

/// Support vectors without a single feature.
#[test]
fn vectors_without_features_have_distances() {
    for support in [
        Samples::from_dense(2, 0, Vec::new()).expect("valid"),
        Samples::from_dense(2, 3, vec![0.0; 6]).expect("valid"),
        Samples::from_sparse(u32::MAX as usize, vec![0, 0, 0], Vec::new(), Vec::new()).expect("valid"),
    ] {
        let expansion = Expansion { support: &[0, 1], coef: &[1.0, 2.0], bias: -1.5 };
        for kernel in [Kernel::rbf(0.5), Kernel::poly(1.0, 1.0, 2)] {
            let predictor = Predictor::new(&kernel, &support, &[expansion]).expect("valid");
            let queries = samples(Kind::Scaled, 20, 3, 2);
            consistent(&predictor, &queries, "no features");
            for (q, value) in predictor.decision_table(&queries, Par::Seq).expect("values").iter().enumerate() {
                let want = 3.0 * crate::common::direct(&kernel, &[], &queries.row(q).entries()) - 1.5;
                assert!((value - want).abs() < 1e-12, "{kernel:?} {q}: {value} {want}");
            }
        }
    }
}

/// One such query used to be an error, which stopped all others.
#[test]
fn queries_whose_distances_overflow_have_values() {
    let far = [1e154, 1e160, -1e160, 1e200, f64::MAX, -f64::MAX];
    let rows: Vec<Vec<f64>> = (0..40).map(|k| vec![f64::from(k % 7), f64::from(k / 7)]).collect();
    let reals: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| v + 0.1).collect()).collect();
    let distant: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| 1e6 + v + 0.1).collect()).collect();
    for (what, rows) in [("integers", rows), ("reals", reals), ("distant", distant)] {
        let support = Samples::from_rows(&rows).expect("finite");
        let wide = |samples: &Samples| {
            let indices = (0..samples.len()).flat_map(|_| [3, 1 << 17]).collect();
            let values = (0..samples.len())
                .flat_map(|k| [0, 1].map(|j| samples.row(k).entries().iter().find(|e| e.0 == j).map_or(0.0, |e| e.1)));
            let offsets = (0..=samples.len()).map(|k| 2 * k).collect();
            Samples::from_sparse((1 << 17) + 1, offsets, indices, values.collect()).expect("valid")
        };
        let queries = far.iter().flat_map(|&v| [vec![v, 2.0], rows[3].clone(), vec![1.5, v], vec![v, -v], rows[9].clone()]);
        let queries = Samples::from_rows(&queries.collect::<Vec<_>>()).expect("finite");
        for gamma in [0.0, 1e-320, 1e-300, 1e-9, 0.5, 1e300] {
            for (form, support, queries) in [("dense", &support, &queries), ("sparse", &wide(&support), &wide(&queries))] {
                let terms = pairs(support.len(), 3, 2.0, 1);
                let predictor = Predictor::new(&Kernel::rbf(gamma), support, &borrowed(&terms)).expect("valid");
                consistent(&predictor, queries, &format!("{what}, {form}, gamma {gamma}"));
                let found = predictor.decision_table(queries, Par::Seq).expect("values");
                for (at, value) in found.iter().enumerate() {
                    let (support_of, coef, bias) = &terms[at % terms.len()];
                    let query = queries.row(at / terms.len());
                    let kernel = |&k: &u32| {
                        let mut exponent = 0.0;
                        let root = gamma.sqrt();
                        query.for_each_pair(support.row(k as usize), |_, x, z| exponent += (root * (x - z)).powi(2));
                        (-exponent).exp()
                    };
                    let want = support_of.iter().zip(coef).map(|(k, c)| c * kernel(k)).sum::<f64>() + bias;
                    assert!((value - want).abs() < 1e-6, "{what}, {form}, gamma {gamma}, {at}: {value} {want}");
                }
            }
        }
    }
}

/// Data that single precision cannot represent, or just so.
#[derive(Clone, Debug)]
struct Hostile {
    rows: usize,
    depth: usize,
    classes: usize,
    /// Values are an offset plus numbers of this size.
    offset: f64,
    scale: f64,
    gamma: f64,
    /// Size of the coefficients.
    size: f64,
    form: u8,
    /// Whether the first query has decision values of exactly 0.
    has_tie: bool,
    seed: u64,
}

impl Hostile {
    /// `count` samples: reals, few different rows, multiples of a unit, or sparse rows.
    fn samples(&self, count: usize, seed: u64, is_sparse: bool) -> Samples {
        let mut next = stream(self.seed.wrapping_add(seed));
        let value = |u: f64, zero: f64| match self.form % 4 {
            0 => self.offset + self.scale * (u - 0.5),
            1 => self.scale * (2.0 * u).round(),
            2 => self.scale * ((5.0 * u).floor() - 1.0),
            _ if zero < 0.7 => 0.0,
            _ => self.scale * u,
        };
        let values: Vec<f64> = (0..count * self.depth).map(|_| value(next(), next())).collect();
        if !is_sparse {
            return Samples::from_dense(count, self.depth, values).expect("finite values");
        }
        let (mut offsets, mut indices, mut kept) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks(self.depth) {
            row.iter().zip(0_u32..).filter(|(v, _)| **v != 0.0).for_each(|(&v, j)| {
                indices.push(j);
                kept.push(v);
            });
            offsets.push(indices.len());
        }
        Samples::from_sparse(self.depth, offsets, indices, kept).expect("valid rows")
    }

    /// Compares labels, and values in `f32`, with values in `f64`.
    fn check(&self) {
        let support = self.samples(self.rows, 0, self.form & 4 != 0);
        let queries = self.samples(40, 1, self.form & 8 != 0);
        // Some queries are support vectors.
        let same: Vec<usize> = (0..self.rows.min(8)).collect();
        let queries = queries.stacked(&support.select(&same)).expect("few entries");
        let kernel = Kernel::rbf(self.gamma);
        let mut terms = pairs(self.rows, self.classes, self.size, self.seed);
        if self.has_tie {
            terms.iter_mut().for_each(|(_, _, bias)| *bias = 0.0);
            let plain = Predictor::new(&kernel, &support, &borrowed(&terms)).expect("valid");
            let values = plain.decision_table(&queries.select(&[0]), Par::Seq).expect("values");
            terms.iter_mut().zip(values).for_each(|((_, _, bias), value)| *bias = -value);
        }
        let predictor = Predictor::new(&kernel, &support, &borrowed(&terms)).expect("valid");
        consistent(&predictor, &queries, &format!("{self:?}"));
    }
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let shape = (1_usize..120, 1_usize..9, 2_usize..6);
    // Exponents of 10, mostly moderate: only then single precision decides labels.
    let exponent = || prop_oneof![3 => -3_i32..4, 1 => -40_i32..41];
    let gamma = prop_oneof![4 => (-8_i32..6).prop_map(Some), 1 => Just(None)];
    let size = prop_oneof![3 => -4_i32..6, 1 => -46_i32..-36, 1 => 30_i32..46, 1 => -320_i32..301];
    (shape, (exponent(), exponent(), exponent()), (gamma, size), (any::<u8>(), any::<bool>(), any::<u16>())).prop_map(
        |((rows, depth, classes), (offset, scale, absolute), (relative, size), (form, has_tie, seed))| {
            let scale = 10_f64.powi(scale);
            let offset = if form & 16 == 0 { 10_f64.powi(offset) } else { 0.0 };
            // Relative to the data, or any.
            let gamma = relative.map_or(10_f64.powi(absolute), |relative| 10_f64.powi(relative) / scale / scale);
            Hostile { rows, depth, classes, offset, scale, gamma, size: 10_f64.powi(size), form, has_tie, seed: seed.into() }
        },
    )
}

proptest! {
    /// Labels are those of the exact values, whatever the data.
    #[test]
    fn labels_are_exact_for_any_data(hostile in hostile()) {
        hostile.check();
    }
}
