//! The page of all verdicts, docs/reproduction/README.md, and the shorter forms of it in reports
//! and on a terminal.

use super::claim::{Claim, Evidence};
use super::figure::Missing;
use super::finding::{Decision, Finding};
use super::verdict::{Fault, Verdict};
use crate::numbers::format::capital;
use crate::numbers::groups::grouped;
use crate::numbers::wrap::wrapped_item;
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
         A claim that is not whole is *the paper's* if a part of it fails although the reproduction is fair: the method is the printed one,\n\
         by tests, and what else the paper prints of the experiment comes out here. Otherwise it is *ours*: something is not measured, or\n\
         differs from the paper. [One list](#claims-that-are-not-whole) has them all, with that evidence.\n\n\
         `cargo xtask bench --stale` lists the lines that are older than the crates which they measure. `cargo xtask bench\n\
         --recheck 40` measures 40 random cells again and fails where a count is another one.\n\n",
    );
    text += &counts(papers)?;
    for evidence in papers {
        let _ = write!(text, "\n## {}\n\n[The whole report]({}.md)\n\n", evidence.claims.paper, evidence.sheets.spec.name);
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
                words(&verdict),
                bare(&decisive(claim, &verdict)),
                bare(&why(claim, &verdict))
            );
            rules += &parts(claim, &verdict, evidence);
        }
        let _ = write!(
            text,
            "\n<details><summary>The rules, part by part</summary>\n\n{rules}{}\n</details>\n",
            fair_rules(evidence)
        );
    }
    text += &not_whole(papers)?;
    Ok(text)
}

/// Returns the verdict's words and the side at fault.
fn words(verdict: &Verdict) -> String {
    verdict.fault().map_or_else(|| verdict.words(), |fault| format!("{}, {}", verdict.words(), fault.words()))
}

/// Returns the claims that are not whole, with the side at fault, the reason, and the evidence that
/// decides the side.
fn not_whole(papers: &[Evidence]) -> Outcome<String> {
    let mut text = String::from("\n## Claims that are not whole\n\n");
    for evidence in papers {
        for claim in &evidence.claims.claims {
            let verdict = Verdict::of(claim, evidence)?;
            let Some(fault) = verdict.fault() else { continue };
            let why = sentence(&why(claim, &verdict));
            let item = format!(
                "- {}: **{}**, {}. {}.{why} Is it fair? {}.",
                linked(claim, evidence),
                fault.words(),
                verdict.words(),
                claim.text,
                fairness(claim, &verdict, evidence)
            );
            text += &wrapped_item(&item);
        }
    }
    Ok(text)
}

/// Returns a sentence with a blank before it, or nothing.
fn sentence(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" {words}.").replace("..", ".") }
}

/// Returns the evidence that the reproduction is fair, with what was found.
fn fairness(claim: &Claim, verdict: &Verdict, evidence: &Evidence) -> String {
    if claim.fair.is_empty() {
        return "Nothing shows it".into();
    }
    let parts = evidence.claims.fair(claim).zip(&verdict.fair);
    let all: Vec<String> = parts.map(|(part, decision)| format!("{}: {}", part.says, decided(decision))).collect();
    capital(&all.join("; "))
}

/// Returns the finding and the figure that decides it.
fn decided(decision: &Decision) -> String {
    let figure = if decision.figure.is_empty() { String::new() } else { format!(" ({})", decision.figure) };
    format!("*{}*{figure}", decision.finding.words())
}

/// Returns the table of verdicts: the number of claims of each paper with each of them, and of
/// those that are not whole, whose fault it is.
pub(crate) fn counts(papers: &[Evidence]) -> Outcome<String> {
    let mut text = String::from(
        "| paper | claims | hold | in part | do not hold | cannot be told | not whole: the paper's | ours |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let mut sums = [0; 6];
    for evidence in papers {
        let verdicts: Vec<Verdict> =
            evidence.claims.claims.iter().map(|claim| Verdict::of(claim, evidence)).collect::<Outcome<_>>()?;
        let count = |of: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| of(verdict)).count();
        let findings = FINDINGS.map(|finding| count(&|verdict| verdict.finding == finding));
        let faults = [Fault::Paper, Fault::Ours].map(|fault| count(&|verdict| verdict.fault() == Some(fault)));
        let all: Vec<usize> = findings.into_iter().chain(faults).collect();
        sums.iter_mut().zip(&all).for_each(|(sum, n)| *sum += n);
        let _ = writeln!(text, "| {} | {} | {} |", evidence.claims.paper, verdicts.len(), joined(&all));
    }
    let all: usize = sums[..FINDINGS.len()].iter().sum();
    let _ = writeln!(text, "| all | {all} | {} |", joined(&sums));
    Ok(text)
}

fn joined(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
}

/// Returns the claims of one paper and their verdicts, a line each, for the top of its report.
pub(crate) fn brief(evidence: &Evidence) -> Outcome<String> {
    let mut text = String::new();
    for claim in &evidence.claims.claims {
        let verdict = Verdict::of(claim, evidence)?;
        let figure = decisive(claim, &verdict);
        let figure = if figure.is_empty() { figure } else { format!(" {}.", capital(&figure)) };
        let why = sentence(&why(claim, &verdict));
        text += &wrapped_item(&format!("- **{}: {}.** {}.{figure}{why}", claim.id, words(&verdict), claim.text));
    }
    Ok(text)
}

/// Returns a text without line breaks and bars, which would end a cell of a table.
fn bare(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

/// Returns the claim's number as a link to the first table that its rules look at.
fn linked(claim: &Claim, evidence: &Evidence) -> String {
    let table = claim.parts.iter().find_map(|part| evidence.sheets.table(part.look.as_ref()?.table));
    let anchor = table.map_or(String::new(), |table| format!("#{}", slug(&table.heading())));
    format!("[{}]({}.md{anchor})", claim.id, evidence.sheets.spec.name)
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
        claim.parts.iter().filter_map(|part| Some(evidence.sheets.table(part.look.as_ref()?.table)?.number)).collect();
    tables.sort_unstable();
    tables.dedup();
    if !tables.is_empty() {
        let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
        let _ = write!(text, " `cargo xtask bench {} --table {}`", evidence.sheets.spec.name, tables.join(","));
    }
    text += "\n";
    for (part, decision) in claim.parts.iter().zip(&verdict.parts) {
        let missing = match &decision.missing[..] {
            [] => String::new(),
            cells => format!("; without figures: {}", few(&cells.iter().map(ToString::to_string).collect::<Vec<_>>())),
        };
        let missing = decision.awaits.as_ref().map_or(missing, |what| format!("; waits for {what}"));
        let item = format!("  - {}: {}: {}{missing}", part.says, part.rule.words(), decided(decision));
        text += &wrapped_item(&item);
    }
    if let Some(differs) = &claim.differs {
        text += &wrapped_item(&format!("  - Not as first proposed: {differs}"));
    }
    text
}

/// Returns the rules by which the reproduction of a paper counts as fair, by the names that claims
/// have for them.
fn fair_rules(evidence: &Evidence) -> String {
    if evidence.claims.fair.is_empty() {
        return String::new();
    }
    let mut text = String::from("- **Fair to the paper**, each for the claims that rest on it\n");
    for (name, part) in &evidence.claims.fair {
        let claims = evidence.claims.claims.iter().filter(|claim| claim.fair.contains(name));
        let of: Vec<&str> = claims.map(|claim| claim.id.as_str()).collect();
        text += &wrapped_item(&format!("  - {} ({}): {}", part.says, of.join(", "), part.rule.words()));
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
