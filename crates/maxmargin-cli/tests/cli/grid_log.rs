//! `grid --log`: searches that are killed, shared, cut up, and go on with the same bits.

use crate::common::{Answer, Bench, answer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// A document without times, memory, and the counts that depend on which thread computes a kernel
/// row first.
fn bits(mut document: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| {
                    !["seconds", "rows_computed", "bytes", "threads", "warnings"].iter().any(|word| key.contains(word))
                });
                map.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut document);
    document
}

fn done(bench: &Bench, line: &str) -> Value {
    bits(bench.json(line))
}

/// The cells of a log, and when each was written.
fn cells(bench: &Bench, folder: &str) -> BTreeMap<String, SystemTime> {
    let Ok(entries) = fs::read_dir(bench.path(folder)) else { return BTreeMap::new() };
    let written = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), entry.metadata().expect("a file").modified().expect("a time"))
    };
    entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "cell")).map(written).collect()
}

fn others(bench: &Bench, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(bench.path(folder)).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| Path::new(name).extension().is_none_or(|end| end != "cell"));
    names.sort();
    names
}

const SEARCH: &str = "grid banana --rows 400 -k 3 -c 2^-2:2^8:4 -g 2^-3:2^3:4 -q --threads 2";

/// Ten times `kill -9`: what was done stays, nothing of the rest differs.
#[test]
fn a_search_that_was_killed_goes_on_with_the_same_bits() {
    let bench = Bench::new();
    let begun = Instant::now();
    let whole = done(&bench, &format!("{SEARCH} -o model"));
    let time = begun.elapsed();
    let model = fs::read(bench.path("model")).expect("a model");
    let line = format!("{SEARCH} -o model --log kept");
    let mut before = BTreeMap::new();
    for kill in 0..10_u32 {
        // Each gets a little farther, whether it finds a new cell or is killed while it reads the
        // old ones.
        let mut child = bench.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
        sleep(time.mul_f64(0.08 + 0.06 * f64::from(kill)).min(Duration::from_secs(20)));
        let _ = child.kill();
        child.wait().expect("it ended");
        let now = cells(&bench, "kept");
        assert!(before.iter().all(|cell| now.get(cell.0) == Some(cell.1)), "kill {kill}: what was done is done");
        before = now;
    }
    fs::remove_file(bench.path("model")).ok();
    assert_eq!(done(&bench, &line)["cells"], whole["cells"]);
    let now = cells(&bench, "kept");
    assert!(before.iter().all(|cell| now.get(cell.0) == Some(cell.1)) && now.len() == 24, "{}", now.len());
    assert_eq!(fs::read(bench.path("model")).expect("a model"), model);
    assert_eq!(others(&bench, "kept"), ["search.json"], "leases and temporary files are gone");
    let again = done(&bench, &line);
    assert_eq!((&again["best"], &again["cells"]), (&whole["best"], &whole["cells"]));
    assert_eq!(cells(&bench, "kept"), now, "nothing is computed twice");
}

/// Killed between the last cell of a column and the end of its lease: the next run finds nothing to
/// do, and cleans up.
#[test]
fn a_lease_left_after_the_last_cell_is_swept() {
    let bench = Bench::new();
    let line = format!("{SEARCH} --log kept");
    let mut child = bench.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    let lease = || {
        let files = fs::read_dir(bench.path("kept")).ok()?.flatten().map(|entry| entry.path());
        let found = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "lease"))?;
        let text = fs::read(&found).ok().filter(|text| text.ends_with(b"\n"))?;
        Some((found, text))
    };
    let begun = Instant::now();
    let (path, text) = loop {
        if let Some(found) = lease() {
            break found;
        }
        assert!(begun.elapsed() < Duration::from_mins(1) && child.try_wait().is_ok_and(|ended| ended.is_none()), "a lease");
    };
    child.wait().expect("it ended");
    assert_eq!(others(&bench, "kept"), ["search.json"]);
    fs::write(&path, text).expect("the folder can be written");
    done(&bench, &line);
    assert_eq!(others(&bench, "kept"), ["search.json"]);
}

