//! What the parts of a claim make of it.

use super::claim::{Claim, Evidence, Part};
use super::figure::Figure;
use super::finding::{Decision, Finding};
use super::look::Look;
use crate::workspace::failure::Outcome;

/// What is found of a whole claim.
pub(crate) struct Verdict {
    pub(crate) finding: Finding,
    pub(crate) parts: Vec<Decision>,
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
        let of =
            |look: Option<&Look>| look.map_or_else(|| Ok(Vec::new()), |look| look.figures(&evidence.spec, &evidence.records));
        Ok((of(self.look.as_ref())?, of(self.rule.second())?))
    }

    pub(super) fn decide(&self, evidence: &Evidence) -> Outcome<Decision> {
        let (figures, other) = self.figures(evidence)?;
        Ok(self.rule.decide(&figures, &other))
    }
}
