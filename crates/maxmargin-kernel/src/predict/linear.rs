//! Decision values of weights.

use maxmargin_data::{Par, Row, Samples};

/// Queries per task.
const CHUNK: usize = 1024;

/// Queries whose sums are added at the same time. Each sum has its own order.
const TOGETHER: usize = 8;

/// Computes `w_pᵀx + bias_p` for every query `x` and every machine `p`, row-major `queries ×
/// machines`. Missing weights and missing features are 0. Each sum is added in the order of the
/// features.
pub fn linear_values(machines: &[(&[f64], f64)], queries: &Samples, par: Par) -> Vec<f64> {
    let count = machines.len();
    let mut values = vec![0.0; queries.len() * count];
    if count == 0 {
        return values;
    }
    // Zeros of dense rows are multiplied as well, which infinite weights do not allow.
    let are_finite = machines.iter().all(|(weights, _)| weights.iter().all(|w| w.is_finite()));
    par.for_chunks(&mut values, CHUNK * count, |t, values| {
        let mut next = 0;
        while next * count < values.len() {
            let rows: [Option<Row<'_>>; TOGETHER] =
                std::array::from_fn(|r| ((next + r) * count < values.len()).then(|| queries.row(t * CHUNK + next + r)));
            let out = &mut values[next * count..];
            match rows {
                [Some(Row::Dense64(_)), .., Some(_)] if are_finite => together(rows.map(dense64), machines, out),
                [Some(Row::Dense32(_)), .., Some(_)] if are_finite => together(rows.map(dense32), machines, out),
                _ => rows.iter().flatten().zip(out.chunks_exact_mut(count)).for_each(|(row, out)| alone(*row, machines, out)),
            }
            next += TOGETHER;
        }
    });
    values
}

fn dense64(row: Option<Row<'_>>) -> &[f64] {
    if let Some(Row::Dense64(values)) = row { values } else { &[] }
}

fn dense32(row: Option<Row<'_>>) -> &[f32] {
    if let Some(Row::Dense32(values)) = row { values } else { &[] }
}

/// The sums of several dense rows.
fn together<T: Copy + Into<f64>>(rows: [&[T]; TOGETHER], machines: &[(&[f64], f64)], out: &mut [f64]) {
    for (p, (weights, bias)) in machines.iter().enumerate() {
        let len = rows.iter().fold(weights.len(), |len, row| len.min(row.len()));
        let (weights, rows) = (&weights[..len], rows.map(|row| &row[..len]));
        let mut sums = [0.0; TOGETHER];
        for k in 0..len {
            sums.iter_mut().zip(&rows).for_each(|(sum, row)| *sum += weights[k] * row[k].into());
        }
        out[p..].iter_mut().step_by(machines.len()).zip(sums).for_each(|(value, sum)| *value = sum + bias);
    }
}

/// The sums of one row of any form.
fn alone(row: Row<'_>, machines: &[(&[f64], f64)], out: &mut [f64]) {
    for (value, (weights, bias)) in out.iter_mut().zip(machines) {
        let mut sum = 0.0;
        row.for_each(|j, v| sum += weights.get(j).copied().unwrap_or(0.0) * v);
        *value = sum + bias;
    }
}
