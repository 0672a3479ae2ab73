//! Which samples each machine of a study has, and in which order.

use crate::plan::FoldPlan;
use maxmargin_core::{DualError, Formulation, Problem};
use maxmargin_data::{ClassLabels, Par};
use maxmargin_kernel::Mark;
use maxmargin_model::Multiclass;

/// The samples of one machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineSamples {
    /// The earlier class and the later, where there are classes; no earlier one where that is all
    /// the others.
    pub(crate) classes: Option<(Option<usize>, usize)>,
    /// Positions in the layout, ascending.
    pub(crate) rows: Vec<usize>,
    /// What the machine shall say of each: −1 for the earlier class and +1 for the later, or a
    /// value.
    pub(crate) target: Vec<f64>,
    /// A factor of C for each, where they have any.
    pub(crate) weights: Option<Vec<f64>>,
}

impl MachineSamples {
    /// The problem of this machine over rows `0…n` of its space; `weights` has a factor of C for
    /// each class.
    pub(crate) fn problem(&self, formulation: Formulation, weights: &[f64]) -> Result<Problem, DualError> {
        self.problem_against(formulation, weights, 1.0)
    }

    /// [`MachineSamples::problem`] where all the other classes together have the factor `rest`.
    pub(crate) fn problem_against(&self, formulation: Formulation, weights: &[f64], rest: f64) -> Result<Problem, DualError> {
        let ids: Vec<usize> = (0..self.rows.len()).collect();
        let mut weights: Vec<f64> = match self.classes {
            Some((earlier, later)) => {
                let (below, above) = (earlier.map_or(rest, |earlier| weights[earlier]), weights[later]);
                self.target.iter().map(|sign| if *sign > 0.0 { above } else { below }).collect()
            }
            None => vec![1.0; ids.len()],
        };
        self.weights.iter().for_each(|own| weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own));
        formulation.problem(&maxmargin_core::TrainingSet { ids: &ids, target: &self.target, weights: &weights })
    }

    /// The earlier class and the later.
    ///
    /// # Panics
    ///
    /// When the machine does not tell two classes apart.
    pub(crate) fn pair(&self) -> (usize, usize) {
        let (earlier, later) = self.classes.expect("a machine of classes");
        (earlier.expect("a machine of two classes"), later)
    }
}

/// Samples in the order that their machines want them.
#[derive(Clone, Debug)]
pub(crate) struct MachineLayout {
    /// Position in the data of each sample.
    pub(crate) original: Vec<usize>,
    /// One for each machine: of all samples, or of those of each pair of classes.
    pub(crate) parts: Vec<MachineSamples>,
    /// A number for each set of folds that leave a sample out; none without a plan.
    fold: Vec<u32>,
}

impl MachineLayout {
    /// The order of the data; the class of each sample is out of `count` in any order.
    pub(crate) fn unsorted(of: &[u32], count: usize, multiclass: Multiclass) -> Self {
        Self::new((0..of.len()).collect(), of, (count, multiclass))
    }

    /// Sorted by class, so that a pair is two runs of samples; where machines have all samples, as
    /// they are.
    pub(crate) fn sorted(of: &[u32], count: usize, multiclass: Multiclass) -> Self {
        let mut original: Vec<usize> = (0..of.len()).collect();
        if count > 2 && multiclass == Multiclass::OneVsOne {
            original.sort_by_key(|&i| of[i]);
        }
        Self::new(original, of, (count, multiclass))
    }

    /// Sorted by the folds that leave samples out and, among those of the same, by class: where
    /// every sample is tested once, a training set is then at most two runs of a kernel row.
    pub(crate) fn by_fold(plan: &FoldPlan, classes: &ClassLabels, multiclass: Multiclass) -> Self {
        let (original, fold) = plan.sorted_by(|i| classes.of()[i]);
        Self { fold, ..Self::new(original, classes.of(), (classes.count(), multiclass)) }
    }

