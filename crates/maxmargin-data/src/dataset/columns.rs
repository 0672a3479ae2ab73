//! The columns of a table: names, kinds, and their features.

use crate::text::quote::quoted;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Largest number of characters of a name in messages.
const SHOWN: usize = 60;

/// The kind of the values of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnKind {
    /// Decimal numbers: one feature.
    Number,
    /// `true` and `false`, `yes` and `no`, and their first letters: one feature with the values 1
    /// and 0.
    Boolean,
    /// One of these words, in ascending order: one feature per word, 1 where the column has the
    /// word.
    Category(Vec<String>),
}

/// A column of features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name in the header, or `column 3` in a table without a header.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
}

/// The target column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The name, like [`Column::name`].
    pub name: String,
    /// The words of the column in ascending order: label `k` is the word `names[k]`. Empty if
    /// labels are numbers.
    pub names: Vec<String>,
}

/// Additional words for missing values, and the columns with verbatim words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingWords {
    /// Words for a missing value in every column. A number stands for all fields with the same
    /// value.
    pub words: Vec<String>,
    /// Names of columns in which only empty fields and [`MissingWords::words`] are missing.
    pub verbatim: Vec<String>,
}

/// The columns of a table and their features.
///
/// The features of the columns come first, in the order of the table: [`Columns::width`] features.
/// After them, samples may have one more feature per column ([`Columns::gap`]). It is 1 where the
/// value is missing, and the features of the column are then 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Columns {
    features: Vec<Column>,
    target: Option<Target>,
    /// The first feature of each column, and the width.
    begins: Vec<usize>,
    missing: MissingWords,
}

#[derive(Deserialize)]
#[serde(rename = "Columns")]
struct Unchecked {
    features: Vec<Column>,
    target: Option<Target>,
    begins: Vec<usize>,
    missing: MissingWords,
}

impl TryFrom<Unchecked> for Columns {
    type Error = &'static str;

    fn try_from(given: Unchecked) -> Result<Self, &'static str> {
        let columns = Self::new(given.features, given.target)?.with_missing(given.missing);
        if columns.begins == given.begins { Ok(columns) } else { Err("the features of columns do not follow each other") }
    }
}

impl ColumnKind {
    fn width(&self) -> usize {
        match self {
            Self::Number | Self::Boolean => 1,
            Self::Category(words) => words.len(),
        }
    }

    /// `number`, `boolean` or `category`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Category(_) => "category",
        }
    }
}

