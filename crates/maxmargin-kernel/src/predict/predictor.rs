//! Support vectors that are prepared once for many predictions.

use crate::checks::{Backend, first_right, value_fault};
use crate::function::Fault;
use crate::predict::coefficients::Layout;
use crate::predict::columns::Columns;
use crate::predict::linear::linear_values;
use crate::predict::lists::{ListScratch, Lists};
use crate::predict::panels::{Panels, Scratch};
use crate::predict::singles::{SingleScratch, Singles};
use crate::predict::{Expansion, precomputed};
use crate::store::DENSE_BYTES;
use crate::store::integers::Integers;
use crate::store::summary::summarize;
use crate::{Kernel, KernelError, UserKernel};
use maxmargin_data::{Par, RunControl, Samples};
use std::sync::{Mutex, OnceLock};

/// Queries of a task.
const ROWS: usize = 64;

/// Queries of a task that computes labels.
const LABEL_ROWS: usize = 128;

/// Approximate number of kernel values that are compared with plain arithmetic.
const CHECKED: usize = 32;

/// Most features of support vectors in panels: a panel has them for each of its queries.
const WIDE: usize = 1 << 17;

/// Fewest queries for which labels are first computed in `f32`.
const FEW: usize = 16;

/// Number of queries after which the share of those that stay open is looked at for the first time.
const TRIED: usize = 1024;

/// Largest number of decision values of open queries at the same time.
const VALUES: usize = 1 << 22;

/// The preparation of several decision functions over shared support vectors for any number of
/// predictions.
#[derive(Debug)]
pub struct Predictor {
    form: Form,
    /// Number of decision functions.
    expansions: usize,
    /// The sum of the magnitudes of each expansion's coefficients.
    masses: Vec<f64>,
}

/// An [`Expansion`] that owns its terms.
#[derive(Debug)]
struct OwnedExpansion {
    support: Vec<u32>,
    coef: Vec<f64>,
    bias: f64,
}

impl OwnedExpansion {
    fn of(of: &Expansion) -> Self {
        Self { support: of.support.to_vec(), coef: of.coef.to_vec(), bias: of.bias }
    }

    fn borrowed(&self) -> Expansion<'_> {
        Expansion { support: &self.support, coef: &self.coef, bias: self.bias }
    }
}

#[derive(Debug)]
enum Form {
    Linear {
        weights: Vec<Vec<f64>>,
        biases: Vec<f64>,
        columns: Columns,
    },
    Precomputed {
        support: Samples,
        expansions: Vec<OwnedExpansion>,
    },
    Pairwise {
        support: Samples,
        kernel: UserKernel,
        expansions: Vec<OwnedExpansion>,
    },
    Panels {
        panels: Box<Panels>,
        /// Made for the first labels; none where they would decide hardly anything, or are wrong.
        singles: Box<OnceLock<Option<Singles>>>,
    },
    Lists(Box<Lists>),
}

/// Labels of queries, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// A label for each query.
    pub labels: Vec<f64>,
    /// Number of queries for which values in `f32` were not accurate enough.
    pub recomputed: usize,
    /// Whether values in `f32` were computed.
    pub in_singles: bool,
}

impl Predictor {
    /// Prepares support vectors; the result has its own copy of them.
    ///
    /// # Errors
    ///
    /// When the kernel is invalid, an expansion has another number of coefficients than positions,
    /// its positions do not ascend below the number of support vectors, or all backends compute
    /// wrong kernel values.
    pub fn new(kernel: &Kernel, support: &Samples, expansions: &[Expansion]) -> Result<Self, KernelError> {
        let kernel = kernel.clone().checked()?;
        for e in expansions {
            let ascends =
                e.support.is_sorted_by(|a, b| a < b) && e.support.last().is_none_or(|&last| (last as usize) < support.len());
            if e.coef.len() != e.support.len() || !ascends {
                return Err(KernelError::Coefficients { coefficients: e.coef.len(), samples: support.len() });
            }
        }
        let owned = || expansions.iter().map(OwnedExpansion::of).collect();
        let form = match kernel {
            Kernel::Linear => linear(support, expansions),
            Kernel::Precomputed => Form::Precomputed { support: support.clone(), expansions: owned() },
            Kernel::User(kernel) => Form::Pairwise { support: support.clone(), kernel, expansions: owned() },
            kernel => {
                check_vectors(&kernel, support, expansions)?;
                let make = |backend: Backend| Ok(of_products(&kernel, support, expansions, backend.plain));
                first_right(true, make, |form| fault(form, &kernel, support))?
            }
        };
        let masses = expansions.iter().map(|e| e.coef.iter().map(|c| c.abs()).sum()).collect();
        Ok(Self { form, expansions: expansions.len(), masses })
    }

