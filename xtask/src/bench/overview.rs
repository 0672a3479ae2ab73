//! The README's picture: seconds of LIBSVM and of this project on the same files, from the raw lines of those reports that have both.

use super::axis::Axis;
use super::numbers::{seconds, times};
use super::record::Record;
use super::spec::Spec;
use super::svg::{Anchor, Svg, width};
use super::table::measured;
use crate::failure::Outcome;

/// Both programs on one problem.
struct Pair {
    name: String,
    theirs: f64,
    ours: f64,
}

/// What one command of a user takes.
pub(crate) struct Group {
    title: &'static str,
    pairs: Vec<Pair>,
}

/// Where a group's figures stand: paper, table, setting, variant.
const SOURCES: [(&str, u32, &str, &str, &str); 2] = [
    ("alpha-seeding", 1, "folds=libsvm", "full", "10-fold cross-validation, LIBSVM's own folds"),
    ("training", 1, "threads=2", "auto", "one training (LIBSVM on one thread, its only way)"),
];

const LABELS: f64 = 14.0;
const LONGEST: f64 = 430.0;
const STEP: f64 = 26.0;
const HEAD: f64 = 66.0;
/// Room above the rows of a group for its title, below for ticks and their words.
const ABOVE: f64 = 34.0;
const BELOW: f64 = 52.0;

/// The figures of a paper's raw lines, if the picture shows some.
pub(crate) fn group(spec: &Spec, records: &[Record]) -> Outcome<Option<Group>> {
    let Some((_, number, setting, variant, title)) = SOURCES.iter().find(|source| source.0 == spec.name) else { return Ok(None) };
    let Some(table) = spec.tables.iter().find(|table| table.number == *number && table.from.is_empty()) else { return Ok(None) };
    let mut pairs = Vec::new();
    for row in measured(spec, table, records)? {
        let theirs = row.peer.as_ref().filter(|peer| peer.counted().is_some()).map(|peer| peer.seconds);
        let wanted = row.cell.shown == *setting && row.cell.variant == *variant && row.counted().is_some();
        if let Some(theirs) = theirs.filter(|_| wanted) {
            pairs.push(Pair { name: row.cell.problem.clone(), theirs, ours: row.ours.seconds });
        }
    }
    Ok(Some(Group { title, pairs }).filter(|group| !group.pairs.is_empty()))
}

/// Draws the groups below each other, on one axis.
pub(crate) fn picture(groups: &[Group]) -> Svg {
    let all = || groups.iter().flat_map(|group| &group.pairs);
    let names = all().map(|pair| width(&pair.name)).fold(40.0, f64::max);
    let axis = Axis::over(all().flat_map(|pair| [pair.theirs, pair.ours]), true);
    let height: f64 = groups.iter().map(|group| ABOVE + BELOW + STEP * group.pairs.len() as f64).sum();
    let left = LABELS + names + 12.0;
    let mut svg = Svg::new(left + LONGEST + 150.0, HEAD + height);
    svg.text(
        (LABELS, 25.0),
        Anchor::Start,
        "big",
        "Seconds of whole processes, reading the file and proving the result included",
    );
    for (n, (x, name)) in [(LABELS + 5.0, "LIBSVM"), (LABELS + 95.0, "maxmargin")].into_iter().enumerate() {
        svg.dot((x, 46.0), 1 - n, 5.0);
        svg.text((x + 10.0, 50.0), Anchor::Start, "", name);
    }
    let mut top = HEAD;
    for group in groups {
        let rows = top + ABOVE;
        let bottom = rows + STEP * group.pairs.len() as f64;
        svg.text((LABELS, rows - 12.0), Anchor::Start, "strong", group.title);
        for (tick, text) in axis.ticks() {
            let x = left + LONGEST * axis.place(tick);
            svg.line((x, rows), (x, bottom), "grid");
            svg.text((x, bottom + 16.0), Anchor::Middle, "small quiet", &text);
        }
        svg.line((left, bottom), (left + LONGEST, bottom), "axis");
        svg.text((left + 0.5 * LONGEST, bottom + 34.0), Anchor::Middle, "quiet", "seconds");
        for (n, pair) in group.pairs.iter().enumerate() {
            let y = rows + STEP * (n as f64 + 0.5);
            let [theirs, ours] = [pair.theirs, pair.ours].map(|value| left + LONGEST * axis.place(value));
            svg.text((left - 10.0, y + 4.0), Anchor::End, "", &pair.name);
            svg.line((theirs, y), (ours, y), "axis");
            svg.dot((theirs, y), 1, 5.0);
            svg.dot((ours, y), 0, 5.0);
            let [theirs, ours, ratio] = [clock(pair.theirs), clock(pair.ours), times(pair.theirs / pair.ours)];
            svg.text((left + LONGEST + 10.0, y + 4.0), Anchor::Start, "small", &format!("{theirs} : {ours} = {ratio}×"));
        }
        top = bottom + BELOW;
    }
    svg
}

/// Seconds, or milliseconds where they are few.
fn clock(x: f64) -> String {
    if x < 0.1 { format!("{:.0} ms", 1e3 * x) } else { format!("{} s", seconds(x)) }
}

#[cfg(test)]
mod tests {
    use super::{Group, Pair, picture};

    #[test]
    fn every_pair_has_its_name_and_its_ratio() {
        let pairs =
            vec![Pair { name: "a9a".into(), theirs: 50.0, ours: 2.0 }, Pair { name: "w8a".into(), theirs: 0.5, ours: 0.025 }];
        let text = picture(&[Group { title: "one training", pairs }]).document();
        assert!(text.contains(">a9a</text>") && text.contains("50.0 s : 2.00 s = 25×"), "{text}");
        assert!(text.contains("0.50 s : 25 ms = 20×") && text.matches("class=\"grid\"").count() >= 3, "{text}");
    }
}
