//! The README's picture: seconds of LIBSVM, of scikit-learn-intelex and of this project on the same
//! files, from the raw lines of those reports that have them.

use crate::cells::machine::HostMachine;
use crate::cells::record::Record;
use crate::numbers::format::{seconds, times};
use crate::searches::grids;
use crate::specs::spec::Spec;
use crate::tables::rows::measured;
use crate::workspace::failure::{Context, Outcome};
use maxmargin_plot::{Anchor, Axis, Point, Svg, width};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All programs on one problem.
struct Row {
    name: String,
    libsvm: f64,
    /// LIBSVM built with the OpenMP lines of its Makefile.
    openmp: Option<f64>,
    intelex: Option<f64>,
    ours: f64,
}

/// The seconds of one command of a user on several problems.
pub(crate) struct Group {
    title: String,
    /// The processors that its rows were measured on.
    processors: BTreeSet<String>,
    rows: Vec<Row>,
}

/// A measurement of a call from Python.
#[derive(Deserialize)]
struct Call {
    work: String,
    data: String,
    program: String,
    seconds: f64,
    machine: HostMachine,
}

/// The place of a group's figures in the tables of a paper.
struct Source {
    paper: &'static str,
    table: u32,
    setting: &'static str,
    variant: &'static str,
    /// The title of the group.
    title: &'static str,
}

const SOURCES: [Source; 2] = [
    Source {
        paper: "alpha-seeding",
        table: 1,
        setting: "folds=libsvm",
        variant: "auto",
        title: "10-fold cross-validation on two threads, LIBSVM's own folds (LIBSVM as it is shipped: one thread)",
    },
    Source {
        paper: "training",
        table: 1,
        setting: "threads=2",
        variant: "auto",
        title: "one training on two threads (LIBSVM as it is shipped has one; a build with its OpenMP lines has two)",
    },
];

const LABELS: f64 = 14.0;
const LONGEST: f64 = 430.0;
const STEP: f64 = 26.0;
const HEAD: f64 = 80.0;
/// Room for the ratios of a row.
const RATIOS: f64 = 290.0;
/// The colours of the programs.
const OURS: usize = 0;
const LIBSVM: usize = 1;
const INTELEX: usize = 2;
const OPENMP: usize = 3;
/// Room above the rows of a group for its title, below for ticks and their words.
const ABOVE: f64 = 34.0;
const BELOW: f64 = 52.0;

/// Returns the figures of a paper's raw lines, if the picture shows some.
pub(crate) fn group(spec: &Spec, records: &[Record]) -> Outcome<Option<Group>> {
    let Some(source) = SOURCES.iter().find(|source| source.paper == spec.name) else { return Ok(None) };
    let Some(table) = spec.tables.iter().find(|table| table.number == source.table && table.from.is_empty()) else {
        return Ok(None);
    };
    let (mut rows, mut processors) = (Vec::new(), BTreeSet::new());
    for row in measured(spec, table, records)? {
        let wanted = row.cell.shown == source.setting && row.cell.variant == source.variant && row.counted().is_some();
        if let Some(theirs) = row.peer_seconds().filter(|_| wanted) {
            let openmp = row.second_seconds();
            processors.insert(row.ours.machine.cpu.clone());
            let (name, ours) = (row.cell.problem.clone(), row.ours.seconds);
            rows.push(Row { name, libsvm: theirs, openmp, intelex: None, ours });
        }
    }
    Ok(Some(Group { title: source.title.to_owned(), processors, rows }).filter(|group| !group.rows.is_empty()))
}

/// Returns the seconds of searches, from the lines of `cargo xtask grids` and from this file of
/// `cargo xtask peers`.
pub(crate) fn searches(calls: &Path) -> Outcome<Option<Group>> {
    let text = fs::read_to_string(calls).context(calls.display())?;
    let calls: Vec<Call> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context(calls.display())?;
    let row = |one: grids::Search| Row {
        intelex: intelex(&calls, &one.data, &one.machine),
        name: one.data,
        libsvm: one.libsvm_seconds,
        openmp: None,
        ours: one.seconds,
    };
    let rows: Vec<Row> = grids::searches()?.into_iter().map(row).collect();
    let title = format!(
        "search of {} pairs of C and γ, five folds of at most 5,000 rows, two threads (LIBSVM: one, a third of the pairs)",
        grids::CELLS
    );
    Ok(Some(Group { title, processors: grids::processors()?, rows }).filter(|group| !group.rows.is_empty()))
}

