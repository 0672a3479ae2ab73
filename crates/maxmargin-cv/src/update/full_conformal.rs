//! Full conformal prediction of two classes: every new row is added to the training set with each
//! label, along an exact path (docs/math/conformal.md).

use crate::update::{TrainingData, UpdateError, check_model, solutions};
use maxmargin_core::{Cancelled, Progress, RunControl, Stage};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{KernelError, KernelGram};
use maxmargin_model::Model;
use maxmargin_path::{Added, Path, PathConfig, PathError, UpdatableError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// New rows whose kernel values are kept at once.
const TOGETHER: usize = 128;

/// Margins that differ by less than this, relative to 1 or to their size, are equal. Free support
/// vectors have a margin of exactly 1, which paths reach to rounding. More ties make p-values
/// larger, which keeps their promise.
const TIE: f64 = 1e-9;

/// The training problem of a model of two classes.
struct Training<'a> {
    model: &'a Model,
    samples: &'a Samples,
    /// The sign of each row.
    sign: Vec<f64>,
    alpha: Vec<f64>,
    /// C of the negative and of the positive class.
    c: [f64; 2],
    per_class: bool,
    memory: u64,
}

/// Returns the p-value of both classes, in the order of the model, for every row of `samples`:
/// row-major rows × 2.
///
/// With the row and a label added to the training set, the score of each training row is the
/// margin by which the machine of all rows misses its label. The p-value is the share of rows, the
/// new one among them, whose score is at least that of the new row; `per_class` counts rows of its
/// label alone. If the new row and the training rows are exchangeable, and neither scaling nor
/// options were fitted to the training rows, the set of classes with a p-value above α misses the
/// truth with a probability of at most α. No fold and no split is needed.
///
/// A row that keeps the margin of its label changes no solution and takes one decision value. Any
/// other takes an exact path of one addition. `memory` bounds the kernel columns. The result does
/// not depend on `par`.
///
/// # Errors
///
/// When the model does not keep its training data, has more than two classes, or is none that can
/// be updated; when rows cannot be prepared, or the run is cancelled.
pub fn full_p_values(
    model: &Model,
    samples: &Samples,
    per_class: bool,
    memory: u64,
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, UpdateError> {
    let record = model.record().ok_or(UpdateError::NoRecord)?;
    check_model(model, record)?;
    if model.classes().len() != 2 {
        return Err(UpdateError::TwoClasses(model.classes().len()));
    }
    let kept = TrainingData::of(model)?.ok_or(UpdateError::NoData)?;
    kept.check(record)?;
    let of = kept.classes(model.classes())?;
    let trained = model.prepared(&kept.data.samples)?;
    let mut alpha = vec![0.0; of.len()];
    solutions(model, &kept, &trained, &of)?[0].iter().for_each(|term| alpha[term.0] = term.1.abs());
    let c = record.formulation.c().unwrap_or(1.0);
    let training = Training {
        model,
        samples: &trained,
        sign: of.iter().map(|&class| if class == 1 { 1.0 } else { -1.0 }).collect(),
        alpha,
        c: [c * record.weights[0], c * record.weights[1]],
        per_class,
        memory: memory / par.threads() as u64,
    };
    let done = AtomicUsize::new(0);
    let blocks: Vec<usize> = (0..samples.len()).step_by(TOGETHER).collect();
    let of_block = |at: usize| {
        let rows: Vec<usize> = (blocks[at]..samples.len().min(blocks[at] + TOGETHER)).collect();
        training.block(
            &samples.select(&rows),
            &|| {
                let certified = done.fetch_add(1, Ordering::Relaxed);
                let stage = Stage::Certify { certified, samples: samples.len() };
                control.progress(&Progress { stage, ..Progress::default() })
            },
            control,
        )
    };
    Ok(par.map(blocks.len(), of_block).into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

impl Training<'_> {
    /// The p-values of both classes for some rows. `on_row` is called before each row.
    fn block(
        &self,
        rows: &Samples,
        on_row: &dyn Fn() -> Result<(), Cancelled>,
        control: &RunControl,
    ) -> Result<Vec<f64>, UpdateError> {
        let (n, m) = (self.sign.len(), rows.len());
        let decisions = self.model.decision_values(rows, Par::Seq)?;
        let prepared = self.model.prepared(rows)?;
        // Every new row is there twice, since a row of a path has one label.
        let pool = self.samples.stacked(&prepared)?.stacked(&prepared)?;
        let gram = KernelGram::new(&pool, self.model.kernel().clone(), control).map_err(|error: KernelError| {
            if control.is_over() { UpdateError::Interrupted } else { UpdatableError::from(error).into() }
        })?;
        let signs: Vec<f64> = self.sign.iter().copied().chain(vec![-1.0; m]).chain(vec![1.0; m]).collect();
        let upper: Vec<f64> = self.sign.iter().map(|&sign| self.c_of(sign)).collect();
        let config = PathConfig::default().with_memory(self.memory);
        let ids: Vec<usize> = (0..n).collect();
        let mut base = Path::new(&gram, &signs, config).map_err(of_path)?.control(control);
        base.adopt(&ids, &upper, &self.alpha).map_err(of_path)?;
        let unchanged = margins(&base, n);
        let mut found = Vec::with_capacity(2 * m);
        for (row, decision) in decisions.iter().enumerate() {
            on_row().map_err(|Cancelled| UpdateError::Interrupted)?;
            for (id, sign) in [(n + row, -1.0), (n + m + row, 1.0)] {
                let own = sign * decision;
                // With α = 0 the new row keeps its margin, so that the solution stays.
                if own > 1.0 + TIE {
                    found.push(self.p_value(&unchanged, own, sign));
                    continue;
                }
                let mut path = base.clone();
                path.change(&[Added { id, upper: self.c_of(sign) }], &[]).map_err(of_path)?;
                let margins = margins(&path, n + 2 * m);
                found.push(self.p_value(&margins, margins[id], sign));
            }
        }
        Ok(found)
    }

    fn c_of(&self, sign: f64) -> f64 {
        self.c[usize::from(sign > 0.0)]
    }

    /// The share of rows, the new one among them, with at most the margin of the new row.
    fn p_value(&self, margins: &[f64], own: f64, sign: f64) -> f64 {
        let most = own + TIE * own.abs().max(1.0);
        let counted = self.sign.iter().zip(margins).filter(|(of, _)| !self.per_class || **of == sign);
        let (all, worse) = counted.fold((0, 0), |(all, worse), (_, margin)| (all + 1, worse + usize::from(*margin <= most)));
        (1 + worse) as f64 / f64::from(all + 1)
    }
}

/// The margin `y f(x)` of every row of a path, by its id below `count`.
fn margins(path: &Path, count: usize) -> Vec<f64> {
    let (solution, mut margins) = (path.solution(), vec![f64::NAN; count]);
    let Some(dual) = path.dual() else { return margins };
    for ((id, gradient), sign) in path.ids().into_iter().zip(&solution.gradient).zip(dual.sign()) {
        margins[id] = gradient + sign * solution.bias + 1.0;
    }
    margins
}

fn of_path(error: PathError) -> UpdateError {
    UpdatableError::from(error).into()
}
