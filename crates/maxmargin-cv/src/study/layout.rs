//! The samples of each machine of a study, and their order.

use crate::plan::FoldPlan;
use crate::study::level_chain::LevelChain;
use maxmargin_core::{DualError, Formulation, Problem};
use maxmargin_data::{ClassLabels, Par};
use maxmargin_kernel::Mark;
use maxmargin_model::Multiclass;

/// The samples of one machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineSamples {
    /// The earlier class and the later class of a machine that separates classes. The earlier one
    /// is `None` if it stands for all other classes.
    pub(crate) classes: Option<(Option<usize>, usize)>,
    /// Positions in the layout, ascending.
    pub(crate) rows: Vec<usize>,
    /// The target of each sample: −1 for the earlier class and +1 for the later, or a value.
    pub(crate) target: Vec<f64>,
    /// A factor of C for each sample; `None` means 1.
    pub(crate) weights: Option<Vec<f64>>,
    /// The level τ, if the machine has another than that of the formulation.
    pub(crate) level: Option<f64>,
}

impl MachineSamples {
    /// The problem of this machine over rows `0…n` of its space. `weights` has a factor of C for
    /// each class.
    pub(crate) fn problem(&self, formulation: Formulation, weights: &[f64]) -> Result<Problem, DualError> {
        self.problem_against(formulation, weights, 1.0)
    }

    /// [`MachineSamples::problem`], with the factor `rest` for all other classes together.
    pub(crate) fn problem_against(&self, formulation: Formulation, weights: &[f64], rest: f64) -> Result<Problem, DualError> {
        let ids: Vec<usize> = (0..self.rows.len()).collect();
        let mut weights: Vec<f64> = match self.classes {
            Some((earlier, later)) => {
                let (below, above) = (earlier.map_or(rest, |earlier| weights[earlier]), weights[later]);
                self.target.iter().map(|sign| if *sign > 0.0 { above } else { below }).collect()
            }
            None => vec![1.0; ids.len()],
        };
        let formulation = self.level.map_or(formulation, |level| formulation.with_level(level));
        self.weights.iter().for_each(|own| weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own));
        formulation.problem(&maxmargin_core::TrainingSet { ids: &ids, target: &self.target, weights: &weights })
    }

    /// The earlier class and the later class.
    ///
    /// # Panics
    ///
    /// When the machine does not separate two classes.
    pub(crate) fn pair(&self) -> (usize, usize) {
        let (earlier, later) = self.classes.expect("a machine of classes");
        (earlier.expect("a machine of two classes"), later)
    }
}

/// The machines of a study, and the order of their samples.
#[derive(Clone, Debug)]
pub(crate) struct MachineLayout {
    /// The row in the data of each sample of the layout.
    pub(crate) data_row: Vec<usize>,
    /// The samples of each machine: all samples, or those of a pair of classes.
    pub(crate) machines: Vec<MachineSamples>,
    /// For each sample, a number of the set of folds that leave it out; empty without a plan.
    fold: Vec<u32>,
}

impl MachineLayout {
    /// The machines over samples in the order of the data. `of` has the class of each sample, out
    /// of `count`.
    pub(crate) fn unsorted(of: &[u32], count: usize, multiclass: Multiclass) -> Self {
        Self::new((0..of.len()).collect(), of, count, multiclass)
    }

    /// The machines over samples sorted by class, so that a pair of classes is two runs of samples.
    /// Machines that have all samples keep the order of the data.
    pub(crate) fn sorted(of: &[u32], count: usize, multiclass: Multiclass) -> Self {
        let mut data_row: Vec<usize> = (0..of.len()).collect();
        if count > 2 && multiclass == Multiclass::OneVsOne {
            data_row.sort_by_key(|&i| of[i]);
        }
        Self::new(data_row, of, count, multiclass)
    }

    /// The machines over samples sorted by the folds that leave them out, then by class. If every
    /// sample is tested once, a training set is at most two runs of a kernel row.
    pub(crate) fn by_fold(plan: &FoldPlan, classes: &ClassLabels, multiclass: Multiclass) -> Self {
        let (data_row, fold) = plan.sorted_by(|i| classes.of()[i]);
        Self { fold, ..Self::new(data_row, classes.of(), classes.count(), multiclass) }
    }

