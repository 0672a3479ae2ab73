//! Kernel sums over a set of samples that come and go.

use super::exact::{COLUMNS, IDS};
use super::scratch::with_tile;
use crate::Gram;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::sums::add_in_units;
use std::ops::Range;

/// The most members, the most that their coefficients come to together, and the largest one: sums
/// up to these have no rounding ([`add_in_units`]).
const MOST: f64 = 16_384.0;
const LARGEST: f64 = 4096.0;

/// The least size of a sample ([`Gram::size`]) that is not 0, next to the largest: units are shares
/// of the largest value, and sums at samples with small values need as many digits.
const SMALLEST: f64 = 1.0 / 256.0;

/// The kernel sums `Σ_l c_l K_l·` over members with coefficients, in `f64`. A new set costs the
/// kernel values of the members that come, go or change alone.
///
/// The sums depend on the set as it is, to the last bit, and not on those before it: products are
/// added in whole multiples of two units. What they lack is below 2⁻⁷⁷ of the largest kernel value
/// for each member.
#[derive(Clone, Debug)]
pub struct MemberSums {
    /// A power of two that no kernel value exceeds.
    largest: f64,
    coef: Vec<f64>,
    /// Tile by tile, the coarse parts of its columns, then the fine ones.
    parts: Vec<f64>,
}

impl MemberSums {
    /// An empty set of samples of `gram`; `None` if their kernel values differ in size by too much
    /// to have units in common.
    pub fn new(gram: &dyn Gram) -> Option<Self> {
        let n = gram.len();
        let sizes = || (0..n).map(|i| gram.size(i)).filter(|size| *size != 0.0);
        let (least, most) = sizes().fold((f64::INFINITY, 0.0_f64), |(least, most), size| (least.min(size), most.max(size)));
        let largest = (most * most).log2().ceil().exp2();
        (largest.is_normal() && largest.recip().is_normal() && least >= SMALLEST * most).then(|| Self {
            largest,
            coef: vec![0.0; n],
            parts: vec![0.0; 2 * n.next_multiple_of(COLUMNS)],
        })
    }

    /// Bytes of the sums of `n` samples.
    pub fn bytes(n: usize) -> u64 {
        8 * (n + 2 * n.next_multiple_of(COLUMNS)) as u64
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.coef.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.coef.is_empty()
    }

    /// Returns whether the sums of a set with these coefficients have no rounding.
    pub fn holds(coef: &[f64]) -> bool {
        let members = coef.iter().filter(|c| **c != 0.0).count() as f64;
        let (together, largest) = coef.iter().fold((0.0, 0.0_f64), |(sum, most), c| (sum + c.abs(), most.max(c.abs())));
        members <= MOST && together <= MOST && largest <= LARGEST
    }

    /// The coefficient of each sample; 0 of those that are no members.
    pub fn coefficients(&self) -> &[f64] {
        &self.coef
    }

    /// Makes the set one with the coefficients `coef`, one of each sample.
    ///
    /// # Errors
    ///
    /// When `control` ends the run. The sums are not those of a set then.
    ///
    /// # Panics
    ///
    /// When `gram` has another number of samples, there is not one coefficient of each, or
    /// [`MemberSums::holds`] is false.
    pub fn change(&mut self, gram: &dyn Gram, coef: &[f64], par: Par, control: &RunControl) -> Result<(), Cancelled> {
        assert!(gram.len() == self.len() && coef.len() == self.len(), "one coefficient per sample");
        assert!(Self::holds(coef), "coefficients too large");
        let (before, n) = (std::mem::replace(&mut self.coef, coef.to_vec()), coef.len());
        let changed: Vec<usize> = (0..n).filter(|&i| before[i] != coef[i]).collect();
        let per_value = gram.value_operations() + 2;
        let tiles = (RunControl::operations_between_checks() / (per_value * (IDS * n) as u64)).max(1) as usize * par.threads();
        let unit = self.largest.recip();
        for ids in changed.chunks(IDS * tiles) {
            control.check(per_value * (ids.len() * n).div_ceil(par.threads()) as u64)?;
            par.for_chunks(&mut self.parts, 2 * COLUMNS, |t, parts| {
                let columns = t * COLUMNS..n.min((t + 1) * COLUMNS);
                ids.chunks(IDS).for_each(|ids| add_rows(gram, ids, columns.clone(), unit, [&before, coef], parts));
            });
        }
        Ok(())
    }

    /// The sum at each sample.
    pub fn sums(&self) -> impl Iterator<Item = f64> {
        let tiles = self.parts.chunks_exact(2 * COLUMNS).map(|parts| parts.split_at(COLUMNS));
        let sums = tiles.flat_map(|(coarse, fine)| coarse.iter().zip(fine).map(|(coarse, fine)| coarse + fine));
        sums.take(self.len()).map(|sum| sum * self.largest)
    }
}

