//! Findings of single rules.

use super::figure::Missing;

/// What one rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Holds,
    Partly,
    Fails,
    /// The figures that there are allow of both.
    Untold,
}

/// One rule's finding, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) finding: Finding,
    /// The figure that decides it; empty where there is none.
    pub(crate) figure: String,
    /// Cells without figures.
    pub(crate) missing: Vec<Missing>,
    /// What would have to be measured that no cell does.
    pub(crate) awaits: Option<String>,
    /// Shown by a test of the crates, not by raw lines.
    pub(crate) tested: bool,
}

impl Finding {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "holds in part",
            Self::Fails => "does not hold",
            Self::Untold => "cannot be told here",
        }
    }

    /// Several parts: all hold, none does, or some do. Parts that cannot be told keep a claim from
    /// holding, not from failing.
    pub(crate) fn of(parts: &[Self]) -> Self {
        let has = |finding| parts.contains(&finding);
        match (has(Self::Holds) || has(Self::Partly), has(Self::Fails), has(Self::Untold)) {
            (true, false, false) if !has(Self::Partly) => Self::Holds,
            (true, ..) => Self::Partly,
            (false, true, _) => Self::Fails,
            (false, false, _) => Self::Untold,
        }
    }
}
