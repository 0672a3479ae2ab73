//! Programs that are killed: the file is the old one or the new one afterwards, and the next run
//! removes temporary files.

use super::Findings;
use super::program::{Program, Random, is_temporary, said};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A command that writes a file.
struct Victim {
    name: &'static str,
    line: &'static str,
    file: &'static str,
    /// The folder of its cache.
    cache: Option<&'static str>,
}

const VICTIMS: [Victim; 4] = [
    Victim { name: "train", line: "train data -c 10 -g 0.5 --updatable -o m -q --threads 1", file: "m", cache: None },
    Victim {
        name: "update",
        line: "update m --add two-gaussians --rows 40 --seed 3 --remove 1-20 -q --threads 1",
        file: "m",
        cache: None,
    },
    Victim {
        name: "cv",
        line: "cv data -c 1 -g 0.5 -k 5 --cache kept -o decisions --force -q --threads 1",
        file: "decisions",
        cache: Some("kept"),
    },
    Victim {
        name: "grid",
        line: "grid data -c 0.1,1 -g 0.5 -k 5 --cache kept --write-folds folds --force -q --threads 1",
        file: "folds",
        cache: Some("kept"),
    },
];

/// The moment of the signal.
enum Moment {
    After(Duration),
    /// `then` after the first temporary file that exists from `from` on.
    Writing {
        from: Duration,
        then: Duration,
    },
}

/// Kills each victim `runs` times: a third at any moment of its run, a third near its end, a third
/// while it writes.
pub(crate) fn run(runs: usize, seed: u64, work: &Path, path: &Path) -> Outcome<Findings> {
    let (mut findings, mut random) = (Findings::default(), Random::new(seed));
    for victim in &VICTIMS {
        let folder = work.join(victim.name);
        fs::create_dir(&folder).context(folder.display())?;
        let program = Program { path, folder: &folder };
        program.succeed("scale two-gaussians --rows 400 -o data -q")?;
        program.succeed("train data -c 1 -g 0.5 --updatable -o old-model -q")?;
        attack(victim, program, runs, &mut random, &mut findings)?;
    }
    Ok(findings)
}

/// Returns the moment of a kill. `share` is a random number between 0 and 1, `whole` the time of an
/// undisturbed run.
fn moment(run: usize, share: f64, whole: Duration) -> Moment {
    match run % 3 {
        0 => Moment::After(whole.mul_f64(1.05 * share)),
        1 => Moment::After(whole.mul_f64(0.8 + 0.25 * share)),
        // The first such file only shows that the folder can be written.
        _ => Moment::Writing {
            from: if run.is_multiple_of(2) { Duration::ZERO } else { whole.mul_f64(0.5) },
            then: Duration::from_micros((3000.0 * share * share) as u64),
        },
    }
}

/// Kills a command in many runs, and checks that its file is the old one or the new one each time.
fn attack(victim: &Victim, program: Program, runs: usize, random: &mut Random, findings: &mut Findings) -> Outcome<()> {
    let file = program.folder.join(victim.file);
    // The old content of the result's file: a model for `update`, else any bytes.
    let old = fs::read(program.folder.join("old-model")).context("old-model")?;
    let reset = || -> Outcome<()> {
        fs::write(&file, &old).context(file.display())?;
        if let Some(cache) = victim.cache {
            let _ = fs::remove_dir_all(program.folder.join(cache));
        }
        Ok(())
    };
    let mut whole = Duration::MAX;
    for _ in 0..3 {
        reset()?;
        let begun = Instant::now();
        program.succeed(victim.line)?;
        whole = whole.min(begun.elapsed());
    }
    let new = fs::read(&file).context(file.display())?;
    if new == old {
        return fail(format!("{}: the result is what was there before", victim.name));
    }
    let cached = victim.cache.map(|cache| program.names(cache)).transpose()?;
    let (mut kept, mut replaced, mut left, mut early) = (0, 0, 0, 0);
    for run in 0..runs {
        reset()?;
        early += usize::from(killed(victim, program, &moment(run, random.next(), whole))?);
        let found = fs::read(&file).context(file.display())?;
        kept += usize::from(found == old);
        replaced += usize::from(found == new);
        findings.expect(found == old || found == new, || {
            format!("{} {run}: {} bytes that are neither the old file nor the new one", victim.name, found.len())
        });
        let folders = [Some("."), victim.cache].into_iter().flatten();
        let names = |folder: &str| program.names(folder).unwrap_or_default();
        left += folders.clone().flat_map(names).filter(|name| is_temporary(name)).count();
        if let (Some(cache), Some(cached)) = (victim.cache, &cached) {
            let others: Vec<String> =
                names(cache).into_iter().filter(|name| !is_temporary(name) && !cached.contains(name)).collect();
            findings.expect(others.is_empty(), || format!("{} {run}: the cache holds {others:?}", victim.name));
        }
        // The next run works with these files and removes temporary ones. The cache is not emptied
        // before it.
        fs::write(&file, &old).context(file.display())?;
        let next = program.run(victim.line)?;
        findings.expect(next.status.success(), || format!("{} after kill {run}: {}", victim.name, said(&next)));
        findings.expect(fs::read(&file).is_ok_and(|found| found == new), || {
            format!("{} after kill {run} gives another result", victim.name)
        });
        let stale: Vec<String> = folders.flat_map(names).filter(|name| is_temporary(name)).collect();
        findings.expect(stale.is_empty(), || format!("{} after kill {run}: {stale:?} is still there", victim.name));
    }
    findings.done.push(format!(
        "crash: {:<6} {early} kills in {runs} runs of {:.0} ms: {kept} old files, {replaced} new ones, {left} temporary files left and swept",
        victim.name,
        1e3 * whole.as_secs_f64()
    ));
    Ok(())
}

/// Starts the victim and kills it. Returns whether it was still running.
fn killed(victim: &Victim, program: Program, moment: &Moment) -> Outcome<bool> {
    let mut child = program.command(victim.line).spawn().context(victim.line)?;
    let mut ended = false;
    match moment {
        Moment::After(time) => sleep(*time),
        Moment::Writing { from, then } => {
            sleep(*from);
            let folders = || [Some("."), victim.cache].into_iter().flatten();
            let writes =
                || folders().flat_map(|folder| program.names(folder).unwrap_or_default()).any(|name| is_temporary(&name));
            while !ended && !writes() {
                ended = child.try_wait().context(victim.line)?.is_some();
            }
            sleep(*then);
        }
    }
    ended |= child.try_wait().context(victim.line)?.is_some();
    // `kill` sends SIGKILL, and fails for a process that has ended.
    let _ = child.kill();
    child.wait().context(victim.line)?;
    Ok(!ended)
}