    /// The same with a factor of C for each sample of the data, where there are any.
    pub(crate) fn weighted(mut self, weights: Option<&[f64]>) -> Self {
        if let Some(weights) = weights {
            let original = &self.original;
            let of = |part: &MachineSamples| part.rows.iter().map(|&at| weights[original[at]]).collect();
            self.parts.iter_mut().for_each(|part| part.weights = Some(of(part)));
        }
        self
    }

    /// One machine of all samples, which shall say `target` of them (in the order of the data);
    /// sorted by fold, where there is a plan.
    pub(crate) fn alone(target: &[f64], plan: Option<&FoldPlan>) -> Self {
        let (original, fold) = plan.map_or_else(|| ((0..target.len()).collect(), vec![]), |plan| plan.sorted_by(|_| ()));
        let part = MachineSamples {
            classes: None,
            rows: (0..target.len()).collect(),
            target: original.iter().map(|&i| target[i]).collect(),
            weights: None,
        };
        Self { parts: vec![part], original, fold }
    }

    fn new(original: Vec<usize>, of: &[u32], (count, multiclass): (usize, Multiclass)) -> Self {
        let class_of: Vec<usize> = original.iter().map(|&i| of[i] as usize).collect();
        let mut members = vec![Vec::new(); count];
        class_of.iter().enumerate().for_each(|(at, &class)| members[class].push(at));
        let part = |(earlier, later): (Option<usize>, usize)| {
            let mut rows = match earlier {
                Some(earlier) => [&members[earlier][..], &members[later][..]].concat(),
                None => (0..class_of.len()).collect(),
            };
            rows.sort_unstable();
            let target = rows.iter().map(|&at| if class_of[at] == later { 1.0 } else { -1.0 }).collect();
            MachineSamples { classes: Some((earlier, later)), rows, target, weights: None }
        };
        Self { parts: multiclass.sides(count).into_iter().map(part).collect(), original, fold: vec![] }
    }

    /// The class of each sample, from 1 (0 where there are none), and which folds leave it out. No
    /// machine has two samples of one class on two sides.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.fold.iter().map(|&fold| Mark { class: 0, fold }).collect();
        marks.resize(self.original.len(), Mark::default());
        for part in &self.parts {
            let Some((earlier, later)) = part.classes else { continue };
            for (&at, target) in part.rows.iter().zip(&part.target) {
                let class = if *target > 0.0 { Some(later) } else { earlier };
                class.iter().for_each(|class| marks[at].class = *class as u32 + 1);
            }
        }
        marks
    }

    /// Whether the samples are in the order of the data.
    pub(crate) fn is_identity(&self) -> bool {
        self.original.iter().enumerate().all(|(at, &i)| at == i)
    }

    /// The folds of a plan, as positions in this layout.
    pub(crate) fn folds(&self, plan: &FoldPlan) -> Vec<HeldOut> {
        held(plan, self.original.iter().copied())
    }

    /// What the folds of a plan are among the samples of a part, as places in the part.
    pub(crate) fn folds_of(&self, part: &MachineSamples, plan: &FoldPlan) -> Vec<HeldOut> {
        held(plan, part.rows.iter().map(|&at| self.original[at]))
    }
}

/// What a fold holds back from its training, as places among samples, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldOut {
    /// What it does not train on.
    pub(crate) out: Vec<usize>,
    /// What it tests of that.
    pub(crate) test: Vec<usize>,
    /// [`FoldPlan::round`].
    pub(crate) round: usize,
}

fn held(plan: &FoldPlan, samples: impl Iterator<Item = usize>) -> Vec<HeldOut> {
    let mut place = vec![None; plan.len()];
    samples.enumerate().for_each(|(at, i)| place[i] = Some(at));
    let places = |rows: &mut dyn Iterator<Item = usize>| {
        let mut places: Vec<usize> = rows.filter_map(|i| place[i]).collect();
        places.sort_unstable();
        places
    };
    let of = |fold: usize| HeldOut {
        out: places(&mut plan.left_out(fold)),
        test: places(&mut plan.test(fold).iter().copied()),
        round: plan.round(fold),
    };
    (0..plan.folds()).map(of).collect()
}

