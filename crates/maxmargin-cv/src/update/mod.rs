//! Models that samples can be added to and removed from, exactly and without training again.

mod error;
mod machine;
mod numbers;
mod training_data;

pub use error::UpdateError;
pub use numbers::{NumbersError, Place, number_or_range, numbers_of};
pub use training_data::TrainingData;

use crate::study::label_text::labels_in_words;
use crate::study::layout::{MachineLayout, MachineSamples};
use crate::study::matching::{Terms, positions, terms};
use machine::{Asking, Move, Moved};
use maxmargin_core::{BiasTerm, Certificate, Formulation, GapScreening, Loss, Status};
use maxmargin_data::{ClassLabels, Dataset, LabelError, Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Multiclass, Record};
use maxmargin_path::{UpdatableError, Update};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;

/// What is to be done to a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// Samples to take in, as they came: the model's scaler is applied inside.
    pub add: Option<&'a Dataset>,
    /// Numbers of samples to give up.
    pub remove: &'a [u64],
    /// Another C (before class weights).
    pub c: Option<f64>,
}

/// What the path of one machine took.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStats {
    /// Taking the stored solution to an exact one.
    pub opened: Update,
    /// Adding and removing first, then the change of C.
    pub paths: Vec<Update>,
}

/// One machine of an updated model.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineUpdate {
    /// Its place among the machines.
    pub machine: usize,
    /// The labels that it decides between, the second at 0 and above.
    pub labels: (f64, f64),
    /// Its path; none where neither samples nor C of its two classes changed: it then keeps its
    /// solution.
    pub walked: Option<PathStats>,
    /// The judgement of the result from fresh `f64` kernel values; of a machine that kept its
    /// solution the one that it had.
    pub certificate: Certificate,
    /// What the gap proves about labels; none for a machine that kept its solution.
    pub certain: Option<GapScreening>,
}

/// An updated model.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The model, which keeps its training data; its record tells of the new training set.
    pub model: Model,
    /// The training data that the model keeps now.
    pub kept: TrainingData,
    /// Numbers of the samples taken in.
    pub added: Range<u64>,
    /// One for each machine.
    pub machines: Vec<MachineUpdate>,
    /// The certificate with the greatest KKT violation.
    pub certificate: Certificate,
}

impl PathStats {
    /// The whole as one: counts are summed, the rest is how the last of them ended.
    pub fn sum(&self) -> Update {
        self.paths.iter().copied().fold(self.opened, Update::followed_by)
    }
}

impl Updated {
    /// The paths of all machines as one: counts are summed; status, violation, tolerance and the
    /// way travelled are the worst. None where every machine kept its solution.
    pub fn sum(&self) -> Option<Update> {
        self.machines.iter().filter_map(|machine| machine.walked.as_ref()).map(PathStats::sum).reduce(Update::merged_with)
    }

    /// The worst status of all machines.
    pub fn status(&self) -> Status {
        self.model.record().map_or(Status::Converged, Record::status)
    }
}

