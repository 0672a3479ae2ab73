//! Tables as they are met: several odd columns, other encodings and notations, lines before the
//! header, labels in the first column.

use crate::common::Bench;
use std::fmt::Write;

/// Rows like those of the Titanic: names, tickets, gaps, and two classes.
fn passengers(rows: usize) -> String {
    let mut text = String::from("Name,Age,Ticket,Fare,Survived\n");
    for i in 0..rows {
        let age = if i % 5 == 2 { String::new() } else { format!("{}", 20 + i % 40) };
        let _ = writeln!(text, "\"Miss {i}, A.\",{age},T{i},{}.5,{}", (i * 7) % 30, i % 2);
    }
    text
}

#[test]
fn all_odd_columns_are_reported_with_a_command_that_works() {
    let bench = Bench::new();
    bench.file("ship.csv", passengers(80));
    let refused = bench.run("train ship.csv --target Survived -o m");
    assert_eq!(refused.code, 1, "{refused:?}");
    let lines: Vec<&str> = refused.err.lines().collect();
    assert_eq!(lines[0], "error: ship.csv: 3 columns cannot be used as they are:");
    for (line, says) in lines[1..].iter().zip([
        "  column Name: 80 different words in 80 rows, such as `Miss 0, A.`",
        "  column Age: 16 of 80 values are missing, the first on line 4",
        "  column Ticket: 80 different words in 80 rows, such as `T0`",
    ]) {
        assert!(line.starts_with(says), "{line}");
    }
    let command = lines[4].strip_prefix("mend them, or try: maxmargin ").expect("a command");
    assert_eq!(command, "train ship.csv --target Survived -o m --drop Name,Ticket --impute median");
    let trained = bench.run(command);
    assert_eq!(trained.code, 0, "{trained:?}");
    // `info` describes the other columns, and proposes the same.
    let info = bench.run("info ship.csv --target Survived");
    assert_eq!(info.code, 0, "{info:?}");
    assert!(
        info.err.contains("to train on it: maxmargin train ship.csv --drop Name,Ticket --impute median -o MODEL"),
        "{info:?}"
    );
    assert_eq!(info.warnings().iter().filter(|line| line.ends_with(": left out")).count(), 2, "{info:?}");
    assert!(info.out.contains("Age") && info.out.contains("Fare"), "{info:?}");
}

/// Rows in the place of columns made a list of as many lines as there were rows.
#[test]
fn a_list_of_faults_fits_a_screen() {
    let bench = Bench::new();
    let columns = |field: fn(usize) -> String| (0..60).map(field).collect::<Vec<_>>().join(",");
    bench.file("turned.csv", format!("x,{}\nkind,{}\n", columns(|i| format!("{i}.5")), columns(|i| format!("k{}", i % 2))));
    let refused = bench.run("train turned.csv -o m");
    assert!(refused.code == 1 && refused.err.lines().count() == 23 && refused.err.contains("  and 40 more\n"), "{refused:?}");
}

#[test]
fn the_command_works_where_numbers_have_units() {
    let bench = Bench::new();
    let row = |i: usize| format!("P{i},${i}.50,{},{}\n", i % 7, i % 2);
    bench.file("shop.csv", format!("id,price,size,y\n{}", (0..60).map(row).collect::<String>()));
    let refused = bench.run("train shop.csv -o m");
    let command = refused.err.lines().last().and_then(|line| line.strip_prefix("mend them, or try: maxmargin "));
    assert_eq!(command, Some("train shop.csv -o m --drop id,price"), "{refused:?}");
    let trained = bench.run(command.expect("a command"));
    assert_eq!(trained.code, 0, "{trained:?}");
}

