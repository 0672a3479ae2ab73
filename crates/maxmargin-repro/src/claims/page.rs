//! The page of all verdicts, docs/reproduction/README.md, and the shorter forms of it in reports
//! and on a terminal.

use super::claim::{Claim, Evidence};
use super::figure::Missing;
use super::finding::{Decision, Finding};
use super::verdict::Verdict;
use crate::numbers::format::capital;
use crate::numbers::groups::grouped;
use crate::workspace::failure::Outcome;
use std::fmt::Write as _;

/// The most missing cells that the page names one by one.
const NAMED: usize = 12;

const FINDINGS: [Finding; 4] = [Finding::Holds, Finding::Partly, Finding::Fails, Finding::Untold];

/// Returns the whole page.
pub(crate) fn page(papers: &[Evidence]) -> Outcome<String> {
    let mut text = String::from(
        "# What five papers claim, and whether it holds here\n\n\
         <!-- Written by `cargo xtask bench --verdicts`. Do not edit. -->\n\n\
         Every claim in this project's own words, with a verdict that is computed from the raw lines in [raw](raw) by a rule of\n\
         [crates/maxmargin-repro/claims](../../crates/maxmargin-repro/claims): nobody types it, and new lines change it. *Cannot be told here* means that lines are\n\
         missing which the rule needs; the verdict is made as soon as they are there. *Tested* means arithmetic that a test of the crates\n\
         shows. A ratio is slower over faster, so that more than 1 speaks for the paper's method; papers, machines and programs differ, so\n\
         that seconds are compared within one machine only. The rules stand below each table, part by part, with the command that measures.\n\n\
         `cargo xtask bench --stale` lists the lines that are older than the crates which they measure. `cargo xtask bench\n\
         --recheck 40` measures 40 random cells again and fails where a count is another one.\n\n",
    );
    text += &counts(papers)?;
    for evidence in papers {
        let _ = write!(text, "\n## {}\n\n[The whole report]({}.md)\n\n", evidence.claims.paper, evidence.spec.name);
        text += "| | claim | verdict | what decides | why not, or what is missing |\n| --- | --- | --- | --- | --- |\n";
        let mut rules = String::new();
        for claim in &evidence.claims.claims {
            let verdict = Verdict::of(claim, evidence)?;
            let _ = writeln!(
                text,
                "| {} | {} *({})* | **{}** | {} | {} |",
                linked(claim, evidence),
                bare(&claim.text),
                bare(&claim.place),
                verdict.words(),
                bare(&decisive(claim, &verdict)),
                bare(&why(claim, &verdict))
            );
            rules += &parts(claim, &verdict, evidence);
        }
        let _ = write!(text, "\n<details><summary>The rules, part by part</summary>\n\n{rules}\n</details>\n");
    }
    Ok(text)
}

/// Returns the table of verdicts: the number of claims of each paper with each of them.
pub(crate) fn counts(papers: &[Evidence]) -> Outcome<String> {
    let mut text = String::from(
        "| paper | claims | hold | in part | do not hold | cannot be told |\n| --- | --: | --: | --: | --: | --: |\n",
    );
    let mut sums = [0; 4];
    for evidence in papers {
        let found = findings(evidence)?;
        let of = FINDINGS.map(|finding| found.iter().filter(|found| **found == finding).count());
        sums.iter_mut().zip(of).for_each(|(sum, n)| *sum += n);
        let _ = writeln!(text, "| {} | {} | {} |", evidence.claims.paper, found.len(), of.map(|n| n.to_string()).join(" | "));
    }
    let all: usize = sums.iter().sum();
    let _ = writeln!(text, "| all | {all} | {} |", sums.map(|n| n.to_string()).join(" | "));
    Ok(text)
}

/// Returns the claims of one paper and their verdicts, a line each, for the top of its report.
pub(crate) fn brief(evidence: &Evidence) -> Outcome<String> {
    let mut text = String::new();
    for claim in &evidence.claims.claims {
        let verdict = Verdict::of(claim, evidence)?;
        let figure = decisive(claim, &verdict);
        let figure = if figure.is_empty() { figure } else { format!(" {}.", capital(&figure)) };
        let why = why(claim, &verdict);
        let why = if why.is_empty() { why } else { format!(" {why}.").replace("..", ".") };
        let _ = writeln!(text, "- **{}: {}.** {}.{figure}{why}", claim.id, verdict.words(), claim.text);
    }
    Ok(text)
}

