//! The worst tables: files that public questions about CSV are about, and the answer to each, which
//! docs/tables.md lists.

use crate::common::Bench;

/// A file, and a part of what training on it says.
struct WorstTable {
    content: Vec<u8>,
    /// The exit code of a training.
    code: i32,
    says: &'static str,
}

/// Rows of a value, a number and a class, below a header, with fields of this line.
fn rows(header: &str, line: impl Fn(usize, &str) -> String) -> String {
    let row = |i: usize| line(i, ["yes", "no"][i % 2]) + "\n";
    format!("{header}\n{}", (0..40).map(row).collect::<String>())
}

/// Rows whose first field is this one.
fn first(field: impl Fn(usize) -> String) -> String {
    rows("x,n,kind", |i, kind| format!("{},{},{kind}", field(i), i % 7))
}

fn read(content: impl Into<Vec<u8>>, says: &'static str) -> WorstTable {
    WorstTable { content: content.into(), code: 0, says }
}

fn refused(content: impl Into<Vec<u8>>, says: &'static str) -> WorstTable {
    WorstTable { content: content.into(), code: 1, says }
}

fn plain() -> String {
    first(|i| format!("{}.5", i * 7 % 30))
}

/// Files whose bytes or lines are odd.
fn texts() -> Vec<WorstTable> {
    let utf16: Vec<u8> = plain().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let ends = |(i, line): (usize, &str)| line.to_owned() + ["\n", "\r\n", "\r"][i % 3];
    let last = |line: &str| format!("{}{line}\n", plain());
    vec![
        read(utf16, "in UTF-16"),
        refused(
            last("1,\0,yes"),
            "there is a zero byte, and text has none: the file is damaged, or no text; copy or export it again, or remove such \
             bytes (tr -d '\\000')",
        ),
        refused(
            [first(|_| "größe".to_owned()).as_bytes(), b"gr\xf6\xdfe,2,yes\n"].concat(),
            "this line is not in UTF-8, and lines above it are; write its letters again, or convert the part that was added (iconv \
             -f WINDOWS-1252 -t UTF-8)",
        ),
        refused(
            format!("\u{feff}{0}\u{feff}{0}", plain()),
            "this row repeats the header, as in files that were joined; remove it",
        ),
        read(plain().lines().enumerate().map(ends).collect::<String>(), "a table with `,` and a header"),
        refused(last("1,\"2,yes"), "a quoted field begins in this row and never ends; close it, or double quotes inside of it"),
        refused(
            last("1,2,yes, of course"),
            "4 fields, where the first row has 3; mend the row, quote fields that hold `,`, or pass --delimiter or --skip-rows",
        ),
        read(plain().replace('\n', ",\n"), "40 rows, 2 features"),
        read(rows("x,n,kind", |i, kind| format!("{i}.5,{},{kind},", i % 7)), "40 rows, 2 features"),
        refused(
            last("Total,,40"),
            "this row is not like those above: `Total` is in a column of numbers; remove what is no row, such as totals",
        ),
        refused(
            plain().replacen('\n', "\n[mm],[g],\n", 1),
            "this row is not like those below: `[mm]` is in a column of numbers; remove it, or pass --skip-rows 1 if it is the last \
             line of the header",
        ),
        refused("x,n,kind\n", "there are no rows: a table has a line for each sample, and may have a header above them"),
        refused("{\"x\": 1.5, \"kind\": \"yes\"}\n", "this is JSON; save the table as CSV, and read that file"),
        refused("PK\u{3}\u{4}rest", "this is a spreadsheet (or another zip archive); save the sheet as CSV, and read that file"),
    ]
}

