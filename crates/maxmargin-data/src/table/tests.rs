//! Tables and faults by hand, and random tables.

use super::*;
use crate::RunControl;
use crate::libsvm::{self, ReadOptions};
use crate::run::par::Par;
use proptest::prelude::*;

fn options() -> TableOptions {
    TableOptions::default()
}

fn read_text(text: &str) -> Table {
    read(text.as_bytes(), &options(), &RunControl::unlimited()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn error_of(text: &str, options: &TableOptions) -> String {
    read(text.as_bytes(), options, &RunControl::unlimited()).expect_err(text).to_string()
}

fn columns(table: &Table) -> &Columns {
    table.data.columns.as_ref().expect("of a table")
}

fn kinds(table: &Table) -> Vec<(&str, &ColumnKind)> {
    columns(table).features().iter().map(|column| (&column.name[..], &column.kind)).collect()
}

fn rows(table: &Table) -> Vec<Vec<(usize, f64)>> {
    (0..table.data.samples.len()).map(|row| table.data.samples.row(row).entries()).collect()
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn every_delimiter_is_found() {
    for (delimiter, text) in
        [(',', "a,b,y\n1,2,0\n"), ('\t', "a\tb\ty\n1\t2\t0\n"), (';', "a;b;y\n1;2;0\n"), ('|', "a|b|y\n1|2|0\n")]
    {
        let table = read_text(text);
        assert_eq!((table.delimiter, table.has_header, table.target), (Some(delimiter), true, TargetChoice::Name));
        assert_eq!(rows(&table), [[(0, 1.0), (1, 2.0)]]);
    }
    // Sentences contain commas, but another delimiter gives rows of equal length.
    assert_eq!(read_text("words;y\nyes, and no;1\nno;0\n").delimiter, Some(';'));
    let forced = TableOptions { delimiter: Some(b'-'), ..options() };
    assert_eq!(read(b"1-2\n3-4\n", &forced, &RunControl::unlimited()).expect("two columns").data.labels, [2.0, 4.0]);
}

#[test]
fn headers_are_found() {
    let header = |text: &str| read_text(text).has_header;
    assert!(header("age,y\n1,0\n2,1\n"));
    assert!(!header("1,0\n2,1\n"));
    // Only words: the names do not occur again.
    assert!(header("colour,y\nred,no\nblue,yes\nred,yes\n"));
    assert!(!header("red,yes\nblue,no\nred,no\n"));
    // pandas writes an index without a name, which is no feature.
    let table = read_text(",age,y\n0,7,1\n1,8,0\n");
    assert_eq!((kinds(&table)[0].0, table.index.as_deref()), ("age", Some("column 1")));
    let forced = |header| TableOptions { header: Some(header), ..options() };
    assert_eq!(read(b"1,2\n3,4\n", &forced(true), &RunControl::unlimited()).expect("a row").data.labels, [4.0]);
    assert_eq!(read(b"a,x\nb,y\n", &forced(false), &RunControl::unlimited()).expect("two rows").data.labels, [0.0, 1.0]);
}

#[test]
fn headers_with_numbers_are_told_from_rows() {
    let header = |text: &str| {
        let table = read_text(text);
        (table.has_header, table.header_is_doubtful)
    };
    let body = "rose,3.5,2.1,0\nlily,1.5,2.5,1\nrose,2.5,4.1,1\n";
    assert_eq!(header(&format!("plant,1,2,yield\n{body}")), (true, true));
    assert_eq!(header(&format!("plant,2020,2010,yield\n{body}")), (true, true));
    assert_eq!(header(&format!("rose,1,2,1\n{body}")), (false, false));
    // Only numbers: 0, 1, 2 are a header before fractions or an index, but not before similar
    // numbers.
    assert_eq!(header("0,1,2\n0.5,7.5,0\n0.25,6.5,1\n"), (true, true));
    assert_eq!(header(",0,1\n0,5,7\n1,0,6\n2,3,1\n"), (true, true));
    assert_eq!(header("0,1,2\n1,2,2\n2,0,1\n0,3,4\n"), (false, false));
    assert_eq!(header("5,1.5,0\n3,2.5,1\n4,1,0\n"), (false, false));
    let forced = TableOptions { header: Some(false), ..options() };
    let rows = read(b"0,1,2\n0.5,7.5,0\n0.25,6.5,1\n", &forced, &RunControl::unlimited()).expect("rows");
    assert_eq!((rows.data.labels.len(), rows.header_is_doubtful), (3, false));
    // Names of a model that are numbers are recognised, and a row with one of them remains a row.
    let table = read_text("0,1,2\n0.5,7.5,0\n0.25,6.5,1\n");
    let known = table.data.columns.as_ref().expect("of a table");
    assert_eq!(read_like(b"1,0\n3.5,4.5\n", known, &options(), &RunControl::unlimited()).expect("a row").lines, [2]);
}

#[test]
fn columns_are_numbers_truths_or_words() {
    let table = read_text("n,t,w,c,y\n1,yes,red,1,2.5\n-2e3,no,blue,2,3\n.5,YES,red,1,4\n");
    let words = |words: &[&str]| ColumnKind::Category(words.iter().map(|&word| word.to_owned()).collect());
    let expected =
        [("n", &ColumnKind::Number), ("t", &ColumnKind::Boolean), ("w", &words(&["blue", "red"])), ("c", &ColumnKind::Number)];
    assert_eq!(kinds(&table), expected);
    assert_eq!(rows(&table)[0], [(0, 1.0), (1, 1.0), (3, 1.0), (4, 1.0)]);
    assert_eq!(rows(&table)[1], [(0, -2000.0), (2, 1.0), (4, 2.0)]);
    let asked = TableOptions { categories: vec!["c".to_owned()], drop: vec!["1".to_owned(), "t".to_owned()], ..options() };
    let table = read(b"n,t,w,c,y\n1,yes,red,10,2.5\n2,no,blue,9,3\n", &asked, &RunControl::unlimited()).expect("two rows");
    assert_eq!(kinds(&table), [("w", &words(&["blue", "red"])), ("c", &words(&["10", "9"]))]);
    assert_eq!(table.ignored, ["n", "t"]);
}

#[test]
fn targets_are_asked_for_named_or_last() {
    let target = |text: &str, asked: Option<&str>| {
        let options = TableOptions { target: asked.map(str::to_owned), ..options() };
        let table = read(text.as_bytes(), &options, &RunControl::unlimited()).expect("a table");
        (columns(&table).target().map(|target| target.name.clone()).unwrap_or_default(), table.target, table.data.labels)
    };
    let text = "y,label,z\n1,2,3\n4,5,6\n";
    assert_eq!(target(text, None), ("label".to_owned(), TargetChoice::Name, vec![2.0, 5.0]));
    assert_eq!(target(text, Some("z")), ("z".to_owned(), TargetChoice::Asked, vec![3.0, 6.0]));
    assert_eq!(target(text, Some("1")), ("y".to_owned(), TargetChoice::Asked, vec![1.0, 4.0]));
    assert_eq!(target("1,2\n3,4\n", None), ("column 2".to_owned(), TargetChoice::Last, vec![2.0, 4.0]));
    let error = error_of(text, &TableOptions { target: Some("w".to_owned()), ..options() });
    assert_eq!(error, "there is no column `w`; there are y, label, z");
    let both = TableOptions { target: Some("z".to_owned()), drop: vec!["z".to_owned()], ..options() };
    assert!(error_of(text, &both).contains("it is the target"));
    let none = read(text.as_bytes(), &TableOptions { no_target: true, ..options() }, &RunControl::unlimited()).expect("a table");
    assert_eq!((none.data.samples.features(), none.is_labelled, &none.data.labels[..]), (3, false, &[0.0, 0.0][..]));
}

#[test]
fn words_as_labels_are_numbered_in_their_order() {
    let table = read_text("x,y\n1,pear\n2,apple\n3,pear\n4,fig\n");
    assert_eq!(columns(&table).labels(), ["apple", "fig", "pear"]);
    assert_eq!(table.data.labels, [2.0, 0.0, 2.0, 1.0]);
    // As labels, truth values are words.
    assert_eq!(columns(&read_text("x,y\n1,yes\n2,no\n")).labels(), ["no", "yes"]);
    assert_eq!(columns(&read_text("x,y\n1,1\n2,-1\n")).labels(), [""; 0]);
}

#[test]
fn quotes_line_ends_marks_and_blank_lines() {
    let text = "\u{feff}\"a \"\"b\"\"\",w,y\r\n\r\n1,\"x, y\nz\",0\r\n\r\n  \r\n2,  plain ,1";
    let table = read_text(text);
    assert_eq!(kinds(&table)[0].0, "a \"b\"");
    assert_eq!(kinds(&table)[1].1, &ColumnKind::Category(vec!["plain".to_owned(), "x, y\nz".to_owned()]));
    assert_eq!(table.lines, [3, 7]);
    assert_eq!(table.data.labels, [0.0, 1.0]);
    // Old line ends with one byte.
    assert_eq!(read_text("x,y\r1,0\r2,1\r").lines, [2, 3]);
}

#[test]
fn faults_say_where_they_are() {
    let error = |text: &str| error_of(text, &options());
    assert_eq!(
        error("a,b,y\n1,2,0\n1,2\n"),
        "line 3: 2 fields, where the first row has 3; mend the row, quote fields that hold `,`, or name the delimiter"
    );
    assert!(error("a\tb\n1\t2\n1\n").contains("quote fields that hold tabs"));
    assert!(error("a,b\n1,\"x\n2,3\n4,5\n").starts_with("line 2: a quoted field begins in this row and never ends"));
    assert!(error("a,a,y\n1,2,0\n").contains("the header has two columns `a`"));
    assert!(error("a,y\n\"1,5\",0\n\"2,5\",1\n").contains("line 2, column `a`: `1,5` has a comma"));
    assert!(error("a,y\n1,0\ninf,1\n").contains("line 3, column `a`: `inf` is not finite"));
    assert!(error("a,y\n1e999,0\n2,1\n").contains("`1e999` is not finite"));
    assert!(error("a,y\n,0\nNA,1\n").contains("column `a`: every value is missing"));
    assert!(error("a,b,y\n1,7,0\n?,7,1\n").contains("line 3, column `a`: the value is missing"));
    assert!(error("a,y\n1,0\n2,\n").contains("line 3, column `y`: the label is missing"));
    assert!(error("a\n1\n2\n").contains("there is one column alone"));
    let many = lines(30, |i| format!("{i},{}\n", i % 2));
    assert!(error(&format!("a,y\n{many}x,1\n")).contains("line 32, column `a`: `x` is no number, but 30 of 31 values"));
    let names = lines(60, |i| format!("{i}{i},name{i},{}\n", i % 2));
    assert!(error(&format!("a,n,y\n{names}")).contains("column `n`: 60 different words in 60 rows, such as `name0`"));
    assert!(error(&format!("a,y,n\n{names}")).contains("60 different words") && error("").contains("there are no rows"));
    assert!(error("a,y\n").contains("there are no rows"));
    assert!(
        read(b"a,y\n1,\xff\x01\n", &options(), &RunControl::unlimited())
            .expect_err("no text")
            .to_string()
            .contains("line 2: this is not text in UTF-8")
    );
    assert!(read(b"a,y\n1,\x002\n", &options(), &RunControl::unlimited()).expect_err("no text").to_string().contains("line 2"));
}

#[test]
fn too_many_words_are_no_category() {
    let text = lines(3003, |i| format!("{i},w{},{}\n", i % 1001, i % 2));
    let error = error_of(&format!("a,n,y\n{text}"), &options());
    assert!(error.contains("column `n`: 1001 different words, such as `w0`, more than the 1000"), "{error}");
}

#[test]
fn gaps_are_marked_behind_the_features() {
    let taken = TableOptions { missing: true, ..options() };
    let table = read(b"a,w,y\n1,red,0\n,blue,1\n3,?,0\n", &taken, &RunControl::unlimited()).expect("three rows");
    assert_eq!(table.data.samples.features(), 5);
    assert_eq!(rows(&table), [vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0), (3, 1.0)], vec![(0, 3.0), (4, 1.0)]]);
    // Without missing values there are no features for them.
    assert_eq!(
        read(b"a,w,y\n1,red,0\n2,blue,1\n", &taken, &RunControl::unlimited()).expect("two rows").data.samples.features(),
        3
    );
}

#[test]
fn a_table_of_numbers_is_what_libsvm_text_is() {
    let csv = "a,b,c,y\n0.5,0,1,1\n0,-2,3.25,-1\n1e-3,0,7,1\n";
    let text = "1 1:0.5 3:1\n-1 2:-2 3:3.25\n1 1:1e-3 3:7\n";
    let table = read_text(csv);
    let data = libsvm::parse(text.as_bytes(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("rows");
    assert_eq!((&table.data.samples, &table.data.labels), (&data.samples, &data.labels));
    assert_eq!((look(csv.as_bytes()), look(text.as_bytes())), (Look::Table, Look::Libsvm));
}

#[test]
fn formats_are_told_apart() {
    let libsvm =
        ["1 1:2\n", "-1 qid:3 1:0.5 7:1e-3\n", "1\n1 2:3\n", "# comment, with a comma\n+1 1:1 # more, of them\n", "1,2 1:5\n"];
    assert_eq!(libsvm.map(|text| look(text.as_bytes())), [Look::Libsvm; 5]);
    let tables = ["1,2\n", "a;b\n", "a\tb\n1\t2\n", "x|y\n", "time,y\n12:30,1\n", "1:2,3:4\n", "a b,c\n1 1:2,0\n"];
    assert_eq!(tables.map(|text| look(text.as_bytes())), [Look::Table; 7]);
    assert_eq!(["", "1\n-1\n", "1\t12:30\n"].map(|text| look(text.as_bytes())), [Look::Either; 3]);
}

#[test]
fn other_tables_are_read_by_name() {
    let table = read(b"a,w,t,y\n1,red,yes,cat\n2,blue,no,dog\n", &options(), &RunControl::unlimited()).expect("two rows");
    let known = table.data.columns.as_ref().expect("of a table");
    let like = |text: &str| read_like(text.as_bytes(), known, &options(), &RunControl::unlimited());
    let other = like("extra;y;t;a;w\nx;dog;TRUE;5;green\nz;cow;n;6;red\n").expect("two rows");
    assert_eq!(rows(&other), [vec![(0, 5.0), (3, 1.0)], vec![(0, 6.0), (2, 1.0)]]);
    assert_eq!((&other.data.labels[..], &other.ignored[..]), (&[1.0, 2.0][..], &["extra".to_owned()][..]));
    let unknown = UnknownWords { column: "w".to_owned(), rows: 1, example: "green".to_owned(), line: 2 };
    assert_eq!(other.unknown, [unknown]);
    assert_eq!(other.data.columns.as_ref(), Some(known));
    let unlabelled = like("w,a,t\nred,1,f\n").expect("a row");
    assert!(!unlabelled.is_labelled);
    let error = |text: &str| like(text).expect_err(text).to_string();
    assert_eq!(error("a,w\n1,red\n"), "the column `t`, which the model was trained with, is not there; there are a, w");
    assert!(
        error("a,w,t\nx,red,f\n")
            .contains("line 2, column `a`: `x` is not a number, as the values of this column were in training")
    );
    assert!(error("a,w,t\n1,red,maybe\n").contains("`maybe` is not a boolean"));
    assert!(error("a,w,t\n,red,yes\n").contains("the model was trained without imputation"));
    let strict = TableOptions { labels: LabelRule::Known, ..options() };
    let strictly = |text: &str| read_like(text.as_bytes(), known, &strict, &RunControl::unlimited()).expect_err(text).to_string();
    assert!(strictly("a,w,t,y\n1,red,yes,cow\n").contains("the label `cow` is none of the model's: cat, dog"));
    assert!(strictly("a,w,t\n1,red,yes\n").contains("the column `y`"));
}

#[test]
fn tables_without_names_are_read_by_number() {
    let table = read(b"1,5,0\n2,6,1\n", &options(), &RunControl::unlimited()).expect("two rows");
    let known = table.data.columns.as_ref().expect("of a table");
    let other = read_like(b"7,8\n", known, &options(), &RunControl::unlimited()).expect("a row");
    assert_eq!((rows(&other), other.is_labelled), (vec![vec![(0, 7.0), (1, 8.0)]], false));
    let error = read_like(b"7\n", known, &options(), &RunControl::unlimited()).expect_err("a column").to_string();
    assert!(error.contains("the column `column 2`"), "{error}");
}

#[test]
fn what_is_odd_is_said() {
    let text = lines(12, |i| format!("{i},{},same,{},{}\n", i % 5, if i < 8 { "" } else { "7.5" }, i % 2));
    let taken = TableOptions { missing: true, ..options() };
    let table = read(format!("id,n,w,gaps,y\n{text}").as_bytes(), &taken, &RunControl::unlimited()).expect("rows");
    let odd: Vec<Option<String>> = describe(&table.data).into_iter().map(|column| column.odd).collect();
    let says = |odd: &Option<String>, what: &str| odd.as_ref().is_some_and(|odd| odd.contains(what));
    assert!(says(&odd[0], "counts the rows") && odd[1].is_none() && says(&odd[2], "the same in every row"), "{odd:?}");
    assert!(says(&odd[3], "the same in every row"), "{odd:?}");
    let found = &describe(&table.data)[1];
    assert_eq!((found.minimum, found.maximum, found.missing), (Some(0.0), Some(4.0), 0));
}

#[test]
fn columns_are_numbers_where_at_least_half_of_their_values_are() {
    let error = |text: &str| error_of(text, &options());
    // Ages in words, grades and codes: none becomes a category silently.
    assert!(error("n,y\n1,0\n2,1\n3+,0\n").contains("line 4, column `n`: `3+` is no number, but 2 of 3 values"));
    assert!(error("n,y\n1,0\nA7,1\n").contains("line 3, column `n`: `A7` is no number, but 1 of 2 values"));
    let asked = TableOptions { categories: vec!["n".to_owned()], ..options() };
    let words = |words: &[&str]| ColumnKind::Category(words.iter().map(|&word| word.to_owned()).collect());
    let table = read(b"n,y\n1,0\n2,1\n3+,0\n", &asked, &RunControl::unlimited()).expect("three rows");
    assert_eq!(kinds(&table), [("n", &words(&["1", "2", "3+"]))]);
    // Words with fewer numbers among them are a category, which is reported.
    let table = read_text("n,y\nA7,0\n12,1\nB,0\n");
    assert_eq!(table.mixed, [MixedColumn { column: "n".to_owned(), numbers: 1, filled: 3 }]);
    // The same holds for labels.
    assert!(error("x,y\n1,1\n2,2\n3,3+\n").contains("line 4, column `y`: `3+` is no number"));
    let asked = TableOptions { categories: vec!["y".to_owned()], ..options() };
    assert_eq!(
        columns(&read(b"x,y\n1,1\n2,2\n3,3+\n", &asked, &RunControl::unlimited()).expect("rows")).labels(),
        ["1", "2", "3+"]
    );
}

#[test]
fn marks_are_words_among_words() {
    let taken = TableOptions { missing: true, ..options() };
    let words = |words: &[&str]| ColumnKind::Category(words.iter().map(|&word| word.to_owned()).collect());
    let table = read(b"strand,tame,part,y\n+,yes,None,0\n-,no,none,1\n+,-,some,0\n", &taken, &RunControl::unlimited())
        .expect("three rows");
    let expected = [("strand", &words(&["+", "-"])), ("tame", &ColumnKind::Boolean), ("part", &words(&["none", "some"]))];
    assert_eq!(kinds(&table), expected);
    let told = |column: &str, word: &str| MissingCells { column: column.to_owned(), rows: 1, words: vec![word.to_owned()] };
    assert_eq!(table.missing, [told("tame", "-"), told("part", "None")]);
    let asked = TableOptions { categories: vec!["part".to_owned()], ..taken };
    let table = read(b"part,y\nNone,0\nNA,1\nsome,0\n,1\n", &asked, &RunControl::unlimited()).expect("four rows");
    assert_eq!(kinds(&table), [("part", &words(&["NA", "None", "some"]))]);
    // A table that is read with these columns has the same words.
    let like =
        read_like(b"part\nNA\nnull\n", table.data.columns.as_ref().expect("of a table"), &options(), &RunControl::unlimited())
            .expect("rows");
    assert_eq!((rows(&like), like.unknown.len()), (vec![vec![(0, 1.0)], vec![]], 1));
}

proptest! {
    /// A column of numbers does not depend on the words for its missing values.
    #[test]
    fn words_for_gaps_are_empty_fields(
        values in proptest::collection::vec(proptest::option::of(-1e3..1e3_f64), 4..40),
        picks in proptest::collection::vec(0..12_usize, 40),
    ) {
        const WORDS: [&str; 12] = ["-", ".", "None", "#N/A", "n.a.", "\\N", "NA", "?", "null", "--", "..", "gone"];
        prop_assume!(values.iter().any(Option::is_some));
        let text = |gap: &dyn Fn(usize) -> String| {
            let field = |i: usize| values[i].map_or_else(|| gap(i), |value| value.to_string());
            "a,y\n".to_owned() + &lines(values.len(), |i| format!("{},{}\n", field(i), i % 2))
        };
        let taken = TableOptions { missing: true, header: Some(true), missing_words: vec!["gone".to_owned()], ..options() };
        let [empty, words] = [text(&|_| String::new()), text(&|i| WORDS[picks[i]].to_owned())];
        let [empty, words] = [empty, words].map(|text| read(text.as_bytes(), &taken, &RunControl::unlimited()).expect("numbers"));
        prop_assert_eq!(&empty.data, &words.data);
        prop_assert_eq!(words.missing.iter().map(|column| column.rows).sum::<usize>(), values.iter().filter(|v| v.is_none()).count());
    }

    /// Quoted text reads back unchanged.
    #[test]
    fn any_words_come_back(words in proptest::collection::vec("[ -~\u{e4}\n]{1,12}", 2..20)) {
        let quoted = |word: &String| format!("\"{}\"", word.replace('"', "\"\""));
        let text = "w,y\n".to_owned() + &lines(words.len(), |i| format!("{},{}\n", quoted(&words[i]), i % 2));
        let options = TableOptions { header: Some(true), delimiter: Some(b','), missing: true, categories: vec!["w".to_owned()], ..options() };
        if let Ok(table) = read(text.as_bytes(), &options, &RunControl::unlimited()) {
            let ColumnKind::Category(known) = &columns(&table).features()[0].kind else { panic!("words") };
            for (row, word) in words.iter().enumerate() {
                // Words of a category column are verbatim.
                let missing = word.trim().is_empty();
                let place = known.binary_search_by(|known| known[..].cmp(word.trim()));
                prop_assert!(missing || place.is_ok_and(|place| rows(&table)[row] == [(place, 1.0)]));
            }
        } else {
            prop_assert!(words.iter().all(|word| word.trim().is_empty()));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = look(&bytes);
        let _ = read(&bytes, &TableOptions { missing: true, ..options() }, &RunControl::unlimited());
    }

    #[test]
    fn arbitrary_tables_never_panic(text in "[a0-9,;\t|\"\n\r?. ]{0,200}", header in any::<Option<bool>>()) {
        let options = TableOptions { missing: true, header, ..options() };
        if let Ok(table) = read(text.as_bytes(), &options, &RunControl::unlimited()) {
            let known = table.data.columns.as_ref().expect("of a table");
            let again = read_like(text.as_bytes(), known, &TableOptions { header: Some(table.has_header), ..options }, &RunControl::unlimited());
            prop_assert_eq!(again.map(|again| again.data), Ok(table.data));
        }
    }
}

#[test]
#[cfg(not(any(feature = "arrow", feature = "parquet")))]
fn a_file_of_columns_says_how_to_read_it() {
    let begins: [(&[u8], Columnar); 4] = [
        (b"PAR1\x15\x04", Columnar::Parquet),
        (b"ARROW1\0\0", Columnar::Arrow),
        (b"\xff\xff\xff\xff\x10\0\0\0", Columnar::Arrow),
        (b"FEA1", Columnar::Arrow),
    ];
    for (begin, columnar) in begins {
        let error = read(begin, &TableOptions::default(), &RunControl::unlimited()).expect_err("built without");
        assert_eq!(error, TableError::NotBuiltFor { file: columnar });
        assert!(error.to_string().contains(&format!("a file of {columnar},")), "{error}");
        assert!(error.to_string().contains(&format!("--features {}", columnar.feature())), "{error}");
    }
}
