//! Notations of text: encodings, decimal commas, quotes, blanks, lines before the header.

use maxmargin_data::RunControl;
use maxmargin_data::table::{
    ColumnKind, ForeignFormat, LikelierTarget, Look, Table, TableError, TableOptions, TextEncoding, look, read, read_like,
};

fn read_with(text: &str, options: &TableOptions) -> Result<Table, TableError> {
    read(text.as_bytes(), options, &RunControl::unlimited())
}

fn read_text(text: &str) -> Table {
    read_with(text, &TableOptions { missing: true, ..TableOptions::default() })
        .unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn names(table: &Table) -> Vec<&str> {
    table.data.columns.as_ref().expect("of a table").features().iter().map(|column| &column.name[..]).collect()
}

fn rows(table: &Table) -> Vec<Vec<(usize, f64)>> {
    (0..table.data.samples.len()).map(|row| table.data.samples.row(row).entries()).collect()
}

#[test]
fn notations_give_the_same_numbers() {
    let plain = read_text("a,b,y\n1.5,2000.25,0\n-0.25,7,1\n");
    let same = [
        "a;b;y\n1,5;2000,25;0\n-0,25;7;1\n",
        "sep=;\r\na;b;y\r\n1,5;2000,25;0\r\n-0,25;7;1\r\n",
        "a\tb\ty\n1,5\t2000,25\t0\n-0,25\t7\t1\n",
        "  a   b  y\n 1.5  2000.25 0\n-0.25\t7     1\n",
        "a, \"b\", y\n1.5, \"2000.25\", 0\n-0.25, \"7\" , 1\n",
        "Weights by country\n\na,b,y\n1.5,2000.25,0\n-0.25,7,1\n",
        "# source: a, b\n# of 2020\na,b,y\n1.5,2000.25,0\n-0.25,7,1\n",
        "Weights,,\n,,\na,b,y\n1.5,2000.25,0\n-0.25,7,1\n",
    ];
    for text in same {
        let table = read_text(text);
        assert_eq!(
            (names(&table), rows(&table), &table.data.labels),
            (vec!["a", "b"], rows(&plain), &plain.data.labels),
            "{text:?}"
        );
    }
    assert_eq!(read_text(same[1]).skipped_lines, 1);
    assert_eq!((read_text(same[5]).skipped_lines, read_text(same[5]).lines), (2, vec![4, 5]));
    assert_eq!((read_text(same[0]).decimal_mark, plain.decimal_mark), (',', '.'));
}

#[test]
fn encodings_give_the_same_words() {
    let text = "größe,y\nklein,0\nüber,1\nüber,0\n";
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = read_text(text);
    for (bytes, encoding) in [(latin, TextEncoding::Windows1252), (wide, TextEncoding::Utf16)] {
        assert_eq!(look(&bytes), Look::Table);
        let table = read(&bytes, &TableOptions::default(), &RunControl::unlimited()).expect("text");
        assert_eq!((&table.data, table.encoding), (&plain.data, Some(encoding)));
    }
}

#[test]
fn commas_that_could_separate_thousands_are_refused_unless_they_are_named() {
    let text = "a;y\n1,234;0\n5,678;1\n";
    let error = read_with(text, &TableOptions::default()).expect_err("two meanings").to_string();
    assert!(error.contains("line 2, column `a`: `1,234` has a comma"), "{error}");
    let named = TableOptions { decimal_comma: Some(true), ..TableOptions::default() };
    assert_eq!(rows(&read_with(text, &named).expect("decimal commas")), [[(0, 1.234)], [(0, 5.678)]]);
    // Of another column: commas are decimal ones in all columns.
    assert_eq!(rows(&read_text("a;b;y\n1,234;0,5;0\n5,678;1,5;1\n")), [[(0, 1.234), (1, 0.5)], [(0, 5.678), (1, 1.5)]]);
    let separated = read_with("a;y\n1.234,5;0\n2;1\n", &TableOptions::default()).expect_err("points between thousands");
    assert!(separated.to_string().contains("1234.5"), "{separated}");
    for text in ["a;y\n1,5;0\n2.5;1\n", "a,y\n\"1,5\",0\n2,1\n"] {
        assert!(read_with(text, &TableOptions::default()).expect_err(text).to_string().contains("has a comma"), "{text:?}");
    }
    assert_eq!(rows(&read_with("a,y\n\"1,5\",0\n2,1\n", &named).expect("decimal commas")), [[(0, 1.5)], [(0, 2.0)]]);
}

/// Whether commas are decimal ones is a question of numbers: a word is the same word whatever other
/// rows of its file hold.
#[test]
fn commas_in_words_stay() {
    let control = RunControl::unlimited();
    let category = TableOptions { categories: vec!["size".to_owned()], ..TableOptions::default() };
    // As many numbers as words, which the option makes words, and fewer.
    let equal = "size;mass;y\n1,5;0,5;0\n2,5;1,5;1\nsmall;2,5;0\nlarge;3,5;1\n";
    let fewer = "size;mass;y\n1,5;0,5;0\nsmall;2,5;0\nlarge;3,5;1\n";
    for (text, options) in [(equal, category), (fewer, TableOptions::default())] {
        let table = read_with(text, &options).expect("a table");
        let columns = table.data.columns.as_ref().expect("of a table");
        let ColumnKind::Category(words) = &columns.features()[0].kind else { panic!("{columns:?}") };
        assert!(words.contains(&"1,5".to_owned()), "{words:?}");
        assert_eq!((columns.features()[1].kind.clone(), table.decimal_mark), (ColumnKind::Number, ','));
        // Each row by itself is the row that it is among others.
        for (row, line) in text.lines().skip(1).enumerate() {
            let alone = read_like(format!("size;mass;y\n{line}\n").as_bytes(), columns, &options, &control).expect("a row");
            assert_eq!((&rows(&alone)[0], alone.unknown.len()), (&rows(&table)[row], 0), "{line}");
        }
    }
    // The same holds for labels, and a column that is also wanted as text is a number all the same.
    let labels = TableOptions { categories: vec!["y".to_owned()], ..TableOptions::default() };
    let table = read_with("mass;y\n0,5;1,5\n1,5;2,5\n", &labels).expect("a table");
    let columns = table.data.columns.as_ref().expect("of a table");
    assert_eq!(columns.labels(), ["1,5", "2,5"]);
    let kept = TableOptions { keep: vec!["mass".to_owned()], ..TableOptions::default() };
    let alone = read_like(b"mass;y\n1,5;2,5\n", columns, &kept, &control).expect("a row");
    assert_eq!((rows(&alone), alone.data.labels), (vec![vec![(0, 1.5)]], vec![1.0]));
    assert_eq!(alone.kept[0].fields, ["1,5"]);
}

/// Rows that were drawn from a table keep their numbers, which are an index in any order.
#[test]
fn numbers_of_rows_in_any_order_are_an_index() {
    let index = |numbers: [&str; 3]| {
        let [a, b, c] = numbers;
        let table = read_text(&format!(",x,n,y\n{a},1.5,3,0\n{b},2.5,4,1\n{c},-1.5,5,0\n"));
        (names(&table).len(), table.index)
    };
    for numbers in [["0", "1", "2"], ["17", "3", "250"], ["3", "2", "1"], ["a", "b", "c"]] {
        assert_eq!(index(numbers), (2, Some("column 1".to_owned())), "{numbers:?}");
    }
    for values in [["1", "1", "2"], ["1.5", "2", "3"], ["1", "", "3"], ["a", "b", "b"]] {
        assert_eq!(index(values), (3, None), "{values:?}");
    }
}

#[test]
fn quoted_words_for_missing_values_are_words() {
    let table = read_text("code,n,y\n\"NA\",1,0\nNA,2,1\nDE,\"NA\",0\n\"NA\",3,1\n");
    let columns = table.data.columns.as_ref().expect("of a table");
    assert_eq!(columns.features()[0].kind, ColumnKind::Category(vec!["DE".to_owned(), "NA".to_owned()]));
    // Words DE and NA, the number, marks of missing words and numbers.
    assert_eq!(
        rows(&table),
        [vec![(1, 1.0), (2, 1.0)], vec![(2, 2.0), (3, 1.0)], vec![(0, 1.0), (4, 1.0)], vec![(1, 1.0), (2, 3.0)]]
    );
    let taken = TableOptions { missing: true, ..TableOptions::default() };
    let like = read_like(b"code,n,y\n\"NA\",1,0\nNA,2,1\n", columns, &taken, &RunControl::unlimited()).expect("rows");
    assert_eq!(rows(&like), [vec![(1, 1.0), (2, 1.0)], vec![(2, 2.0), (3, 1.0)]]);
    // Where everything has quotes, they distinguish nothing.
    let all = read_text("\"code\",\"y\"\n\"NA\",\"0\"\n\"DE\",\"1\"\n\"FR\",\"1\"\n");
    assert_eq!(all.missing[0].words, ["NA"]);
    // As labels.
    let labels = read_text("x,y\n1,\"NA\"\n2,DE\n3,\"NA\"\n");
    assert_eq!(labels.data.columns.as_ref().expect("of a table").labels(), ["DE", "NA"]);
}

#[test]
fn lines_before_the_header_are_skipped_by_number() {
    let text = "Sales, 2020\nby region\na,y\n1,0\n2,x\n";
    let skip = |lines| TableOptions { skip_rows: Some(lines), ..TableOptions::default() };
    let error = |lines| read_with(text, &skip(lines)).expect_err(text).to_string();
    assert!(error(2).starts_with("line 5, column `y`: `x` is no number"), "{}", error(2));
    assert!(error(0).starts_with("line 2: 1 field, where"), "{}", error(0));
    assert!(error(9).contains("there are no rows"));
    let counts = "3,2,no,yes\n1.5,2.5,0\n1,2,1\n3,2,1\n";
    let table = read_text(counts);
    assert_eq!((table.has_header, table.lines, names(&read_text(counts))), (false, vec![2, 3, 4], vec!["column 1", "column 2"]));
}

#[test]
fn all_faulty_columns_are_reported_together() {
    let row = |i: usize| format!("n{i},{},t{i},{},{}\n", if i == 7 { "" } else { "1.5" }, i % 3, i % 2);
    let text = format!("name,age,ticket,n,y\n{}", (0..60).map(row).collect::<String>());
    let error = read_with(&text, &TableOptions::default()).expect_err("three columns");
    let TableError::Columns { faults } = &error else { panic!("{error}") };
    let found: Vec<Option<&str>> = faults.iter().map(TableError::column_name).collect();
    assert_eq!(found, [Some("name"), Some("age"), Some("ticket")]);
    assert!(error.to_string().contains("; column `age`: 1 of 60 values are missing, the first on line 9"), "{error}");
    let left = TableOptions { leave_out_faulty: true, missing: true, ..TableOptions::default() };
    let table = read_with(&text, &left).expect("two columns");
    assert_eq!((names(&table), table.faults.len()), (vec!["age", "n"], 2));
    // One fault is reported with its line.
    let one = TableOptions { drop: vec!["name".to_owned(), "ticket".to_owned()], ..TableOptions::default() };
    assert!(read_with(&text, &one).expect_err("a gap").to_string().starts_with("line 9, column `age`: the value is missing"));
}

#[test]
fn a_first_column_of_classes_is_proposed_as_target() {
    let rows = |last: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("{},{},{}\n", ["a", "b"][i % 2], i, last(i));
        (0..60).map(row).collect::<String>()
    };
    let decimals = rows(&|i| format!("{}", i as f64 / 8.0));
    let table = read_text(&format!("kind,n,size\n{decimals}"));
    let likelier = LikelierTarget { column: "kind".to_owned(), different: 2, of_taken: 60, has_words: true };
    assert_eq!(table.likelier_target, Some(likelier));
    let of = |text: &str| read_text(text).likelier_target.map(|first| first.column);
    assert_eq!(of(&decimals.replace("a,", "1,").replace("b,", "2,")), Some("column 1".to_owned()));
    // The last column could be classes, or was named.
    assert_eq!(of(&rows(&|i| (i % 4).to_string())), None);
    let named = TableOptions { target: Some("3".to_owned()), ..TableOptions::default() };
    assert_eq!(read_with(&decimals, &named).expect("a table").likelier_target, None);
    // Coordinates: `y` is taken by its name.
    let place = |i: usize| format!("{i}.5,{}.25,{}\n", i * i, ["oak", "elm"][i % 2]);
    let places: String = (0..60).map(place).collect();
    let table = read_text(&format!("x,y,tree\n{places}"));
    let likelier = LikelierTarget { column: "tree".to_owned(), different: 2, of_taken: 60, has_words: true };
    assert_eq!(
        (table.data.columns.expect("a table").target().expect("named").name.as_str(), table.likelier_target),
        ("y", Some(likelier))
    );
}