fn findings(evidence: &Evidence) -> Outcome<Vec<Finding>> {
    evidence.claims.claims.iter().map(|claim| Ok(Verdict::of(claim, evidence)?.finding)).collect()
}

/// Returns a text without line breaks and bars, which would end a cell of a table.
fn bare(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

/// Returns the claim's number as a link to the first table that its rules look at.
fn linked(claim: &Claim, evidence: &Evidence) -> String {
    let table = claim.parts.iter().find_map(|part| part.look.as_ref()?.table(&evidence.spec));
    let anchor = table.map_or(String::new(), |table| format!("#{}", slug(&table.heading())));
    format!("[{}]({}.md{anchor})", claim.id, evidence.spec.name)
}

/// Returns a heading's anchor, as GitHub makes it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the figures that decide the verdict: those of the first part with the same finding. A
/// claim that holds in part shows two parts with different findings.
fn decisive(claim: &Claim, verdict: &Verdict) -> String {
    let of = |finding| {
        let told = claim.parts.iter().zip(&verdict.parts).find(|(_, decision)| decision.finding == finding)?;
        let (part, Decision { figure, .. }) = told;
        (!figure.is_empty()).then(|| format!("{}: {figure}", part.says))
    };
    let wanted: &[Finding] = match verdict.finding {
        Finding::Partly => &[Finding::Holds, Finding::Partly, Finding::Fails],
        other => &[other],
    };
    wanted.iter().filter_map(|finding| of(*finding)).take(2).collect::<Vec<_>>().join("; ")
}

fn why(claim: &Claim, verdict: &Verdict) -> String {
    let mut said = Vec::new();
    if matches!(verdict.finding, Finding::Partly | Finding::Fails) {
        said.extend(claim.because.clone());
    }
    let mut cells: Vec<&Missing> = verdict.parts.iter().flat_map(|part| &part.missing).collect();
    cells.sort();
    cells.dedup();
    let tables = grouped(cells, |cell| cell.table).into_iter().map(|cells| {
        let problems: Vec<&str> =
            grouped(&cells, |cell| &cell.problem).into_iter().map(|same| same[0].problem.as_str()).collect();
        let many = if cells.len() == 1 { "one cell".to_owned() } else { format!("{} cells", cells.len()) };
        format!("{many} of table {} ({})", cells[0].table, problems.join(", "))
    });
    let missing: Vec<String> = tables.chain(verdict.parts.iter().filter_map(|part| part.awaits.clone())).collect();
    if !missing.is_empty() {
        said.push(format!("Without figures: {}", missing.join("; ")));
    }
    said.join(" ")
}

fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let named = names[..names.len() - more].join("; ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Returns the rules of a claim, their findings, and the commands that measure it.
fn parts(claim: &Claim, verdict: &Verdict, evidence: &Evidence) -> String {
    let mut text = format!("- **{}**", claim.id);
    let mut tables: Vec<u32> =
        claim.parts.iter().filter_map(|part| Some(part.look.as_ref()?.table(&evidence.spec)?.number)).collect();
    tables.sort_unstable();
    tables.dedup();
    if !tables.is_empty() {
        let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
        let _ = write!(text, " `cargo xtask bench {} --table {}`", evidence.spec.name, tables.join(","));
    }
    text += "\n";
    for (part, decision) in claim.parts.iter().zip(&verdict.parts) {
        let figure = if decision.figure.is_empty() { String::new() } else { format!(" ({})", decision.figure) };
        let missing = match &decision.missing[..] {
            [] => String::new(),
            cells => format!("; without figures: {}", few(&cells.iter().map(ToString::to_string).collect::<Vec<_>>())),
        };
        let missing = decision.awaits.as_ref().map_or(missing, |what| format!("; waits for {what}"));
        let _ = writeln!(text, "  - {}: {}: *{}*{figure}{missing}", part.says, part.rule.words(), decision.finding.words());
    }
    if let Some(differs) = &claim.differs {
        let _ = writeln!(text, "  - Not as first proposed: {differs}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{few, slug};

    #[test]
    fn anchors_are_those_that_github_makes() {
        assert_eq!(slug("Table 1: k = 10"), "table-1-k--10");
        assert_eq!(
            slug("Table 2: test accuracy, percent, means of five seeds"),
            "table-2-test-accuracy-percent-means-of-five-seeds"
        );
    }

    #[test]
    fn many_names_are_cut_short() {
        let names: Vec<String> = (0..15).map(|n| n.to_string()).collect();
        assert_eq!(few(&names), "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11 and 3 more");
        assert_eq!(few(&names[..2]), "0; 1");
    }
}
