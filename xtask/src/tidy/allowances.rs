//! The list of findings that the tree is allowed for now: xtask/tidy/allowances.txt.
//!
//! A line is `RULE PLACE COUNT`: so many findings of the rule in a crate, or in a file of Markdown.
//! More fail. `cargo xtask tidy --lower` lowers the counts to those of the tree and never raises one.

use super::Finding;
use std::collections::BTreeMap;

/// A finding that counts against an allowance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) rule: &'static str,
    /// The crate, or the file of Markdown.
    pub(super) place: String,
    pub(super) finding: Finding,
}

/// The allowed number of findings by rule and place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allowances(BTreeMap<(String, String), usize>);

impl Allowances {
    /// Reads the list, and returns it with the numbers of lines that are none.
    pub(super) fn parse(text: &str) -> (Self, Vec<usize>) {
        let (mut list, mut broken) = (Self::default(), Vec::new());
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match (&words[..], words.get(2).and_then(|count| count.parse().ok())) {
                ([rule, place, _], Some(count)) => {
                    list.0.insert(((*rule).to_owned(), (*place).to_owned()), count);
                }
                _ => broken.push(n + 1),
            }
        }
        (list, broken)
    }

    /// Returns the findings of all groups that exceed their allowance, and notes on allowances that
    /// are larger than the tree needs.
    pub(super) fn apply(&self, counted: &[Counted]) -> (Vec<Finding>, Vec<String>) {
        let groups = grouped(counted);
        let (mut findings, mut notes) = (Vec::new(), Vec::new());
        for ((rule, place), found) in &groups {
            let allowed = self.0.get(&(rule.clone(), place.clone())).copied().unwrap_or(0);
            if found.len() > allowed {
                let count = format!("{rule} in {place}: {} found, {allowed} allowed: ", found.len());
                findings
                    .extend(found.iter().map(|finding| Finding { what: format!("{count}{}", finding.what), ..(*finding).clone() }));
            }
        }
        for ((rule, place), allowed) in &self.0 {
            let found = groups.get(&(rule.clone(), place.clone())).map_or(0, Vec::len);
            if found < *allowed {
                notes.push(format!("{rule} in {place}: {allowed} allowed, {found} found; cargo xtask tidy --lower"));
            }
        }
        (findings, notes)
    }

    /// Returns the list with every count lowered to that of the tree, as text below the same head.
    pub(super) fn lowered(&self, text: &str, counted: &[Counted]) -> String {
        let groups = grouped(counted);
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        let kept = self.0.iter().filter_map(|(key, allowed)| {
            let count = groups.get(key).map_or(0, Vec::len).min(*allowed);
            (count > 0).then(|| format!("{} {} {count}", key.0, key.1))
        });
        head.into_iter().map(str::to_owned).chain(kept).map(|line| line + "\n").collect()
    }
}

fn grouped(counted: &[Counted]) -> BTreeMap<(String, String), Vec<&Finding>> {
    let mut groups: BTreeMap<(String, String), Vec<&Finding>> = BTreeMap::new();
    for one in counted {
        groups.entry((one.rule.to_owned(), one.place.clone())).or_default().push(&one.finding);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{Allowances, Counted};
    use crate::tidy::Finding;

    fn counted(place: &str, count: usize) -> Vec<Counted> {
        let finding = |line| Finding { file: "a.rs".into(), line, what: "wide".into(), mend: "wrap it" };
        (1..=count).map(|n| Counted { rule: "wide-comment", place: place.into(), finding: finding(n) }).collect()
    }

    #[test]
    fn counts_may_fall_and_not_rise() {
        let text = "# Head.\nwide-comment a 2\nwide-comment b 5\n";
        let (list, broken) = Allowances::parse(text);
        assert!(broken.is_empty());
        assert_eq!(list.apply(&[counted("a", 2), counted("b", 5)].concat()), (Vec::new(), Vec::new()));
        let (findings, notes) = list.apply(&[counted("a", 3), counted("b", 4)].concat());
        assert_eq!((findings.len(), notes.len()), (3, 1));
        assert!(findings[0].what.contains("3 found, 2 allowed"), "{}", findings[0].what);
        assert_eq!(list.apply(&counted("c", 1)).0.len(), 1, "a place that is not listed has no allowance");
        let lower = list.lowered(text, &[counted("a", 3), counted("b", 4)].concat());
        assert_eq!(lower, "# Head.\nwide-comment a 2\nwide-comment b 4\n");
        assert_eq!(list.lowered(text, &[]), "# Head.\n");
    }

    #[test]
    fn lines_that_are_no_allowance_are_found() {
        assert_eq!(Allowances::parse("# x\na b 1\na b\na b c\n").1, [3, 4]);
    }
}
