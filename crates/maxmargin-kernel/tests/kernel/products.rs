//! Products with the kernel matrix and decision values against the definition.

use crate::common::{KINDS, Kind, direct, samples, stream};
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::{
    Exact, Gram, Kernel, KernelError, KernelGram, Pages, Subset, apply_exact, decision_values, diagnose, fallbacks,
};
use proptest::prelude::*;

#[test]
fn apply_is_the_product_for_every_thread_count() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for kind in KINDS {
        let n = 1500;
        let gram = KernelGram::new(&samples(kind, n, 6, 9), Kernel::Rbf { gamma: 0.2 }, &RunControl::unlimited())
            .expect("a valid kernel");
        let ids: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        for h in [1, 3] {
            let mut next = stream(4);
            let mut coef: Vec<f64> = (0..ids.len() * h).map(|_| next() - 0.5).collect();
            coef[10 * h..20 * h].fill(0.0);
            let got = apply_exact(&gram, &ids, &coef, h, 3..n - 2, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            assert_eq!(
                got,
                pool.install(
                    || apply_exact(&gram, &ids, &coef, h, 3..n - 2, Par::Pool, &RunControl::unlimited()).expect("unlimited")
                )
            );
            let mut row = vec![0.0; n];
            for j in (3..n - 2).step_by(101) {
                gram.fill_exact(&[j], 0..n, &mut row);
                for c in 0..h {
                    let want: f64 = ids.iter().enumerate().map(|(k, &i)| row[i] * coef[k * h + c]).sum();
                    assert!((got[(j - 3) * h + c] - want).abs() < 1e-11, "{kind:?} {j}: {} {want}", got[(j - 3) * h + c]);
                }
            }
        }
    }
}

proptest! {
    /// Sums of many small machines have the same bits whether values are kept or computed, by any
    /// number of threads, for whole matrices and parts; they are those of [`apply_exact`] but for
    /// rounding.
    #[test]
    fn kept_values_change_no_bit_of_small_sums(
        n in 20_usize..700,
        points in prop_oneof![1_usize..8, 64_usize..80],
        seed in 0_u64..1000,
        cuts in any::<[prop::sample::Index; 4]>(),
    ) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
        let unlimited = RunControl::unlimited();
        let kernel = || KernelGram::new(&samples(Kind::Scaled, n, 5, seed), Kernel::Rbf { gamma: 0.4 }, &unlimited);
        let plain = kernel().expect("a valid kernel");
        let computed = plain.clone().with_small_sums();
        let kept = kernel().expect("a valid kernel").with_small_sums();
        kept.keep_exact(&Pages::new());
        prop_assert!(kept.kept_bytes() >= 8 * (n * n) as u64);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(n / 2 + 1)).collect();
        ends.sort_unstable();
        let runs = [ends[0]..ends[1], ends[2]..ends[3]];
        let mut next = stream(seed);
        // A part of the samples, in two runs.
        let ids: Vec<usize> = (0..n / 4).chain(n / 2..n - 1).collect();
        for part in [false, true] {
            let size = if part { ids.len() } else { n };
            let mut point = || -> Vec<(usize, f64)> {
                (0..size).map(|id| (id, next() - 0.7)).filter(|term| term.1 > -0.3).collect()
            };
            let terms: Vec<Vec<(usize, f64)>> = (0..points).map(|_| point()).collect();
            let terms: Vec<&[(usize, f64)]> = terms.iter().map(Vec::as_slice).collect();
            let sums = |gram: &KernelGram, par: Par| {
                let subset = Subset::new(gram, ids.clone());
                let gram: &dyn Gram = if part { &subset } else { gram };
                Exact::from(gram).sums_of(&terms, &runs, par, &unlimited).expect("unlimited")
            };
            let found = sums(&kept, Par::Seq);
            prop_assert_eq!(&found, &sums(&computed, Par::Seq));
            prop_assert_eq!(&found, &pool.install(|| sums(&kept, Par::Pool)));
            for (sum, other) in found.iter().zip(sums(&plain, Par::Seq)) {
                prop_assert!((sum - other).abs() < 1e-12, "{} {}", sum, other);
            }
        }
    }
}

#[test]
fn apply_of_nothing() {
    let gram =
        KernelGram::new(&samples(Kind::Scaled, 10, 2, 0), Kernel::Linear, &RunControl::unlimited()).expect("a valid kernel");
    assert_eq!(apply_exact(&gram, &[], &[], 2, 0..10, Par::Seq, &RunControl::unlimited()).expect("unlimited"), vec![0.0; 20]);
    assert!(apply_exact(&gram, &[1], &[1.0], 1, 4..4, Par::Seq, &RunControl::unlimited()).expect("unlimited").is_empty());
}

