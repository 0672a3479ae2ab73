//! Several programs on one model: nothing that one of them did is lost, nothing is left behind.
#![cfg(unix)]

use crate::common::{Answer, Bench};
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn trained(bench: &Bench, name: &str, rows: usize) {
    let line = format!("train two-gaussians --rows {rows} -c 10 -g 0.5 --updatable -o {name} -q");
    assert_eq!(bench.run(&line).code, 0);
}

fn started(bench: &Bench, line: &str) -> Child {
    bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

fn ended(mut child: Child) -> Answer {
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_mins(2) {
            child.kill().expect("a child");
            panic!("it never ended");
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a child");
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The lock that a program holds which updates the model.
fn held(bench: &Bench) -> File {
    let file = File::open(bench.path("m")).expect("the model");
    file.lock().expect("a lock");
    file
}

/// Two updates of one model at the same time both ended with 0, and one of them was lost.
#[test]
fn updates_at_the_same_time_all_count() {
    let bench = Bench::new();
    trained(&bench, "m", 120);
    let adding = |k: usize| started(&bench, &format!("update m --add two-gaussians --rows 5 --seed {k} --json"));
    let removing = |k: usize| started(&bench, &format!("update m --remove {k} --json"));
    let children: Vec<Child> = (1..=4).map(adding).chain((1..=3).map(removing)).collect();
    let answers: Vec<Answer> = children.into_iter().map(ended).collect();
    assert!(answers.iter().all(|answer| answer.code == 0), "{answers:?}");
    assert_eq!(bench.json("info m")["training"]["rows"], 120 + 4 * 5 - 3);
    let mut first: Vec<u64> =
        answers.iter().map(Answer::json).filter(|d| d["added"] == 5).map(|d| d["first_number"].as_u64().unwrap()).collect();
    first.sort_unstable();
    assert_eq!(first, [121, 126, 131, 136]);
    assert_eq!(bench.run("verify m -q").code, 0);
    assert_eq!(bench.names(), ["m"]);
}

#[test]
fn who_waits_says_so_and_who_will_not_fails() {
    let bench = Bench::new();
    trained(&bench, "m", 100);
    let before = std::fs::read(bench.path("m")).unwrap();
    let lock = held(&bench);
    let refused = bench.run("update m --remove 3 --no-wait");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("error: m: another maxmargin is writing this file"), "{refused:?}");
    let (waiting, quiet) = (started(&bench, "update m --remove 3"), started(&bench, "update m --remove 4 -q"));
    // The word comes after a second.
    sleep(Duration::from_millis(2500));
    assert_eq!(std::fs::read(bench.path("m")).unwrap(), before);
    drop(lock);
    let (waited, quiet) = (ended(waiting), ended(quiet));
    assert!(waited.code == 0 && waited.err.contains("m: waiting for another maxmargin"), "{waited:?}");
    assert_eq!((quiet.code, &quiet.err[..]), (0, ""));
    assert_eq!(bench.json("info m")["training"]["rows"], 98);
    assert_eq!(bench.run("update m --remove 5 --no-wait -q").code, 0);
    assert_eq!(bench.names(), ["m"]);
}

/// The model that was waited for is another file when the wait ends.
#[test]
fn an_update_that_waited_goes_on_from_what_is_there_then() {
    let bench = Bench::new();
    trained(&bench, "m", 100);
    trained(&bench, "other", 150);
    let lock = held(&bench);
    let waiting = started(&bench, "update m --remove 3 -q");
    sleep(Duration::from_millis(500));
    std::fs::rename(bench.path("other"), bench.path("m")).unwrap();
    drop(lock);
    assert_eq!(ended(waiting).code, 0);
    assert_eq!(bench.json("info m")["training"]["rows"], 149);
}

#[test]
fn ctrl_c_ends_a_wait() {
    let bench = Bench::new();
    trained(&bench, "m", 100);
    let before = std::fs::read(bench.path("m")).unwrap();
    let lock = held(&bench);
    let waiting = started(&bench, "update m --remove 3");
    sleep(Duration::from_millis(700));
    assert!(Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap().success());
    assert_eq!(ended(waiting).code, 130);
    assert_eq!(std::fs::read(bench.path("m")).unwrap(), before);
    drop(lock);
    assert_eq!(bench.names(), ["m"]);
}

/// A training that replaces a model comes after the update that is under way, whose result would
/// else replace the training's.
#[test]
fn a_training_waits_for_an_update_of_the_model_it_replaces() {
    let bench = Bench::new();
    trained(&bench, "m", 100);
    let before = std::fs::read(bench.path("m")).unwrap();
    let lock = held(&bench);
    let training = started(&bench, "train two-gaussians --rows 60 -o m -q");
    sleep(Duration::from_millis(1500));
    assert_eq!(std::fs::read(bench.path("m")).unwrap(), before);
    // Readers ask for no lock.
    assert_eq!(bench.run("predict two-gaussians m -q").code, 0);
    drop(lock);
    assert_eq!(ended(training).code, 0);
    assert_eq!(bench.json("info m")["training"]["rows"], 60);
    assert_eq!(bench.names(), ["m"]);
}

/// Exit code 3 says that a result was written, and none was.
#[test]
fn an_interrupted_update_says_that_nothing_was_written() {
    let bench = Bench::new();
    assert_eq!(bench.run("train gauss-m --rows 1500 -c 1000 -g 1 --updatable -o m -q").code, 0);
    let before = std::fs::read(bench.path("m")).unwrap();
    // Many times as long as it is left alone.
    let running = started(&bench, "update m --add gauss-m --rows 9000 --seed 5");
    sleep(Duration::from_millis(700));
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    let answer = ended(running);
    assert_eq!(answer.code, 130, "{answer:?}");
    assert!(answer.err.contains("without a result") && answer.err.contains("nothing was written"), "{answer:?}");
    assert_eq!(std::fs::read(bench.path("m")).unwrap(), before);
    assert_eq!(bench.names(), ["m"]);
    assert!(bench.run("--help").out.contains("130 interrupted with nothing written"));
}

/// Standard error on a full disk: a message that cannot be written is no reason to fail.
#[test]
fn a_full_standard_error_is_no_panic() {
    let bench = Bench::new();
    let full = || File::options().write(true).open("/dev/full").expect("a device");
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    for (line, code) in [("train gauss-m --rows 400 -c 100 -g 1 --max-iter 20 -o m", 3), ("predict none none", 1)] {
        let status = bench.command(line).stderr(full()).stdout(Stdio::null()).status().expect("the program runs");
        assert_eq!(status.code(), Some(code), "{line}");
    }
    let answer = crate::common::answer(bench.command("info gauss-m").stdout(full()));
    assert!(answer.code == 1, "{answer:?}");
    let written = crate::common::answer(&mut bench.command("train gauss-m --rows 50 -o /dev/full -q"));
    assert!(written.code == 1 && written.err.contains("the disk is full"), "{written:?}");
    // The model was written although its report was not. The message says so, because a second
    // update would change the model again.
    assert_eq!(bench.run("train gauss-m --rows 50 --updatable -o m -q --force").code, 0);
    let updated = crate::common::answer(bench.command("update m --remove 3 -q").stdout(full()));
    assert!(updated.code == 1 && updated.err.contains("standard output: the disk is full"), "{updated:?}");
    assert!(updated.err.contains("(m was written)") && bench.run("info m").out.contains("49"), "{updated:?}");
}
