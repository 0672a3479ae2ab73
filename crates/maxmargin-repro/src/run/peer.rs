//! Other programs on the same files: how to call them and how to read what they print.

use crate::cells::record::Measured;
use crate::workspace::tools::on_path;

/// A path that holds from every folder; a bare name is left to the search path.
fn absolute(binary: &str) -> String {
    match std::path::Path::new(binary).canonicalize() {
        Ok(path) if binary.contains('/') => path.to_string_lossy().into_owned(),
        _ => binary.to_owned(),
    }
}

/// The binary of a program: named on the command line (`PROGRAM=PATH`), or found on the search
/// path.
pub(crate) fn binary(program: &str, named: &[String]) -> Option<String> {
    given(program, named).or_else(|| on_path(program).then(|| program.to_owned()))
}

/// The binary of a program that the command line names.
pub(crate) fn given(program: &str, named: &[String]) -> Option<String> {
    let path = |entry: &String| entry.strip_prefix(program)?.strip_prefix('=').map(absolute);
    named.iter().find_map(path)
}

/// What LIBSVM's svm-train prints, with or without `-v`: `#iter = N` of every training, `Cross
/// Validation Accuracy = P%`.
pub(crate) fn read(output: &str) -> Measured {
    let after = |line: &str, key: &str| line.split_once(key).map(|(_, tail)| tail.trim().trim_end_matches('%').to_owned());
    let mut measured = Measured::default();
    for line in output.lines() {
        if let Some(count) = after(line, "#iter = ").and_then(|text| text.parse::<u64>().ok()) {
            measured.iterations = Some(measured.iterations.unwrap_or(0) + count);
        }
        // LIBSVM prints the minimised dual; ours is the maximised one.
        if let Some(text) = line.strip_prefix("obj = ").and_then(|tail| tail.split(',').next()) {
            measured.objective = text.parse::<f64>().ok().map(|value| measured.objective.unwrap_or(0.0) - value);
        }
        if let Some(count) = after(line, "Total nSV = ").and_then(|text| text.parse::<u64>().ok()) {
            measured.more.insert("support_vectors".into(), count.into());
        }
        // Of a cross-validation, or of svm-predict: `Accuracy = 97.64% (4882/5000)
        // (classification)`.
        if let Some(percent) = after(line, "Accuracy = ").and_then(|text| text.split('%').next()?.parse().ok()) {
            measured.accuracy = Some(percent);
        }
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::{binary, given, read};

    #[test]
    fn libsvm_cross_validation() {
        let output = "*\noptimization finished, #iter = 134\nnu = 0.45\nobj = -68.5, rho = 0.29\nnSV = 95, nBSV = 67\n\
                      *.*\noptimization finished, #iter = 137\nnu = 0.46\nobj = -71.25, rho = 0.19\nCross Validation Accuracy = 83.7037%\n";
        let measured = read(output);
        assert_eq!(measured.iterations, Some(271));
        assert_eq!(measured.objective, Some(139.75));
        assert_eq!(measured.accuracy, Some(83.7037));
        assert_eq!(read("nSV = 95, nBSV = 67\nTotal nSV = 95\n").number("support_vectors"), Some(95.0));
        assert_eq!(read("Accuracy = 97.64% (4882/5000) (classification)\n").accuracy, Some(97.64));
        assert_eq!(read("nothing").iterations, None);
    }

    #[test]
    fn programs_are_named() {
        let named = ["a=b".to_owned(), "no-such-program=no/such/file".to_owned()];
        assert_eq!(given("no-such-program", &named), Some("no/such/file".into()));
        assert_eq!(binary("no-such", &named), None);
        assert_eq!(given("c", &named), None);
    }
}
