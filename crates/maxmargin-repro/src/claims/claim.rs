//! The claims of a paper and their rules, from claims/PAPER.toml of this crate.

use super::look::Look;
use super::rule::Rule;
use super::sheets::Sheets;
use crate::cells::record::Record;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The papers with claims, in the order of their numbers.
pub(crate) const PAPERS: [&str; 5] = ["alpha-seeding", "frank-wolfe", "incremental", "linear", "irwls"];

/// The claims of one paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaperClaims {
    /// Authors and title.
    pub(crate) paper: String,
    /// By name, evidence that the reproduction is fair to the paper: the method is the printed
    /// one, and what else the paper prints of the experiment comes out here. A claim that is
    /// not whole is the paper's if all that it names holds, otherwise ours.
    #[serde(default)]
    pub(crate) fair: BTreeMap<String, Part>,
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
    /// The names of the evidence that the reproduction is fair: see [`PaperClaims::fair`].
    #[serde(default)]
    pub(crate) fair: Vec<String>,
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

impl PaperClaims {
    /// Returns the evidence that the reproduction of a claim is fair.
    pub(crate) fn fair(&self, claim: &Claim) -> impl Iterator<Item = &Part> {
        claim.fair.iter().filter_map(|name| self.fair.get(name))
    }

    pub(crate) fn load(paper: &str) -> Outcome<Self> {
        let path = root().join("crates/maxmargin-repro/claims").join(format!("{paper}.toml"));
        Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())
    }

    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let claims: Self = toml::from_str(text).context("claims")?;
        let parts = claims.claims.iter().flat_map(|claim| claim.parts.iter().map(|part| (&claim.id, part)));
        for (of, part) in parts.chain(&claims.fair) {
            if let Err(what) = part.rule.check(part.look.as_ref()) {
                return fail(format!("{of}, `{}`: {what}", part.says));
            }
        }
        for claim in &claims.claims {
            if let Some(name) = claim.fair.iter().find(|name| !claims.fair.contains_key(*name)) {
                return fail(format!("{}: no evidence is called `{name}`", claim.id));
            }
        }
        Ok(claims)
    }
}

/// A paper's claims, its spec and raw lines.
pub(crate) struct Evidence {
    pub(crate) claims: PaperClaims,
    pub(crate) sheets: Sheets,
}

impl Evidence {
    /// Reads the claims of a paper, for these raw lines.
    pub(crate) fn of(paper: &str, records: Vec<Record>) -> Outcome<Self> {
        Ok(Self { claims: PaperClaims::load(paper)?, sheets: Sheets::new(Spec::load(paper)?, records) })
    }

    /// Reads a paper with the raw lines of a file; none where there is no such file.
    pub(crate) fn read(paper: &str, raw: &Path) -> Outcome<Self> {
        Self::of(paper, if raw.is_file() { Record::read(raw)? } else { Vec::new() })
    }

    /// Reads all papers with the raw lines under version control.
    pub(crate) fn committed() -> Outcome<Vec<Self>> {
        let raw = |paper: &&str| root().join("docs/reproduction/raw").join(format!("{paper}.jsonl"));
        PAPERS.iter().map(|paper| Self::read(paper, &raw(paper))).collect()
    }
}
