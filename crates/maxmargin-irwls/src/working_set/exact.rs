//! The kernel values of a working set, from rows or exact.

use crate::state::State;
use crate::working_set::chunk::Chunk;
use maxmargin_core::{Cancelled, RunControl};
use maxmargin_kernel::Rows;

/// The rows that are kept while a chunk is filled.
const GROUP: usize = 128;

/// Fills `chunk` with the working set `set` at the present point, with kernel values in `f32` or
/// exact ones.
///
/// # Errors
///
/// When the run is cancelled; the chunk is then unusable.
pub(crate) fn fill(
    chunk: &mut Chunk,
    state: &State,
    rows: &Rows,
    set: &[usize],
    exact: bool,
    control: &RunControl,
) -> Result<(), Cancelled> {
    let (dual, m) = (state.dual, set.len());
    let ids: Vec<usize> = set.iter().map(|&k| dual.ids()[k]).collect();
    chunk.par = state.par;
    // Every entry is written below. The system clears new memory on the first write, so a new
    // vector is cheaper than a resize.
    if chunk.kernel.capacity() < m * m {
        chunk.kernel = vec![0.0; m * m];
    }
    chunk.kernel.resize(m * m, 0.0);
    if exact {
        exact_entries(chunk, rows, &ids, control)?;
    } else {
        rows.fetch(&ids, control)?;
        for (out, group) in chunk.kernel.chunks_mut((GROUP * m).max(1)).zip(ids.chunks(GROUP)) {
            control.check((GROUP * m) as u64)?;
            for (out, &i) in out.chunks_mut(m.max(1)).zip(group) {
                let row = rows.row(i);
                out.iter_mut().zip(&ids).for_each(|(out, &j)| *out = row.at(j));
            }
        }
    }
    for (i, &k) in set.iter().enumerate() {
        chunk.kernel[i * m + i] += dual.ridge_of(k);
    }
    let of = |value: &dyn Fn(usize) -> f64| set.iter().map(|&k| value(k)).collect::<Vec<f64>>();
    let (sign, upper) = (dual.sign(), dual.upper());
    chunk.beta = of(&|k| sign[k] * state.alpha[k]);
    chunk.f = of(&|k| state.f[k]);
    chunk.low = of(&|k| if sign[k] > 0.0 { 0.0 } else { -upper[k] });
    chunk.high = of(&|k| if sign[k] > 0.0 { upper[k] } else { 0.0 });
    Ok(())
}

/// Fills the matrix with exact kernel values. Each is computed once, even if several variables
/// share a sample.
fn exact_entries(chunk: &mut Chunk, rows: &Rows, ids: &[usize], control: &RunControl) -> Result<(), Cancelled> {
    let m = ids.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by_key(|&k| ids[k]);
    let of_samples: Vec<&[usize]> = order.chunk_by(|&a, &b| ids[a] == ids[b]).collect();
    let samples: Vec<usize> = of_samples.iter().map(|variables| ids[variables[0]]).collect();
    let gram = rows.gram();
    // Row i up to its diagonal, column by column, since the ids are scattered.
    let per_value = gram.value_operations();
    let stretch =
        (RunControl::operations_between_checks() as usize / (per_value as usize * m.max(1))).max(1) * rows.par().threads();
    for from in (0..samples.len()).step_by(stretch) {
        let to = samples.len().min(from + stretch);
        control.check(per_value * ((to - from) * to / rows.par().threads()) as u64)?;
        let halves = rows.par().map(to - from, |at| {
            let i = from + at;
            let mut half = vec![0.0; i + 1];
            gram.fill_exact(&samples[..=i], samples[i]..samples[i] + 1, &mut half);
            half
        });
        for (half, &own) in halves.iter().zip(&of_samples[from..to]) {
            for (&value, &others) in half.iter().zip(&of_samples) {
                for (&i, &j) in own.iter().flat_map(|i| others.iter().map(move |j| (i, j))) {
                    chunk.kernel[i * m + j] = value;
                    chunk.kernel[j * m + i] = value;
                }
            }
        }
    }
    Ok(())
}
