//! A trained classifier on its path: samples are added and removed, `C` moves, the solution stays
//! exact.

use crate::model::Model;
use crate::pool::Pool;
use crate::update::{Added, PathConfig, PathError, Saved, Update};
use maxmargin_core::{Certificate, Dual, RunControl, Solution};
use maxmargin_data::Par;
use maxmargin_kernel::Gram;

/// An exactly solved C-SVC over some rows of a Gram matrix (the pool), which can be changed.
///
/// Clones share the kernel columns: only the factor (`|M|²/2` numbers) and a few vectors are
/// copied. Every fold of a cross-validation can start its decremental path from the model of all
/// data.
#[derive(Clone)]
pub struct Path<'g> {
    gram: &'g dyn Gram,
    control: Option<&'g RunControl<'g>>,
    model: Model,
}

impl std::fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let margin = self.model.state.margin.len();
        f.debug_struct("Path").field("samples", &self.len()).field("margin", &margin).finish_non_exhaustive()
    }
}

impl<'g> Path<'g> {
    /// Creates an empty model over the pool `gram`; `labels[id]` is ±1 for every row of it.
    ///
    /// # Errors
    ///
    /// When there is not one label of ±1 per row.
    pub fn new(gram: &'g dyn Gram, labels: &[f64], config: PathConfig) -> Result<Self, PathError> {
        Ok(Self { gram, control: None, model: Model::new(gram, labels.to_vec(), config)? })
    }

    /// Returns the same model under a control. Its calls check it during all long work, at least
    /// ten times a second. After the run has ended, a call ends with [`PathError::Interrupted`],
    /// and the model must be dropped.
    #[must_use]
    pub fn control<'s>(self, control: &'s RunControl<'s>) -> Path<'s>
    where
        'g: 's,
    {
        Path { gram: self.gram, control: Some(control), model: self.model }
    }

