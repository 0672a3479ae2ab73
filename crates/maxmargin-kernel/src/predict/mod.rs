//! Decision values for samples outside of the training set.

use crate::store::precomputed::{ColumnPlaces, cell, serial};
use crate::{Gram, Kernel, KernelError, KernelGram};
use maxmargin_data::{Par, RunControl, Samples};

/// Queries per batch. One Gram matrix contains the support vectors and a batch.
const BATCH: usize = 4096;
/// Queries per block of kernel values.
const ROWS: usize = 64;
/// Support vectors per block of kernel values.
const COLUMNS: usize = 1024;

/// One of several decision functions over shared support vectors.
#[derive(Clone, Copy, Debug)]
pub struct Expansion<'a> {
    /// Positions among the shared support vectors, in ascending order.
    pub support: &'a [u32],
    /// One coefficient per position.
    pub coef: &'a [f64],
    /// The constant term.
    pub bias: f64,
}

/// Computes `Σ_k coef_k k(support_k, query) + bias` for every query, with kernel values in `f64`.
///
/// The numbers of features may differ: missing features are 0, and a query's additional features
/// count in its distance. A linear kernel is reduced to its weight vector first. With
/// [`Kernel::Precomputed`] a query `0:… 1:K(x,x1) …` is read at the serial numbers of the support
/// vectors. The result does not depend on `par`.
///
/// # Errors
///
/// When the kernel is invalid, the number of coefficients differs from that of the support vectors,
/// or the queries have no column for a serial number.
pub fn decision_values(
    kernel: &Kernel,
    support: &Samples,
    coef: &[f64],
    bias: f64,
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    if coef.len() != support.len() {
        return Err(KernelError::Coefficients { coefficients: coef.len(), samples: support.len() });
    }
    let all: Vec<u32> = (0..coef.len() as u32).collect();
    decision_table(kernel, support, &[Expansion { support: &all, coef, bias }], queries, par)
}

/// Computes several decision functions, row-major `queries × expansions`. Each kernel value is
/// computed once for all of them.
///
/// In all other respects it is like [`decision_values`].
///
/// # Errors
///
/// As [`decision_values`]. An expansion's positions must ascend and be less than the number of
/// support vectors.
pub fn decision_table(
    kernel: &Kernel,
    support: &Samples,
    expansions: &[Expansion],
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    let kernel = kernel.clone().checked()?;
    for e in expansions {
        let ascends =
            e.support.is_sorted_by(|a, b| a < b) && e.support.last().is_none_or(|&last| (last as usize) < support.len());
        if e.coef.len() != e.support.len() || !ascends {
            return Err(KernelError::Coefficients { coefficients: e.coef.len(), samples: support.len() });
        }
    }
    let (count, rows) = (expansions.len(), queries.len());
    match kernel {
        // With very many features a dense weight vector would take more memory than the samples.
        Kernel::Linear if support.packed().is_none() && queries.packed().is_none() => {
            let mut values = vec![0.0; rows * count];
            for (p, e) in expansions.iter().enumerate() {
                let column = linear(support, e, queries, par);
                column.into_iter().enumerate().for_each(|(q, value)| values[q * count + p] = value);
            }
            Ok(values)
        }
        Kernel::Precomputed => precomputed(support, expansions, queries),
        _ => table_of(
            &|samples| KernelGram::new(samples, kernel.clone(), &RunControl::unlimited()),
            support,
            expansions,
            queries,
            par,
        ),
    }
}

/// Computes `wᵀx + bias` with `w = Σ coef_k x_k`.
fn linear(support: &Samples, e: &Expansion, queries: &Samples, par: Par) -> Vec<f64> {
    let mut weights = vec![0.0; support.features().max(queries.features())];
    for (&k, &c) in e.support.iter().zip(e.coef) {
        support.row(k as usize).for_each(|j, v| weights[j] += c * v);
    }
    let mut values = vec![0.0; queries.len()];
    par.for_chunks(&mut values, BATCH, |t, values| {
        for (q, value) in values.iter_mut().enumerate() {
            let mut sum = 0.0;
            queries.row(t * BATCH + q).for_each(|j, v| sum += weights[j] * v);
            *value = sum + e.bias;
        }
    });
    values
}