    /// Computes all decision functions, row-major `queries × expansions`. The value of a query
    /// depends on no other query, and not on `par`.
    ///
    /// # Errors
    ///
    /// When a kernel value of a query does not fit in `f32` (those of an RBF kernel always do), or
    /// precomputed queries have no column for a support vector.
    pub fn decision_table(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, KernelError> {
        let ids: Vec<usize> = (0..queries.len()).collect();
        self.table(queries, &ids, par)
    }

    /// The decision values of the queries `ids`.
    fn table(&self, queries: &Samples, ids: &[usize], par: Par) -> Result<Vec<f64>, KernelError> {
        let takes_all = matches!(self.form, Form::Linear { .. } | Form::Precomputed { .. });
        if takes_all && ids.len() < queries.len() {
            return self.decision_table(&queries.select(ids), par);
        }
        let count = self.expansions;
        let mut values = vec![0.0; ids.len() * count];
        if values.is_empty() {
            return Ok(values);
        }
        let first = FirstError::default();
        match &self.form {
            Form::Linear { weights, biases, columns } => return Ok(of_weights(weights, biases, columns, queries, par)),
            Form::Precomputed { support, expansions } => {
                let expansions: Vec<Expansion> = expansions.iter().map(OwnedExpansion::borrowed).collect();
                return precomputed::decide(support, &expansions, queries);
            }
            Form::Pairwise { support, kernel, expansions } => par.for_chunks(&mut values, ROWS * count, |t, values| {
                pairwise(support, kernel, expansions, queries, &ids[t * ROWS..], values);
            }),
            Form::Panels { panels, .. } => par.for_chunks(&mut values, ROWS * count, |t, values| {
                let ids = &ids[t * ROWS..][..values.len() / count];
                first.keep(t, panels.decide(queries, ids, values, &mut Scratch::default()));
            }),
            Form::Lists(lists) => par.for_chunks(&mut values, ROWS * count, |t, values| {
                let mut scratch = ListScratch::default();
                for (&id, values) in ids[t * ROWS..].iter().zip(values.chunks_exact_mut(count)) {
                    first.keep(t, lists.decide(id, queries.row(id), values, &mut scratch));
                }
            }),
        }
        first.or(values)
    }

    /// Computes the label of every query: `label(values, bounds)` from the decision values of all
    /// expansions, each within its bound, or none if such values could have different labels. With
    /// bounds of 0 it must return a label.
    ///
    /// Labels are those of [`Predictor::decision_table`]. Where the kernel and the data allow it,
    /// values are first computed in `f32`, with rigorous bounds of their differences from the
    /// values of the table (docs/math/prediction.md).
    ///
    /// # Errors
    ///
    /// As [`Predictor::decision_table`].
    ///
    /// # Panics
    ///
    /// When `label` returns none for bounds of 0.
    pub fn labels(
        &self,
        queries: &Samples,
        par: Par,
        label: impl Fn(&[f64], &[f64]) -> Option<f64> + Sync,
    ) -> Result<Labels, KernelError> {
        let count = self.expansions;
        let singles = match &self.form {
            Form::Panels { panels, singles } if queries.len() >= FEW && count > 0 => {
                let make = |_| Ok(Singles::new(panels, &self.masses));
                let checked = || first_right(false, make, |made| made.as_ref()?.fault(panels, queries)).ok().flatten();
                singles.get_or_init(checked).as_ref().map(|singles| (panels, singles))
            }
            _ => None,
        };
        let mut labels: Vec<Option<f64>> = vec![None; queries.len()];
        if let Some((panels, singles)) = singles {
            let decide = |first: usize, labels: &mut [Option<f64>]| {
                let ids: Vec<usize> = (first..first + labels.len()).collect();
                let (mut values, mut bounds) = (vec![0.0; ids.len() * count], vec![0.0; ids.len() * count]);
                singles.decide(panels, queries, &ids, [&mut values, &mut bounds], &mut SingleScratch::default());
                let rows = values.chunks_exact(count).zip(bounds.chunks_exact(count));
                labels.iter_mut().zip(rows).for_each(|(to, (values, bounds))| *to = label(values, bounds));
            };
            try_labels(&mut labels, par, decide);
        }
        let open: Vec<usize> = (0..labels.len()).filter(|&q| labels[q].is_none()).collect();
        let zeros = vec![0.0; count];
        for open in open.chunks((VALUES / count.max(1)).max(LABEL_ROWS)) {
            let values = self.table(queries, open, par)?;
            for (row, &q) in open.iter().enumerate() {
                labels[q] = Some(label(&values[row * count..][..count], &zeros).expect("a label for exact values"));
            }
        }
        let (recomputed, in_singles) = (if singles.is_some() { open.len() } else { 0 }, singles.is_some());
        Ok(Labels { labels: labels.into_iter().flatten().collect(), recomputed, in_singles })
    }

    /// Bytes of the prepared support vectors, without their form in `f32`.
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Linear { weights, .. } => weights.iter().map(|w| 8 * w.len()).sum(),
            Form::Precomputed { support, .. } | Form::Pairwise { support, .. } => support.bytes(),
            Form::Panels { panels, .. } => panels.bytes(),
            Form::Lists(lists) => lists.bytes(),
        }
    }
}

