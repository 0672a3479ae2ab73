//! The commands that measure the rows of a report again, each alone.

use super::choice;
use crate::cells::row::Row;
use crate::specs::spec::Spec;
use crate::specs::table::{Table, UNCAPPED};

/// Returns a folded list with the command of every row.
pub(crate) fn list(spec: &Spec, table: &Table, rows: &[Row]) -> String {
    let commands: Vec<String> = if table.choice {
        choice::groups(rows).iter().map(|group| command(spec, group[0], "")).collect()
    } else {
        rows.iter().map(|row| command(spec, row, &row.cell.shown)).collect()
    };
    format!("<details><summary>The command of each row</summary>\n\n```\n{}\n```\n\n</details>\n\n", commands.join("\n"))
}

/// Returns the command that measures this row and no other, with its other program if it has one.
pub(crate) fn command(spec: &Spec, row: &Row, setting: &str) -> String {
    let words = words(spec, row, setting);
    format!("cargo xtask {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// Returns the words of that command, from `bench` on.
pub(crate) fn words(spec: &Spec, row: &Row, setting: &str) -> Vec<String> {
    let cell = &row.cell;
    let program = spec.program_of(cell);
    let full = !spec.full.is_empty() && spec.full.iter().all(|(key, value)| row.ours.settings.get(key) == Some(value));
    let uncapped = program == Some(UNCAPPED);
    let table = cell.table.to_string();
    let mut words = vec!["bench", &spec.name, "--table", &table, "--only", &cell.problem];
    words.extend((!setting.is_empty()).then_some(["--setting", setting]).into_iter().flatten());
    words.extend(["--variant", &cell.variant]);
    words.extend(uncapped.then_some(["--liblinear", "PATH"]).into_iter().flatten());
    words.extend((!uncapped && (program.is_some() || row.peer.is_some())).then_some("--peers"));
    words.extend(full.then_some("--full"));
    let repeats = row.ours.repeats.to_string();
    words.extend((row.ours.repeats > 1).then_some(["--repeats", &repeats]).into_iter().flatten());
    words.into_iter().map(str::to_owned).collect()
}

/// Returns a name quoted for a shell where it has to be.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.+/".contains(c);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::{list, quoted};
    use crate::cells::cell::Cell;
    use crate::cells::row::Printed;
    use crate::cells::row::Row;
    use crate::run::arguments::Arguments;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use crate::specs::table::Table;
    use clap::{Args, FromArgMatches};
    use serde_json::json;

    /// The words of a line as a shell takes it apart that has no names with a quotation mark.
    fn words(line: &str) -> Vec<String> {
        let whole = |part: &str| vec![part.to_owned()];
        let apart = |part: &str| part.split_whitespace().map(str::to_owned).collect();
        line.split('\'').enumerate().flat_map(|(n, part)| if n % 2 == 1 { whole(part) } else { apart(part) }).collect()
    }

    /// Returns the cells that a command would measure.
    fn measured(spec: &Spec, command: &str) -> Vec<Cell> {
        let words = words(command);
        assert_eq!(words[..3], ["cargo", "xtask", "bench"]);
        let matches = Arguments::augment_args(clap::Command::new("bench")).try_get_matches_from(&words[2..]).expect(command);
        let arguments = Arguments::from_arg_matches(&matches).expect(command);
        let named = spec.named(&arguments.table, &arguments.figure, arguments.statistics).expect(command);
        let tables: Vec<&Table> = named.into_iter().filter(|table| table.from.is_empty()).collect();
        arguments.extent().check(&tables).expect(command);
        tables.iter().flat_map(|table| cells(spec, table, arguments.extent())).collect()
    }

    /// Of every row that the project's specs can have: the command selects the row's cells and no
    /// other.
    #[test]
    fn a_command_measures_its_row_alone() {
        for paper in ["alpha-seeding", "frank-wolfe", "incremental", "irwls", "linear", "training"] {
            let spec = Spec::load(paper).expect("spec");
            for table in spec.tables.iter().filter(|table| table.from.is_empty()) {
                let full = Extent { full: true, ..Extent::default() };
                let all: Vec<Row> =
                    cells(&spec, table, full).into_iter().map(|cell| Row::made(cell, Printed::default(), json!({}))).collect();
                for row in &all {
                    let one = list(&spec, table, std::slice::from_ref(row));
                    let command = one.lines().find(|line| line.starts_with("cargo")).expect("command");
                    let same = |other: &&Row| {
                        let (a, b) = (&other.cell, &row.cell);
                        (&a.problem, &a.variant) == (&b.problem, &b.variant) && (table.choice || a.shown == b.shown)
                    };
                    let cell = |cell: &Cell| (cell.table, cell.problem.clone(), cell.vary.clone(), cell.variant.clone());
                    let wanted: Vec<_> = all.iter().filter(same).map(|row| cell(&row.cell)).collect();
                    assert_eq!(measured(&spec, command).iter().map(cell).collect::<Vec<_>>(), wanted, "{command}");
                }
            }
        }
    }

    #[test]
    fn what_a_command_says_beside_names() {
        let spec = Spec::load("linear").expect("spec");
        let table = &spec.tables[0];
        let quick = Extent { quick: true, ..Extent::default() };
        let made = |cell| Row::made(cell, Printed::default(), json!({}));
        let mut rows: Vec<Row> = cells(&spec, table, quick).into_iter().take(5).map(made).collect();
        rows[0].ours.repeats = 3;
        rows[1].ours.settings.extend(spec.full.clone());
        let text = list(&spec, table, &rows);
        let ends: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("--setting c=0.01 --variant ")).map(|(_, end)| end).collect();
        let expected =
            ["baseline --repeats 3", "AVSF --full", "hybrid", "LIBLINEAR --peers", "'LIBLINEAR, no cap' --liblinear PATH"];
        assert_eq!(ends, expected);
        assert_eq!([quoted("c=0.1"), quoted("it's")], ["c=0.1", r"'it'\''s'"]);
    }
}
