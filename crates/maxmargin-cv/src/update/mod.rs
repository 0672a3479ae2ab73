//! Exact updates of models: samples are added and removed without a new training.

mod error;
mod full_conformal;
mod machine;
mod numbers;
mod training_data;

pub use error::UpdateError;
pub use full_conformal::full_p_values;
pub use machine::PathStats;
pub use numbers::{NumbersError, Place, number_or_range, numbers_of};
pub use training_data::TrainingData;

use crate::run::label_text::labels_in_words;
use crate::study::layout::MachineLayout;
use crate::study::matching::{Terms, positions, terms};
use crate::study::refit::Refit;
use machine::{C, ModelChange, UpdateRun, UpdatedMachine};
use maxmargin_core::{BiasTerm, Certificate, Formulation, GapScreening, Loss, Status};
use maxmargin_data::{ClassLabels, Dataset, LabelError, Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Multiclass, Record, data_sha256};
use maxmargin_path::{UpdatableError, Update};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;

/// A change of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// Samples to add, unscaled. The model's scaler is applied to them.
    pub add: Option<&'a Dataset>,
    /// Numbers of samples to remove.
    pub remove: &'a [u64],
    /// A new C (before class weights).
    pub c: Option<f64>,
}

/// One machine of an updated model.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineUpdate {
    /// The index of the machine.
    pub machine: usize,
    /// The two labels of the machine. Decision values of 0 and above mean the second.
    pub labels: (f64, f64),
    /// The cost of its path. `None` if neither samples nor C of its two classes changed, so that it
    /// keeps its solution.
    pub walked: Option<PathStats>,
    /// The certificate of the result from fresh `f64` kernel values. A machine that keeps its
    /// solution keeps its certificate.
    pub certificate: Certificate,
    /// The labels fixed at every optimum, by gap screening; `None` for a machine that kept its
    /// solution.
    pub fixed_labels: Option<GapScreening>,
}

/// An updated model.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The model with its new training data. Its record describes the new training set.
    pub model: Model,
    /// The new training data of the model.
    pub kept: TrainingData,
    /// Numbers of the added samples.
    pub added: Range<u64>,
    /// The update of each machine.
    pub machines: Vec<MachineUpdate>,
    /// The certificate with the greatest KKT violation.
    pub certificate: Certificate,
    /// The preparation that the model keeps of its former training rows, if a training from the new
    /// ones would fit it otherwise.
    pub kept_preparation: KeptPreparation,
}

/// The parts of a preparation that an update keeps, although fitting them to the new training rows
/// gives others: a path is one of prepared rows. The model is then the optimum for the preparation
/// that it has, and not the result of a training from its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptPreparation {
    /// The words and fillings of columns.
    pub columns: bool,
    /// The scaling of features, and which features it has: values of added samples in others are
    /// left out.
    pub scaler: bool,
}

impl KeptPreparation {
    /// Compares the preparation of `model` with that of its new training rows `now`, some of which
    /// were `added`.
    fn of(model: &Model, added: Option<&Dataset>, now: &Dataset) -> Self {
        let Refit { columns, scaler } = Refit::of(model, now);
        let known = now.samples.features();
        let is_beyond = |entry: &(usize, f64)| entry.0 >= known && entry.1 != 0.0;
        let wide = added.map(|added| &added.samples).filter(|samples| samples.features() > known);
        let is_cut = wide.is_some_and(|samples| (0..samples.len()).any(|row| samples.row(row).entries().iter().any(is_beyond)));
        Self { columns: columns == Some(false), scaler: is_cut || scaler == Some(false) }
    }
}

impl Updated {
    /// The paths of all machines as one: counts are summed; status, violation, tolerance and
    /// progress are the worst. `None` if every machine kept its solution.
    pub fn sum(&self) -> Option<Update> {
        self.machines.iter().filter_map(|machine| machine.walked.as_ref()).map(PathStats::sum).reduce(Update::merged_with)
    }

    /// The worst status of all machines.
    pub fn status(&self) -> Status {
        self.model.record().map_or(Status::Converged, Record::status)
    }
}