/// Returns the median seconds of the same search by scikit-learn-intelex, if it was measured on
/// this machine.
fn intelex(calls: &[Call], data: &str, machine: &HostMachine) -> Option<f64> {
    let ending = format!(" of {} cells", grids::CELLS);
    let same = |call: &&Call| {
        let known = call.machine.is_same_host(machine)
            && call.data.strip_prefix(data).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        known && call.program == "scikit-learn-intelex" && call.work.starts_with("GridSearchCV") && call.work.ends_with(&ending)
    };
    let mut found: Vec<f64> = calls.iter().filter(same).map(|call| call.seconds).collect();
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied()
}

/// Draws the groups below each other, on one axis.
pub(crate) fn picture(groups: &[Group]) -> Svg {
    let all = || groups.iter().flat_map(|group| &group.rows);
    let names = all().map(|row| width(&row.name)).fold(40.0, f64::max);
    let axis = Axis::over(all().flat_map(|row| [row.libsvm, row.ours].into_iter().chain(row.intelex).chain(row.openmp)), true);
    let height: f64 = groups.iter().map(|group| ABOVE + BELOW + STEP * group.rows.len() as f64).sum();
    let left = LABELS + names + 12.0;
    let mut svg = Svg::new(left + LONGEST + RATIOS, HEAD + height);
    head(&mut svg, groups);
    let mut top = HEAD;
    for group in groups {
        top = paint(&mut svg, group, (left, top + ABOVE), &axis) + BELOW;
    }
    svg
}

/// Draws the title, the legend and the processors.
fn head(svg: &mut Svg, groups: &[Group]) {
    let all = || groups.iter().flat_map(|group| &group.rows);
    let title = "Seconds of whole processes, reading the file and proving the result included";
    svg.text((LABELS, 25.0), Anchor::Start, "big", title);
    let programs = [
        (OURS, "maxmargin", 100.0),
        (LIBSVM, "LIBSVM", 80.0),
        (OPENMP, "LIBSVM with OpenMP", 160.0),
        (INTELEX, "scikit-learn-intelex, a call from Python", 0.0),
    ];
    let shown = programs.iter().filter(|program| match program.0 {
        INTELEX => all().any(|row| row.intelex.is_some()),
        OPENMP => all().any(|row| row.openmp.is_some()),
        _ => true,
    });
    let mut x = LABELS + 5.0;
    for (n, name, wide) in shown {
        svg.dot((x, 46.0), *n, 5.0);
        svg.text((x + 10.0, 50.0), Anchor::Start, "", name);
        x += wide;
    }
    let processors: BTreeSet<&str> = groups.iter().flat_map(|group| &group.processors).map(String::as_str).collect();
    let hardware = processors.into_iter().collect::<Vec<_>>().join(", ");
    svg.text((LABELS, 70.0), Anchor::Start, "small quiet", &format!("two cores: {hardware}"));
}

/// Draws a group whose area begins at this point. Returns the area's lower end.
fn paint(svg: &mut Svg, group: &Group, (left, rows): Point, axis: &Axis) -> f64 {
    let bottom = rows + STEP * group.rows.len() as f64;
    svg.text((LABELS, rows - 12.0), Anchor::Start, "strong", &group.title);
    for (tick, text) in axis.ticks() {
        let x = left + LONGEST * axis.place(tick);
        svg.line((x, rows), (x, bottom), "grid");
        svg.text((x, bottom + 16.0), Anchor::Middle, "small quiet", &text);
    }
    svg.line((left, bottom), (left + LONGEST, bottom), "axis");
    svg.text((left + 0.5 * LONGEST, bottom + 34.0), Anchor::Middle, "quiet", "seconds");
    for (n, row) in group.rows.iter().enumerate() {
        let y = rows + STEP * (n as f64 + 0.5);
        let place = |value: f64| (left + LONGEST * axis.place(value), y);
        let others = [(LIBSVM, Some(row.libsvm)), (OPENMP, row.openmp), (INTELEX, row.intelex)];
        let others = others.into_iter().filter_map(|(n, value)| Some((n, value?)));
        svg.text((left - 10.0, y + 4.0), Anchor::End, "", &row.name);
        svg.line(place(others.clone().map(|(_, value)| value).fold(row.ours, f64::max)), place(row.ours), "axis");
        others.for_each(|(n, value)| svg.dot(place(value), n, 5.0));
        svg.dot(place(row.ours), OURS, 5.0);
        svg.text((left + LONGEST + 10.0, y + 4.0), Anchor::Start, "small", &row.ratios());
    }
    bottom
}

