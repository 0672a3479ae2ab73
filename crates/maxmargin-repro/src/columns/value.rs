//! A value that a column shows of a row: known, bounded, or absent.

use crate::cells::row::Row;

/// What stands where there is no figure.
pub(crate) const NOTHING: &str = "–";

/// A column: what specs call it, its heading, and what it shows of a row.
pub(crate) struct Column {
    pub(super) name: &'static str,
    /// `{peer}` is the table's first peer, `{second}` its second, `{of}` the variant that the spec
    /// names.
    pub(super) heading: &'static str,
    /// Whether the spec names a variant.
    pub(super) wants: bool,
    /// Words stand left, numbers right.
    pub(super) words: bool,
    pub(super) of: fn(&Place) -> Shown,
    pub(super) format: fn(f64) -> String,
}

/// What a column looks at: a row, the rows beside it, and the variant that the spec names.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) row: &'a Row,
    pub(crate) of: &'a str,
}

/// A figure, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    Nothing,
    Words(String),
    Is(f64),
    /// More than this.
    Over(f64),
    /// Less than this.
    Under(f64),
}

impl Shown {
    pub(super) fn known(&self) -> Option<f64> {
        if let Self::Is(x) = self { Some(*x) } else { None }
    }

    pub(super) fn text(self, format: fn(f64) -> String) -> String {
        match self {
            Self::Nothing => NOTHING.to_owned(),
            // A bar would end the cell.
            Self::Words(words) => words.replace('|', "/"),
            Self::Is(x) => format(x),
            Self::Over(x) => format!("> {}", format(x)),
            Self::Under(x) => format!("< {}", format(x)),
        }
    }
}

impl From<Option<f64>> for Shown {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Is)
    }
}

/// The first as a multiple of the second, as far as it is known.
pub(crate) fn quotient(over: Shown, under: Shown) -> Shown {
    match (over, under) {
        (Shown::Is(over), Shown::Is(under)) => Shown::Is(over / under),
        (Shown::Over(over), Shown::Is(under)) => Shown::Over(over / under),
        (Shown::Is(over), Shown::Over(under)) => Shown::Under(over / under),
        _ => Shown::Nothing,
    }
}
