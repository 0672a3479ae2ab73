//! Kernel values of all stores: norms, units, equal samples and faults.

use super::*;
use crate::Kernel;
use crate::store::integers::Integers;
use crate::store::sparse::Sparse;
use crate::store::summary::summarize;
use maxmargin_data::generate::Generator;
use maxmargin_data::{Cancelled, Progress, RunControl, Samples};
use std::ops::ControlFlow;

/// `KernelGram::new` with a kernel that is evaluated one value at a time by [`Kernel::of_dot`].
fn plain(samples: &Samples, kernel: &Kernel) -> Result<KernelGram, KernelError> {
    let gram = KernelGram::new(samples, kernel.clone(), &RunControl::unlimited())?;
    Ok(KernelGram { function: SliceKernel::Other(gram.store.kernel(kernel)), ..gram })
}

fn direct(gamma: f64, samples: &Samples, i: usize, j: usize) -> f64 {
    let mut squared = 0.0;
    samples.row(i).for_each_pair(samples.row(j), |_, x, z| squared += (x - z) * (x - z));
    (-gamma * squared).exp()
}

/// Samples for every store and dense code path, with a gamma at which distances matter.
fn all() -> Vec<(&'static str, Samples, f64)> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (n, d) = (70, 9);
    let mut dense = |value: &dyn Fn(f64) -> f64| {
        let values: Vec<f64> = (0..n * d).map(|_| value(next())).collect();
        Samples::from_slice(&values, n, d).expect("finite values")
    };
    let (pixels, integers) = (dense(&|u| (u * 256.0).floor()), dense(&|u| (u * 900.0).floor() - 400.0));
    let (shares, marks) = (dense(&|u| (u * 256.0).floor() * (1.0 / 255.0)), dense(&|u| if u < 0.4 { 0.3 } else { 0.0 }));
    let (single, double, far) = (dense(&|u| f64::from(u as f32)), dense(&|u| u - 0.5), dense(&|u| 1e4 + 3e3 * u));
    let columns: Vec<u32> = (0..4 * n as u32).map(|at| (at % 4) * 1000 + at * at % 90 * at % 7).collect();
    let values = (0..4 * n).map(|at| (at % 5) as f64 * 0.3 - 0.4).collect();
    let sparse = Samples::from_sparse(4000, (0..=n).map(|i| 4 * i).collect(), columns, values).expect("ascending columns");
    vec![
        ("bytes", pixels, 2e-5),
        ("bytes of shares", shares, 1.0),
        ("bytes of marks", marks, 3.0),
        ("integers", integers, 1e-6),
        ("single", single, 0.5),
        ("double", double, 0.5),
        ("far", far, 3e-8),
        ("sparse", sparse, 0.5),
    ]
}

#[test]
fn every_store_gives_other_kernels_the_true_norms() {
    for (what, samples, gamma) in all() {
        let gram = plain(&samples, &Kernel::rbf(gamma)).expect("a valid kernel");
        match &*gram.store {
            Store::Integers(_) => assert!(what.starts_with("bytes"), "{what}"),
            Store::Sparse(_) => assert_eq!(what, "sparse"),
            Store::Dense(_) => assert!(what != "sparse", "{what}"),
            other => panic!("{what}: {other:?}"),
        }
        let n = samples.len();
        let ids: Vec<usize> = (0..n).rev().collect();
        let columns = 3..n - 1;
        let (mut fast, mut exact) = (vec![0.0; n * columns.len()], vec![0.0; n * columns.len()]);
        gram.fill(&ids, columns.clone(), &mut fast);
        gram.fill_exact(&ids, columns.clone(), &mut exact);
        for (r, &i) in ids.iter().enumerate() {
            for (at, j) in columns.clone().enumerate() {
                let at = r * columns.len() + at;
                let want = direct(gamma, &samples, i, j);
                assert!((exact[at] - want).abs() <= 1e-11, "{what} {i},{j}: exact {} for {want}", exact[at]);
                assert!((f64::from(fast[at]) - want).abs() <= 3e-6, "{what} {i},{j}: fast {} for {want}", fast[at]);
                assert!(i != j || (fast[at] == 1.0 && exact[at] == 1.0), "{what}: {i} is at distance 0 of itself");
            }
        }
        assert_eq!(gram.diagonal(), vec![1.0; n], "{what}");
    }
}