/// Adds samples to a model and removes others, along one exact path for each machine that has
/// samples of their classes, and moves C along another.
///
/// `kept` is the training data: what the model keeps, or [`TrainingData::new`] of the file it was
/// trained on. Kernel columns may take `memory` bytes in all. Machines run side by side, and
/// `watch` is called by each of them, with how far its path has been followed (from 0 to 1); it may
/// end them all, and nothing is changed then.
///
/// What moved is exact: its KKT violation is at most the tolerance that [`Update::tolerance`]
/// states (10⁻⁸, or rounding where that is more) unless the status says otherwise. A machine whose
/// samples and C are the same keeps its solution, its record and its certificate.
///
/// # Errors
///
/// When the model is not one of hinge loss, free bias and support vectors; when the data is not the
/// model's, a number or label is unknown, or no sample of a class is left.
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
    kept.check_numbers(change.remove)?;
    let trained = record.formulation.c().unwrap_or(1.0);
    let c = change.c.unwrap_or(trained);
    if !(c > 0.0 && c.is_finite()) {
        return Err(UpdateError::C(c));
    }
    let known = model.classes();
    let of = kept.classes(known)?;
    let added: &[f64] = change.add.map_or(&[], |data| &data.labels);
    let of_added = positions(added, known).map_err(|row| UpdateError::Label {
        row: row + 1,
        label: added[row],
        known: labels_in_words(known),
    })?;
    let samples = model.prepared(&kept.data.samples)?;
    let solutions = solutions(model, kept, &samples, &of)?;
    let mut stays = vec![true; of.len()];
    for number in change.remove {
        // Checked above.
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
    let prices: Vec<(f64, f64)> = record.weights.iter().map(|weight| (trained * weight, c * weight)).collect();
    let mut along =
        Move { kernel: model.kernel(), samples: &samples, stays: &stays, changed: &changed, old: stay.len(), c: &prices, memory };
    let pairs: Vec<(&MachineSamples, &MachineSamples)> = before.parts.iter().zip(&after.parts).collect();
    let touched: Vec<usize> = (0..pairs.len()).filter(|&p| along.touches(pairs[p].0, pairs[p].1)).collect();
    // A path runs on one thread, so that even few of them go side by side.
    let abreast = par.threads().min(touched.len()).max(1);
    along.memory = memory / abreast as u64;
    let asking = Asking { watch, ended: AtomicBool::new(false) };
    let inner = if touched.len() > 1 { Par::Seq } else { par };
    let follow = |k: usize| along.follow(pairs[touched[k]], &solutions[touched[k]], &asking, inner);
    let moved: Vec<Moved> = par.map(touched.len(), follow).into_iter().collect::<Result<_, _>>()?;
    let mut place = vec![u64::MAX; stays.len()];
    stay.iter().zip(0..).for_each(|(&row, at)| place[row] = at);
    let mut moved = moved.into_iter();
    let all = (0..pairs.len()).map(|p| {
        let own = if touched.binary_search(&p).is_ok() { moved.next() } else { None };
        own.unwrap_or_else(|| unmoved(model, record, p, &place))
    });
    let all: Vec<Moved> = all.collect();
    let new = gathered(model, record, &kept_now, (&changed, c), &all)?;
    let label = |class: usize| known[class];
    let machines: Vec<MachineUpdate> = all
        .into_iter()
        .enumerate()
        .map(|(machine, one)| {
            let (a, b) = pairs[machine].0.pair();
            let labels = (label(a), label(b));
            MachineUpdate { machine, labels, walked: one.walked, certificate: one.certificate, certain: one.certain }
        })
        .collect();
    // Two classes have a machine.
    let worst = |a: Certificate, b: Certificate| if b.kkt > a.kkt { b } else { a };
    let certificate = machines.iter().map(|machine| machine.certificate).fold(machines[0].certificate, worst);
    let added = kept.next..kept_now.next;
    Ok(Updated { model: kept_now.stored(new)?, kept: kept_now, added, machines, certificate })
}

/// Refuses models that paths are not for.
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

/// Row and α of the support vectors of every machine, which must be rows of the kept data behind
/// the model's scaler.
fn solutions(model: &Model, kept: &TrainingData, samples: &Samples, of: &[u32]) -> Result<Vec<Terms>, UpdateError> {
    terms(model, samples, of).map_err(|detail| {
        let scaled_before = model.parts().scaler.is_some() && terms(model, &kept.data.samples, of).is_ok();
        if scaled_before { UpdateError::ScaledBefore } else { UpdateError::OtherData(detail) }
    })
}

/// A machine that keeps its solution: only its rows have other numbers.
fn unmoved(model: &Model, record: &Record, p: usize, place: &[u64]) -> Moved {
    let (machine, mut record) = (&model.machines()[p], record.machines[p].clone());
    record.rows.iter_mut().for_each(|row| *row = place[*row as usize]);
    let terms = record.rows.iter().zip(&machine.coef).map(|(row, coef)| (*row as usize, *coef)).collect();
    Moved { terms, bias: machine.bias, certificate: record.certificate, record, certain: None, walked: None }
}

/// The model of these machines, with the old one's kernel, classes, scaler and what it was asked
/// for.
fn gathered(
    model: &Model,
    record: &Record,
    kept: &TrainingData,
    (samples, c): (&Samples, f64),
    all: &[Moved],
) -> Result<Model, UpdateError> {
    let classes = ClassLabels::new(&kept.data.labels).map_err(|error: LabelError| UpdateError::Damaged(error.to_string()))?;
    let machines: Vec<_> = all.iter().map(|one| (one.terms.clone(), one.bias)).collect();
    let mut parts = Model::from_machines(model.kernel().clone(), samples, &classes, &machines)?.into_parts();
    // Machines are those of pairs in the model's order of classes, whatever that is.
    parts.classes = model.classes().to_vec();
    parts.index_base = model.parts().index_base;
    parts.scaler.clone_from(&model.parts().scaler);
    parts.encoder.clone_from(&model.parts().encoder);
    let mut new = Record::new(&kept.data, record.formulation.with_c(c), record.weights.clone(), record.goal());
    new.solver.clone_from(&record.solver);
    new.machines = all.iter().map(|one| one.record.clone()).collect();
    parts.record = Some(new);
    Ok(Model::new(parts)?)
}
