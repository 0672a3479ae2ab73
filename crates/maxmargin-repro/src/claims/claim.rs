//! What a paper claims, and the rules by which raw lines decide it: crates/maxmargin-repro/claims/PAPER.toml.

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

/// What one paper claims.
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
    /// Where in the paper.
    pub(crate) place: String,
    /// Why it holds in part or not at all: shown only then.
    pub(crate) because: Option<String>,
    /// Where the rule is not the one that was first proposed, and why.
    pub(crate) differs: Option<String>,
    #[serde(rename = "part")]
    pub(crate) parts: Vec<Part>,
}

/// One thing that a claim says and one rule decides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// What the figure is.
    pub(crate) says: String,
    /// Where the figures are; none for rules that need none.
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

/// A paper, what it claims, and what was measured.
pub(crate) struct Evidence {
    pub(crate) spec: Spec,
    pub(crate) claims: Claims,
    pub(crate) records: Vec<Record>,
}

impl Evidence {
    /// The raw lines of a file; none where there is no such file.
    pub(crate) fn read(paper: &str, raw: &Path) -> Outcome<Self> {
        let records = if raw.is_file() { Record::read(raw)? } else { Vec::new() };
        Ok(Self { spec: Spec::load(paper)?, claims: Claims::load(paper)?, records })
    }

    /// What is under version control.
    pub(crate) fn committed() -> Outcome<Vec<Self>> {
        let raw = |paper: &&str| root().join("docs/reproduction/raw").join(format!("{paper}.jsonl"));
        PAPERS.iter().map(|paper| Self::read(paper, &raw(paper))).collect()
    }
}
