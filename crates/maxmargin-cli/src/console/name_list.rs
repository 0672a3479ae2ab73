//! Lists of names in one value of an option: separated by commas, and quoted as the fields of a CSV
//! file.

use std::str::FromStr;

/// The names of one value of an option, such as `a,"b,c"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameList(Vec<String>);

impl FromStr for NameList {
    type Err = String;

    /// Splits at commas. A name that begins with a double quote ends at the next one, and holds
    /// commas, and double quotes that are doubled.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut names, mut rest) = (Vec::new(), text);
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted_name(quoted).ok_or_else(|| {
                    "a name in double quotes ends with one, before a comma or the end; quotes in it are doubled".to_owned()
                })?,
                None => rest.split_once(',').map_or((rest.to_owned(), None), |(name, after)| (name.to_owned(), Some(after))),
            };
            names.push(name);
            match after {
                Some(after) => rest = after,
                None => return Ok(Self(names)),
            }
        }
    }
}

/// Returns the name up to its closing quote, and the text behind the comma that follows, if there
/// is one; none without a closing quote, or if other text follows it.
fn quoted_name(text: &str) -> Option<(String, Option<&str>)> {
    let (mut name, mut rest) = (String::new(), text);
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None if after.is_empty() => return Some((name, None)),
            None => return Some((name, Some(after.strip_prefix(',')?))),
        }
    }
}

/// Returns the names of an option that may be repeated.
pub(crate) fn names(lists: &[NameList]) -> Vec<String> {
    lists.iter().flat_map(|list| &list.0).cloned().collect()
}

/// Returns the value of an option with these names.
pub(crate) fn joined(names: &[String]) -> String {
    let one = |name: &String| {
        let needs_quotes = name.contains(',') || name.starts_with('"');
        if needs_quotes { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_in_csv() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("", vec![""]),
            ("a,b 2,,5\"", vec!["a", "b 2", "", "5\""]),
            ("\"a,b\",c", vec!["a,b", "c"]),
            ("c,\"a \"\"x\"\", b\"", vec!["c", "a \"x\", b"]),
            ("\"\",\"\"\"\"", vec!["", "\""]),
        ] {
            let list: NameList = text.parse().expect("a list");
            assert_eq!(list.0, expected, "{text}");
            assert_eq!(joined(&list.0).parse(), Ok(list), "{text}");
        }
        for text in ["\"a", "\"a,b", "\"a\"b", "x,\"\"\""] {
            assert!(text.parse::<NameList>().is_err(), "{text}");
        }
    }
}
