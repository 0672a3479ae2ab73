//! Refusals of models that are to be updated and cannot be: a training says so, not the first
//! update.

use super::ProblemRequest;
use crate::console::failure::Failure;
use maxmargin::Svm;
use maxmargin::core::{BiasTerm, Formulation, Loss};
use maxmargin::data::ClassLabels;
use maxmargin::kernel::Kernel;
use maxmargin::model::{Multiclass, Rule};

impl ProblemRequest {
    /// Refuses options whose models cannot be updated, if the model is to be.
    pub(super) fn check_updatable(&self, svm: &Svm) -> Result<(), Failure> {
        if !self.options.keep_support_vectors {
            return Ok(());
        }
        let formulation = svm.formulation();
        let paths = matches!(formulation, Formulation::Svc { loss: Loss::Hinge, bias_term: BiasTerm::Free, .. });
        let what = match formulation {
            Formulation::Svc { .. } if !paths || svm.resolved_solver().is_linear() => {
                "models of this solver, loss or bias cannot be updated; use --solver smo".to_owned()
            }
            Formulation::Svc { .. } if self.options.kernel == Kernel::Precomputed => {
                "models of a precomputed kernel cannot be updated; leave --updatable out".to_owned()
            }
            Formulation::Svc { .. } if self.sample_weights.is_some() => {
                "models with --weights of samples cannot be updated; leave one of the two out".to_owned()
            }
            Formulation::Svc { .. } => return Ok(()),
            other => format!("models of {} cannot be updated; leave --updatable out", other.name()),
        };
        Err(Failure::Usage(format!("--updatable: {what}")))
    }

    /// Refuses machines of each class against the rest, if the model is to be updated. Two classes
    /// have one machine by any scheme.
    pub(super) fn check_updatable_classes(&self, classes: &ClassLabels) -> Result<(), Failure> {
        let multiclass = Rule::of(classes, self.options.multiclass).multiclass;
        if self.options.keep_support_vectors && multiclass != Multiclass::OneVsOne {
            let what = "machines of each class against the rest cannot be updated; use --classes one-vs-one";
            return Err(Failure::Usage(format!("--updatable: {what}")));
        }
        Ok(())
    }
}
