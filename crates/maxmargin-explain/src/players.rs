//! Players of the games: features, or groups of features.

use maxmargin_data::Encoder;
use maxmargin_data::table::Columns;
use maxmargin_model::Model;

/// The player of each feature.
///
/// A column of a table that became several features (one for each word, one for gaps) is one
/// player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Players {
    of: Vec<u32>,
    count: usize,
}

impl Players {
    /// Every feature is a player.
    pub fn features(features: usize) -> Self {
        Self { of: (0..features as u32).collect(), count: features }
    }

    /// Groups of features: entry `j` is the player of feature `j`. Players are numbered from 0; a
    /// player without a feature has the value 0.
    pub fn groups(of: Vec<u32>) -> Self {
        let count = of.iter().max().map_or(0, |most| *most as usize + 1);
        Self { of, count }
    }

    /// Every column of a table is a player, with the feature that marks its missing values.
    pub fn columns(columns: &Columns) -> Self {
        let mut of = vec![0; columns.width() + columns.features().len()];
        for c in 0..columns.features().len() {
            columns.features_of(c).chain([columns.gap(c)]).for_each(|j| of[j] = c as u32);
        }
        Self { of, count: columns.features().len() }
    }

    /// The players of a model whose kernel sees this many features: the columns of its table, or
    /// each feature where it has none.
    pub fn of_model(model: &Model, features: usize) -> Self {
        columns_of(model).map_or_else(|| Self::features(features), Self::columns)
    }

    /// Number of players of [`Players::of_model`].
    pub(crate) fn count_of_model(model: &Model, features: usize) -> usize {
        columns_of(model).map_or(features, |columns| columns.features().len())
    }

    /// Number of players.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no players.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of features that have a player.
    pub fn features_covered(&self) -> usize {
        self.of.len()
    }

    /// The player of each feature.
    pub fn of_features(&self) -> &[u32] {
        &self.of
    }

    /// The player of a feature.
    pub(crate) fn of(&self, feature: usize) -> usize {
        self.of[feature] as usize
    }
}

/// The columns of a model whose rows are encoded: its features are theirs.
fn columns_of(model: &Model) -> Option<&Columns> {
    model.parts().encoder.as_ref().map(Encoder::columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_counted_by_their_numbers() {
        let groups = Players::groups(vec![0, 2, 2]);
        assert_eq!((groups.len(), groups.features_covered(), groups.of(1)), (3, 3, 2));
        assert!(Players::features(0).is_empty() && Players::groups(Vec::new()).is_empty());
    }
}
