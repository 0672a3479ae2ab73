//! A model that owns its samples and its kernel, to which samples are added and from which they are
//! removed.

use crate::model::Model;
use crate::pool::Pool;
use crate::update::{Added, PathConfig, PathError, Update};
use maxmargin_core::{Certificate, Dual, GapScreening, RunControl, Solution};
use maxmargin_data::Par;
use maxmargin_data::samples::{Samples, SamplesError};
use maxmargin_kernel::{Gram, Kernel, KernelError, KernelGram};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The number of removed samples whose rows are kept before the matrix is packed.
const SPARE: usize = 256;

/// A C-SVC with the samples that it was trained on, exactly updatable.
///
/// Every sample has a key that never changes: 0, 1, 2, … in the order of addition. `'w` is the
/// lifetime of the control ([`Updatable::open`]).
pub struct Updatable<'w> {
    samples: Samples,
    keys: Vec<u64>,
    next: u64,
    gram: KernelGram,
    control: Option<&'w RunControl<'w>>,
    model: Model,
}

/// An [`Updatable`] as stored on disk. Opening it rebuilds kernel columns and factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedUpdatable {
    /// The samples of the model.
    pub samples: Samples,
    /// The label of each, ±1.
    pub labels: Vec<f64>,
    /// The kernel.
    pub kernel: Kernel,
    /// The C of each.
    pub upper: Vec<f64>,
    /// The α of each.
    pub alpha: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// The key of each, ascending.
    pub keys: Vec<u64>,
    /// The key of the next sample.
    pub next: u64,
    /// The options of paths.
    pub config: PathConfig,
}

/// The reason why a model cannot be created or updated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdatableError {
    /// The path refuses the request.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The kernel or its data are impossible.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The samples are impossible.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// No sample with this key is in the model.
    #[error("no sample has the key {0} (any more)")]
    Key(u64),
    /// There are no keys left for new samples.
    #[error("the next sample would have the key {0}, and there are not enough keys above it: train the model again")]
    Exhausted(u64),
    /// A precomputed kernel cannot grow.
    #[error("a model with a precomputed kernel cannot take in samples: train with a kernel that is computed from features")]
    Precomputed,
    /// The saved numbers do not fit together.
    #[error("the saved model is damaged: {0}")]
    Damaged(&'static str),
}

impl<'w> Updatable<'w> {
    /// Creates a model of `samples` with `labels` (±1) and `upper` bounds (C of each), from a
    /// solution `alpha` of any accuracy. Zeros are allowed; a trained solution is faster.
    ///
    /// # Errors
    ///
    /// When lengths differ, a number is impossible, or the kernel is precomputed.
    pub fn new(
        samples: Samples,
        labels: Vec<f64>,
        kernel: Kernel,
        upper: &[f64],
        alpha: &[f64],
        config: PathConfig,
    ) -> Result<(Self, Update), UpdatableError> {
        Self::made(samples, labels, kernel, upper, alpha, config, None)
    }

    fn made(
        samples: Samples,
        labels: Vec<f64>,
        kernel: Kernel,
        upper: &[f64],
        alpha: &[f64],
        config: PathConfig,
        control: Option<&'w RunControl<'w>>,
    ) -> Result<(Self, Update), UpdatableError> {
        if kernel == Kernel::Precomputed {
            return Err(UpdatableError::Precomputed);
        }
        let gram = KernelGram::new(&samples, kernel, &RunControl::unlimited())?;
        let model = Model::new(&gram, labels, config)?;
        let ids: Vec<usize> = (0..samples.len()).collect();
        let next = samples.len() as u64;
        let mut this = Self { samples, keys: (0..next).collect(), next, gram, control, model };
        let update = this.with_pool(|model, pool| model.adopt(pool, &ids, upper, alpha))?;
        Ok((this, update))
    }

