//! Models that samples can be added to and removed from: the training data kept in the model file, and the update itself.

use maxmargin_core::{Certificate, Dual, DualError, Solution, Status, Work};
use maxmargin_data::codec::{self, CodecError};
use maxmargin_data::samples::SamplesError;
use maxmargin_data::scale::ScaleError;
use maxmargin_data::{BinaryLabels, Dataset, Par, Samples, Scaler};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Asked, Model, ModelError, Record, data_sha256};
use maxmargin_path::{Config, SavedUpdatable, Updatable, UpdatableError, Update};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// Whose section of a model file this is.
const TAG: [u8; 8] = *b"samples\0";

/// Breakpoints of a path between two questions whether to go on.
const STRETCH: usize = 64;

/// The training data of a model, as it came (before any scaling), with a number for every sample that never changes: 1, 2, 3, …
/// in the order in which samples came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The samples that the model is trained on now.
    pub data: Dataset,
    /// The number of each, ascending.
    pub numbers: Vec<u64>,
    /// The number of the next sample to come.
    pub next: u64,
    /// How often the model has been updated since it was trained.
    pub updates: u64,
}

/// What is to be done to a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// Samples to take in.
    pub add: Option<&'a Dataset>,
    /// Numbers of samples to give up.
    pub remove: &'a [u64],
    /// Another C (before class weights).
    pub c: Option<f64>,
}

/// An updated model.
#[derive(Clone, Debug)]
pub struct Updated {
    /// The model, which keeps its training data; its record tells of the new training set.
    pub model: Model,
    /// The training data that the model keeps now.
    pub kept: Kept,
    /// Numbers of the samples taken in.
    pub added: Range<u64>,
    /// What the path took: adding and removing first, then the change of C.
    pub paths: Vec<Update>,
    /// What taking the stored solution to an exact one took.
    pub opened: Update,
    /// The judgement of the result, from fresh `f64` kernel values.
    pub certificate: Certificate,
}