#[test]
fn numbers_with_units_are_no_categories() {
    for (cells, shown) in [(["$1.50", "$2"], "`$1.50` is a number with a unit"), (["10 %", "20 %"], "`10 %` is")] {
        let row = |i: usize| format!("{},{}\n", cells[i % 2], i % 2);
        let text: String = (0..40).map(row).collect();
        let error =
            read(format!("x,t\n{text}").as_bytes(), &TableOptions::default(), &RunControl::unlimited()).expect_err("units");
        assert!(error.to_string().starts_with(&format!("line 2, column `x`: {shown}")), "{error}");
        let named = TableOptions { categories: vec!["x".to_owned()], ..TableOptions::default() };
        assert!(read_with(&format!("x,t\n{text}"), &named).is_ok());
    }
    // A typographic minus sign is a sign.
    let table = read_text("x,t\n\u{2212}1.5,a\n2,b\n");
    assert_eq!(table.data.columns.expect("a table").features()[0].kind, ColumnKind::Number);
}

#[test]
fn spreadsheets_are_refused() {
    for begin in [&b"PK\x03\x04rest"[..], b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"] {
        let error = read(begin, &TableOptions::default(), &RunControl::unlimited()).expect_err("no text");
        assert!(error == TableError::Foreign(ForeignFormat::Spreadsheet) && error.to_string().contains("save the sheet as CSV"));
    }
}