/// Whether so many machines are enough to give every thread some of them.
pub(crate) fn side_by_side(count: usize, par: Par) -> bool {
    par.threads() > 1 && count >= 2 * par.threads()
}

/// Calls `each(index, par)` for every machine: side by side where there are enough of them for the
/// threads, otherwise one after the other on all threads. Results are in order.
///
/// # Errors
///
/// The first error of `each`.
pub(crate) fn map_machines<T: Send, E: Send>(
    count: usize,
    par: Par,
    each: impl Fn(usize, Par) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    if !side_by_side(count, par) {
        return (0..count).map(|p| each(p, par)).collect();
    }
    par.map(count, |p| each(p, Par::Seq)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_samples_in_order() {
        let classes = ClassLabels::new(&[3.0, 1.0, 2.0, 1.0, 3.0]).expect("three classes");
        let sorted = MachineLayout::sorted(classes.of(), 3, Multiclass::OneVsOne);
        assert_eq!(sorted.original, [1, 3, 2, 0, 4]);
        assert_eq!(sorted.marks(), [1, 1, 2, 3, 3].map(|class| Mark { class, fold: 0 }));
        let of: Vec<_> = sorted.parts.iter().map(|p| (p.rows.clone(), p.target.clone())).collect();
        assert_eq!(of[0], (vec![0, 1, 2], vec![-1.0, -1.0, 1.0]));
        assert_eq!(of[2], (vec![2, 3, 4], vec![-1.0, 1.0, 1.0]));
        let plan = FoldPlan::from_text("0\n1\n0\n1\n1\n", 5).expect("folds");
        let folds = MachineLayout::by_fold(&plan, &classes, Multiclass::OneVsOne);
        assert_eq!((&folds.original[..], folds.is_identity()), (&[2, 0, 1, 3, 4][..], false));
        let marks = [(2, 0), (3, 0), (1, 1), (1, 1), (3, 1)];
        assert_eq!(folds.marks(), marks.map(|(class, fold)| Mark { class, fold }));
        let partition = |tests: [Vec<usize>; 2]| tests.map(|test| HeldOut { out: test.clone(), test, round: 0 });
        assert_eq!(folds.folds(&plan), partition([vec![0, 1], vec![2, 3, 4]]));
        assert_eq!(folds.folds_of(&folds.parts[0], &plan), partition([vec![0], vec![1, 2]]));
        // Time goes on: the first fold leaves out what the second trains on.
        let series = FoldPlan::time_series(5, 2, None, 0).expect("folds");
        let alone = MachineLayout::alone(&[0.5; 5], Some(&series));
        let [first, second] = &alone.folds(&series)[..] else { panic!("two folds") };
        assert_eq!((&first.out[..], &first.test[..], &second.out[..]), (&[3, 4][..], &[3][..], &[4][..]));
        // One machine of two classes wants no order of its own.
        let two = ClassLabels::new(&[1.0, -1.0, 1.0]).expect("two classes");
        assert!(MachineLayout::sorted(two.of(), 2, Multiclass::OneVsOne).is_identity());
        // Nor do machines of all samples.
        let rest = MachineLayout::sorted(classes.of(), 3, Multiclass::OneVsRest);
        assert_eq!(rest.marks(), [3, 1, 2, 1, 3].map(|class| Mark { class, fold: 0 }));
        assert!(rest.is_identity() && rest.parts.iter().all(|part| part.rows == [0, 1, 2, 3, 4]));
        assert_eq!((rest.parts[2].classes, &rest.parts[2].target[..]), (Some((None, 2)), &[1.0, -1.0, -1.0, -1.0, 1.0][..]));
    }
}
