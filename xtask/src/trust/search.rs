//! A search that is killed many times and continues from its log gives the same bits as an
//! undisturbed one.

use super::Findings;
use super::program::{Program, Random, said};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SEARCH: &str = "grid data -k 5 -c 2^-2:2^8:4 -g 2^-5:2^3:4 -o model --force -q";

/// Kills a search `runs` times. A search that ends is started again in an empty folder.
pub(crate) fn run(runs: usize, seed: u64, work: &Path, path: &Path) -> Outcome<Findings> {
    let (mut findings, mut random) = (Findings::default(), Random::new(seed));
    let program = Program { path, folder: work };
    program.succeed("scale two-gaussians --rows 500 -o data -q")?;
    let begun = Instant::now();
    let undisturbed = bits(program.json(SEARCH)?);
    let whole = begun.elapsed();
    let model = fs::read(work.join("model")).context("model")?;
    let (mut searches, mut kills, mut cells) = (0, 0, 0);
    while kills < runs {
        searches += 1;
        let line = format!("{SEARCH} --log log-{searches}");
        loop {
            let there = cells_of(program, searches);
            let mut child = program.command(&line).spawn().context(&line)?;
            sleep(whole.mul_f64(0.6 * random.next()).max(Duration::from_millis(5)));
            let through = child.try_wait().context(&line)?.is_some();
            let _ = child.kill();
            child.wait().context(&line)?;
            let now = cells_of(program, searches);
            findings.expect(there.iter().all(|cell| now.contains(cell)), || format!("search {searches}: a cell is gone"));
            kills += usize::from(!through);
            if through || kills >= runs {
                cells += now.len();
                break;
            }
        }
        let last = program.run(&format!("{line} --json"))?;
        findings.expect(last.status.success(), || format!("search {searches}: {}", said(&last)));
        let found = serde_json::from_slice(&last.stdout).context(&line).map(bits)?;
        for key in ["cells", "best", "refit"] {
            findings.expect(found[key] == undisturbed[key], || format!("search {searches}: {key} differ"));
        }
        findings.expect(fs::read(work.join("model")).is_ok_and(|found| found == model), || {
            format!("search {searches}: another model")
        });
        let others: Vec<String> = program.names(&format!("log-{searches}"))?.into_iter().filter(|name| !is_cell(name)).collect();
        findings.expect(others == ["search.json"], || format!("search {searches}: {others:?} in its folder"));
    }
    findings.done.push(format!(
        "search: {kills} kills in {searches} searches of {:.0} ms, {cells} cells taken over from what was killed",
        1e3 * whole.as_secs_f64()
    ));
    Ok(findings)
}

fn is_cell(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "cell")
}

fn cells_of(program: Program, search: usize) -> Vec<String> {
    let names = program.names(&format!("log-{search}")).unwrap_or_default();
    names.into_iter().filter(|name| is_cell(name)).collect()
}

/// Returns a document without times, and without the numbers that depend on the thread that
/// computed a row first.
fn bits(mut document: Value) -> Value {
    strip(&mut document);
    document
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !["seconds", "rows_computed", "bytes"].iter().any(|word| key.contains(word)));
            map.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}
