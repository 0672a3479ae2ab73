//! Regressions: quick lines against the lines under version control, at the places with figures in
//! both.

use super::claim::{Evidence, Part};
use super::figure::Figure;
use super::finding::Finding;
use crate::workspace::failure::Outcome;
use std::fmt::Write as _;

/// Returns the parts of claims that quick lines can decide, as a table, and those that held and no
/// longer do.
///
/// A rule sees the places with figures in both sets of lines. Seconds of small problems are shown
/// and fail nothing: they are noise.
pub(crate) fn again(before: &[Evidence], now: &[Evidence]) -> Outcome<(String, Vec<String>)> {
    let mut text = String::from("| | part | committed lines | these lines | places |\n| --- | --- | --- | --- | --: |\n");
    let mut lost = Vec::new();
    for (before, now) in before.iter().zip(now) {
        for claim in &before.claims.claims {
            for part in &claim.parts {
                let Some(Comparison { committed, these, places }) = compared(part, before, now)? else { continue };
                let clock = part.look.as_ref().is_some_and(|look| look.value.is_clock());
                let remark = if clock { ", by the clock" } else { "" };
                let _ = writeln!(
                    text,
                    "| {} | {}{remark} | {} | {} | {places} |",
                    claim.id,
                    part.says,
                    committed.words(),
                    these.words()
                );
                // A line without a result counts also where the figure is a time.
                if committed.finding == Finding::Holds
                    && these.finding != Finding::Holds
                    && (!clock || these.figure.starts_with(NO_RESULT))
                {
                    lost.push(format!("{} {}: {} before, {} now", claim.id, part.says, committed.words(), these.words()));
                }
            }
        }
    }
    Ok((text, lost))
}

/// The finding of a rule and the figure that decides it.
struct PartResult {
    finding: Finding,
    figure: String,
}

/// The beginning of a figure that stands for a missing result.
const NO_RESULT: &str = "no result";

impl PartResult {
    /// Returns the result of a rule on these figures.
    fn of(part: &Part, figures: &[Figure], other: &[Figure]) -> Self {
        let decision = part.rule.decide(figures, other);
        Self { finding: decision.finding, figure: decision.figure }
    }

    /// Returns the result in words.
    fn words(&self) -> String {
        let Self { finding, figure } = self;
        if figure.is_empty() { finding.words().to_owned() } else { format!("{} ({figure})", finding.words()) }
    }
}

/// The results of a rule on both sets of lines, at the places with figures in both.
struct Comparison {
    committed: PartResult,
    these: PartResult,
    places: usize,
}

/// Compares a rule's results on both sets of lines. Returns none without common places, or where
/// the committed lines decide nothing.
fn compared(part: &Part, before: &Evidence, now: &Evidence) -> Outcome<Option<Comparison>> {
    let ((mut then, other_then), (mut here, other_here)) = (part.figures(before)?, part.figures(now)?);
    let all: Vec<Figure> = then.iter().filter(|one| !one.nothing()).cloned().collect();
    let known = |all: &[Figure], one: &Figure| {
        all.iter().any(|figure| {
            (&figure.problem, &figure.shown, &figure.variant) == (&one.problem, &one.shown, &one.variant) && !figure.nothing()
        })
    };
    let broken = here.iter().find(|one| one.flaw.is_some() && one.nothing() && known(&then, one));
    let broken = broken.map(|one| format!("{NO_RESULT}: {}: {}", one.name(), one.flaw.clone().unwrap_or_default()));
    let both: Vec<Figure> = then.iter().filter(|one| known(&then, one) && known(&here, one)).cloned().collect();
    then.retain(|one| known(&both, one));
    here.retain(|one| known(&both, one));
    if both.is_empty() && broken.is_none() {
        return Ok(None);
    }
    let places = both.len();
    if let Some(figure) = broken {
        let committed = PartResult::of(part, &all, &other_then);
        let these = PartResult { finding: Finding::Fails, figure };
        return Ok((committed.finding != Finding::Untold).then_some(Comparison { committed, these, places }));
    }
    let (committed, these) = (PartResult::of(part, &then, &other_then), PartResult::of(part, &here, &other_here));
    Ok((committed.finding != Finding::Untold).then_some(Comparison { committed, these, places }))
}
