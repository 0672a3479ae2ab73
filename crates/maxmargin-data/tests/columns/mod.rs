//! Common parts of the tests of Parquet and Arrow: files written by pyarrow (`data/write.py`), and
//! refused columns.
#![allow(dead_code, reason = "each test file uses some of it")]

use maxmargin_data::RunControl;
use maxmargin_data::table::{LabelRule, Table, TableOptions, read, read_like};

/// Takes missing values.
pub(crate) fn gaps() -> TableOptions {
    TableOptions { missing: true, ..TableOptions::default() }
}

/// A file of the test data.
pub(crate) fn written(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a file of the tests")
}

/// Checks that a file is the table of `insects.csv`, read by itself and for a model of the text.
pub(crate) fn check_insects(name: &str) {
    let expected = read(&written("insects.csv"), &gaps(), &RunControl::unlimited()).expect("a table");
    let columns = expected.data.columns.as_ref().expect("of a table");
    assert_eq!((columns.features().len(), columns.labels().len(), expected.lines.len()), (10, 3, 60));
    let found = read(&written(name), &gaps(), &RunControl::unlimited()).expect("a table");
    assert_eq!(found.data, expected.data, "{name}");
    let like = read_like(&written(name), columns, &gaps(), &RunControl::unlimited()).expect("a table");
    let (samples, labels) = (expected.data.samples.clone(), expected.data.labels.clone());
    assert_eq!((like.data.samples, like.data.labels), (samples, labels), "{name}");
}

/// Six columns of a file are refused for different reasons until all are left out. A model reads
/// only its own columns.
pub(crate) fn check_odd(name: &str) {
    let odd = written(name);
    let dropping = |names: &[&str]| TableOptions { drop: names.iter().map(ToString::to_string).collect(), ..gaps() };
    let said = [
        ("list", "more than one value"),
        ("struct", "more than one value"),
        ("when", "dates or times"),
        ("day", "dates or times"),
        ("raw", "bytes"),
        ("none", "every value is missing"),
    ];
    let mut names = Vec::new();
    for (column, what) in said {
        let error = read(&odd, &dropping(&names), &RunControl::unlimited()).expect_err(column).to_string();
        assert!(error.contains(&format!("column `{column}`")) && error.contains(what), "{error}");
        names.push(column);
    }
    // Columns can also be given by number.
    names[5] = "7";
    let table = read(&odd, &dropping(&names), &RunControl::unlimited()).expect("a table");
    assert_eq!((table.ignored.len(), &table.data.labels[..]), (6, &[1.0, -1.0, 1.0, -1.0][..]));
    let again =
        read_like(&odd, table.data.columns.as_ref().expect("of a table"), &TableOptions::default(), &RunControl::unlimited())
            .expect("a table");
    assert_eq!((again.data.samples, again.ignored.len()), (table.data.samples, 6));
}

/// The index of a data frame is neither target nor feature unless it is asked for, even where it
/// comes last and no column is called a target. It may hold dates, which no table has.
pub(crate) fn check_named_index(name: &str) {
    let file = written(name);
    let table = read(&file, &gaps(), &RunControl::unlimited()).expect("a table");
    let target = |table: &Table| table.data.columns.as_ref().and_then(|columns| Some(columns.target()?.name.clone()));
    assert_eq!(
        (target(&table).as_deref(), table.index.as_deref(), &table.ignored[..]),
        (Some("kind"), Some("id"), &["id".to_owned(), "day".to_owned()][..])
    );
    let kept = TableOptions { keep: vec!["id".to_owned()], ..gaps() };
    let table = read(&file, &kept, &RunControl::unlimited()).expect("a table");
    assert_eq!((target(&table).as_deref(), &table.kept[0].fields[1][..]), (Some("kind"), "group 1"));
    let asked = TableOptions { target: Some("id".to_owned()), ..gaps() };
    let table = read(&file, &asked, &RunControl::unlimited()).expect("a table");
    assert_eq!(
        (target(&table).as_deref(), table.data.columns.as_ref().map(|columns| columns.labels().len())),
        (Some("id"), Some(6))
    );
    // A model compares with another column, which it does not know.
    let columns = read(&file, &gaps(), &RunControl::unlimited()).expect("a table").data.columns.expect("of a table");
    let other = TableOptions { target: Some("id".to_owned()), labels: LabelRule::Optional, ..gaps() };
    let like = read_like(&file, &columns, &other, &RunControl::unlimited()).expect("a table");
    assert_eq!((like.is_labelled, like.unlabelled.rows), (true, 0));
}