    /// The same layout with a factor of C for each sample of the data, if given.
    pub(crate) fn weighted(mut self, weights: Option<&[f64]>) -> Self {
        if let Some(weights) = weights {
            let data_row = &self.data_row;
            let of = |machine: &MachineSamples| machine.rows.iter().map(|&at| weights[data_row[at]]).collect();
            self.machines.iter_mut().for_each(|machine| machine.weights = Some(of(machine)));
        }
        self
    }

    /// Machines of all samples with `target` (in the order of the data), sorted by fold if there is
    /// a plan: one for each level, or one without levels.
    pub(crate) fn of_values(target: &[f64], levels: &[f64], plan: Option<&FoldPlan>) -> Self {
        let (data_row, fold) = plan.map_or_else(|| ((0..target.len()).collect(), vec![]), |plan| plan.sorted_by(|_| ()));
        let machine = MachineSamples {
            classes: None,
            rows: (0..target.len()).collect(),
            target: data_row.iter().map(|&i| target[i]).collect(),
            weights: None,
            level: None,
        };
        let machines = match levels {
            [] => vec![machine],
            _ => levels.iter().map(|&level| MachineSamples { level: Some(level), ..machine.clone() }).collect(),
        };
        Self { data_row, machines, fold }
    }

    fn new(data_row: Vec<usize>, of: &[u32], count: usize, multiclass: Multiclass) -> Self {
        let class_of: Vec<usize> = data_row.iter().map(|&i| of[i] as usize).collect();
        let mut members = vec![Vec::new(); count];
        class_of.iter().enumerate().for_each(|(at, &class)| members[class].push(at));
        let machine = |(earlier, later): (Option<usize>, usize)| {
            let mut rows = match earlier {
                Some(earlier) => [&members[earlier][..], &members[later][..]].concat(),
                None => (0..class_of.len()).collect(),
            };
            rows.sort_unstable();
            let target = rows.iter().map(|&at| if class_of[at] == later { 1.0 } else { -1.0 }).collect();
            MachineSamples { classes: Some((earlier, later)), rows, target, weights: None, level: None }
        };
        Self { machines: multiclass.sides(count).into_iter().map(machine).collect(), data_row, fold: vec![] }
    }

    /// The class of each sample, from 1 (0 without classes), and the set of folds that leave it
    /// out. No machine has samples of one class on both sides.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.fold.iter().map(|&fold| Mark { class: 0, fold }).collect();
        marks.resize(self.data_row.len(), Mark::default());
        for machine in &self.machines {
            let Some((earlier, later)) = machine.classes else { continue };
            for (&at, target) in machine.rows.iter().zip(&machine.target) {
                let class = if *target > 0.0 { Some(later) } else { earlier };
                class.iter().for_each(|class| marks[at].class = *class as u32 + 1);
            }
        }
        marks
    }

    /// Returns the chain of several levels, whose machines run one after the other; `None` if
    /// machines do not depend on each other.
    pub(crate) fn level_chain(&self) -> Option<LevelChain> {
        self.machines.iter().any(|machine| machine.level.is_some()).then(LevelChain::default)
    }

    /// Calls `each(index, par)` for every machine: in parallel if there are enough independent
    /// machines for the threads, otherwise one after the other on all threads. Results are in
    /// order.
    ///
    /// # Errors
    ///
    /// The first error of `each`.
    pub(crate) fn map_machines<T: Send, E: Send>(
        &self,
        par: Par,
        each: impl Fn(usize, Par) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let count = self.machines.len();
        if self.level_chain().is_some() || !has_one_thread_each(count, par) {
            return (0..count).map(|p| each(p, par)).collect();
        }
        par.map(count, |p| each(p, Par::Seq)).into_iter().collect()
    }

    /// Returns true if the samples are in the order of the data.
    pub(crate) fn is_identity(&self) -> bool {
        self.data_row.iter().enumerate().all(|(at, &i)| at == i)
    }

    /// The folds of a plan, as positions in this layout.
    pub(crate) fn folds(&self, plan: &FoldPlan) -> Vec<HeldOut> {
        held_out(plan, self.data_row.iter().copied())
    }

    /// The folds of a plan among the samples of a machine, as places in the machine's rows.
    pub(crate) fn folds_of(&self, machine: &MachineSamples, plan: &FoldPlan) -> Vec<HeldOut> {
        held_out(plan, machine.rows.iter().map(|&at| self.data_row[at]))
    }
}