#[test]
fn decisions_follow_the_definition() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for kind in KINDS {
        let gamma = if [Kind::Unscaled, Kind::Wide, Kind::Image].contains(&kind) { 1e-9 } else { 0.3 };
        let (support, narrow) = (samples(kind, 120, 9, 2), samples(kind, 90, 7, 3));
        for (support, queries) in [(&support, &narrow), (&narrow, &support)] {
            for kernel in [Kernel::Linear, Kernel::Rbf { gamma }, Kernel::Poly { gamma, coef0: 1.0, degree: 2 }] {
                let mut next = stream(8);
                let coef: Vec<f64> = (0..support.len()).map(|k| if k % 7 == 0 { 0.0 } else { next() - 0.5 }).collect();
                let got = decision_values(&kernel, support, &coef, 0.25, queries, Par::Seq).expect("valid");
                assert_eq!(
                    got,
                    pool.install(|| decision_values(&kernel, support, &coef, 0.25, queries, Par::Pool)).expect("valid")
                );
                assert_eq!(fallbacks(), [], "{kind:?} {kernel:?}");
                for (q, &got) in got.iter().enumerate() {
                    let parts = (0..support.len())
                        .map(|k| coef[k] * direct(&kernel, &support.row(k).entries(), &queries.row(q).entries()));
                    let (want, size) = parts.fold((0.25, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
                    assert!((got - want).abs() <= 1e-11 * (1.0 + size), "{kind:?} {kernel:?} {q}: {got} {want}");
                }
            }
        }
    }
}

#[test]
fn decisions_need_one_coefficient_per_support_vector() {
    let x = samples(Kind::Scaled, 4, 2, 0);
    let refused = decision_values(&Kernel::Linear, &x, &[1.0], 0.0, &x, Par::Seq);
    assert_eq!(refused, Err(KernelError::Coefficients { coefficients: 1, samples: 4 }));
    let bias_only = decision_values(&Kernel::Rbf { gamma: 1.0 }, &x, &[0.0; 4], 2.5, &x, Par::Seq);
    assert_eq!(bias_only, Ok(vec![2.5; 4]));
}

/// Rows `serial, K(x, x_1), …` of a linear kernel.
fn precomputed(x: &Samples, order: &[usize]) -> Samples {
    let n = x.len();
    let rows = order.iter().flat_map(|&i| {
        let row: Vec<f64> = (0..n).map(|j| direct(&Kernel::Linear, &x.row(i).entries(), &x.row(j).entries())).collect();
        std::iter::once((i + 1) as f64).chain(row)
    });
    Samples::from_dense(order.len(), n + 1, rows.collect()).expect("finite")
}

#[test]
fn precomputed_matrices_are_looked_up_by_serial() {
    let x = samples(Kind::Scaled, 30, 4, 6);
    let order: Vec<usize> = (0..30).rev().step_by(2).collect();
    let gram = KernelGram::new(&precomputed(&x, &order), Kernel::Precomputed, &RunControl::unlimited()).expect("valid");
    let linear = KernelGram::new(&x.select(&order), Kernel::Linear, &RunControl::unlimited()).expect("valid");
    let (mut a, mut b) = (vec![0.0; 15 * 15], vec![0.0; 15 * 15]);
    let all: Vec<usize> = (0..15).collect();
    gram.fill_exact(&all, 0..15, &mut a);
    linear.fill_exact(&all, 0..15, &mut b);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
    assert!((0..15).all(|i| (0..15).all(|j| a[i * 15 + j] == a[j * 15 + i])));

    let coef: Vec<f64> = (0..15).map(|k| f64::from(k) - 7.0).collect();
    let queries: Vec<usize> = (0..30).collect();
    let got = decision_values(&Kernel::Precomputed, &precomputed(&x, &order), &coef, 1.0, &precomputed(&x, &queries), Par::Seq);
    let want = decision_values(&Kernel::Linear, &x.select(&order), &coef, 1.0, &x, Par::Seq).expect("valid");
    assert!(got.expect("valid").iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12));
}

/// A query of two entries among 2²⁷ columns took a gibibyte.
#[test]
fn precomputed_rows_of_very_many_columns_are_read_where_they_are() {
    let support = Samples::from_dense(3, 1, vec![5.0, 100_000_000.0, 5.0]).expect("serial numbers");
    let queries = Samples::from_sparse(1 << 27, vec![0, 2, 3], vec![5, 100_000_000, 7], vec![0.5, 2.0, 9.0]).expect("entries");
    let values = decision_values(&Kernel::Precomputed, &support, &[1.0, 10.0, 100.0], 0.25, &queries, Par::Seq).expect("values");
    assert_eq!(values, [0.5 + 20.0 + 50.0 + 0.25, 0.25]);
}

#[test]
fn malformed_precomputed_matrices_are_refused_with_their_row() {
    let make = |values: Vec<f64>| {
        KernelGram::new(&Samples::from_dense(2, 3, values).expect("finite"), Kernel::Precomputed, &RunControl::unlimited())
    };
    let message = |values: Vec<f64>| make(values).expect_err("malformed").to_string();
    assert!(make(vec![1.0, 2.0, 0.5, 2.0, 0.5, 2.0]).is_ok());
    assert!(message(vec![1.0, 2.0, 0.5, 3.0, 0.5, 2.0]).starts_with("row 2: its serial number (column 0) is 3"));
    assert!(message(vec![0.5, 2.0, 0.5, 2.0, 0.5, 2.0]).starts_with("row 1: its serial number"));
    assert!(
        message(vec![1.0, 2.0, 0.5, 2.0, 0.6, 2.0])
            .starts_with("row 1: its value in column 2 is 0.5, but row 2 has 0.6 in column 1")
    );
    let tiny = make(vec![1.0, 2.0, 0.5, 2.0, 0.500_000_1, 2.0]).expect("rounding");
    let mut block = [0.0; 4];
    tiny.fill_exact(&[0, 1], 0..2, &mut block);
    assert_eq!(block[1], block[2]);
}

#[test]
fn diagnosis_tells_useless_kernels() {
    let x = samples(Kind::Scaled, 200, 5, 1);
    let with = |gamma| diagnose(&KernelGram::new(&x, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("valid"), 300, 1);
    assert!(with(1e6).is_identity() && !with(1e6).is_constant());
    assert!(with(1e-9).is_constant() && !with(1e-9).is_identity());
    assert!(!with(0.2).is_constant() && !with(0.2).is_identity());
    assert_eq!(with(0.2), with(0.2));
}
