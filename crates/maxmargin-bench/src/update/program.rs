//! LIBSVM's installed svm-train, as a process on a file of its own.

use crate::cell::job::Setting;
use crate::failure::Failure;
use crate::system::process;
use maxmargin::data::{Dataset, Samples, libsvm};
use maxmargin::model::{Model, libsvm::read_model};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "svm-train";

/// Megabytes of its kernel cache, large enough for every matrix of the benchmarks, as in the paper.
const CACHE: &str = "8000";

/// The relative rounding of its support vectors: it writes eight digits.
const DIGITS: f64 = 1e-7;

/// A training by the program.
pub(crate) struct ProgramTraining {
    /// Seconds of the whole process: reading the file, the kernel, training, writing the model.
    pub(crate) seconds: f64,
    pub(crate) iterations: u64,
    /// True if it converged by its own report.
    pub(crate) converged: bool,
    pub(crate) alpha: Vec<f64>,
    pub(crate) bias: f64,
}

/// Trains on `samples` with labels ±1.
pub(crate) fn train(setting: &Setting, samples: Samples, signs: &[f64]) -> Result<ProgramTraining, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::Temporary)?;
    let (data, model) = (folder.path().join("data"), folder.path().join("model"));
    let set = Dataset { samples, labels: signs.to_vec(), groups: None, index_base: 1, sha256: [0; 32], columns: None };
    write(&set, &data).map_err(Failure::Temporary)?;
    let mut command = Command::new(PROGRAM);
    command.args(arguments(setting)).arg(&data).arg(&model);

    let ended = process::run(PROGRAM, &mut command, None)?;
    let said = ended.output.unwrap_or_default();
    let iterations = iterations(&said).ok_or_else(|| Failure::outside(PROGRAM, "did not say its number of iterations"))?;
    let bytes = fs::read(&model).map_err(Failure::Temporary)?;
    let model = read_model(&bytes)?;
    let alpha = alpha(&model, &set.samples, signs)?;
    let converged = !said.contains("reaching max number of iterations");
    Ok(ProgramTraining { seconds: ended.seconds, iterations, converged, alpha, bias: side(&model) * model.machines()[0].bias })
}

fn write(set: &Dataset, target: &Path) -> std::io::Result<()> {
    let mut text = Vec::new();
    libsvm::write(set, &mut text)?;
    fs::write(target, text)
}

fn arguments(setting: &Setting) -> Vec<String> {
    let with = |name: &str, value: String| [name.to_owned(), value];
    let pairs = [
        with("-s", "0".into()),
        with("-t", setting.kernel.libsvm_number.unwrap_or_default().to_string()),
        with("-c", setting.c.to_string()),
        with("-g", setting.gamma.to_string()),
        with("-d", setting.degree.to_string()),
        with("-r", setting.coef0.to_string()),
        with("-e", setting.tol.to_string()),
        with("-m", CACHE.into()),
    ];
    pairs.into_iter().flatten().collect()
}

fn iterations(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("#iter = ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the α of every row. The program writes the support vectors of a class in the order of
/// the file, so that each is the next row of its class that agrees to eight digits. Equal rows are
/// interchangeable.
fn alpha(model: &Model, samples: &Samples, signs: &[f64]) -> Result<Vec<f64>, Failure> {
    let machine = &model.machines()[0];
    let mut alpha = vec![0.0; samples.len()];
    let mut next = [0, 0];
    for (&at, coef) in machine.support.iter().zip(&machine.coef) {
        let sign = side(model) * coef.signum();
        let next = &mut next[usize::from(sign > 0.0)];
        let vector = model.parts().support.row(at as usize).entries();
        let found = (*next..samples.len()).find(|&row| signs[row] == sign && agree(&samples.row(row).entries(), &vector));
        let Some(row) = found else {
            return Err(Failure::outside(PROGRAM, format!("support vector {at} of its model is no row of the data")));
        };
        alpha[row] = coef.abs();
        *next = row + 1;
    }
    Ok(alpha)
}

/// Returns the label, ±1, of positive decision values.
fn side(model: &Model) -> f64 {
    model.classes()[1]
}

fn agree(row: &[(usize, f64)], vector: &[(usize, f64)]) -> bool {
    row.len() == vector.len() && row.iter().zip(vector).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= DIGITS * a.1.abs())
}

#[cfg(test)]
mod tests {
    use super::{alpha, iterations};
    use maxmargin::data::Samples;
    use maxmargin::model::libsvm::read_model;

    const MODEL: &str = "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 3\nrho 0.5\nlabel 1 -1\nnr_sv 1 2\nSV\n\
                         0.75 1:0.12345679 2:1e-07 \n-0.5 1:0.5 2:3 \n-0.25 1:0.5 2:3 \n";

    #[test]
    fn support_vectors_find_their_rows() {
        let model = read_model(MODEL.as_bytes()).expect("model");
        let values = vec![0.5, 3.0, 0.5, 3.0, 0.123_456_789_012, 1e-7, 0.5, 3.0, 0.5, 3.0];
        let samples = Samples::from_dense(5, 2, values).expect("samples");
        let signs = [1.0, -1.0, 1.0, -1.0, -1.0];
        // Equal rows are used in turn, those of the other class not at all.
        assert_eq!(alpha(&model, &samples, &signs).expect("all found"), [0.0, 0.5, 0.75, 0.25, 0.0]);
        assert!(alpha(&model, &samples, &[1.0, -1.0, 1.0, 1.0, 1.0]).unwrap_err().to_string().contains("support vector 2"));
    }

    #[test]
    fn what_the_program_says() {
        assert_eq!(iterations("*.*\noptimization finished, #iter = 1342\nnu = 0.06\n"), Some(1342));
        assert_eq!(iterations("nothing"), None);
    }
}
