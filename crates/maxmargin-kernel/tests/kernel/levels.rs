//! Kernel values at every level of vector instructions. The level is a property of the process, so
//! this test is a separate binary.

use crate::common::{KINDS, Kind, full, kernels, samples};
use maxmargin_data::RunControl;
use maxmargin_kernel::KernelGram;
use maxmargin_simd::level::{Level, levels, restrict};
use maxmargin_simd::products::PORTABLE_FUSES;

/// Kernel values are the same at all levels, with every store for small integers. Products of reals
/// use fused multiply-adds at every level except possibly the portable one, which agrees up to
/// rounding.
#[test]
fn kernel_values_have_the_same_bits_at_every_level() {
    for kind in KINDS {
        let exact = PORTABLE_FUSES || matches!(kind, Kind::Integers | Kind::Image | Kind::Wide | Kind::Sparse);
        for (n, d) in [(5, 2), (70, 13), (37, 700)] {
            let x = samples(kind, n, d, 11);
            for kernel in kernels(kind, d) {
                let at = |level| {
                    restrict(level);
                    full(&KernelGram::new(&x, kernel.clone(), &RunControl::unlimited()).expect("a valid kernel"))
                };
                // The best level is the last one and remains set.
                let found: Vec<_> = levels().map(|level| (level, at(level))).collect();
                let (_, best) = &found[found.len() - 1];
                for (level, (fast, precise)) in &found {
                    let what = format!("{kind:?} {kernel:?} n {n} d {d}: {level:?}");
                    if exact || *level > Level::Portable {
                        assert!(fast.iter().zip(&best.0).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}");
                        assert!(precise.iter().zip(&best.1).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}");
                    }
                    let scale = best.1.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
                    assert!(precise.iter().zip(&best.1).all(|(a, b)| (a - b).abs() <= 1e-11 * scale), "{what}");
                    assert!(fast.iter().zip(&best.0).all(|(a, b)| f64::from((a - b).abs()) <= 6e-6 * scale), "{what}");
                }
            }
        }
    }
}
