//! The manifest of data files, datasets/manifest.toml.

use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use serde::Deserialize;
use std::fs;

/// A file of data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestEntry {
    /// The name of the file without compression.
    pub name: String,
    /// Samples.
    pub rows: u64,
    /// The greatest feature index.
    pub features: u64,
    /// Classes, 0 for a plain series of numbers.
    pub classes: u64,
    /// Length of the uncompressed content.
    pub bytes: u64,
    /// Hash of the uncompressed content, lower-case hexadecimal.
    pub sha256: String,
    /// The address of these bytes, possibly compressed.
    pub address: Option<String>,
    /// A remark for people, such as why there is no address.
    pub note: Option<String>,
}

/// All data files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The files, in the order of the manifest.
    #[serde(rename = "dataset")]
    pub datasets: Vec<ManifestEntry>,
}

impl Manifest {
    /// Reads the manifest of the workspace.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or its text is no manifest.
    pub fn load() -> Outcome<Self> {
        let path = root().join("datasets/manifest.toml");
        Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())
    }

    /// Reads a manifest from its text.
    ///
    /// # Errors
    ///
    /// If the text is no manifest.
    pub fn parse(text: &str) -> Outcome<Self> {
        toml::from_str(text).context("manifest")
    }

    /// Returns the data set of this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(&self, name: &str) -> Outcome<&ManifestEntry> {
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
