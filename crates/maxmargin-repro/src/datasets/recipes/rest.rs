//! Test samples that are the rest of a file.

use crate::workspace::failure::{Outcome, fail};

/// Returns the rows of `all` that are not in `part`. `part` has to be rows of `all` in their order.
pub(crate) fn rest(part: &str, all: &str) -> Outcome<String> {
    let mut rest = String::with_capacity(all.len());
    let mut wanted = part.lines().map(str::trim_end).peekable();
    for line in all.lines() {
        if wanted.peek() == Some(&line.trim_end()) {
            wanted.next();
        } else {
            rest += line;
            rest.push('\n');
        }
    }
    match wanted.next() {
        None => Ok(rest),
        Some(line) => {
            fail(format!("`{}` is no row of the other file behind those before it", line.chars().take(60).collect::<String>()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rest;

    #[test]
    fn rows_that_are_left() {
        assert_eq!(rest("1 1:1 \n-1 2:1\n", "-1 3:1\n1 1:1\n1 1:1\n-1 2:1\n").expect("rest"), "-1 3:1\n1 1:1\n");
        assert!(rest("1 1:1\n1 4:1\n", "1 4:1\n1 1:1\n").unwrap_err().to_string().contains("1 4:1"));
    }
}
