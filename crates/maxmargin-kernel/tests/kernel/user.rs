//! User kernels: the same values everywhere, stored by name.

use crate::common::{KINDS, full, samples};
use maxmargin_data::{Par, Row, RunControl, Samples, codec};
use maxmargin_kernel::{FnGram, Gram, Kernel, KernelError, KernelGram, Rows, UserKernel, decision_values};

fn laplacian(x: Row<'_>, z: Row<'_>) -> f64 {
    let mut distance = 0.0;
    x.for_each_pair(z, |_, x, z| distance += (x - z).abs());
    (-1e-3 * distance).exp()
}

#[test]
fn the_matrix_is_that_of_the_function() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for kind in KINDS {
        let x = samples(kind, 60, 5, 3);
        let gram = KernelGram::new(&x, Kernel::user("laplacian", laplacian), &RunControl::unlimited()).expect("a kernel");
        let direct = FnGram::new(60, |i, j| laplacian(x.row(i), x.row(j)));
        assert_eq!(full(&gram), full(&direct), "{kind:?}");
        assert_eq!(gram.diagonal(), direct.diagonal());
        let rows = pool.install(|| Rows::new(&gram, 1 << 20, Par::Pool).row(7).entries().to_vec());
        assert_eq!(rows, Rows::new(&direct, 1 << 20, Par::Seq).row(7).entries().to_vec());
    }
}

#[test]
fn an_asymmetric_function_makes_a_symmetric_matrix() {
    let x = samples(crate::common::Kind::Scaled, 9, 2, 1);
    let kernel = Kernel::user("first", |x, _| x.entries()[0].1);
    let (_, exact) = full(&KernelGram::new(&x, kernel, &RunControl::unlimited()).expect("a kernel"));
    for i in 0..9 {
        for j in 0..9 {
            assert_eq!(exact[i * 9 + j], exact[j * 9 + i]);
        }
    }
}

#[test]
fn predictions_follow_the_function() {
    for kind in KINDS {
        let (support, queries) = (samples(kind, 30, 5, 3), samples(kind, 20, 4, 4));
        let coef: Vec<f64> = (0..30).map(|k| f64::from(k) - 14.0).collect();
        let kernel = Kernel::user("laplacian", laplacian);
        let got = decision_values(&kernel, &support, &coef, 0.5, &queries, Par::Seq).expect("decisions");
        for (q, got) in got.into_iter().enumerate() {
            let want: f64 = (0..30).map(|k| coef[k] * laplacian(support.row(k), queries.row(q))).sum();
            assert!((got - want - 0.5).abs() < 1e-10, "{kind:?} {q}: {got} for {want}");
        }
    }
}

#[test]
fn columns_keep_their_numbers() {
    // So many columns are empty that kernels of dot products leave them out.
    let last = 9_000_000;
    let x = Samples::from_sparse(last as usize + 1, vec![0, 1, 2], vec![7, last], vec![2.0, 3.0]).expect("rows");
    let kernel = Kernel::user("columns", |x, z| x.entries().iter().chain(&z.entries()).map(|e| e.0 as f64).sum());
    let gram = KernelGram::new(&x, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    assert_eq!(gram.diagonal(), [14.0, 18_000_000.0]);
    assert_eq!(decision_values(&kernel, &x, &[1.0, 0.0], 0.0, &x, Par::Seq), Ok(vec![14.0, 9_000_007.0]));
}

#[test]
fn kernels_are_stored_by_name() {
    let kernel = UserKernel::new("stored by name", laplacian);
    assert_eq!(kernel.register(), None);
    let bytes = codec::encode(&Kernel::User(kernel.clone())).expect("encodable");
    let Ok(Kernel::User(read)) = codec::decode::<Kernel>(&bytes, usize::MAX) else { panic!("a kernel of one's own") };
    let x = samples(crate::common::Kind::Scaled, 2, 3, 1);
    assert_eq!(read.value(x.row(0), x.row(1)), laplacian(x.row(0), x.row(1)));
    // The kernel registered last under a name is used.
    assert_eq!(UserKernel::new("stored by name", |_, _| 1.0).register(), Some(kernel));
    assert_eq!(UserKernel::registered("stored by name").expect("registered").value(x.row(0), x.row(1)), 1.0);
}

#[test]
fn unknown_names_are_errors_that_say_so() {
    let bytes = codec::encode(&Kernel::user("never registered", laplacian)).expect("encodable");
    let error = codec::decode::<Kernel>(&bytes, usize::MAX).expect_err("not registered").to_string();
    assert!(error.contains("no kernel is registered as `never registered`"), "{error}");
    assert_eq!(UserKernel::registered("nor this"), Err(KernelError::Unregistered("nor this".to_owned())));
}

#[test]
fn the_bytes_of_the_kernels_before_have_not_changed() {
    let (half, three) = (0.5_f64.to_le_bytes(), 3_u32.to_le_bytes());
    let bytes = |place: u32, rest: &[&[u8]]| [&place.to_le_bytes()[..], &rest.concat()].concat();
    for (kernel, expected) in [
        (Kernel::Linear, bytes(0, &[])),
        (Kernel::rbf(0.5), bytes(1, &[&half])),
        (Kernel::poly(0.5, 0.5, 3), bytes(2, &[&half, &half, &three])),
        (Kernel::sigmoid(0.5, 0.5), bytes(3, &[&half, &half])),
        (Kernel::Precomputed, bytes(4, &[])),
        (Kernel::user("é", laplacian), bytes(5, &[&2_u64.to_le_bytes(), "é".as_bytes()])),
    ] {
        assert_eq!(codec::encode(&kernel).expect("encodable"), expected, "{kernel:?}");
    }
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    let x = Samples::from_rows(&[[1.0], [0.0]]).expect("rows");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e39] {
        let kernel = Kernel::user("broken", move |x, _| if x.entries().is_empty() { value } else { 1.0 });
        let refused = KernelGram::new(&x, kernel, &RunControl::unlimited()).expect_err("no f32").to_string();
        let expected = if value.is_nan() { "row 2: the kernel gives NaN for it;" } else { "row 2: its kernel values reach" };
        assert!(refused.starts_with(expected), "{refused}");
    }
    let kernel = Kernel::user("no gamma", laplacian);
    assert_eq!((kernel.gamma(), kernel.clone().with_gamma(2.0)), (None, kernel.clone()));
    assert!(KernelGram::new(&x, kernel, &RunControl::unlimited()).expect("a kernel").with_gamma(1.0).is_err());
}
