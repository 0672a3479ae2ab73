//! Decision values for samples outside the training set.

use crate::precomputed::{cell, serial};
use crate::{Gram, Kernel, KernelError, KernelGram};
use maxmargin_data::{Par, Samples};

/// Queries per batch: each batch is put below the support vectors in one matrix.
const BATCH: usize = 4096;
/// Queries per block of kernel values.
const ROWS: usize = 64;
/// Support vectors per block of kernel values.
const COLUMNS: usize = 1024;

/// `Σ_k coef_k k(support_k, query) + bias` for every query, kernel values in `f64`.
///
/// The feature counts may differ: what a sample lacks is 0, and a query's additional features count in its distance. A linear kernel is
/// collapsed to its weights first. With [`Kernel::Precomputed`] a query `0:… 1:K(x,x1) …` is read at the serial numbers of the
/// support vectors. The result does not depend on `par`.
///
/// # Errors
///
/// When the kernel is invalid, `coef` has not one coefficient per support vector, or a serial number is not a query's column.
pub fn decision_values(
    kernel: &Kernel,
    support: &Samples,
    coef: &[f64],
    bias: f64,
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    let kernel = kernel.clone().checked()?;
    if coef.len() != support.len() {
        return Err(KernelError::Coefficients { coefficients: coef.len(), samples: support.len() });
    }
    match kernel {
        // With very many features one weight for each would take more memory than the samples.
        Kernel::Linear if support.packed().is_none() && queries.packed().is_none() => {
            Ok(linear(support, coef, bias, queries, par))
        }
        Kernel::Precomputed => precomputed(support, coef, bias, queries),
        _ => blocked(&kernel, support, coef, bias, queries, par),
    }
}

/// `wᵀx + bias` with `w = Σ coef_k x_k`.
fn linear(support: &Samples, coef: &[f64], bias: f64, queries: &Samples, par: Par) -> Vec<f64> {
    let mut weights = vec![0.0; support.features().max(queries.features())];
    for (k, &c) in coef.iter().enumerate() {
        support.row(k).for_each(|j, v| weights[j] += c * v);
    }
    let mut values = vec![0.0; queries.len()];
    par.for_chunks(&mut values, BATCH, |t, values| {
        for (q, value) in values.iter_mut().enumerate() {
            let mut sum = 0.0;
            queries.row(t * BATCH + q).for_each(|j, v| sum += weights[j] * v);
            *value = sum + bias;
        }
    });
    values
}

fn precomputed(support: &Samples, coef: &[f64], bias: f64, queries: &Samples) -> Result<Vec<f64>, KernelError> {
    // A model may hold its support vectors as `0:serial` alone, so the serial is checked against the queries' columns.
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
    let mut row = vec![0.0; queries.features()];
    let values = (0..queries.len()).map(|q| {
        row.fill(0.0);
        queries.row(q).for_each(|j, v| row[j] = v);
        serials.iter().zip(coef).map(|(&s, &c)| c * row[s]).sum::<f64>() + bias
    });
    Ok(values.collect())
}

fn blocked(
    kernel: &Kernel,
    support: &Samples,
    coef: &[f64],
    bias: f64,
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    let used: Vec<usize> = (0..coef.len()).filter(|&k| coef[k] != 0.0).collect();
    let coef: Vec<f64> = used.iter().map(|&k| coef[k]).collect();
    let (support, count) = (support.select(&used), used.len());
    let mut values = vec![bias; queries.len()];
    if count == 0 {
        return Ok(values);
    }
    for first in (0..queries.len()).step_by(BATCH) {
        let batch = first..queries.len().min(first + BATCH);
        let asked: Vec<usize> = batch.clone().collect();
        let both = support.stacked(&queries.select(&asked)).map_err(|e| KernelError::Samples(e.to_string()))?;
        let gram = KernelGram::new(&both, kernel.clone())?;
        par.for_chunks(&mut values[batch], ROWS, |t, values| {
            let rows: Vec<usize> = (0..values.len()).map(|q| count + t * ROWS + q).collect();
            let mut block = vec![0.0; rows.len() * COLUMNS.min(count)];
            for start in (0..count).step_by(COLUMNS) {
                let end = count.min(start + COLUMNS);
                let block = &mut block[..rows.len() * (end - start)];
                gram.fill_exact(&rows, start..end, block);
                for (value, row) in values.iter_mut().zip(block.chunks_exact(end - start)) {
                    *value += dot(row, &coef[start..end]);
                }
            }
        });
    }
    Ok(values)
}

/// A dot product in eight interleaved partial sums.
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