/// Multiples of one number are stored as small integers for every kernel with a gamma. Values that
/// differ only by rounding become equal.
#[test]
fn multiples_of_a_number_are_integers() {
    let (n, d) = (60, 17);
    let multiples: Vec<f64> = (0..n * d).map(|at| (at * at * 7 + at / 3) as f64 % 31.0 - 15.0).collect();
    for (unit, most) in [(1.0 / 15.0, 1e-13), (0.1, 1e-13), (1e-9, 1e-13), (3e12, 1e-13)] {
        let values: Vec<f64> =
            multiples.iter().enumerate().map(|(at, m)| if at % 2 == 0 { m * unit } else { m / (1.0 / unit) }).collect();
        let samples = Samples::from_slice(&values, n, d).expect("finite values");
        let scale = unit * unit * d as f64;
        for kernel in
            [Kernel::rbf(0.1 / scale), Kernel::poly(0.01 / scale, 1.0, 3), Kernel::sigmoid(0.01 / scale, -0.5), Kernel::Linear]
        {
            let gram = KernelGram::new(&samples, kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
            assert_eq!(matches!(*gram.store, Store::Integers(_)), kernel != Kernel::Linear, "{unit} {kernel:?}");
            let mut exact = vec![0.0; n * n];
            gram.fill_exact(&(0..n).collect::<Vec<_>>(), 0..n, &mut exact);
            for (at, found) in exact.iter().enumerate() {
                let (x, z) = (&values[at / n * d..][..d], &values[at % n * d..][..d]);
                let dot = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| x * z).sum::<f64>();
                let want = kernel.of_dot(dot(x, z), dot(x, x), dot(z, z));
                let size = want.abs().max(1.0).max(gram.diagonal()[at / n]).max(gram.diagonal()[at % n]);
                assert!((found - want).abs() <= most * size, "{unit} {kernel:?} {at}: {found} for {want}");
            }
        }
    }
    let thirds = |values: &[f64]| {
        let samples = Samples::from_slice(values, values.len(), 1).expect("finite values");
        summarize(&samples, &RunControl::unlimited()).expect("not cancelled").unit
    };
    assert_eq!(thirds(&[1.0 / 3.0, 2.0 / 3.0, 0.0, -5.0 / 3.0]), Some((5.0 / 3.0) / 5.0));
    assert_eq!(thirds(&[1.0 / 3.0, 2.0 / 3.0 + 1e-12]), None, "off by more than rounding");
    assert_eq!(thirds(&[3.0, -5.0]), Some(1.0));
    assert_eq!(thirds(&[0.0, 3e5, -6e5]), Some(3e5));
    assert_eq!(thirds(&[0.5, 128.0]), None, "256 halves are more than a byte holds");
    assert_eq!(thirds(&(0..300).map(|k| f64::from(k) * 0.1).collect::<Vec<_>>()), None);
    assert_eq!(thirds(&[1e-40, 2e-40 + 1e-41]), None, "its square is no normal factor of gamma");
    assert_eq!(thirds(&[0.1_f32, 0.2, 0.3].map(f64::from)), None, "single precision rounds more");
}

