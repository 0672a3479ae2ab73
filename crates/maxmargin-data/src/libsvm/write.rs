//! Writing of LIBSVM's text format, which reads back to the same bits.

use super::chunk::MAX_INDEX;
use crate::dataset::Dataset;
use crate::samples::Storage;
use crate::text::number::{write_integer, write_shortest};
use std::io::{self, Write};

/// Approximate number of bytes per write.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes `data` as LIBSVM-format text: shortest exact numbers, only nonzero features, the data's
/// own index base, `qid:` for groups.
///
/// A stored zero in the first row keeps information that nonzero features lack: the last feature if
/// its column is all zero, and feature 0 of a zero-based file likewise. Rows of a precomputed
/// kernel (`0:serial 1:K(x,x1) 2:K(x,x2) …`) have every column, because LIBSVM reads them by
/// position. They are recognised as zero-based rows numbered 1, 2, … by their first column, with as
/// many more columns as there are rows, or stored densely.
///
/// # Errors
///
/// The errors of `out`, and `InvalidInput` when the last feature has an index that no reader
/// accepts; nothing is flushed.
pub fn write(data: &Dataset, out: &mut impl Write) -> io::Result<()> {
    let last = (data.samples.features() as u64 + u64::from(data.index_base)).saturating_sub(1);
    if last > u64::from(MAX_INDEX) {
        let what =
            format!("feature {last} is beyond {MAX_INDEX}, the greatest index that can be read again; leave such features out");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut text = Vec::with_capacity(2 * BUFFER_BYTES);
    let kernel = is_kernel(data);
    let (first_used, last_used) = if kernel { (true, true) } else { used_columns(data) };
    let features = data.samples.features();
    for (i, label) in data.labels.iter().enumerate().take(data.samples.len()) {
        write_shortest(&mut text, *label)?;
        if let Some(group) = data.groups.as_ref().and_then(|groups| groups.get(i)) {
            write!(text, " qid:{group}")?;
        }
        let mut failed = None;
        let mut entry = |column: usize, value: f64| {
            let index = column as u64 + u64::from(data.index_base);
            text.push(b' ');
            let index_written = write_integer(&mut text, index);
            text.push(b':');
            failed = failed.take().or(index_written.and_then(|()| write_shortest(&mut text, value)).err());
        };
        let marks_first = i == 0 && !first_used && data.index_base == 0 && features > 0;
        let marks_last = i == 0 && !last_used && features > usize::from(marks_first);
        if marks_first {
            entry(0, 0.0);
        }
        if kernel {
            let mut from = 0;
            data.samples.row(i).for_each(|column, value| {
                (from..column).for_each(|zero| entry(zero, 0.0));
                entry(column, value);
                from = column + 1;
            });
            (from..features).for_each(|zero| entry(zero, 0.0));
        } else {
            data.samples.row(i).for_each(&mut entry);
        }
        if marks_last {
            entry(features - 1, 0.0);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        text.push(b'\n');
        if text.len() >= BUFFER_BYTES {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// Returns whether the data appear to be rows of a precomputed kernel.
fn is_kernel(data: &Dataset) -> bool {
    let (rows, columns) = (data.samples.len(), data.samples.features());
    let sized =
        columns == rows + 1 || (columns > 1 && matches!(data.samples.storage(), Storage::Dense32(_) | Storage::Dense64(_)));
    let serial = |i: usize| {
        let mut first = None;
        data.samples.row(i).for_each(|column, value| first = first.or(Some((column, value))));
        first == Some((0, (i + 1) as f64))
    };
    data.index_base == 0 && sized && (0..rows).all(serial)
}

/// Returns whether the first and the last column have a nonzero entry.
fn used_columns(data: &Dataset) -> (bool, bool) {
    let last = data.samples.features().saturating_sub(1);
    let (mut first_used, mut last_used) = (false, false);
    for i in 0..data.samples.len() {
        data.samples.row(i).for_each(|column, _| {
            first_used |= column == 0;
            last_used |= column == last;
        });
        if first_used && last_used {
            break;
        }
    }
    (first_used, last_used)
}
