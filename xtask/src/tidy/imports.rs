//! The paths that a file of Rust uses, read from its code with comments and literals blanked.

/// A path that code uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Used {
    /// Its segments, such as `crate`, `a`, `Name`.
    pub(super) path: Vec<String>,
    /// The name under which code knows it.
    pub(super) name: String,
    /// Whether the module exports it again.
    pub(super) exported: bool,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the code without its modules that are compiled for tests alone.
pub(super) fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
        kept += before;
        rest = behind_item(after);
        // Lines keep their numbers.
        let left_out = &after[..after.len() - rest.len()];
        kept.extend(left_out.chars().filter(|c| *c == '\n'));
    }
    kept + rest
}

/// Returns what follows the item at the beginning: behind its braces, or its semicolon.
fn behind_item(code: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return &code[at + 1..],
            '}' => depth -= 1,
            ';' if depth == 0 => return &code[at + 1..],
            _ => {}
        }
    }
    ""
}

/// Returns every path of the code: those of `use`, and those in other code that begin with `crate`
/// or `super`.
pub(super) fn paths(code: &str) -> Vec<Used> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut other = String::new();
    while let Some(at) = next_use(rest) {
        let statement = &rest[at + 4..];
        let Some(end) = statement.find(';') else { break };
        let line = rest[..at].rsplit(['\n', ';', '}', '{']).next().unwrap_or_default();
        expand(&[], &statement[..end], line.contains("pub"), &mut found);
        other += &rest[..at];
        rest = &statement[end + 1..];
    }
    other += rest;
    found.extend(inline(&other));
    found
}

/// The place of the next `use` that is a word of its own.
fn next_use(code: &str) -> Option<usize> {
    code.match_indices("use ").map(|(at, _)| at).find(|at| !code[..*at].chars().next_back().is_some_and(is_word))
}

/// Adds the paths of a tree of `use`, such as `a::{b, c as d}`, below a prefix.
fn expand(prefix: &[String], tree: &str, exported: bool, found: &mut Vec<Used>) {
    let tree = tree.trim();
    if let Some((head, inner)) = tree.split_once('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(head.split("::").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned));
        let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
        parts(inner).into_iter().for_each(|part| expand(&prefix, part, exported, found));
    } else if !tree.is_empty() {
        let (path, renamed) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
        let mut path: Vec<String> = prefix.iter().cloned().chain(path.split("::").map(|word| word.trim().to_owned())).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self" || last == "*") {
            path.pop();
        }
        let name = renamed.map_or_else(|| path.last().cloned().unwrap_or_default(), str::to_owned);
        found.push(Used { path, name, exported });
    }
}

/// The parts of a list between braces, at its commas.
fn parts(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[from..]);
    parts
}

/// The paths outside of `use` that begin with `crate::` or `super::`.
fn inline(code: &str) -> Vec<Used> {
    let starts = ["crate::", "super::"].into_iter().flat_map(|start| code.match_indices(start));
    let path = |(at, _): (usize, &str)| {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == ':' || c == '$') {
            return None;
        }
        let text: String = code[at..].chars().take_while(|c| is_word(*c) || *c == ':').collect();
        let path: Vec<String> = text.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Some(Used { name: path.last()?.clone(), path, exported: false })
    };
    starts.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::{paths, without_tests};

    fn text(code: &str) -> Vec<String> {
        paths(code)
            .into_iter()
            .map(|used| format!("{}{}", if used.exported { "pub " } else { "" }, used.path.join("/")))
            .collect()
    }

    #[test]
    fn trees_are_expanded() {
        assert_eq!(text("use a::{b::{c, self}, d as e};\npub(crate) use f::*;"), ["a/b/c", "a/b", "a/d", "pub f"]);
        assert_eq!(text("fn f(x: super::A) { crate::b::g() }"), ["crate/b/g", "super/A"]);
        assert_eq!(text("reuse x; use super::super::a::B;"), ["super/super/a/B"]);
    }

    #[test]
    fn modules_of_tests_are_left_out() {
        let code = "use a;\n#[cfg(test)]\nmod tests {\n use b; fn f() { {} }\n}\n#[cfg(test)]\nmod more;\nuse c;";
        assert_eq!(text(&without_tests(code)), ["a", "c"]);
    }
}