/// Adds samples to a model and removes others, along one exact path for each machine that has
/// samples of their classes, and moves C along another. Fillings and scaling stay those of the
/// model ([`Updated::kept_preparation`]).
///
/// `kept` is the training data: the data that the model keeps, or [`TrainingData::new`] of the file
/// that it was trained on. Kernel columns may take `memory` bytes in all. Machines run in parallel,
/// and each calls `watch` with the progress of its path (from 0 to 1). `watch` may end them all;
/// the model is unchanged then.
///
/// An updated machine is exact: its KKT violation is at most [`Update::tolerance`] (10⁻⁸, or
/// rounding if that is larger) unless the status says otherwise. A machine whose samples and C are
/// the same keeps its solution, its record and its certificate.
///
/// # Errors
///
/// When the model has another loss than the hinge loss, no free bias or no support vectors; when
/// the data is not the model's, a number or label is unknown, or no sample of a class is left.
pub fn update(
    model: &Model,
    kept: &TrainingData,
    change: &Change,
    memory: u64,
    par: Par,
    watch: &(dyn Fn(&Update) -> ControlFlow<()> + Sync),
) -> Result<Updated, UpdateError> {
    let record = model.record().ok_or(UpdateError::NoRecord)?;
    check_model(model, record)?;
    kept.check(record)?;
    kept.check_change(change)?;
    let trained = record.formulation.c().unwrap_or(1.0);
    let c = checked_c(change.c.unwrap_or(trained))?;
    let known = model.classes();
    let of = kept.classes(known)?;
    let added: &[f64] = change.add.map_or(&[], |data| &data.labels);
    let of_added = positions(added, known).map_err(|row| UpdateError::Label {
        row: row + 1,
        label: added[row],
        known: labels_in_words(known, &[]),
    })?;
    let samples = model.prepared(&kept.data.samples)?;
    let solutions = solutions(model, kept, &samples, &of)?;
    let mut stays = vec![true; of.len()];
    for number in change.remove {
        // Every number is known, by `check_change` above.
        kept.numbers.binary_search(number).into_iter().for_each(|row| stays[row] = false);
    }
    let stay: Vec<usize> = (0..of.len()).filter(|&row| stays[row]).collect();
    let of_changed: Vec<u32> = stay.iter().map(|&row| of[row]).chain(of_added).collect();
    if let Some(class) = (0..known.len()).find(|&class| !of_changed.contains(&(class as u32))) {
        return Err(UpdateError::Emptied { label: known[class] });
    }
    let kept_now = kept.changed(&stay, change.add, model)?;
    let changed = model.prepared(&kept_now.data.samples)?;
    let before = MachineLayout::unsorted(&of, known.len(), Multiclass::OneVsOne);
    let after = MachineLayout::unsorted(&of_changed, known.len(), Multiclass::OneVsOne);
    let new = record_of(record, &kept_now.data, &of_changed, c);
    let class_c: Vec<C> =
        record.weights.iter().zip(&new.weights).map(|(before, after)| C { before: trained * before, after: c * after }).collect();
    let model_change =
        ModelChange { kernel: model.kernel(), samples: &samples, stays: &stays, changed: &changed, old: stay.len(), c: &class_c };
    let machines = Machines { model, record, before: &before, after: &after, solutions: &solutions };
    let updated = machines.updated(&model_change, memory, par, watch)?;
    let new = assembled(model, new, &kept_now, &changed, &updated)?;
    let of_machine = |(machine, one): (usize, UpdatedMachine)| {
        let (a, b) = before.machines[machine].pair();
        let labels = (known[a], known[b]);
        MachineUpdate { machine, labels, walked: one.path, certificate: one.certificate, fixed_labels: one.fixed_labels }
    };
    let machines: Vec<MachineUpdate> = updated.into_iter().enumerate().map(of_machine).collect();
    // There is at least one machine, since a model has at least two classes.
    let worst = |a: Certificate, b: Certificate| if b.kkt > a.kkt { b } else { a };
    let certificate = machines.iter().map(|machine| machine.certificate).fold(machines[0].certificate, worst);
    let added = kept.next..kept_now.next;
    let kept_preparation = KeptPreparation::of(model, change.add, &kept_now.data);
    Ok(Updated { model: kept_now.stored(new)?, kept: kept_now, added, machines, certificate, kept_preparation })
}

/// The record of the changed problem, without machines. The factors of a rule belong to the
/// training set, whose classes are `of`.
fn record_of(record: &Record, data: &Dataset, of: &[u32], c: f64) -> Record {
    let own = record.class_weights.factors(of, record.given_weights.len(), None, 0..of.len());
    let new = Record::new(data, data_sha256(data), record.formulation.with_c(c), record.given_weights.clone(), record.goal());
    Record { solver: record.solver.clone(), ..new.with_class_weights(record.class_weights, &own) }
}

/// Refuses a C that is not positive and finite.
fn checked_c(c: f64) -> Result<f64, UpdateError> {
    if c > 0.0 && c.is_finite() { Ok(c) } else { Err(UpdateError::C(c)) }
}

/// The machines of a model, and their samples before and after a change.
struct Machines<'a> {
    model: &'a Model,
    record: &'a Record,
    before: &'a MachineLayout,
    after: &'a MachineLayout,
    solutions: &'a [Terms],
}

