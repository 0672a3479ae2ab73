//! The largest of many keys, of which few change at a time.

/// Places in a block, and blocks in a group.
const WIDTH: usize = 64;

/// The largest key of each block of places, and of each group of blocks. The keys themselves are
/// the caller's. None is NaN; −∞ is that of a place that does not take part.
pub(crate) struct Tournament {
    places: usize,
    blocks: Vec<Best>,
    groups: Vec<Best>,
}

/// The largest key of some places, and the first place that has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) key: f64,
    pub(crate) place: usize,
}

impl Best {
    /// Of no places.
    const NONE: Self = Self { key: f64::NEG_INFINITY, place: 0 };

    /// Returns the first of the largest.
    fn among(bests: impl IntoIterator<Item = Self>) -> Self {
        bests.into_iter().fold(Self::NONE, |most, best| if best.key > most.key { best } else { most })
    }
}

impl Tournament {
    /// Creates a tournament of these places with their keys.
    pub(crate) fn new(places: usize, key: impl Fn(usize) -> f64) -> Self {
        let mut tournament = Self { places, blocks: Vec::new(), groups: Vec::new() };
        tournament.blocks = (0..places.div_ceil(WIDTH)).map(|block| tournament.best_of(block, &key)).collect();
        tournament.groups = tournament.blocks.chunks(WIDTH).map(|blocks| Best::among(blocks.iter().copied())).collect();
        tournament
    }

    fn best_of(&self, block: usize, key: impl Fn(usize) -> f64) -> Best {
        let places = block * WIDTH..self.places.min((block + 1) * WIDTH);
        Best::among(places.map(|place| Best { key: key(place), place }))
    }

    /// Returns the largest key.
    pub(crate) fn best(&self) -> Best {
        Best::among(self.groups.iter().copied())
    }

    /// Follows the change of the key of a place to `new`. `key` returns the keys of all places.
    #[inline]
    pub(crate) fn changed(&mut self, place: usize, new: f64, key: impl Fn(usize) -> f64) {
        let block = place / WIDTH;
        let best = self.blocks[block];
        let next = if new > best.key {
            Best { key: new, place }
        } else if best.place == place && new < best.key {
            self.best_of(block, key)
        } else {
            return;
        };
        self.blocks[block] = next;
        let group = block / WIDTH;
        let most = self.groups[group];
        if next.key > most.key {
            self.groups[group] = next;
        } else if most.place / WIDTH == block {
            let blocks = group * WIDTH..self.blocks.len().min((group + 1) * WIDTH);
            self.groups[group] = Best::among(self.blocks[blocks].iter().copied());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Best, Tournament};
    use proptest::prelude::*;

    proptest! {
        /// The largest key is known after any changes.
        #[test]
        fn the_best_is_the_largest_key(
            places in 1_usize..9000,
            changes in prop::collection::vec((any::<prop::sample::Index>(), -9_i32..9, any::<bool>()), 1..300),
        ) {
            let mut keys: Vec<f64> = (0..places).map(|k| f64::from((k * 7919 % 15) as u32) - 7.0).collect();
            prop_assert_eq!(Tournament::new(places, |_| f64::NEG_INFINITY).best(), Best::NONE);
            let mut tournament = Tournament::new(places, |place| keys[place]);
            for (at, key, takes_part) in changes {
                let place = at.index(places);
                keys[place] = if takes_part { f64::from(key) } else { f64::NEG_INFINITY };
                tournament.changed(place, keys[place], |place| keys[place]);
                let largest = keys.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let best = tournament.best();
                prop_assert_eq!(best.key, largest);
                prop_assert!(largest == f64::NEG_INFINITY || keys[best.place] == largest);
            }
        }
    }
}