#[test]
fn packing_asks_between_stretches_whether_it_is_still_wanted() {
    let (n, d) = (20_000, 200);
    let bits: Vec<f64> = (0..n * d).map(|at| f64::from(u8::from(at * at % 7 < 3))).collect();
    let few: Vec<usize> = (0..=n).map(|i| 40 * i).collect();
    let scattered: Vec<u32> = (0..40 * n).map(|at| (at % 40 * 1000 + at / 40 * 7 % 1000) as u32).collect();
    let forms = [
        ("bits", Samples::from_slice(&bits, n, d)),
        ("bytes", Samples::from_slice(&bits.iter().map(|v| 3.0 * v + 1.0).collect::<Vec<_>>(), n, d)),
        ("singles", Samples::from_slice(&(0..n * d).map(|at| at as f64).collect::<Vec<_>>(), n, d)),
        ("doubles", Samples::from_slice(&(0..n * d).map(|at| (at as f64).sin()).collect::<Vec<_>>(), n, d)),
        ("lists", Samples::from_sparse(40_000, few, scattered, (0..40 * n).map(|at| (at as f64).cos()).collect())),
    ];
    for (form, samples) in forms {
        let samples = samples.expect("finite values");
        // Each value is read twice and counts as 16 operations.
        let least = 2 * 16 * samples.non_zeros() as u64 / (1 << 24);
        let mut asked = 0;
        let observer = |_: &Progress| {
            asked += 1;
            ControlFlow::Continue(())
        };
        let packed = KernelGram::new(&samples, Kernel::rbf(1e-3), &RunControl::new(observer));
        assert!(packed.is_ok() && asked >= least.max(1), "{form}: {asked} questions of {least}");
        for patience in [1, asked] {
            let mut left = patience;
            let observer = |_: &Progress| {
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let packed = KernelGram::new(&samples, Kernel::rbf(1e-3), &RunControl::new(observer));
            assert_eq!(packed.expect_err("it is cancelled"), KernelError::Cancelled(Cancelled), "{form}: {patience}");
            assert_eq!(left, 0, "{form}: asked again after a no");
        }
        // A cancelled comparison stores no result, and the next one starts again.
        let packed = packed.expect("it was asserted");
        let control = RunControl::new(|_| ControlFlow::Break(()));
        assert_eq!(control.check_now(), Err(Cancelled));
        assert_eq!(packed.distinct(&control), Err(Cancelled), "{form}");
        let found = packed.distinct(&RunControl::unlimited()).expect("not cancelled");
        assert_eq!(packed.distinct(&control), Ok(found), "{form}: it is known by then");
    }
}

/// The speed of the machine determines which of the two stores is used. Norms exceed 2²⁴ here,
/// where sums of them are not exact in `f32`.
#[test]
fn bytes_and_inverted_lists_of_integers_give_the_same_bits() {
    let mut state = 3_u64;
    let (n, d) = (40, 1000);
    let mut values = vec![0.0; n * d];
    for (at, value) in values.iter_mut().enumerate() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // A third of the samples are mostly zeros.
        let kept = at / d % 3 > 0 || state >> 60 == 0;
        *value = if kept { f64::from((state >> 56) as u8) - 3.0 } else { 0.0 };
    }
    let samples = Samples::from_slice(&values, n, d).expect("finite values");
    let nobody = RunControl::unlimited();
    let summary = summarize(&samples, &nobody).expect("not cancelled");
    assert!(Integers::accepts(&samples, &summary, &Kernel::rbf(1.0)) && summary.max_norm > 16_777_216.0);
    for kernel in [Kernel::Linear, Kernel::rbf(1e-7), Kernel::Poly { gamma: 1e-8, coef0: 1.0, degree: 3 }] {
        let values = |store| {
            let gram = KernelGram::over(Arc::new(store), kernel.clone(), Arc::default()).expect("a valid kernel");
            let all: Vec<usize> = (0..n).collect();
            let (mut fast, mut exact) = (vec![0.0; n * n], vec![0.0; n * n]);
            gram.fill(&all, 0..n, &mut fast);
            gram.fill_exact(&all, 0..n, &mut exact);
            (fast, exact)
        };
        let bytes = values(Store::Integers(Integers::new(&samples, &summary, &nobody).expect("not cancelled")));
        let lists = values(Store::Sparse(Sparse::new(&samples, &nobody).expect("not cancelled")));
        assert!(bytes == lists, "{kernel:?}");
    }
}

/// `samples` with the values of every second row moved by one column.
fn damaged(samples: &Samples) -> Samples {
    let rows: Vec<Vec<f64>> = (0..samples.len())
        .map(|i| {
            let mut row = vec![0.0; samples.features()];
            samples.row(i).for_each(|k, v| row[k] = v);
            // The same values in other columns, so that the store does not change.
            row.rotate_right(i % 2);
            row
        })
        .collect();
    Samples::from_rows(&rows).expect("finite values")
}

