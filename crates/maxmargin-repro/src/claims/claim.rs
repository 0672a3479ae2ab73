//! The claims of a paper and their rules, from claims/PAPER.toml of this crate.

use super::look::Look;
use super::rule::Rule;
use crate::cells::record::Record;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The papers with claims, in the order of their numbers.
pub(crate) const PAPERS: [&str; 5] = ["alpha-seeding", "frank-wolfe", "incremental", "linear", "irwls"];

/// The claims of one paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    /// Authors and title.
    pub(crate) paper: String,
    #[serde(rename = "claim")]
    pub(crate) claims: Vec<Claim>,
}

/// One claim, in this project's words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Paper and number, such as `S1.2`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// The place in the paper.
    pub(crate) place: String,
    /// The reason why it holds in part or not at all, shown only then.
    pub(crate) because: Option<String>,
    /// The difference of the rule from the first proposal, and its reason.
    pub(crate) differs: Option<String>,
    #[serde(rename = "part")]
    pub(crate) parts: Vec<Part>,
}

/// A part of a claim that one rule decides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// The name of the figure.
    pub(crate) says: String,
    /// The figures of the rule; none for rules that need none.
    pub(crate) look: Option<Look>,
    pub(crate) rule: Rule,
}

impl Claims {
    pub(crate) fn load(paper: &str) -> Outcome<Self> {
        let path = root().join("crates/maxmargin-repro/claims").join(format!("{paper}.toml"));
        Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())
    }

    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let claims: Self = toml::from_str(text).context("claims")?;
        for claim in &claims.claims {
            for part in &claim.parts {
                if let Err(what) = part.rule.check(part.look.as_ref()) {
                    return fail(format!("{}, `{}`: {what}", claim.id, part.says));
                }
            }
        }
        Ok(claims)
    }
}

/// A paper's spec, its claims, and raw lines.
pub(crate) struct Evidence {
    pub(crate) spec: Spec,
    pub(crate) claims: Claims,
    pub(crate) records: Vec<Record>,
}

impl Evidence {
    /// Reads a paper with the raw lines of a file; none where there is no such file.
    pub(crate) fn read(paper: &str, raw: &Path) -> Outcome<Self> {
        let records = if raw.is_file() { Record::read(raw)? } else { Vec::new() };
        Ok(Self { spec: Spec::load(paper)?, claims: Claims::load(paper)?, records })
    }

    /// Reads all papers with the raw lines under version control.
    pub(crate) fn committed() -> Outcome<Vec<Self>> {
        let raw = |paper: &&str| root().join("docs/reproduction/raw").join(format!("{paper}.jsonl"));
        PAPERS.iter().map(|paper| Self::read(paper, &raw(paper))).collect()
    }
}
