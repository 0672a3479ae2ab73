//! The verdict on a claim, from the decisions on its parts.

use super::claim::{Claim, Evidence, Part};
use super::figure::Figure;
use super::finding::{Decision, Finding};
use super::look::Look;
use crate::workspace::failure::Outcome;

/// The verdict on a whole claim.
pub(crate) struct Verdict {
    pub(crate) finding: Finding,
    pub(crate) parts: Vec<Decision>,
    /// On the evidence that the reproduction is fair.
    pub(crate) fair: Vec<Decision>,
}

/// The side at fault for a claim that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A part fails in a reproduction that is fair to the paper.
    Paper,
    /// Figures are missing, or the reproduction is not shown to be fair.
    Ours,
}

impl Fault {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Paper => "the paper's",
            Self::Ours => "ours",
        }
    }
}

impl Verdict {
    pub(crate) fn of(claim: &Claim, evidence: &Evidence) -> Outcome<Self> {
        let parts: Vec<Decision> = claim.parts.iter().map(|part| part.decide(evidence)).collect::<Outcome<_>>()?;
        let fair = evidence.claims.fair(claim).map(|part| part.decide(evidence)).collect::<Outcome<_>>()?;
        let finding = Finding::of(&parts.iter().map(|part| part.finding).collect::<Vec<_>>());
        Ok(Self { finding, parts, fair })
    }

    /// Returns the side at fault; none for a claim that holds.
    pub(crate) fn fault(&self) -> Option<Fault> {
        if self.finding == Finding::Holds {
            return None;
        }
        let fair = !self.fair.is_empty() && self.fair.iter().all(|part| part.finding == Finding::Holds);
        let fails = self.parts.iter().any(|part| matches!(part.finding, Finding::Fails | Finding::Partly));
        Some(if fair && fails { Fault::Paper } else { Fault::Ours })
    }

    /// Returns the verdict's words, with a remark where tests alone show it.
    pub(crate) fn words(&self) -> String {
        let tested = self.finding == Finding::Holds && self.parts.iter().all(|part| part.tested);
        if tested { "holds (tested)".into() } else { self.finding.words().into() }
    }
}

impl Part {
    pub(super) fn figures(&self, evidence: &Evidence) -> Outcome<(Vec<Figure>, Vec<Figure>)> {
        let of = |look: Option<&Look>| look.map_or_else(|| Ok(Vec::new()), |look| look.figures(&evidence.sheets));
        Ok((of(self.look.as_ref())?, of(self.rule.second())?))
    }

    pub(super) fn decide(&self, evidence: &Evidence) -> Outcome<Decision> {
        let (figures, other) = self.figures(evidence)?;
        Ok(self.rule.decide(&figures, &other))
    }
}
