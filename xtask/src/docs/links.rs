//! Links of Markdown files, which lead to files of the repository, made links of the site.

use maxmargin_repro::workspace::failure::Outcome;
use std::ops::Range;

/// The place that a link of a file leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Target {
    /// Somewhere that needs no change.
    Unchanged,
    /// A page of the site or of the repository.
    Page(String),
    /// A picture of the repository, which is copied to this place beside the page.
    Picture { file: String, place: String },
    /// A file of the repository that is no page, while the repository has no address: only the
    /// text of the link stays.
    Nowhere,
}

/// Puts all links and pictures right. Code keeps its text.
pub(super) fn rewrite(text: &str, mut target: impl FnMut(&str) -> Outcome<Target>) -> Outcome<String> {
    let mut out = String::with_capacity(text.len());
    // Where in the output the brackets begin that are open.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    let code = code(text);
    let mut code = code.iter().peekable();
    while let Some(c) = text[at..].chars().next() {
        if let Some(range) = code.next_if(|range| range.start == at) {
            out.push_str(&text[range.clone()]);
            at = range.end;
            continue;
        }
        at += c.len_utf8();
        if c == '[' {
            open.push(out.len());
        }
        let bracket = if c == ']' { open.pop() } else { None };
        let link = bracket.and(text[at..].strip_prefix('(')).and_then(|rest| rest.split_once(')'));
        let (Some(begin), Some((link, _))) = (bracket, link) else {
            out.push(c);
            continue;
        };
        at += link.len() + 2;
        match target(link)? {
            Target::Unchanged => out.extend(["](", link, ")"]),
            Target::Page(place) | Target::Picture { place, .. } => out.extend(["](", &place, ")"]),
            Target::Nowhere => drop(out.remove(begin)),
        }
    }
    Ok(out)
}

/// Returns the ranges of fenced blocks and of code within lines.
fn code(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut fence: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match (line.trim_start().starts_with("```"), fence) {
            (true, Some(begin)) => {
                found.push(begin..end);
                fence = None;
            }
            (true, None) => fence = Some(at),
            (false, None) => found.extend(within(line).into_iter().map(|range| at + range.start..at + range.end)),
            (false, Some(_)) => {}
        }
        at = end;
    }
    found
}

/// Returns the ranges of code in one line, with their backticks.
fn within(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = line[at..].find('`').map(|offset| at + offset) {
        let ticks = &line[begin..begin + line[begin..].bytes().take_while(|byte| *byte == b'`').count()];
        let after = begin + ticks.len();
        at = match line[after..].find(ticks) {
            Some(length) => {
                found.push(begin..after + length + ticks.len());
                after + length + ticks.len()
            }
            None => after,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_repro::workspace::failure::fail;

    fn by_name(link: &str) -> Outcome<Target> {
        match link {
            "page.md" => Ok(Target::Page("../page.md".to_owned())),
            "code.rs" => Ok(Target::Nowhere),
            "a.svg" => Ok(Target::Picture { file: "docs/a.svg".to_owned(), place: "a.svg".to_owned() }),
            "gone.md" => fail("gone"),
            _ => Ok(Target::Unchanged),
        }
    }

    #[test]
    fn links_become_those_of_the_site_and_code_stays() {
        let text = "[a\npage](page.md), [the `[x](page.md)` code](code.rs), ![picture](a.svg), [x](https://x.org)\n\
                    ```\n[a](gone.md)\n```\n`[b](gone.md)` and `an open tick [c](page.md)\n";
        let expected = "[a\npage](../page.md), the `[x](page.md)` code, ![picture](a.svg), [x](https://x.org)\n\
                        ```\n[a](gone.md)\n```\n`[b](gone.md)` and `an open tick [c](../page.md)\n";
        assert_eq!(rewrite(text, by_name).expect("no link is gone"), expected);
        assert!(rewrite("[a](gone.md)", by_name).is_err());
    }
}
