//! The order of a problem's variables in the solver's arrays, and how kernel rows are read in that
//! order.

use maxmargin_core::{Dual, Segment};
use std::ops::Range;

/// The largest number of runs that are read from a row in place. Problems with more runs read a
/// gathered copy of the row.
const MOST_PIECES: usize = 32;

/// Pieces begin at multiples of this, so that each begins at a whole byte of the packed sets.
const ALIGN: usize = 64;

/// The longest run of columns without a variable that stays inside a piece. A pass takes longer to
/// begin another piece than to visit so many columns. The variables that a fold leaves out are such
/// runs.
const GAP: usize = 128;

/// A run of columns that is contiguous in a kernel row and in the solver's arrays. At least half of
/// them belong to variables of the problem.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The columns of a kernel row.
    pub(crate) columns: Range<usize>,
    /// The place of the first column in the solver's (padded) arrays.
    pub(crate) at: usize,
}

/// The order of the solver's arrays: the pieces of the problem, each padded to a multiple of
/// [`ALIGN`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pieces: Vec<Piece>,
    /// The place of each variable.
    place: Vec<u32>,
    /// The Gram index at each place; `usize::MAX` at places without a variable.
    ids: Vec<usize>,
    /// The Gram indices in place order, if rows have to be gathered.
    gather: Option<Vec<usize>>,
}

/// Consecutive segments of a problem that one piece holds.
struct Run {
    columns: Range<usize>,
    segments: usize,
    variables: usize,
}

/// Joins segments across short gaps.
fn runs_of(dual: &Dual) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for Segment { ids, .. } in dual.segments() {
        if let Some(run) = runs.last_mut()
            && (run.columns.end..=run.columns.end + GAP).contains(&ids.start)
            && ids.end - run.columns.start <= 2 * (run.variables + ids.len())
        {
            run.columns.end = ids.end;
            run.segments += 1;
            run.variables += ids.len();
        } else {
            runs.push(Run { columns: ids.clone(), segments: 1, variables: ids.len() });
        }
    }
    runs
}

impl Layout {
    pub(crate) fn new(dual: &Dual) -> Self {
        let runs = runs_of(dual);
        let scattered = runs.len() > MOST_PIECES;
        let mut pieces = Vec::new();
        let mut place = Vec::with_capacity(dual.len());
        let mut ids = Vec::with_capacity(2 * dual.len() + ALIGN * MOST_PIECES);
        if scattered {
            pieces.push(Piece { columns: 0..dual.len(), at: 0 });
            place.extend(0..dual.len() as u32);
            ids.extend_from_slice(dual.ids());
        } else {
            let mut segments = dual.segments().iter();
            for run in runs {
                let at = ids.len().next_multiple_of(ALIGN);
                for segment in segments.by_ref().take(run.segments) {
                    ids.resize(at + segment.ids.start - run.columns.start, usize::MAX);
                    place.extend((0..segment.ids.len()).map(|k| (ids.len() + k) as u32));
                    ids.extend(segment.ids.clone());
                }
                pieces.push(Piece { columns: run.columns, at });
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
    #[cfg(test)]
    fn place(&self, k: usize) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(ids: &[usize]) -> (Layout, Dual) {
        let sign: Vec<f64> = (0..ids.len()).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let dual = Dual::c_svc(ids.to_vec(), sign, vec![1.0; ids.len()]).expect("two classes");
        (Layout::new(&dual), dual)
    }

    #[test]
    fn short_gaps_stay_inside_a_piece() {
        let columns = |ids: &[usize]| layout(ids).0.pieces.into_iter().map(|piece| piece.columns).collect::<Vec<_>>();
        let without = |gap: Range<usize>| (0..1000).filter(|i| !gap.contains(i)).collect::<Vec<usize>>();
        assert_eq!(columns(&without(300..300 + GAP)), vec![0..1000]);
        assert_eq!(columns(&without(300..301 + GAP)), vec![0..300, 301 + GAP..1000]);
        // A gap among few variables: most columns would belong to none.
        assert_eq!(columns(&[0, 1, 2, 100, 101, 102]), vec![0..3, 100..103]);
        // The twins of a regression begin again at the first sample.
        assert_eq!(columns(&[0, 1, 2, 0, 1, 2]), vec![0..3, 0..3]);
    }

    proptest! {
        /// Every variable has the place of its column in its piece, and the values of variables
        /// survive a way through the padded arrays.
        #[test]
        fn places_are_those_of_columns(drawn in prop::collection::vec(0_usize..3000, 2..400), whole in any::<bool>()) {
            let mut ids = drawn;
            if whole {
                ids = ids.into_iter().flat_map(|i| i..i + 20).collect();
            }
            ids.sort_unstable();
            ids.dedup();
            let (layout, dual) = layout(&ids);
            prop_assert!(layout.padded().is_multiple_of(ALIGN));
            for (k, &id) in dual.ids().iter().enumerate() {
                let place = layout.place(k);
                prop_assert_eq!(layout.id(place), id);
                let piece = layout.pieces.iter().find(|piece| (piece.at..piece.at + piece.columns.len()).contains(&place));
                let piece = piece.expect("a piece holds the place");
                prop_assert_eq!(piece.at % ALIGN, 0);
                prop_assert!(layout.gather.is_some() || piece.columns.start + place - piece.at == id);
            }
            let values: Vec<f64> = (0..dual.len()).map(|k| k as f64 + 1.0).collect();
            prop_assert_eq!(layout.collect(&layout.spread(values.iter().copied())), values);
        }
    }
}
