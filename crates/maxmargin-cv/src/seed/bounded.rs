//! Kernel sums of samples at their bound, from one value of C to the next.
//!
//! Most samples at the bound C stay there from one value of C to the next, and their part of each
//! kernel sum is then C times one that stays the same. It is kept apart for the samples that each
//! fold holds out: its negative is the change of all sums when the fold leaves them out, and
//! certificates compute kernel values of the other support vectors alone.

use super::row_boxes::RowBoxes;
use super::rows::SeedRows;
use maxmargin_core::{Dual, KeptSums};
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::{Gram, MemberSums};

/// The fewest kernel rows: sums over fewer take no noticeable time.
const FEWEST: usize = 2048;

/// The most memory, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The smallest bound next to the largest one.
const LEAST_SHARE: f64 = 1.0 / 4096.0;

/// The kernel sums of samples at their bound, for a bound of 1 of the samples with the largest box.
pub(crate) struct BoundedSums {
    /// The fold that holds out each sample; the number of folds if none does.
    group: Vec<usize>,
    groups: usize,
    /// The ends of the box of each sample next to the largest box.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Samples that are at their bound; empty if there are no sums.
    held: Vec<bool>,
    /// Sums of the samples of each group; none before the first machine.
    of_group: Vec<MemberSums>,
    /// The sums of all groups, and their coefficients.
    all: Vec<f64>,
    all_coef: Vec<f64>,
}

impl BoundedSums {
    /// Sums of the machines of folds that hold out `out`, with the boxes of `unit`, the problem of
    /// all data at C = 1. `None` if a sample is held out twice, so that its sums are no part of one
    /// fold alone, or if boxes differ too much.
    pub(crate) fn new(unit: &Dual, out: &[&[usize]], samples: usize) -> Option<Self> {
        let mut group = vec![out.len(); samples];
        for (fold, out) in out.iter().enumerate() {
            if out.iter().any(|&i| std::mem::replace(&mut group[i], fold) < fold) {
                return None;
            }
        }
        let boxes = RowBoxes::new(unit, samples);
        let largest = boxes.scale();
        let shares = |ends: &[f64]| ends.iter().map(|end| end / largest).collect::<Vec<f64>>();
        let (low, high) = (shares(boxes.low()), shares(boxes.high()));
        let are_alike = |ends: &[f64]| ends.iter().all(|end| *end == 0.0 || (LEAST_SHARE..=1.0).contains(&end.abs()));
        (are_alike(&low) && are_alike(&high)).then(|| Self {
            group,
            groups: out.len() + 1,
            low,
            high,
            held: Vec::new(),
            of_group: Vec::new(),
            all: Vec::new(),
            all_coef: Vec::new(),
        })
    }

    /// Bytes of the sums over so many kernel rows; 0 if there are so few that none are kept.
    pub(crate) fn bytes(&self, rows: usize) -> u64 {
        if rows < FEWEST { 0 } else { self.groups as u64 * MemberSums::bytes(rows) + 16 * rows as u64 }
    }

    /// Returns whether these sums are cheaper than kernel values for each value of C.
    fn pays(&self, gram: &dyn Gram) -> bool {
        gram.len() >= FEWEST
            && self.bytes(gram.len()) <= MOST_BYTES
            && gram.kept_exact().is_none()
            && gram.neighbours().is_none()
            && gram.lattice().is_none()
    }

    /// Takes the samples that are at their bound in the point `beta` of all data. There are no sums
    /// afterwards if they cannot be kept, or would take longer than they save.
    ///
    /// The kept sums depend on this point alone, so that a search that goes on after an
    /// interruption has the same bits.
    ///
    /// # Errors
    ///
    /// When `control` ends the run. There are no sums then.
    pub(crate) fn hold(
        &mut self,
        beta: &[f64],
        boxes: &RowBoxes,
        rows: SeedRows,
        par: Par,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        self.held.clear();
        let gram = rows.gram();
        if self.all.len() != gram.len() {
            let empty = if self.pays(gram) { MemberSums::new(gram) } else { None };
            let Some(empty) = empty else { return Ok(()) };
            (self.of_group, self.all) = (vec![empty; self.groups], vec![0.0; gram.len()]);
        }
        let held: Vec<bool> = beta.iter().enumerate().map(|(i, beta)| *beta != 0.0 && !boxes.is_free(i, *beta)).collect();
        let mut shares = vec![vec![0.0; gram.len()]; self.groups];
        for i in (0..held.len()).filter(|&i| held[i]) {
            shares[self.group[i]][rows.place(i)] += if beta[i] > 0.0 { self.high[i] } else { self.low[i] };
        }
        if !shares.iter().all(|shares| MemberSums::holds(shares)) {
            return Ok(());
        }
        self.all.fill(0.0);
        self.all_coef = vec![0.0; gram.len()];
        for (sums, shares) in self.of_group.iter_mut().zip(&shares) {
            if let Err(cancelled) = sums.change(gram, shares, par, control) {
                self.all.clear();
                return Err(cancelled);
            }
            self.all.iter_mut().zip(sums.sums()).for_each(|(all, sum)| *all += sum);
            self.all_coef.iter_mut().zip(shares).for_each(|(all, share)| *all += share);
        }
        self.held = held;
        Ok(())
    }

