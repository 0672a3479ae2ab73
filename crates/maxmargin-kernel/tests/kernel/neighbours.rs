//! Matrices that are mostly zero: the values that are kept, and sums over them.

use crate::common::stream;
use maxmargin_data::generate::Generator;
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::{Exact, Gram, Kernel, KernelGram, Rows};

/// Enough samples that neighbours are searched.
const MANY: usize = 2300;

/// Values of `0..1` made into features.
fn dense(features: usize, value: impl Fn(f64) -> f64) -> Samples {
    let mut next = stream(7);
    Samples::from_dense(MANY, features, (0..MANY * features).map(|_| value(next())).collect()).expect("samples")
}

/// Samples in every form of storage, with a gamma at which about a hundredth of the values is not
/// negligible: zeros and ones that differ in few features or in many, bytes, reals of few and of
/// many features, of few features far from zero, text.
fn cases() -> Vec<(&'static str, Samples, f64)> {
    let bits = |ones: f64| move |u: f64| f64::from(u8::from(u < ones));
    let text = Generator::SparseText.generate(MANY, Some(3000), 3).expect("a generator").samples;
    let cases = vec![
        ("few differences", dense(60, bits(0.1))),
        ("many differences", dense(14, bits(0.5))),
        ("bytes", dense(3, |u| (90.0 * u).floor())),
        ("wide bytes", dense(40, |u| (20.0 * u).floor())),
        ("plane", dense(2, |u| 8.0 * u)),
        ("far from zero", dense(2, |u| 1e6 + 8.0 * u)),
        ("wide", dense(48, |u| 8.0 * u)),
        ("text", text),
    ];
    let gammas: Vec<f64> = cases.iter().map(|case| narrow(&case.1)).collect();
    cases.into_iter().zip(gammas).map(|((name, samples), gamma)| (name, samples, gamma)).collect()
}

/// The gamma at which a hundredth of the pairs has values above 10⁻¹⁷.
fn narrow(samples: &Samples) -> f64 {
    let wide = 1e-5;
    let gram = KernelGram::new(samples, Kernel::Rbf { gamma: wide }, &RunControl::unlimited()).expect("a kernel");
    let mut values = vec![0.0; 100 * MANY];
    gram.fill_exact(&(0..100).collect::<Vec<_>>(), 0..MANY, &mut values);
    values.retain(|value| *value < 1.0);
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    38.0 * wide / -values[values.len() / 100].ln()
}

fn found(samples: &Samples, gamma: f64, par: Par) -> KernelGram {
    let gram = KernelGram::new(samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
    gram.find_neighbours(u64::MAX, par, &RunControl::unlimited()).expect("unlimited");
    gram
}

#[test]
fn exactly_what_is_not_negligible_is_kept() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    for (name, samples, gamma) in cases() {
        let gram = found(&samples, gamma, Par::Seq);
        let neighbours = gram.neighbours().unwrap_or_else(|| panic!("{name}: no neighbours"));
        let (mut block, mut count, mut largest) = (vec![0.0; 115 * MANY], 0, 0.0_f64);
        for first in (0..MANY).step_by(115) {
            gram.fill_exact(&(first..first + 115).collect::<Vec<_>>(), 0..MANY, &mut block);
            for (i, row) in (first..).zip(block.chunks(MANY)) {
                let (kept, left): (Vec<_>, Vec<_>) =
                    (0..).zip(row.iter().copied()).partition(|(_, v)| *v > neighbours.left_out());
                let of = neighbours.of(i);
                let found: Vec<(u32, f64)> = of.samples.iter().copied().zip(of.values.iter().copied()).collect();
                assert_eq!(found, kept, "{name}, {i}");
                count += kept.len();
                largest = left.iter().fold(largest, |most, (_, v)| most.max(*v));
            }
        }
        assert_eq!((neighbours.len(), neighbours.count()), (MANY, count), "{name}");
        assert!(count > MANY && 20 * count < MANY * MANY, "{name}: {count} values");
        assert!(largest > 0.0, "{name}: something is left out");
        let other = pool.install(|| found(&samples, gamma, Par::Pool));
        let other = other.neighbours().expect("neighbours");
        assert!((0..MANY).all(|i| other.of(i).values == neighbours.of(i).values), "{name}");
    }
}

#[test]
fn sums_are_those_of_all_values_but_for_what_is_left_out() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    for (name, samples, gamma) in cases().into_iter().step_by(4) {
        let whole = KernelGram::new(&samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
        let gram = found(&samples, gamma, Par::Seq);
        let ids: Vec<usize> = (0..MANY).filter(|i| i % 3 != 1).collect();
        for h in [1, 9] {
            let coef: Vec<f64> = (0..ids.len() * h).map(|k| (k % 17) as f64 - 8.0).collect();
            let sums = |gram: &KernelGram, par: Par, columns| {
                Exact::from(gram).sums(&ids, &coef, h, columns, par, &RunControl::unlimited()).expect("unlimited")
            };
            let few = sums(&gram, Par::Seq, 40..2100);
            assert_eq!(few, pool.install(|| sums(&gram, Par::Pool, 40..2100)), "{name}");
            assert_eq!(few[60 * h..80 * h], sums(&gram, Par::Seq, 100..120), "{name}");
            let mass = 8.0 * ids.len() as f64;
            let most = mass * (Exact::from(&gram).left_out() + f64::EPSILON);
            let apart = few.iter().zip(sums(&whole, Par::Seq, 40..2100)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= most, "{name}: {apart} of {most}");
            assert_eq!(Exact::from(&whole).left_out(), 0.0);
        }
    }
}

#[test]
fn matrices_that_are_not_mostly_zero_or_do_not_fit_have_none() {
    let (_, samples, gamma) = cases().swap_remove(4);
    let none = |kernel: Kernel, bytes: u64| {
        let gram = KernelGram::new(&samples, kernel, &RunControl::unlimited()).expect("a kernel");
        gram.find_neighbours(bytes, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        gram.neighbours().is_none()
    };
    assert!(!none(Kernel::Rbf { gamma }, u64::MAX) && none(Kernel::Rbf { gamma }, 10_000));
    assert!(none(Kernel::Rbf { gamma: 1.0 }, u64::MAX) && none(Kernel::Linear, u64::MAX));
}

/// Rows of the distinct samples have the neighbours where samples are merged, and the budget counts
/// them.
#[test]
fn neighbours_are_those_of_the_distinct_samples() {
    let (_, samples, gamma) = cases().swap_remove(2);
    let twice = samples.select(&(0..2 * MANY).map(|i| i % MANY).collect::<Vec<_>>());
    let gram = KernelGram::new(&twice, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
    let rows = Rows::new(&gram, 1 << 30, Par::Seq);
    rows.find_neighbours(&RunControl::unlimited()).expect("unlimited");
    let merged = rows.merged_so_far().expect("copies");
    let neighbours = merged.rows().gram().neighbours().expect("neighbours");
    assert!(gram.neighbours().is_none() && neighbours.len() == merged.distinct().first.len());
    let before = rows.work().peak_bytes;
    assert!(before >= neighbours.bytes());
    rows.find_neighbours(&RunControl::unlimited()).expect("unlimited");
    assert_eq!(rows.work().peak_bytes, before, "a second search does nothing");
}
