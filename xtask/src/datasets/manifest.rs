//! datasets/manifest.toml.

use crate::failure::{Context, Outcome, fail};
use crate::tools::root;
use serde::Deserialize;
use std::fs;

/// One file of data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dataset {
    pub(crate) name: String,
    pub(crate) rows: u64,
    /// The greatest feature index.
    pub(crate) features: u64,
    /// 0 for a plain series of numbers.
    pub(crate) classes: u64,
    /// Length of the uncompressed content.
    pub(crate) bytes: u64,
    /// Hash of the uncompressed content, lower-case hexadecimal.
    pub(crate) sha256: String,
    /// Where these very bytes, possibly compressed, are published.
    pub(crate) address: Option<String>,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    #[serde(rename = "dataset")]
    pub(crate) datasets: Vec<Dataset>,
}

impl Manifest {
    pub(crate) fn load() -> Outcome<Self> {
        let path = root().join("datasets/manifest.toml");
        Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        toml::from_str(text).context("manifest")
    }

    pub(crate) fn named(&self, name: &str) -> Outcome<&Dataset> {
        match self.datasets.iter().find(|set| set.name == name) {
            Some(set) => Ok(set),
            None => fail(format!("no data set is called `{name}`; cargo xtask datasets --list shows the names")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Manifest;
    use std::collections::BTreeSet;

    #[test]
    fn entries_are_unique_and_well_formed() {
        let manifest = Manifest::load().expect("manifest");
        let mut names = BTreeSet::new();
        for set in &manifest.datasets {
            assert!(names.insert(&set.name), "{} stands twice", set.name);
            assert_eq!(set.sha256.len(), 64, "{}", set.name);
            assert!(set.sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{}", set.name);
            assert!(set.rows > 0 && set.features > 0 && set.bytes > 0, "{}", set.name);
            assert!(set.address.is_some() || set.note.is_some(), "{} needs an address or a note that says why not", set.name);
        }
        assert!(manifest.named("a9a").is_ok());
        assert!(manifest.named("a9").unwrap_err().to_string().contains("--list"));
    }
}