/// Takes the rows of `ids` away from the sums of a tile with the coefficients before, and adds them
/// with the new ones.
fn add_rows(gram: &dyn Gram, ids: &[usize], columns: Range<usize>, unit: f64, [before, coef]: [&[f64]; 2], parts: &mut [f64]) {
    let count = columns.len();
    let (coarse, fine) = parts.split_at_mut(COLUMNS);
    with_tile(ids.len() * count, |values| {
        gram.fill_exact(ids, columns, values);
        for (&id, row) in ids.iter().zip(values.chunks_exact(count)) {
            for factor in [-before[id], coef[id]].into_iter().filter(|factor| *factor != 0.0) {
                add_in_units(&mut coarse[..count], &mut fine[..count], factor * unit, row);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FnGram, Kernel, KernelGram, apply_exact};
    use maxmargin_data::generate::Generator;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// The sums are those of the last set alone, to the last bit, after any other sets and with
        /// any number of threads. They differ from sums of all values by rounding only.
        #[test]
        fn sums_are_those_of_the_present_set(
            sets in prop::collection::vec(prop::collection::vec((0..1500_usize, -3.0..3.0), 0..90), 1..6),
            kernel in prop_oneof![
                (0.01..4.0).prop_map(|gamma| Kernel::Rbf { gamma }),
                Just(Kernel::Poly { degree: 3, gamma: 0.7, coef0: 1.0 }),
            ],
        ) {
            let data = Generator::Banana.generate(1500, None, 5).expect("a generator");
            let control = RunControl::unlimited();
            let gram = KernelGram::new(&data.samples, kernel, &control).expect("a kernel");
            let dense = |set: &[(usize, f64)]| {
                let mut coef = vec![0.0; 1500];
                set.iter().for_each(|(id, c)| coef[*id] += c);
                coef
            };
            let mut sums = MemberSums::new(&gram).expect("bounded values");
            for (at, set) in sets.iter().enumerate() {
                sums.change(&gram, &dense(set), if at % 2 == 0 { Par::Pool } else { Par::Seq }, &control).expect("unlimited");
            }
            let coef = dense(&sets[sets.len() - 1]);
            let mut alone = MemberSums::new(&gram).expect("bounded values");
            alone.change(&gram, &coef, Par::Seq, &control).expect("unlimited");
            prop_assert!(sums.sums().eq(alone.sums()));
            prop_assert_eq!(sums.coefficients(), &coef[..]);
            let ids: Vec<usize> = (0..1500).collect();
            let all = apply_exact(&gram, &ids, &coef, 1, 0..1500, Par::Seq, &control).expect("unlimited");
            let mass: f64 = ids.iter().map(|&id| coef[id].abs() * gram.size(id)).sum();
            for (i, (found, expected)) in sums.sums().zip(all).enumerate() {
                prop_assert!((found - expected).abs() <= 2.0 * f64::EPSILON * mass * gram.size(i), "{} {}", found, expected);
            }
        }
    }

    /// Members that stay cost no kernel value.
    #[test]
    fn changes_alone_are_computed() {
        let count = AtomicUsize::new(0);
        let gram = FnGram::new(300, |i, j| {
            count.fetch_add(1, Ordering::Relaxed);
            1.0 / (1.0 + i.abs_diff(j) as f64)
        });
        let mut sums = MemberSums::new(&gram).expect("bounded values");
        let control = RunControl::unlimited();
        let mut coef: Vec<f64> = (0..300).map(|i| f64::from(i % 3) - 1.0).collect();
        let mut values = |coef: &[f64]| {
            let before = count.load(Ordering::Relaxed);
            sums.change(&gram, coef, Par::Seq, &control).expect("unlimited");
            count.load(Ordering::Relaxed) - before
        };
        assert_eq!(values(&coef), 200 * 300);
        assert_eq!(values(&coef), 0);
        (coef[1], coef[5], coef[299]) = (1.0, 0.0, 0.5);
        assert_eq!(values(&coef), 3 * 300);
    }

    /// Values of very different sizes have no unit in common.
    #[test]
    fn sizes_must_be_alike() {
        let of = |sizes: [f64; 3]| MemberSums::new(&FnGram::new(3, move |i, j| sizes[i] * sizes[j])).is_some();
        assert!(of([1.0, 0.0, 0.1]) && of([1e100, 1e100, 3e98]));
        assert!(!of([1.0, 1.0, 1e-3]) && !of([1e160, 1e160, 1e160]) && !of([0.0; 3]));
    }

    #[test]
    fn a_set_with_rounding_is_not_held() {
        assert!(MemberSums::holds(&[4096.0, -4096.0, 0.0]) && MemberSums::holds(&vec![1.0; 16_384]));
        assert!(!MemberSums::holds(&[4097.0]) && !MemberSums::holds(&vec![1e-9; 16_385]));
        assert!(!MemberSums::holds(&[4096.0, 4096.0, 4096.0, 4096.0, 1.0]) && !MemberSums::holds(&[f64::INFINITY]));
    }
}