/// Sums over kernel values that the queries contain.
fn precomputed(support: &Samples, expansions: &[Expansion], queries: &Samples) -> Result<Vec<f64>, KernelError> {
    // A model may store its support vectors as `0:serial` alone. The serial number is therefore
    // checked against the queries' columns.
    let wide = |k: usize| -> Result<usize, KernelError> {
        let value = cell(support, k, 0);
        if value.fract() == 0.0 && value >= 1.0 && value < queries.features() as f64 {
            Ok(value as usize)
        } else {
            serial(support, k)
        }
    };
    let serials = (0..support.len()).map(wide).collect::<Result<Vec<_>, _>>()?;
    if let Some((k, s)) = serials.iter().enumerate().find(|(_, s)| **s >= queries.features().max(1)) {
        let reason =
            format!("its serial number is {s}, but the queries have kernel values 1 to {}", queries.features().saturating_sub(1));
        return Err(KernelError::Precomputed { row: k + 1, reason });
    }
    let columns = ColumnPlaces::new(&serials, queries.features());
    let places: Vec<usize> = serials.iter().filter_map(|&s| columns.place(s)).collect();
    let mut row = vec![0.0; columns.len()];
    let mut values = Vec::with_capacity(queries.len() * expansions.len());
    for q in 0..queries.len() {
        row.fill(0.0);
        queries.row(q).for_each(|j, v| {
            if let Some(value) = columns.place(j).and_then(|at| row.get_mut(at)) {
                *value = v;
            }
        });
        for e in expansions {
            let terms = e.support.iter().zip(e.coef).map(|(&k, &c)| c * row[places[k as usize]]);
            values.push(terms.sum::<f64>() + e.bias);
        }
    }
    Ok(values)
}

/// The nonzero terms of one expansion, with positions among all used support vectors. `cuts` are
/// the positions at which blocks of columns begin.
struct Sum {
    support: Vec<usize>,
    coef: Vec<f64>,
    cuts: Vec<usize>,
}

/// Computes the table in blocks of the matrix that `gram` builds from the support vectors, followed
/// by a batch of queries.
pub(crate) fn table_of(
    gram: &dyn Fn(&Samples) -> Result<KernelGram, KernelError>,
    support: &Samples,
    expansions: &[Expansion],
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    let mut place = vec![usize::MAX; support.len()];
    let terms =
        |e: &Expansion| e.support.iter().zip(e.coef).filter(|(_, c)| **c != 0.0).map(|(k, c)| (*k as usize, *c)).collect();
    let terms: Vec<Vec<(usize, f64)>> = expansions.iter().map(terms).collect();
    terms.iter().flatten().for_each(|&(k, _)| place[k] = 0);
    let used: Vec<usize> = (0..support.len()).filter(|&k| place[k] == 0).collect();
    used.iter().enumerate().for_each(|(at, &k)| place[k] = at);
    let (support, count, width) = (support.select(&used), used.len(), expansions.len());
    let sum = |terms: Vec<(usize, f64)>| {
        let (support, coef): (Vec<usize>, Vec<f64>) = terms.into_iter().map(|(k, c)| (place[k], c)).unzip();
        let cuts = (0..=count.div_ceil(COLUMNS)).map(|t| support.partition_point(|&k| k < t * COLUMNS)).collect();
        Sum { support, coef, cuts }
    };
    let sums: Vec<Sum> = terms.into_iter().map(sum).collect();
    let mut values: Vec<f64> = (0..queries.len()).flat_map(|_| expansions.iter().map(|e| e.bias)).collect();
    if count == 0 {
        return Ok(values);
    }
    for first in (0..queries.len()).step_by(BATCH) {
        let asked: Vec<usize> = (first..queries.len().min(first + BATCH)).collect();
        let both = support.stacked(&queries.select(&asked)).map_err(|e| KernelError::Samples(e.to_string()))?;
        let gram = gram(&both)?;
        par.for_chunks(&mut values[first * width..(first + asked.len()) * width], ROWS * width, |t, values| {
            let rows: Vec<usize> = (0..values.len() / width).map(|q| count + t * ROWS + q).collect();
            let mut block = vec![0.0; rows.len() * COLUMNS.min(count)];
            for (cut, start) in (0..count).step_by(COLUMNS).enumerate() {
                let columns = count.min(start + COLUMNS) - start;
                let block = &mut block[..rows.len() * columns];
                gram.fill_exact(&rows, start..start + columns, block);
                for (values, row) in values.chunks_exact_mut(width).zip(block.chunks_exact(columns)) {
                    for (value, sum) in values.iter_mut().zip(&sums) {
                        let part = sum.cuts[cut]..sum.cuts[cut + 1];
                        let (ids, coef) = (&sum.support[part.clone()], &sum.coef[part]);
                        *value += if coef.len() == columns { dot(row, coef) } else { gathered(row, start, ids, coef) };
                    }
                }
            }
        });
    }
    Ok(values)
}

/// `Σ coef_k row[ids_k − start]`.
fn gathered(row: &[f64], start: usize, ids: &[usize], coef: &[f64]) -> f64 {
    ids.iter().zip(coef).map(|(&k, c)| c * row[k - start]).sum()
}

/// The dot product in eight interleaved partial sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (heads, tail) = (a.chunks_exact(8), a.len() / 8 * 8);
    for (a, b) in heads.zip(b.chunks_exact(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + a[tail..].iter().zip(&b[tail..]).map(|(a, b)| a * b).sum::<f64>()
}
