//! A certified lower bound on the objective of a problem. All solutions are compared with it, also
//! those without a certificate.

use super::Problem;
use crate::failure::Failure;
use maxmargin::core::{Goal, RunControl, Start, Stop};
use maxmargin::linear::{Config, Matrix, Method, solve};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default solver stops at a violation of this size once the gap is small enough.
const TOLERANCE: f64 = 1e-3;

/// The time limit of each solver below. Adaptive frequencies continue where the default solver
/// stops,
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// to each of these violations in turn. The bound is the best one that they reach.
const TOLERANCES: [f64; 4] = [1e-5, 1e-7, 1e-9, 1e-11];

/// A dual objective and the largest possible distance from the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) dual: f64,
    /// The gap between the dual solution and its own primal one.
    pub(crate) relative_gap: f64,
    /// The gap that was requested. A request for a larger gap need not compute the bound again.
    #[serde(default = "usual")]
    pub(crate) asked: f64,
}

/// The requested gap of files that do not record it.
fn usual() -> f64 {
    1e-9
}

/// Returns the bound of a problem, known to a relative gap of `gap` if a solver reaches it.
///
/// A bound is true for every run on the same data. The cell's folder keeps it by the data's hash
/// and C. Without that file it is computed anew.
pub(crate) fn of(problem: &Problem, gap: f64) -> Result<Bound, Failure> {
    let place =
        problem.cell.linear.bounds.as_deref().map(|folder| folder.join(name(&problem.data.sha256, problem.cell.setting.c)));
    if let Some(known) = place.as_deref().and_then(read).filter(|known| known.relative_gap.min(known.asked) <= gap) {
        return Ok(known);
    }
    let bound = compute(problem, gap)?;
    if let Some(place) = place {
        write(&place, &bound)?;
    }
    Ok(bound)
}

fn compute(problem: &Problem, gap: f64) -> Result<Bound, Failure> {
    let dual = problem.dual()?;
    let matrix = Matrix::new(&problem.data.samples, None, problem.par);
    let mut start = Start::zero(&dual)?;
    let mut best: Option<Bound> = None;
    let avsf = TOLERANCES.map(|tol| (Method::Avsf, tol));
    for (method, tol) in [(Method::Hybrid, TOLERANCE)].into_iter().chain(avsf) {
        let config = Config { method, par: problem.par, ..Config::default() };
        let stop = Stop { max_time: Some(TIME_LIMIT), ..Stop::when(Goal::Both { kkt: tol, gap }) };
        let solved = solve(&matrix, &dual, start, &config, &stop, &RunControl::unlimited())?;
        let found = Bound { dual: solved.certificate.dual, relative_gap: solved.certificate.relative_gap(), asked: gap };
        if best.is_none_or(|best| found.relative_gap < best.relative_gap) {
            best = Some(found);
        }
        if found.relative_gap <= gap {
            break;
        }
        start = Start::checked(&dual, solved.solution.alpha)?;
    }
    Ok(best.unwrap_or(Bound { dual: 0.0, relative_gap: 1.0, asked: gap }))
}

fn name(sha256: &[u8; 32], c: f64) -> PathBuf {
    let mut name = String::new();
    for byte in sha256 {
        let _ = write!(name, "{byte:02x}");
    }
    format!("{name}-c{c}.json").into()
}

/// Returns a kept bound. A file that cannot be read counts as absent.
fn read(place: &Path) -> Option<Bound> {
    serde_json::from_slice(&fs::read(place).ok()?).ok()
}

/// Writes a temporary file and moves it into place: another cell may read the bound at any time.
fn write(place: &Path, bound: &Bound) -> Result<(), Failure> {
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Failure::Temporary)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Failure::Temporary)?;
    file.write_all(serde_json::to_string(bound)?.as_bytes()).map_err(Failure::Temporary)?;
    file.persist(place).map_err(|error| Failure::Temporary(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Bound, name, read, write};

    #[test]
    fn bounds_are_kept_by_data_and_c() {
        let folder = tempfile::tempdir().expect("folder");
        let place = folder.path().join("new").join(name(&[10; 32], 0.01));
        assert!(place.to_string_lossy().ends_with("0a0a-c0.01.json"), "{}", place.display());
        assert_eq!(read(&place), None);
        let bound = Bound { dual: 1.0 / 3.0, relative_gap: 1e-10, asked: 1e-11 };
        write(&place, &bound).expect("written");
        assert_eq!(read(&place), Some(bound));
        std::fs::write(&place, r#"{"dual":1.0,"relative_gap":1e-7}"#).expect("written");
        assert_eq!(read(&place).map(|bound| bound.asked), Some(1e-9), "a file of before");
        std::fs::write(&place, "{").expect("written");
        assert_eq!(read(&place), None);
    }
}
