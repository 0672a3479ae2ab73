//! A certified lower bound on the objective of a problem: what every solution is judged by, its own
//! certificate or none.

use super::Problem;
use crate::failure::Failure;
use maxmargin::core::{Goal, Silent, Start, Stop};
use maxmargin::linear::{Config, Matrix, Method, solve};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default solver stops at a violation of this size once the gap is small enough.
const TOLERANCE: f64 = 1e-3;

/// What the default solver has not closed by then, adaptive frequencies go on with,
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// to one of these violations after the other; a bound is as good as it is after so long for each.
const TOLERANCES: [f64; 4] = [1e-5, 1e-7, 1e-9, 1e-11];

/// A dual objective and how far from the optimum it is at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) dual: f64,
    /// Of the dual solution and its own primal one.
    pub(crate) relative_gap: f64,
    /// The gap that was asked for, for a while: whoever asks for no smaller one need not try again.
    #[serde(default = "usual")]
    pub(crate) asked: f64,
}

/// What everybody asked for before it was written down.
fn usual() -> f64 {
    1e-9
}

/// The bound of a problem, known to a relative gap of `gap` if a solver comes that far. It is true
/// whoever computed it and however long ago, so that the folder of the cell keeps it by the data's
/// hash and C; without its file it is computed anew.
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
        let solved = solve(&matrix, &dual, start, &config, &stop, &mut Silent)?;
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

/// What cannot be read is computed again.
fn read(place: &Path) -> Option<Bound> {
    serde_json::from_slice(&fs::read(place).ok()?).ok()
}

/// Beside its place and moved into it: another cell may read.
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