/// Calls `decide(first query, labels)` for blocks of queries, in rounds that double. Where most
/// labels stay open, values in `f32` are a waste: no further round begins. Which queries are tried
/// does not depend on threads.
fn try_labels(labels: &mut [Option<f64>], par: Par, decide: impl Fn(usize, &mut [Option<f64>]) + Sync) {
    let (mut tried, mut open) = (0, 0);
    while tried < labels.len() && 2 * open <= tried {
        let end = labels.len().min((2 * tried).max(TRIED));
        let round = &mut labels[tried..end];
        par.for_chunks(round, LABEL_ROWS, |t, labels| decide(tried + t * LABEL_ROWS, labels));
        open += round.iter().filter(|label| label.is_none()).count();
        tried = end;
    }
}

/// The error of the earliest task.
#[derive(Debug, Default)]
struct FirstError(Mutex<Option<(usize, KernelError)>>);

impl FirstError {
    fn keep(&self, task: usize, result: Result<(), KernelError>) {
        if let Err(error) = result
            && let Ok(mut kept) = self.0.lock()
            && kept.as_ref().is_none_or(|(earlier, _)| task < *earlier)
        {
            *kept = Some((task, error));
        }
    }

    fn or<T>(self, value: T) -> Result<T, KernelError> {
        self.0.into_inner().ok().flatten().map_or(Ok(value), |(_, error)| Err(error))
    }
}

/// Weights `Σ coef_k x_k` of every expansion.
fn linear(support: &Samples, expansions: &[Expansion]) -> Form {
    let packed = support.packed();
    let (support, kept) = packed.as_ref().map_or((support, None), |(packed, kept)| (packed, Some(kept.clone())));
    let weights = expansions.iter().map(|e| {
        let mut weights = vec![0.0; support.features()];
        for (&k, &c) in e.support.iter().zip(e.coef) {
            support.row(k as usize).for_each(|j, v| weights[j] += c * v);
        }
        weights
    });
    let biases = expansions.iter().map(|e| e.bias).collect();
    Form::Linear { weights: weights.collect(), biases, columns: Columns::new(support.features(), kept) }
}