/// A search that lost some cells computes these again with the same bits, and no others: one
/// machine and many, classes and values.
#[test]
fn a_chain_along_c_goes_on_from_any_cell() {
    let bench = Bench::new();
    let line = |i: u32| format!("{} 1:{} 2:{}\n", i % 3, f64::from(i * 37 % 91) / 45.0, f64::from(i * 11 % 17) / 8.0);
    let lines = (0..90).map(line).collect::<Vec<_>>().concat();
    bench.file("three", lines);
    for (at, search) in [
        "banana --rows 150 -g 0.5,2",
        "three -g 0.5,2 --classes one-vs-rest",
        "three -g 1",
        // No sample reaches C from 2 on: machines of one C are those of the next.
        "three -g 2000",
        "banana --rows 150 -g 2000",
        "three -g 0.5 --formulation epsilon-svr --epsilon 0.1",
        "three --kernel linear",
        "banana --rows 150 -g 0.5 --seeding cold",
        "banana --rows 150 -g 0.5 --scale standard",
    ]
    .iter()
    .enumerate()
    {
        let line = format!("grid {search} -k 3 -c 0.5,2,8,32 -q --threads 2");
        let whole = done(&bench, &line)["cells"].clone();
        let logged = format!("{line} --log kept{at}");
        assert_eq!(done(&bench, &logged)["cells"], whole, "{search}");
        let names: Vec<String> = cells(&bench, &format!("kept{at}")).into_keys().collect();
        for name in &names {
            fs::remove_file(bench.path(&format!("kept{at}/{name}"))).expect("a cell");
            assert_eq!(done(&bench, &logged)["cells"], whole, "{search} without {name}");
        }
    }
}

/// Values of C that come later start from the cells before them, with exact values that are kept
/// and not kept, and with kept sums of bounded samples.
#[test]
fn a_wider_range_of_c_has_the_bits_of_one_search() {
    let bench = Bench::new();
    for (data, kernel) in [("blobs --rows 700 --features 8", "-g 0.5"), ("two-gaussians --rows 2100", "-g 0.2")] {
        let search = |values: &str, log: &str| format!("grid {data} -k 3 {kernel} -c {values} -q {log}");
        let whole = done(&bench, &search("0.5,1,4", ""));
        let log = format!("--log {}", data.len());
        for values in ["0.5", "0.5,1", "0.5,1,4"] {
            let part = done(&bench, &search(values, &log));
            let count = values.split(',').count();
            assert_eq!(part["cells"].as_array().expect("cells"), &whole["cells"].as_array().expect("cells")[..count], "{data}");
        }
    }
}

#[test]
fn two_processes_share_a_search() {
    let bench = Bench::new();
    let whole = done(&bench, SEARCH);
    let line = format!("{SEARCH} --log kept --json");
    let [one, other] = [0, 1].map(|_| {
        let mut command = bench.command(&line);
        std::thread::spawn(move || answer(&mut command))
    });
    let answers: [Answer; 2] = [one, other].map(|run| run.join().expect("no panic"));
    for answer in answers {
        assert_eq!((answer.code, &bits(answer.json())["cells"]), (0, &whole["cells"]), "{}", answer.err);
    }
    assert_eq!((cells(&bench, "kept").len(), others(&bench, "kept")), (24, vec!["search.json".to_owned()]));
}