    /// Opens a saved model, whose calls check `control`, if there is one, during all long work.
    /// After the run has ended, a call ends with [`PathError::Interrupted`], and the model must be
    /// dropped.
    ///
    /// # Errors
    ///
    /// As [`Updatable::new`], and when keys are missing or out of order, or the run is cancelled.
    pub fn open(saved: SavedUpdatable, control: Option<&'w RunControl<'w>>) -> Result<(Self, Update), UpdatableError> {
        let SavedUpdatable { samples, labels, kernel, upper, alpha, keys, next, config, .. } = saved;
        let ascending = keys.windows(2).all(|w| w[0] < w[1]) && keys.last().is_none_or(|k| *k < next);
        if keys.len() != samples.len() || !ascending {
            return Err(UpdatableError::Damaged("keys"));
        }
        let (mut this, update) = Self::made(samples, labels, kernel, &upper, &alpha, config, control)?;
        (this.keys, this.next) = (keys, next);
        Ok((this, update))
    }

    /// Calls `work` with the model, the rows and the control.
    fn with_model<T>(&self, work: impl FnOnce(&Model, Pool) -> T) -> T {
        let unlimited = RunControl::unlimited();
        work(&self.model, Pool { gram: &self.gram, control: self.control.unwrap_or(&unlimited) })
    }

    /// Calls `work` that changes the model, as [`Self::with_model`] does.
    fn with_pool<T>(&mut self, work: impl FnOnce(&mut Model, Pool) -> T) -> T {
        let unlimited = RunControl::unlimited();
        work(&mut self.model, Pool { gram: &self.gram, control: self.control.unwrap_or(&unlimited) })
    }

    /// Returns the data to open the model later.
    pub fn save(&self) -> SavedUpdatable {
        let saved = self.model.save();
        SavedUpdatable {
            samples: self.samples.select(&saved.ids),
            labels: saved.ids.iter().map(|&i| self.model.labels[i]).collect(),
            kernel: self.gram.kernel().clone(),
            upper: saved.upper,
            alpha: saved.alpha,
            bias: saved.bias,
            keys: saved.ids.iter().map(|&i| self.keys[i]).collect(),
            next: self.next,
            config: self.model.config.clone(),
        }
    }

    /// Adds samples; returns their keys.
    ///
    /// # Errors
    ///
    /// When labels or C are impossible or of other number than the samples; the model is then
    /// unchanged.
    pub fn add(&mut self, samples: &Samples, labels: &[f64], upper: &[f64]) -> Result<(Range<u64>, Update), UpdatableError> {
        self.exchange(samples, labels, upper, &[])
    }

    /// Removes samples.
    ///
    /// # Errors
    ///
    /// When a key is not that of a sample in the model, or named twice; the model is then
    /// unchanged.
    pub fn remove(&mut self, keys: &[u64]) -> Result<Update, UpdatableError> {
        let rows = self.rows(keys)?;
        Ok(self.with_pool(|model, pool| model.change(pool, &[], &rows))?)
    }

    /// Adds samples and removes others along one path; returns the keys of the new ones.
    ///
    /// # Errors
    ///
    /// As [`Updatable::add`] and [`Updatable::remove`].
    pub fn exchange(
        &mut self,
        samples: &Samples,
        labels: &[f64],
        upper: &[f64],
        remove: &[u64],
    ) -> Result<(Range<u64>, Update), UpdatableError> {
        let count = samples.len();
        for (what, found) in [("labels", labels.len()), ("upper", upper.len())] {
            if found != count {
                return Err(PathError::Length { what, found, expected: count }.into());
            }
        }
        if let Some((id, &value)) = labels.iter().enumerate().find(|(_, y)| y.abs() != 1.0) {
            return Err(PathError::Label { id, value }.into());
        }
        if let Some((id, &value)) = upper.iter().enumerate().find(|(_, c)| !(c.is_finite() && **c >= 0.0)) {
            return Err(PathError::Upper { id, value }.into());
        }
        if self.model.unfinished() {
            return Err(PathError::Unfinished.into());
        }
        let mut gone = self.rows(remove)?;
        gone.sort_unstable();
        if let Some(w) = gone.windows(2).find(|w| w[0] == w[1]) {
            return Err(PathError::Twice(w[0]).into());
        }
        let keys = self.next..self.next.checked_add(count as u64).ok_or(UpdatableError::Exhausted(self.next))?;
        if count == 0 {
            return Ok((keys, self.with_pool(|model, pool| model.change(pool, &[], &gone))?));
        }
        self.grow(samples, labels)?;
        let first = self.samples.len() - count;
        // Packing may have moved the rows.
        let gone = self.rows(remove)?;
        let add: Vec<Added> = upper.iter().enumerate().map(|(k, &upper)| Added { id: first + k, upper }).collect();
        Ok((keys, self.with_pool(|model, pool| model.change(pool, &add, &gone))?))
    }

