//! What the parts of a claim make of it.

use super::look::{Figure, Missing};
use super::{Claim, Evidence, Part};
use crate::failure::Outcome;

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

/// What is found of a whole claim.
pub(crate) struct Verdict {
    pub(crate) finding: Finding,
    pub(crate) parts: Vec<Decision>,
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

impl Verdict {
    pub(crate) fn of(claim: &Claim, evidence: &Evidence) -> Outcome<Self> {
        let parts: Vec<Decision> = claim.parts.iter().map(|part| part.decide(evidence)).collect::<Outcome<_>>()?;
        let finding = Finding::of(&parts.iter().map(|part| part.finding).collect::<Vec<_>>());
        Ok(Self { finding, parts })
    }

    /// The verdict's words. What only tests show is said to be so.
    pub(crate) fn words(&self) -> String {
        let tested = self.finding == Finding::Holds && self.parts.iter().all(|part| part.tested);
        if tested { "holds (tested)".into() } else { self.finding.words().into() }
    }
}

impl Part {
    pub(super) fn figures(&self, evidence: &Evidence) -> Outcome<(Vec<Figure>, Vec<Figure>)> {
        let of = |look: Option<&super::Look>| {
            look.map_or_else(|| Ok(Vec::new()), |look| look.figures(&evidence.spec, &evidence.records))
        };
        Ok((of(self.look.as_ref())?, of(self.rule.second())?))
    }

    pub(super) fn decide(&self, evidence: &Evidence) -> Outcome<Decision> {
        let (figures, other) = self.figures(evidence)?;
        Ok(self.rule.decide(&figures, &other))
    }
}