impl Machines<'_> {
    /// The machines after the change. Those that nothing changes for keep their solution.
    fn updated(
        &self,
        change: &ModelChange,
        memory: u64,
        par: Par,
        watch: &(dyn Fn(&Update) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<UpdatedMachine>, UpdateError> {
        let (before, after) = (&self.before.machines, &self.after.machines);
        let touched: Vec<usize> = (0..before.len()).filter(|&p| change.touches(&before[p], &after[p])).collect();
        // A path runs on one thread, so that even few paths run in parallel.
        let parallel = par.threads().min(touched.len()).max(1);
        let run = UpdateRun { watch, ended: AtomicBool::new(false), memory: memory / parallel as u64 };
        let inner = if touched.len() > 1 { Par::Seq } else { par };
        let follow = |k: usize| {
            let p = touched[k];
            let followed = change.follow(&before[p], &after[p], &self.solutions[p], &run, inner)?;
            Ok(followed.judged(self.record.goal()))
        };
        let moved: Vec<UpdatedMachine> = par.map(touched.len(), follow).into_iter().collect::<Result<_, UpdateError>>()?;
        let mut place = vec![u64::MAX; change.stays.len()];
        let stay = (0..change.stays.len()).filter(|&row| change.stays[row]);
        stay.zip(0..).for_each(|(row, at)| place[row] = at);
        let mut moved = moved.into_iter();
        let all = (0..before.len()).map(|p| {
            let own = if touched.binary_search(&p).is_ok() { moved.next() } else { None };
            own.unwrap_or_else(|| unmoved(self.model, self.record, p, &place))
        });
        Ok(all.collect())
    }
}

/// Refuses models that paths do not support.
fn check_model(model: &Model, record: &Record) -> Result<(), UpdateError> {
    if *model.kernel() == Kernel::Precomputed {
        return Err(UpdatableError::Precomputed.into());
    }
    let Formulation::Svc { loss, bias_term, .. } = record.formulation else {
        return Err(UpdateError::Formulation(record.formulation.name()));
    };
    if record.sample_weights.is_some() {
        return Err(UpdateError::Problem { what: "weights of samples" });
    }
    match (loss, bias_term) {
        (Loss::SquaredHinge, _) => Err(UpdateError::Problem { what: "the squared hinge loss" }),
        (Loss::Hinge, BiasTerm::Feature(_)) => Err(UpdateError::Problem { what: "a bias that is one more feature" }),
        (Loss::Hinge, BiasTerm::None) => Err(UpdateError::Problem { what: "no bias" }),
        (Loss::Hinge, BiasTerm::Free) if model.folded() => Err(UpdateError::Folded),
        (Loss::Hinge, BiasTerm::Free) if model.multiclass() != Multiclass::OneVsOne => Err(UpdateError::DecisionRule),
        (Loss::Hinge, BiasTerm::Free) => Ok(()),
    }
}

/// Row and α of the support vectors of every machine. They must be rows of the kept data, scaled by
/// the model's scaler.
fn solutions(model: &Model, kept: &TrainingData, samples: &Samples, of: &[u32]) -> Result<Vec<Terms>, UpdateError> {
    terms(model, samples, of).map_err(|detail| {
        let scaled_before = model.parts().scaler.is_some() && terms(model, &kept.data.samples, of).is_ok();
        if scaled_before { UpdateError::ScaledBefore } else { UpdateError::OtherData(detail) }
    })
}

/// A machine that keeps its solution. Only the numbers of its rows change.
fn unmoved(model: &Model, record: &Record, p: usize, place: &[u64]) -> UpdatedMachine {
    let (machine, mut record) = (&model.machines()[p], record.machines[p].clone());
    record.rows.iter_mut().for_each(|row| *row = place[*row as usize]);
    let terms = record.rows.iter().zip(&machine.coef).map(|(row, coef)| (*row as usize, *coef)).collect();
    UpdatedMachine { terms, bias: machine.bias, certificate: record.certificate, record, fixed_labels: None, path: None }
}

/// The model of these machines, with the kernel, classes and scaler of the old one.
fn assembled(
    model: &Model,
    record: Record,
    kept: &TrainingData,
    samples: &Samples,
    all: &[UpdatedMachine],
) -> Result<Model, UpdateError> {
    let classes = ClassLabels::new(&kept.data.labels).map_err(|error: LabelError| UpdateError::Damaged(error.to_string()))?;
    let machines: Vec<_> = all.iter().map(|one| (one.terms.clone(), one.bias)).collect();
    let mut parts = Model::from_machines(model.kernel().clone(), samples, &classes, &machines)?.into_parts();
    // The machines are those of pairs in the model's order of classes, which need not ascend.
    parts.classes = model.classes().to_vec();
    parts.index_base = model.parts().index_base;
    parts.scaler.clone_from(&model.parts().scaler);
    parts.encoder.clone_from(&model.parts().encoder);
    parts.record = Some(Record { machines: all.iter().map(|one| one.record.clone()).collect(), ..record });
    Ok(Model::new(parts)?)
}
