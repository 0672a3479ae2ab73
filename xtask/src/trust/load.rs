//! One model under load: processes update it while others predict from it.

use super::Findings;
use super::program::{Program, Random, said};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Processes that update the model at the same time.
const UPDATERS: usize = 8;

/// Processes that predict from it at the same time.
const READERS: usize = 64;

/// Samples of the first model, and rows that readers predict.
const ROWS: usize = 200;
const PROBES: usize = 20;

/// The results of one process's updates.
#[derive(Default)]
struct Sum {
    updates: usize,
    added: u64,
    removed: u64,
    /// First and last number of every block of samples that was added.
    blocks: Vec<(u64, u64)>,
    wrong: Vec<String>,
}

/// Makes `runs` updates in every updater. At the end the model has all added samples that were not
/// removed, it is certified, and no temporary file is left.
pub(crate) fn run(runs: usize, seed: u64, work: &Path, path: &Path) -> Outcome<Findings> {
    let program = Program { path, folder: work };
    program.succeed(&format!("train two-gaussians --rows {ROWS} -c 10 -g 0.5 --updatable -o m -q --threads 1"))?;
    let begun = Instant::now();
    let over = AtomicBool::new(false);
    let (predictions, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let reader = || {
        while !over.load(Ordering::Relaxed) {
            if let Err(what) = read(program) {
                wrong.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(what);
            }
            predictions.fetch_add(1, Ordering::Relaxed);
        }
    };
    let sums: Vec<Sum> = thread::scope(|scope| {
        (0..READERS).for_each(|_| drop(scope.spawn(reader)));
        let updaters: Vec<_> =
            (0..UPDATERS).map(|k| scope.spawn(move || updates(program, runs, seed.wrapping_add(1000 * k as u64)))).collect();
        let sums = updaters.into_iter().map(|updater| updater.join().unwrap_or_default()).collect();
        over.store(true, Ordering::Relaxed);
        sums
    });
    let seconds = begun.elapsed().as_secs_f64();
    let mut findings = Findings { wrong: wrong.into_inner().unwrap_or_default(), ..Findings::default() };
    let sum = |of: fn(&Sum) -> u64| sums.iter().map(of).sum::<u64>();
    let (updates, added, removed) = (sum(|s| s.updates as u64), sum(|s| s.added), sum(|s| s.removed));
    findings.expect(updates == (UPDATERS * runs) as u64, || format!("{updates} of {} updates", UPDATERS * runs));
    let rows = program.json("info m")?["training"]["rows"].as_u64();
    let expected = ROWS as u64 + added - removed;
    findings.expect(rows == Some(expected), || format!("{rows:?} samples instead of {ROWS} + {added} - {removed}"));
    let mut blocks: Vec<(u64, u64)> = sums.iter().flat_map(|s| s.blocks.iter().copied()).collect();
    blocks.sort_unstable();
    let mut next = ROWS as u64 + 1;
    for (first, last) in blocks {
        findings.expect(first == next, || format!("samples {first} to {last} came when {next} was the next number"));
        next = last + 1;
    }
    let verified = program.run("verify m -q")?;
    findings.expect(verified.status.success(), || format!("verify: {}", said(&verified)));
    let names = program.names(".")?;
    findings.expect(names == ["m"], || format!("the folder holds {names:?}"));
    findings.wrong.extend(sums.into_iter().flat_map(|sum| sum.wrong));
    let predictions = predictions.into_inner();
    findings.done.push(format!(
        "load: {UPDATERS} processes made {updates} updates (+{added} -{removed} samples) while {READERS} made {predictions} predictions, in {seconds:.1} s"
    ));
    Ok(findings)
}

/// Checks that a prediction sees a whole model: all labels exist and are those of two classes.
fn read(program: Program) -> Result<(), String> {
    let line = format!("predict two-gaussians m --rows {PROBES} -o - -q --threads 1");
    let output = program.run(&line).map_err(|e| e.to_string())?;
    let labels = String::from_utf8_lossy(&output.stdout);
    let whole = labels.lines().count() == PROBES && labels.lines().all(|label| label == "1" || label == "-1");
    if output.status.success() && whole { Ok(()) } else { Err(format!("a prediction: {}: {labels}", said(&output))) }
}

/// Makes the updates of one process: each adds samples and removes some of its own.
fn updates(program: Program, runs: usize, seed: u64) -> Sum {
    let mut random = Random::new(seed);
    let (mut sum, mut own) = (Sum::default(), Vec::new());
    for run in 0..runs {
        // Two samples or more: the generator makes both classes.
        let (count, seed) = (2 + random.below(4), random.below(1 << 30));
        let gone: Option<u64> = (own.len() > 2).then(|| own.swap_remove(random.below(own.len())));
        let remove = gone.map_or_else(String::new, |number| format!("--remove {number}"));
        let line = format!("update m --add two-gaussians --rows {count} --seed {seed} {remove} -q --threads 1");
        let done = program.json(&line).and_then(|document| document["first_number"].as_u64().ok_or("no number").context(&line));
        match done {
            Ok(first) => {
                let last = first + count as u64 - 1;
                own.extend(first..=last);
                sum.blocks.push((first, last));
                sum.updates += 1;
                sum.added += count as u64;
                sum.removed += u64::from(gone.is_some());
            }
            Err(failure) => sum.wrong.push(format!("update {run}: {failure}")),
        }
    }
    sum
}
