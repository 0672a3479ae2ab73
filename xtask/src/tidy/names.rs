//! Retired names, xtask/tidy/retired.txt: a name that docs/style.md's glossary replaced comes back
//! nowhere.
//!
//! A line is a name, then the crates where it may still stand. A name that ends in `.rs` is that of
//! a file.

/// A name that is no longer used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Retired<'a> {
    name: &'a str,
    /// Crates where it may still stand.
    crates: Vec<&'a str>,
}

/// Returns the names of the list.
pub(super) fn parse(text: &str) -> Vec<Retired<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.filter_map(|words| words.split_first().map(|(name, crates)| Retired { name, crates: crates.to_vec() })).collect()
}

/// Returns the retired names in a file of a crate, each with its first line. `code` is the text
/// with comments and literals blanked.
pub(super) fn check<'a>(list: &[Retired<'a>], place: &str, file: &str, code: &str) -> Vec<(usize, &'a str)> {
    let stem = file.rsplit('/').next().unwrap_or(file);
    let forbidden = list.iter().filter(|retired| !retired.crates.contains(&place));
    let line_of = |name: &str| code.lines().position(|line| super::sources::has_word(line, name)).map(|n| n + 1);
    let first = |name: &str| if super::sources::has_extension(name, "rs") { (stem == name).then_some(1) } else { line_of(name) };
    forbidden.filter_map(|retired| Some((first(retired.name)?, retired.name))).collect()
}

/// Returns the crates where a name may stand and stands no longer, each with the name.
pub(super) fn unused<'a>(list: &[Retired<'a>], stands: impl Fn(&str, &str) -> bool) -> Vec<(&'a str, &'a str)> {
    let all = list.iter().flat_map(|retired| retired.crates.iter().map(move |place| (retired.name, *place)));
    all.filter(|(name, place)| !stands(name, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::{check, parse, unused};

    #[test]
    fn retired_names_are_found_where_they_may_not_stand() {
        let list = parse("# Names.\nFound\nAsking maxmargin-core\nbeside.rs\n");
        assert_eq!(check(&list, "maxmargin-cv", "a.rs", "x\nstruct Found;\nNotFound\n"), [(2, "Found")]);
        assert!(check(&list, "maxmargin-core", "a.rs", "fn f(control: &Asking) {}\n").is_empty());
        assert_eq!(check(&list, "maxmargin-cv", "src/beside.rs", "Asking\n"), [(1, "Asking"), (1, "beside.rs")]);
        assert_eq!(unused(&list, |_, place| place == "x"), [("Asking", "maxmargin-core")]);
    }
}