    /// Returns whether a sample is at its bound.
    pub(crate) fn holds(&self, sample: usize) -> bool {
        self.held[sample]
    }

    /// Number of kernel rows of the sums; `None` if there are no sums.
    pub(crate) fn rows(&self) -> Option<usize> {
        (!self.held.is_empty()).then_some(self.all.len())
    }

    /// Takes the samples that a fold holds out away from `sums`. `scale` is the largest box.
    pub(crate) fn take_from(&self, sums: &mut [f64], fold: usize, scale: f64) {
        sums.iter_mut().zip(self.of_group[fold].sums()).for_each(|(sum, own)| *sum -= scale * own);
    }

    /// The samples that a fold has (of all data without a fold). `scale` is the largest box.
    pub(crate) fn known(&self, fold: Option<usize>, scale: f64) -> KeptSums {
        let (mut coef, mut sums) = (self.all_coef.clone(), self.all.clone());
        if let Some(own) = fold.map(|fold| &self.of_group[fold]) {
            coef.iter_mut().zip(own.coefficients()).for_each(|(coef, share)| *coef -= share);
            sums.iter_mut().zip(own.sums()).for_each(|(sum, own)| *sum -= own);
        }
        coef.iter_mut().chain(&mut sums).for_each(|value| *value *= scale);
        KeptSums { coef, sums }
    }
}

#[cfg(test)]
mod tests {
    //! Sums of a set of bounded samples do not depend on the sets before it.

    use super::*;
    use maxmargin_data::generate::Generator;
    use maxmargin_kernel::{Kernel, KernelGram, Rows};

    #[test]
    fn what_is_known_depends_on_the_present_point_alone() {
        const N: usize = 2200;
        let data = Generator::TwoGaussians.generate(N, None, 3).expect("a generator");
        let control = RunControl::unlimited();
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.3 }, &control).expect("a kernel");
        let rows = Rows::new(&gram, 1 << 26, Par::Seq);
        let out: Vec<Vec<usize>> = (0..3).map(|h| (0..N).filter(|i| i % 4 == h).collect()).collect();
        let out: Vec<&[usize]> = out.iter().map(Vec::as_slice).collect();
        let dual = |c: f64| Dual::c_svc((0..N).collect(), data.labels.clone(), vec![c; N]).expect("two classes");
        let unit = dual(1.0);
        let beta = |c: f64, each: usize| -> Vec<f64> {
            let share = |i: usize| if i.is_multiple_of(each) { 1.0 } else { 0.3 * (i % 2) as f64 };
            (0..N).map(|i| data.labels[i] * c * share(i)).collect()
        };
        let known = |points: &[(f64, usize)]| {
            let mut sums = BoundedSums::new(&unit, &out, N).expect("each sample is held out once");
            for &(c, each) in points {
                let dual = dual(c);
                let boxes = RowBoxes::new(&dual, N);
                sums.hold(&beta(c, each), &boxes, SeedRows::of(&rows), Par::Seq, &control).expect("unlimited");
                assert_eq!(sums.rows(), Some(N));
            }
            let c = points[points.len() - 1].0;
            (0..4).map(|h| sums.known((h < 3).then_some(h), c)).map(|part| (part.coef, part.sums)).collect::<Vec<_>>()
        };
        let last = known(&[(2.5, 7)]);
        assert_eq!(last, known(&[(0.7, 5), (2.5, 7)]));
        assert_eq!(last, known(&[(0.7, 3), (1.9, 7), (8.0, 2), (2.5, 7)]));
        // Sample 700 is in no fold, 7 in fold 3 of none; 14 in fold 2.
        let bounded = |i: usize| data.labels[i] * 2.5;
        assert_eq!([last[2].0[14], last[0].0[14], last[3].0[14], last[0].0[15]], [0.0, bounded(14), bounded(14), 0.0]);
    }

    #[test]
    fn samples_of_two_folds_and_unequal_boxes_are_left_alone() {
        let dual = |upper: f64| Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0, upper]).expect("two classes");
        assert!(BoundedSums::new(&dual(0.5), &[&[0], &[1]], 2).is_some());
        assert!(BoundedSums::new(&dual(0.5), &[&[0], &[0, 1]], 2).is_none());
        assert!(BoundedSums::new(&dual(1e-6), &[&[0], &[1]], 2).is_none());
    }
}