#[test]
fn other_notations_are_read_and_named() {
    let bench = Bench::new();
    let plain = "size,colour,y\n1.5,red,0\n2.25,blue,1\n3.5,red,0\n4.5,blue,1\n1.75,red,0\n2.5,blue,1\n";
    let german = plain.replace(',', ";").replace('.', ",").replace("red", "größe");
    let utf16: Vec<u8> = format!("\u{feff}{german}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = german.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    bench.file("plain.csv", plain.replace("red", "größe"));
    let expected = bench.json("info plain.csv")["columns"].clone();
    for (name, bytes, says) in [
        ("utf16.csv", utf16, "decimal commas, in UTF-16;"),
        ("latin.csv", latin, "decimal commas, in Windows-1252 (Latin-1);"),
        ("excel.csv", format!("sep=;\r\n{german}").into_bytes(), "decimal commas, after one line that is left out"),
        ("titled.csv", format!("Sizes by colour\n\n{german}").into_bytes(), "after 2 lines that are left out"),
        ("blanks.txt", plain.replace("red", "größe").replace(',', "   ").into_bytes(), "a table with blanks and a header"),
        (
            "quotes.csv",
            plain.replace("red", "größe").replace(',', ", ").replace("2.25", "\"2.25\"").into_bytes(),
            "a table with `,`",
        ),
    ] {
        bench.file(name, bytes);
        let info = bench.run(&format!("info {name} --json"));
        assert!(info.err.contains(says), "{name}: {says}: {info:?}");
        assert_eq!(info.json()["columns"], expected, "{name}");
    }
    bench.file("notes.csv", format!("Sizes, colours\nof 2020, 2021, all of them, and more\n{plain}"));
    let refused = bench.run("info notes.csv");
    assert!(refused.code == 1 && refused.err.contains("or pass --delimiter or --skip-rows"), "{refused:?}");
    assert_eq!(bench.run("info notes.csv --skip-rows 2").code, 0);
    // Two meanings: the option decides.
    bench.file("thousands.csv", "a;y\n1,234;0\n5,678;1\n");
    let refused = bench.run("info thousands.csv");
    assert!(refused.code == 1 && refused.err.contains("pass --decimal comma if this is no thousands separator"), "{refused:?}");
    assert_eq!(bench.json("info thousands.csv --decimal comma")["maximum"], 5.678);
}

#[test]
fn tables_packed_by_zstandard_are_read() {
    let bench = Bench::new();
    // `zstd` of "a,y\n1,0\n2,1\n3,0\n4,1\n" in one raw block, with its size and no checksum.
    let text = b"a,y\n1,0\n2,1\n3,0\n4,1\n";
    let size = u8::try_from(text.len()).expect("a short text");
    let mut packed = vec![0x28, 0xB5, 0x2F, 0xFD, 0x20, size];
    packed.extend([1 | (size << 3), size >> 5, 0]);
    packed.extend(text);
    bench.file("a.csv.zst", &packed);
    assert_eq!(bench.json("info a.csv.zst")["data"]["rows"], 4);
    bench.file("cut.csv.zst", &packed[..packed.len() - 3]);
    let cut = bench.run("info cut.csv.zst");
    assert!(cut.code == 1 && cut.err.contains("cut.csv.zst: zstd data ends too early (the file is truncated)"), "{cut:?}");
}

#[test]
fn a_line_of_counts_is_no_header() {
    let bench = Bench::new();
    let row = |i: usize| format!("{}.5,{},1.25,{}\n", i, i * 3 % 7, i % 3);
    let rows: String = (0..12).map(row).collect();
    bench.file("iris.csv", format!("12,3,setosa,versicolor,virginica\n{rows}"));
    let info = bench.json("info iris.csv");
    assert_eq!((&info["data"]["rows"], &info["data"]["features"]), (&12.into(), &3.into()), "{info}");
    assert_eq!(bench.run("train iris.csv -o m -q").code, 0);
}

#[test]
fn labels_in_the_first_column_are_proposed() {
    let bench = Bench::new();
    let row = |i: usize| format!("{},{}.5,{}.25\n", ["cat", "dog"][i % 2], i % 9, i);
    bench.file("pets.csv", format!("kind,size,weight\n{}", (0..40).map(row).collect::<String>()));
    let refused = bench.run("train pets.csv -o m");
    assert!(refused.code == 1 && refused.err.contains("pass --target kind to predict that column"), "{refused:?}");
    let info = bench.run("info pets.csv");
    assert_eq!(info.code, 0);
    assert!(info.warnings().iter().any(|line| line.contains("column kind looks more like it: 2 different words")), "{info:?}");
    let trained = bench.run("train pets.csv --target kind -o m");
    assert!(trained.code == 0 && !trained.err.contains("looks more like"), "{trained:?}");
}

#[test]
fn spreadsheets_say_what_to_do() {
    let bench = Bench::new();
    bench.file("book.xlsx", b"PK\x03\x04\x14\x00\x06\x00");
    for command in ["info book.xlsx", "train book.xlsx -o m", "train book.xlsx -o m --format csv"] {
        let refused = bench.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert_eq!(
            refused.err.lines().last(),
            Some("error: book.xlsx: this is a spreadsheet (or another zip archive); save the sheet as CSV, and read that file")
        );
    }
}

/// Rows of two numbers and a class.
fn numbered(rows: usize, line: impl Fn(usize, f64) -> String) -> String {
    (0..rows).map(|i| line(i, i as f64 * 0.25 - 3.0)).collect()
}

#[test]
fn row_names_and_indices_are_no_features() {
    let bench = Bench::new();
    let class = |i: usize| ["yes", "no"][i % 2];
    // What R's write.table and write.csv, and pandas' to_csv write.
    let of_r = numbered(30, |i, x| format!("\"{}\" {x} {} \"{}\"\n", i + 1, i % 7, class(i)));
    bench.file("r.txt", format!("\"x\" \"n\" \"class\"\n{of_r}"));
    let named = numbered(30, |i, x| format!("\"car {i}\",{x},{},{}\n", i % 7, class(i)));
    bench.file("named.csv", format!("\"\",\"x\",\"n\",\"class\"\n{named}"));
    bench.file("short.csv", format!("\"x\",\"n\",\"class\"\n{named}"));
    let counted = numbered(30, |i, x| format!("{i},{x},{},{}\n", i % 7, class(i)));
    bench.file("pandas.csv", format!(",x,n,class\n{counted}"));
    // Rows that were drawn keep their numbers.
    let drawn = numbered(30, |i, x| format!("{},{x},{},{}\n", 100 + i * 7 % 30, i % 7, class(i)));
    bench.file("drawn.csv", format!(",x,n,class\n{drawn}"));
    for file in ["r.txt", "named.csv", "short.csv", "pandas.csv", "drawn.csv"] {
        let trained = bench.run(&format!("train {file} -o m"));
        assert_eq!(trained.code, 0, "{file}: {trained:?}");
        assert!(trained.out.contains("30 rows, 2 features"), "{file}: {trained:?}");
        assert!(trained.err.contains("column 1 has no name and counts or names the rows: it is left out"), "{trained:?}");
        let predicted = bench.run(&format!("predict {file} m"));
        assert_eq!(predicted.code, 0, "{file}: {predicted:?}");
    }
    // An unnamed column of values is a feature.
    let values = numbered(30, |i, x| format!("{},{x},{}\n", (i * 7) % 15, class(i)));
    bench.file("values.csv", format!(",x,class\n{values}"));
    assert!(bench.run("train values.csv -q").out.contains("30 rows, 2 features"));
}

#[test]
fn rows_that_are_none_are_named_by_their_lines() {
    let bench = Bench::new();
    let rows = numbered(20, |i, x| format!("{x},{},{}\n", i % 7, ["yes", "no"][i % 2]));
    let says = |file: &str, text: String, expected: &str| {
        bench.file(file, text);
        let answer = bench.run(&format!("train {file} -q"));
        assert_eq!((answer.code, &answer.err[..]), (1, expected), "{file}");
    };
    let joined = format!("x,n,class\n{rows}x,n,class\n{rows}");
    says("joined.csv", joined, "error: joined.csv:22: this row repeats the header, as in files that were joined; remove it\n");
    says(
        "units.csv",
        format!("length,mass,class\n[mm],[g],\n{rows}"),
        "error: units.csv:2: this row is not like those below: `[mm]` is in a column of numbers; \
         remove it, or pass --skip-rows 1 if it is the last line of the header\n",
    );
    says(
        "totals.csv",
        format!("x,n,class\n{rows}Total,,20\nReport of May,,\n"),
        "error: totals.csv:22: the rows up to line 23 are not like those above: `Total` is in a column of numbers; \
         remove what is no row, such as totals\n",
    );
    // One odd field is a fault of its own, wherever it is.
    bench.file("typo.csv", format!("x,n,class\n{rows}1.2.3,4,no\n"));
    assert!(bench.run("train typo.csv -q").err.contains("typo.csv:22: column x: `1.2.3` is no number"));
}

#[test]
fn dates_are_no_categories() {
    let bench = Bench::new();
    let rows = numbered(40, |i, x| format!("{x},20{}-0{}-15,{}\n", 10 + i % 4, 1 + i % 3, ["yes", "no"][i % 2]));
    bench.file("dates.csv", format!("x,since,class\n{rows}"));
    let refused = bench.run("train dates.csv -q");
    let expected = "error: dates.csv: column since: `2010-01-15` is a date: neither a number nor a category; \
                    make a number of it, such as days, or --drop since, or --category since\n";
    assert_eq!((refused.code, &refused.err[..]), (1, expected));
    assert!(bench.run("train dates.csv -q --drop since").out.contains("40 rows, 1 feature"));
    assert_eq!(bench.run("train dates.csv -q --category since").code, 0);
}

#[test]
fn quantities_with_one_unit_are_numbers_and_codes_are_not() {
    let bench = Bench::new();
    let class = |i: usize| ["yes", "no"][i % 2];
    let doses = numbered(40, |i, x| format!("{x},{} mg,{}G,{}\n", (i % 9) as f64 * 0.5, 3 + i % 3, class(i)));
    bench.file("doses.csv", format!("x,dose,network,class\n{doses}"));
    let refused = bench.run("train doses.csv -q");
    assert!(refused.err.contains("doses.csv:2: column dose: `0 mg` is a number with a unit"), "{refused:?}");
    let trained = bench.run("train doses.csv -q --drop dose");
    assert!(trained.out.contains("40 rows, 4 features"), "{trained:?}");
}

#[test]
fn labels_that_differ_in_spelling_alone_are_doubted() {
    let bench = Bench::new();
    let rows = numbered(40, |i, x| format!("{x},{}\n", ["yes", "no", "Yes", "NO"][i % 4]));
    bench.file("spelt.csv", format!("x,answer\n{rows}"));
    let trained = bench.run("train spelt.csv -q");
    let expected = "warning: spelt.csv: column answer: `NO` and `no` are different labels, though only their spelling differs; \
                    write them alike if they mean the same";
    assert_eq!((trained.code, trained.warnings()[0]), (0, expected), "{trained:?}");
}