impl Columns {
    /// The columns of features, and the target if there is one.
    ///
    /// # Errors
    ///
    /// When two columns have the same name, words do not ascend, or there are 2³² features or more.
    pub fn new(features: Vec<Column>, target: Option<Target>) -> Result<Self, &'static str> {
        let ascending = |words: &[String]| words.is_sorted_by(|a, b| a < b);
        let mut names: Vec<&str> = features.iter().map(|column| &column.name[..]).collect();
        names.extend(target.as_ref().map(|target| &target.name[..]));
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two columns have the same name");
        }
        let words = |column: &Column| if let ColumnKind::Category(words) = &column.kind { ascending(words) } else { true };
        if !features.iter().all(words) || target.as_ref().is_some_and(|target| !ascending(&target.names)) {
            return Err("the words of a column do not ascend");
        }
        let mut begins = vec![0];
        for column in &features {
            begins.push(begins[begins.len() - 1] + column.kind.width());
        }
        if begins[features.len()] + features.len() >= u32::MAX as usize {
            return Err("the columns have too many features");
        }
        Ok(Self { features, target, begins, missing: MissingWords::default() })
    }

    /// Sets additional words for missing values.
    #[must_use]
    pub fn with_missing(mut self, missing: MissingWords) -> Self {
        self.missing = missing;
        self
    }

    /// The additional words for missing values, and the columns with verbatim words.
    pub fn missing(&self) -> &MissingWords {
        &self.missing
    }

    /// The columns of features, in their order.
    pub fn features(&self) -> &[Column] {
        &self.features
    }

    /// The target column, if the table has one.
    pub fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// The words of the labels; empty if labels are numbers.
    pub fn labels(&self) -> &[String] {
        self.target.as_ref().map_or(&[], |target| &target.names)
    }

    /// Returns whether a column or the target has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.features.iter().any(|column| column.name == name) || self.target.as_ref().is_some_and(|target| target.name == name)
    }

    /// Number of features of all columns, without those for missing values.
    pub fn width(&self) -> usize {
        self.begins[self.features.len()]
    }

    /// The features of column `c`.
    ///
    /// # Panics
    ///
    /// When there is no such column.
    pub fn features_of(&self, c: usize) -> Range<usize> {
        self.begins[c]..self.begins[c + 1]
    }

    /// The feature that is 1 where the value of column `c` is missing.
    pub fn gap(&self, c: usize) -> usize {
        self.width() + c
    }

    /// The column that feature `j` belongs to.
    pub fn column_of(&self, j: usize) -> Option<&Column> {
        if j < self.width() {
            self.features.get(self.begins.partition_point(|begin| *begin <= j) - 1)
        } else {
            self.features.get(j - self.width())
        }
    }

    /// The readable name of feature `j`: `age`, or `colour = red`; none if there is no such
    /// feature.
    ///
    /// ```
    /// use maxmargin_data::table::{Column, Columns, ColumnKind};
    ///
    /// let colours = ColumnKind::Category(vec!["blue".to_owned(), "red".to_owned()]);
    /// let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    /// let columns = Columns::new(vec![column("age", ColumnKind::Number), column("colour", colours)], None)?;
    /// assert_eq!(columns.width(), 3);
    /// assert_eq!(columns.feature_name(2).as_deref(), Some("colour = red"));
    /// # Ok::<(), &'static str>(())
    /// ```
    pub fn feature_name(&self, j: usize) -> Option<String> {
        let column = self.column_of(j)?;
        let name = quoted(&column.name, SHOWN);
        if j >= self.width() {
            return Some(format!("{name} is missing"));
        }
        let begin = self.begins[self.begins.partition_point(|begin| *begin <= j) - 1];
        Some(match &column.kind {
            ColumnKind::Category(words) => format!("{name} = {}", quoted(&words[j - begin], SHOWN)),
            _ => name,
        })
    }

    /// Returns whether the samples contain the numbers of the table unchanged: no column has words
    /// or truth values.
    pub fn are_numbers(&self) -> bool {
        self.labels().is_empty() && self.features.iter().all(|column| column.kind == ColumnKind::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let features = vec![
            column("a", ColumnKind::Category(words(&["x", "y"]))),
            column("empty", ColumnKind::Category(Vec::new())),
            column("b", ColumnKind::Boolean),
        ];
        Columns::new(features, Some(Target { name: "t".to_owned(), names: words(&["no", "yes"]) })).expect("columns")
    }

    #[test]
    fn features_are_found_by_column_and_columns_by_feature() {
        let columns = columns();
        assert_eq!((columns.width(), columns.features_of(2), columns.gap(2)), (3, 2..3, 5));
        let names: Vec<_> = (0..7).map(|j| columns.feature_name(j)).collect();
        let of = |name: &str| Some(name.to_owned());
        let expected = [of("a = x"), of("a = y"), of("b"), of("a is missing"), of("empty is missing"), of("b is missing"), None];
        assert_eq!(names, expected);
    }

    #[test]
    fn columns_of_a_damaged_file_are_refused() {
        let columns = columns();
        let read = |columns: &Columns| {
            crate::binary::codec::decode::<Columns>(&crate::binary::codec::encode(columns).expect("bytes"), 4096)
        };
        assert_eq!(read(&columns).as_ref(), Ok(&columns));
        let mut twice = columns.clone();
        twice.features[1].name = "t".to_owned();
        let mut unsorted = columns.clone();
        unsorted.features[0].kind = ColumnKind::Category(vec!["y".to_owned(), "x".to_owned()]);
        let mut shifted = columns.clone();
        shifted.begins[1] = 1;
        for wrong in [twice, unsorted, shifted] {
            assert!(read(&wrong).is_err(), "{wrong:?}");
        }
    }
}