/// Why a model cannot be updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// A model from elsewhere.
    #[error("the model does not say how it was trained (a LIBSVM model): train it with maxmargin to update it")]
    NoRecord,
    /// Other data than the model was trained on.
    #[error("this is not the data that the model was trained on: {0}")]
    OtherData(String),
    /// The kept data is damaged.
    #[error("the training data in the model is damaged: {0}")]
    Damaged(String),
    /// A label that the model does not know.
    #[error("row {row} has the label {label}, the model knows {negative} and {positive}")]
    Label {
        /// Row of the added data, from 1.
        row: usize,
        /// Its label.
        label: f64,
        /// The model's labels.
        negative: f64,
        /// The model's labels.
        positive: f64,
    },
    /// No such sample.
    #[error("no sample has the number {0} (any more)")]
    Number(u64),
    /// The same number twice.
    #[error("sample {0} is named twice")]
    Twice(u64),
    /// The caller ended it.
    #[error("interrupted")]
    Interrupted,
    /// What remains is no two-class problem.
    #[error("after the update {0}")]
    Dual(#[from] DualError),
    /// The path.
    #[error(transparent)]
    Path(#[from] UpdatableError),
    /// The samples.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// The scaler of the model.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The resulting model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Writing the data into the model.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

impl Kept {
    /// Numbers the rows of `data` from 1.
    pub fn new(data: Dataset) -> Self {
        let rows = data.samples.len() as u64;
        Self { data, numbers: (1..=rows).collect(), next: rows + 1, updates: 0 }
    }

    /// What a model keeps; `None` when it keeps nothing.
    ///
    /// # Errors
    ///
    /// When the bytes are not what they should be.
    pub fn of(model: &Model) -> Result<Option<Self>, UpdateError> {
        let Some(bytes) = model.section(TAG) else { return Ok(None) };
        let kept: Self = codec::decode(bytes, bytes.len()).map_err(|e| UpdateError::Damaged(e.to_string()))?;
        let rows = kept.data.samples.len();
        let ascending = kept.numbers.is_sorted_by(|a, b| a < b) && kept.numbers.last().is_none_or(|last| *last < kept.next);
        if kept.data.labels.len() != rows || kept.numbers.len() != rows || !ascending || kept.numbers.first() == Some(&0) {
            return Err(UpdateError::Damaged("labels or numbers do not fit the rows".to_owned()));
        }
        Ok(Some(kept))
    }

    /// The model with this data in it.
    ///
    /// # Errors
    ///
    /// When the data cannot be encoded.
    pub fn put_into(&self, model: Model) -> Result<Model, UpdateError> {
        Ok(model.with_section(TAG, codec::encode(self)?))
    }

    /// Refuses data that the model's record does not describe.
    fn check(&self, record: &Record) -> Result<(), UpdateError> {
        let other = |what: String| Err(UpdateError::OtherData(what));
        let (rows, features) = (self.data.samples.len() as u64, self.data.samples.features() as u64);
        if (rows, features) != (record.rows, record.features) {
            return other(format!(
                "it has {rows} rows and {features} features, the model's {} and {}",
                record.rows, record.features
            ));
        }
        if data_sha256(&self.data) != record.data_sha256 {
            return other("its hash differs".to_owned());
        }
        Ok(())
    }

    /// The rows that stay, and those of `added` below them, cut to `features` columns.
    fn changed(&self, keys: &[u64], added: Option<&Dataset>, features: Option<usize>) -> Result<Self, UpdateError> {
        let mut kept = self.clone();
        kept.updates += 1;
        if let Some(added) = added {
            kept.data.samples = kept.data.samples.stacked(&added.samples)?;
            if let Some(features) = features {
                // A scaler knows no others.
                kept.data.samples = kept.data.samples.with_features(features);
            }
            kept.data.labels.extend_from_slice(&added.labels);
            kept.numbers.extend(self.next..self.next + added.labels.len() as u64);
            kept.next += added.labels.len() as u64;
        }
        let stay: Vec<usize> = (0..kept.numbers.len()).filter(|&i| keys.binary_search(&kept.numbers[i]).is_ok()).collect();
        kept.data = Dataset {
            samples: kept.data.samples.select(&stay),
            labels: stay.iter().map(|&i| kept.data.labels[i]).collect(),
            groups: None,
            index_base: kept.data.index_base,
            // No text has these rows: the hash is that of the numbers.
            sha256: [0; 32],
        };
        kept.numbers = stay.iter().map(|&i| kept.numbers[i]).collect();
        Ok(kept)
    }
}

/// Adds samples to a model and removes others, along one exact path, and moves C along another.
///
/// `kept` is the training data: what the model keeps, or [`Kept::new`] of the file it was trained on. Kernel columns may take
/// `memory` bytes. `watch` is told how far the path has been followed (from 0 to 1) and may end it; nothing is changed then.
///
/// The result is exact: its KKT violation is at most the tolerance that [`Update::tolerance`] states (10⁻⁸, or rounding where that
/// is more) unless the status says otherwise.
///
/// # Errors
///
/// When the data is not the model's, a number or label is unknown, or what remains has one class only.
pub fn update(
    model: &Model,
    kept: &Kept,
    change: &Change,
    memory: u64,
    par: Par,
    mut watch: impl FnMut(&Update) -> ControlFlow<()>,
) -> Result<Updated, UpdateError> {
    let record = model.record().ok_or(UpdateError::NoRecord)?;
    kept.check(record)?;
    check_numbers(kept, change.remove)?;
    let (mut path, opened) = open(model, record, kept, memory)?;
    let mut paths = Vec::new();
    let mut added = kept.next..kept.next;
    if change.add.is_some() || !change.remove.is_empty() {
        let (samples, signs) = match change.add {
            Some(data) => (scaled(model, &data.samples)?, signs(model, &data.labels)?),
            None => (kept.data.samples.select(&[]), Vec::new()),
        };
        let upper: Vec<f64> = signs.iter().map(|s| upper(record, record.c, *s)).collect();
        let (numbers, update) = path.exchange(&samples, &signs, &upper, change.remove)?;
        added = numbers;
        paths.push(walk(&mut path, update, &mut watch)?);
    }
    let c = change.c.unwrap_or(record.c);
    if c != record.c {
        let saved = path.save();
        let bounds: Vec<(u64, f64)> = saved.keys.iter().zip(&saved.labels).map(|(k, s)| (*k, upper(record, c, *s))).collect();
        let update = path.set_weights(&bounds)?;
        paths.push(walk(&mut path, update, &mut watch)?);
    }
    let saved = path.save();
    let features = model.parts().scaler.as_ref().map(Scaler::features);
    let kept = kept.changed(&saved.keys, change.add, features)?;
    let rows = saved.samples.len();
    let dual = Dual::c_svc((0..rows).collect(), saved.labels.clone(), saved.upper)?;
    let certificate = path.certify(par).ok_or(DualError::Empty)?;
    let status = paths.last().map_or(opened.status, |update| update.status);
    let labels = BinaryLabels { negative: model.parts().negative, positive: model.parts().positive, signs: saved.labels };
    let work = Work { iterations: paths.iter().map(|update| update.breakpoints as u64).sum(), ..Work::default() };
    let solution = Solution { alpha: saved.alpha, bias: saved.bias, gradient: Vec::new(), status, work };
    let record = Record::of(&kept.data, Asked { c, ..record.asked() }, &dual, &solution, certificate);
    let new = Model::from_solution(model.kernel().clone(), &saved.samples, &labels, &dual, &solution)?;
    let new = new.with_index_base(model.parts().index_base)?.with_record(record)?;
    let new = match &model.parts().scaler {
        Some(scaler) => new.with_scaler(scaler.clone())?,
        None => new,
    };
    Ok(Updated { model: kept.put_into(new)?, kept, added, paths, opened, certificate })
}

fn check_numbers(kept: &Kept, numbers: &[u64]) -> Result<(), UpdateError> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    if let Some(unknown) = sorted.iter().find(|number| kept.numbers.binary_search(number).is_err()) {
        return Err(UpdateError::Number(*unknown));
    }
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map_or(Ok(()), |pair| Err(UpdateError::Twice(pair[0])))
}

/// The model as an exact solution that can move.
fn open(model: &Model, record: &Record, kept: &Kept, memory: u64) -> Result<(Updatable, Update), UpdateError> {
    if *model.kernel() == Kernel::Precomputed {
        return Err(UpdatableError::Precomputed.into());
    }
    let labels = signs(model, &kept.data.labels)?;
    let mut alpha = vec![0.0; labels.len()];
    for (row, coef) in record.support_rows.iter().zip(&model.parts().coef) {
        alpha[*row as usize] = coef.abs();
    }
    let upper = labels.iter().map(|s| upper(record, record.c, *s)).collect();
    let saved = SavedUpdatable {
        samples: scaled(model, &kept.data.samples)?,
        labels,
        kernel: model.kernel().clone(),
        upper,
        alpha,
        bias: model.parts().bias,
        keys: kept.numbers.clone(),
        next: kept.next,
        config: Config::default().with_memory(memory).with_limit(Some(STRETCH)),
    };
    Ok(Updatable::open(saved)?)
}

/// Follows a path to its end; the figures are those of the whole.
fn walk(path: &mut Updatable, begun: Update, watch: &mut impl FnMut(&Update) -> ControlFlow<()>) -> Result<Update, UpdateError> {
    let mut sum = begun;
    while sum.status == Status::IterationLimit {
        if watch(&sum).is_break() {
            return Err(UpdateError::Interrupted);
        }
        sum = sum.followed_by(path.resume(Some(STRETCH)));
    }
    Ok(sum)
}

/// C of a sample of this sign.
fn upper(record: &Record, c: f64, sign: f64) -> f64 {
    c * record.weights[usize::from(sign > 0.0)]
}

fn scaled(model: &Model, samples: &Samples) -> Result<Samples, UpdateError> {
    match &model.parts().scaler {
        Some(scaler) => Ok(scaler.apply(samples)?),
        None => Ok(samples.clone()),
    }
}

/// ±1 for each label.
fn signs(model: &Model, labels: &[f64]) -> Result<Vec<f64>, UpdateError> {
    let (negative, positive) = (model.parts().negative, model.parts().positive);
    let sign = |(row, &label): (usize, &f64)| match label {
        _ if label == negative => Ok(-1.0),
        _ if label == positive => Ok(1.0),
        _ => Err(UpdateError::Label { row: row + 1, label, negative, positive }),
    };
    labels.iter().enumerate().map(sign).collect()
}
