//! The order of a problem's variables in the solver's arrays, and how kernel rows are read in that
//! order.

use maxmargin_core::Dual;
use std::ops::Range;

/// The largest number of runs that are read from a row in place. Problems with more runs read a
/// gathered copy of the row.
const MOST_PIECES: usize = 32;

/// Pieces begin at multiples of this, so that each begins at a whole byte of the packed sets.
const ALIGN: usize = 64;

/// A run of variables that is contiguous in a kernel row and in the solver's arrays.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The columns of a kernel row.
    pub(crate) columns: Range<usize>,
    /// The place of the first column in the solver's (padded) arrays.
    pub(crate) at: usize,
}

/// The order of the solver's arrays: the runs of the problem, each padded to a multiple of
/// [`ALIGN`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pieces: Vec<Piece>,
    /// The place of each variable.
    place: Vec<u32>,
    /// The Gram index at each place; `usize::MAX` in the padding.
    ids: Vec<usize>,
    /// The Gram indices in place order, if rows have to be gathered.
    gather: Option<Vec<usize>>,
}

impl Layout {
    pub(crate) fn new(dual: &Dual) -> Self {
        let scattered = dual.segments().len() > MOST_PIECES;
        let mut pieces = Vec::new();
        let mut place = Vec::with_capacity(dual.len());
        let mut ids = Vec::with_capacity(dual.len() + ALIGN * MOST_PIECES);
        if scattered {
            pieces.push(Piece { columns: 0..dual.len(), at: 0 });
            place.extend(0..dual.len() as u32);
            ids.extend_from_slice(dual.ids());
        } else {
            for segment in dual.segments() {
                ids.resize(ids.len().next_multiple_of(ALIGN), usize::MAX);
                pieces.push(Piece { columns: segment.ids.clone(), at: ids.len() });
                place.extend((0..segment.ids.len()).map(|k| (ids.len() + k) as u32));
                ids.extend(segment.ids.clone());
            }
        }
        ids.resize(ids.len().next_multiple_of(ALIGN), usize::MAX);
        let gather = scattered.then(|| dual.ids().to_vec());
        Self { pieces, place, ids, gather }
    }

    /// Returns the length of the padded arrays.
    pub(crate) fn padded(&self) -> usize {
        self.ids.len()
    }

    /// Returns the place of variable `k`.
    pub(crate) fn place(&self, k: usize) -> usize {
        self.place[k] as usize
    }

    /// Returns the Gram index at a place that holds a variable.
    pub(crate) fn id(&self, place: usize) -> usize {
        self.ids[place]
    }

    /// Returns the parts of the contiguous runs in a range of places that begins at a multiple of
    /// 64. `Piece::at` counts from the start of the range.
    pub(crate) fn pieces_in(&self, places: Range<usize>) -> Vec<Piece> {
        let part = |piece: &Piece| {
            let (from, to) = (places.start.max(piece.at), places.end.min(piece.at + piece.columns.len()));
            let column = |place: usize| piece.columns.start + (place - piece.at);
            // Gathered rows are already in the order of the range.
            let columns = if self.gather.is_some() { from - places.start..to - places.start } else { column(from)..column(to) };
            (from < to).then(|| Piece { columns, at: from - places.start })
        };
        self.pieces.iter().filter_map(|piece| if piece.at < places.end { part(piece) } else { None }).collect()
    }

    /// Returns the Gram indices of the variables in a range of places, if rows have to be gathered.
    pub(crate) fn gather_in(&self, places: Range<usize>) -> Option<Vec<usize>> {
        let ids = self.gather.as_ref()?;
        Some(ids[places.start.min(ids.len())..places.end.min(ids.len())].to_vec())
    }

    /// Copies one value per variable into a padded array.
    pub(crate) fn spread(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut spread = vec![0.0; self.padded()];
        for (&place, value) in self.place.iter().zip(values) {
            spread[place as usize] = value;
        }
        spread
    }

    /// Inverts [`Layout::spread`].
    pub(crate) fn collect(&self, spread: &[f64]) -> Vec<f64> {
        self.place.iter().map(|&place| spread[place as usize]).collect()
    }
}