/// The samples that a fold holds out from its training, as places among samples, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldOut {
    /// Samples that the fold does not train on.
    pub(crate) out: Vec<usize>,
    /// The held-out samples that the fold tests.
    pub(crate) test: Vec<usize>,
    /// The fold's round ([`FoldPlan::round`]).
    pub(crate) round: usize,
}

fn held_out(plan: &FoldPlan, samples: impl Iterator<Item = usize>) -> Vec<HeldOut> {
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

/// Returns true if machines run in parallel, with one thread each: there are enough of them to give
/// every thread at least two.
pub(crate) fn has_one_thread_each(count: usize, par: Par) -> bool {
    par.threads() > 1 && count >= 2 * par.threads()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_samples_in_order() {
        let classes = ClassLabels::new(&[3.0, 1.0, 2.0, 1.0, 3.0]).expect("three classes");
        let sorted = MachineLayout::sorted(classes.of(), 3, Multiclass::OneVsOne);
        assert_eq!(sorted.data_row, [1, 3, 2, 0, 4]);
        assert_eq!(sorted.marks(), [1, 1, 2, 3, 3].map(|class| Mark { class, fold: 0 }));
        let of: Vec<_> = sorted.machines.iter().map(|p| (p.rows.clone(), p.target.clone())).collect();
        assert_eq!(of[0], (vec![0, 1, 2], vec![-1.0, -1.0, 1.0]));
        assert_eq!(of[2], (vec![2, 3, 4], vec![-1.0, 1.0, 1.0]));
        let plan = FoldPlan::from_text("0\n1\n0\n1\n1\n", 5).expect("folds");
        let folds = MachineLayout::by_fold(&plan, &classes, Multiclass::OneVsOne);
        assert_eq!((&folds.data_row[..], folds.is_identity()), (&[2, 0, 1, 3, 4][..], false));
        let marks = [(2, 0), (3, 0), (1, 1), (1, 1), (3, 1)];
        assert_eq!(folds.marks(), marks.map(|(class, fold)| Mark { class, fold }));
        let partition = |tests: [Vec<usize>; 2]| tests.map(|test| HeldOut { out: test.clone(), test, round: 0 });
        assert_eq!(folds.folds(&plan), partition([vec![0, 1], vec![2, 3, 4]]));
        assert_eq!(folds.folds_of(&folds.machines[0], &plan), partition([vec![0], vec![1, 2]]));
        // In a time series the first fold leaves out samples that the second trains on.
        let series = FoldPlan::time_series(5, 2, None, 0).expect("folds");
        let alone = MachineLayout::of_values(&[0.5; 5], &[], Some(&series));
        let [first, second] = &alone.folds(&series)[..] else { panic!("two folds") };
        assert_eq!((&first.out[..], &first.test[..], &second.out[..]), (&[3, 4][..], &[3][..], &[4][..]));
        // One machine of two classes keeps the order of the data,
        let two = ClassLabels::new(&[1.0, -1.0, 1.0]).expect("two classes");
        assert!(MachineLayout::sorted(two.of(), 2, Multiclass::OneVsOne).is_identity());
        // and so do machines of all samples.
        let rest = MachineLayout::sorted(classes.of(), 3, Multiclass::OneVsRest);
        assert_eq!(rest.marks(), [3, 1, 2, 1, 3].map(|class| Mark { class, fold: 0 }));
        assert!(rest.is_identity() && rest.machines.iter().all(|machine| machine.rows == [0, 1, 2, 3, 4]));
        assert_eq!(
            (rest.machines[2].classes, &rest.machines[2].target[..]),
            (Some((None, 2)), &[1.0, -1.0, -1.0, -1.0, 1.0][..])
        );
    }
}
