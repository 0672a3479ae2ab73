//! Machines beside those of a model, such as those of the folds of a cross-validation.

use crate::error::ModelError;
use crate::model::Model;
use crate::parts::Machine;
use crate::parts::check::{check_machine, check_scaler, check_serials};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Encoder, Par, Preparation, Samples, prepare};
use maxmargin_kernel::{Expansion, Kernel, Predictor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Machines over one union of vectors, which may begin with those of a model. They have no rule and
/// no classes: the owner knows what each machine is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ensemble {
    kernel: Kernel,
    encoder: Option<Encoder>,
    scaler: Option<Scaler>,
    /// The vectors after those of the model, or all vectors.
    vectors: Samples,
    /// True if the model's vectors come first.
    shares_vectors: bool,
    machines: Vec<Machine>,
}

impl Ensemble {
    /// Returns the machines of a model whose vectors are not those of another model.
    pub fn of_model(model: &Model) -> Self {
        let parts = model.parts();
        Self {
            kernel: parts.kernel.clone(),
            encoder: parts.encoder.clone(),
            scaler: parts.scaler.clone(),
            vectors: parts.support.clone(),
            shares_vectors: false,
            machines: parts.machines.clone(),
        }
    }

    /// Returns machines over vectors that are prepared as those of `preparation`, after the vectors
    /// of a model if `shares_vectors` is true.
    pub fn new(
        kernel: Kernel,
        preparation: &Preparation,
        vectors: Samples,
        shares_vectors: bool,
        machines: Vec<Machine>,
    ) -> Self {
        let vectors = if kernel == Kernel::Precomputed { vectors.with_features(1) } else { vectors };
        let Preparation { encoder, scaler } = preparation.clone();
        Self { kernel, encoder, scaler, vectors, shares_vectors, machines }
    }

    /// The machines.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Checks the machines beside a model.
    ///
    /// # Errors
    ///
    /// When the kernel's parameters, a coefficient or a bias are not valid, or lengths do not
    /// match.
    pub fn check(&self, model: &Model) -> Result<(), ModelError> {
        self.kernel.clone().checked()?;
        // Vectors without features take no bytes of a file, and a matrix without rows has any
        // width.
        let (rows, features) = (self.vectors.len(), self.vectors.features());
        let own = if self.shares_vectors { model.parts().support.features() } else { features };
        let terms: usize = self.machines.iter().map(|machine| machine.support.len()).sum();
        if (rows > 0 && features != own) || (features == 0 && rows > terms) {
            let reason = format!("{rows} vectors of {features} features beside vectors of {own}");
            return Err(ModelError::invalid("matrix of vectors", reason));
        }
        let support = self.support(Some(model))?;
        for (p, machine) in self.machines.iter().enumerate() {
            check_machine(p, machine, support.len())?;
        }
        if self.kernel == Kernel::Precomputed {
            check_serials(&support)?;
        }
        if let Some(scaler) = self.scaler.as_ref().filter(|_| !support.is_empty()) {
            check_scaler(scaler, &support)?;
        }
        match self.encoder.as_ref().map(|encoder| encoder.columns().width()).filter(|_| !support.is_empty()) {
            Some(width) if width != support.features() || self.kernel == Kernel::Precomputed => {
                let reason = format!("they yield {width} features, the vectors have {}", support.features());
                Err(ModelError::invalid("list of columns", reason))
            }
            _ => Ok(()),
        }
    }

    /// Prepares the vectors for predictions by all machines; these are beside those of `model`.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::check`].
    pub fn predictor(&self, model: &Model) -> Result<Predictor, ModelError> {
        self.predictor_of(Some(model), &(0..self.machines.len()).collect::<Vec<_>>())
    }

    /// As [`Ensemble::predictor`], for some machines in the given order. Machines that share no
    /// vectors need no model.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::check`].
    ///
    /// # Panics
    ///
    /// When there is no such machine, or the vectors are shared and there is no model.
    pub fn predictor_of(&self, model: Option<&Model>, machines: &[usize]) -> Result<Predictor, ModelError> {
        let expansions: Vec<Expansion> = machines.iter().map(|&machine| self.machines[machine].expansion()).collect();
        Ok(Predictor::new(&self.kernel, &*self.support(model)?, &expansions)?)
    }

    /// Returns rows as inputs of the kernel: encoded and scaled.
    ///
    /// # Errors
    ///
    /// When the rows cannot be encoded or scaled.
    pub fn prepared<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
        Ok(prepare::apply(self.encoder.as_ref(), self.scaler.as_ref(), samples)?)
    }

    /// Returns the decision values of every row of `queries`, row-major `queries × machines`, by
    /// the vectors that [`Ensemble::predictor`] prepared.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn decision_values(&self, predictor: &Predictor, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        Ok(predictor.decision_table(&*self.prepared(queries)?, par)?)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The encoder of the columns of a table.
    pub fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    /// The scaler, which is applied after the encoder.
    pub fn scaler(&self) -> Option<&Scaler> {
        self.scaler.as_ref()
    }

    /// Returns all vectors, prepared. `model` is the one whose vectors are shared; machines of
    /// their own vectors need none.
    ///
    /// # Errors
    ///
    /// When the vectors do not fit below each other.
    ///
    /// # Panics
    ///
    /// When vectors are shared and there is no model.
    pub fn support<'s>(&'s self, model: Option<&'s Model>) -> Result<Cow<'s, Samples>, ModelError> {
        let invalid = |reason: String| ModelError::invalid("matrix of vectors", reason);
        let empty = || Samples::from_sparse(0, vec![0], Vec::new(), Vec::new()).map_err(|e| invalid(e.to_string()));
        if !self.shares_vectors {
            return Ok(if self.vectors.is_empty() { Cow::Owned(empty()?) } else { Cow::Borrowed(&self.vectors) });
        }
        let shared = &model.expect("a model whose vectors are shared").parts().support;
        if self.vectors.is_empty() {
            return Ok(Cow::Borrowed(shared));
        }
        Ok(Cow::Owned(shared.stacked(&self.vectors).map_err(|e| invalid(e.to_string()))?))
    }
}