/// Decision values of weights of some columns.
fn of_weights(weights: &[Vec<f64>], biases: &[f64], columns: &Columns, queries: &Samples, par: Par) -> Vec<f64> {
    if columns.has_all() {
        let machines: Vec<(&[f64], f64)> = weights.iter().map(Vec::as_slice).zip(biases.iter().copied()).collect();
        return linear_values(&machines, queries, par);
    }
    let mut values = vec![0.0; queries.len() * weights.len()];
    par.for_chunks(&mut values, ROWS * weights.len(), |t, values| {
        for (q, values) in values.chunks_exact_mut(weights.len()).enumerate() {
            for ((value, weights), bias) in values.iter_mut().zip(weights).zip(biases) {
                let mut sum = 0.0;
                columns.for_each(queries.row(t * ROWS + q), |k, v| sum += weights[k] * v);
                *value = sum + bias;
            }
        }
    });
    values
}

/// Decision values of a kernel that is evaluated one pair at a time.
fn pairwise(
    support: &Samples,
    kernel: &UserKernel,
    expansions: &[OwnedExpansion],
    queries: &Samples,
    ids: &[usize],
    values: &mut [f64],
) {
    let mut used = vec![false; support.len()];
    let terms = |e: usize| expansions[e].support.iter().zip(&expansions[e].coef).filter(|(_, c)| **c != 0.0);
    (0..expansions.len()).for_each(|e| terms(e).for_each(|(&k, _)| used[k as usize] = true));
    let mut row = vec![0.0; support.len()];
    for (&id, values) in ids.iter().zip(values.chunks_exact_mut(expansions.len())) {
        let query = queries.row(id);
        row.iter_mut().enumerate().filter(|(k, _)| used[*k]).for_each(|(k, value)| *value = kernel.value(support.row(k), query));
        for (e, value) in values.iter_mut().enumerate() {
            *value = terms(e).map(|(&k, c)| c * row[k as usize]).sum::<f64>() + expansions[e].bias;
        }
    }
}

/// Checks that kernel values of the vectors are numbers of moderate size.
fn check_vectors(kernel: &Kernel, support: &Samples, expansions: &[Expansion]) -> Result<(), KernelError> {
    let mut used = vec![false; support.len()];
    for e in expansions {
        e.support.iter().zip(e.coef).filter(|(_, c)| **c != 0.0).for_each(|(&k, _)| used[k as usize] = true);
    }
    for (k, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        let mut norm = 0.0;
        support.row(k).for_each(|_, v| norm += v * v);
        kernel.check_norm(k, norm)?;
    }
    Ok(())
}

/// Panels or lists, whichever is faster for these support vectors; with `plain` lists.
fn of_products(kernel: &Kernel, support: &Samples, expansions: &[Expansion], plain: bool) -> Form {
    let layout = Layout::new(support.len(), expansions);
    let biases = expansions.iter().map(|e| e.bias).collect();
    let packed = support.packed();
    let (support, kept) = packed.as_ref().map_or((support, None), |(packed, kept)| (packed, Some(kept.clone())));
    let columns = Columns::new(support.features(), kept);
    let summary = summarize(support, &RunControl::unlimited()).expect("not cancelled");
    let (bytes, rate) = if Integers::accepts(support, &summary, kernel) { (1, Integers::rate(&summary)) } else { (12, 40.0) };
    if plain || support.features() > WIDE || !summary.prefers_dense(support, DENSE_BYTES, bytes, rate) {
        return Form::Lists(Box::new(Lists::new(kernel, support, columns, layout, biases)));
    }
    let panels = Box::new(Panels::new(kernel, support, &summary, columns, layout, biases));
    Form::Panels { panels, singles: Box::default() }
}

/// The first kernel value of some support vectors that differs from plain arithmetic.
fn fault(form: &Form, kernel: &Kernel, support: &Samples) -> Option<Fault> {
    let vectors: Vec<usize> = (0..4.min(support.len())).map(|t| t * (support.len() - 1) / 3).collect();
    let found = match form {
        Form::Panels { panels, .. } => panels.sample_values(support, &vectors),
        Form::Lists(lists) => lists.sample_values(support, &vectors),
        Form::Linear { .. } | Form::Precomputed { .. } | Form::Pairwise { .. } => return None,
    };
    let found = found.unwrap_or_default();
    let step = (found.len() / CHECKED).max(1);
    found.iter().step_by(step).find_map(|&(i, j, value)| value_fault(support, kernel, (i, j), value))
}
