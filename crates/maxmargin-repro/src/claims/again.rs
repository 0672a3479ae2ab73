//! Whether what held still does: quick lines against the lines under version control, at the places
//! that both know.

use super::claim::{Evidence, Part};
use super::figure::Figure;
use super::finding::Finding;
use crate::workspace::failure::Outcome;
use std::fmt::Write as _;

/// The parts of claims that quick lines can tell, as a table, and those that held and no longer do.
/// A rule is tried on equal terms: on the places alone of which both know the figure. Seconds of
/// small problems are shown and fail nothing: they are noise.
pub(crate) fn again(before: &[Evidence], now: &[Evidence]) -> Outcome<(String, Vec<String>)> {
    let mut text = String::from("| | part | committed lines | these lines | places |\n| --- | --- | --- | --- | --: |\n");
    let mut lost = Vec::new();
    for (before, now) in before.iter().zip(now) {
        for claim in &before.claims.claims {
            for part in &claim.parts {
                let Some((then, here, places)) = compared(part, before, now)? else { continue };
                let clock = part.look.as_ref().is_some_and(|look| look.value.is_clock());
                let remark = if clock { ", by the clock" } else { "" };
                let _ = writeln!(text, "| {} | {}{remark} | {} | {} | {places} |", claim.id, part.says, told(&then), told(&here));
                // A line that is no result is none by any clock.
                if then.0 == Finding::Holds && here.0 != Finding::Holds && (!clock || here.1.starts_with(NO_RESULT)) {
                    lost.push(format!("{} {}: {} before, {} now", claim.id, part.says, told(&then), told(&here)));
                }
            }
        }
    }
    Ok((text, lost))
}

type Told = (Finding, String);

/// How a figure begins that is none.
const NO_RESULT: &str = "no result";

fn told((finding, figure): &Told) -> String {
    if figure.is_empty() { finding.words().to_owned() } else { format!("{} ({figure})", finding.words()) }
}

/// What the rule finds in both at the places that both know; nothing where there are none, or where
/// it cannot be told.
fn compared(part: &Part, before: &Evidence, now: &Evidence) -> Outcome<Option<(Told, Told, usize)>> {
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
    let decide = |figures: &[Figure], other: &[Figure]| {
        let decision = part.rule.decide(figures, other);
        (decision.finding, decision.figure)
    };
    if let Some(broken) = broken {
        let (finding, figure) = decide(&all, &other_then);
        return Ok((finding != Finding::Untold).then_some(((finding, figure), (Finding::Fails, broken), both.len())));
    }
    let (then, here) = (decide(&then, &other_then), decide(&here, &other_here));
    Ok((then.0 != Finding::Untold).then_some((then, here, both.len())))
}