    /// Continues a path that stopped at its limit, for at most `limit` more breakpoints.
    ///
    /// # Errors
    ///
    /// [`PathError::Interrupted`] and [`PathError::Memory`], after which the model must be dropped.
    pub fn resume(&mut self, limit: Option<usize>) -> Result<Update, UpdatableError> {
        Ok(self.with_pool(|model, pool| model.resume(pool, limit))?)
    }

    /// Returns true if a path is under way ([`maxmargin_core::Status::IterationLimit`] came last).
    pub fn unfinished(&self) -> bool {
        self.model.unfinished()
    }

    /// Moves every C to `c`.
    ///
    /// # Errors
    ///
    /// When `c` is impossible.
    pub fn set_c(&mut self, c: f64) -> Result<Update, UpdatableError> {
        Ok(self.with_pool(|model, pool| model.set_c(pool, c))?)
    }

    /// Moves the C of some samples.
    ///
    /// # Errors
    ///
    /// When a key or a C is impossible.
    pub fn set_weights(&mut self, upper: &[(u64, f64)]) -> Result<Update, UpdatableError> {
        let rows = self.rows(&upper.iter().map(|u| u.0).collect::<Vec<_>>())?;
        let pairs: Vec<(usize, f64)> = rows.into_iter().zip(upper.iter().map(|u| u.1)).collect();
        Ok(self.with_pool(|model, pool| model.set_weights(pool, &pairs))?)
    }

    /// Returns the keys of the samples in the model, ascending.
    pub fn keys(&self) -> Vec<u64> {
        self.model.ids().into_iter().map(|i| self.keys[i]).collect()
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &Kernel {
        self.gram.kernel()
    }

    /// Returns the problem solved, variables in the order of [`Updatable::keys`], over
    /// [`Updatable::gram`]; `None` without samples.
    pub fn dual(&self) -> Option<Dual> {
        self.model.dual()
    }

    /// Returns the Gram matrix; rows of removed samples stay for a while.
    pub fn gram(&self) -> &dyn Gram {
        &self.gram
    }

    /// Returns the solution in the order of [`Updatable::keys`].
    pub fn solution(&self) -> Solution {
        self.model.solution()
    }

    /// Returns the certificate of the present solution, computed independently of the path. `None`
    /// without samples, and if the run is cancelled.
    pub fn certify(&self, par: Par) -> Option<Certificate> {
        self.certify_labels(par).map(|(certificate, _)| certificate)
    }

    /// Returns [`Updatable::certify`] and the labels that the gap fixes at every optimum, in the
    /// order of [`Updatable::keys`].
    pub fn certify_labels(&self, par: Par) -> Option<(Certificate, Option<GapScreening>)> {
        self.with_model(|model, pool| model.certify(pool, par))
    }

    fn rows(&self, keys: &[u64]) -> Result<Vec<usize>, UpdatableError> {
        let row = |key: &u64| self.keys.binary_search(key).ok().filter(|&i| self.model.state.slot(i).is_some());
        keys.iter().map(|key| row(key).ok_or(UpdatableError::Key(*key))).collect()
    }

    /// Appends rows to samples and Gram matrix. Many unused rows are removed first.
    fn grow(&mut self, fresh: &Samples, labels: &[f64]) -> Result<(), UpdatableError> {
        let alive = self.model.ids();
        let packed = self.samples.len() - alive.len() > alive.len() + SPARE;
        let kept = if packed { self.samples.select(&alive) } else { self.samples.clone() };
        let samples = kept.stacked(fresh)?;
        let gram = KernelGram::new(&samples, self.gram.kernel().clone(), &RunControl::unlimited())?;
        if packed {
            self.keys = alive.iter().map(|&i| self.keys[i]).collect();
            self.model.renumber(&alive);
        }
        self.keys.extend(self.next..self.next + fresh.len() as u64);
        self.next += fresh.len() as u64;
        self.model.widen(&gram, labels);
        self.samples = samples;
        self.gram = gram;
        Ok(())
    }
}