impl Row {
    /// Returns the row's text: `2.70 s; LIBSVM 60.0 s, 24×; with OpenMP 33.1 s, 13×; intelex 87.4
    /// s, 32×`
    fn ratios(&self) -> String {
        let beside = |name: &str, value: f64| format!("; {name} {}, {}×", clock(value), times(value / self.ours));
        let intelex = self.intelex.map_or_else(String::new, |value| beside("intelex", value));
        let openmp = self.openmp.map_or_else(String::new, |value| beside("with OpenMP", value));
        format!("{}{}{openmp}{intelex}", clock(self.ours), beside("LIBSVM", self.libsvm))
    }
}

/// Returns seconds as text, in milliseconds where they are few.
fn clock(x: f64) -> String {
    if x < 0.1 { format!("{:.0} ms", 1e3 * x) } else { format!("{} s", seconds(x)) }
}

#[cfg(test)]
mod tests {
    use super::{Call, Group, HostMachine, Row, intelex, picture};
    use std::collections::BTreeSet;

    fn drawn(rows: Vec<Row>) -> String {
        let processors = BTreeSet::from(["A".to_owned()]);
        picture(&[Group { title: "one training".into(), processors, rows }]).document()
    }

    #[test]
    fn every_row_has_its_name_and_its_ratios() {
        let row = |name: &str, libsvm, intelex, ours| Row { name: name.into(), libsvm, openmp: None, intelex, ours };
        let text = drawn(vec![row("a9a", 50.0, None, 2.0), row("w8a", 0.5, Some(1.0), 0.025)]);
        assert!(text.contains(">a9a</text>") && text.contains("2.00 s; LIBSVM 50.0 s, 25×<"), "{text}");
        assert!(
            text.contains("25 ms; LIBSVM 0.50 s, 20×; intelex 1.00 s, 40×") && text.contains("scikit-learn-intelex"),
            "{text}"
        );
        assert!(text.matches("class=\"grid\"").count() >= 3 && text.contains(">two cores: A<"), "{text}");
        let text = drawn(vec![row("a9a", 50.0, None, 2.0)]);
        assert!(!text.contains("intelex") && !text.contains("OpenMP"), "{text}");
        let text = drawn(vec![Row { openmp: Some(30.0), ..row("a9a", 50.0, None, 2.0) }]);
        assert!(text.contains("LIBSVM 50.0 s, 25×; with OpenMP 30.0 s, 15×<") && text.contains("LIBSVM with OpenMP"), "{text}");
    }

    #[test]
    fn a_search_is_that_of_its_data() {
        let call = |work: &str, data: &str, program: &str, seconds| Call {
            work: work.into(),
            data: data.into(),
            program: program.into(),
            seconds,
            machine: HostMachine::here(),
        };
        let of = "GridSearchCV.fit x of 110 cells";
        let calls = [
            call(of, "letter.scale", "scikit-learn-intelex", 5.0),
            call(of, "letter.scale", "scikit-learn-intelex", 3.0),
            call(of, "letter.scale", "scikit-learn-intelex", 4.0),
            call(of, "letter.scale", "maxmargin", 1.0),
            call("GridSearchCV.fit x of 36 cells", "a9a", "scikit-learn-intelex", 2.0),
        ];
        let here = HostMachine::here();
        assert_eq!(["letter", "a9a", "lett"].map(|data| intelex(&calls, data, &here)), [Some(4.0), None, None]);
        assert_eq!(intelex(&calls, "letter", &HostMachine { os: "another".into(), ..here }), None);
    }
}
