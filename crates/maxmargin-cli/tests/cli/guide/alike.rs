//! Comparison of texts, except for values that depend on the machine.

/// Units of what is measured: where it depends on the machine, so does its unit.
const TIMES: [&str; 3] = ["s", "m", "h"];
const SIZES: [&str; 6] = ["bytes", "B", "KiB", "MiB", "GiB", "TiB"];
const THREADS: [&str; 2] = ["thread", "threads"];

/// Returns whether `found` matches `said`. A line `...` of `said` stands for any number of lines.
pub(crate) fn alike(said: &str, found: &str) -> bool {
    let (said, found) = (lines(said), lines(found));
    matches(&said, &found)
}

/// Returns the replacement of `said` where `found` is printed: the lines that stood there
/// with today's numbers, shortened where they were, or all of `found` if that would not be the same
/// as it.
pub(crate) fn shortened(said: &str, found: &str) -> String {
    let lines: Vec<&str> = found.lines().map(str::trim_end).collect();
    let mut at = 0;
    // Of the lines that differ in numbers alone, the one that shares most words: a row of a table
    // is known by its first.
    let mut next = |said: &str| {
        let shared =
            |line: &str| line.split_whitespace().zip(said.split_whitespace()).filter(|(found, said)| found == said).count();
        let like = (at..lines.len()).filter(|&other| shape(lines[other]) == shape(said));
        let best = like.max_by_key(|&other| (shared(lines[other]), std::cmp::Reverse(other)))?;
        at = best + 1;
        Some(lines[best])
    };
    let short: Option<Vec<&str>> = said.lines().map(|said| if said.trim() == "..." { Some(said) } else { next(said) }).collect();
    short.map(|lines| lines.join("\n")).filter(|short| alike(short, found)).unwrap_or_else(|| found.trim_end().to_owned())
}

/// The words of a line, its numbers as that they are some.
fn shape(line: &str) -> Vec<&str> {
    line.split_whitespace().map(|word| if number(word).is_some() { "(number)" } else { word }).collect()
}

fn matches(said: &[Vec<String>], found: &[Vec<String>]) -> bool {
    match said.split_first() {
        None => found.is_empty(),
        Some((line, rest)) if line.len() == 1 && line[0] == "..." => (0..=found.len()).any(|skip| matches(rest, &found[skip..])),
        Some((line, rest)) => found.split_first().is_some_and(|(first, others)| same(line, first) && matches(rest, others)),
    }
}

/// The words of every line, measured ones as what they measure. Blanks between them, which go by
/// the longest of a column, and empty lines do not count.
fn lines(text: &str) -> Vec<Vec<String>> {
    let mut seconds = false;
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut line = measured(&words);
        // The last column of a table, until a line such as `best: …`.
        let is_row = !line.first().is_some_and(|first| first.ends_with(':'));
        seconds = match line.last_mut() {
            Some(last) if last == "seconds" => true,
            Some(last) if seconds && is_row && number(last).is_some() => {
                "(time)".clone_into(last);
                true
            }
            _ => false,
        };
        all.push(line);
    }
    all
}

/// The words with every run of numbers and units of time, size or threads as one.
fn measured(words: &[&str]) -> Vec<String> {
    let mut line: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let unit = words.get(at + 1).map(|unit| unit.trim_end_matches(|c: char| !c.is_alphabetic())).unwrap_or_default();
        let kinds = [(&TIMES[..], "(time)"), (&SIZES[..], "(size)"), (&THREADS[..], "(threads)")];
        let kind = kinds.iter().find(|(units, _)| units.contains(&unit)).filter(|_| number(words[at]).is_some());
        match kind {
            Some((_, kind)) if line.last().is_some_and(|last| last == kind) => at += 2,
            Some((_, kind)) => {
                line.push((*kind).to_owned());
                at += 2;
            }
            None => {
                line.push(words[at].to_owned());
                at += 1;
            }
        }
    }
    line
}

fn same(said: &[String], found: &[String]) -> bool {
    said.len() == found.len() && said.iter().zip(found).all(|(said, found)| said == found || close(said, found))
}

/// Returns whether both are numbers that differ only in the last digits of a sum
/// (docs/architecture.md, "Determinism"), or in what is 0 but for rounding. Counts are equal or
/// not.
fn close(said: &str, found: &str) -> bool {
    let count = |word: &str| !word.contains(['.', 'e']);
    match (number(said), number(found)) {
        (Some(said_value), Some(value)) if !(count(said) && count(found)) => {
            (said_value - value).abs() <= 1e-3 * value.abs() || said_value.abs().max(value.abs()) < 1e-9
        }
        _ => false,
    }
}

/// The number that a word is, but for the marks around it.
fn number(word: &str) -> Option<f64> {
    let marks = |c: char| !c.is_ascii_digit() && c != '-' && c != '+' && c != '.';
    let word = word.trim_matches(marks).trim_end_matches('.');
    if word.contains(|c: char| c.is_alphabetic() && c != 'e') { None } else { word.replace(',', "").parse().ok() }
}
