//! The variables of a round, in an order in which their rows serve both signs.

use maxmargin_core::Dual;

/// The variables of a round and the rows of its matrix. Two variables of one row (a regression
/// sample has one for each sign) share it.
pub(crate) struct RoundLayout {
    pub(crate) set: Vec<usize>,
    /// The rows of the whole matrix that the round uses.
    pub(crate) ids: Vec<usize>,
    /// The position among `ids` of each variable's row.
    pub(crate) row: Vec<usize>,
}

impl RoundLayout {
    /// Orders the variables of `set`.
    ///
    /// Without shared rows everything keeps its order. Otherwise the variables of each sign are
    /// contiguous, and so are their rows: first the rows of the positive sign alone, then shared
    /// rows, then rows of the negative sign alone.
    pub(crate) fn new(dual: &Dual, set: &[usize]) -> Self {
        let of_sign = |sign: f64| set.iter().copied().filter(move |&k| dual.sign()[k] == sign);
        let mut plus: Vec<bool> = vec![false; dual.ids().iter().max().map_or(0, |most| most + 1)];
        let mut minus = plus.clone();
        let mut once = true;
        for (sign, seen) in [(1.0, &mut plus), (-1.0, &mut minus)] {
            of_sign(sign).for_each(|k| once &= !std::mem::replace(&mut seen[dual.ids()[k]], true));
        }
        let both = |k: &usize| plus[dual.ids()[*k]] && minus[dual.ids()[*k]];
        if !once || !set.iter().any(both) {
            let ids: Vec<usize> = set.iter().map(|&k| dual.ids()[k]).collect();
            return Self { set: set.to_vec(), row: (0..ids.len()).collect(), ids };
        }
        // Variables whose row is shared have the same order in both signs: that of their rows.
        let shared = |sign: f64| {
            let mut shared: Vec<usize> = of_sign(sign).filter(both).collect();
            shared.sort_by_key(|&k| dual.ids()[k]);
            shared
        };
        let single = |sign: f64| of_sign(sign).filter(|k| !both(k));
        let (first, second, third): (Vec<usize>, Vec<usize>, Vec<usize>) =
            (single(1.0).collect(), shared(1.0), single(-1.0).collect());
        let ids: Vec<usize> = [&first, &second, &third].into_iter().flatten().map(|&k| dual.ids()[k]).collect();
        let row = (0..first.len() + second.len()).chain(first.len()..ids.len()).collect();
        Self { set: [first, second, shared(-1.0), third].concat(), ids, row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_core::{BiasTerm, Loss, SideCosts};

    #[test]
    fn twins_of_a_round_share_their_row() {
        let dual = Dual::svr(Loss::Hinge, BiasTerm::Free, vec![4, 5, 6, 7], &[0.0; 4], SideCosts::equal(&[1.0; 4]), 0.1)
            .expect("a problem");
        let RoundLayout { set, ids, row } = RoundLayout::new(&dual, &[0, 2, 3, 5, 6, 7]);
        assert_eq!((set, ids), (vec![0, 2, 3, 6, 7, 5], vec![4, 6, 7, 5]));
        assert_eq!(row, [0, 1, 2, 1, 2, 3]);
        let apart = RoundLayout::new(&dual, &[0, 1, 6]);
        assert_eq!((apart.set, apart.ids, apart.row), (vec![0, 1, 6], vec![4, 5, 6], vec![0, 1, 2]));
    }
}