#[test]
fn another_search_is_refused_by_name() {
    let bench = Bench::new();
    let line = "grid banana --rows 80 -k 3 -c 1 -g 1 -q --log kept";
    bench.json(line);
    for (other, told) in [
        ("grid banana --rows 81 -k 3 -c 1 -g 1 --log kept", "other data"),
        ("grid banana --rows 80 -k 4 -c 1 -g 1 --log kept", "other folds (-k, --folds, --seed)"),
        ("grid banana --rows 80 -k 3 -c 1 -g 1 --eps 0.01 --log kept", "another eps: 0.001 there, 0.01 here"),
        ("grid banana --rows 80 -k 3 -c 1 -g 1 --seeding cold --log kept", "another seeding: \"full\" there, \"cold\" here"),
        ("grid banana --rows 80 -k 3 -c 1 -g 1 --scale minmax --log kept", "another scale: null there, \"minmax\" here"),
        ("grid banana --rows 80 -k 3 -c 1 -g 1 --log new --resume", "there is no search here"),
        ("grid banana --rows 80 -k 3 -c 1 -g 1 --merge-logs new", "there is no search here"),
    ] {
        let refused = bench.run(&format!("{other} -q"));
        assert!(refused.code == 1 && refused.err.contains(told), "{other}: {refused:?}");
    }
    fs::create_dir(bench.path("full")).expect("room");
    fs::write(bench.path("full/thesis.tex"), "do not lose").expect("room");
    let refused = bench.run("grid banana --rows 80 -k 3 -c 1 -g 1 --log full");
    assert!(refused.code == 1 && refused.err.contains("the folder has other files in it (thesis.tex)"), "{refused:?}");
    // Ranges and the metric are no such setting: what fits is used.
    let before = cells(&bench, "kept");
    let wider = bench.json("grid banana --rows 80 -k 3 -c 1,10 -g 1,2 --metric f1 -q --log kept --resume");
    let now = cells(&bench, "kept");
    assert!(wider["cells"].as_array().is_some_and(|cells| cells.len() == 4) && now.len() == 4);
    assert!(before.iter().all(|cell| now.get(cell.0) == Some(cell.1)));
}

#[test]
fn a_damaged_cell_is_computed_anew() {
    let bench = Bench::new();
    let line = "grid banana --rows 120 -k 3 -c 1,4,16 -g 1 --log kept";
    let whole = done(&bench, line);
    let name = cells(&bench, "kept").into_keys().next().expect("a cell");
    let path = bench.path(&format!("kept/{name}"));
    let mut bytes = fs::read(&path).expect("a cell");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).expect("room");
    let again = bench.run(&format!("{line} --json"));
    assert!(again.err.contains(&format!("kept: {name}: damaged; it was computed again")), "{again:?}");
    assert_eq!(bits(again.json())["cells"], whole["cells"]);
    assert_ne!(fs::read(&path).expect("a cell"), bytes);
}

/// The parts of a search, done one after the other, are the search.
#[test]
fn shards_are_merged() {
    let bench = Bench::new();
    let whole = done(&bench, SEARCH);
    for shard in 0..3 {
        let part = done(&bench, &format!("{SEARCH} --log kept --shard {shard}/3"));
        let expected = if shard == 0 { 12 } else { 6 };
        assert_eq!(part["cells"].as_array().map(Vec::len), Some(expected));
        if shard == 1 {
            let some = bench.run(&format!("{} --merge-logs kept --json", SEARCH.replace(" -q", "")));
            assert!(some.code == 3 && some.err.contains("6 of 24 combinations were not reached"), "{some:?}");
        }
    }
    let before = cells(&bench, "kept");
    let merged = done(&bench, &format!("{SEARCH} --merge-logs kept"));
    assert_eq!((&merged["cells"], &merged["best"]), (&whole["cells"], &whole["best"]));
    assert_eq!(cells(&bench, "kept"), before);
    for bad in ["3/3", "1", "-1/2", "a/b"] {
        assert_eq!(bench.run(&format!("{SEARCH} --log kept --shard={bad}")).code, 2, "{bad}");
    }
}

/// The lines that LIBSVM's grid.py reads with `-resume`.
#[test]
fn the_table_of_grid_py_is_written() {
    let bench = Bench::new();
    let grid = bench.json("grid banana --rows 100 -k 4 -c 0.5,32 -g 0.25 --out-grid banana.out -q");
    let rates: Vec<f64> =
        grid["cells"].as_array().expect("cells").iter().map(|cell| 100.0 * cell["score"].as_f64().expect("a score")).collect();
    let expected = format!("log2c=-1.0 log2g=-2.0 rate={:?}\nlog2c=5.0 log2g=-2.0 rate={:?}\n", rates[0], rates[1]);
    assert_eq!(bench.read("banana.out"), expected);
}