/// Files whose columns are odd.
fn columns() -> Vec<WorstTable> {
    vec![
        refused(
            plain().replace("x,n", "x,x"),
            "the header has two columns `x`; rename one, for columns are known by their names",
        ),
        refused(
            rows("x,n,kind", |i, _| format!("{i}.5,{},", i % 7)),
            "the label is missing; give the row one, or remove it and predict it with the model",
        ),
        refused(rows("x,n,kind", |i, _| format!("{i}.5,{},yes", i % 7)), "all 40 labels are yes: training needs two classes"),
        read(
            rows("x,n,kind", |i, kind| format!("{i}.5,{},{}", i % 7, if i % 3 == 0 { "Yes" } else { kind })),
            "`Yes` and `yes` are different labels, though only their spelling differs; write them alike if they mean the same",
        ),
        refused(
            first(|i| format!("Miss {i}")) + &first(|i| format!("Mister {i}"))[9..],
            "80 different words in 80 rows, such as `Miss 0`: names or identifiers, not categories; --drop x",
        ),
        refused(
            first(|i| if i % 4 == 1 { "missing".to_owned() } else { format!("{i}.5") }),
            "`missing` is no number, but 30 of 40 values of this column are; mend it, or pass --missing missing if it stands for a \
             missing value, --category x if the column holds categories, --drop x",
        ),
        read(first(|i| ["TRUE", "no", "T", "False"][i % 4].to_owned()), "1 of truths"),
        read(first(|i| format!("1.{}.1{}", 1 + i % 3, i % 4)), "1 of words"),
        refused(
            first(|i| format!("{}.{}.2020", 1 + i % 28, 1 + i % 12)),
            "`1.1.2020` is a date: neither a number nor a category; make a number of it, such as days, or --drop x, or --category x",
        ),
        refused(
            first(|i| format!("{}-Mar-2020", 1 + i % 28)),
            "`1-Mar-2020` is a date: neither a number nor a category; make a number of it, such as days, or --drop x, or --category x",
        ),
    ]
}

/// Files whose numbers are odd.
fn numbers() -> Vec<WorstTable> {
    vec![
        refused(
            first(|i| format!("{}'100.50", i + 1)),
            "`1'100.50` is the number 1100.50 with other marks; write it so (in a spreadsheet: take the format of numbers away, and \
             export again), or --drop x",
        ),
        refused(
            rows("x;n;kind", |i, kind| format!("{}.100,50;{};{kind}", i + 1, i % 7)),
            "`1.100,50` is the number 1100.50 with other marks; write it so (in a spreadsheet: take the format of numbers away, and \
             export again), or --drop x",
        ),
        refused(
            first(|i| if i % 3 == 0 { format!("({}.5)", i + 1) } else { format!("{i}.5") }),
            "`(1.5)` is the number -1.5 with other marks; write it so (in a spreadsheet: take the format of numbers away, and export \
             again), or --drop x",
        ),
        refused(
            rows("x;n;kind", |i, kind| format!("{},100;{};{kind}", i + 1, i % 7)),
            "`1,100` has a comma; write numbers with a point, or pass --decimal comma if this is no thousands separator",
        ),
        refused(
            first(|i| format!("{i} %")),
            "`0 %` is a number with a unit; write the numbers without it, or pass --category x if these are categories, or --drop x",
        ),
        refused(
            first(|i| if i == 9 { "inf".to_owned() } else { format!("{i}.5") }),
            "`inf` is not finite; replace it, or leave it empty if it is missing",
        ),
    ]
}

#[test]
fn the_worst_tables_are_read_or_get_one_message() {
    let documented = include_str!("../../../../docs/tables.md");
    let bench = Bench::new();
    for WorstTable { content, code, says } in [texts(), columns(), numbers()].into_iter().flatten() {
        bench.file("worst.csv", &content);
        let found = bench.run("train worst.csv -o m --force");
        let said = format!("{}{}", found.out, found.err);
        assert!(found.code == code && said.contains(says), "{says}: {found:?}");
        let message = said.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(message, usize::try_from(code).expect("0 or 1"), "{found:?}");
        assert!(documented.contains(&format!("| {says} |")), "not in docs/tables.md: {says}");
        // `info` describes whatever it can, and ends.
        assert!([0, 1].contains(&bench.run("info worst.csv").code));
    }
}