#[test]
fn values_of_other_samples_are_found_to_be_wrong() {
    for (what, samples, gamma) in all() {
        for kernel in [Kernel::rbf(gamma), Kernel::poly(gamma, 1.0, 3), Kernel::sigmoid(0.1 * gamma, 0.0), Kernel::Linear] {
            let sound = KernelGram::new(&samples, kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
            assert_eq!(sound.fault(), None, "{what} {kernel:?}");
            let other = KernelGram::new(&damaged(&samples), kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
            let fault =
                sound.spot_checks.fault(&other, &kernel).unwrap_or_else(|| panic!("{what} {kernel:?}: nothing was found"));
            assert!((fault.found - fault.expected).abs() > 0.0, "{fault}");
        }
    }
}

#[test]
fn every_form_of_a_value_is_compared() {
    let n = 300;
    let bits: Vec<f64> = (0..n * 40).map(|at| f64::from(u8::from(at * at % 11 < 5))).collect();
    let samples = Samples::from_slice(&bits, n, 40).expect("finite values");
    let sound = KernelGram::new(&samples, Kernel::rbf(0.2), &RunControl::unlimited()).expect("a valid kernel");
    assert!(sound.table().is_some());
    let form = |gram: &KernelGram| gram.fault().map(|fault| fault.form);
    assert_eq!(form(&sound), None);
    let diagonal = KernelGram { diagonal: vec![1.0 + 1e-6; n], ..sound.clone() };
    assert_eq!(form(&diagonal), Some("on the diagonal"));
    let exact = KernelGram { function: SliceKernel::new(&Kernel::rbf(0.2 * (1.0 + 1e-6)), 40.0), ..sound.clone() };
    assert_eq!(form(&exact), Some("in double precision"));
    let with = |value: fn(&mut f32), code: fn(&mut u8)| {
        let wrong = Altered { gram: &sound, value, code };
        sound.spot_checks.fault(&wrong, &sound.kernel).map(|fault| fault.form)
    };
    assert_eq!(with(|_| (), |_| ()), None);
    assert_eq!(with(|value| *value *= 1.001, |_| ()), Some("in single precision"));
    assert_eq!(with(|_| (), |code| *code ^= 1), Some("in a code"));
}

/// A matrix with some wrong values.
struct Altered<'g> {
    gram: &'g KernelGram,
    value: fn(&mut f32),
    code: fn(&mut u8),
}

impl Gram for Altered<'_> {
    fn len(&self) -> usize {
        self.gram.len()
    }

    fn diagonal(&self) -> &[f64] {
        self.gram.diagonal()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        self.gram.fill(rows, columns, out);
        out.iter_mut().for_each(self.value);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.gram.fill_exact(rows, columns, out);
    }

    fn table(&self) -> Option<CodeTable> {
        self.gram.table()
    }

    fn fill_codes(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        self.gram.fill_codes(rows, columns, out);
        (self.code)(&mut out[1][7]);
    }
}

/// Products that are kept change no bit of any value, also of the matrix with another gamma.
#[test]
fn kept_products_have_the_same_bits() {
    let data = Generator::SparseText.generate(150, Some(200_000), 3).expect("a generator");
    let fresh = KernelGram::new(&data.samples, Kernel::rbf(0.5), &RunControl::unlimited()).expect("a kernel");
    let kept = KernelGram::new(&data.samples, Kernel::rbf(0.5), &RunControl::unlimited()).expect("a kernel");
    let bytes = kept.bytes() as u64;
    kept.keep_products(Par::Pool, &RunControl::unlimited()).expect("not cancelled");
    assert_eq!(Some(kept.bytes() as u64 - bytes), kept.products_bytes());
    let rows = [149, 0, 64, 63];
    for (fresh, kept) in [(&fresh, &kept), (&fresh.with_gamma(2.0).expect("a width"), &kept.with_gamma(2.0).expect("a width"))] {
        for columns in [0..150, 60..70, 149..150, 128..131] {
            let (mut a, mut b) = (vec![0.0; 4 * columns.len()], vec![1.0; 4 * columns.len()]);
            fresh.fill_exact(&rows, columns.clone(), &mut a);
            kept.fill_exact(&rows, columns.clone(), &mut b);
            assert_eq!(a, b);
            let (mut a, mut b) = (vec![0.0_f32; 4 * columns.len()], vec![1.0_f32; 4 * columns.len()]);
            fresh.fill(&rows, columns.clone(), &mut a);
            kept.fill(&rows, columns, &mut b);
            assert_eq!(a, b);
        }
    }
}
