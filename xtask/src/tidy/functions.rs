//! Rules about functions: their length and how deep their blocks are nested.

/// The most lines of code in a function, without blank lines and comments.
pub(super) const LINES: usize = 60;

/// The most blocks of `if`, `for`, `while`, `loop`, `match` and closures in one another.
pub(super) const LEVELS: usize = 4;

/// Words whose blocks count as levels.
const BRANCHES: [&str; 6] = ["if", "else", "for", "while", "loop", "match"];

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The line of its name, from 1.
    pub(super) line: usize,
    pub(super) lines: usize,
    pub(super) levels: usize,
}

/// Returns the functions of a file, given its text with comments and literals blanked.
pub(super) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if code[..at].chars().next_back().is_some_and(word) {
            continue;
        }
        let name: String = code[at + 3..].chars().take_while(|c| word(*c)).collect();
        let Some(open) = body(code, at).filter(|_| !name.is_empty()) else { continue };
        let end = closing(code, open);
        let lines = code[at..end].lines().filter(|line| !line.trim().is_empty()).count();
        let line = code[..at].matches('\n').count() + 1;
        found.push(Function { name, line, lines, levels: levels(&code[open + 1..end]) });
    }
    found
}

/// The place of the brace that opens the body; none for a declaration or a pointer's type.
fn body(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return None,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at + offset),
            ';' | ',' | '=' if depth == 0 => {
                // `where T: A, U: B` and `-> impl Iterator<Item = T>` go on.
                let head = &code[at..at + offset];
                let goes_on = c != ';'
                    && (head.contains("where") || head.matches('<').count() > head.replace("->", "").matches('>').count());
                if !goes_on {
                    return None;
                }
            }
            _ => {}
        }
    }
    None
}

/// The place behind the brace that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return open + offset + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The most levels in one another within a body.
fn levels(body: &str) -> usize {
    let mut open: Vec<bool> = Vec::new();
    let (mut from, mut most) = (0, 0);
    for (at, c) in body.char_indices() {
        match c {
            '{' => {
                open.push(is_level(&body[from..at]));
                most = most.max(open.iter().filter(|level| **level).count());
            }
            '}' => drop(open.pop()),
            ';' => {}
            _ => continue,
        }
        from = at + 1;
    }
    most
}

/// Whether a block behind this text is a level: one of a branch, a loop or a closure.
fn is_level(before: &str) -> bool {
    let statement = before.rsplit("=>").next().unwrap_or(before).trim();
    let words = |c: char| !(c.is_alphanumeric() || c == '_');
    statement.ends_with('|') || statement.split(words).any(|word| BRANCHES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::functions;

    fn measured(code: &str) -> Vec<(String, usize, usize, usize)> {
        functions(code).into_iter().map(|of| (of.name, of.line, of.lines, of.levels)).collect()
    }

    #[test]
    fn functions_are_measured() {
        let code = "fn a(x: fn(u8) -> u8) -> u8 {\n\n    x(1)\n}\ntrait T {\n    fn b(&self);\n    fn c<I: Iterator<Item = u8>>(i: I)\n    where\n        I: Clone,\n    {\n    }\n}\n";
        assert_eq!(measured(code), [("a".into(), 1, 3, 0), ("c".into(), 7, 5, 0)]);
    }

    #[test]
    fn branches_loops_and_closures_are_levels() {
        let code = "fn a() {\n for x in y {\n  if z {\n   S { a: 1 };\n  } else {\n   match x { 1 => { f(|v| { v }) } _ => {} }\n  }\n }\n}\n";
        assert_eq!(measured(code)[0].3, 4);
        assert_eq!(measured("fn a() { let s = S { x: T { y: 1 } }; if let Some(x) = s { g() } }")[0].3, 1);
    }
}
