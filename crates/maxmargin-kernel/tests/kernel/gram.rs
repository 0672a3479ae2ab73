//! Blocks of every store: correct values, and the same bits in every block.

use crate::common::{KINDS, Kind, direct, full, kernels, samples};
use maxmargin_data::{RunControl, Samples};
use maxmargin_kernel::{Gram, Kernel, KernelError, KernelGram, fallbacks};
use proptest::prelude::*;

#[test]
fn values_follow_the_definition() {
    for kind in KINDS {
        for (n, d) in [(1, 1), (5, 2), (70, 13), (300, 40), (37, 700)] {
            let x = samples(kind, n, d, 7);
            for kernel in kernels(kind, d) {
                let gram = KernelGram::new(&x, kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
                let (fast, exact) = full(&gram);
                let scale = gram.diagonal().iter().fold(0.0f64, |m, v| m.max(v.abs()));
                for i in 0..n {
                    for j in (i % 3..n).step_by(3) {
                        let want = direct(&kernel, &x.row(i).entries(), &x.row(j).entries());
                        let (f, e) = (f64::from(fast[i * n + j]), exact[i * n + j]);
                        assert!((e - want).abs() <= 1e-11 * scale, "{kind:?} {kernel:?} n {n} d {d} {i},{j}: exact {e} {want}");
                        assert!((f - want).abs() <= 3e-6 * scale, "{kind:?} {kernel:?} n {n} d {d} {i},{j}: fast {f} {want}");
                    }
                    assert!((gram.diagonal()[i] - exact[i * n + i]).abs() <= 1e-15 * scale);
                }
            }
        }
    }
}

#[test]
fn integers_are_exact() {
    for kind in [Kind::Integers, Kind::Image, Kind::Wide] {
        let x = samples(kind, 150, 60, 3);
        let gram = KernelGram::new(&x, Kernel::Linear, &RunControl::unlimited()).expect("a valid kernel");
        let (fast, exact) = full(&gram);
        for i in 0..150 {
            for j in 0..150 {
                let want = direct(&Kernel::Linear, &x.row(i).entries(), &x.row(j).entries());
                assert_eq!((f64::from(fast[i * 150 + j]), exact[i * 150 + j]), (want, want), "{kind:?}");
            }
        }
    }
}

#[test]
fn rbf_of_equal_samples_is_one() {
    for kind in KINDS {
        for (n, d) in [(40, 3), (290, 600)] {
            let x = samples(kind, n, d, 11);
            let order: Vec<usize> = (0..n).chain(0..n).collect();
            let gram =
                KernelGram::new(&x.select(&order), Kernel::Rbf { gamma: 0.7 }, &RunControl::unlimited()).expect("a valid kernel");
            assert!(gram.diagonal().iter().all(|&v| v == 1.0));
            for i in 0..n {
                let (mut fast, mut exact) = ([0.0; 1], [0.0; 1]);
                for j in [i, i + n] {
                    gram.fill(&[i], j..j + 1, &mut fast);
                    gram.fill_exact(&[i], j..j + 1, &mut exact);
                    assert_eq!((f64::from(fast[0]) + gram.base(), exact[0]), (1.0, 1.0), "{kind:?} {i} {j}");
                }
            }
        }
    }
}

/// At γ = 2⁻¹⁵ values in `f32` differ from 1 in their last digits only. With 1 subtracted they keep
/// all digits of the distances.
#[test]
fn values_near_one_keep_the_digits_of_their_distances() {
    for kind in KINDS {
        let x = samples(kind, 90, 12, 3);
        let norm = |i: usize| x.row(i).entries().iter().map(|(_, v)| v * v).sum::<f64>();
        let gamma = 1e-4 / (0..90).map(norm).fold(0.0, f64::max);
        let gram = KernelGram::new(&x, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a valid kernel");
        assert_eq!(gram.base(), 1.0, "{kind:?}");
        let mut held = vec![0.0; 90];
        for i in 0..90 {
            gram.fill(&[i], 0..90, &mut held);
            for (j, k) in held.iter().enumerate() {
                let entries = |i: usize| x.select(&[i]).with_features(x.features()).dense_rows(0..1);
                let squared: f64 = entries(i).iter().zip(entries(j)).map(|(a, b)| (a - b) * (a - b)).sum();
                let want = (-gamma * squared).exp_m1();
                // The rounding of an `f32`, and of dot products, which are in `f64` where norms are
                // large compared with distances. Without the subtraction the error is 6e-8.
                let most = 4e-7 * want.abs() + 2e-7 * gamma * (norm(i) + norm(j));
                assert!((f64::from(*k) - want).abs() <= most, "{kind:?} {i} {j}: {k} {want}");
            }
        }
        // The same holds for other kernels. Values that differ widely are stored unchanged.
        let poly =
            KernelGram::new(&x, Kernel::Poly { gamma, coef0: 2.0, degree: 3 }, &RunControl::unlimited()).expect("a valid kernel");
        assert!((poly.base() - 8.0).abs() < 1e-2, "{kind:?}: {}", poly.base());
        let wide = KernelGram::new(&x, Kernel::Rbf { gamma: 1e8 * gamma }, &RunControl::unlimited()).expect("a valid kernel");
        assert_eq!(wide.base(), 0.0, "{kind:?}");
    }
}

#[test]
fn another_gamma_over_the_same_samples() {
    for kind in KINDS {
        let x = samples(kind, 80, 9, 5);
        let first = KernelGram::new(&x, Kernel::Rbf { gamma: 1e-3 }, &RunControl::unlimited()).expect("a valid kernel");
        let other = first.with_gamma(5.0).expect("a valid gamma");
        let (_, exact) = full(&other);
        let (fast, _) = full(&other);
        for i in 0..80 {
            let want = direct(&Kernel::Rbf { gamma: 5.0 }, &x.row(i).entries(), &x.row(3).entries());
            assert!((exact[i * 80 + 3] - want).abs() < 1e-9, "{kind:?} {} {want}", exact[i * 80 + 3]);
            assert!((f64::from(fast[i * 80 + 3]) - want).abs() < 1e-5, "{kind:?} {} {want}", fast[i * 80 + 3]);
        }
        assert!(first.with_gamma(-1.0).is_err());
    }
    let x = samples(Kind::Scaled, 20, 3, 1);
    let poly = KernelGram::new(&x, Kernel::poly(2.0, 1.0, 2), &RunControl::unlimited())
        .expect("a valid kernel")
        .with_gamma(0.5)
        .expect("a valid gamma");
    assert_eq!(
        full(&poly),
        full(&KernelGram::new(&x, Kernel::poly(0.5, 1.0, 2), &RunControl::unlimited()).expect("a valid kernel"))
    );
    let linear =
        KernelGram::new(&samples(Kind::Scaled, 5, 2, 1), Kernel::Linear, &RunControl::unlimited()).expect("a valid kernel");
    assert!(linear.with_gamma(1.0).is_err());
}

#[test]
fn values_beyond_single_precision_are_refused() {
    let x = maxmargin_data::Samples::from_dense(2, 1, vec![1.0, 1e25]).expect("finite");
    let refused = KernelGram::new(&x, Kernel::Linear, &RunControl::unlimited()).expect_err("1e50 is no f32");
    assert!(matches!(refused, KernelError::TooLarge { row: 2, .. }), "{refused}");
    assert!(KernelGram::new(&x, Kernel::Rbf { gamma: 1.0 }, &RunControl::unlimited()).is_ok());
    let x = maxmargin_data::Samples::from_dense(2, 1, vec![1.0, 1e160]).expect("finite");
    let refused = KernelGram::new(&x, Kernel::rbf(1.0), &RunControl::unlimited()).expect_err("1e320 is no f64");
    assert_eq!(refused, KernelError::Distances { row: 2 });
}

/// LIBSVM and scikit-learn train with these kernels, too.
#[test]
fn a_gamma_or_a_degree_of_0_makes_all_values_equal() {
    let cases = [
        (Kernel::rbf(0.0), 1.0),
        (Kernel::poly(0.0, 0.5, 3), 0.125),
        (Kernel::poly(0.0, 0.0, 3), 0.0),
        (Kernel::poly(2.0, 1.0, 0), 1.0),
        (Kernel::poly(0.0, 0.0, 0), 1.0),
        (Kernel::sigmoid(0.0, 0.25), 0.25_f64.tanh()),
        (Kernel::sigmoid(0.0, 0.0), 0.0),
    ];
    for kind in KINDS {
        let x = samples(kind, 40, 9, 5);
        for (kernel, value) in &cases {
            let (fast, exact) = full(&KernelGram::new(&x, kernel.clone(), &RunControl::unlimited()).expect("a valid kernel"));
            assert!(exact.iter().all(|k| (k - value).abs() < 1e-15), "{kind:?} {kernel:?}");
            assert!(fast.iter().all(|k| (f64::from(*k) - value).abs() < 1e-7), "{kind:?} {kernel:?}");
        }
    }
    assert!(Kernel::rbf(-1e-300).checked().is_err());
    assert!(Kernel::rbf(f64::NAN).checked().is_err());
    assert!(Kernel::sigmoid(f64::INFINITY, 0.0).checked().is_err());
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(60))]

    #[test]
    fn same_bits_in_every_block(
        kind in prop::sample::select(KINDS.to_vec()),
        n in 1usize..330,
        d in prop_oneof![1usize..40, 480usize..560, 900usize..1100],
        pick in 0usize..4,
        seed in 0u64..1000,
        cuts in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0, 1usize..40), 6),
    ) {
        let d = if kind == Kind::Sparse { d.min(40) } else { d };
        let n = if d > 400 { n.min(270) } else { n };
        let x = samples(kind, n, d, seed);
        let kernel = kernels(kind, d)[pick].clone();
        let gram = KernelGram::new(&x, kernel, &RunControl::unlimited()).expect("a valid kernel");
        let (fast, exact) = full(&gram);
        for i in 0..n {
            for j in 0..i {
                prop_assert_eq!(fast[i * n + j].to_bits(), fast[j * n + i].to_bits(), "fast {} {}", i, j);
                prop_assert_eq!(exact[i * n + j].to_bits(), exact[j * n + i].to_bits(), "exact {} {}", i, j);
            }
        }
        for (a, b, count) in cuts {
            let (a, b) = ((a * n as f64) as usize, (b * n as f64) as usize);
            let columns = a.min(b)..a.max(b) + 1;
            let rows: Vec<usize> = (0..count).map(|r| (r * 7919 + seed as usize) % n).collect();
            let (mut some, mut some_exact) = (vec![0.0; count * columns.len()], vec![0.0; count * columns.len()]);
            gram.fill(&rows, columns.clone(), &mut some);
            gram.fill_exact(&rows, columns.clone(), &mut some_exact);
            for (r, &i) in rows.iter().enumerate() {
                for (c, j) in columns.clone().enumerate() {
                    let at = r * columns.len() + c;
                    let whole = (f64::from(some[at]) + gram.base()) as f32;
                    prop_assert_eq!(whole.to_bits(), fast[i * n + j].to_bits(), "fast {} {} of {:?}", i, j, &columns);
                    prop_assert_eq!(some_exact[at].to_bits(), exact[i * n + j].to_bits(), "exact {} {} of {:?}", i, j, &columns);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(150))]

    /// The spot checks find no fault for data of any size and for suitable or unsuitable
    /// parameters.
    #[test]
    fn no_value_is_called_wrong_that_is_only_rounded(
        kind in prop::sample::select(KINDS.to_vec()),
        n in 1usize..40,
        d in prop_oneof![1usize..40, 900usize..1100],
        (size, far) in (-40.0f64..60.0, prop_oneof![Just(0.0), Just(1.0), 0.0f64..1e9]),
        (width, coef0, degree) in (-12.0f64..12.0, -3.0f64..3.0, 1u32..12),
        seed in 0u64..1000,
    ) {
        let x = samples(kind, n, if kind == Kind::Sparse { d.min(40) } else { d }, seed);
        let (size, width) = (10.0_f64.powf(size), 10.0_f64.powf(width));
        let rows: Vec<Vec<f64>> = (0..n).map(|i| {
            let mut row = vec![0.0; x.features()];
            x.row(i).for_each(|k, v| row[k] = size * (v + far));
            row
        }).collect();
        let x = Samples::from_rows(&rows).expect("finite values");
        let norm = (0..n).map(|i| x.row(i).dot(x.row(i))).fold(0.0, f64::max).max(1e-300);
        let gamma = (width / norm).clamp(1e-300, 1e300);
        for kernel in [Kernel::Linear, Kernel::rbf(gamma), Kernel::poly(gamma, coef0, degree), Kernel::sigmoid(gamma, coef0)] {
            let gram = KernelGram::new(&x, kernel.clone(), &RunControl::unlimited());
            prop_assert!(matches!(&gram, Ok(_) | Err(KernelError::TooLarge { .. } | KernelError::Distances { .. })), "{:?}: {:?}", kernel, gram.err());
            if let (Ok(gram), Some(_)) = (gram, kernel.gamma()) {
                let other = gram.with_gamma(gamma * 3.0);
                prop_assert!(matches!(&other, Ok(_) | Err(KernelError::TooLarge { .. } | KernelError::Distances { .. })), "{:?} times 3: {:?}", kernel, other.err());
            }
        }
        prop_assert_eq!(fallbacks(), vec![]);
    }
}