    /// Returns the same model over the same rows without a control.
    pub fn uncontrolled(self, gram: &dyn Gram) -> Path<'_> {
        Path { gram, control: None, model: self.model }
    }

    /// Calls `work` with the model, the rows and the control.
    fn with_model<T>(&self, work: impl FnOnce(&Model, Pool) -> T) -> T {
        let unlimited = RunControl::unlimited();
        work(&self.model, Pool { gram: self.gram, control: self.control.unwrap_or(&unlimited) })
    }

    /// Calls `work` that changes the model, as [`Self::with_model`] does.
    fn with_pool<T>(&mut self, work: impl FnOnce(&mut Model, Pool) -> T) -> T {
        let unlimited = RunControl::unlimited();
        work(&mut self.model, Pool { gram: self.gram, control: self.control.unwrap_or(&unlimited) })
    }

    /// Creates a model from any solver's solution: `ids`, their `upper` bounds and `alpha` (clipped
    /// to the box).
    ///
    /// The active-set finish first takes it to an exact optimum; the [`Update`] reports the work.
    ///
    /// # Errors
    ///
    /// When ids, labels or numbers are impossible.
    pub fn from_solution(
        gram: &'g dyn Gram,
        labels: &[f64],
        ids: &[usize],
        upper: &[f64],
        alpha: &[f64],
        config: PathConfig,
    ) -> Result<(Self, Update), PathError> {
        let mut path = Self::new(gram, labels, config)?;
        let update = path.adopt(ids, upper, alpha)?;
        Ok((path, update))
    }

    /// Replaces all members by `ids`, with their `upper` bounds and `alpha` of any accuracy, as
    /// [`Path::from_solution`] does.
    ///
    /// # Errors
    ///
    /// As [`Path::from_solution`].
    pub fn adopt(&mut self, ids: &[usize], upper: &[f64], alpha: &[f64]) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.adopt(pool, ids, upper, alpha))
    }

    /// Returns the least number of bytes for the path of a model with `free` samples between 0 and
    /// C: those of its factor while it is computed.
    pub fn memory_of(free: usize) -> u64 {
        crate::walk::state::State::factoring(free)
    }

    /// Restores a saved model.
    ///
    /// # Errors
    ///
    /// As [`Path::from_solution`].
    pub fn restore(gram: &'g dyn Gram, labels: &[f64], saved: &Saved, config: PathConfig) -> Result<(Self, Update), PathError> {
        Self::from_solution(gram, labels, &saved.ids, &saved.upper, &saved.alpha, config)
    }

    /// Adds and removes samples (equations 3, 4, 10 and 11): while τ goes from 0 to 1, `α_A = τ C`
    /// and `α_R` falls as `1 − τ`.
    ///
    /// Removing samples with α = 0 costs O(1) each while a margin holds the bias.
    ///
    /// # Errors
    ///
    /// When an id is unknown, a member already, not a member, or named twice, or a C is impossible;
    /// the model is then unchanged.
    pub fn change(&mut self, add: &[Added], remove: &[usize]) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.change(pool, add, remove))
    }

    /// Moves the C of every sample to `c`, along the ray.
    ///
    /// # Errors
    ///
    /// When `c` is negative or not finite.
    pub fn set_c(&mut self, c: f64) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.set_c(pool, c))
    }

    /// Multiplies the C of every sample by `factor`: the ray that keeps weights.
    ///
    /// # Errors
    ///
    /// When a C would become negative or infinite.
    pub fn scale_c(&mut self, factor: f64) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.scale_c(pool, factor))
    }

    /// Moves the C of some samples, each to its value; 0 switches a sample off without removing it.
    ///
    /// # Errors
    ///
    /// When an id is not a member or named twice, or a C is impossible.
    pub fn set_weights(&mut self, upper: &[(usize, f64)]) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.set_weights(pool, upper))
    }

    /// Moves the C of one sample.
    ///
    /// # Errors
    ///
    /// As [`Path::set_weights`].
    pub fn set_weight(&mut self, id: usize, upper: f64) -> Result<Update, PathError> {
        self.set_weights(&[(id, upper)])
    }

    /// Continues a path that stopped at its limit, for at most `limit` more breakpoints.
    ///
    /// # Errors
    ///
    /// [`PathError::Interrupted`] and [`PathError::Memory`], after which the model must be dropped.
    pub fn resume(&mut self, limit: Option<usize>) -> Result<Update, PathError> {
        self.with_pool(|model, pool| model.resume(pool, limit))
    }

    /// Ends a path that stopped at its limit by the active set, from its present position.
    ///
    /// # Errors
    ///
    /// As [`Path::resume`].
    pub fn finish(&mut self) -> Result<Update, PathError> {
        self.with_pool(Model::finish)
    }

    /// Ends a path as [`Path::finish`] does, but `solve` may first improve the feasible start, for
    /// example by sequential minimal optimisation. It gets the problem and α, one per variable, and
    /// returns α of the same length.
    ///
    /// # Errors
    ///
    /// When the returned α has another length or is not finite; the model is then as without
    /// `solve`.
    pub fn finish_with(&mut self, solve: impl FnOnce(&Dual, Vec<f64>) -> Vec<f64>) -> Result<Update, PathError> {
        self.with_pool(Model::jump)?;
        let Some(dual) = self.dual() else { return self.finish() };
        let start = self.solution().alpha;
        let improved = solve(&dual, start);
        self.with_pool(|model, pool| model.replace(pool, &improved))
    }

    /// Sets the options of later paths (the memory budget stays as it was).
    pub fn configure(&mut self, config: PathConfig) {
        self.model.config = config;
    }

    /// Returns true if a path is under way ([`maxmargin_core::Status::IterationLimit`] came last).
    pub fn unfinished(&self) -> bool {
        self.model.unfinished()
    }

    /// Returns the number of samples in the model, including those being removed.
    pub fn len(&self) -> usize {
        self.model.state.members().count()
    }

    /// Returns true if the model has no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ids of the samples in the model, ascending.
    pub fn ids(&self) -> Vec<usize> {
        self.model.ids()
    }

    /// Returns the α of a sample; `None` if it is not in the model.
    pub fn alpha(&self, id: usize) -> Option<f64> {
        self.model.state.slot(id).map(|s| self.model.state.alpha(s).0)
    }

    /// Returns the largest number of bytes of its factor and kernel columns so far.
    pub fn bytes(&self) -> u64 {
        self.model.state.columns.peak()
    }

    /// Returns the bias.
    pub fn bias(&self) -> f64 {
        self.model.state.bias
    }

    /// Returns the ids of the margin set `M`.
    pub fn margin(&self) -> Vec<usize> {
        self.model.state.margin.iter().map(|&s| self.model.state.seats.id[s]).collect()
    }

    /// Returns the problem of the model, variables by ascending id; `None` without samples.
    pub fn dual(&self) -> Option<Dual> {
        self.model.dual()
    }

    /// Returns the solution, in the order of [`Path::dual`].
    pub fn solution(&self) -> Solution {
        self.model.solution()
    }

    /// Returns the data to restore the model later.
    pub fn save(&self) -> Saved {
        self.model.save()
    }

    /// Returns the certificate of the present solution, computed independently of the path. `None`
    /// without samples, and if the run is cancelled.
    pub fn certify(&self, par: Par) -> Option<Certificate> {
        self.with_model(|model, pool| model.certify(pool, par)).map(|(certificate, _)| certificate)
    }
}
