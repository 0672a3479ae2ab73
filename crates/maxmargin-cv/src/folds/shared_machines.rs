//! The machines of folds that share kernel values or features.

use crate::fold_machines::FoldMachines;
use crate::folds::outcome::Outcome;
use crate::study::layout::MachineLayout;
use crate::study::space_source::{Prepared, SpaceSource};
use maxmargin_core::Decision;
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::Matrix;
use maxmargin_model::{Ensemble, Machine, Model, ModelError};
use std::collections::HashMap;
use std::sync::Arc;

/// The inputs of a cross-validation whose folds share kernel values or features.
pub(crate) struct SharedFolds<'a> {
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) layout: &'a MachineLayout,
    pub(crate) source: &'a SpaceSource<'a>,
    /// The model of all data, if its vectors are not stored again.
    pub(crate) model: Option<&'a Model>,
    pub(crate) par: Par,
}

impl SharedFolds<'_> {
    /// Returns the machines of all folds, from the outcome of each machine.
    pub(crate) fn machines(&self, folds: usize, outcomes: &[Outcome]) -> Result<FoldMachines, ModelError> {
        let mut known: HashMap<*const Decision, u32> = HashMap::new();
        let mut decisions: Vec<(usize, &Decision)> = Vec::new();
        let mut places = Vec::with_capacity(folds);
        for fold in 0..folds {
            let mut own = Vec::with_capacity(outcomes.len());
            for (p, machine) in outcomes.iter().enumerate().filter_map(|(p, outcome)| Some((p, outcome.machine(fold)?))) {
                let at = *known.entry(Arc::as_ptr(&machine.decision)).or_insert(decisions.len() as u32);
                if at as usize == decisions.len() {
                    decisions.push((p, &*machine.decision));
                }
                own.push((0, at));
            }
            places.push(own);
        }
        Ok(FoldMachines { ensembles: vec![self.ensemble(&decisions)?], places })
    }

    /// The machines with these decisions over rows of their spaces.
    fn ensemble(&self, decisions: &[(usize, &Decision)]) -> Result<Ensemble, ModelError> {
        match self.source {
            SpaceSource::Features(samples) => self.of_weights(samples, decisions),
            SpaceSource::Gram(..) => Ok(self.of_vectors(decisions)),
        }
    }

    /// Machines over features: a vector of weights for each.
    fn of_weights(&self, samples: &Samples, decisions: &[(usize, &Decision)]) -> Result<Ensemble, ModelError> {
        let matrix = Matrix::new(samples, None, self.par);
        let (mut offsets, mut indices, mut values, mut machines) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for (at, (p, decision)) in decisions.iter().enumerate() {
            let rows = &self.layout.machines[*p].rows;
            let of_terms = || {
                let (ids, coef): (Vec<usize>, Vec<f64>) = decision.terms.iter().map(|term| (rows[term.0], term.1)).unzip();
                matrix.weights(&ids, &coef, self.par).0
            };
            for (feature, weight) in decision.weights.clone().unwrap_or_else(of_terms) {
                indices.push(feature);
                values.push(weight);
            }
            offsets.push(indices.len());
            machines.push(Machine { support: vec![at as u32], coef: vec![1.0], bias: decision.bias });
        }
        let weights = Samples::from_sparse(samples.features(), offsets, indices, values);
        let weights = weights.map_err(|error| ModelError::Content(error.to_string()))?.compact();
        Ok(Ensemble::new(self.prepared.kernel.clone(), &self.prepared.preparation, weights, false, machines))
    }

    /// Machines over support vectors: those of the model, then those that it does not have.
    fn of_vectors(&self, decisions: &[(usize, &Decision)]) -> Ensemble {
        let row = |p: usize, term: &(usize, f64)| self.layout.data_row[self.layout.machines[p].rows[term.0]];
        // The place of every row of the data among the vectors.
        let mut place: Vec<Option<u32>> = vec![None; self.layout.data_row.len()];
        let shared = self.model.filter(|model| !model.folded());
        let shared = shared.and_then(|model| model.record().map(|record| (model, record)));
        if let Some((model, record)) = shared {
            for (machine, training) in model.machines().iter().zip(&record.machines) {
                machine.support.iter().zip(&training.rows).for_each(|(at, row)| place[*row as usize] = Some(*at));
            }
        }
        let shared = shared.map_or(0, |(model, _)| model.len() as u32);
        let mut needed = vec![false; place.len()];
        decisions.iter().for_each(|(p, decision)| decision.terms.iter().for_each(|term| needed[row(*p, term)] = true));
        let extra: Vec<usize> = (0..place.len()).filter(|&row| needed[row] && place[row].is_none()).collect();
        extra.iter().zip(shared..).for_each(|(&row, at)| place[row] = Some(at));
        let machine = |(p, decision): &(usize, &Decision)| {
            let mut terms: Vec<(u32, f64)> =
                decision.terms.iter().filter_map(|term| Some((place[row(*p, term)]?, term.1))).collect();
            terms.sort_unstable_by_key(|term| term.0);
            let (support, coef) = terms.into_iter().unzip();
            Machine { support, coef, bias: decision.bias }
        };
        let machines = decisions.iter().map(machine).collect();
        let vectors = self.prepared.samples.select(&extra);
        Ensemble::new(self.prepared.kernel.clone(), &self.prepared.preparation, vectors, shared > 0, machines)
    }
}
