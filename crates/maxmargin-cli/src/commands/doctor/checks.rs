//! The self-test: a few seconds, and everything that faulty hardware or a faulty build would break
//! first.

use crate::console::format;
use crate::console::notes::Notes;
use crate::files::model_file;
use crate::files::output::write_whole;
use crate::machine::threads::{self, Threads};
use crate::machine::version::level_names;
use maxmargin::data::{Dataset, Generator, Par};
use maxmargin::kernel::selftest;
use maxmargin::{Fitted, Svm, cv, model};
use serde::Serialize;
use std::fs;
use std::time::Instant;

/// The number of samples of every training here.
const ROWS: usize = 600;

/// The dual objectives of these samples at C = 1, with a Gaussian kernel of gamma ½ and with a
/// linear one.
const GAUSSIAN: f64 = 145.033_608_432_859;
const LINEAR: f64 = 588.080_770_414_096;

/// The tolerance of trainings here, and the relative tolerance of their objectives.
const EPS: f64 = 1e-8;
const NEAR: f64 = 1e-9;

/// One check.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) what: &'static str,
    pub(super) ok: bool,
    pub(super) detail: String,
    seconds: f64,
}

/// The finding of a check, or its fault.
type CheckResult = Result<String, String>;

/// Runs all checks, one after another.
pub(super) fn all(threads: &Threads, notes: &Notes) -> Vec<Check> {
    let check = |what: &'static str, run: &dyn Fn() -> CheckResult| {
        let _phase = notes.phase(format!("testing {what}"));
        let begun = Instant::now();
        let found = run();
        let ok = found.is_ok();
        Check { what, ok, detail: found.unwrap_or_else(|fault| fault), seconds: begun.elapsed().as_secs_f64() }
    };
    vec![
        check("vectors", &vectors),
        check("kernel", &|| trained(&Svm::rbf(0.5), threads.par(), GAUSSIAN)),
        check("linear", &|| trained(&Svm::linear(), threads.par(), LINEAR)),
        check("threads", &|| same_on_all(threads)),
        check("model file", &round_trip),
    ]
}

fn vectors() -> CheckResult {
    let findings = selftest::run();
    let faults = findings.iter().filter_map(|found| Some((found, found.fault.as_ref()?)));
    let faults: Vec<String> =
        faults.map(|(found, fault)| format!("{} at the level {}: {fault}", found.pass, found.level.name())).collect();
    if !faults.is_empty() {
        return Err(faults.join("; "));
    }
    Ok(format!("{} passes agree with plain code ({})", findings.len(), level_names().join(", ")))
}

fn data() -> Result<Dataset, String> {
    Generator::TwoGaussians.generate(ROWS, None, 1).map_err(|e| e.to_string())
}

fn fit(svm: &Svm, par: Par) -> Result<Fitted, String> {
    svm.clone().eps(EPS).threads(par).fit(&data()?).map_err(|e| e.to_string())
}

/// Checks a training whose objective is known.
fn trained(svm: &Svm, par: Par, objective: f64) -> CheckResult {
    let certificate = fit(svm, par)?.certificate;
    let [kkt, gap] = [certificate.kkt, certificate.relative_gap].map(format::short);
    let found = format!("KKT {kkt}, duality gap {gap}, dual objective {}", format::long(certificate.dual));
    if !certificate.holds {
        Err(format!("the certificate misses the tolerance: {found}"))
    } else if (certificate.dual - objective).abs() > NEAR * objective {
        Err(format!("{found}; expected {}", format::long(objective)))
    } else {
        Ok(format!("{ROWS} rows, optimal within {found}"))
    }
}

/// Checks that results do not depend on the number of threads.
fn same_on_all(threads: &Threads) -> CheckResult {
    if threads.count() == 1 {
        return Ok("one thread, nothing to compare".to_owned());
    }
    let bits = |par: Par| -> Result<Vec<u64>, String> {
        let fitted = fit(&Svm::rbf(0.5), par)?;
        let decisions = fitted.model.decision_values(&data()?.samples, par).map_err(|e| e.to_string())?;
        Ok(decisions.iter().map(|value| value.to_bits()).collect())
    };
    let (one, all) = (bits(Par::Seq)?, bits(Par::Pool)?);
    let different = one.iter().zip(&all).filter(|(one, all)| one != all).count();
    let threads = threads::text(threads.count());
    if different == 0 && one.len() == all.len() {
        Ok(format!("bitwise equal on 1 thread and on {threads}"))
    } else {
        Err(format!("{different} of {} decision values differ between 1 thread and {threads}", one.len()))
    }
}

/// Checks a model that is written, read back and verified.
fn round_trip() -> CheckResult {
    let data = data()?;
    let fitted = fit(&Svm::rbf(0.5), Par::Seq)?;
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}; set TMPDIR to a writable folder"))?;
    let place = folder.path().join("model");
    let bytes = model::encode(&fitted.model).map_err(|e| e.to_string())?;
    let failed = |e: std::io::Error| format!("{}: {e}", place.display());
    write_whole(&place, None, |out| out.write_all(&bytes)).map_err(failed)?;
    let read = fs::read(&place).map_err(failed)?;
    if read != bytes {
        return Err(format!("{}: the bytes read differ from those written", place.display()));
    }
    let back = model::decode(&read).map_err(|e| model_file::reason_of(&e))?;
    let predicted = back.predict(&data.samples, Par::Seq).map_err(|e| e.to_string())?;
    if predicted != fitted.predict(&data.samples).map_err(|e| e.to_string())? {
        return Err("the model that was read back predicts differently".to_owned());
    }
    let verdict = cv::verify(&back, &data, None, None, Par::Seq).map_err(|e| e.to_string())?;
    if !(verdict.matches() && verdict.met()) {
        return Err("the model that was read back does not verify".to_owned());
    }
    Ok(format!("written to {}, read back, verified", folder.path().parent().unwrap_or(folder.path()).display()))
}
