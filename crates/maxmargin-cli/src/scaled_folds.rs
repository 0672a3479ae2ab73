//! Cross-validation with scaling: each fold is scaled by what its own training rows show, so that test rows stay unseen.

use crate::args::{Gamma, ScaleName};
use crate::failure::Failure;
use crate::folds::{Setting, shared_kernel};
use crate::notes::Notes;
use crate::problem;
use crate::progress::Bar;
use maxmargin::core::Stop;
use maxmargin::cv::{ApartError, CvProgress, CvReport, Pool, cross_validate_apart};
use maxmargin::data::scale::Scaler;
use maxmargin::kernel::KernelGram;

/// Cross-validates with a scaler for each fold.
pub(crate) fn run(setting: &Setting, name: ScaleName, bar: &Bar, notes: &mut Notes) -> Result<CvReport, Failure> {
    let data = &setting.input.data.samples;
    let scalers: Vec<Scaler> = (0..setting.plan.folds())
        .map(|fold| Scaler::fit_rows(data, training_rows(setting, fold).into_iter(), problem::scale_method(name)))
        .collect();
    // The extremes of a feature are often in every training set: the folds then share one kernel after all.
    if scalers.iter().all(|s| *s == scalers[0]) && setting.kernel.gamma != Gamma::Scale {
        let samples = scalers[0].apply(data).map_err(|e| setting.failure(e))?;
        return shared_kernel(setting, &samples, bar, notes);
    }
    notes.say("the training sets of the folds scale differently: every fold has a kernel of its own and starts cold");
    let pool = Pool { labels: setting.prepared.labels.signs.clone(), upper: setting.prepared.upper.clone() };
    let gram_of = |fold: usize, train: &[usize]| -> Result<KernelGram, Failure> {
        let samples = scalers[fold].apply(data).map_err(|e| setting.failure(e))?;
        let kernel = match setting.kernel.gamma {
            Gamma::Scale => problem::kernel_of(setting.kernel, &samples.select(train))?.0,
            _ => setting.prepared.kernel.clone(),
        };
        KernelGram::new(&samples, kernel).map_err(|e| setting.failure(e))
    };
    let left = setting.run.time_limit.map(|limit| limit.saturating_sub(setting.begun.elapsed()));
    let stop = Stop { max_time: left, ..setting.stop() };
    let watch = |progress: &CvProgress| bar.cv_tick(progress);
    let result = cross_validate_apart(setting.plan, &pool, gram_of, &stop, setting.budget(), setting.threads.par(), &watch);
    result.map_err(|error| match error {
        ApartError::Kernel(failure) => failure,
        ApartError::Cv(error) => setting.failure(error),
    })
}

fn training_rows(setting: &Setting, fold: usize) -> Vec<usize> {
    let fold_of = setting.plan.fold_of();
    (0..fold_of.len()).filter(|&i| fold_of[i] as usize != fold).collect()
}
